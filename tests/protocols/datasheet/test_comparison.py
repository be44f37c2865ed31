"""Any number of judges side by side."""

import json
from decimal import Decimal
from functools import cache

import jsonschema
import pytest
from pydantic import ValidationError

from tests.cases import each
from tests.reports.dissection import Page, skeleton, taken_apart
from tests.reports.payloads import HIDDEN, PAYLOADS, infected
from umpirical.domain.measures import Estimate, Interval, Undefined
from umpirical.protocols.datasheet.comparison import Comparison, compare, comparison_schema, generated_schema
from umpirical.protocols.datasheet.comparison_pages import (
    SENSES,
    judge_views,
    paper_tables,
    pick_cards,
    render_comparison_html,
    render_comparison_markdown,
    side_by_side,
)
from umpirical.protocols.datasheet.report import held_to
from umpirical.protocols.datasheet.spec import PRESETS, preset
from umpirical.reports import numbers
from umpirical.reports.comparison import PairedDifference
from umpirical.reports.record import record_json
from umpirical.stats.intervals import wilson
from umpirical.text.inert import inert

from .samples import (
    QWEN32B,
    datasheet,
    estimate,
    judge,
    llama_measures,
    measure,
    paper,
    paper_measures,
    spend,
    threshold,
)

QWEN14B = {
    "raw-false-preference": {"": 119},
    "stable-cross-sensitivity": {"": 27},
    "positional-false-preference": {"": 32},
    "one-sided-commit": {"": 1},
    "no-preference": {"": 0},
    "tie-rate": {"0": 1} | dict.fromkeys("12345", 0),
    "target-sensitivity": {"1": 100, "2": 80, "3": 60, "4": 40, "5": 20},
}
"""As published, where it is not as Qwen32B; the counts at Δ2 to Δ4 are ours."""


def difference(value, low, high, n=60):
    return Estimate(value, value * n, n, "pair", Interval(low, high, method="task t"), clusters=10)


def row(measure_name, stratum, found, first=0, second=1, *, variant="baseline", **more):
    return PairedDifference(measure_name, variant, stratum, found, first, second, **more)


def narrow(low, high):
    return Interval(low, high, method="task t", level=0.9)


PAIRED = [
    row("dark-current", "", difference(0.667, 0.55, 0.77), sign_flip_p=0.002),
    row("positional-false-preference", "", difference(0.883, 0.8, 0.95)),
    row("stable-cross-sensitivity", "", difference(0.033, -0.02, 0.1), narrow=narrow(-0.01, 0.09)),
    row("tie-rate", "1", difference(-0.06, -0.1, -0.02)),
    row("target-sensitivity", "1", difference(-0.33, -0.45, -0.21)),
    row("target-sensitivity", "5", Undefined("no pair was answered by both")),
    row("unparsed-rate", "", difference(-0.006, -0.012, -0.001), narrow=narrow(-0.011, -0.002)),
    row("one-sided-commit", "", difference(-0.35, -0.5, -0.2)),
    row("target-sensitivity", "2", difference(-0.36, -0.5, -0.2)),
]


def llama(**more):
    return datasheet(
        **{
            "judge": judge(name="Llama-3.1-8B", model="vllm/llama", decoding={"temperature": 0.7, "seed": 1}),
            "measures": llama_measures(true_value=False),
            "spend": spend(cost_per_1000=Decimal("0.1")),
        }
        | more
    )


def qwen14():
    counts = [(n, s, QWEN14B.get(n, {}).get(s, k), total, unit) for n, s, k, total, unit in QWEN32B]
    measures = [measure(n, estimate(k, total, unit), s) for n, s, k, total, unit in counts]
    return datasheet(judge=judge(name="Qwen2.5-14B"), measures=[*measures, measure("detection-threshold", threshold())])


def sample():
    return compare([paper(), llama()], PAIRED)


def papers_three():
    """The judges of the Dark Current paper, in the order of its Table 3; what it did not publish is not compared."""
    return compare([llama(), qwen14(), paper()], [])


def many(count=12):
    """As many judges as a page has to show, with differences of every kind."""
    sheets = [(llama if place % 3 else paper)() for place in range(count)]
    sheets = [
        sheet.model_copy(update={"judge": sheet.judge.model_copy(update={"name": f"judge-{place}-of-some-length"})})
        for place, sheet in enumerate(sheets)
    ]
    rows = [
        row(one.measure, one.stratum, one.difference, first, second, narrow=one.narrow)
        for first in range(count)
        for second in range(first + 1, count)
        for one in PAIRED
    ]
    return compare(sheets, rows, reference=0)


