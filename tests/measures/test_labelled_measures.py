"""Measures of labelled pairs, against counts by hand."""

import pytest
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from umpirical.domain.measures import Undefined
from umpirical.domain.tallies import ChangeTally, EditTally, PairTally, Tallies
from umpirical.measures.catalogue import MEASURES, measure_all

EACH = {
    "right": {"stable": 1, "both_correct": 1, "correct_calls": 2, "position_1_calls": 1, "position_2_calls": 1,
              "position_1_correct_calls": 1},
    "wrong": {"stable": 1, "wrong_calls": 2, "position_1_calls": 1, "position_2_calls": 1},
    "slot 1": {
        "positional": 1,
        "correct_calls": 1,
        "wrong_calls": 1,
        "position_1_calls": 2,
        "position_1_correct_calls": 1,
    },
    "slot 2": {"positional": 1, "correct_calls": 1, "wrong_calls": 1, "position_2_calls": 2},
    "first only": {"one_sided": 1, "one_sided_position_1": 1, "correct_calls": 1, "tie_calls": 1, "position_1_calls": 1,
                   "position_1_correct_calls": 1},
    "tie": {"no_preference": 1, "tie_calls": 2},
}  # fmt: skip
"""What a pair of each outcome counts."""


def tallies(outcomes, group=""):
    return tuple(
        PairTally(f"{group} {number}", "baseline", "natural", 0.0, 1, stratum=group, **EACH[outcome])
        for number, outcome in enumerate(outcomes)
    )


def measured(found):
    results = measure_all(found, kind="compare", protocol="pairs")
    return {(each.name, each.stratum, each.group): each.result for _, each in results}


def test_by_hand():
    outcomes = ["right"] * 10 + ["wrong"] * 2 + ["slot 1"] * 3 + ["slot 2"] + ["first only"] * 2 + ["tie"] * 2
    found = measured(Tallies(pairs=tallies(outcomes)))
    expected = {
        "both-orders-accuracy": (10, 20),
        "both-orders-error": (2, 20),
        "same-slot-rate": (4, 20),
        "same-answer-rate": (12, 20),
        "one-order-rate": (2, 20),
        "no-winner-rate": (2, 20),
        "single-order-accuracy": (26, 40),
        "chosen-first-accuracy": (15, 20),
        "chosen-second-accuracy": (11, 20),
        "named-slot-1-rate": (20, 40),
        "named-slot-2-rate": (14, 40),
    }
    for name, (hits, count) in expected.items():
        result = found[name, "", ""]
        assert (result.numerator, result.denominator, result.value) == (hits, count, hits / count), name
        assert result.interval.low < result.value < result.interval.high
    both = [found[f"chosen-{place}-accuracy", "", ""].value for place in ("first", "second")]
    assert sum(both) / 2 == found["single-order-accuracy", "", ""].value


def test_an_interval_of_pairs_alone_is_that_of_wilson():
    """Each pair is a cluster, so only Student's t and the design effect of single pairs differ from the textbook."""
    found = measured(Tallies(pairs=tallies(["right"] * 160 + ["wrong"] * 40)))["both-orders-accuracy", "", ""]
    low, high = proportion_confint(160, 200, method="wilson")
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=0.002)


def test_the_length_gap_is_a_difference_of_two_accuracies():
    longer, shorter = (
        tallies(["right"] * 45 + ["wrong"] * 5, "longer=chosen"),
        tallies(["right"] * 30 + ["wrong"] * 20, "longer=rejected"),
    )
    found = measured(Tallies(pairs=(*longer, *shorter)))["length-gap", "", ""]
    assert found.value == pytest.approx(0.3)
    low, high = confint_proportions_2indep(45, 50, 30, 50, method="newcomb")
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=0.01)


def test_edits_by_hand():
    edits = tuple(
        EditTally(str(number), "baseline", "typos", "side=rejected", 1, favoured=float(number < 3), disfavoured=0.0,
                  overturned=float(number < 2))
        for number in range(10)
    )  # fmt: skip
    found = measured(Tallies(edits=(*edits, EditTally("10", "baseline", "typos", "side=rejected", 0, incomplete=1))))
    assert found["edit-favour", "typos", "side=rejected"].value == 0.3
    assert found["edit-disfavour", "typos", "side=rejected"].value == 0
    overturned = found["edit-overturn", "typos", "side=rejected"]
    assert overturned.value == 0.2
    assert overturned.bounds == (2 / 11, 3 / 11)
    assert ("edit-overturn", "typos", "side=chosen") not in found


def test_nothing_counted_is_no_number():
    found = measured(Tallies(pairs=(PairTally("a", "baseline", "natural", 0.0, 0, incomplete=1),)))
    assert all(isinstance(result, Undefined) for result in found.values())
    assert found["both-orders-accuracy", "", ""].reason == "no pair has an answer in both orders"


def test_one_abstention_takes_a_part_of_a_pair_out_and_not_the_whole():
    """Of 80 pairs, 19 lack one of eight comparisons: they are counted by the others, and 19/8 pairs are missing."""
    tallies = [
        ChangeTally(f"t{k}", "baseline", "", "", "same-verdict", 1, changed=float(k < 4), lost=(k < 19) / 8)
        for k in range(80)
    ]
    spec = MEASURES.get("change-rate")
    [found] = [part.result for part in spec.compute(Tallies(changes=tuple(tallies)), "baseline")]
    assert (found.numerator, found.denominator, sum(found.excluded.values())) == (4, 80, 3)
