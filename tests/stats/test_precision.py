"""Precision before measuring: the design table of the method, and what its formula must obey."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import t

from tests.cases import each
from umpirical.stats.intervals import cluster_wilson
from umpirical.stats.precision import clusters_needed, half_width

CLUSTERS = (10, 20, 40, 60, 100, 200)

DESIGN = {
    # (p, correlation): units per cluster for a half-width of .05, by number of clusters
    (0.10, 0.05): (222, 13, 5, 3, 2, 1),
    (0.25, 0.05): (None, 88, 12, 7, 4, 2),
    (0.50, 0.02): (None, 39, 13, 8, 5, 2),
    (0.50, 0.05): (None, None, 20, 10, 5, 3),
    (0.50, 0.10): (None, None, None, 19, 6, 3),
    (0.50, 0.20): (None, None, None, None, 15, 3),
}

CELLS = [
    (p, correlation, clusters, units)
    for (p, correlation), row in DESIGN.items()
    for clusters, units in zip(CLUSTERS, row, strict=True)
]


@each(("p", "correlation", "clusters", "units"), [cell for cell in CELLS if cell[3]])
def test_the_number_of_units_is_the_smallest_that_is_enough(p, correlation, clusters, units):
    assert half_width(p, clusters=clusters, per_cluster=units, correlation=correlation) <= 0.05
    if units > 1:
        assert half_width(p, clusters=clusters, per_cluster=units - 1, correlation=correlation) > 0.05


@pytest.mark.parametrize(("p", "correlation", "clusters", "units"), [cell for cell in CELLS if cell[3] is None])
def test_where_it_is_impossible_a_million_units_are_not_enough(p, correlation, clusters, units):
    assert units is None
    assert half_width(p, clusters=clusters, per_cluster=1e6, correlation=correlation) > 0.05


@pytest.mark.parametrize(
    ("p", "clusters", "per_cluster", "correlation", "expected"),
    [
        (0.5, 10, 6, 0.0, 0.146),
        (0.5, 10, 6, 0.2, 0.207),
        (0.1, 10, 6, 0.0, 0.088),
        (0.1, 10, 6, 0.2, 0.124),
        (0.1, 20, 3, 0.05, 0.085),
    ],
)
def test_the_half_widths_named_in_the_method_are_reproduced(p, clusters, per_cluster, correlation, expected):
    found = half_width(p, clusters=clusters, per_cluster=per_cluster, correlation=correlation)
    assert found == pytest.approx(expected, abs=0.0005)


def test_the_recommended_designs_hold_what_they_promise():
    assert half_width(0.5, clusters=100, per_cluster=6, correlation=0.10) <= 0.05
    assert half_width(0.5, clusters=200, per_cluster=3, correlation=0.20) <= 0.05
    assert half_width(0.1, clusters=40, per_cluster=5, correlation=0.05) <= 0.05


def test_a_value_by_hand():
    # Four clusters of two, uncorrelated: t(3) = 3.182446, sqrt(.25 / 8) = .1767767.
    assert half_width(0.5, clusters=4, per_cluster=2, correlation=0) == pytest.approx(3.182446 * 0.1767767, rel=1e-6)


@each("correlation", [0.0, 0.05, 0.3, 1.0])
@each("p", [0.02, 0.1, 0.5, 0.9])
def test_more_of_anything_never_widens_the_interval(p, correlation):
    by_clusters = [half_width(p, clusters=g, per_cluster=3, correlation=correlation) for g in range(2, 60)]
    by_units = [half_width(p, clusters=12, per_cluster=m, correlation=correlation) for m in range(1, 60)]
    assert by_clusters == sorted(by_clusters, reverse=True)
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(by_units))


def test_correlation_widens_and_symmetric_rates_are_equally_wide():
    widths = [half_width(0.3, clusters=12, per_cluster=5, correlation=rho) for rho in (0, 0.05, 0.2, 0.6, 1)]
    assert widths == sorted(widths)
    assert half_width(0.3, clusters=12, per_cluster=5, correlation=0.1) == pytest.approx(
        half_width(0.7, clusters=12, per_cluster=5, correlation=0.1)
    )


def test_units_that_are_all_alike_count_as_one_per_cluster():
    assert half_width(0.4, clusters=9, per_cluster=50, correlation=1.0) == pytest.approx(
        half_width(0.4, clusters=9, per_cluster=1, correlation=0.0)
    )


@each("per_cluster", [1, 3, 6.5])
@each(("p", "correlation"), [(0.1, 0.05), (0.5, 0.2), (0.02, 0.0)])
@each("width", [0.01, 0.05, 0.2, 0.9])
def test_the_number_of_clusters_is_the_smallest_that_is_enough(p, correlation, per_cluster, width):
    found = clusters_needed(p, width, per_cluster=per_cluster, correlation=correlation)
    assert half_width(p, clusters=found, per_cluster=per_cluster, correlation=correlation) <= width + 1e-12
    if found > 2:
        assert half_width(p, clusters=found - 1, per_cluster=per_cluster, correlation=correlation) > width


def test_another_level_changes_the_quantile_only():
    ratio = half_width(0.5, clusters=12, per_cluster=4, correlation=0.1, level=0.99) / half_width(
        0.5, clusters=12, per_cluster=4, correlation=0.1
    )
    assert ratio == pytest.approx(t.ppf(0.995, 11) / t.ppf(0.975, 11))


def test_a_certain_rate_has_no_width():
    assert half_width(1.0, clusters=5, per_cluster=3, correlation=0.3) == 0


def test_it_foretells_the_interval_that_is_then_measured():
    """Beta-binomial tasks with a known correlation: the mean half-width comes out as planned."""
    rng = np.random.default_rng(5)
    p, rho, clusters, units = 0.5, 0.1, 40, 8
    a = p * (1 - rho) / rho
    found = []
    for _ in range(400):
        counts = rng.binomial(units, rng.beta(a, a, size=clusters))
        rate = cluster_wilson(counts, np.full(clusters, units))
        found.append((rate.high - rate.low) / 2)
    planned = half_width(p, clusters=clusters, per_cluster=units, correlation=rho)
    assert np.mean(found) == pytest.approx(planned, rel=0.05)


@pytest.mark.parametrize(
    "wrong",
    [
        {"p": 1.2, "clusters": 5, "per_cluster": 2, "correlation": 0},
        {"p": 0.2, "clusters": 1, "per_cluster": 2, "correlation": 0},
        {"p": 0.2, "clusters": 5, "per_cluster": 0, "correlation": 0},
        {"p": 0.2, "clusters": 5, "per_cluster": 2, "correlation": -0.1},
    ],
)
def test_nonsense_is_refused(wrong):
    with pytest.raises(ValueError, match="expected"):
        half_width(**wrong)


@pytest.mark.parametrize("width", [0, -0.1])
def test_a_half_width_is_positive(width):
    with pytest.raises(ValueError, match="positive"):
        clusters_needed(0.5, width, per_cluster=2, correlation=0)
