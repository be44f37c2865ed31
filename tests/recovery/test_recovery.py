"""TrueValues values are recovered: no bias, and intervals that cover as often as they say.

Acceptance, over R runs: |bias| below 3.5 Monte-Carlo standard errors; 95 % intervals cover .93 to .975 at interior
points with at least 60 pairs, and at least .93 near 0 and 1. With 200 runs the bounds are .90 to .99.
`just recovery` makes 2,000 runs.
"""

from functools import cache

import numpy as np
import pytest
from scipy.stats import beta

from tests.recovery.sampling import STEPS, sample_tallies
from umpirical.domain.measures import Estimate
from umpirical.judges.simulated.comparer import true_values
from umpirical.judges.simulated.profiles import Profile
from umpirical.measures.catalogue import MEASURES, measure_all
from umpirical.stats.intervals import MIN_DESIGN_EFFECT, cluster_wilson, wilson
from umpirical.stats.simulation.judge import LatentJudge

JUDGES = {
    "clean": LatentJudge(2.7, 1.13, 0.35, 0.15, 0.005, 3.0),
    "positional": LatentJudge(0.35, 0.05, 2.2, 0.3, 0.01, 0.45),
    "cross-sensitive": LatentJudge(1.5, 0.6, 0.2, 2.0, 0.01, 2.5),
    "short-sighted": LatentJudge(0.55, 0.8, 0.1, 0.2, 0.01, 1.5),
    "coin": LatentJudge(0.0, 0.0, vacuum_criterion=0.0),
}

SIZES = [pytest.param(200, id="200"), pytest.param(2000, id="2000", marks=pytest.mark.slow)]
TASKS = [12, pytest.param(20, marks=pytest.mark.slow)]

QUICK = ("clean", "cross-sensitive")
"""Those that CI simulates: the least and the most that there is to find."""

UNPARSED = 0.08


@cache
def simulate(judge: str, tasks: int, runs: int) -> dict[tuple[str, str], list[Estimate]]:
    rng = np.random.default_rng([runs, tasks, list(JUDGES).index(judge)])
    found: dict[tuple[str, str], list[Estimate]] = {}
    for _ in range(runs):
        for _, measure in measure_all(
            sample_tallies(JUDGES[judge], rng, tasks=tasks, unparsed=UNPARSED), kind="compare", protocol="datasheet"
        ):
            if isinstance(measure.result, Estimate):
                found.setdefault((measure.name, measure.stratum), []).append(measure.result)
    return found


def truths(judge: str) -> dict[tuple[str, str], float]:
    return true_values(Profile("", JUDGES[judge], unparsed_rate=UNPARSED), list(STEPS))


def covers(estimate: Estimate, truth: float) -> bool:
    limits = estimate.interval
    return limits is None or (
        (limits.low is None or limits.low <= truth + 1e-9) and (limits.high is None or truth - 1e-9 <= limits.high)
    )


@pytest.mark.parametrize("runs", SIZES)
@pytest.mark.parametrize("tasks", TASKS)
@pytest.mark.parametrize(
    "judge", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in JUDGES]
)
def test_every_rate_is_recovered(judge, tasks, runs):
    true_value = truths(judge)
    checked = 0
    for key, estimates in simulate(judge, tasks, runs).items():
        if key not in true_value or key[0] == "detection-threshold":
            continue
        truth, units = true_value[key], estimates[0].denominator
        values = np.array([estimate.value for estimate in estimates])
        # Where an event comes up in few runs, the spread seen is no guide; the binomial one is.
        spread = max(values.std(ddof=1), np.sqrt(truth * (1 - truth) / units)) / np.sqrt(len(values))
        assert abs(values.mean() - truth) <= 3.5 * spread + 1e-9, ("bias", key, truth, values.mean())
        coverage = np.mean([covers(estimate, truth) for estimate in estimates])
        low, high = (0.93, 0.975) if runs >= 2000 else (0.90, 0.99)
        assert coverage >= low, ("coverage", key, truth, coverage)
        # A position-locked judge is right in exactly one order of each pair: its variance is below the floor that the
        # design effect is given, and the interval is wider than it need be. That is the one exception.
        floored = np.mean([estimate.design_effect == MIN_DESIGN_EFFECT for estimate in estimates]) > 0.1
        if units >= 60 and 10 <= truth * units <= units - 10 and not floored:
            assert coverage <= high + 0.005, ("too wide", key, truth, coverage)
        checked += 1
    assert checked >= 15


