"""Least squares on sums, and differences of ratios, over clusters: by hand, and against numpy on single units."""

import numpy as np
import pytest

from umpirical.stats.differences import contrast, crossed_effects
from umpirical.stats.intervals import jackknife


def test_by_hand():
    """Two clusters that agree: position .25, label .5, list -.25 give d = .5, -.5, 1, 0 in the four cells."""
    cells = [[1, 1, 1], [1, -1, 1], [1, 1, -1], [1, -1, -1]]
    found = crossed_effects([0] * 4 + [1] * 4, cells * 2, [1] * 8, [0.5, -0.5, 1.0, 0.0] * 2)
    assert found.value == pytest.approx([0.25, 0.5, -0.25])
    assert found.standard_error == pytest.approx([0, 0, 0])


def test_sums_of_units_are_fitted_like_the_units_themselves():
    rng = np.random.default_rng(5)
    clusters, labels = rng.integers(0, 9, 200), rng.choice([-1, 1], (200, 2))
    design = np.column_stack([np.ones(200), labels])
    y = rng.choice([-1, -0.5, 0, 0.5, 1], 200)
    keys = [(c, *row) for c, row in zip(clusters, labels, strict=True)]
    rows = sorted(set(keys))
    units = [keys.count(row) for row in rows]
    sums = [sum(v for key, v in zip(keys, y, strict=True) if key == row) for row in rows]
    found = crossed_effects([row[0] for row in rows], [[1, *row[1:]] for row in rows], units, sums)

    def fit(kept):
        chosen = kept[clusters]
        return np.linalg.lstsq(design[chosen], y[chosen], rcond=None)[0]

    expected = jackknife(fit, 9)
    assert found.value == pytest.approx(expected.value)
    assert found.standard_error == pytest.approx(expected.standard_error)


def test_factors_that_go_together_cannot_be_told_apart():
    found = crossed_effects([0, 0, 1, 1], [[1, 1, 1], [1, -1, -1]] * 2, [1] * 4, [1, 0, 1, 0])
    assert np.isnan(found.value).all()


def test_a_fit_that_hangs_on_one_cluster_has_no_error():
    found = crossed_effects([0, 0, 1], [[1, 1], [1, -1], [1, 1]], [1] * 3, [1, 0, 1])
    assert found.value == pytest.approx([0.5, 0.5])
    assert np.isinf(found.standard_error).all()


def test_a_contrast_by_hand():
    """5/8 - 2/8; without a cluster 4/4 - 1/4 and 1/4 - 1/4: SE² = 1/2 · 2 · (.75 - .375)²."""
    found = contrast([0, 1], ([1, 4], [4, 4]), ([1, 1], [4, 4]))
    assert float(found.value) == pytest.approx(0.375)
    assert float(found.standard_error) == pytest.approx(0.375)


def test_a_contrast_without_one_side_is_not_a_number():
    assert np.isnan(contrast([0, 1], ([1, 1], [1, 1]), ([0, 0], [0, 0])).value)
