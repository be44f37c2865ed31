"""PPI++: by hand, against ppi_py and statsmodels, and how often its intervals hold the truth."""

from math import sqrt

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student_t

from umpirical.stats.corrections import UNSEEN, powered_mean, selection_p
from umpirical.stats.intervals import wilson


def judged(seed, labels, others, prevalence, sensitivity, specificity):
    """Draws labels and verdicts, in the order in which the reference values below were drawn."""
    random, size = np.random.default_rng(seed), labels + others
    truth = (random.random(size) < prevalence).astype(float)
    said = np.where(truth == 1, random.random(size) < sensitivity, random.random(size) > specificity).astype(float)
    return truth[:labels], said[:labels], said[labels:]


# From ppi_py 0.2.3, ppi_mean_pointestimate and ppi_mean_ci(alpha=0.05). It brings 31 packages, numba among them, so its
# values are kept here and it is no dependency.
REFERENCE = {
    (1, 200, 2000, 0.3, 0.9, 0.8): (0.2804298676113711, 0.23109242219193454, 0.3297673130308077),
    (2, 60, 500, 0.6, 0.7, 0.7): (0.5869884943109343, 0.4702004740654644, 0.7037765145564041),
    (3, 300, 300, 0.1, 0.95, 0.9): (0.07746677670175439, 0.0508695581265481, 0.10406399527696068),
}
Z = 1.959963984540054


def held_to_reference(mean, labels, reference):
    value, low, high = reference
    # Its variances divide by n; and nothing is added for disagreements that were not seen.
    error = (high - low) / (2 * Z)
    assert mean.value == pytest.approx(value, rel=1e-12)
    assert mean.error**2 == pytest.approx(
        (error**2 + UNSEEN * (mean.tuning / labels) ** 2) * labels / (labels - 1), rel=1e-9
    )


@pytest.mark.parametrize("drawn", REFERENCE, ids=str)
def test_value_and_error_are_those_of_the_reference(drawn):
    held_to_reference(powered_mean(*judged(*drawn)), drawn[1], REFERENCE[drawn])


def test_ties_are_those_of_the_reference():
    random = np.random.default_rng(4)
    truth = random.choice([0, 0.5, 1], size=900, p=[0.3, 0.2, 0.5])
    said = np.where(random.random(900) < 0.7, truth, random.choice([0, 0.5, 1], size=900))
    mean = powered_mean(truth[:300], said[:300], said[300:])
    held_to_reference(mean, 300, (0.641893683205659, 0.603692555501143, 0.680094810910175))


def test_a_judge_that_says_the_opposite_is_excluded_of_account():
    truth = np.random.default_rng(5).normal(size=400).clip(-2, 2) / 4 + 0.5
    mean = powered_mean(truth[:100], 1 - truth[:100], 1 - truth[100:])
    assert mean.tuning == 0
    held_to_reference(mean, 100, (0.44291885201547143, 0.40025721728494196, 0.4855804867460009))


def test_by_hand():
    # Labels 1 1 0 0, verdicts 1 1 1 0, others 1 1 0 0 (mean 1/2).
    # Cov(labels, verdicts) = (.5*.25 + .5*.25 - .5*.25 + .5*.75)/4 = 1/8. All eight verdicts: 5 of 8,
    # Var = (5*9/64 + 3*25/64)/7 = 15/56. tuning = (1/8) / (2 * 15/56) = 7/30.
    mean = powered_mean([1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 0, 0])
    tuning = 7 / 30
    assert mean.tuning == pytest.approx(tuning)
    assert mean.value == pytest.approx(0.5 + tuning * (0.5 - 0.75))
    rest = np.array([1 - tuning, 1 - tuning, -tuning, 0])
    squares = ((rest - rest.mean()) ** 2).sum() / 16 + tuning**2 * 1.0 / 16 + 0.5 * tuning**2 / 16
    assert mean.error == pytest.approx(sqrt(4 / 3 * squares))
    units = mean.value * (1 - mean.value) / mean.error**2
    expected = wilson(mean.value * units, units, critical=student_t.ppf(0.975, 3))
    assert (mean.low, mean.high) == pytest.approx(tuple(expected))


