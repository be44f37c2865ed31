"""The cluster bootstrap."""

import numpy as np
import pytest
from scipy.stats import bootstrap as scipy_bootstrap

from umpirical.stats import bootstrap as module
from umpirical.stats.bootstrap import cluster_bootstrap, percentile_interval


def rate(totals):
    return totals[:, 0] / totals[:, 1]


def table(seed: int, clusters: int = 30) -> np.ndarray:
    rng = np.random.default_rng(seed)
    n = rng.integers(3, 9, size=clusters)
    return np.column_stack([rng.binomial(n, 0.4), n]).astype(float)


def test_the_same_seed_gives_the_same_values():
    sums = table(1)
    one, two = (cluster_bootstrap(sums, rate, rng=np.random.default_rng(5)) for _ in range(2))
    assert (one == two).all()


def test_the_spread_is_that_of_scipys_bootstrap_over_clusters():
    sums = table(2)
    ours = cluster_bootstrap(sums, rate, rng=np.random.default_rng(6), replicates=8000).std()
    theirs = scipy_bootstrap(
        (sums[:, 0], sums[:, 1]),
        lambda y, n, axis: y.sum(axis=axis) / n.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=8000,
        rng=np.random.default_rng(7),
        method="percentile",
    ).standard_error
    assert ours == pytest.approx(theirs, rel=0.05)


def test_whole_clusters_are_drawn():
    # Two kinds of task, all right or all wrong: every replicate's numerator is a multiple of the task size.
    sums = np.array([[6.0, 6.0]] * 5 + [[0.0, 6.0]] * 5)
    values = cluster_bootstrap(sums, lambda totals: totals[:, 0], rng=np.random.default_rng(8))
    assert set(values % 6) == {0.0}
    # Resampling calls instead would have a standard deviation of sqrt(60 / 4); tasks have six times sqrt(10 / 4).
    assert values.std() == pytest.approx(6 * np.sqrt(10 / 4), rel=0.06)


def test_blocks_do_not_change_how_many_replicates_there_are(monkeypatch):
    monkeypatch.setattr(module, "ROWS_PER_BLOCK", 100)
    assert len(cluster_bootstrap(table(3), rate, rng=np.random.default_rng(9), replicates=1001)) == 1001


def test_percentiles_are_numpys():
    values = np.arange(101, dtype=float)
    assert percentile_interval(values) == pytest.approx((2.5, 97.5))
