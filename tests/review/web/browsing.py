"""A signed-in browser, and what its page shows."""

from contextlib import contextmanager

__all__ = ["intercept", "item_shown", "press", "signed_in", "unblurred"]


@contextmanager
def signed_in(browser, served, *, name="ana", role="reviewer", path="/", width=1280, **options):
    """A page of the review; without a name, nobody is signed in.

    Whatever it reports on the console fails the test, except refused requests, which the test may be about.
    """
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    for cookie, session in served.session(name, role).items() if name else ():
        kept = {"name": cookie, "value": session, "url": served.url, "httpOnly": True, "sameSite": "Strict"}
        context.add_cookies([kept])
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(served.url + path)
    try:
        yield page
        assert [each for each in complaints if not each.startswith("Failed to load resource")] == []
    finally:
        context.close()


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
