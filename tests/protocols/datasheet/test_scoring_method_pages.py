"""Which scoring method is recommended, by hand-made rates; and pages in which foreign text stays text."""

import pytest

from tests.cases import each
from tests.reports.dissection import Page, skeleton, taken_apart
from tests.reports.payloads import HIDDEN, PAYLOADS, infected
from umpirical.protocols.datasheet.scoring_method_rules import (
    HOW_TO_RECORD,
    NON_CLAIMS,
    ScoringMethodRow,
    ScoringMethods,
    recommend,
    shown_measures,
)
from umpirical.protocols.datasheet.scoring_methods import render_scoring_methods_html, render_scoring_methods_markdown
from umpirical.reports.record import record_json
from umpirical.text.inert import inert

from .samples import estimate, judge, measure, run, undefined


def half(*, seen=(30, 40), false=2, dark=0, n=40, **more):
    """Measures of one half: pairs seen at the steps 1 and 5, false preferences and dark current, of `n` each."""
    blank = undefined("no vacuum prompt was answered") if dark is None else estimate(dark, n, "prompt")
    return [
        *(measure("target-sensitivity", estimate(seen[i], n, "pair", **more), "15"[i]) for i in range(2)),
        measure("raw-false-preference", estimate(false, n, "pair")),
        measure("dark-current", blank),
        *(measure("tie-rate", estimate(4, n, "pair"), step) for step in "015"),
    ]


def row(name, *, pairwise=False, reported=None, **rates):
    return ScoringMethodRow(
        name=name, about="...", pairwise=pairwise, chosen_on=half(**rates), reported_on=half(**(reported or rates))
    )


def test_the_most_sensitive_of_the_acceptable_is_recommended():
    rows = [
        row("text", seen=(40, 40), false=40),
        row("logprob", seen=(20, 40)),
        row("both-orders", seen=(30, 40), pairwise=True),
    ]
    said = recommend(rows, target=0.10)
    assert said.scoring_method == "both-orders"
    # (30 + 40) / 80 on the tasks for choosing.
    assert "88% over all differences" in said.sentences[0]


def test_of_equals_the_simplest_is_recommended():
    assert recommend([row("text"), row("logprob")], target=0.10).scoring_method == "text"


@pytest.mark.parametrize(
    "rates",
    [{"false": 5}, {"dark": 5}, {"dark": None}, {"seen": (0, 20)}],
    ids=["false preference", "dark current", "dark current unknown", "sees half"],
)
def test_what_is_not_acceptable_is_not_recommended(rates):
    said = recommend([row("text", **rates)], target=0.10)
    assert said.scoring_method is None
    assert said.sentences[0].startswith("No scoring method is acceptable")


def test_vacuum_that_is_one_prompt_in_both_orders_is_no_obstacle_to_a_scoring_method_of_both():
    assert recommend([row("both-orders", dark=None, pairwise=True)], target=0.10).scoring_method == "both-orders"


def test_blank_answers_without_a_verdict_are_an_obstacle_to_any_scoring_method():
    silent = row("both-orders", pairwise=True)
    chosen_on = [m for m in silent.chosen_on if m.name != "dark-current"]
    chosen_on.append(measure("dark-current", undefined("no vacuum prompt was answered", unanswered=9)))
    assert recommend([silent.model_copy(update={"chosen_on": chosen_on})], target=0.10).scoring_method is None


def test_the_nearest_to_acceptable_is_named_with_its_figures():
    said = recommend(
        [row("text", false=30), row("logprob", false=8), row("both-orders", false=8, seen=(0, 0))], target=0.1
    )
    assert said.scoring_method is None
    assert "logprob has the lowest false preference on equal pairs, 20% " in said.sentences[1]
    assert "at a 5-requirement difference is 100%" in said.sentences[1]


def test_what_has_no_verdict_counts_against_a_scoring_method():
    """Seen in all of 40 pairs of 100: the worst case is .4."""
    rows = [row("text", seen=(24, 40)), row("logprob", seen=(40, 40), bounds=(0.4, 1.0))]
    assert recommend(rows, target=0.10).scoring_method == "text"
    assert recommend(rows[1:], target=0.10).scoring_method is None


