"""Contradicted reasoning, by hand."""

import pytest

from umpirical.domain.measures import Estimate, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import CallTally, Tallies
from umpirical.measures.calls import reasoning_contradiction


def calls(*counts, family=Family.GRADED):
    """One task each, with verdicts, reasonings, statements and contradictions."""
    return tuple(
        CallTally(
            f"t{place}", "baseline", family, "", 1.0, verdicts, graded=verdicts, reasoned=r, stated=s, contradicted=c
        )
        for place, (verdicts, r, s, c) in enumerate(counts)
    )


def test_it_is_the_share_of_contradictions_among_reasonings_that_state_a_verdict():
    [measure] = reasoning_contradiction.compute(Tallies(calls=calls((10, 8, 4, 1), (10, 9, 6, 1))), "baseline")
    assert isinstance(measure.result, Estimate)
    assert (measure.result.numerator, measure.result.denominator) == (2, 10)
    assert measure.result.value == pytest.approx(0.2)
    assert measure.result.interval.low < 0.2 < measure.result.interval.high


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ([(10, 0, 0, 0), (10, 0, 0, 0)], "no verdict came with reasoning"),
        ([(10, 10, 0, 0), (10, 10, 0, 0)], "no reasoning states a verdict"),
        ([(10, 10, 4, 1), (10, 10, 0, 0)], "the data come from only one task; an interval needs at least two"),
        ([], "no verdict came with reasoning"),
    ],
)
def test_it_is_undefined_with_the_reason_where_nothing_is_stated(counts, reason):
    [measure] = reasoning_contradiction.compute(Tallies(calls=calls(*counts)), "baseline")
    assert isinstance(measure.result, Undefined)
    assert measure.result.reason == reason


def test_another_variant_and_the_user_s_own_answers_are_left_aside():
    tallies = Tallies(calls=calls((10, 8, 4, 1), (10, 9, 6, 1)) + calls((9, 9, 9, 9), family=Family.OWN_GRADED))
    [measure] = reasoning_contradiction.compute(tallies, "baseline")
    assert measure.result.denominator == 10
    [other] = reasoning_contradiction.compute(tallies, "strict")
    assert isinstance(other.result, Undefined)
