"""What the measures of the stress tests are made of: rates of items and shares, parts in order, lengths of scales."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umpirical.domain.measures import Estimate, Undefined
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import ChangeTally
from umpirical.measures.estimates.items import (
    ONE_CLUSTER,
    by_part,
    item_rate,
    kept_in,
    part_order,
    shares_by_task,
    span,
    whole,
)
from umpirical.stats.intervals import cluster_wilson

clusters = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=15)


def test_a_rate_of_items_is_cluster_wilsons():
    found = item_rate([1, 0, 2.5], [1, 2, 0.5], empty="nothing", excluded={"unasked": 3})
    reference = cluster_wilson([1, 0, 2.5], [2, 2, 3])
    assert (found.value, found.numerator, found.denominator, found.clusters) == (0.5, 3.5, 7, 3)
    assert (found.interval.low, found.interval.high) == (reference.low, reference.high)
    assert found.excluded == {"unasked": 3}
    assert found.bounds == (0.35, 0.65)


@given(clusters)
@settings(deadline=None)
def test_thirds_of_items_make_the_same_rate(rows):
    hits, misses = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    if np.count_nonzero(hits + misses) < 2:
        return
    plain = item_rate(hits, misses, empty="nothing", excluded={})
    thirds = item_rate(
        sum(hits * (1 / 3) for _ in range(3)), sum(misses * (1 / 3) for _ in range(3)), empty="nothing", excluded={}
    )
    assert thirds.value == pytest.approx(plain.value)
    assert thirds.denominator == plain.denominator
    assert (thirds.design_effect is None) == (plain.design_effect is None)


def test_clusters_without_items_do_not_count():
    found = item_rate([1, 0, 0], [1, 0, 2], empty="nothing", excluded={})
    assert isinstance(found, Estimate)
    assert found.clusters == 2
    assert found.bounds is None


def test_nothing_and_one_cluster_are_told_apart():
    nothing = item_rate([0, 0], [0, 0], empty="nothing was asked", excluded={"unasked": 2})
    assert nothing == Undefined("nothing was asked", excluded={"unasked": 2})
    assert item_rate([1, 0], [1, 0], empty="nothing", excluded={}) == Undefined(ONE_CLUSTER)


def test_part_of_an_item_excluded_is_an_item_and_a_rounding_error_is_none():
    assert [whole(count) for count in (0.0, 1e-12, 0.3, 1.0, 1 + 1e-12, 2.5)] == [0, 0, 1, 1, 1, 3]
    found = item_rate([1, 1], [1, 1], empty="nothing", excluded={"failed": 0.5, "unasked": 1e-12})
    assert found.excluded == {"failed": 1}
    # The bounds use the share itself.
    assert found.bounds == pytest.approx((2 / 4.5, 2.5 / 4.5))


def test_hits_and_misses_by_cluster():
    hits, misses = shares_by_task([("b", 1.0, 2), ("a", 0.1 + 0.2 - 0.3, 1), ("b", 1.0, 1), ("c", 0.0, 0)])
    assert (hits, misses) == ([0.0, 2.0], [1.0, 1.0])
    assert shares_by_task([("a", 1 - 1e-16, 1)]) == ([1 - 1e-16], [0.0])
    assert shares_by_task([]) == ([], [])


def test_parts_come_test_by_test_with_all_items_first():
    rows = [
        ("typos", "age=8"),
        ("typos", ""),
        ("case", "z"),
        (Family.ORIGINAL, "b"),
        (Family.ORIGINAL, ""),
        ("case", ""),
    ]
    tallies = [ChangeTally("c", "baseline", test, group, "same-verdict", 1) for test, group in rows]
    found = by_part(tallies, lambda chosen: Undefined(f"{len(chosen)} here"))
    assert [(m.stratum, m.group) for m in found] == [
        (Family.ORIGINAL, ""),
        (Family.ORIGINAL, "b"),
        ("case", ""),
        ("case", "z"),
        ("typos", ""),
        ("typos", "age=8"),
    ]
    assert {m.result.reason for m in found} == {"1 here"}
    assert part_order(Family.ORIGINAL, "b") < part_order("a test that comes first by name", "")


def test_how_long_a_scale_is():
    assert span(GradeScale("binary", ("no", "yes"))) == 1
    assert span(GradeScale("ordinal", tuple("123456"))) == 5
    assert span(GradeScale("interval", low=-2.0, high=8.5)) == 10.5


def test_checks_are_kept_in_what_is_possible():
    assert kept_in(-3.0, 0.5, least=-1.0, most=1.0) == (-1.0, 0.5)
    assert kept_in(-0.5, 7.0, least=-1.0, most=1.0) == (-0.5, 1.0)
