"""Agreement of scores with gold: by hand, against other people's software, and what must hold for any scores."""

from fractions import Fraction

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr, ttest_ind
from scipy.stats import t as student_t
from sklearn.metrics import cohen_kappa_score

from umpirical.stats.agreement import Ratings, calibration_line, concordance, pearson, spearman
from umpirical.stats.intervals import jackknife

scores = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=40)
varied = scores.filter(lambda rows: all(len(set(column)) > 1 for column in zip(*rows, strict=True)))


def ratings(rows, **columns) -> Ratings:
    gold, given_ = zip(*rows, strict=True)
    return Ratings.of(gold, given_, **columns)


def drawn(items: int, seed: int, *, slope=0.8, noise=0.8) -> Ratings:
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 6, items)
    return Ratings.of(gold, np.clip(np.rint(2.5 + slope * (gold - 2.5) + noise * rng.standard_normal(items)), 0, 5))


# Values.


def test_concordance_by_hand():
    # Means 2 and 3, variances 2/3 and 2/3 over n, covariance 2/3: (4/3) / (4/3 + 1).
    assert concordance(Ratings.of([1, 2, 3], [2, 3, 4])).value == pytest.approx(4 / 7)


@given(varied)
@settings(deadline=None)
def test_concordance_is_kappa_with_quadratic_weights(rows):
    gold, given_ = zip(*rows, strict=True)
    reference = cohen_kappa_score(gold, given_, weights="quadratic", labels=range(6))
    assert concordance(ratings(rows)).value == pytest.approx(reference, abs=1e-12)


@given(varied)
@settings(deadline=None)
def test_the_correlations_are_scipys(rows):
    gold, given_ = zip(*rows, strict=True)
    assert pearson(ratings(rows)).value == pytest.approx(pearsonr(gold, given_).statistic, abs=1e-12)
    assert spearman(ratings(rows)).value == pytest.approx(spearmanr(gold, given_).statistic, abs=1e-12)


@given(varied)
@settings(deadline=None)
def test_concordance_is_never_further_from_nothing_than_the_correlation(rows):
    assert abs(concordance(ratings(rows)).value) <= abs(pearson(ratings(rows)).value) + 1e-12


@given(varied, st.integers(1, 3))
@settings(deadline=None)
def test_a_row_of_several_items_is_several_rows(rows, times):
    weighted = ratings(rows, weight=[times] * len(rows))
    repeated = ratings(rows * times, cluster=list(range(len(rows))) * times)
    for kernel in (concordance, pearson, spearman):
        one, other = kernel(weighted), kernel(repeated)
        assert [one.value, one.low, one.high] == pytest.approx([other.value, other.low, other.high], abs=1e-9)


@given(varied)
@settings(deadline=None)
def test_thirds_of_an_item_are_an_item(rows):
    """An item answered three times alike counts once, whatever rounding does."""
    whole = ratings(rows)
    thirds = ratings([row for row in rows for _ in range(3)], weight=[1 / 3] * 3 * len(rows),
                     cluster=[number for number in range(len(rows)) for _ in range(3)])  # fmt: skip
    for kernel in (concordance, pearson, spearman):
        one, other = kernel(whole), kernel(thirds)
        assert [one.value, one.low, one.high] == pytest.approx([other.value, other.low, other.high], abs=1e-9)


@pytest.mark.parametrize("factor", [1e-3, 1.0, 250.0])
def test_the_unit_of_the_scale_does_not_matter(factor):
    plain = drawn(40, 1)
    other = Ratings.of(7 + factor * plain.gold, 7 + factor * plain.given)
    for kernel in (concordance, pearson, spearman):
        assert kernel(other).value == pytest.approx(kernel(plain).value)
        assert kernel(other).low == pytest.approx(kernel(plain).low)
    mine, theirs = calibration_line(plain, place=2.5), calibration_line(other, place=7 + factor * 2.5)
    assert theirs.slope.value == pytest.approx(mine.slope.value)
    assert theirs.at.value == pytest.approx(factor * mine.at.value)