def words(comparison):
    return {(one.measure, one.stratum): one.words for one in comparison.differences}


def test_a_comparison_keeps_the_correction_for_a_second_look():
    """Its own verdicts and those of the picks are those of each judge's own page."""
    twice = held_to(paper(), preset().at_look(2))
    compared = compare([twice, llama()], PAIRED, policy=preset())
    assert [side.decision for side in compared.judges] == [twice.decision, llama().decision]
    levels = [check.level for check in compared.judges[0].checks if check.level is not None]
    assert max(levels) == pytest.approx(0.012)
    by_name = {each.policy: each.verdicts[0] for each in compared.picks}
    assert by_name == {name: held_to(twice, preset(name)).decision.verdict for name in PRESETS}


# What a difference comes to.


def test_the_words_follow_from_the_interval_the_margin_and_the_direction_that_is_bad():
    assert words(sample()) == {
        ("dark-current", ""): "first better",
        ("positional-false-preference", ""): "first better",
        ("stable-cross-sensitivity", ""): "undecided",
        ("tie-rate", "1"): "differs",
        ("target-sensitivity", "1"): "first better",
        ("target-sensitivity", "5"): "not comparable",
        ("unparsed-rate", ""): "equivalent",
        ("one-sided-commit", ""): "second ahead",
        ("target-sensitivity", "2"): "first ahead",
    }
    assert {one.measure for one in sample().differences if one.family == "exploratory"} == {
        "tie-rate",
        "one-sided-commit",
        "target-sensitivity",
    }


def test_a_measure_of_which_only_the_use_says_what_is_worse_has_the_direction_of_its_check():
    """A high stable cross-sensitivity is neither good nor bad, and every shipped policy checks it."""
    sheets = [
        sheet.model_copy(
            update={
                "measures": [
                    one.model_copy(update={"worse": "depends"}) if one.name == "stable-cross-sensitivity" else one
                    for one in sheet.measures
                ]
            }
        )
        for sheet in (paper(), llama())
    ]
    [one] = compare(sheets, [row("stable-cross-sensitivity", "", difference(0.5, 0.4, 0.6))]).differences
    assert (one.worse, one.words) == ("higher", "first better")


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-0.001, 0.2, "undecided"),
        (0.001, 0.2, "first better"),
        (-0.2, 0.001, "undecided"),
        (-0.2, -0.001, "second better"),
        (None, None, "undecided"),
        (None, -0.1, "second better"),
    ],
)
def test_a_judge_is_better_only_if_the_whole_interval_is_on_its_side(low, high, expected):
    paired = [row("dark-current", "", difference(-0.2 if low is None else (low + high) / 2, low, high))]
    assert compare([paper(), llama()], paired).differences[0].words == expected


@pytest.mark.parametrize(
    ("ends", "margin", "missing", "expected"),
    [
        ((-0.04, 0.03), None, (0, 0), "equivalent"),
        ((-0.05, 0.05), None, (0, 0), "equivalent"),
        ((-0.051, 0.03), None, (0, 0), "undecided"),
        ((-0.04, 0.03), 0.03, (0, 0), "undecided"),
        ((-0.2, 0.2), 0.3, (0, 0), "equivalent"),
        # Missing answers could have come out any way.
        ((-0.04, 0.03), None, (0.005, 0.02), "undecided"),
    ],
)
def test_two_are_equivalent_if_the_narrow_interval_is_within_the_margin(ends, margin, missing, expected):
    paired = [row("dark-current", "", difference(0.0, -0.06, 0.06), narrow=narrow(*ends), missing=missing)]
    assert compare([paper(), llama()], paired, margin=margin).differences[0].words == expected


def test_a_difference_that_is_shown_but_does_not_matter_is_no_advantage():
    paired = [row("dark-current", "", difference(0.02, 0.01, 0.03), narrow=narrow(0.012, 0.028))]
    [one] = compare([paper(), llama()], paired).differences
    assert one.adjusted_p < 0.01
    assert one.words == "equivalent"


def test_a_judge_is_not_better_by_what_it_did_not_answer():
    """A judge that leaves out what it would get wrong looks better on the rest."""
    better = difference(0.1, 0.08, 0.12)
    assert words(compare([paper(), llama()], [row("dark-current", "", better, missing=(0.0, 0.5))])) == {
        ("dark-current", ""): "first better"
    }
    assert words(compare([paper(), llama()], [row("dark-current", "", better, missing=(0.1, 0.0))])) == {
        ("dark-current", ""): "undecided"
    }


