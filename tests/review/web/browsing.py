"""A browser that is signed in, and the screen it shows."""

from contextlib import contextmanager

__all__ = ["intercept", "item_shown", "press", "signed_in", "unblurred"]


@contextmanager
def signed_in(browser, served, *, name="ana", role="reviewer", path="/", width=1280, **options):
    """A page of the review, for nobody if there is no name.

    Whatever it complains of fails the test, but for refusals that the test is about.
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
    """Keys one after another, and then waits for another item, or the empty desk."""
    before = item_shown(page)
    for key in keys:
        page.keyboard.press(key)
    page.locator(f'#screen:not([data-item="{before}"])').wait_for(state="attached")


def intercept(page, pattern, handler):
    """Lets the handler answer the page's requests. A page that is open already may send one past a new route."""
    page.route(pattern, handler)
    page.reload()


def unblurred(page, place):
    """Waits until a text is no longer blurred, however long the browser takes over it."""
    page.wait_for_function("(place) => getComputedStyle(document.querySelector(place)).filter === 'none'", arg=place)
