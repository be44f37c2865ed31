"""The first screens of stress reports, labeled pairs and agent judges: what they say is in the record."""

import pytest

from tests.protocols.agent.agent_studies import write_study as agent_study
from tests.protocols.first_screens import (
    assert_rows_are_of_the_record,
    assert_says_what_to_do,
    assert_tiles_are_of_rows,
    first_screen,
)
from tests.protocols.pairs.pair_studies import labelled
from tests.protocols.pairs.pair_studies import write_study as pairs_study
from tests.protocols.stress.samples import SAMPLES, three
from umpirical import run
from umpirical.domain.measures import Estimate
from umpirical.protocols.agent import page as agent
from umpirical.protocols.pairs import page as pairs
from umpirical.protocols.stress import overview as stress
from umpirical.protocols.stress.policy import interval_words, value_words
from umpirical.protocols.stress.rendering import render_stress_pages
from umpirical.reports import numbers
from umpirical.reports.overview import short_diff

MODULES = {"pairs": (pairs, pairs.render_pairs_html), "agent": (agent, agent.render_agent_html)}


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Judges that may be used, and judges that may not."""
    folder = tmp_path_factory.mktemp("judged")
    rows = list(labelled(90))
    more = "edits: [inline-spacing]\nsides: [chosen]\n"
    studies = {
        "pairs": pairs_study(folder / "pairs", rows=rows, profiles=["careful", "slot-locked"], more=more),
        "agent": agent_study(folder / "agent", "sound-auditor", "last-message", count=16, compare=["slot-1"]),
    }
    return {
        name: {each.record.judge.name: each.record for each in run(study, trust=True)}
        for name, study in studies.items()
    }


def each_record(judged):
    for name, records in judged.items():
        module, render = MODULES[name]
        for record in records.values():
            yield module, render, record


def test_every_first_screen_says_what_to_do(judged):
    for module, render, record in each_record(judged):
        screen = module.screen_of(record, module.page_of(record))
        assert_says_what_to_do(render(record), record, screen.overview, screen.steps)


def test_its_numbers_are_those_of_the_record(judged):
    for module, _, record in each_record(judged):
        screen = module.screen_of(record, module.page_of(record))

        def written(measure):
            result = measure.result
            return numbers.measured_value(measure, result), numbers.measured_interval(measure, result.interval)

        assert_rows_are_of_the_record(screen.checks, record, written)
        assert [row.verdict for row in screen.checks] == [check.verdict for check in record.checks]
        assert_tiles_are_of_rows(module.tiles(record), screen.checks)
        values = {
            numbers.measured_value(one, one.result) for one in record.measures if isinstance(one.result, Estimate)
        }
        assert {dot.value for dot in screen.dots} <= values


def test_first_screens_in_words(judged):
    text = {record.judge.name: first_screen(render(record)) for _, render, record in each_record(judged)}
    assert "All 7 checks passed." in text["careful"]
    assert "It picks one position more often than the other by" in text["slot-locked"]
    assert "tell it that the order of the answers means nothing" in text["slot-locked"]
    assert "the first answer in both orders" in text["slot-locked"]
    assert "umpirical gate runs/sound-auditor-" in text["sound-auditor"]
    assert "When the policy is reversed, it repeats" in text["last-message"]
    assert "It picks the same position after swapping in" in text["compare-slot-1"]


def test_a_judge_without_edits_has_a_tile_that_says_so(tmp_path):
    [report] = run(pairs_study(tmp_path, profiles=["careful"], more="edits: []\n"), trust=True)
    tile = next(one for one in pairs.tiles(report.record) if one.name == "Harmless edits")
    assert (tile.mark, tile.value, tile.about) == ("none", "", "no answer was edited")


@pytest.mark.parametrize("name", sorted(set(SAMPLES) - {"three"}))
def test_a_stress_report_says_what_to_do(name):
    [report] = SAMPLES[name]()
    screen = stress.screen_of(report, report.judge.name)
    html = render_stress_pages([report])["index.html"]
    assert_says_what_to_do(html, report, screen.overview, screen.steps)
    assert_rows_are_of_the_record(screen.checks, report, _stress_value)
    assert_tiles_are_of_rows(stress.tiles(report), screen.checks)
    assert len(screen.overview.tiles) == 6
    assert [dot.name for dot in screen.dots] == [test.title for test in report.tests]


def _stress_value(measure):
    unit = " grades" if measure.name in stress.GRADES else ""
    return f"{value_words(measure, measure.result)}{unit}", interval_words(measure, measure.result.interval)


def test_every_judge_of_a_stress_report_has_its_verdict_and_its_worst_failure_first():
    reports = three()
    text = first_screen(render_stress_pages(reports)["index.html"])
    for report in reports:
        screen = stress.screen_of(report, report.judge.name)
        assert f"{report.decision.title} {report.judge.name}" in text
        assert screen.overview.worst in text


def test_a_check_that_fails_only_by_itself_is_called_chance():
    text = first_screen(render_stress_pages(three()[:1])["index.html"])
    assert "+18 points (must be at most 5 points), but with this many checks that could be chance." in text


def test_a_foreign_title_with_braces_is_text():
    [report] = SAMPLES["one"]()
    tests = [test.model_copy(update={"title": f"{test.title} {{value}} {{x}}"}) for test in report.tests]
    html = render_stress_pages([report.model_copy(update={"tests": tests})])["index.html"]
    assert "{x}" in first_screen(html)


def test_a_short_diff_shows_blanks_and_ends():
    pieces = short_diff("one two" + " three" * 100, "one  two" + " three" * 100)
    assert [(piece.kind, piece.text) for piece in pieces[:2]] == [("same", "one "), ("added", "·")]
    assert sum(len(piece.text) for piece in short_diff("a b " * 500, "b a " * 500)) < 400


@pytest.mark.heavy
@pytest.mark.browser
def test_first_screens_are_short_have_their_chart_first_and_fit(browser, judged, tmp_path):
    """Two screens of a desktop, three of a phone. Axe looks at everything unfolded, in one of the two schemes."""
    from axe_playwright_python.sync_playwright import Axe

    pages = {record.judge.name: render(record) for _, render, record in each_record(judged)}
    pages |= {name: render_stress_pages(SAMPLES[name]())["index.html"] for name in ("one", "three")}
    for name, html in pages.items():
        (tmp_path / f"{name}.html").write_text(html, encoding="utf-8")
    for place, name in enumerate(pages):
        for width, most in ((1280, 1700), (390, 2600)):
            scheme = ("light", "dark")[(place + (width == 390)) % 2]
            page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
            page.goto((tmp_path / f"{name}.html").as_uri())
            box = page.locator(".overview").bounding_box()
            assert box["y"] + box["height"] <= most, name
            chart = page.locator(".dots-of .dot, .matrix .cell").first.bounding_box()
            assert width == 390 or chart["y"] < 800, name
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
            if width == 1280:
                page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
                found = Axe().run(page).response["violations"]
                assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == [], name
            page.close()


@pytest.mark.browser
def test_a_tile_opens_the_fold_of_its_check_by_keyboard(browser, judged, tmp_path):
    record = judged["pairs"]["slot-locked"]
    (tmp_path / "pairs.html").write_text(pairs.render_pairs_html(record), encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "pairs.html").as_uri())
    tile = next(one for one in pairs.tiles(record) if one.name == "Position")
    row = page.locator(f"#{tile.anchor}")
    assert not row.is_visible()
    page.locator(f'.tiles a[href="#{tile.anchor}"]').focus()
    page.keyboard.press("Enter")
    row.wait_for(state="visible")
    assert tile.value in row.inner_text()
    page.close()
