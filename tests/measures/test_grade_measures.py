"""The measures of a `grade` judge: what they promise beyond the conformance kit, and values by hand."""

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import t as student_t

from tests.recovery.grade_sampling import sample_tallies
from umpirical.domain.measures import Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import GradePairTally, GradeTally, PairTally, Tallies, VacuumTally
from umpirical.measures.catalogue import MEASURES, MeasureSpec, measure_all
from umpirical.stats.simulation.grader import LatentGrader
from umpirical.testing.sample_tallies import of_task

NEW = ["grade-spread", "grade-concordance", "grade-slope", "effective-grades", "grades-used"]
SHARED = ["dark-current", "raw-false-preference", "target-sensitivity", "tie-rate", "detection-threshold"]
SPECS = [MEASURES.get(name) for name in (*SHARED, *NEW)]
JUDGE = LatentGrader(gain=0.15, noise=0.12, surface=0.1, lapse=0.02, blank=0.1)


@pytest.fixture(scope="module")
def tallies() -> Tallies:
    return sample_tallies(JUDGE, np.random.default_rng(1), tasks=15, unparsed=0.1)


def results(spec: MeasureSpec | str, tallies: Tallies, variant: str = "baseline"):
    found = MEASURES.get(spec) if isinstance(spec, str) else spec
    return {measure.stratum: measure.result for measure in found.compute(tallies, variant)}


# Which measures there are.


def test_a_grade_run_has_the_measures_of_grades_and_none_of_order_reversal(tallies):
    names = {spec.name for spec, _ in measure_all(tallies, kind="grade", protocol="datasheet")}
    assert names.issuperset([*SHARED, *NEW, "unparsed-rate", "failure-rate"])
    assert names <= {spec.name for spec in MEASURES if "grade" in spec.kinds}
    assert names.isdisjoint(["stable-cross-sensitivity", "positional-false-preference", "no-preference"])


def test_a_compare_run_has_none_of_the_measures_of_grades():
    compared = Tallies(pairs=tuple(PairTally(f"t{n}", "baseline", Family.EQUAL, 0.0, 4, stable=4) for n in range(3)))
    names = {spec.name for spec, _ in measure_all(compared, kind="compare", protocol="datasheet")}
    assert names.isdisjoint(NEW)
    assert "stable-cross-sensitivity" in names


# The promises.


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_one_task_is_undefined_because_it_has_no_interval(spec, tallies):
    for result in results(spec, of_task(tallies, "t0")).values():
        assert isinstance(result, Undefined)
        assert "one task" in result.reason


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_other_families_are_not_mixed_in(spec, tallies):
    """Pairs of other lengths or other requirements, and the grades of blanks, belong to other measures."""
    more = replace(
        tallies,
        grade_pairs=tallies.grade_pairs
        + tuple(
            GradePairTally(f"t{n}", "baseline", family, "", delta, 9, better_higher=9, distance=30.0)
            for n in range(15)
            for family, delta in ((Family.SUBSET, 0.0), (Family.LENGTH, 0.0), (Family.CONFLICT, 1.0))
        ),
        grades=tallies.grades
        + tuple(
            GradeTally(f"t{n}", "baseline", fam, 0.0, 9.0, 5)
            for n in range(15)
            for fam in (Family.BLANK, Family.LENGTH)
        ),
    )
    for stratum, result in results(spec, tallies).items():
        assert results(spec, more)[stratum].value == pytest.approx(result.value)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_more_tasks_narrow_the_interval(spec):
    few, many = (sample_tallies(JUDGE, np.random.default_rng(2), tasks=tasks, unparsed=0.1) for tasks in (12, 300))
    for stratum, result in results(spec, few).items():
        other, limits = results(spec, many)[stratum], result.interval
        if limits.high is not None:
            assert other.interval.high - other.interval.low < limits.high - limits.low


@pytest.mark.parametrize("spec", [spec for spec in SPECS if spec.name in NEW], ids=lambda spec: spec.name)
def test_what_was_excluded_is_said(spec, tallies):
    for result in results(spec, tallies).values():
        assert sum(result.excluded.values()) > 0


