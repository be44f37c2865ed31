"""Differences of rates over the same clusters: by hand, against reference intervals and tests, and what must hold."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test, ttest_rel
from scipy.stats import t as student_t

from umpirical.stats.differences import excess_rate, paired_difference, sign_flip_p
from umpirical.stats.intervals import cluster_wilson

tables = st.lists(
    st.integers(1, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(0, n), st.just(n))),
    min_size=2,
    max_size=20,
)


def rng():
    return np.random.default_rng(0)


def test_by_hand():
    # Rates 4/12 and 8/12, so the residuals of the tasks are (-1, -4, 5)/3 and (4, -2, -2)/3 calls of 12.
    y, z, n = [1, 0, 3], [4, 2, 2], [4, 4, 4]
    one, other = cluster_wilson(y, n), cluster_wilson(z, n)
    residuals, others = np.array([-1, -4, 5]) / 3, np.array([4, -2, -2]) / 3
    r = residuals @ others / np.sqrt((residuals @ residuals) * (others @ others))
    below, above = one.value - one.low, other.high - other.value
    found = paired_difference(y, n, z, n)
    assert found.value == pytest.approx(-4 / 12)
    assert found.low == pytest.approx(max(-1, -4 / 12 - np.sqrt(below**2 + above**2 - 2 * r * below * above)))
    assert found.clusters == 3


def test_well_inside_it_is_students_t_on_the_tasks_differences():
    """Newcombe's square-and-add and the paired t test agree in the limit of large samples."""
    random = np.random.default_rng(1)
    rates = random.uniform(0.35, 0.65, size=200)
    y, z = random.binomial(500, rates), random.binomial(500, rates + 0.05)
    n = np.full(200, 500)
    found, reference = paired_difference(z, n, y, n), ttest_rel(z / 500, y / 500).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((reference.low, reference.high), rel=0.02)


def test_the_interval_is_that_of_a_cluster_robust_regression_well_inside():
    random = np.random.default_rng(2)
    n, m = random.integers(200, 400, size=60), random.integers(200, 400, size=60)
    rates = random.uniform(0.3, 0.6, size=60)
    y, z = random.binomial(n, rates), random.binomial(m, rates)
    side = np.r_[np.ones(60), np.zeros(60)]
    shares, weights = np.r_[y / n, z / m], np.r_[n, m]
    fit = sm.WLS(shares, sm.add_constant(side), weights=weights).fit(
        cov_type="cluster", cov_kwds={"groups": np.tile(np.arange(60), 2), "use_correction": False}
    )
    error = float(fit.bse[1]) * np.sqrt(60 / 59)
    found = paired_difference(y, n, z, m)
    assert found.value == pytest.approx(float(fit.params[1]))
    assert (found.high - found.low) / 2 == pytest.approx(student_t.ppf(0.975, 59) * error, rel=0.02)


def test_a_task_measured_on_one_side_only_speaks_of_that_side():
    found = paired_difference([3, 2, 4, 0], [6, 6, 6, 0], [1, 2, 0, 3], [6, 6, 0, 6])
    assert found.value == pytest.approx(9 / 18 - 6 / 18)
    assert found.clusters == 4


def test_sides_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="same clusters"):
        paired_difference([1, 2], [3, 3], [1, 2, 3], [3, 3, 3])


def test_two_identical_sides_differ_by_nothing_but_not_for_sure():
    y, n = [3, 2, 4, 1], [6, 6, 6, 6]
    found = paired_difference(y, n, y, n)
    assert found.value == 0
    unseen = cluster_wilson([0, 0, 0, 0], n).high
    assert (found.low, found.high) == pytest.approx((-unseen, unseen))


@given(tables)
def test_holds_the_estimate_stays_in_range_and_is_never_of_zero_width(table):
    found = paired_difference(*zip(*table, strict=True))
    assert -1 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1
    assert found.high > found.low


@given(tables)
def test_turned_round_it_changes_its_sign(table):
    y, n, z, m = zip(*table, strict=True)
    one, other = paired_difference(y, n, z, m), paired_difference(z, m, y, n)
    assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low), abs=1e-12)


