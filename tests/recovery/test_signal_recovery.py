"""TrueValues resolutions, criteria and thresholds are recovered, and the task-jackknife intervals cover.

Forty tasks with two equal pairs and six of the eight rungs each, both orders: 640 calls a run.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq

from tests.recovery.sampling import sample_choices
from umpirical.stats.signal_estimates import ParameterEstimate, SignalEstimates, estimate_signal, fit_signal
from umpirical.stats.signal_model import PairCounts, kind_likelihoods, sort_kinds
from umpirical.stats.simulation.judge import LatentJudge, correct_rate

RUNGS = np.array([0.25, 0.5, 0.75, 1, 2, 3, 4, 5])
TASKS = 40
OUTCOMES = np.eye(3)
SPREADS = {"alike": (0.0, 0.0), "varied": (0.25, 0.2)}
NAMES = ("resolution", "criterion", "slot_bias", "threshold")


def judge_with(threshold: float) -> LatentJudge:
    """A judge of fixed criterion, position bias and surface preference, with the resolution that gives this
    threshold."""
    base = LatentJudge(1.0, 1.13, 0.3, 0.4, 0.01)
    k = brentq(lambda k: float(correct_rate(replace(base, resolution=k), threshold)) - 0.75, 0.01, 50)
    return replace(base, resolution=k)


def deltas() -> np.ndarray:
    """Differences shown, one row per task: the rungs rotate, so that each is shown equally often."""
    return np.array([[0, 0, *RUNGS[(task + np.arange(6)) % 8]] for task in range(TASKS)])


def sample_pairs(judge: LatentJudge, rng, *, spread=(0.0, 0.0)) -> PairCounts:
    shown = deltas()
    k = judge.resolution * np.exp(spread[0] * rng.standard_normal((TASKS, 1)))
    c = np.maximum(0, judge.criterion + spread[1] * rng.standard_normal((TASKS, 1)))
    choices = sample_choices(judge, shown, rng, resolution=k, criterion=c)
    counts = np.stack([choice == answer for choice in choices for answer in (1, -1, 0)], axis=-1)
    task = np.broadcast_to(np.arange(TASKS)[:, None], shown.shape)
    return PairCounts.of(task.ravel(), shown.ravel(), counts.reshape(-1, 6))


def population(judge: LatentJudge, spread: tuple[float, float]) -> tuple[PairCounts, float]:
    """The answers of very many tasks as weights, and where their mean curve reaches .75."""
    nodes, chances = np.polynomial.hermite_e.hermegauss(15)
    mixture = [
        (
            a * b,
            replace(
                judge, resolution=judge.resolution * np.exp(spread[0] * y), criterion=judge.criterion + spread[1] * z
            ),
        )
        for y, a in zip(nodes, chances / chances.sum(), strict=True)
        for z, b in zip(nodes, chances / chances.sum(), strict=True)
    ]
    shown, often = np.unique(deltas(), return_counts=True)
    patterns = np.array([np.concatenate([one, two]) for one in OUTCOMES for two in OUTCOMES])
    pairs = PairCounts.of(np.zeros(9 * len(shown)), np.repeat(shown, 9), np.tile(patterns, (len(shown), 1)))
    kinds = sort_kinds(pairs)
    shares = sum(chance * np.exp(kind_likelihoods(working(one), kinds)[0]) for chance, one in mixture)[kinds.kind]
    crossing = brentq(lambda d: sum(chance * float(correct_rate(one, d)) for chance, one in mixture) - 0.75, 0, 50)
    return replace(pairs, weight=1e5 * shares * np.repeat(often, 9)), crossing


def working(judge: LatentJudge) -> np.ndarray:
    k, c, b, tau, lapse = judge.resolution, judge.criterion, judge.slot_bias, judge.surface, judge.lapse
    return np.array([k, c, b, tau**2, 0.0, np.log(lapse / (1 - lapse))])


@cache
def targets(threshold: float, tasks: str) -> dict[str, float]:
    """What the estimates aim at: the single judge nearest to the mixture of tasks, and the mean curve's crossing."""
    pairs, crossing = population(judge_with(threshold), SPREADS[tasks])
    fit = fit_signal(pairs)
    return {name: getattr(fit, name) for name in NAMES} | {"crossing": crossing}