def test_no_variation_is_no_number():
    constant = Ratings.of([2, 2, 2, 2], [3, 3, 3, 3])
    assert np.isnan(pearson(constant).value)
    assert np.isnan(spearman(constant).value)
    assert concordance(constant).value == 0
    assert np.isnan(concordance(Ratings.of([2, 2, 2], [2, 2, 2])).value)
    assert calibration_line(constant, place=2) is None
    assert concordance(Ratings.of([1, 2, 3], [2, 2, 2])).value == 0


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="different lengths: 3, 2, 3, 3"):
        Ratings.of([1, 2, 3], [1, 2])


# Errors.


@pytest.mark.parametrize("per_cluster", [1, 4])
@pytest.mark.parametrize("kernel", [concordance, pearson])
def test_limits_are_those_of_leaving_out_clusters_one_by_one(kernel, per_cluster):
    whole = drawn(40, 2)
    cluster = np.arange(40) // per_cluster
    found = kernel(Ratings.of(whole.gold, whole.given, cluster=cluster))

    def value(kept):
        rows = kept[cluster]
        return kernel(Ratings.of(whole.gold[rows], whole.given[rows])).value

    slow = jackknife(value, int(cluster.max()) + 1)
    half = student_t.ppf(0.975, cluster.max()) * float(slow.standard_error) / (1 - found.value**2)
    assert np.arctanh(found.high) - np.arctanh(found.value) == pytest.approx(half)


@pytest.mark.parametrize(("items", "tolerance"), [(60, 0.1), (2000, 0.005)])
def test_the_influence_of_items_on_ranks_is_what_leaving_them_out_shows(items, tolerance):
    whole = drawn(items, 3)
    found = spearman(whole)
    kept = np.arange(items)
    replicates = np.array(
        [spearmanr(whole.gold[kept != out], whole.given[kept != out]).statistic for out in range(items)]
    )
    slow = np.sqrt((items - 1) / items * ((replicates - replicates.mean()) ** 2).sum())
    half = np.arctanh(found.high) - np.arctanh(found.value)
    assert half * (1 - found.value**2) / student_t.ppf(0.975, items - 1) == pytest.approx(slow, rel=tolerance)


def test_with_two_scores_a_side_rank_and_moment_correlation_are_one():
    rng = np.random.default_rng(4)
    gold = rng.integers(0, 2, 400)
    table = Ratings.of(gold, np.where(rng.random(400) < 0.8, gold, 1 - gold))
    one, other = pearson(table), spearman(table)
    assert one.value == pytest.approx(other.value)
    assert [one.low, one.high] == pytest.approx([other.low, other.high], abs=0.002)