def test_a_step_without_a_single_verdict_counts_as_not_seen_and_one_of_a_single_task_not_at_all():
    silent = row("text")
    none = measure("target-sensitivity", undefined("no pair has an answer", unanswered=9), "5")
    lone = measure("target-sensitivity", undefined("only one task was measured"), "5")
    for replaced, expected in ((none, None), (lone, "text")):
        chosen_on = [m if (m.name, m.stratum) != ("target-sensitivity", "5") else replaced for m in silent.chosen_on]
        assert recommend([silent.model_copy(update={"chosen_on": chosen_on})], target=0.10).scoring_method == expected


@pytest.mark.parametrize(
    ("reported", "words"),
    [
        ({"false": 20}, "the selection did not hold"),
        ({"false": 4}, "inconclusive at this size"),
    ],
)
def test_what_the_other_half_says_against_the_choice_is_said(reported, words):
    said = recommend([row("text", reported=reported)], target=0.10)
    assert said.scoring_method == "text"
    assert words in said.sentences[-1]


def test_a_choice_that_clearly_holds_is_left_at_its_figures():
    said = recommend([row("text", reported={"false": 0, "n": 400, "seen": (300, 400)})], target=0.10)
    assert len(said.sentences) == 2
    assert "75%" in said.sentences[1]


def test_the_table_shows_one_requirement_and_the_largest_step():
    assert shown_measures([row("text")]) == [
        ("target-sensitivity", "1"),
        ("target-sensitivity", "5"),
        ("raw-false-preference", ""),
        ("dark-current", ""),
        ("tie-rate", "0"),
        ("tie-rate", "1"),
        ("tie-rate", "5"),
    ]


def sample():
    rows = [
        row("text", false=40),
        ScoringMethodRow(name="logprob", about="...", pairwise=False, why_not="nothing was recorded"),
        row("order-averaged", pairwise=True, dark=None).model_copy(
            update={"band": 0.8931, "against_text": half(), "datasheet": "order-averaged/datasheet.html"}
        ),
    ]
    return ScoringMethods(
        judge=judge(), run=run(), variant="baseline", target=0.10, calibration_tasks=["a", "b"], reporting_tasks=["c"],
        rows=rows, recommendation=recommend(rows, target=0.10), how_to_record=HOW_TO_RECORD, non_claims=NON_CLAIMS,
    )  # fmt: skip


def test_the_record_reads_back():
    assert ScoringMethods.model_validate_json(record_json(sample())) == sample()


def test_page_and_card_say_band_choice_gaps_and_how_to_record():
    page, card = Page(render_scoring_methods_html(sample())).text, render_scoring_methods_markdown(sample())
    for text in (page, card):
        assert "0.89 nats" in text
        assert "Use the scoring method order-averaged" in text
        assert "nothing was recorded" in text
        assert "undefined: no vacuum prompt was answered" in text
    assert "top_logprobs: 20" in page
    assert "tie by construction" not in card
    assert all(claim in page for claim in NON_CLAIMS)


@each("payload", PAYLOADS)
def test_text_from_outside_is_inert(payload):
    # What a measure is called and about is ours; the judge's name, its model and the reasons are not.
    harmless, hostile = (infected(sample(), text, structure=False) for text in ("harmless", payload))
    source, card = render_scoring_methods_html(hostile), render_scoring_methods_markdown(hostile)
    page = Page(source)
    assert page.skeleton == Page(render_scoring_methods_html(harmless)).skeleton
    assert inert(payload) in page.text
    assert not HIDDEN.search(source)
    assert not HIDDEN.search(card)
    card.encode()
    front, tokens = taken_apart(card)
    assert list(front) == ["format", "judge", "run"]
    _, expected = taken_apart(render_scoring_methods_markdown(harmless))
    assert [kind for kind, _, _ in skeleton(tokens)] == [kind for kind, _, _ in skeleton(expected)]