def test_a_difference_is_shown_among_all_pairs_of_judges_and_all_checks():
    """Alone, an interval that just excludes 0; of three pairs, one that does so by chance."""
    just, flat = difference(0.1, 0.005, 0.195), difference(0.0, -0.1, 0.1)
    alone = compare([paper(), llama()], [row("dark-current", "", just)])
    assert alone.differences[0].words == "first better"
    rows = [row("dark-current", "", just if pair == (0, 1) else flat, *pair) for pair in ((0, 1), (0, 2), (1, 2))]
    found = compare([paper(), llama(), qwen14()], rows)
    assert found.differences[0].words == "undecided"
    assert found.differences[0].p_value == alone.differences[0].p_value == pytest.approx(0.04, abs=0.005)
    assert found.differences[0].adjusted_p == pytest.approx(3 * found.differences[0].p_value)


def test_better_everywhere_takes_every_row_at_its_own_level():
    just = difference(0.1, 0.005, 0.195)
    rows = [row(name, "", just) for name in ("dark-current", "raw-false-preference", "stable-cross-sensitivity")]
    sheets = [paper(), llama()]
    assert compare(sheets, rows).better_everywhere == [(0, 1)]
    assert compare(sheets, [*rows, row("target-sensitivity", "1", just)]).better_everywhere == []
    assert compare(sheets, [*rows, row("target-sensitivity", "1", Undefined("not asked"))]).better_everywhere == []
    assert compare(sheets, [*rows, row("tie-rate", "1", difference(0, -1, 1))]).better_everywhere == [(0, 1)]


def test_another_prompt_is_exploratory():
    found = compare([paper(), llama()], [row("dark-current", "", difference(0.5, 0.4, 0.6), variant="strict")])
    assert (found.differences[0].family, found.differences[0].words) == ("exploratory", "first ahead")


# Which judge to take.


def sound(name, price=None, seen=600):
    """A judge that meets every check of the policy for quick checks, at a price."""
    wanted = {check.key: check for check in preset("ci-smoke").compare}
    measures = [
        measure(n, estimate(0 if check.kind == "at_most" else seen, seen, "pair"), at)
        for (n, at), check in wanted.items()
    ]
    return datasheet(judge=judge(name=name), measures=measures, spend=spend(cost_per_1000=price))


def smoke(sheets, rows=(), **more):
    return next(one for one in compare(sheets, rows, **more).picks if one.policy == "ci-smoke")


def test_there_is_a_pick_for_each_shipped_policy_and_for_ones_own():
    own = preset().model_copy(update={"policy": "ours"})
    assert [one.policy for one in compare([paper(), llama()], [], policy=own).picks] == ["ours", *PRESETS]
    assert [one.policy for one in sample().picks if one.own] == ["ranking"]


def test_no_judge_is_said():
    pick = compare([llama(), llama()], []).picks[0]
    assert (pick.picked, pick.title) == ([], "No judge")
    assert pick.sentences == ["Do not use: Llama-3.1-8B (2026-0), Llama-3.1-8B (2026-0)."]


def test_the_cheapest_of_those_that_are_not_shown_worse_is_taken():
    cheap, dear = sound("cheap", Decimal("0.1")), sound("dear", Decimal(9))
    pick = smoke([dear, llama(), cheap])
    assert (pick.admitted, pick.not_worse, pick.picked, pick.title) == ([0, 2], [0, 2], [2], "Use cheap")
    assert pick.sentences[:2] == [
        "2 of 3 pass the policy: dear, cheap.",
        "None of dear, cheap is significantly better; cheap is the cheapest, at $0.10 per 1,000 calls.",
    ]


def test_a_cheaper_judge_that_is_shown_worse_is_not_taken():
    cheap, dear = sound("cheap", Decimal("0.1")), sound("dear", Decimal(9))
    worse = [row("dark-current", "", difference(-0.1, -0.12, -0.08))]
    pick = smoke([cheap, dear], worse)
    assert (pick.not_worse, pick.picked) == ([1], [1])
    assert "Significantly worse than another of these: cheap." in pick.sentences
    # Each better in something: neither is the worse one, and the price decides again.
    both = [*worse, row("target-sensitivity", "5", difference(-0.1, -0.12, -0.08))]
    assert smoke([cheap, dear], both).picked == [0]


def test_an_unknown_price_decides_nothing():
    pick = smoke([sound("one", None), sound("two", Decimal(1))])
    assert pick.picked == [0, 1]
    assert "the price of one is unknown" in " ".join(pick.sentences)


