"""The overview: its words, its tiles and their numbers are those of the record, whatever the judge is like."""

import re
from pathlib import Path

import pytest

from tests.cases import each
from tests.reports.dissection import Page
from umpirical.domain.measures import Estimate
from umpirical.protocols.datasheet.overview import overview_of
from umpirical.protocols.datasheet.page import render_html
from umpirical.protocols.datasheet.reading import next_steps
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.datasheet.tiles import MEASURES, failures, measure_of, tiles
from umpirical.reports import numbers
from umpirical.reports.gate import of_own_prompt
from umpirical.reports.overview import blank_words, short
from umpirical.reports.record import PartRecord
from umpirical.reports.tiles import Tile

from .samples import SAMPLES, datasheet, estimate, example, grading, measure, nothing, paper, run

JUDGES = ("careful", "slot-locked", "surface-swayed", "something-from-nothing", "short-sighted", "coin", "mumbling")
"""Those of `umpirical demo`: one is used, three are refused, and three are open."""

RANKS = {"FAIL": 0, "INCONCLUSIVE": 1, "N/A": 2, "PASS": 3}


@pytest.fixture(scope="module")
def demo(run_demo):
    """The records of `umpirical demo`, by judge."""
    found = [
        Datasheet.model_validate_json(path.read_text()) for path in Path(run_demo[0]).glob("runs/*/datasheet.json")
    ]
    return {sheet.judge.name: sheet for sheet in found}


def first_screen(sheet):
    """The text of everything before the folded sections."""
    return " ".join(
        Page(render_html(sheet).partition('<details class="fold">')[0] + "</main></body></html>").text.split()
    )


def tile(sheet, name) -> Tile:
    return next(one for one in tiles(sheet) if one.name == name)


def assert_tiles_are_of_the_record(sheet):
    checks = {f"check-{place}": check for place, check in enumerate(of_own_prompt(sheet.checks), start=1)}
    for one, measures in zip(tiles(sheet), MEASURES.values(), strict=True):
        fed = [check for check in of_own_prompt(sheet.checks) if check.measure in measures]
        if not fed:
            assert (one.mark, one.value, one.anchor) == ("none", "", "ratings")
            continue
        decides = checks[one.anchor]
        ranks = [RANKS[check.verdict] for check in fed if check.essential or check.verdict != "N/A"]
        assert decides in fed
        assert RANKS[decides.verdict] == min(ranks, default=2)
        assert one.mark == {"PASS": "pass", "FAIL": "fail", "INCONCLUSIVE": "open", "N/A": "none"}[decides.verdict]
        assert one.threshold == numbers.threshold(decides.kind, decides.value, decides.measure)
        found = measure_of(sheet, decides)
        if decides.verdict == "N/A":
            assert one.value == ""
        elif not decides.failing:
            assert isinstance(found.result, Estimate)
            assert one.value == numbers.measured_value(found, found.result)
            assert one.interval == numbers.measured_interval(found, found.result.interval)
            assert one.part == (f"Δ{decides.stratum}" if decides.stratum.isdecimal() else "")


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_tiles_are_those_of_the_record(name):
    assert_tiles_are_of_the_record(SAMPLES[name]())


@pytest.mark.parametrize("name", JUDGES)
def test_tiles_of_simulated_judges_are_those_of_their_records(demo, name):
    assert_tiles_are_of_the_record(demo[name])


def test_tiles_say_what_is_built_into_a_judge(demo):
    marks = {name: [one.mark for one in tiles(demo[name])] for name in ("careful", "slot-locked", "mumbling")}
    assert set(marks["careful"]) == {"pass"}
    assert marks["slot-locked"] == ["fail", "fail", "pass", "fail", "fail", "pass"]
    assert marks["mumbling"] == ["open", "open", "open", "open", "open", "fail"]
    assert tile(demo["surface-swayed"], "Wording and length").mark == "fail"
    assert tile(demo["something-from-nothing"], "Blank or equal answers").mark == "fail"


@pytest.mark.parametrize("name", JUDGES)
def test_the_first_screen_has_verdict_worst_failure_with_its_number_and_next_step(demo, name):
    sheet = demo[name]
    text = first_screen(sheet)
    assert sheet.decision.title in text
    if failed := failures(sheet):
        found = measure_of(sheet, failed[0])
        number = numbers.measured_value(found, found.result)
        assert number in overview_of(sheet).worst
    assert overview_of(sheet).worst in text
    assert all(step.words in text for step in next_steps(sheet))
    assert "1,368 calls" in text


