"""TrueValues values of judges that grade are recovered: no bias, and intervals that cover as often as they say.

Acceptance as in test_recovery: |bias| below 3.5 Monte-Carlo standard errors; 95 % intervals cover .93 to .975 at
interior points, and at least .93 elsewhere. With 200 runs the bounds are .90 to .99. `just recovery` makes 2,000 runs.
"""

from functools import cache

import numpy as np
import pytest

from tests.recovery.grade_sampling import design, sample_tallies, shifted
from umpirical.domain.measures import Estimate
from umpirical.domain.scales import GradeScale
from umpirical.judges.simulated.comparer import true_grades
from umpirical.judges.simulated.profiles import GRADER_PROFILES, GraderProfile
from umpirical.measures.catalogue import MEASURES
from umpirical.stats.intervals import MIN_DESIGN_EFFECT
from umpirical.stats.repeats import effective_number
from umpirical.stats.simulation.grader import LatentGrader, grade_rates, pair_order

JUDGES = {name: true_value.latent for name, true_value in GRADER_PROFILES.items()} | {
    "severe": LatentGrader(gain=0.15, noise=0.1, leniency=-0.25, surface=0.1, lapse=0.02, blank=-0.1),
    "random": LatentGrader(gain=0.0, noise=0.0, lapse=1.0),
}

CASES = [(judge, 5) for judge in JUDGES] + [
    ("compressed-grader", 2),
    ("severe", 2),
    ("noisy-grader", 11),
    ("severe", 11),
]

QUICK = [("noisy-grader", 5), ("compressed-grader", 2), ("severe", 11)]
"""Those that CI simulates: a scale of each length, a judge of each kind."""

MEASURED = ("dark-current", "raw-false-preference", "target-sensitivity", "tie-rate", "detection-threshold")
MEASURED += ("grade-spread", "grade-concordance", "grade-slope", "effective-grades", "grades-used", "unparsed-rate")
SPECS = [MEASURES.get(name) for name in MEASURED]

SIZES = [pytest.param(200, id="200"), pytest.param(2000, id="2000", marks=pytest.mark.slow)]

UNPARSED = 0.05

EVEN = 0.97
"""Grades used so evenly that their effective number is at its upper limit: there its first-order spread vanishes."""


def scale(grades: int) -> GradeScale:
    return GradeScale("ordinal", tuple(map(str, range(grades))))


@cache
def simulate(judge: str, grades: int, tasks: int, runs: int, spread: float = 0.0):
    rng = np.random.default_rng([runs, tasks, grades, list(JUDGES).index(judge), round(100 * spread)])
    found: dict[tuple[str, str], list[Estimate]] = {}
    for _ in range(runs):
        drawn = sample_tallies(JUDGES[judge], rng, tasks=tasks, grades=grades, spread=spread, unparsed=UNPARSED)
        for measure in (measure for spec in SPECS for measure in spec.compute(drawn, "baseline")):
            if isinstance(measure.result, Estimate):
                found.setdefault((measure.name, measure.stratum), []).append(measure.result)
    return found


def truths(latent: LatentGrader, grades: int) -> dict[tuple[str, str], float]:
    # All tasks have the same design, so two of them say all there is to say.
    return true_grades(GraderProfile("", latent, unparsed_rate=UNPARSED), scale(grades), design(2))


def covers(estimate: Estimate, truth: float) -> bool:
    limits = estimate.interval
    return limits is None or (
        (limits.low is None or limits.low <= truth + 1e-9) and (limits.high is None or truth - 1e-9 <= limits.high)
    )


def coverage(estimates: list[Estimate], truth: float) -> float:
    return float(np.mean([covers(estimate, truth) for estimate in estimates]))


def bias(key, estimates: list[Estimate], truth: float) -> tuple[float, float]:
    """How far off the mean is, and its standard error."""
    values = np.array([estimate.value for estimate in estimates])
    if key[0] == "effective-grades":
        # Its inverse, a chance, is the unbiased one; cut at the number of grades it is not quite.
        values, truth = 1 / values, 1 / truth
    spread = values.std(ddof=1)
    if 0 < truth < 1:
        # Where an event comes up in few runs, the spread seen is no guide; the binomial one is.
        spread = max(spread, np.sqrt(truth * (1 - truth) / estimates[0].denominator))
    return abs(values.mean() - truth), spread / np.sqrt(len(values))