@pytest.mark.parametrize("name", ["grade-spread", "grade-slope", "effective-grades"])
def test_a_judge_without_any_variation_still_has_an_interval_with_width(name):
    """Everything gets one grade: a spread that does not show may still exist."""
    constant = sample_tallies(LatentGrader(gain=0.0, noise=0.0), np.random.default_rng(3), tasks=10)
    result = results(name, constant)[""]
    assert result.value == (1 if name == "effective-grades" else pytest.approx(0, abs=1e-12))
    assert result.interval.high > result.interval.low


# By hand.


def pair(task, family, delta, pairs, **counts):
    return GradePairTally(task, "baseline", family, "", delta, pairs, **counts)


BY_HAND = Tallies(
    grade_pairs=(
        pair("a", Family.EQUAL, 0.0, 4, better_higher=1, lesser_higher=1, equal=2, difference=-1.0, distance=3.0),
        pair("b", Family.EQUAL, 0.0, 4, better_higher=1, equal=3, difference=1.0, distance=1.0, incomplete=2),
        pair("a", Family.GRADED, 1.0, 4, better_higher=3, equal=1, difference=3.0, distance=3.0),
        pair("b", Family.GRADED, 1.0, 4, better_higher=1, lesser_higher=1, equal=2, distance=2.0),
        pair("a", Family.GRADED, 2.0, 2, better_higher=2, difference=4.0, distance=4.0),
        pair("b", Family.GRADED, 2.0, 2, better_higher=2, difference=3.0, distance=3.0),
    )
)


def test_shares_by_hand():
    raw = results("raw-false-preference", BY_HAND)[""]
    # Two and one of eight pairs differ; two pairs left out: 3/10 to 5/10.
    assert (raw.numerator, raw.denominator) == (3, 8)
    assert raw.excluded == {"without a grade for both answers": 2}
    assert raw.bounds == pytest.approx((0.3, 0.5))
    target = results("target-sensitivity", BY_HAND)
    assert [(target[step].numerator, target[step].denominator) for step in "12"] == [(4, 8), (4, 4)]
    ties = results("tie-rate", BY_HAND)
    assert [(ties[step].numerator, ties[step].denominator) for step in "012"] == [(5, 8), (3, 8), (0, 4)]
    concordance = results("grade-concordance", BY_HAND)[""]
    # Of 9 ladder pairs with two grades, 8 the right way round.
    assert (concordance.numerator, concordance.denominator) == (8, 9)


def test_the_threshold_by_hand():
    # 1/2 at one step, 1 at two: three quarters halfway.
    tasks = [
        replace(tally, cluster=f"{tally.cluster}{copy}", better_higher=tally.pairs * (tally.delta / 2))
        for copy in range(12)
        for tally in BY_HAND.grade_pairs
        if tally.family == Family.GRADED
    ]
    assert results("detection-threshold", Tallies(grade_pairs=tuple(tasks)))[""].value == pytest.approx(1.5)
    few = results("detection-threshold", BY_HAND)[""]
    assert "changes too little" in few.reason


def test_the_spread_by_hand():
    spread = results("grade-spread", BY_HAND)[""]
    assert (spread.value, spread.numerator, spread.denominator, spread.unit) == (0.5, 4.0, 8, "pair")
    # Residuals 3 - 2 and 1 - 2; factor 2 · 2 / (8 · 0.5) = 1; the lower limit m solves |0.5 - m| = t sqrt(m / 8).
    reach = student_t.ppf(0.975, 1) ** 2 / 8
    assert (0.5 - spread.interval.low) ** 2 == pytest.approx(reach * spread.interval.low)
    # The upper one is that of the 3 alone: mean 3/8, residuals 3/2 and -3/2, factor 2 · 4.5 / (8 · 3/8) = 3.
    assert (0.375 - spread.interval.high) ** 2 == pytest.approx(3 * reach * spread.interval.high)


def grade(task, level, score, answers=1):
    return GradeTally(task, "baseline", Family.GRADED, level, score, answers)