@pytest.mark.parametrize("name", JUDGES)
def test_no_digest_is_on_the_first_screen_and_all_are_on_the_page(demo, name):
    sheet = demo[name]
    whole = Page(render_html(sheet)).text
    for digest in (sheet.judge.fingerprint, sheet.run.responses_sha256, sheet.run.stimuli, sheet.run.protocol):
        assert digest not in first_screen(sheet)
        assert digest in whole


def test_the_first_screen_in_words(demo):
    text = first_screen(demo["slot-locked"])
    for expected in (
        "It names a winner between two blank or identical answers in 94% of cases (must be at most 5%).",
        "9 of 17 checks failed · 7 passed · 1 inconclusive",
        "✗ Fail Position 95% position bias [88, 98], at most 10%",
        "✓ Pass Wording and length 3% wording bias [0.7, 9], at most 10%",
        "✓ Pass Unusable replies 0% unparsed replies [0, 0.3], at most 2%",
        "tell it to call a tie if both answers are blank or the same",
        "Answer A (3 spaces) Answer B (2 blank characters)",
        "It said the first answer in both orders Right neither answer is better",
    ):
        assert expected in text
    assert "All 17 checks passed." in first_screen(demo["careful"])
    assert "More data is needed for task-blind preference" in first_screen(demo["surface-swayed"])


def test_failures_come_with_one_of_each_kind_and_the_worst_first(demo):
    shown = overview_of(demo["coin"]).failures
    assert shown[0].title == "Blank or identical answers"
    assert len({one.title for one in shown}) == len(shown) == 3


def test_what_is_not_measured_has_a_reason_and_no_number():
    assert {(one.mark, one.value) for one in tiles(nothing())} == {("none", "")}
    position = tile(grading(), "Position")
    assert (position.value, position.about) == ("", "it grades one answer at a time")
    assert "not measured" in first_screen(grading())
    assert (
        tile(datasheet().model_copy(update={"checks": []}), "Blank or equal answers").about
        == "the policy has no check on it"
    )


def test_a_failing_part_shows_its_share():
    sheet = datasheet()
    part = PartRecord(part="language=de", failed=6, pairs=8, families=4, bound=0.3)
    failing = next(check for check in sheet.checks if check.measure == "swap-reversals")
    failing = failing.model_copy(update={"verdict": "FAIL", "bound": 0.3, "failing": [part]})
    sheet = sheet.model_copy(update={"checks": [failing]})
    position = tile(sheet, "Position")
    assert (position.mark, position.value) == ("fail", "75%")
    assert position.about == "verdicts reversed by swapping: German texts"
    assert "It fails on verdicts reversed by swapping: German texts: 75% (must be at most 10%)." in first_screen(sheet)


def test_a_part_that_fails_is_named_before_the_whole():
    found = [
        measure("raw-false-preference", estimate(119, 120)),
        measure("positional-false-preference", estimate(55, 60)),
    ]
    assert overview_of(datasheet(measures=found)).worst == (
        "It picks the same position in both orders in 92% of equally good pairs (must be at most 10%)."
    )


def test_texts_that_begin_alike_are_shown_from_where_they_differ():
    alike = "The same beginning of both answers is of no use to a reader who wants to know how they differ. "
    shown = example(candidate_a=f"{alike}One end.", candidate_b=f"{alike}Another end.")
    [failure] = overview_of(paper().model_copy(update={"examples": [shown]})).failures
    assert [text for _, text in failure.answers] == [
        "…to know how they differ. One end.",
        "…to know how they differ. Another end.",
    ]


@each(
    ("text", "words"), [("", "(empty)"), (" ", "(1 space)"), ("    ", "(4 spaces)"), (" \n\t", "(3 blank characters)")]
)
def test_blank_text_is_described(text, words):
    assert blank_words(text) == short(text, 10) == words


def test_a_record_without_a_verdict_still_has_an_overview():
    old = datasheet(run=run(created="unknown")).model_copy(update={"checks": [], "decision": None})
    text = first_screen(old)
    assert "This record has no verdict" in text
    assert "unknown · 540 calls" in text


def test_the_marks_do_not_depend_on_color():
    words = set(re.findall(r'class="mark-word">([^<]*)<', "".join(render_html(make()) for make in SAMPLES.values())))
    assert words == {"✓ Pass", "✗ Fail", "? Open", "–"}