def test_an_incomplete_run_is_said_and_not_taken():
    unfinished = sound("unfinished", Decimal(0)).model_copy(update={"complete": False})
    found = compare([unfinished, sound("done", Decimal(1))], [])
    assert next(one for one in found.picks if one.policy == "ci-smoke").picked == [1]
    assert "Incomplete runs: unfinished." in Page(render_comparison_html(found)).text
    assert "**Incomplete runs: unfinished.**" in render_comparison_markdown(found)


def test_the_reference_is_a_ceiling_and_is_never_taken():
    best, other = sound("best", Decimal(0)), sound("other", Decimal(9))
    found = compare([best, other], [row("dark-current", "", difference(0.1, 0.08, 0.12))], reference=0)
    pick = next(one for one in found.picks if one.policy == "ci-smoke")
    assert (pick.admitted, pick.picked) == ([1], [1])
    assert "best is the reference: a ceiling" in found.findings[0]
    assert "not ground truth" in found.findings[0]
    assert "is significantly below the ceiling in 1 of 1 checked rates" in found.findings[1]
    assert "reference ceiling" in Page(render_comparison_html(found)).text


# The documents.


def test_the_profiles_are_those_of_the_papers_table():
    """Table 3 of the Dark Current paper."""
    found = [[numbers.rate(cell.result.value) for cell in view.cells[:6]] for view in judge_views(papers_three())]
    assert found == [
        ["67%", "100%", "3%", "97%", "61%", "100%"],
        ["0%", "99.2%", "45%", "53%", "100%", "100%"],
        ["0%", "26%", "0%", "8%", "94%", "100%"],
    ]
    text = " ".join(Page(render_comparison_html(papers_three())).text.split())
    for expected in ("67% [58, 74] 100% [97, 100]", "45% [33, 58]", "≤ 1 (left-censored)"):
        assert expected in text, expected


def test_runs_of_the_papers_design_have_its_counts_and_its_intervals():
    """Table 6 of the Dark Current paper, in percent."""
    qwen32 = datasheet(judge=judge(name="Qwen2.5-32B"), measures=paper_measures())
    compared = compare([llama(), qwen14(), qwen32], [])
    tables = {one.sign: {row.title: row for row in rows} for one, rows in paper_tables(judge_views(compared))}
    found = {
        name: [(rows[title].calls, rows[title].interval) for title in ("False preference", "Accuracy at Δ1")]
        for name, rows in tables.items()
    }
    assert found == {
        "Llama-3.1-8B": [("120/120", "[97, 100]"), ("61/100", "[51, 70]")],
        "Qwen2.5-14B": [("119/120", "[95, 99.9]"), ("100/100", "[96, 100]")],
        "Qwen2.5-32B": [("31/120", "[19, 34]"), ("94/100", "[88, 97]")],
    }
    # Of pairs, it prints no interval.
    wording = tables["Llama-3.1-8B"]["Wording bias"]
    assert (wording.calls, wording.interval) == ("2/60", "")
    assert "As in the Dark Current paper" in render_comparison_html(compared)


def test_a_pair_is_two_of_the_papers_calls():
    by_pair = [measure("target-sensitivity", estimate(46.5, 50, "pair"), str(step)) for step in range(1, 6)]
    views = judge_views(compare([llama(), datasheet(judge=judge(name="of-pairs"), measures=by_pair)], []))
    rows = {row.title: row for row in {one.sign: rows for one, rows in paper_tables(views)}["of-pairs"]}
    low, high = wilson(93, 100)
    assert (rows["Accuracy at Δ1"].calls, rows["Accuracy at Δ1"].interval) == ("93/100", numbers.interval(low, high))


def test_runs_of_another_ladder_are_not_set_beside_the_paper():
    assert "As in the Dark Current paper" not in render_comparison_html(papers_three())


def test_the_page_of_two_shows_both_and_what_sets_them_apart():
    text = " ".join(Page(render_comparison_html(sample())).text.split())
    for expected in (
        "Which judge to use",
        "+88 points [+80, +95]",
        "▼ worse",
        "sign flip p = 0.002",
        "undefined: no pair was answered by both",
        "Positional false preference at most 10% ?",
        "0.7",
        "prompt 2",
        "A difference that is not significant does not prove that there is none",
    ):
        assert expected in text, expected


def test_what_got_worse_comes_first():
    rows = side_by_side(sample())
    order = [*SENSES]
    places = [order.index(row.sense) for row in rows]
    assert places == sorted(places)
    worse = [row for row in rows if row.sense == "worse"]
    assert worse
    changes = [row.difference.result.value * (1 if row.check.kind == "at_most" else -1) for row in worse]
    assert changes == sorted(changes, reverse=True)
    assert min(changes) > 0
    # Each check once, with the verdicts that the judges have in their datasheets.
    held = [
        {(check.measure, check.stratum): check.verdict for check in side.checks if check.variant == "baseline"}
        for side in sample().judges
    ]
    assert len(rows) == len({*held[0], *held[1]})
    for row in rows:
        key = row.check.measure, row.check.stratum
        assert row.verdicts == tuple(each.get(key, "N/A") for each in held)


