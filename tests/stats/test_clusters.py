"""Cluster-Wilson: by hand, against a reference variance, and what must always hold."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta
from scipy.stats import t as student_t

from umpirical.stats.intervals import (
    MIN_DESIGN_EFFECT,
    cluster_wilson,
    combined_wilson,
    event_parts,
    planning_wilson,
    wilson,
)

tables = st.lists(
    st.integers(1, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=2, max_size=30
)


def test_by_hand():
    # 24 tasks of 4 pairs: 1 and 3 in turn. p = 1/2; residuals of 1/96; v = 24/23 * 24/96² = 1/368.
    # Binomial variance (1/4)/96 = 1/384, so the design effect is 24/23 and n_eff is 92; t with 23 degrees of freedom.
    rate = cluster_wilson([1, 3] * 12, [4] * 24)
    assert rate.value == 0.5
    assert rate.design_effect == pytest.approx(24 / 23)
    assert (rate.low, rate.high) == pytest.approx(tuple(wilson(46, 92, critical=student_t.ppf(0.975, 23))))


def test_the_limits_of_a_part_of_the_events_by_hand():
    # Four events in one of 12 tasks of 4 pairs: design effect 12/11 * (16 - 16/12) / (4 * 44/48) = 48/11, n_eff 11.
    # One event more, elsewhere: 5/48, design effect 12/11 * (17 - 25/12) / (48 * 5/48 * 43/48) = 3.63.
    clustered, more = ([4, *[0] * 11], [4, 1, *[0] * 10])
    none, whole, part = event_parts(more, [4] * 12)
    assert none == (0, 1)
    assert whole == pytest.approx((5, 12 / 11 * (17 - 25 / 12) / (5 * 43 / 48)))
    assert part == pytest.approx((4, 48 / 11))
    # All of them would have a lower limit than the four alone.
    alone = wilson(11 / 12, 11, critical=student_t.ppf(0.975, 11)).high
    assert cluster_wilson(clustered, [4] * 12).high == pytest.approx(alone)
    effective = 48 / whole.effect
    assert wilson(5 / 48 * effective, effective, critical=student_t.ppf(0.975, 11)).high < alone
    assert cluster_wilson(more, [4] * 12).high == pytest.approx(alone)


def test_a_single_event_is_given_the_exact_lower_limit():
    rate = cluster_wilson([1, *[0] * 11], [3] * 12)
    assert rate.design_effect == pytest.approx(1, abs=0.1)
    n_eff = 36 / rate.design_effect
    assert rate.low == pytest.approx(beta.ppf(0.025, n_eff / 36, n_eff * 35 / 36 + 1))
    assert rate.low < wilson(n_eff / 36, n_eff, critical=student_t.ppf(0.975, 11)).low


def test_equal_sizes_give_the_variance_of_the_task_means():
    rng = np.random.default_rng(3)
    y = rng.binomial(6, 0.4, size=15)
    rate = cluster_wilson(y, np.full(15, 6))
    variance = np.var(y / 6, ddof=1) / 15
    assert rate.design_effect == pytest.approx(variance / (rate.value * (1 - rate.value) / 90))


def test_unequal_sizes_give_the_cluster_robust_variance_of_statsmodels():
    rng = np.random.default_rng(4)
    n = rng.integers(2, 9, size=12)
    y = rng.binomial(n, 0.3)
    rate = cluster_wilson(y, n)
    units = np.concatenate([np.r_[np.ones(k), np.zeros(m - k)] for k, m in zip(y, n, strict=True)])
    groups = np.repeat(np.arange(12), n)
    fit = sm.OLS(units, np.ones_like(units)).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
    )
    robust = float(fit.cov_params()[0, 0]) * 12 / 11
    assert rate.design_effect * rate.value * (1 - rate.value) / n.sum() == pytest.approx(robust)


@given(tables)
def test_holds_the_estimate_stays_in_range_and_is_never_of_zero_width(table):
    y, n = zip(*table, strict=True)
    rate = cluster_wilson(y, n)
    assert 0 <= rate.low <= rate.value + 1e-12
    assert rate.value - 1e-12 <= rate.high <= 1
    assert rate.high > rate.low
    assert rate.design_effect is None or rate.design_effect >= MIN_DESIGN_EFFECT


@given(tables, st.randoms())
def test_the_order_of_tasks_does_not_matter_and_empty_tasks_are_ignored(table, random):
    shuffled = [*table, (0, 0)]
    random.shuffle(shuffled)
    one = cluster_wilson(*zip(*table, strict=True))
    other = cluster_wilson(*zip(*shuffled, strict=True))
    assert (one.low, one.high, one.clusters) == pytest.approx((other.low, other.high, other.clusters))


def test_the_design_effect_is_unseen_at_0_and_1_and_the_planning_interval_is_wider():
    for hits in (0, 6):
        rate = cluster_wilson([hits] * 10, [6] * 10)
        assert rate.design_effect is None
        plan = planning_wilson(rate, [6] * 10, correlation=0.05)
        assert plan.high - plan.low > rate.high - rate.low
        # Kish: 1 + 5 * .05 = 1.25, so 60 pairs count as 48.
        critical = student_t.ppf(0.975, 9)
        assert tuple(plan) == pytest.approx(tuple(wilson(rate.value * 48, 48, critical=critical)))


def test_a_single_task_is_refused():
    with pytest.raises(ValueError, match="at least two"):
        cluster_wilson([3, 0], [6, 0])


def test_a_numerator_outside_its_denominator_is_refused():
    with pytest.raises(ValueError, match="outside"):
        cluster_wilson([7, 1], [6, 6])


def test_one_rate_with_full_weight_is_the_plain_cluster_wilson():
    y, n = np.tile([[1.0, 2.0], [3.0, 5.0], [2.0, 4.0]], (5, 1)), np.full((15, 2), 6.0)
    rate = cluster_wilson(y[:, 1], n[:, 1])
    assert tuple(combined_wilson(y, n, [0.0, 1.0])) == pytest.approx((rate.low, rate.high))
