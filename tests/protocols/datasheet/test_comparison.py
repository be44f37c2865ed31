"""Two judges side by side."""

from decimal import Decimal

import pytest

from tests.reports.dissection import Page, skeleton, taken_apart
from tests.reports.payloads import HIDDEN, PAYLOADS, infected
from umpirical.domain.measures import Estimate, Interval, Undefined
from umpirical.protocols.datasheet.comparison.pages import render_comparison_html, render_comparison_markdown
from umpirical.protocols.datasheet.comparison.record import (
    PairedDifference,
    compare,
    parse_comparison,
    render_comparison_json,
)
from umpirical.text.inert import inert

from .samples import datasheet, judge, llama_measures, paper, run, spend


def difference(value, low, high, n=60):
    return Estimate(value, value * n, n, "pair", Interval(low, high, "task t"), clusters=10)


PAIRED = [
    PairedDifference("dark-current", "baseline", "", difference(0.667, 0.55, 0.77)),
    PairedDifference("positional-false-preference", "baseline", "", difference(0.883, 0.8, 0.95)),
    PairedDifference("stable-cross-sensitivity", "baseline", "", difference(0.033, -0.02, 0.1)),
    PairedDifference("tie-rate", "baseline", "1", difference(-0.06, -0.1, -0.02)),
    PairedDifference("target-sensitivity", "baseline", "1", difference(-0.33, -0.45, -0.21)),
    PairedDifference("target-sensitivity", "baseline", "5", Undefined("no pair was answered by both")),
    PairedDifference("unparsed-rate", "baseline", "", difference(-0.006, -0.012, -0.001)),
    PairedDifference("resolution", "baseline", "", difference(-1.1, -1.5, -0.7)),
]


def llama(**more):
    return datasheet(
        judge=judge(name="Llama-3.1-8B", model="vllm/llama", decoding={"temperature": 0.7, "seed": 1}),
        measures=llama_measures(planted=False),
        spend=spend(cost_per_1000=Decimal("0.1")),
        **more,
    )


def sample():
    return compare(paper(), llama(), PAIRED)


def prompts():
    """Two prompts of one judge."""
    paired = [PairedDifference("raw-false-preference", "baseline", "", difference(-0.26, -0.35, -0.17), None, None,
                               "strict")]  # fmt: skip
    return compare(paper(), paper(), paired)


def test_the_words_follow_from_the_interval_and_the_direction_that_is_bad():
    assert {(one.measure, one.stratum): one.words for one in sample().differences} == {
        ("dark-current", ""): "first better",
        ("positional-false-preference", ""): "first better",
        ("stable-cross-sensitivity", ""): "no difference shown",
        ("tie-rate", "1"): "differs",
        ("target-sensitivity", "1"): "first better",
        ("target-sensitivity", "5"): "not comparable",
        ("unparsed-rate", ""): "second better",
        ("resolution", ""): "first ahead",
    }
    assert {one.measure: one.family for one in sample().differences} == {
        **dict.fromkeys(("dark-current", "positional-false-preference", "stable-cross-sensitivity"), "primary"),
        **dict.fromkeys(("target-sensitivity", "unparsed-rate"), "primary"),
        **dict.fromkeys(("tie-rate", "resolution"), "exploratory"),
    }


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (-0.001, 0.2, "no difference shown"),
        (0.001, 0.2, "first better"),
        (-0.2, 0.001, "no difference shown"),
        (-0.2, -0.001, "second better"),
        (None, None, "no difference shown"),
        (None, -0.1, "second better"),
    ],
)
def test_a_side_is_better_only_if_the_whole_interval_is_on_its_side(low, high, words):
    paired = [PairedDifference("dark-current", "baseline", "", difference(_middle(low, high), low, high))]
    assert compare(paper(), llama(), paired).differences[0].words == words


def _middle(low, high):
    return -0.2 if low is None else (low + high) / 2


def test_a_difference_is_shown_among_all_rows_of_the_limits_and_not_alone():
    """Alone, an interval that just excludes 0; of four rows, one that does so by chance."""
    just = difference(0.1, 0.005, 0.195)
    names = ("dark-current", "raw-false-preference", "stable-cross-sensitivity", "positional-false-preference")
    alone = compare(paper(), llama(), [PairedDifference(names[0], "baseline", "", just)])
    assert alone.differences[0].words == "first better"
    flat = difference(0.0, -0.1, 0.1)
    rows = [PairedDifference(name, "baseline", "", just if name == names[0] else flat) for name in names]
    found = compare(paper(), llama(), rows)
    assert found.differences[0].words == "no difference shown"
    assert found.differences[0].p_value == alone.differences[0].p_value == pytest.approx(0.04, abs=0.005)
    assert found.differences[0].adjusted_p == pytest.approx(4 * found.differences[0].p_value)


