"""One more error never gives a judge a better bound, and a judge without errors has the best bound of all.

Clusters of one size, as a design has them, are tried exhaustively: every table of errors, up to the order of clusters,
and every way of adding one error to it. With clusters of unequal sizes a bound may fall by a little.
"""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from umpirical.measures.estimates.rates import Counted, clustered_rate
from umpirical.reports.checks import one_sided
from umpirical.reports.record import MeasureRecord
from umpirical.stats.differences import paired_difference
from umpirical.stats.intervals import cluster_mean, cluster_wilson

ROUNDING = 1e-9


def interval(y, n):
    return cluster_wilson(y, n).high


def mean(y, n):
    return cluster_mean(y, n).high


def excess(y, n):
    """Half as many pairs without length conflict, in some of the same clusters, with one error."""
    others = [k % 2 for k in range(len(n))]
    return paired_difference(y, n, [float(k == 1) for k in range(len(n))], others, excess=True).high


def decided(alpha, side="high"):
    def bound(y, n):
        score = y if side == "high" else np.asarray(n) - y
        counts = [Counted(str(k), float(score[k]), float(n[k])) for k in range(len(n))]
        result = clustered_rate(counts, unit="pair", empty="", excluded={})
        measure = MeasureRecord(
            name="x", title="", about="", worse="higher", variant="baseline", stratum="", result=result
        )
        found = one_sided(measure, result, side, alpha=alpha, count_missing=True)
        return found if side == "high" else 1 - found

    return bound


BOUNDS = {
    "interval": interval,
    "mean": mean,
    "excess": excess,
    "first look": decided(0.05),
    "second look": decided(0.025),
    "shared by twelve": decided(0.05 / 12),
    "at least": decided(0.05, "low"),
}

DESIGNS = [(5, 2, 1.0), (4, 2, 0.5), (7, 1, 0.5), (4, 4, 1.0)]
"""Clusters, units in each, and what one error of a unit counts: half, if a pair is right in one order."""


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize(("clusters", "units", "step"), DESIGNS)
def test_one_more_error_never_gives_a_better_bound(name, clusters, units, step):
    bound, n = BOUNDS[name], np.full(clusters, units)
    steps = np.arange(0, units + step / 2, step)
    tables = [t for t in combinations_with_replacement(steps[::-1], clusters) if sum(t) <= clusters * units / 2]
    found = {table: bound(np.array(table), n) for table in tables}
    for table, value in found.items():
        assert value >= found[(0.0,) * clusters] - ROUNDING, f"{table} is better off than no error"
        for place in range(clusters):
            more = tuple(sorted((e + step * (k == place) for k, e in enumerate(table)), reverse=True))
            assert more not in found or found[more] >= value - ROUNDING, f"{more} is better off than {table}"


LARGE = [
    ([4.0], 48, 4),
    ([2.0], 48, 2),
    ([8.0, 8.0, 1.0], 48, 8),
    ([26.0], 48, 26),
    ([1.5, 1.0, 0.5], 24, 2),
    ([], 48, 2),
]


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize(("errors", "clusters", "units"), LARGE)
def test_errors_elsewhere_do_not_hide_those_of_one_family(name, errors, clusters, units):
    """Scattered errors make the others look less clustered. They come one by one, half of a pair each."""
    table, n = np.zeros(clusters), np.full(clusters, units)
    table[: len(errors)] = errors
    bounds = [BOUNDS[name](table, n)]
    for place in range(len(errors), len(errors) + 12):
        table[place] += 0.5
        bounds.append(BOUNDS[name](table, n))
    assert (np.diff(bounds) >= -ROUNDING).all()


tables = st.lists(
    st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=4, max_size=12
).filter(lambda table: any(y < n for y, n in table))


@given(tables, st.data())
def test_with_clusters_of_unequal_sizes_a_bound_falls_by_little_if_at_all(table, data):
    y, n = (np.array(column, dtype=float) for column in zip(*table, strict=True))
    more = y.copy()
    more[data.draw(st.sampled_from(np.flatnonzero(y < n).tolist()))] += 1
    if more.sum() <= n.sum() / 2:
        assert cluster_wilson(more, n).high >= cluster_wilson(y, n).high - 0.05


def test_errors_on_the_other_side_of_an_excess_never_help_a_judge():
    """A judge without any error is bounded by its conflict pairs alone, however few pairs the ladder has."""
    n, few = np.full(24, 2), np.array([1.0] * 8 + [0.0] * 16)
    none = paired_difference(np.zeros(24), n, np.zeros(24), few, excess=True)
    assert none.high == pytest.approx(cluster_wilson(np.zeros(24), n).high)
    for errors in range(1, 9):
        others = np.array([1.0] * errors + [0.0] * (24 - errors))
        assert paired_difference(np.zeros(24), n, others, few, excess=True).high >= none.high - ROUNDING
