"""Error rates from the records of a judge."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from umpirical.claims.methods import pair_limits, recorded_rates
from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Estimate, Interval, Undefined
from umpirical.reports.record import MeasureRecord
from umpirical.stats.intervals import exact_high, exact_low


def measure(name, wrong, units, *, stratum="", effect=1.0, excluded=None):
    result = Estimate(
        value=wrong / units,
        numerator=wrong,
        denominator=units,
        unit="item",
        interval=Interval(low=0, high=1, level=0.95, method="cluster-Wilson"),
        clusters=10_000,
        design_effect=effect,
        planning_effect=1.0,
        excluded=excluded or {},
    )
    return MeasureRecord(
        name=name, title=name, about="", worse="higher", variant="baseline", stratum=stratum, result=result
    )


def record(*measures):
    return SimpleNamespace(record=SimpleNamespace(measures=list(measures)), file=Path("record.json"))


def test_a_stress_report_gives_sensitivity_and_specificity_on_the_effective_units():
    rates = recorded_rates(
        record(
            measure("false-negative-rate", 10, 100, stratum="original", effect=2.0),
            measure("false-positive-rate", 40, 200, stratum="original"),
        )
    )
    assert (rates.sensitivity.rate, rates.sensitivity.units) == pytest.approx((0.9, 50))
    assert (rates.specificity.rate, rates.specificity.units) == pytest.approx((0.8, 200))
    assert [(rate.numerator, rate.denominator) for rate in rates.shown] == [(90, 100), (160, 200)]


def test_a_report_without_gold_labels_gives_none():
    undefined = measure("false-negative-rate", 1, 2, stratum="original").model_copy(
        update={"result": Undefined(reason="no label is named as positive")}
    )
    with pytest.raises(UsageError, match="no label is named as positive"):
        recorded_rates(record(undefined))
    with pytest.raises(UsageError, match="false-negative-rate"):
        recorded_rates(record())


def test_limits_are_exact_one_sided_and_share_the_error():
    found = pair_limits(
        record(
            measure("target-sensitivity", 90, 100, stratum="1"),
            measure("wrong-choice-rate", 4, 100, stratum="1"),
            measure("raw-false-preference", 5, 100),
        ),
        step=1.0,
        alpha=0.03,
    )
    (better, _, worse), (_, tie, _), reversed_row = found.limits
    assert better == pytest.approx((exact_low(90, 100, 0.01), 1), rel=1e-3)
    assert worse == pytest.approx((0, exact_high(4, 100, 0.01)), rel=1e-3)
    assert tie == pytest.approx((1 - exact_high(5, 100, 0.01), 1), rel=1e-3)
    assert reversed_row == (worse, (0.0, 1.0), better)


def test_calls_without_an_answer_count_against_the_judge():
    whole, part = (
        pair_limits(
            record(
                measure("target-sensitivity", 90, 100, stratum="1", excluded=excluded),
                measure("wrong-choice-rate", 4, 100, stratum="1", excluded=excluded),
                measure("raw-false-preference", 5, 100, excluded=excluded),
            ),
            step=1.0,
            alpha=0.03,
        ).limits
        for excluded in ({}, {"without a verdict": 50})
    )
    assert part[0][0][0] < whole[0][0][0] - 0.2
    assert part[0][2][1] > whole[0][2][1] + 0.2
    assert part[1][1][0] < whole[1][1][0] - 0.2
