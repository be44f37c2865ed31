"""The smallest difference that a finished run could have seen."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, nct, t
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint

from umpirical.domain.measures import Estimate, Interval, Undefined
from umpirical.reports.checks import one_sided
from umpirical.reports.record import CheckRecord, MeasureRecord, SmallestDifference
from umpirical.reports.smallest_differences import Standard, smallest_difference, smallest_differences, smallest_words
from umpirical.stats.intervals import cluster_wilson
from umpirical.stats.precision import errors_to_see, smallest_exact_difference, smallest_rate_difference


def rate(hits, units, clusters=24, *, effect=1.0, name="dark-current", **more):
    found = Estimate(
        value=hits / units,
        numerator=hits,
        denominator=units,
        unit="pair",
        interval=Interval(low=0.0, high=1.0, level=0.95, method="any"),
        clusters=clusters,
        design_effect=effect,
        planning_effect=1.0,
    )
    return measure(found, name=name, **more)


def measure(result, *, name="dark-current", scale="rate", variant="baseline", stratum=""):
    return MeasureRecord(
        name=name, title=name.replace("-", " ").capitalize(), about="", worse="higher", variant=variant,
        stratum=stratum,
        scale=scale, result=result,
    )  # fmt: skip


def shift(value, low, high, clusters=24, *, name="criterion-shift", variant="strict"):
    found = Estimate(
        value=value,
        numerator=value,
        denominator=100,
        unit="pair",
        interval=Interval(low=low, high=high, level=0.95, method="any"),
        clusters=clusters,
    )
    return measure(found, name=name, scale="difference", variant=variant)


def check(name="dark-current", value=0.05, kind="at_most", variant="baseline"):
    return CheckRecord(measure=name, stratum="", variant=variant, kind=kind, value=value, verdict="INCONCLUSIVE")


# The number of standard errors, and the distance from a check.


def test_with_many_clusters_it_is_1_96_and_0_84_standard_errors():
    assert errors_to_see(100_000) == pytest.approx(1.959964 + 0.841621, abs=2e-4)


@pytest.mark.parametrize("clusters", [3, 5, 10, 24, 100])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_the_number_of_standard_errors_is_that_of_the_t_test(clusters, power):
    effect = TTestPower().solve_power(nobs=clusters, alpha=0.05, power=power)
    assert errors_to_see(clusters, power=power) == pytest.approx(effect * clusters**0.5, rel=2e-3)
    critical = t.ppf(0.975, clusters - 1)
    assert nct.sf(critical, clusters - 1, errors_to_see(clusters, power=power)) == pytest.approx(power, abs=1e-6)


def test_far_from_0_and_1_it_is_the_textbook_formula():
    """2.8016 standard errors of .5 / sqrt(n), in any direction."""
    for above in (True, False):
        found = smallest_rate_difference(0.5, above=above, clusters=10**6, effective=10**6)
        assert found == pytest.approx(2.8016 * 0.5 / 1000, rel=1e-3)


@pytest.mark.parametrize(("check", "above"), [(0.05, True), (0.1, False), (0.8, True), (0.8, False)])
def test_the_distance_solves_its_own_equation(check, above):
    clusters, effective = 24, 200
    d = smallest_rate_difference(check, above=above, clusters=clusters, effective=effective)
    p, critical = check + d if above else check - d, t.ppf(0.975, clusters - 1)
    beyond = errors_to_see(clusters) - critical
    errors = [(q * (1 - q) / effective) ** 0.5 for q in (check, p)]
    assert d == pytest.approx(critical * errors[0] + beyond * errors[1])


def test_a_check_near_0_may_be_out_of_reach():
    assert smallest_rate_difference(0.05, above=False, clusters=24, effective=60) is None
    assert smallest_rate_difference(0.05, above=True, clusters=24, effective=60) is not None


def sampled(rng, rate, clusters, size, correlation):
    true = np.full(clusters, rate)
    if correlation:
        spread = (1 - correlation) / correlation
        true = rng.beta(rate * spread, (1 - rate) * spread, clusters)
    return rng.binomial(size, true)


CASES = [
    (clusters, size, correlation, check, above)
    for clusters, size, correlation in ((12, 10, 0.1), (24, 6, 0.05), (24, 20, 0.1), (40, 6, 0.0), (100, 12, 0.1))
    for check in (0.05, 0.1, 0.5, 0.8)
    for above in (True, False)
]


def shown(case, runs):
    """How often a true value difference of just the smallest size is shown; None if there is none."""
    clusters, size, correlation, check, above = case
    effective = clusters * size / (1 + (size - 1) * correlation)
    d = smallest_rate_difference(check, above=above, clusters=clusters, effective=effective)
    if d is None:
        return None
    rng, seen = np.random.default_rng(20260101), 0
    for _ in range(runs):
        hits = sampled(rng, check + d if above else check - d, clusters, size, correlation)
        found = cluster_wilson(hits, np.full(clusters, size))
        seen += found.low > check if above else found.high < check
    return seen / runs


@pytest.mark.parametrize("case", [(24, 6, 0.05, 0.5, True), (24, 20, 0.1, 0.1, True), (40, 6, 0.0, 0.8, False)])
def test_a_planted_difference_of_that_size_is_shown_in_four_runs_of_five(case):
    assert shown(case, 400) == pytest.approx(0.80, abs=0.07)


@pytest.mark.slow
def test_in_every_case_it_is_shown_about_as_often_as_said():
    found = [seen for case in CASES if (seen := shown(case, 4000)) is not None]
    assert len(found) >= 36
    assert 0.74 < min(found) <= max(found) < 0.92
    assert np.mean(found) == pytest.approx(0.80, abs=0.015)


# The exact bound of a datasheet.


def test_one_event_in_a_hundred_is_the_most_for_a_check_of_5_percent():
    """Clopper and Pearson: 1 of 100 is at most .0466, and 2 are at most .0616."""
    d = smallest_exact_difference(0.05, above=False, effective=100)
    assert binom.cdf(1, 100, 0.05 - d) == pytest.approx(0.80)
    assert proportion_confint(1, 100, alpha=0.10, method="beta")[1] < 0.05
    assert proportion_confint(2, 100, alpha=0.10, method="beta")[1] > 0.05


def test_fifty_nine_units_are_the_fewest_for_a_check_of_5_percent():
    """.95 to the power of 59 is .048: the rule of three."""
    assert smallest_exact_difference(0.05, above=False, effective=58) is None
    assert smallest_exact_difference(0.05, above=False, effective=59) is not None


@pytest.mark.parametrize(("check", "units"), [(0.05, 240), (0.1, 60), (0.5, 100), (0.8, 48)])
@pytest.mark.parametrize("above", [True, False])
def test_the_power_is_that_of_the_binomial_test(check, units, above):
    d = smallest_exact_difference(check, above=above, effective=units)
    rate = check + d if above else check - d
    counts = range(units + 1)
    ends = [proportion_confint(k, units, alpha=0.10, method="beta") for k in counts]
    shown = [k for k in counts if (ends[k][0] > check if above else ends[k][1] < check)]
    assert binom.pmf(shown, units, rate).sum() == pytest.approx(0.80, abs=1e-9)


def passed(case, runs):
    """How often a check is passed by just the smallest difference, as a datasheet holds it."""
    check, kind, clusters, size, correlation = case
    worth = 1 + (size - 1) * correlation
    planned = rate(clusters * size // 2, clusters * size, clusters, effect=worth)
    d = smallest_difference(planned, Standard(kind, check, "bound")).inside
    rng, seen = np.random.default_rng(20260102), 0
    for _ in range(runs):
        hits = sampled(rng, check - d if kind == "at_most" else check + d, clusters, size, correlation)
        found = cluster_wilson(hits, np.full(clusters, size))
        estimate = rate(int(hits.sum()), clusters * size, clusters, effect=found.design_effect)
        estimate = measure(replace(estimate.result, planning_effect=worth))
        side = "high" if kind == "at_most" else "low"
        bound = one_sided(estimate, estimate.result, side, alpha=0.05, count_missing=True)
        seen += bound <= check if kind == "at_most" else bound >= check
    return seen / runs


BOUND_CASES = [
    (check, kind, *design)
    for check, kind in ((0.1, "at_most"), (0.3, "at_most"), (0.8, "at_least"), (0.75, "at_least"))
    for design in ((24, 6, 0.05), (24, 20, 0.1), (40, 6, 0.0), (100, 12, 0.1))
]


@pytest.mark.parametrize("case", [(0.3, "at_most", 24, 20, 0.1), (0.8, "at_least", 40, 6, 0.0)])
def test_a_planted_difference_of_that_size_passes_a_check_in_four_runs_of_five(case):
    assert passed(case, 300) == pytest.approx(0.80, abs=0.09)


@pytest.mark.slow
def test_in_every_case_a_check_is_passed_about_as_often_as_said():
    found = [passed(case, 2000) for case in BOUND_CASES]
    assert 0.70 < min(found) <= max(found) < 0.90
    assert np.mean(found) == pytest.approx(0.80, abs=0.03)


@pytest.mark.parametrize("hits", [0, 1, 3, 8, 20, 47, 48])
@pytest.mark.parametrize("value", [0.02, 0.05, 0.1, 0.3, 0.8, 0.9])
@pytest.mark.parametrize("kind", ["at_most", "at_least"])
def test_what_passed_could_have_been_seen(hits, value, kind):
    """A report that says “never” of a check that it passed would contradict itself."""
    for clusters, effect in ((6, 0.6), (24, 1.0), (24, 2.5)):
        measured = rate(hits, 48, clusters, effect=effect if 0 < hits < 48 else None)
        bound = one_sided(
            measured, measured.result, "high" if kind == "at_most" else "low", alpha=0.05, count_missing=True
        )
        if bound <= value if kind == "at_most" else bound >= value:
            assert smallest_difference(measured, Standard(kind, value, "bound")).inside is not None


# From a record.


def test_a_rate_is_held_against_its_check():
    found = smallest_difference(rate(6, 160, effect=2.0), Standard("at_most", 0.05))
    assert found.below is None
    assert found.above == pytest.approx(smallest_rate_difference(0.05, above=True, clusters=24, effective=80))
    assert found.why_not == "not even a rate of 0% would be distinguishable from the threshold"
    assert (found.clusters, found.units, found.design_effect, found.power) == (24, 160, 2.0, 0.8)


def test_the_measured_value_changes_nothing_but_the_design_effect():
    """Who passes by luck could see no more than who does not."""
    one, other = (smallest_difference(rate(hits, 240, effect=2.0), Standard("at_most", 0.3)) for hits in (30, 120))
    assert (one.below, one.above) == (other.below, other.above)


def test_at_0_a_bound_counts_on_the_assumed_correlation():
    seen = measure(replace(rate(0, 240).result, design_effect=None, planning_effect=1.9))
    assert smallest_difference(seen, Standard("at_most", 0.3, "bound")).design_effect == pytest.approx(1.9)


def test_a_bound_on_one_side_sees_more_than_an_interval_on_two():
    one, two = (smallest_difference(rate(24, 240), Standard("at_most", 0.3, rule)) for rule in ("bound", "interval"))
    assert one.below < two.below
    assert "one-sided" in one.method
    assert "two-sided" in two.method


def test_a_difference_is_held_against_0_by_its_own_error():
    found = smallest_difference(shift(0.3, 0.2, 0.42), Standard("none", 0.0))
    assert found.above == found.below == pytest.approx(0.12 * errors_to_see(24) / t.ppf(0.975, 23))


def test_at_the_end_of_a_scale_the_side_without_length_is_not_taken_for_precision():
    found = smallest_difference(shift(0.0, 0.0, 0.2), Standard("none", 0.0))
    assert found.above == found.below > 0.2


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (Undefined(reason="nothing was asked"), "nothing was asked"),
        (shift(0.3, 0.2, 0.4, clusters=1).result, "one cluster"),
        (replace(shift(0.3, 0.2, 0.4).result, interval=None), "no interval"),
        (replace(shift(0.3, 0.2, 0.4).result, censoring="left"), "no interval"),
        (shift(0.3, None, 0.4).result, "open on one side"),
        (shift(0.3, 0.3, 0.3).result, "no width"),
    ],
)
def test_where_it_cannot_be_said_there_is_a_reason(result, why):
    found = smallest_difference(measure(result, scale="difference"), Standard("none", 0.0))
    assert found.above is None
    assert why in found.why_not


def test_checks_of_the_own_prompt_and_all_differences_are_listed_once():
    measures = [rate(6, 240), rate(6, 240, variant="strict"), shift(0.1, 0.0, 0.2), rate(200, 240, name="tie-rate")]
    found = smallest_differences(measures, [check(), check(variant="strict"), check("not-measured")])
    assert [(row.measure, row.variant, row.kind) for row in found] == [
        ("dark-current", "baseline", "at_most"),
        ("criterion-shift", "strict", "none"),
    ]


def test_a_report_says_it_in_words():
    checks = [check(value=0.3), check("false-alarm", 0.02), check("target-sensitivity", 0.8, "at_least")]
    measures = [rate(9, 240), rate(9, 60, name="false-alarm"), rate(220, 240, name="target-sensitivity")]
    first, second, third = smallest_words(smallest_differences([*measures, shift(0.1, 0.0, 0.2)], checks))
    assert first.endswith("by 7 points (target sensitivity) to 8 points (dark current) to pass with 80% power.")
    assert second.startswith("This run is too small to pass 1 of the 3 checks: false alarm.")
    assert third == "Smallest shift that this run could have shown: 14 points in criterion shift (strict)."


def test_without_checks_nothing_is_said():
    assert smallest_words([]) == []
    [said] = smallest_words(smallest_differences([rate(6, 60)], [check(value=0.01)]))
    assert said == "A run of this size is too small to pass any check with 80% power."


def test_no_distance_is_named_that_no_judge_can_keep():
    """Who would cheat: two items, which leave a check of 0.1 to be met by a distance of 5 grades."""

    def row(title, kind, value, far, scale):
        known = {"measure": title, "title": title, "variant": "baseline", "stratum": "", "scale": scale}
        return SmallestDifference(**known, kind=kind, value=value, below=far, above=far)

    easy = row("Easy", "at_most", 0.1, 0.05, "rate")
    band = [row("Shift", "at_least", -0.1, 5.174, "steps"), row("Shift", "at_most", 0.1, 5.174, "steps")]
    excess = row("Excess", "at_most", 0.05, 1.286, "difference")
    first, second = smallest_words([easy, *band, excess])
    assert " by 5 points (easy) to pass" in first
    assert second == "This run is too small to pass 2 of the 3 checks: shift, excess."
    narrow = [one.model_copy(update={"below": 0.09, "above": 0.09}) for one in band]
    assert smallest_words([easy, *narrow])[0].endswith(" by 5 points (easy) to 0.09 (shift) to pass with 80% power.")
