"""The pages in a real browser: quiet, in shape, and readable by everyone."""

from itertools import combinations

import pytest

from tests.browsing import visit
from tests.reports.payloads import PAYLOADS, infected
from umpirical.protocols.datasheet.comparison_pages import render_comparison_html
from umpirical.protocols.datasheet.page import render_html

from .cost_samples import sample as cost_sample
from .samples import SAMPLES, paper
from .test_comparison import many, papers_three, sample

pytestmark = pytest.mark.browser

PAGES = {name: lambda make=make: render_html(make()) for name, make in SAMPLES.items()} | {
    "comparison": lambda: render_comparison_html(sample()),
    "costs": lambda: render_comparison_html(many(4).model_copy(update={"costs": cost_sample()})),
    "three judges": lambda: render_comparison_html(papers_three()),
    "twelve judges": lambda: render_comparison_html(many()),
}


@pytest.fixture
def written(tmp_path):
    def write(source):
        path = tmp_path / "page.html"
        path.write_text(source, encoding="utf-8")
        return path

    return write


def quiet(requests, complaints, scripts, path):
    assert [url for url in requests if not url.startswith("data:")] == [path.as_uri()]
    assert complaints == []
    assert scripts == 0


@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("name", sorted(PAGES))
def test_the_page_is_quiet_and_fits(browser, written, name, width):
    path = written(PAGES[name]())
    requests, complaints, (document, body, window), scripts = visit(browser, path, width)
    quiet(requests, complaints, scripts, path)
    assert document <= window
    assert body <= window


@pytest.mark.parametrize("structure", [False, True])
@pytest.mark.parametrize("payload", ["\n".join(PAYLOADS), "W" * 400], ids=["markup", "one long word"])
@pytest.mark.parametrize("kind", ["datasheet", "comparison"])
def test_hostile_text_does_nothing(browser, written, kind, payload, structure):
    make, render = (paper, render_html) if kind == "datasheet" else (sample, render_comparison_html)
    path = written(render(infected(make(), payload, structure=structure)))
    requests, complaints, (document, _, window), scripts = visit(browser, path, 360)
    quiet(requests, complaints, scripts, path)
    assert document <= window


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name",
    ["comparison", "costs", "grading", "incomplete", "nothing", "paper", "simulated", "three judges", "twelve judges"],
)
def test_axe_finds_nothing_wrong(browser, written, name, scheme):
    """With everything unfolded, since what is folded is not looked at."""
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page(viewport={"width": 1200, "height": 900}, color_scheme=scheme)
    page.goto(written(PAGES[name]()).as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    found = Axe().run(page).response["violations"]
    page.close()
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


def test_the_colours_follow_the_readers_choice(browser, written):
    path, papers = written(PAGES["paper"]()), set()
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(path.as_uri())
        papers.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.close()
    assert papers == {"rgb(255, 255, 255)", "rgb(20, 22, 26)"}


@pytest.mark.parametrize("judge", ["careful", "slot-locked", "surface-swayed", "something-from-nothing", "coin"])
def test_the_overview_takes_two_screens_and_three_on_a_phone(browser, run_demo, judge):
    [path] = run_demo[0].glob(f"runs/{judge}-*/datasheet.html")
    assert_overview_fits(browser, path)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_the_overview_of_every_record_takes_two_screens_and_three_on_a_phone(browser, written, name):
    assert_overview_fits(browser, written(PAGES[name]()))


def assert_overview_fits(browser, path):
    for width, most in ((1280, 1700), (390, 2600)):
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.goto(path.as_uri())
        box = page.locator(".overview").bounding_box()
        assert box["y"] + box["height"] <= most
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        if width == 1280 and page.locator("svg.chart").count():
            assert page.locator("svg").first.bounding_box()["y"] < 800
        page.close()


def test_a_link_opens_the_fold_it_leads_into(browser, written):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    path = written(PAGES["paper"]())
    page.goto(path.as_uri())
    assert page.locator("details.fold[open]").count() == 0
    page.locator(".tiles a").nth(1).press("Enter")
    check = page.locator("#check-3")
    assert check.is_visible()
    assert 0 <= check.bounding_box()["y"] < 800
    page.goto(f"{path.as_uri()}#failures")
    opened = page.locator("details.fold[open] > summary").all_inner_texts()
    assert opened == ["Measures and checks", "All example failures"]
    page.close()


def test_the_decision_is_on_the_first_screen_and_on_the_first_sheet(browser, written):
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    page.goto(written(PAGES["paper"]()).as_uri())
    box = page.locator(".decision").bounding_box()
    assert box["y"] + box["height"] < 800
    # A4 at 96 dots per inch, less its margins.
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 703, "height": 1024})
    box = page.locator(".decision").bounding_box()
    assert box["y"] + box["height"] < 1024
    page.close()


def test_which_judge_to_take_is_on_the_first_screen_and_on_the_first_sheet(browser, written):
    path = written(PAGES["twelve judges"]())
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    page.goto(path.as_uri())
    box = page.locator(".pick").first.bounding_box()
    assert box["y"] + box["height"] < 800
    page.set_viewport_size({"width": 390, "height": 800})
    box = page.locator(".pick .verdict").first.bounding_box()
    assert box["y"] + box["height"] < 800
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 703, "height": 1024})
    box = page.locator(".picks").bounding_box()
    assert box["y"] + box["height"] < 1024
    page.close()


def test_the_names_of_twelve_judges_do_not_cover_each_other(browser, written):
    """A judge is told by its name, so every name has to be read, and lie inside its chart."""
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.goto(written(PAGES["twelve judges"]()).as_uri())
    boxes = page.evaluate(
        "[...document.querySelectorAll('svg.chart')].map(svg => [svg, ...svg.querySelectorAll('text.letter')]"
        ".map(one => one.getBoundingClientRect()).map(box => [box.left, box.top, box.right, box.bottom]))"
    )
    page.close()
    named = [(chart, names) for chart, *names in boxes if names]
    # Four of them have a second prompt.
    assert [len(names) for _, names in named] == [12, 12, 12, 8]
    for (left, top, right, bottom), names in named:
        assert all(left <= one[0] and top <= one[1] and one[2] <= right and one[3] <= bottom for one in names)
        for one, other in combinations(names, 2):
            apart = max(other[0] - one[2], one[0] - other[2], other[1] - one[3], one[1] - other[3])
            assert apart > -6, "letters are smaller than their boxes"


def test_printing_shows_what_is_folded_and_is_light(browser, written):
    page = browser.new_page(color_scheme="dark")
    page.goto(written(PAGES["paper"]()).as_uri())
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    hidden = "[...document.querySelectorAll('section h2, td')].filter(one => !one.checkVisibility()).length"
    assert page.evaluate(hidden) == 0
    assert page.locator("details pre").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()