@cache
def simulate(threshold: float, tasks: str, runs: int) -> list[SignalEstimates]:
    rng = np.random.default_rng([runs, int(100 * threshold), list(SPREADS).index(tasks)])
    judge = judge_with(threshold)
    return [estimate_signal(sample_pairs(judge, rng, spread=SPREADS[tasks])) for _ in range(runs)]


def coverage(estimates: list[ParameterEstimate], truth: float) -> float:
    return float(
        np.mean(
            [(one.low is None or one.low <= truth) and (one.high is None or truth <= one.high) for one in estimates]
        )
    )


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


CASES = [
    (1.2, "alike", 60),
    (1.2, "varied", 60),
    *(slow(threshold, tasks, 1000) for threshold in (0.4, 1.2, 3.5) for tasks in SPREADS),
]


@pytest.mark.parametrize(("threshold", "tasks", "runs"), CASES)
def test_intervals_cover(threshold, tasks, runs):
    """With 1,000 runs the binomial standard error is .007, with 60 it is .028."""
    found, aims = simulate(threshold, tasks, runs), targets(threshold, tasks)
    low, high = (0.93, 0.98) if runs >= 1000 else (0.86, 1.0)
    for name in NAMES:
        assert low <= coverage([getattr(one, name) for one in found], aims[name]) <= high, name
    # Where tasks differ, the mean curve crosses 1 to 5 % lower than the curve of the judge most like the mixture.
    assert coverage([one.threshold for one in found], aims["crossing"]) >= low - 0.03
    # The surface is near its bound and the lapse has a prior: cautious, but not blind.
    for name in ("surface", "lapse"):
        assert coverage([getattr(one, name) for one in found], getattr(judge_with(threshold), name)) >= low, name


@pytest.mark.parametrize(("threshold", "tasks", "runs"), CASES)
def test_what_the_jackknife_calls_bias_is_the_bias(threshold, tasks, runs):
    found, aims = simulate(threshold, tasks, runs), targets(threshold, tasks)
    for name in NAMES:
        estimates = [getattr(one, name) for one in found]
        values = np.array([one.value - one.bias for one in estimates])
        error = values.std(ddof=1) / np.sqrt(len(values))
        assert abs(values.mean() - aims[name]) < 3.5 * error, (name, aims[name], values.mean(), error)
        # Before the correction it is a fraction of the uncertainty.
        raw = np.mean([one.value for one in estimates]) - aims[name]
        assert abs(raw) < 0.35 * values.std(ddof=1) + 3.5 * error, name


@pytest.mark.parametrize(("threshold", "tasks", "runs"), CASES)
def test_standard_errors_are_the_spread_of_the_estimates(threshold, tasks, runs):
    found = simulate(threshold, tasks, runs)
    for name in NAMES:
        estimates = [getattr(one, name) for one in found]
        spread = np.std([one.value for one in estimates], ddof=1)
        stated = np.sqrt(np.mean([one.standard_error**2 for one in estimates]))
        assert stated == pytest.approx(spread, rel=0.12 if runs >= 1000 else 0.35), name


@pytest.mark.parametrize("threshold", [0.4, 1.2, 3.5])
def test_where_tasks_differ_the_threshold_aims_a_little_above_the_mean_curve(threshold):
    """One steep curve cannot follow a mixture of curves near its foot and at .75 alike."""
    aims = targets(threshold, "varied")
    assert 1.0 < aims["threshold"] / aims["crossing"] < 1.06
    alike = targets(threshold, "alike")
    assert alike["threshold"] == pytest.approx(threshold, rel=1e-4)
    assert alike["crossing"] == pytest.approx(threshold, rel=1e-4)
    assert aims["resolution"] < alike["resolution"]