@given(scores, st.integers(1, 4))
@settings(deadline=None)
def test_limits_are_possible_and_never_one(rows, per_cluster):
    cluster = [number // per_cluster for number in range(len(rows))]
    if len(set(cluster)) < 2:
        cluster = list(range(len(rows)))
    for kernel in (concordance, pearson, spearman):
        found = kernel(ratings(rows, cluster=cluster))
        if not np.isnan(found.value):
            assert -1 <= found.low <= found.value + 1e-9
            assert found.value - 1e-9 <= found.high <= 1
            assert found.high > found.low


def test_perfect_agreement_is_not_certain():
    found = concordance(Ratings.of([0, 1, 2, 3, 4, 5] * 5, [0, 1, 2, 3, 4, 5] * 5))
    t = student_t.ppf(0.975, 29)
    assert (found.value, found.high) == (1, 1)
    assert found.low == pytest.approx(1 - t**2 / (30 + t**2) * 6 / 5)


def test_ten_thousand_items_of_as_many_scores_take_no_time():
    rng = np.random.default_rng(5)
    gold = rng.standard_normal(10_000)
    found = spearman(Ratings.of(gold, gold + rng.standard_normal(10_000)))
    # Of a normal pair: 6/pi · arcsin(rho / 2).
    assert found.low < 6 / np.pi * np.arcsin(np.sqrt(0.5) / 2) < found.high
    assert found.high - found.low < 0.03


# The calibration line.


def test_the_line_by_hand():
    # Gold 0..3 gets 1, 1, 2, 2: slope (1.5·1 + .5·1 ... ) = 2/5, mean 1.5 at 1.5.
    line = calibration_line(Ratings.of([0, 1, 2, 3], [1, 1, 2, 2]), place=1.5)
    assert line.slope.value == pytest.approx(float(Fraction(2, 5)))
    assert line.at.value == pytest.approx(0)
    assert calibration_line(Ratings.of([0, 1, 2, 3], [1, 1, 2, 2]), place=3).at.value == pytest.approx(1.5 + 0.6 - 3)


def test_the_line_is_that_of_a_regression():
    whole = drawn(80, 6)
    fit = sm.OLS(whole.given, sm.add_constant(whole.gold - 2.5)).fit(cov_type="HC3")
    line = calibration_line(whole, place=2.5)
    assert line.slope.value == pytest.approx(fit.params[1])
    assert line.at.value == pytest.approx(fit.params[0] - 2.5)
    # Leaving out one item at a time is nearly the HC3 error; the degrees of freedom are at most 79.
    for limits, error in ((line.slope, fit.bse[1]), (line.at, fit.bse[0])):
        half = limits.high - limits.value
        assert student_t.ppf(0.975, 79) * error * 0.99 < half < student_t.ppf(0.975, 30) * error * 1.01


def test_the_errors_are_those_of_clusters():
    rng = np.random.default_rng(7)
    cluster = np.repeat(np.arange(60), 5)
    gold = rng.integers(0, 6, 300)
    given_ = gold + np.repeat(rng.standard_normal(60), 5) + 0.5 * rng.standard_normal(300)
    fit = sm.OLS(given_, sm.add_constant(gold - 2.5)).fit(cov_type="cluster", cov_kwds={"groups": cluster})
    line = calibration_line(Ratings.of(gold, given_, cluster=cluster), place=2.5)
    for limits, error in ((line.slope, fit.bse[1]), (line.at, fit.bse[0])):
        half = limits.high - limits.value
        assert student_t.ppf(0.975, 59) * error * 0.95 < half < student_t.ppf(0.975, 20) * error * 1.05


def test_degrees_of_freedom_are_those_of_the_clusters_that_pull():
    """Two labels: the slope is a difference of two means, so Welch's test is the reference, and its freedom."""
    rng = np.random.default_rng(8)
    gold = np.repeat([0.0, 1.0], [100, 8])
    given_ = gold + rng.standard_normal(108) * np.where(gold == 1, 1.0, 0.1)
    line = calibration_line(Ratings.of(gold, given_), place=0.5)
    welch = ttest_ind(given_[gold == 1], given_[gold == 0], equal_var=False)
    assert line.slope.value == pytest.approx(given_[gold == 1].mean() - given_[gold == 0].mean())
    low, high = welch.confidence_interval(0.95)
    half, reference = line.slope.high - line.slope.value, (high - low) / 2
    # Welch has seven degrees of freedom here, and not 107.
    assert welch.df < 8
    assert half == pytest.approx(reference, rel=0.25)
    assert half > 1.2 * reference * student_t.ppf(0.975, 107) / student_t.ppf(0.975, welch.df)


def test_a_judge_on_a_line_is_not_surer_than_one_slip():
    gold = np.tile(np.arange(6), 5)
    line = calibration_line(Ratings.of(gold, gold), place=2.5)
    t, squares = student_t.ppf(0.975, 29), 5 * 17.5
    assert (line.slope.value, line.at.value) == (1, 0)
    assert line.slope.high - 1 == pytest.approx(t * 2.5 / squares)
    assert line.at.high == pytest.approx(t / 30)


def test_a_line_that_hangs_on_one_cluster_is_none():
    assert calibration_line(Ratings.of([1, 1, 1, 4], [1, 2, 1, 4]), place=2) is None
