"""Rates of expected labels: what is averaged, over what, and what stays unknown."""

from decimal import Decimal

import pytest

from tests.protocols.stress.samples import report as stress_sample
from umpirical.domain.measures import Estimate
from umpirical.protocols.stress.heat_map import pass_rates
from umpirical.protocols.stress.record import WriterSpendRecord
from umpirical.protocols.stress.rendering import render_stress_pages
from umpirical.reports.record import SpendRecord


def accuracies(report):
    return {
        measure.stratum: measure.result.value
        for measure in report.measures
        if measure.name == "accuracy" and not measure.group and isinstance(measure.result, Estimate)
    }


def test_the_mean_is_over_the_tests_and_not_over_the_originals():
    report = stress_sample()
    known = accuracies(report)
    rates = [rate for test, rate in known.items() if test != "original"]
    assert rates
    assert len(rates) < len(known)
    found = pass_rates([report], ["a"])
    [spread] = found.by_judge
    mean = sum(rates) / len(rates)
    assert (spread.count, spread.least, spread.most) == (len(rates), min(rates), max(rates))
    assert spread.mean == pytest.approx(mean)
    if len(rates) > 1:
        assert spread.deviation == pytest.approx((sum((r - mean) ** 2 for r in rates) / (len(rates) - 1)) ** 0.5)
    assert all(over.count == 1 and over.deviation is None for _, _, over in found.rows)


@pytest.mark.parametrize(
    ("spend", "known"),
    [(SpendRecord(calls=10, cost=Decimal("0.50")), True), (SpendRecord(calls=10), False), (None, False)],
)
def test_a_point_costs_what_the_run_cost_for_each_percent(spend, known):
    report = stress_sample().model_copy(update={"spend": spend})
    found = pass_rates([report], ["a"])
    [point], [spread] = found.per_point, found.by_judge
    if known:
        assert float(point) == pytest.approx(0.50 / (100 * spread.mean))
    else:
        assert point is None


@pytest.mark.parametrize(("validator", "whole"), [(Decimal("0.25"), 1.25), (None, None)])
def test_a_point_has_a_price_with_what_the_stimuli_cost(validator, whole):
    """$0.50 for the judge, $0.50 for the generator; an unknown validator makes the whole unknown."""
    writing = [
        WriterSpendRecord(role="generator", model="any", calls=9, cost=Decimal("0.50")),
        WriterSpendRecord(role="validator", model="any", calls=9, cost=validator),
    ]
    spent = SpendRecord(calls=10, cost=Decimal("0.50"))
    found = pass_rates([stress_sample().model_copy(update={"spend": spent, "writing": writing})], ["a"])
    [alone], [point], [spread] = found.per_point, found.per_point_with_stimuli, found.by_judge
    assert float(alone) == pytest.approx(0.50 / (100 * spread.mean))
    assert point is None if whole is None else float(point) == pytest.approx(whole / (100 * spread.mean))


def test_a_judge_without_any_rate_has_no_summary():
    report = stress_sample()
    bare = report.model_copy(update={"measures": [one for one in report.measures if one.name != "accuracy"]})
    found = pass_rates([bare], ["a"])
    assert (found.rows, found.by_judge, found.per_point, found.per_point_with_stimuli) == (
        (),
        (None,),
        (None,),
        (None,),
    )
    assert "no labeled changed text was judged" in render_stress_pages([bare])["index.html"]


def test_two_judges_side_by_side_have_a_spread_for_each_test():
    report = stress_sample()
    other = report.model_copy(update={"judge": report.judge.model_copy(update={"name": "other"})})
    found = pass_rates([report, other], ["a", "b"])
    assert all(over.count == 2 and over.deviation == 0 for _, _, over in found.rows)
    page = render_stress_pages([report, other])["index.html"]
    assert "Expected labels by test" in page
    assert "Cost per percentage point" in page
