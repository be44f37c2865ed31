"""Regressions: hand values, a reference implementation, and what a margin is for."""

from dataclasses import replace

import pytest
from scipy.stats import t as student_t
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from tests.reports.gates import estimate, held
from umpirical.domain.measures import Estimate, Interval, Undefined
from umpirical.reports.record import MeasureRecord
from umpirical.reports.regressions import MARGIN, regressions
from umpirical.reports.significance import beyond_p, difference_p

LIMIT = held("pass")
FOUND = held("pass", measure="target-sensitivity", stratum="5", title="Target sensitivity at Δ5", worse="lower")


def measure(result, name="dark-current", stratum="", **given) -> MeasureRecord:
    known = {"title": name, "about": "", "worse": "higher", "variant": "baseline"}
    return MeasureRecord(name=name, stratum=stratum, result=result, **{**known, **given})


def wilson(hits: int, units: int) -> Estimate:
    low, high = proportion_confint(hits, units, method="wilson")
    return estimate(hits / units, float(low), float(high), denominator=units, numerator=hits)


def compared(before, now, *, checks=(LIMIT,), paired=None, margin=MARGIN):
    name, stratum = checks[0].measure, checks[0].stratum
    sides = ([measure(side, name, stratum)] if side is not None else [] for side in (before, now))
    return regressions(checks, *sides, paired=paired or {}, margin=margin)


# The p-value.


def test_a_p_value_is_students_at_the_distance_from_the_margin():
    # A standard error of .05: the value lies 3 of them above a margin of .05, with 39 degrees of freedom.
    reach = 0.05 * student_t.ppf(0.975, 39)
    shown = estimate(0.20, 0.20 - reach, 0.20 + reach)
    assert beyond_p(shown, 0.05) == pytest.approx(student_t.sf(3, 39))
    assert beyond_p(shown, 0.0) == pytest.approx(difference_p(shown) / 2)


def test_what_is_within_the_margin_is_never_surprising():
    assert beyond_p(estimate(0.05, 0.04, 0.06), 0.05) == 1
    assert beyond_p(estimate(-0.4, -0.5, -0.3), 0.05) == 1
    assert beyond_p(estimate(0.06, 0.051, 0.07), 0.05) < 0.05


def test_without_a_lower_check_there_is_no_p_value():
    assert beyond_p(estimate(0.2, None, 0.3), 0.05) is None
    assert beyond_p(estimate(0.2, 0.1, 0.3, clusters=1), 0.05) is None
    assert beyond_p(replace(estimate(0.2, 0.1, 0.3), interval=None), 0.05) is None


# The difference of two values without a pairing.


@pytest.mark.parametrize(("hits", "units", "other", "others"), [(5, 100, 24, 100), (0, 60, 9, 80), (60, 60, 41, 60)])
def test_joined_intervals_are_newcombes(hits, units, other, others):
    [row] = compared(wilson(hits, units), wilson(other, others))
    low, high = confint_proportions_2indep(other, others, hits, units, method="newcomb", compare="diff")
    found = row.worsening
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=1e-9)
    assert found.value == pytest.approx(other / others - hits / units)
    assert "independent" in found.interval.method


def test_at_0_the_interval_that_assumes_a_correlation_is_joined():
    wide = Interval(low=0.0, high=0.12, level=0.95, method="assumed")
    never = estimate(0.0, 0.0, 0.04, planning_interval=wide)
    [row] = compared(never, estimate(0.2, 0.1, 0.3))
    assert row.worsening.interval.low == pytest.approx(0.2 - (0.1**2 + 0.12**2) ** 0.5)


@pytest.mark.parametrize(
    ("before", "now", "reason"),
    [
        (Undefined(reason="no pair was answered"), estimate(0.2, 0.1, 0.3), "no pair was answered"),
        (estimate(0.2, 0.1, 0.3), None, "not measured"),
        (None, estimate(0.2, 0.1, 0.3), "not measured"),
        (estimate(0.2, None, 0.3), estimate(0.2, 0.1, 0.3), "no interval"),
        (estimate(0.2, 0.1, 0.3, censoring="left"), estimate(0.2, 0.1, 0.3), "no interval"),
    ],
)
def test_what_cannot_be_compared_says_why_and_is_no_regression(before, now, reason):
    [row] = compared(before, now)
    assert row.standing == "not comparable"
    assert (row.p_value, row.adjusted_p) == (None, None)
    assert reason in row.words


# Rows.


def test_a_paired_difference_comes_before_joined_intervals():
    paired = {("dark-current", ""): estimate(0.3, 0.2, 0.4)}
    [row] = compared(estimate(0.2, 0.1, 0.3), estimate(0.5, 0.1, 0.9), paired=paired)
    assert row.worsening == paired["dark-current", ""]
    assert row.standing == "worse"
    assert row.words == "20% → 50%, 30 points worse [+20, +40]"


def test_where_less_is_worse_a_fall_is_a_worsening():
    paired = {("target-sensitivity", "5"): estimate(-0.3, -0.4, -0.25)}
    [row] = compared(estimate(0.95, 0.9, 0.98), estimate(0.65, 0.6, 0.7), checks=(FOUND,), paired=paired)
    assert row.standing == "worse"
    assert (row.worsening.value, row.worsening.interval.low, row.worsening.interval.high) == (0.3, 0.25, 0.4)
    paired = {("target-sensitivity", "5"): estimate(0.3, 0.25, 0.4)}
    [row] = compared(estimate(0.65, 0.6, 0.7), estimate(0.95, 0.9, 0.98), checks=(FOUND,), paired=paired)
    assert (row.standing, row.p_value) == ("not shown", 1)


def test_a_significant_difference_within_the_margin_is_none():
    tiny = {("dark-current", ""): estimate(0.03, 0.02, 0.04)}
    assert difference_p(tiny["dark-current", ""]) < 0.001
    [row] = compared(estimate(0.01, 0, 0.02), estimate(0.04, 0.03, 0.05), paired=tiny)
    assert row.standing == "not shown"
    [row] = compared(estimate(0.01, 0, 0.02), estimate(0.04, 0.03, 0.05), paired=tiny, margin=0.01)
    assert row.standing == "worse"


def test_all_rows_are_corrected_for_together():
    shown = estimate(0.2, 0.075, 0.325)
    alone = beyond_p(shown, 0.05)
    assert 0.005 < alone < 0.02
    same = estimate(0.1, 0.05, 0.15)
    checks = [held("pass", measure=f"m-{number}") for number in range(12)]
    measures = [measure(same, one.measure) for one in checks]
    paired = {(one.measure, ""): shown if one is checks[0] else estimate(0.0, -0.1, 0.1) for one in checks}
    rows = regressions(checks, measures, measures, paired=paired, margin=MARGIN)
    assert rows[0].adjusted_p == pytest.approx(12 * alone)
    assert {row.standing for row in rows} == {"not shown"}
    [row] = regressions(checks[:1], measures, measures, paired=paired, margin=MARGIN)
    assert row.standing == "worse"


def test_a_check_on_both_sides_has_no_worse_side_and_no_row():
    assert compared(estimate(0.2, 0.1, 0.3), estimate(0.5, 0.4, 0.6), checks=(held("pass", worse=None),)) == []


@pytest.mark.parametrize("result", [estimate(0.2, 0.1, 0.3), wilson(0, 50), wilson(50, 50)])
def test_the_same_result_twice_is_never_a_regression(result):
    [row] = compared(result, result, margin=0.0)
    assert (row.standing, row.p_value) == ("not shown", 1)