def test_the_slope_by_hand():
    # Task a: levels 0, 2 with grades 0, 2, four answers each: (-1)·0 + 1·2 = 2 over 2, four times. Task b: grade 1 at
    # both: 0 over 2, four times.
    graded = Tallies(grades=tuple(grade(*row, 4) for row in [("a", 0, 0), ("a", 2, 2), ("b", 1, 1), ("b", 3, 1)]))
    slope = results("grade-slope", graded)[""]
    assert (slope.value, slope.numerator, slope.denominator, slope.unit, slope.clusters) == (0.5, 8.0, 16, "item", 2)
    # Residuals 8 - 0.5·8 = 4 and -4; variance 2 · 32 / 16². One slip, 1.5 · 2 / 16, is less.
    assert slope.interval.high - slope.value == pytest.approx(student_t.ppf(0.975, 1) / 2)


def test_a_slope_is_not_surer_than_one_slip_from_end_to_end():
    graded = Tallies(grades=tuple(grade(task, level, level, 4) for task in "abc" for level in (0, 1, 2)))
    slope = results("grade-slope", graded)[""]
    # All tasks agree on 1. Sum of squares 3 · 4 · 2 = 24; one answer at the end, 1 from the mean, 2 grades off.
    assert slope.value == 1
    assert slope.interval.high - 1 == pytest.approx(student_t.ppf(0.975, 2) * 1 * 2 / 24)


def test_the_slope_is_that_of_a_regression_with_task_effects(tallies):
    rows = [t for t in tallies.grades for _ in range(t.answers)]
    groups = np.unique([row.cluster for row in rows], return_inverse=True)[1]
    design = np.column_stack([[row.level for row in rows], np.eye(15)[groups]])
    fit = sm.OLS([row.score for row in rows], design).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
    )
    slope = results("grade-slope", tallies)[""]
    assert slope.value == pytest.approx(fit.params[0])
    half = student_t.ppf(0.975, 14) * fit.bse[0] * np.sqrt(15 / 14)
    assert slope.interval.high - slope.value == pytest.approx(half)


def test_a_task_of_one_quality_says_nothing_of_the_slope():
    graded = Tallies(grades=tuple(grade(task, 2.0, 3.0, 4) for task in "abc"))
    assert "two qualities" in results("grade-slope", graded)[""].reason


def test_a_task_that_is_graded_harder_does_not_move_the_slope(tallies):
    harder = replace(
        tallies, grades=tuple(replace(t, score=t.score - 3.0 * (t.cluster < "t5")) for t in tallies.grades)
    )
    assert results("grade-slope", harder)[""].value == pytest.approx(results("grade-slope", tallies)[""].value)


def test_grades_used_by_hand():
    graded = Tallies(grades=(grade("a", 0.0, 0.0, 2), grade("b", 2.0, 0.0), grade("b", 2.0, 4.0), grade("c", 2.0, 4.0)))
    used = results("grades-used", graded)[""]
    assert (used.value, used.denominator, used.interval.low, used.interval.high) == (2, 5, 2, None)
    # Pairs across tasks: 2·2 + 2·1 + 2·1 = 8, of which 2 + 1 = 3 share a grade.
    effective = results("effective-grades", graded)[""]
    assert (effective.value, effective.numerator, effective.denominator) == (2, 2, 5)


def test_the_effective_number_by_hand():
    graded = Tallies(grades=tuple(grade(task, 0.0, float(score), 2) for task in "abc" for score in (0, 1)))
    effective = results("effective-grades", graded)[""]
    assert effective.value == 2
    apart = Tallies(grades=tuple(grade(task, 0.0, float(score)) for score, task in enumerate("abc")))
    assert "no two tasks share a grade" in results("effective-grades", apart)[""].reason


def test_dark_current_of_blanks_counts_a_repeated_prompt_once():
    vacuum = (
        VacuumTally("a", "baseline", "empty", 1, 0.5, 0),
        VacuumTally("b", "baseline", "whitespace", 2, 1.0, 1),
    )
    found = results("dark-current", Tallies(vacuum=vacuum))
    assert (found[""].numerator, found[""].denominator) == (1.5, 3)
    assert found[""].excluded == {"without an answer": 1}
