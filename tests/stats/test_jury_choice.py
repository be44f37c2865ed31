"""A jury that is chosen on some calls is measured on others, or it looks better than it is."""

import numpy as np
import pytest

from tests.stats.juries import SHAPES, alike_ballots, protocol_ballots
from umpirical.protocols.jury import accuracy_of, gain_of
from umpirical.stats.differences import paired_difference
from umpirical.stats.intervals import cluster_wilson
from umpirical.stats.juries import NO_VOTE, TIE, Ballots, best_jury, fair_shares, fitted, majority

FREE = float("inf")


def accuracy(ballots: Ballots, judges, rule) -> float:
    right, total = fair_shares(rule.verdicts(ballots.of(judges)), ballots)
    return sum(right) / sum(total)


def test_both_kinds_of_call_weigh_the_same_and_no_verdict_is_not_right():
    # Three calls with a better answer, one of them right and one without a verdict; one call without, right.
    ballots = Ballots(np.zeros((4, 0), dtype=np.int64), np.array([0, 1, 0, TIE]), np.array([0, 0, 1, 1]))
    right, total = fair_shares(np.array([0, 0, NO_VOTE, TIE]), ballots)
    assert sum(total) == pytest.approx(4)
    assert sum(right) / sum(total) == pytest.approx((1 / 3 + 1) / 2)


def test_always_a_tie_is_right_half_of_the_time():
    rng = np.random.default_rng(1)
    ballots = alike_ballots(rng, judges=1, calls=400)
    right, total = fair_shares(np.full(400, TIE), ballots)
    assert sum(right) / sum(total) == pytest.approx(0.5)


def test_of_equal_juries_the_cheaper_is_chosen_and_none_above_the_budget():
    rng = np.random.default_rng(2)
    one = rng.integers(0, 3, 60)
    ballots = Ballots(np.column_stack([one] * 5), one, np.arange(60) % 6)
    found = best_jury(ballots, [5, 1, 4, 2, 3], budget=FREE, rules=["majority"])
    assert (found.judges, found.cost, found.accuracy) == ((1, 3, 4), 6, 1.0)
    assert best_jury(ballots, [5, 1, 4, 2, 3], budget=5.9, rules=["majority"]) is None


def test_a_budget_leaves_out_a_better_jury():
    rng = np.random.default_rng(3)
    ballots = alike_ballots(rng, judges=6, calls=600, accuracy=np.array([0.95, 0.95, 0.95, 0.6, 0.6, 0.6]))
    costs = [10.0, 10, 10, 1, 1, 1]
    best = best_jury(ballots, costs, budget=FREE, rules=["majority"])
    assert {0, 1, 2} <= set(best.judges)
    cheap = best_jury(ballots, costs, budget=12, rules=["majority"])
    assert cheap.cost <= 12
    assert cheap.accuracy < best.accuracy


class Simulated:
    """Many juries that are chosen on one half of a run's clusters, and reported on the other."""

    def __init__(self, shape: str, runs: int, seed: int, *, clusters: int) -> None:
        rng = np.random.default_rng(seed)
        self.naive, self.held_out, self.held = np.zeros(runs), np.zeros(runs), np.zeros((runs, 2), dtype=bool)
        for number in range(runs):
            ballots = protocol_ballots(rng, shape, clusters=clusters, judges=6)
            chosen_on, reported = ballots.among(range(clusters // 2)), ballots.among(range(clusters // 2, clusters))
            found = best_jury(chosen_on, [1.0] * 6, budget=FREE, rules=ballots.scale.rules)
            rule = fitted(chosen_on, found.rule).of(found.judges)
            fresh = protocol_ballots(rng, shape, clusters=20_000 // SHAPES[shape][1], judges=6)
            true = accuracy(fresh, found.judges, rule)
            verdicts, alone = rule.verdicts(reported.of(found.judges)), reported.votes[:, 0]
            measured, gain = accuracy_of(verdicts, reported), gain_of(verdicts, alone, reported)
            self.naive[number], self.held_out[number] = found.accuracy - true, measured.value - true
            more = true - share_of(fresh.votes[:, 0], fresh)
            for place, (result, value) in enumerate(((measured, true), (gain, more))):
                self.held[number, place] = result.interval.low <= value <= result.interval.high


def share_of(verdicts, ballots: Ballots) -> float:
    right, total = fair_shares(verdicts, ballots)
    return sum(right) / sum(total)


CLUSTERS = {"datasheet": 48, "pairs": 200, "agent": 60, "stress binary": 240, "stress ordinal": 240,
            "stress interval": 240}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_a_held_out_figure_does_not_flatter_a_chosen_jury_and_the_naive_one_does(shape):
    found = Simulated(shape, 24, 4, clusters=CLUSTERS[shape])
    assert abs(found.held_out.mean()) < 4 * found.held_out.std() / np.sqrt(24)
    assert found.naive.mean() > found.held_out.mean()
    assert found.held.mean(axis=0).min() >= 0.75


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_a_held_out_figure_does_not_flatter_in_many_runs(shape):
    found = Simulated(shape, 600, 5, clusters=CLUSTERS[shape])
    error = found.held_out.std() / np.sqrt(600)
    assert found.naive.mean() > 5 * found.naive.std() / np.sqrt(600)
    assert abs(found.held_out.mean()) < 0.01
    assert found.held.mean(axis=0).min() >= 0.93
    assert found.held.mean(axis=0).max() <= 0.97
    assert abs(found.held_out.mean()) < 3.5 * error


def coverage(runs: int, seed: int, *, spread: float) -> tuple[float, float]:
    """Shares of intervals that contain the true accuracy of a majority, and its true gain over its first member."""
    rng = np.random.default_rng(seed)
    rule, judges = majority(3), (0, 1, 2)
    levels = np.array([0.85, 0.8, 0.75])

    def made(calls, clusters):
        return alike_ballots(
            rng, judges=3, calls=calls, correlation=0.3, accuracy=levels, clusters=clusters, spread=spread
        )

    truth = [made(20_000, 2_000) for _ in range(20)]
    accurate = float(np.mean([accuracy(one, judges, rule) for one in truth]))
    alone = float(np.mean([_alone(one) for one in truth]))
    held = np.zeros(2)
    for _ in range(runs):
        ballots = made(480, 24)
        ours, theirs = fair_shares(rule.verdicts(ballots.votes), ballots), fair_shares(ballots.votes[:, 0], ballots)
        rate, gain = cluster_wilson(*ours), paired_difference(*ours, *theirs)
        held += [rate.low <= accurate <= rate.high, gain.low <= accurate - alone <= gain.high]
    first, second = (held / runs).tolist()
    return first, second


def _alone(ballots: Ballots) -> float:
    right, total = fair_shares(ballots.votes[:, 0], ballots)
    return sum(right) / sum(total)


@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_intervals_of_accuracy_and_gain_cover(spread):
    for share in coverage(400, 6, spread=spread):
        assert 0.92 <= share <= 0.985


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.3, 0.6])
def test_intervals_of_accuracy_and_gain_cover_in_many_runs(spread):
    for share in coverage(4_000, 7, spread=spread):
        assert 0.93 <= share <= 0.975
