"""Choices between two runs of an agent, by hand."""

import pytest

from umpirical.domain.measures import Undefined
from umpirical.domain.tallies import PairTally, QuadTally, Tallies
from umpirical.measures.catalogue import MEASURES, measure_all

# Two transcripts. The first has three pairs: right in both orders, wrong in both, position 1 in both. The second has
# four: right in both, a winner in one order, which is right, and two without any. One more pair was not answered.
PAIRS = (
    PairTally(
        "a", "baseline", "cut-ending", 0.0, 3, stable=2, positional=1, both_correct=1, correct_calls=3, wrong_calls=3,
        stratum="place=late",
    ),
    PairTally(
        "b", "baseline", "cut-ending", 0.0, 4, stable=1, one_sided=1, no_preference=2, both_correct=1, correct_calls=3,
        tie_calls=5, incomplete=1, stratum="place=late",
    ),
)  # fmt: skip

QUADS = (
    QuadTally("a", "baseline", "cut-ending", "", 0.0, 4, following=1, blind=2, neither=1),
    QuadTally("b", "baseline", "cut-ending", "", 0.0, 4, following=1, reversed=1, one_version=2, incomplete=2),
)


def only(name, tallies):
    [measure] = MEASURES.get(name).compute(tallies, "baseline")
    return measure


@pytest.mark.parametrize(
    ("name", "hits"),
    [
        # Of 14 answers 6 are right, so of 7 pairs 3.
        ("policy-sensitivity", 3),
        ("right-in-both-orders", 2),
        ("wrong-in-both-orders", 1),
        ("positional-preference", 1),
        ("one-order-preference", 1),
        ("neither-order-preference", 2),
    ],
)
def test_pairs_under_one_policy(name, hits):
    found = only(name, Tallies(pairs=PAIRS))
    assert (found.stratum, found.group) == ("cut-ending", "place=late")
    result = found.result
    assert (result.numerator, result.denominator, result.unit, result.clusters) == (hits, 7, "pair", 2)
    assert result.excluded == {"without an answer in both orders": 1}
    assert result.bounds == pytest.approx((hits / 8, (hits + 1) / 8))


@pytest.mark.parametrize(
    ("name", "hits"),
    [
        ("policy-following", 2),
        ("policy-blind-preference", 2),
        ("policy-reversal", 1),
        ("one-policy-preference", 2),
        ("neither-policy-preference", 1),
    ],
)
def test_pairs_under_both_policies(name, hits):
    result = only(name, Tallies(quads=QUADS)).result
    assert (result.numerator, result.denominator, result.unit, result.clusters) == (hits, 8, "crossed-pair", 2)
    assert result.bounds == pytest.approx((hits / 10, (hits + 2) / 10))


def test_one_transcript_has_no_interval_and_gives_no_number():
    assert isinstance(only("policy-sensitivity", Tallies(pairs=PAIRS[:1])).result, Undefined)


def test_they_are_for_judges_of_agents_that_compare():
    tallies = Tallies(pairs=PAIRS, quads=QUADS)
    asked = {spec.name for spec, _ in measure_all(tallies, kind="compare", protocol="agent")}
    assert asked >= {"policy-sensitivity", "policy-following", "unparsed-rate"}
    assert not asked & {"accuracy", "violation-detection", "target-sensitivity", "task-following"}
    for protocol in ("datasheet", "stress"):
        other = {spec.name for spec, _ in measure_all(tallies, kind="compare", protocol=protocol)}
        assert not other & {"policy-sensitivity", "policy-following"}