def test_better_everywhere_takes_every_row_at_its_own_level():
    names = ("dark-current", "raw-false-preference", "stable-cross-sensitivity")
    just = difference(0.1, 0.005, 0.195)
    rows = [PairedDifference(name, "baseline", "", just) for name in names]
    found = compare(paper(), llama(), rows)
    assert found.better_everywhere == "first"
    other = compare(paper(), llama(), [*rows, PairedDifference("target-sensitivity", "baseline", "1", just)])
    assert other.better_everywhere is None
    undefined = PairedDifference("target-sensitivity", "baseline", "1", Undefined("not asked"))
    unknown = compare(paper(), llama(), [*rows, undefined])
    assert unknown.better_everywhere is None
    hint = compare(paper(), llama(), [*rows, PairedDifference("tie-rate", "baseline", "1", difference(0, -1, 1))])
    assert hint.better_everywhere == "first"


def test_the_values_are_those_of_the_datasheets_unless_others_are_given():
    first, second = sample().differences[0].first, sample().differences[0].second
    assert (first.numerator, second.numerator) == (0, 80)
    given = PairedDifference("dark-current", "baseline", "", difference(0, -1, 1), first=Undefined("not there"))
    assert compare(paper(), llama(), [given]).differences[0].first.reason == "not there"


def test_two_prompts_of_one_judge():
    (one,) = prompts().differences
    assert (one.arm, one.second_arm, one.first.numerator, one.second.numerator) == ("baseline", "strict", 31, 0)
    assert one.words == "second better"


def test_the_findings_name_the_judges_and_the_price():
    findings = " ".join(sample().findings)
    assert "The first, Qwen2.5-32B-Instruct, pairwise, is shown to be better in dark current, positional" in findings
    assert "The second, Llama-3.1-8B, is shown to be better in unparsed answers." in findings
    assert "No difference is shown in 1 of 8 comparisons." in findings
    assert "The second is cheaper: the other costs about 429 % more per call." in findings


def test_the_findings_are_about_the_judges_own_prompts():
    probe = PairedDifference("target-sensitivity", "strict", "1", difference(0.3, 0.2, 0.4))
    findings = " ".join(compare(paper(), llama(), [*PAIRED, probe]).findings)
    assert "target sensitivity at Δ1" in findings
    assert "The second, Llama-3.1-8B, is shown to be better in unparsed answers." in findings


def test_other_stimuli_are_said():
    other = compare(paper(), llama(run=run(stimuli="other")), [])
    assert not other.same_stimuli
    assert "not shown the same stimuli" in other.findings[0]
    assert "Not the same stimuli." in Page(render_comparison_html(other)).text


def test_the_same_record_gives_the_same_bytes():
    for one in (sample(), prompts()):
        text = render_comparison_json(one)
        again = parse_comparison(text)
        assert render_comparison_json(again) == text
        assert render_comparison_html(again) == render_comparison_html(one)
        assert render_comparison_markdown(again) == render_comparison_markdown(one)


def test_the_page_shows_both_sides_and_what_sets_them_apart():
    text = " ".join(Page(render_comparison_html(sample())).text.split())
    for expected in (
        "First Qwen2.5-32B-Instruct, pairwise Not enough data",
        "Second Llama-3.1-8B Do not use",
        "+0.883 [+0.800, +0.950]",
        "first better",
        "undefined: no pair was answered by both not comparable",
        "-1.10 [-1.50, -0.70]",
        "Positional false preference ≤ 0.10 INCONCLUSIVE FAIL",
        "temperature 0.0 0.7",
        "prompt its own another",
        "A difference that is not shown is not a proof that there is none.",
    ):
        assert expected in text, expected


def test_the_page_is_well_formed_small_and_fetches_nothing():
    source = render_comparison_html(sample())
    page = Page(source)
    assert page.open == []
    assert len(source.encode()) < 300_000
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert {value for _, name, value in page.attributes if name in {"src", "href"}} == {"data:,"}
    assert "<script" not in source


def test_the_card_is_short():
    card = render_comparison_markdown(sample())
    assert len(card.splitlines()) <= 60
    assert "| Dark current | 0.000 \\[0.000, 0.031\\] | 0.667 \\[0.578, 0.745\\] | +0.667" in card
    many = compare(paper(), llama(), PAIRED * 10)
    assert len(render_comparison_markdown(many).splitlines()) <= 60


def test_nothing_to_compare_is_said():
    assert "No paired difference is recorded." in render_comparison_html(compare(paper(), llama(), []))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_text_from_outside_is_inert(payload):
    harmless = infected(sample(), "harmless", structure=True)
    hostile = infected(sample(), payload, structure=True)
    source, card = render_comparison_html(hostile), render_comparison_markdown(hostile)
    page = Page(source)
    assert page.skeleton == Page(render_comparison_html(harmless)).skeleton
    assert inert(payload) in page.text
    assert not HIDDEN.search(source)
    assert not HIDDEN.search(card)
    card.encode()
    front, tokens = taken_apart(card)
    assert list(front) == ["format", "first", "second"]
    _, expected = taken_apart(render_comparison_markdown(harmless))
    assert [kind for kind, _, _ in skeleton(tokens)] == [kind for kind, _, _ in skeleton(expected)]