def is_interior(key, estimates: list[Estimate], truth: float, grades: int) -> bool:
    """Away from 0, 1 and the other places where an interval is wider than it need be."""
    units = estimates[0].denominator
    if key[0] == "grade-slope":
        # A judge whose grades hardly vary is given the width of one slip.
        widths = [estimate.interval.high - estimate.value for estimate in estimates]
        return np.median(widths) < 2.7 * np.std([estimate.value for estimate in estimates])
    if key[0] == "effective-grades":
        return truth < EVEN * grades
    # A nearly deterministic judge is below the floor that the design effect is given.
    floored = np.mean([estimate.design_effect == MIN_DESIGN_EFFECT for estimate in estimates]) > 0.1
    limit = grades - 1 if key[0] == "grade-spread" else 1
    return units >= 60 and 10 <= truth * units <= limit * units - 10 and not floored


def assert_recovered(key, estimates: list[Estimate], truth: float, grades: int, *, runs: int) -> None:
    off, error = bias(key, estimates, truth)
    assert off <= 3.5 * error + 1e-9, ("bias", key, truth, off / error)
    covered = coverage(estimates, truth)
    low, high = (0.93, 0.975) if runs >= 2000 else (0.90, 0.99)
    assert covered >= low, ("coverage", key, truth, covered)
    if is_interior(key, estimates, truth, grades):
        assert covered <= high + 0.005, ("too wide", key, truth, covered)


@pytest.mark.parametrize("runs", SIZES)
@pytest.mark.parametrize("tasks", [12, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("judge", "grades"), [case if case in QUICK else pytest.param(*case, marks=pytest.mark.slow) for case in CASES]
)
def test_every_value_is_recovered(judge, grades, tasks, runs):
    true_value, checked = truths(JUDGES[judge], grades), 0
    for key, estimates in simulate(judge, grades, tasks, runs).items():
        if key in true_value and key[0] != "detection-threshold":
            assert_recovered(key, estimates, true_value[key], grades, runs=runs)
            checked += 1
    assert checked >= 17


@pytest.mark.parametrize("runs", SIZES)
@pytest.mark.parametrize("tasks", [12, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("judge", "grades"), QUICK)
def test_the_detection_threshold_is_covered(judge, grades, tasks, runs):
    truth = truths(JUDGES[judge], grades)["detection-threshold", ""]
    estimates = simulate(judge, grades, tasks, runs)["detection-threshold", ""]
    low, high = (0.93, 0.98) if runs >= 2000 else (0.90, 0.995)
    assert low <= coverage(estimates, truth) <= high
    values = [estimate.value for estimate in estimates if estimate.censoring == "none"]
    assert np.median(values) == pytest.approx(truth, abs=0.25)


def test_the_number_of_grades_seen_is_never_more_than_there_are():
    for grades in (2, 5, 11):
        seen = [estimate.value for estimate in simulate("random", grades, 12, 30)["grades-used", ""]]
        assert set(seen) == {grades}
    assert max(e.value for e in simulate("compressed-grader", 11, 12, 30)["grades-used", ""]) <= 11


# Task effects.


def mean_truths(latent: LatentGrader, grades: int, spread: float) -> dict[tuple[str, str], float]:
    """Values when the leniency differs between tasks: shares averaged over tasks, then their ratios taken."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    judges, weights = [shifted(latent, spread * node) for node in nodes], weights / weights.sum()
    values = [truths(judge, grades) for judge in judges]
    keys = set.intersection(*(set(found) for found in values)) - {("detection-threshold", "")}
    means = {key: float(weights @ [found[key] for found in values]) for key in keys}
    base, delta = np.array([(pair.base, pair.delta) for pair in design(1)]).T
    orders = [pair_order(judge, base[delta > 0], delta[delta > 0], grades=grades) for judge in judges]
    higher, lower = (weights @ [getattr(order, name).sum() for order in orders] for name in ("higher", "lower"))
    use = weights @ [grade_rates(judge, np.r_[base, base + delta], grades=grades).sum(axis=0) for judge in judges]
    return means | {
        ("grade-concordance", ""): float(higher / (higher + lower)),
        ("effective-grades", ""): effective_number([use, use]),
    }


@pytest.mark.parametrize("runs", SIZES)
@pytest.mark.parametrize("tasks", [12, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("judge", "grades", "spread"), [("noisy-grader", 5, 0.2), ("severe", 5, 0.1)])
def test_with_task_effects_the_intervals_cover_the_mean_over_tasks(judge, grades, spread, tasks, runs):
    true_value = mean_truths(JUDGES[judge], grades, spread)
    found = simulate(judge, grades, tasks, runs, spread)
    for key in true_value:
        estimates = found.get(key, [])
        if len(estimates) == runs:
            off, error = bias(key, estimates, true_value[key])
            assert off <= 3.5 * error + 1e-9, ("bias", key, true_value[key], off / error)
            # Known: with grades used almost evenly and task effects the effective number's interval covers .91.
            even = key[0] == "effective-grades" and true_value[key] > EVEN * grades
            assert coverage(estimates, true_value[key]) >= (0.93 if runs >= 2000 and not even else 0.90), key
