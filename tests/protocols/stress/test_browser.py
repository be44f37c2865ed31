"""The pages in a real browser: quiet, in shape, and readable by everyone."""

import pytest

from tests.browsing import visit
from tests.reports.payloads import PAYLOADS
from umpirical.protocols.stress.rendering import render_stress_pages

from .infecting import infected
from .samples import SAMPLES, report, small, three

pytestmark = pytest.mark.browser

LOOKED_AT = ("index", "verbosity-long", "vertical-spacing", "stability")


@pytest.fixture
def written(tmp_path):
    """The pages of some reports in a folder, by the test they are about."""

    def write(reports):
        paths = {}
        for name, source in render_stress_pages(reports).items():
            path = tmp_path / name
            path.write_text(source, encoding="utf-8")
            paths.setdefault(name.removesuffix(".html").rpartition("--")[2], path)
        return paths

    return write


def quiet(requests, complaints, scripts, path):
    assert [url for url in requests if not url.startswith("data:")] == [path.as_uri()]
    assert complaints == []
    assert scripts == 0


@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_the_pages_are_quiet_and_fit(browser, written, name, width):
    paths = written(SAMPLES[name]())
    for path in [paths[test] for test in LOOKED_AT if test in paths]:
        requests, complaints, (document, body, window), scripts = visit(browser, path, width)
        quiet(requests, complaints, scripts, path)
        assert document <= window
        assert body <= window


@pytest.mark.parametrize("payload", ["\n".join(PAYLOADS), "W" * 400], ids=["markup", "one long word"])
def test_hostile_text_does_nothing(browser, written, payload):
    paths = written([infected(small(), payload, structure=False)])
    for path in paths.values():
        requests, complaints, (document, _, window), scripts = visit(browser, path, 390)
        quiet(requests, complaints, scripts, path)
        assert document <= window


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["three", "incomplete", "nothing", "true_value"])
def test_axe_finds_nothing_wrong(browser, written, name, scheme):
    """With everything unfolded, since what is folded is not looked at."""
    from axe_playwright_python.sync_playwright import Axe

    paths = written(SAMPLES[name]())
    for path in [paths[test] for test in ("index", "verbosity-long", "inline-spacing") if test in paths]:
        page = browser.new_page(viewport={"width": 1200, "height": 900}, color_scheme=scheme)
        page.goto(path.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        found = Axe().run(page).response["violations"]
        page.close()
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


def test_a_cell_leads_to_its_page_and_back(browser, written):
    page = browser.new_page()
    page.goto(written([report()])["index"].as_uri())
    page.locator(".dots-of").get_by_role("link", name="Longer wording").click()
    assert page.url.endswith("--verbosity-long.html")
    assert page.get_by_role("heading", name="Worst items").is_visible()
    page.get_by_role("link", name="All tests").click()
    assert page.url.endswith("index.html")
    page.close()


def test_what_breaks_the_judge_is_on_the_first_screen_and_on_the_first_sheet(browser, written):
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    page.goto(written([report()])["index"].as_uri())
    box = page.locator(".decision").bounding_box()
    assert box["y"] + box["height"] < 400
    assert page.locator(".dots-of .dot").last.bounding_box()["y"] < 800
    # A4 at 96 dots per inch, less its margins.
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 703, "height": 1024})
    heat = page.locator(".heat").bounding_box()
    assert heat["x"] + heat["width"] <= 703
    assert page.locator(".dots-of .dot").last.bounding_box()["y"] < 1024
    page.close()


def test_a_heat_map_of_three_judges_fits_on_a_sheet(browser, written):
    page = browser.new_page(viewport={"width": 703, "height": 1024})
    page.goto(written(three())["index"].as_uri())
    page.emulate_media(media="print")
    for heat in (one.bounding_box() for one in page.locator(".heat").all()):
        assert heat["x"] + heat["width"] <= 703
    page.close()


def test_changes_are_marked_without_colour(browser, written):
    page = browser.new_page()
    page.goto(written([report()])["verbosity-long"].as_uri())
    line = "one => getComputedStyle(one).textDecorationLine"
    assert page.locator(".diff ins").first.evaluate(line) == "underline"
    assert page.locator(".diff del").first.evaluate(line) == "line-through"
    page.close()


def test_printing_is_light_unfolds_the_evidence_and_keeps_unchanged_text_folded(browser, written):
    page = browser.new_page(color_scheme="dark")
    page.goto(written([report()])["verbosity-long"].as_uri())
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".evidence").first.is_visible()
    assert not page.locator(".unchanged .text").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()


def test_the_colours_follow_the_readers_choice(browser, written):
    path, cells = written([report()])["index"], set()
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(path.as_uri())
        cells.add(page.locator(".heat .cell.fail").first.evaluate("one => getComputedStyle(one).backgroundColor"))
        page.close()
    assert cells == {"rgb(251, 228, 218)", "rgb(71, 33, 15)"}