def test_clusters_have_the_variance_of_statsmodels():
    random = np.random.default_rng(7)
    clusters = random.integers(0, 25, size=300)
    truth = np.clip(random.normal(0.5, 0.1, 25)[clusters] + random.normal(0, 0.2, 300), 0, 1)
    said = np.clip(truth + random.normal(0, 0.1, 300), 0, 1)
    mean = powered_mean(truth[:120], said[:120], said[120:], clusters=clusters[:120], other_clusters=clusters[120:])
    # theta is the sum of two means, each a coefficient of its own; the clusters reach over both samples.
    outcome = np.concatenate([truth[:120] - mean.tuning * said[:120], mean.tuning * said[120:]])
    design = np.repeat([[1, 0], [0, 1]], [120, 180], axis=0)
    fit = sm.OLS(outcome, design).fit(cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False})
    reference = fit.cov_params().sum() + UNSEEN * (mean.tuning / 120) ** 2
    labelled = len(np.unique(clusters[:120]))
    assert mean.clusters == labelled
    assert mean.error**2 == pytest.approx(reference * labelled / (labelled - 1))


def test_rows_of_their_own_are_clusters_of_one():
    labels, said, others = judged(1, 50, 200, 0.4, 0.8, 0.8)
    plain = powered_mean(labels, said, others)
    named = powered_mean(labels, said, others, clusters=np.arange(50), other_clusters=np.arange(50, 250))
    assert plain == named


def test_repeating_every_labelled_row_in_its_cluster_narrows_nothing():
    labels, said, others = judged(1, 60, 500, 0.4, 0.8, 0.8)
    clusters, marks = np.arange(60), np.arange(60, 560)
    once = powered_mean(labels, said, others, clusters=clusters, other_clusters=marks)
    thrice = powered_mean(
        np.repeat(labels, 3), np.repeat(said, 3), others, clusters=np.repeat(clusters, 3), other_clusters=marks
    )
    assert thrice.high - thrice.low > 0.93 * (once.high - once.low)
    naive = powered_mean(np.repeat(labels, 3), np.repeat(said, 3), others)
    assert naive.high - naive.low < 0.7 * (once.high - once.low)


def test_a_judge_without_errors_in_the_labels_does_not_make_all_rows_labels():
    labels = np.tile([0.0, 1.0], 50)
    mean = powered_mean(labels, labels, np.tile([0.0, 1.0], 50_000))
    # One error more or less in a hundred labels would move it by .01.
    assert mean.high - mean.low > 0.02


@pytest.mark.parametrize(
    ("labels", "said", "others", "words"),
    [
        ([1.0, 0.0], [1.0], [1.0], "each label needs"),
        ([1.0, 2.0], [1.0, 1.0], [1.0], "outside the range"),
        ([1.0, 0.0], [1.0, float("nan")], [1.0], "outside the range"),
        ([1.0], [1.0], [1.0, 0.0], "at least two clusters"),
        ([1.0, 1.0], [1.0, 1.0], [1.0, 1.0], "vary"),
    ],
)
def test_what_cannot_be_computed_raises(labels, said, others, words):
    with pytest.raises(ValueError, match=words):
        powered_mean(labels, said, others)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=40), st.integers(2, 60))
def test_whatever_is_said_the_interval_lies_in_the_scale_and_the_mirror_is_the_mirror(pairs, others):
    labels, said = np.array(pairs).T
    rest = np.linspace(0, 1, others)
    if np.ptp(labels) < 1e-3:
        return
    mean = powered_mean(labels, said, rest)
    assert 0 <= mean.low <= mean.high <= 1
    assert 0 <= mean.tuning <= 1
    mirror = powered_mean(1 - labels, 1 - said, 1 - rest)
    assert mirror.value == pytest.approx(1 - mean.value)
    assert (mirror.low, mirror.high) == pytest.approx((1 - mean.high, 1 - mean.low), abs=1e-9)


# Which rows were labelled.