def test_a_recommendation_that_is_the_same_under_all_policies_is_said_once():
    sheets = [sound("one", Decimal(1)), llama()]
    picks = [one.model_copy(update={"title": "Use one", "sentences": ["Why."]}) for one in compare(sheets, []).picks]
    [card] = pick_cards(picks)
    assert ([pick.policy for pick in card.picks], card.sentences) == ([*PRESETS], (("", "Why."),))
    picks[1] = picks[1].model_copy(update={"sentences": ["Other."]})
    [card] = pick_cards(picks)
    rest = ", ".join(pick.policy for pick in picks if pick is not picks[1])
    assert card.sentences == ((rest, "Why."), (picks[1].policy, "Other."))


def test_two_runs_of_one_judge_are_told_apart_by_their_runs():
    before, now = (
        llama().model_copy(update={"run": llama().run.model_copy(update={"id": i})}) for i in ("abcdef01", "12345678")
    )
    text = " ".join(Page(render_comparison_html(compare([before, now], []))).text.split())
    assert "Llama-3.1-8B: 2 runs on the same test cases" in text
    assert "What changed" in text
    assert "Llama-3.1-8B (123456) is compared with Llama-3.1-8B (abcdef): what got worse comes first" in text


def test_the_page_of_many_has_a_matrix_for_each_check():
    page = Page(render_comparison_html(many(4)))
    text = " ".join(page.text.split())
    assert "All 6 checked rates together" in text
    assert "Dark current: 6 significant, 0 equivalent, 0 inconclusive" in text
    assert "▲ -67" in text
    assert "▼ +67" in text


def test_the_same_record_gives_the_same_bytes():
    for one in (sample(), papers_three(), many()):
        text = record_json(one)
        again = Comparison.model_validate_json(text)
        assert record_json(again) == text
        assert render_comparison_html(again) == render_comparison_html(one)
        assert render_comparison_markdown(again) == render_comparison_markdown(one)


def test_the_shipped_schema_is_that_of_the_code_and_holds_for_the_record():
    assert comparison_schema() == generated_schema()
    jsonschema.validate(json.loads(record_json(sample())), json.loads(comparison_schema()))


def test_a_record_that_names_a_judge_that_is_not_there_is_refused():
    tree = json.loads(record_json(sample()))
    tree["differences"][0]["second"] = 7
    with pytest.raises(ValidationError, match="there are only 2 judges, but the record refers to place 7"):
        Comparison.model_validate_json(json.dumps(tree))


def test_the_page_is_well_formed_small_and_fetches_nothing():
    for one in (sample(), many()):
        source = render_comparison_html(one)
        page = Page(source)
        assert page.open == []
        assert len(source.encode()) < 600_000
        ids = [value for _, name, value in page.attributes if name == "id"]
        assert len(ids) == len(set(ids))
        assert {value for _, name, value in page.attributes if name in {"src", "href"}} == {"data:,"}
        assert "<script" not in source


def test_the_card_is_short():
    card = render_comparison_markdown(sample())
    assert len(card.splitlines()) <= 60
    assert "| Llama-3.1-8B | Do not use | 67% \\[58, 74\\] |" in card
    assert len(render_comparison_markdown(many(30)).splitlines()) <= 60


def test_nothing_to_compare_is_said():
    assert "The record has no paired differences." in render_comparison_html(compare([paper(), llama()], []))


@each("payload", PAYLOADS)
def test_text_from_outside_is_inert(payload):
    hostile = infected(sample(), payload, structure=True)
    tags, kinds = of_harmless()
    source, card = render_comparison_html(hostile), render_comparison_markdown(hostile)
    page = Page(source)
    assert page.skeleton == tags
    assert inert(payload) in page.text
    assert not HIDDEN.search(source)
    assert not HIDDEN.search(card)
    card.encode()
    front, tokens = taken_apart(card)
    assert list(front) == ["format", "policy", "judges"]
    assert [kind for kind, _, _ in skeleton(tokens)] == kinds


@cache
def of_harmless():
    """The tags of a page and the parts of a card whose texts are harmless."""
    harmless = infected(sample(), "harmless", structure=True)
    _, tokens = taken_apart(render_comparison_markdown(harmless))
    return Page(render_comparison_html(harmless)).skeleton, [kind for kind, _, _ in skeleton(tokens)]
