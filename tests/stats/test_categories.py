"""Agreement of labels with gold: published examples, other people's software, and what must hold for any table."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student_t
from sklearn.metrics import matthews_corrcoef

from umpirical.stats import agreement
from umpirical.stats.agreement import Ratings, alpha_of, concordance, krippendorff_alpha, matthews, matthews_of, pearson
from umpirical.stats.intervals import jackknife

METRICS = ("nominal", "ordinal", "interval")

labels = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=30)

KRIPPENDORFF = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
"""Four observers, twelve units: the worked example of Krippendorff (2011)."""


def coincidences(observers, values):
    """As Krippendorff tells it: every ordered pair of a unit's values, over their number less one."""
    table = np.zeros((len(values), len(values)))
    for unit in zip(*observers, strict=True):
        rated = [value for value in unit if value is not None]
        for one, other in permutations(rated, 2):
            table[values.index(one), values.index(other)] += 1 / (len(rated) - 1)
    return table


def slow_alpha(gold, given_, metric):
    """From the definition, with distances by counting, for two observers."""
    values = sorted(set(gold) | set(given_))
    table = coincidences([gold, given_], values)
    held = table.sum(axis=0)

    def distance(one, other):
        if metric == "nominal":
            return float(one != other)
        if metric == "interval":
            return (values[one] - values[other]) ** 2
        low, high = sorted((one, other))
        return (held[low : high + 1].sum() - (held[one] + held[other]) / 2) ** 2

    pairs = [(c, k) for c in range(len(values)) for k in range(len(values))]
    seen = sum(table[c, k] * distance(c, k) for c, k in pairs)
    chance = sum(held[c] * held[k] * distance(c, k) for c, k in pairs)
    return 1 - (held.sum() - 1) * seen / chance


# Krippendorff's alpha.


@pytest.mark.parametrize(("metric", "published"), [("nominal", 0.7434), ("ordinal", 0.8154), ("interval", 0.8491)])
def test_the_published_example(metric, published):
    values = [1, 2, 3, 4, 5]
    found = alpha_of(coincidences(KRIPPENDORFF, values), metric=metric, values=values)
    assert round(float(found), 4) == published


@pytest.mark.parametrize("metric", METRICS)
@given(rows=labels.filter(lambda rows: len({value for row in rows for value in row}) > 1))
@settings(deadline=None)
def test_two_observers_by_the_definition(metric, rows):
    gold, given_ = zip(*rows, strict=True)
    found = krippendorff_alpha(Ratings.of(gold, given_), metric=metric)
    assert found.value == pytest.approx(slow_alpha(gold, given_, metric))


def test_with_two_labels_every_metric_is_the_same():
    rng = np.random.default_rng(1)
    gold = rng.integers(0, 2, 50)
    table = Ratings.of(gold, np.where(rng.random(50) < 0.8, gold, 1 - gold))
    one, two, three = (krippendorff_alpha(table, metric=metric) for metric in METRICS)
    assert one.value == pytest.approx(two.value)
    assert one.value == pytest.approx(three.value)
    assert one.low == pytest.approx(three.low)


def test_in_large_samples_the_interval_metric_is_the_concordance_of_exchangeable_raters():
    rng = np.random.default_rng(2)
    gold = rng.integers(0, 6, 20_000)
    given_ = np.clip(gold + rng.integers(-1, 2, 20_000), 0, 5)
    both = Ratings.of(gold, given_)
    assert krippendorff_alpha(both, metric="interval").value == pytest.approx(concordance(both).value, abs=1e-3)


def test_all_values_alike_is_no_number():
    for metric in METRICS:
        assert np.isnan(krippendorff_alpha(Ratings.of([2, 2, 2], [2, 2, 2]), metric=metric).value)


def test_chance_is_about_nothing():
    rng = np.random.default_rng(3)
    table = Ratings.of(rng.integers(0, 4, 4000), rng.integers(0, 4, 4000))
    for metric in METRICS:
        found = krippendorff_alpha(table, metric=metric)
        assert found.low < 0 < found.high
        assert abs(found.value) < 0.05


# Matthews.


