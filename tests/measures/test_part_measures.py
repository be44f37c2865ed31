"""Failures by part of the test cases: counted by hand, and with intervals as scipy has them."""

from math import isclose

import pytest
from scipy.stats import beta, binomtest

from umpirical.domain.measures import Estimate, Undefined
from umpirical.domain.tallies import GradePairTally, PairTally, PartTally, Tallies
from umpirical.measures.parts import missed_differences, swap_reversals


def pair(family, delta, pairs, *, right=0.0, reversed_=0.0, kind="graded", stratum="", incomplete=0):
    return PairTally(
        family, "baseline", kind, delta, pairs, both_correct=right, positional=reversed_, stratum=stratum,
        incomplete=incomplete,
    )  # fmt: skip


def parts(**families):
    """`invoice="format=json language=en"` for each family."""
    return tuple(PartTally(name, "baseline", part) for name, of in families.items() for part in of.split())


def found(spec, tallies):
    return {measure.group: measure.result for measure in spec.compute(tallies, "baseline")}


TALLIES = Tallies(
    pairs=(
        pair("invoice", 5.0, 2, right=0),
        pair("invoice", 1.0, 2, right=0, reversed_=2),
        pair("recipe", 2.0, 3, right=2.5, reversed_=0.5),
        pair("recipe", 5.0, 1, right=0, stratum="list"),
        pair("recipe", 0.0, 2, kind="equal", reversed_=1),
        pair("rezept", 3.0, 4, right=4, incomplete=2),
        pair("mine", 5.0, 4, right=0, kind="own-graded", reversed_=4),
    ),
    parts=parts(
        invoice="format=json language=en domain=invoices",
        recipe="format=prose language=en domain=cooking",
        rezept="format=prose language=de domain=cooking",
        mine="format=prose",
    ),
)


def test_large_differences_missed_by_hand():
    results = found(missed_differences, TALLIES)
    assert [*results] == [
        "format=json", "format=list", "format=prose", "language=de", "language=en", "domain=cooking", "domain=invoices",
    ]  # fmt: skip
    counts = {part: (result.numerator, result.denominator, result.clusters) for part, result in results.items()}
    # A step of one requirement is not large, and the user's own answers are not pooled with the rest.
    assert counts["format=json"] == counts["domain=invoices"] == (2, 2, 1)
    assert counts["format=list"] == (1, 1, 1)
    assert counts["format=prose"] == (0.5, 7, 2)
    assert counts["language=en"] == (3.5, 6, 2)
    assert counts["domain=cooking"] == (1.5, 8, 2)
    assert results["language=de"].excluded == {"without an answer in both orders": 2}
    assert results["language=de"].bounds == (0, 2 / 6)


def test_verdicts_reversed_by_hand():
    counts = {part: (one.numerator, one.denominator) for part, one in found(swap_reversals, TALLIES).items()}
    assert counts["format=json"] == (2, 4)
    assert counts["format=prose"] == (1.5, 9)
    assert counts["language=en"] == (3.5, 10)


def test_a_grader_is_asked_about_the_largest_step_alone():
    graded = Tallies(
        grade_pairs=(
            GradePairTally("invoice", "baseline", "graded", "", 5.0, 4, better_higher=3),
            GradePairTally("invoice", "baseline", "graded", "", 2.0, 4, better_higher=0),
        ),
        parts=parts(invoice="format=json"),
    )
    (one,) = found(missed_differences, graded).values()
    assert (one.numerator, one.denominator) == (1, 4)
    assert found(swap_reversals, graded) == {}


def test_without_parts_there_is_nothing_and_without_answers_no_number():
    assert found(missed_differences, Tallies(pairs=TALLIES.pairs)) == {}
    unanswered = Tallies(pairs=(pair("a", 5.0, 0, incomplete=3),), parts=parts(a="format=json"))
    assert found(missed_differences, unanswered) == {
        "format=json": Undefined("no pair has an answer in both orders", {"without an answer in both orders": 3})
    }


@pytest.mark.parametrize("missed", [0, 1, 6, 11, 12])
def test_one_pair_a_family_has_the_exact_interval_of_scipy_at_the_shared_level(missed):
    pairs = tuple(pair(f"f{n}", 5.0, 1, right=int(n >= missed)) for n in range(12))
    kinds = {f"f{n}": "format=prose language=en domain=one" for n in range(12)}
    result = found(missed_differences, Tallies(pairs=pairs, parts=parts(**kinds)))["domain=one"]
    # Three parts share the error of 5 %.
    expected = binomtest(missed, 12).proportion_ci(confidence_level=1 - 0.05 / 3, method="exact")
    assert isclose(result.interval.low, expected.low, abs_tol=1e-9)
    assert isclose(result.interval.high, expected.high, abs_tol=1e-9)


def test_pairs_of_one_family_count_as_fewer():
    tallies = Tallies(pairs=(pair("a", 5.0, 5), pair("b", 5.0, 5)), parts=parts(a="format=json", b="format=json"))
    (result,) = found(missed_differences, tallies).values()
    assert isinstance(result, Estimate)
    # Five pairs of a family at a correlation of .05 are worth 5 / 1.2.
    assert isclose(result.planning_effect, 1.2)
    assert isclose(result.interval.low, beta.ppf(0.025, 10 / 1.2, 1))
