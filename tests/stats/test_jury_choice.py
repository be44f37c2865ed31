"""A jury that is chosen on some calls is measured on others, or it looks better than it is."""

import numpy as np
import pytest

from tests.stats.juries import alike_ballots
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


def optimism(runs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """How much better than its true accuracy a chosen jury looks: where it was chosen, and on other clusters."""
    rng = np.random.default_rng(seed)
    naive, held_out = [], []
    for _ in range(runs):
        ballots = alike_ballots(rng, judges=6, calls=160, correlation=0.3, accuracy=0.75, clusters=16, spread=0.2)
        chosen_on, reported = ballots.among(range(8)), ballots.among(range(8, 16))
        found = best_jury(chosen_on, [1.0] * 6, budget=FREE, rules=["majority", "weighted"])
        rule = fitted(chosen_on, found.rule).of(found.judges)
        fresh = alike_ballots(rng, judges=6, calls=4_000, correlation=0.3, accuracy=0.75, clusters=400, spread=0.2)
        true = accuracy(fresh, found.judges, rule)
        naive.append(found.accuracy - true)
        held_out.append(accuracy(reported, found.judges, rule) - true)
    return np.array(naive), np.array(held_out)


def assert_only_the_naive_figure_flatters(runs: int, seed: int) -> None:
    naive, held_out = optimism(runs, seed)
    assert naive.mean() > 5 * naive.std() / np.sqrt(runs)
    assert abs(held_out.mean()) < 3 * held_out.std() / np.sqrt(runs)


def test_a_held_out_figure_does_not_flatter_a_chosen_jury_and_the_naive_one_does():
    assert_only_the_naive_figure_flatters(60, 4)


@pytest.mark.slow
def test_a_held_out_figure_does_not_flatter_in_many_runs():
    assert_only_the_naive_figure_flatters(600, 5)


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