@pytest.mark.parametrize("runs", SIZES)
@pytest.mark.parametrize("tasks", TASKS)
@pytest.mark.parametrize("judge", ["cross-sensitive", pytest.param("short-sighted", marks=pytest.mark.slow)])
def test_the_detection_threshold_is_covered(judge, tasks, runs):
    truth = truths(judge)["detection-threshold", ""]
    estimates = simulate(judge, tasks, runs)["detection-threshold", ""]
    coverage = np.mean([covers(estimate, truth) for estimate in estimates])
    low, high = (0.93, 0.98) if runs >= 2000 else (0.90, 0.995)
    assert low <= coverage <= high
    values = [estimate.value for estimate in estimates if estimate.censoring == "none"]
    assert np.median(values) == pytest.approx(truth, abs=0.25)


@pytest.mark.parametrize("runs", SIZES)
def test_a_threshold_below_the_first_step_is_left_censored_and_never_bounded_below(runs):
    estimates = simulate("clean", 12, runs)["detection-threshold", ""]
    assert all(estimate.censoring == "left" for estimate in estimates)
    assert all(estimate.interval is None or estimate.interval.low is None for estimate in estimates)


def clustered_counts(rng, runs: int, tasks: int, p: float, correlation: float) -> np.ndarray:
    """Six pairs a task, task rates drawn so that pairs of one task are correlated."""
    total = 1 / correlation - 1
    return rng.binomial(6, rng.beta(p * total, (1 - p) * total, size=(runs, tasks)))


@pytest.mark.parametrize("runs", SIZES)
@pytest.mark.parametrize("tasks", [10, 12, 20, 40])
@pytest.mark.parametrize("p", [0.1, 0.25, 0.5])
def test_cluster_wilson_covers_with_intra_task_correlation(tasks, p, runs):
    rng = np.random.default_rng([runs, tasks, int(100 * p)])
    counts = clustered_counts(rng, runs, tasks, p, 0.2)
    rates = [cluster_wilson(row, np.full(tasks, 6)) for row in counts]
    coverage = np.mean([rate.low <= p <= rate.high for rate in rates])
    low, high = (0.93, 0.98) if runs >= 2000 else (0.90, 0.995)
    assert low <= coverage <= high


@pytest.mark.parametrize("p", [0.005, 0.02, 0.05])
def test_near_0_the_interval_covers_and_is_not_much_wider_than_an_exact_one(p):
    rng = np.random.default_rng(6)
    counts = rng.binomial(6, p, size=(1000, 20))
    rates = [cluster_wilson(row, np.full(20, 6)) for row in counts]
    assert np.mean([rate.low <= p <= rate.high for rate in rates]) >= 0.93
    exact = [beta.ppf(0.975, row.sum() + 1, 120 - row.sum()) - _exact_low(row.sum(), 120) for row in counts]
    assert np.mean([rate.high - rate.low for rate in rates]) < 1.25 * np.mean(exact)


def _exact_low(hits: int, n: int) -> float:
    return beta.ppf(0.025, hits, n - hits + 1) if hits else 0.0


def test_plain_wilson_does_not_and_so_is_not_used():
    """Known to fall to about .80: the reason for the cluster-aware interval, kept as a check of the simulation."""
    counts = clustered_counts(np.random.default_rng(5), 2000, 20, 0.5, 0.2)
    plain = [wilson(row.sum(), 120) for row in counts]
    coverage = np.mean([bounds.low <= 0.5 <= bounds.high for bounds in plain])
    assert 0.77 < coverage < 0.85


@pytest.mark.parametrize("runs", SIZES)
def test_task_effects_do_not_break_the_intervals(runs):
    """Criteria that differ between tasks: the intervals still cover the mean over tasks."""
    judge, spread, tasks = JUDGES["cross-sensitive"], 0.6, 20
    rng = np.random.default_rng(9)
    names = ("stable-cross-sensitivity", "raw-false-preference", "target-sensitivity", "dark-current")
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    shifted = [true_values(Profile("", _shifted(judge, spread * node)), list(STEPS)) for node in nodes]
    truth = {
        key: np.average([values[key] for values in shifted], weights=weights) for key in shifted[0] if key[0] in names
    }
    hits: dict[tuple[str, str], list[bool]] = {}
    for _ in range(runs):
        drawn = sample_tallies(judge, rng, tasks=tasks, spread=spread)
        for measure in (one for name in names for one in MEASURES.get(name).compute(drawn, "baseline")):
            key = (measure.name, measure.stratum)
            if key in truth and isinstance(measure.result, Estimate):
                hits.setdefault(key, []).append(covers(measure.result, truth[key]))
    assert len(hits) >= 8
    for key, found in hits.items():
        assert np.mean(found) >= (0.93 if runs >= 2000 else 0.90), (key, np.mean(found))


def _shifted(judge: LatentJudge, shift: float) -> LatentJudge:
    return LatentJudge(
        judge.resolution,
        max(0.0, judge.criterion + shift),
        judge.slot_bias,
        judge.surface,
        judge.lapse,
        max(0.0, judge.vacuum_criterion + shift),
    )