@given(labels)
@settings(deadline=None)
def test_it_is_that_of_scikit_learn(rows):
    gold, given_ = zip(*rows, strict=True)
    found = matthews(Ratings.of(gold, given_))
    if len(set(gold)) > 1 and len(set(given_)) > 1:
        assert found.value == pytest.approx(matthews_corrcoef(gold, given_))
    else:
        # Scikit-learn says 0 where nothing can be said.
        assert np.isnan(found.value)


def test_of_two_labels_it_is_the_correlation():
    rng = np.random.default_rng(4)
    gold = rng.integers(0, 2, 60)
    table = Ratings.of(gold, np.where(rng.random(60) < 0.7, gold, 1 - gold))
    one, other = matthews(table), pearson(table)
    assert [one.value, one.low, one.high] == pytest.approx([other.value, other.low, other.high])


def test_by_hand():
    # Appendix G of the harness paper, first row: 15·14 - 1·2 over the root of 16·16·15·17.
    assert matthews_of(np.array([[15.0, 1.0], [2.0, 14.0]])) == pytest.approx(208 / np.sqrt(16 * 16 * 17 * 15))


# Errors.


@pytest.mark.parametrize("per_cluster", [1, 3])
@pytest.mark.parametrize("kernel", [matthews, *(lambda r, m=m: krippendorff_alpha(r, metric=m) for m in METRICS)])
def test_limits_are_those_of_leaving_out_clusters_one_by_one(kernel, per_cluster):
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 4, 60)
    given_ = np.clip(gold + rng.integers(-1, 2, 60), 0, 3)
    cluster = rng.permutation(60) // per_cluster
    found = kernel(Ratings.of(gold, given_, cluster=cluster))
    slow = jackknife(
        lambda kept: kernel(Ratings.of(gold[kept[cluster]], given_[kept[cluster]])).value, 60 // per_cluster
    )
    half = student_t.ppf(0.975, 60 // per_cluster - 1) * float(slow.standard_error) / (1 - found.value**2)
    assert np.arctanh(found.high) - np.arctanh(found.value) == pytest.approx(half)


def test_blocks_of_clusters_do_not_matter(monkeypatch):
    rng = np.random.default_rng(6)
    table = Ratings.of(rng.integers(0, 4, 50), rng.integers(0, 4, 50), cluster=rng.permutation(50) // 2)
    whole = [matthews(table), krippendorff_alpha(table, metric="ordinal")]
    monkeypatch.setattr(agreement, "BLOCK", 50)
    assert [matthews(table), krippendorff_alpha(table, metric="ordinal")] == whole


@given(labels, st.sampled_from(METRICS))
@settings(deadline=None)
def test_limits_are_possible_and_never_one(rows, metric):
    gold, given_ = zip(*rows, strict=True)
    for found in (matthews(Ratings.of(gold, given_)), krippendorff_alpha(Ratings.of(gold, given_), metric=metric)):
        if not np.isnan(found.value):
            assert -1 <= found.low <= found.value + 1e-9
            assert found.value - 1e-9 <= found.high <= 1
            assert found.high > found.low


@given(labels.filter(lambda rows: len({value for row in rows for value in row}) > 1))
@settings(deadline=None)
def test_thirds_of_an_item_are_an_item(rows):
    gold, given_ = (np.repeat(column, 3) for column in zip(*rows, strict=True))
    thirds = Ratings.of(gold, given_, np.full(len(gold), 1 / 3), np.arange(len(gold)) // 3)
    whole = Ratings.of(*zip(*rows, strict=True))
    for metric in METRICS:
        one, other = (krippendorff_alpha(table, metric=metric) for table in (whole, thirds))
        assert [other.value, other.low, other.high] == pytest.approx([one.value, one.low, one.high], abs=1e-9)


def test_ten_thousand_clusters_and_fifty_labels_fit_in_memory():
    rng = np.random.default_rng(7)
    gold = rng.integers(0, 50, 10_000)
    found = matthews(Ratings.of(gold, np.where(rng.random(10_000) < 0.6, gold, rng.integers(0, 50, 10_000))))
    assert found.value == pytest.approx(0.6, abs=0.02)
    assert 0 < found.high - found.low < 0.025
