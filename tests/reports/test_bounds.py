"""One-sided checks: exact, on effective units, with what is missing counted against the judge."""

import pytest

from tests.protocols.datasheet.samples import estimate, measure
from umpirical.domain.measures import Interval
from umpirical.reports.checks import design_effect, one_sided
from umpirical.stats.intervals import exact_high, exact_low, few_clusters


def bound(result, side, *, alpha=0.05, count_missing=True, name="dark-current"):
    return one_sided(measure(name, result), result, side, alpha=alpha, count_missing=count_missing)


def test_nothing_in_sixty_prompts_of_sixty_families_is_below_one_in_twenty():
    found = estimate(0, 60, "prompt", planning_effect=1.0)
    assert bound(found, "high") == pytest.approx(0.0487, abs=5e-5)


def test_at_zero_the_assumed_correlation_stands_in_for_the_one_that_does_not_show():
    assert bound(estimate(0, 60, planning_effect=1.1), "high") == pytest.approx(exact_high(0, 60 / 1.1, 0.05))


def test_an_estimated_effect_counts_with_students_t_and_with_few_events_is_no_less_than_the_assumed():
    many, few = (estimate(hits, 100, "pair", planning_effect=1.5, design_effect=0.8, clusters=24) for hits in (30, 3))
    assert (design_effect(many), design_effect(few)) == (0.8, 1.5)
    units = 100 / 0.8 * few_clusters(24, 0.05)
    assert bound(many, "high") == pytest.approx(exact_high(0.3 * units, units, 0.05))
    assert bound(many, "low") == pytest.approx(exact_low(0.3 * units, units, 0.05))


def test_what_is_missing_counts_towards_either_side():
    found = estimate(0, 90, planning_effect=1.0, excluded={"without an answer": 10})
    assert bound(found, "high") == pytest.approx(exact_high(10, 100, 0.05))
    assert bound(found, "high", count_missing=False) == pytest.approx(exact_high(0, 90, 0.05))
    whole = estimate(90, 90, planning_effect=1.0, excluded={"without an answer": 10})
    assert bound(whole, "low") == pytest.approx(exact_low(90, 100, 0.05))


def test_a_difference_keeps_its_interval_at_another_level():
    ends = Interval(low=-0.1, high=0.1, level=0.95, method="any")
    found = estimate(0, 50, interval=ends, clusters=24, planning_effect=None)
    # Student's quantiles with 23 degrees of freedom.
    assert bound(found, "high", name="conflict-excess") == pytest.approx(0.1 * 1.7139 / 2.0687, abs=1e-4)
    lost = estimate(0, 50, interval=ends, clusters=24, planning_effect=None, excluded={"without an answer": 5})
    assert bound(lost, "high", name="excess-stable") == pytest.approx(0.1 + 0.1 * 1.7139 / 2.0687, abs=1e-4)


def test_without_an_interval_nothing_is_bounded():
    assert bound(estimate(0, 50, interval=None, planning_effect=None), "high") == float("inf")
    assert bound(estimate(0, 50, interval=None, planning_effect=None), "low") == -float("inf")


def test_the_calls_of_a_family_never_count_as_less_alike_than_assumed():
    found = estimate(30, 100, "call", planning_effect=1.5, design_effect=0.8, clusters=24)
    assert design_effect(found) == 1.5
