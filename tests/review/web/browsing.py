"""A signed-in browser, and what its page shows."""

import re
from contextlib import contextmanager


@contextmanager
def signed_in(browser, served, *, name="ana", role="reviewer", path="/", width=1280, **options):
    """A page of the review; without a name, nobody is signed in.

    Whatever it reports on the console fails the test, except refused requests, which the test may be about.
    """
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    home = sign_in(context, served, name, role) if name else served.url
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(home + path)
    try:
        yield page
        assert [each for each in complaints if not each.startswith("Failed to load resource")] == []
    finally:
        context.close()


def sign_in(context, served, name, role):
    """Does for a browser what coming in by a link does. Returns where the pages of its session are."""
    session = served.session(name, role)
    if role == "reviewer":
        served.desk.next(name)
    home = served.home(session)
    [(cookie, value)] = session.items()
    context.add_cookies([{"name": cookie, "value": value, "url": f"{home}/", "httpOnly": True, "sameSite": "Strict"}])
    return home


def home_of(page):
    """Where the pages of a page's session are."""
    return re.match(r"https?://[^/]+/s/[^/]+", page.url)[0]


def item_shown(page):
    return page.locator("#screen").get_attribute("data-item")


def press(page, *keys):
    """Presses keys one after another, then waits for another item or the empty page."""
    before = item_shown(page)
    for key in keys:
        page.keyboard.press(key)
    page.locator(f'#screen:not([data-item="{before}"])').wait_for(state="attached")


def intercept(page, pattern, handler):
    """Routes requests of the page to a handler, and reloads it: an open page may still send one past a new route."""
    page.route(pattern, handler)
    page.reload()


def unblurred(page, place):
    """Waits until a text is no longer blurred, however long the transition takes."""
    page.wait_for_function("(place) => getComputedStyle(document.querySelector(place)).filter === 'none'", arg=place)
