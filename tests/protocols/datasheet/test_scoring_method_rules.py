"""What each scoring method makes of a pair: every row of the table by hand, and nothing guessed."""

from math import inf

import pytest

from umpirical.domain.judgments import Abstained, Failed, Unparsed, Verdict
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice
from umpirical.domain.scoring_methods import Span
from umpirical.domain.stimuli import NoPreference, Stimulus
from umpirical.domain.trials import Order, Presentation, Trial
from umpirical.judges.label_logprobs import Undecided
from umpirical.protocols.datasheet.scoring_method_rules import ALONE, OTHER, UNKNOWN, Heard, pair_odds, rule_of

ONE, TWO, TIE = (Verdict(choice) for choice in (Choice.POSITION_1, Choice.POSITION_2, Choice.TIE))
ABSTAINED, FAILED, MUMBLED = Abstained(), Failed("timeout", "late"), Unparsed("words", "no label")
NONE = Undecided("no log-probabilities were recorded")


def odds(value: float, tie: float = -9.0):
    """Labels with these log-odds of position 1 against position 2."""
    return {"1": Span(-1.0, -1.0), "2": Span(-1.0 - value, -1.0 - value), "tie": Span(tie, tie)}


def heard(order, outcome, labels=NONE, candidates=("first", "second")):
    stimulus = Stimulus("t", "task", candidates, NoPreference(), "test/1", "equal", delta=0.0)
    trial = Trial(f"{order}", f"{order}", stimulus.id, Presentation(order))
    return Heard(trial, stimulus, None if outcome is None else Response("t", "words"), outcome, labels)


def pair(ab, ba, ab_labels=NONE, ba_labels=NONE):
    return [heard(Order.AB, ab, ab_labels), heard(Order.BA, ba, ba_labels)]


U, V, NEITHER = [ONE, TWO], [TWO, ONE], [TIE, TIE]
"""A content, as the answer to order ab and to order ba."""


@pytest.mark.parametrize(
    ("ab", "ba", "expected"),
    [
        (ONE, TWO, U),
        (TWO, ONE, V),
        (ONE, ONE, NEITHER),
        (TWO, TWO, NEITHER),
        (ONE, TIE, NEITHER),
        (TIE, TIE, NEITHER),
        (ABSTAINED, ONE, NEITHER),
        (ABSTAINED, TIE, NEITHER),
        (ABSTAINED, ABSTAINED, [ABSTAINED, ABSTAINED]),
    ],
)
def test_both_orders_keep_what_they_agree_on(ab, ba, expected):
    assert rule_of("both-orders")(pair(ab, ba)) == expected
    # Shown the other way round in the list, the same.
    assert rule_of("both-orders")(pair(ab, ba)[::-1]) == expected[::-1]


@pytest.mark.parametrize("missing", [FAILED, MUMBLED, None], ids=["failed", "unparsed", "unasked"])
def test_one_order_missing_is_no_verdict_and_never_a_half(missing):
    known = odds(3.0)
    for scoring_method in (rule_of("both-orders"), rule_of("order-averaged", band=0.0)):
        assert scoring_method(pair(ONE, missing, known, NONE)) == [Unparsed("words", OTHER), missing]
        assert scoring_method(pair(missing, TWO, NONE, known)) == [missing, Unparsed("words", OTHER)]


def test_an_order_that_was_never_planned_is_missing_too():
    alone = [heard(Order.AB, ONE, odds(3.0))]
    for scoring_method in (rule_of("both-orders"), rule_of("order-averaged", band=0.0)):
        assert scoring_method(alone) == [Unparsed("words", ALONE)]


@pytest.mark.parametrize("outcome", [ONE, TWO, TIE])
def test_one_text_against_itself_is_both_orders_at_once_and_ties(outcome):
    same = [heard(Order.AB, outcome, odds(5.0), candidates=("x", "x"))]
    assert rule_of("both-orders")(same) == [TIE]
    assert rule_of("order-averaged", band=0.0)(same) == [TIE]
    assert rule_of("text")(same) == [outcome]


@pytest.mark.parametrize("outcome", [FAILED, MUMBLED, None, ABSTAINED], ids=str)
def test_one_text_against_itself_without_a_verdict_stays_without(outcome):
    same = [heard(Order.AB, outcome, candidates=("x", "x"))]
    assert rule_of("both-orders")(same) == [outcome]


@pytest.mark.parametrize(
    ("ab", "ba", "band", "expected"),
    [
        # u against v: (6 - 2) / 2 = 2, though the text says position 1 in both orders.
        (6.0, 2.0, 1.0, U),
        (6.0, 2.0, 2.0, NEITHER),
        (2.0, 6.0, 1.9, V),
        (4.0, 4.0, 0.0, NEITHER),
    ],
)
def test_the_average_over_both_orders_takes_the_slot_out(ab, ba, band, expected):
    asked = pair(ONE, ONE, odds(ab), odds(ba))
    assert rule_of("order-averaged", band=band)(asked) == expected
    assert pair_odds(asked).low == pytest.approx((ab - ba) / 2)


def test_log_odds_that_are_not_known_are_no_verdict():
    known, gone = odds(3.0), Unparsed("words", NONE.why)
    assert rule_of("order-averaged", band=1.0)(pair(ONE, ONE, known, NONE)) == [Unparsed("words", OTHER), gone]
    assert pair_odds(pair(ONE, ONE, known, NONE)) is None


def test_a_bound_settles_what_it_can_and_nothing_more():
    bounded = {"1": Span(-0.1, -0.1), "2": Span(-inf, -6.1), "tie": Span(-inf, -6.1)}
    # Order ab says at least 6, order ba exactly 2: u is ahead by at least 2.
    asked = pair(ONE, ONE, bounded, odds(2.0))
    assert rule_of("order-averaged", band=1.5)(asked) == U
    assert rule_of("order-averaged", band=2.5)(asked) == [Unparsed("words", UNKNOWN)] * 2


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (odds(2.0), ONE),
        (odds(-2.0), TWO),
        (odds(2.0, tie=-0.5), TIE),
        (odds(2.0) | {"tie": Span(-inf, -6.0)}, ONE),
        (odds(2.0) | {"tie": Span(-inf, -0.5)}, Unparsed("words", UNKNOWN)),
        (odds(2.0) | {"abstain": Span(-0.2, -0.2)}, ABSTAINED),
        (NONE, Unparsed("words", NONE.why)),
    ],
)
def test_the_most_likely_label_may_differ_from_the_text(labels, expected):
    asked = pair(TIE, ONE, labels, odds(1.0))
    assert rule_of("logprob")(asked) == [expected, ONE]
    assert rule_of("text")(asked) == [TIE, ONE]


@pytest.mark.parametrize("outcome", [FAILED, MUMBLED, None], ids=str)
def test_what_has_no_answer_has_none_by_its_tokens_either(outcome):
    assert rule_of("logprob")([heard(Order.AB, outcome)]) == [outcome]


def test_an_average_needs_a_band():
    with pytest.raises(ValueError, match="tie band"):
        rule_of("order-averaged")
