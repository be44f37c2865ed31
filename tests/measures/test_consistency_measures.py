"""Whether verdicts hold when answers are swapped: by hand, and noise told from bias."""

import numpy as np
import pytest

from umpirical.domain.measures import Undefined
from umpirical.domain.tallies import PairTally, Tallies
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.pairs.spec import PairsPolicy
from umpirical.reports.checks import hold_intervals
from umpirical.reports.record import measure_record
from umpirical.stats.differences import paired_difference


def measured(name, *pairs):
    [found] = MEASURES.get(name).compute(Tallies(pairs=pairs), "baseline")
    return found.result


def pair(task, pairs, family="graded", delta=5.0, stratum="", **counts):
    return PairTally(task, "baseline", family, delta, pairs, stratum=stratum, **counts)


FIRST = [pair(f"t{k}", 2, positional=2, position_1_calls=4, correct_calls=2) for k in range(8)]
"""Always position 1."""

GUESSED = [
    pair(
        f"t{k}",
        4,
        positional=2,
        stable=2,
        position_1_calls=3 + 2 * (k % 2),
        position_2_calls=5 - 2 * (k % 2),
        correct_calls=4,
    )
    for k in range(8)
]
"""As a coin would answer: in one task position 1 leads by two calls, in the next position 2 does."""


def test_swapping_changes_the_verdict_of_a_coin_and_of_a_judge_of_position_1_alike():
    assert (measured("swap-inconsistency", *FIRST).numerator, measured("swap-inconsistency", *FIRST).value) == (16, 1)
    found = measured("swap-inconsistency", *GUESSED, pair("t9", 2, one_sided=1, no_preference=1, family="equal"))
    assert (found.numerator, found.denominator) == (17, 34)


def test_the_lean_tells_them_apart():
    assert measured("position-lean", *FIRST).value == 1
    found = measured("position-lean", *GUESSED)
    assert (found.value, found.interval.low) == (0, 0)
    y, z = [3, 5] * 4, [5, 3] * 4
    reference = paired_difference(y, [8] * 8, z, [8] * 8)
    assert found.interval.high == pytest.approx(max(-reference.low, reference.high))


def test_the_lean_has_no_sign_and_its_interval_has_none_either():
    one = measured("position-lean", *FIRST)
    other = measured("position-lean", *(pair(f"t{k}", 2, positional=2, position_2_calls=4) for k in range(8)))
    assert (one.value, one.interval) == (other.value, other.interval)
    assert 0 < one.interval.low <= one.interval.high == 1
    assert (
        "position is unknown"
        in measured("position-lean", pair("a", 2, positional=2), pair("b", 2, positional=2)).reason
    )


def test_labelled_pairs_count_once_whatever_groups_they_are_in():
    whole = [pair(f"t{k}", 1, "natural", 0.0, stable=1, position_1_calls=1, position_2_calls=1) for k in range(4)]
    groups = [pair(f"t{k}", 1, "natural", 0.0, "longer=chosen", positional=1, position_1_calls=2) for k in range(4)]
    assert measured("swap-inconsistency", *whole, *groups).denominator == 4
    assert measured("position-lean", *whole, *groups).value == 0


def test_errors_of_some_families_correlate_and_scattered_ones_do_not():
    def judge(right):
        return [pair(f"t{k}", 4, correct_calls=calls) for k, calls in enumerate(right)]

    # Families all right or half right, by analysis of variance: 6 and 6 families of 8 calls.
    found = measured("error-clustering", *judge([8] * 6 + [4] * 6))
    between, within = 12 * 8 * 0.25**2 / 11, 6 * 8 * 0.25 / (12 * 7)
    assert found.value == pytest.approx((between - within) / (between + 7 * within))
    assert 0.05 < found.interval.low < found.value < found.interval.high <= 1
    even = measured("error-clustering", *judge([7] * 12))
    assert even.value < 0.05
    for right in ([8] * 12, [0] * 12):
        assert isinstance(measured("error-clustering", *judge(right)), Undefined)
    assert "all in one family" in measured("error-clustering", *judge([7] + [8] * 11)).reason
    assert "fewer than three" in measured("error-clustering", *judge([7, 8])).reason


@pytest.mark.parametrize("runs", [40, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("guessing", "flips", "lean"), [(0.0, 0.1, 0.0), (0.5, 0.0, 0.0), (0.3, 0.05, 0.0), (0.0, 0.1, 0.2)]
)
def test_the_intervals_cover(runs, guessing, flips, lean):
    """48 families of 6 pairs; some are guessed at, or position 1 is named in a share of calls."""
    rng = np.random.default_rng([runs, int(100 * guessing)])
    covered = {"position-lean": [], "error-clustering": []}
    right = np.array([1 - flips / 2, 0.5])
    p = right * (1 - lean) + lean / 2
    spread = guessing * (1 - guessing) * (p[0] - p[1]) ** 2
    mean = (1 - guessing) * p[0] + guessing * p[1]
    correlation = spread / (mean * (1 - mean))
    for _ in range(runs):
        tallies = []
        for k in range(48):
            chance = right[int(rng.random() < guessing)]
            good = rng.random((6, 2)) < chance
            # Position 1 has the better answer in the first order.
            first = good == np.array([True, False])
            first = np.where(rng.random((6, 2)) < lean, True, first)
            one, two = first[:, 0], first[:, 1]
            tallies.append(
                pair(
                    f"t{k}", 6, positional=int((one == two).sum()), stable=int((one != two).sum()),
                    position_1_calls=int(first.sum()), position_2_calls=int((~first).sum()),
                    correct_calls=int(one.sum() + (~two).sum()),
                )
            )  # fmt: skip
        # A lean makes the two calls of a pair unlike: what families share is not the formula above then.
        for name, true in (("position-lean", lean), *([] if lean else [("error-clustering", correlation)])):
            interval = measured(name, *tallies).interval
            covered[name].append(interval.low - 1e-9 <= true <= interval.high + 1e-9)
    least = 0.93 if runs > 100 else 0.8
    assert {name: np.mean(hits) for name, hits in covered.items() if hits and np.mean(hits) < least} == {}


def test_labelled_pairs_of_a_judge_that_flips_at_random_are_not_refused_for_position_bias():
    """Ten answers in a hundred are flipped: swapping changes 18 verdicts in a hundred, and neither position leads."""
    rng = np.random.default_rng(4)
    flipping = []
    for k in range(200):
        first = (rng.random(2) < 0.1) != np.array([True, False])
        named = int(first.sum())
        flipping.append(
            pair(
                f"t{k}", 1, "natural", 0.0, positional=int(named != 1), stable=int(named == 1),
                position_1_calls=named, position_2_calls=2 - named,
            )
        )  # fmt: skip
    locked = [pair(f"t{k}", 1, "natural", 0.0, positional=1, position_1_calls=2) for k in range(200)]
    lean = MEASURES.get("position-lean")
    check = next(check for check in PairsPolicy().checks("change-rate") if check.measure == lean.name)
    for pairs, verdict in ((flipping, "PASS"), (locked, "FAIL")):
        [found] = lean.compute(Tallies(pairs=tuple(pairs)), "baseline")
        assert hold_intervals([check], [measure_record(lean, found)])[0].verdict == verdict
    assert measured("swap-inconsistency", *flipping).value == pytest.approx(0.18, abs=0.04)