@pytest.mark.parametrize(("p", "q"), [(0.99, 0.97), (0.05, 0.02), (0.5, 0.5), (0.98, 0.7)])
def test_it_covers_near_0_and_1_where_students_t_does_not(p, q):
    """Answers of the two sides are alike nine times in ten, as those of two prompts are."""
    random, n, hits, plain = np.random.default_rng(7), np.full(20, 6), [], []
    for _ in range(600):
        draws = random.random((20, 6))
        others = np.where(random.random((20, 6)) < 0.9, draws, random.random((20, 6)))
        y, z = (draws < p).sum(axis=1), (others < q).sum(axis=1)
        found = paired_difference(y, n, z, n)
        hits.append(found.low - 1e-9 <= p - q <= found.high + 1e-9)
        half = student_t.ppf(0.975, 19) * np.std((y - z) / 6, ddof=1) / np.sqrt(20)
        plain.append(abs((y - z).mean() / 6 - (p - q)) <= half + 1e-9)
    assert np.mean(hits) >= 0.93
    assert np.mean(hits) > np.mean(plain) - 0.01


def test_sign_flips_by_hand():
    # Differences 1, 1, 1: the observed sum is reached by two of eight ways of flipping.
    assert sign_flip_p([1, 1, 1], [1, 1, 1], [0, 0, 0], [1, 1, 1], rng=rng()) == pytest.approx(2 / 8)
    assert sign_flip_p([1, 1, 0], [1, 1, 1], [0, 0, 0], [1, 1, 1], rng=rng()) == pytest.approx(2 / 4)


def test_no_difference_anywhere_is_no_evidence():
    assert sign_flip_p([1, 2], [4, 4], [1, 2], [4, 4], rng=rng()) == 1


def test_all_flips_are_those_of_scipy():
    random = np.random.default_rng(5)
    y, z, n = random.integers(0, 9, 10), random.integers(0, 9, 10), np.full(10, 8)
    reference = permutation_test(
        (y / 8 - z / 8,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
    ).pvalue
    assert sign_flip_p(y, n, z, n, rng=rng()) == pytest.approx(reference)


def test_many_clusters_are_flipped_at_random_and_come_to_the_same():
    random = np.random.default_rng(6)
    y, z, n = random.integers(2, 9, 18), random.integers(0, 8, 18), np.full(18, 8)
    drawn = sign_flip_p(y, n, z, n, rng=rng())
    terms = (y - z) / 8
    signs = np.array(np.meshgrid(*[[-1, 1]] * 18)).reshape(18, -1)
    exact = np.mean(np.abs(terms @ signs) >= abs(terms.sum()) - 1e-9)
    assert drawn == pytest.approx(exact, abs=4 * np.sqrt(exact / 20_000) + 1e-4)
    assert drawn == sign_flip_p(y, n, z, n, rng=rng())


def test_under_exchange_the_p_value_is_not_too_small():
    random = np.random.default_rng(8)
    small = 0
    for _ in range(400):
        rates = random.uniform(0.1, 0.9, size=(12, 2))
        y, z = (random.binomial(6, rates[:, side]) for side in (0, 1))
        small += sign_flip_p(y, np.full(12, 6), z, np.full(12, 6), rng=rng()) <= 0.05
    assert small / 400 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_an_excess_over_a_fixed_level_is_the_cluster_wilson_interval_moved():
    y, n = [1, 3, 2, 5], [6, 6, 6, 6]
    rate, found = cluster_wilson(y, n), excess_rate(y, n, lambda _: 0.25)
    assert (found.value, found.low, found.high) == pytest.approx((rate.value - 0.25, rate.low - 0.25, rate.high - 0.25))


def test_an_excess_over_a_rate_of_the_same_clusters_is_their_difference_well_inside():
    random = np.random.default_rng(9)
    n = np.full(80, 300)
    rates = random.uniform(0.4, 0.6, size=80)
    y, z = random.binomial(300, rates), random.binomial(300, rates)
    found = excess_rate(y, n, lambda kept: float(z[kept].sum() / n[kept].sum()))
    paired = paired_difference(y, n, z, n)
    assert (found.value, found.low, found.high) == pytest.approx((paired.value, paired.low, paired.high), abs=0.002)