def test_labels_by_verdict_are_seen():
    labels, said, others = judged(1, 1000, 2000, 0.5, 0.9, 0.8)
    chosen = said == 1
    assert selection_p(said[chosen], others) < 1e-6
    assert selection_p(said, others) > 0.001
    assert selection_p(np.ones(30), np.zeros(30)) == 0
    assert selection_p(np.ones(30), np.ones(30)) == 1
    assert len(labels) == 1000


def test_a_random_sample_is_doubted_as_often_as_the_level_says():
    doubted = [selection_p(*judged(seed, 200, 1000, 0.4, 0.8, 0.7)[1:]) < 0.05 for seed in range(1000)]
    assert 0.03 < np.mean(doubted) < 0.07


# Coverage: labels, other rows, prevalence, sensitivity, specificity.

CELLS = [
    (200, 2000, 0.1, 0.9, 0.8),
    (200, 2000, 0.5, 0.9, 0.8),
    (300, 300, 0.3, 0.7, 0.7),
    (200, 2000, 0.02, 0.9, 0.95),
    (200, 2000, 0.02, 0.95, 0.99),
    (200, 10_000, 0.5, 0.98, 1.0),
    (200, 5000, 0.95, 0.9, 0.8),
    (500, 5000, 0.7, 0.6, 0.6),
    (1000, 1000, 0.5, 0.5, 0.5),
]
RUNS = [pytest.param(200, id="200"), pytest.param(2000, id="2000", marks=pytest.mark.slow)]


def covers(coverage, runs):
    """Within the rule for intervals, and what chance adds to it in few runs."""
    spare = 0.0 if runs >= 2000 else 0.03
    assert 0.93 - spare <= coverage <= 0.975 + spare


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_intervals_hold_the_truth(cell, runs):
    drawn = (judged(1000 + run, *cell) for run in range(runs))
    # Labels that are all alike have no interval, and the commands refuse them.
    found = [powered_mean(*each) for each in drawn if np.ptp(each[0])]
    assert len(found) > 0.95 * runs
    covers(np.mean([mean.low <= cell[2] <= mean.high for mean in found]), runs)
    bias, spread = np.mean([mean.value for mean in found]) - cell[2], np.std([mean.value for mean in found])
    # The tuning comes from the same labels. With four positives among them that shows, and there is a warning.
    few = cell[0] * min(cell[2], 1 - cell[2]) < 10
    assert abs(bias) < 4 * spread / sqrt(runs) + (0.5 if few else 0.1) * spread


def clustered(seed, groups, size, labelled, deviation):
    """Draws rows in groups that share how hard they are, for truth and judge; whole groups are labelled."""
    random = np.random.default_rng(seed)
    ids = np.repeat(np.arange(groups), size)
    share = np.clip(0.4 + deviation * random.standard_normal(groups), 0.02, 0.98)[ids]
    truth = (random.random(len(ids)) < share).astype(float)
    right = np.clip(0.85 + deviation / 2 * random.standard_normal(groups), 0.5, 1)[ids]
    said = np.where(random.random(len(ids)) < right, truth, 1 - truth)
    chosen = ids < labelled
    return truth[chosen], said[chosen], said[~chosen], ids[chosen], ids[~chosen]


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize(
    ("groups", "size", "labelled", "deviation"), [(200, 8, 40, 0.2), (100, 10, 30, 0.1), (60, 20, 30, 0.2)], ids=str
)
def test_intervals_over_clusters_hold_the_truth(groups, size, labelled, deviation, runs):
    z = np.random.default_rng(0).standard_normal(2_000_000)
    truth = np.clip(0.4 + deviation * z, 0.02, 0.98).mean()
    held, naive = [], []
    for run in range(runs):
        labels, said, others, ids, marks = clustered(run, groups, size, labelled, deviation)
        mean = powered_mean(labels, said, others, clusters=ids, other_clusters=marks)
        held.append(mean.low <= truth <= mean.high)
        alone = powered_mean(labels, said, others)
        naive.append(alone.low <= truth <= alone.high)
    covers(np.mean(held), runs)
    assert np.mean(naive) < np.mean(held)
