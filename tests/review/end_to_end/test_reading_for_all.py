"""What axe finds on every page that a reviewer can reach, after keys as well as when loaded."""

import pytest

from tests.review.web import samples
from tests.review.web.browsing import home_of, intercept, item_shown, press, signed_in, unblurred
from tests.review.web.serving import serving
from umpirical.review.records import ReviewChoice

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def review(tmp_path_factory):
    """Three people decided on all items, and disagree on the last."""
    items = [samples.transcript(), samples.sensitive(), samples.labelled()]
    with serving(tmp_path_factory.mktemp("review"), items, overlap=3) as found:
        found.desk.set_guideline("When in doubt, reject.")
        for name, last in (("ana", "fail"), ("ben", "pass"), ("cleo", "pass")):
            for item in items:
                found.desk.next(name)
                said = ReviewChoice("accept", label=last if item.labels else "", comment=f"So says {name}.")
                found.desk.decide(name, item.id, said)
        yield found


def wrong(page):
    """What axe finds with everything unfolded, because it skips what is folded."""
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    return [(each["id"], [node["html"] for node in each["nodes"]]) for each in Axe().run(page).response["violations"]]


def steps(page, url):
    """One screen after another, by name."""
    for item in ("transcript-0", "sensitive-0"):
        page.goto(f"{url}/item/{item}")
        assert item_shown(page) == item
        yield item
    page.goto(f"{url}/item/sensitive-0")
    page.keyboard.press("v")
    unblurred(page, ".text.inline")
    yield "harmful text, shown"
    page.goto(f"{url}/item/transcript-0")
    page.keyboard.press("d")
    yield "transcript, side by side"
    page.keyboard.press("d")
    yield "transcript, result only"
    page.keyboard.press("e")
    page.keyboard.type("no JSON")
    page.keyboard.press("Control+Enter")
    page.get_by_role("alert").wait_for()
    yield "an edit that is refused"
    page.goto(f"{url}/")
    page.get_by_role("heading", name="You have decided").wait_for()
    yield "all decided"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong_with_what_a_reviewer_meets(browser, review, scheme):
    with signed_in(browser, review, color_scheme=scheme, bypass_csp=True) as page:
        found = {name: wrong(page) for name in steps(page, home_of(page))}
    assert len(found) == 7
    assert {name: violations for name, violations in found.items() if violations} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong_when_the_server_is_away(browser, tmp_path, scheme):
    with (
        serving(tmp_path, [samples.paraphrase()]) as review,
        signed_in(browser, review, color_scheme=scheme, bypass_csp=True) as page,
    ):
        intercept(page, "**/decide", lambda route: route.abort())
        page.keyboard.press("a")
        page.locator("#trouble:not(:empty)").wait_for()
        assert wrong(page) == []


def test_the_first_item_needs_no_documentation(browser, tmp_path):
    """From the link to a decision, the page itself says at each step what to do next."""
    with serving(tmp_path, [samples.labelled(), samples.paraphrase()]) as review:
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.goto(f"{review.url}/join/{review.people.invite('dora', 'reviewer')}")
        page.get_by_role("button", name="Start reviewing").click()
        page.get_by_role("heading", name=samples.labelled().question).wait_for()
        # Everything needed is visible without scrolling: the question, what to do, the labels and every button.
        assert page.get_by_text("Choose a label, then accept.").is_visible()
        for name in ("Accept", "Edit", "Skip", "unsafe"):
            box = page.locator(".controls").get_by_text(name).first.bounding_box()
            assert box["y"] + box["height"] <= 720, name
        # Accepting too early moves the focus to what is missing, and says so.
        page.keyboard.press("a")
        assert page.evaluate("() => document.activeElement.name") == "label"
        said = page.locator(".labels legend").evaluate("one => getComputedStyle(one, '::after').content")
        assert "choose one first" in said
        press(page, "2", "a")
        assert item_shown(page) == "paraphrase-0"
        assert "accepted, label pass" in page.locator(".last").inner_text()
        page.close()
        assert [(each.kind, each.label) for each in review.desk.decisions()] == [("accept", "pass")]
