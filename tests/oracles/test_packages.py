"""Estimators against packages that compute the same by code of their own."""

import numpy as np
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from tests.oracles.environment import oracle
from tests.stats.test_repeats import SHROUT_FLEISS
from umpirical.stats.agreement import Ratings, alpha_of, krippendorff_alpha
from umpirical.stats.bradley_terry import log_weights
from umpirical.stats.corrections import powered_mean
from umpirical.stats.juries import NO_VOTE, VoteScale, dawid_skene
from umpirical.stats.repeats import icc_of, repeat_sums

pytestmark = pytest.mark.heavy

METRICS = ("nominal", "ordinal", "interval")
"""Of Krippendorff's alpha."""

VALUES = 4

BIASES = ((0.9, 0.8, 0.7), (0.6, 0.9, 0.8), (0.75, 0.75, 0.9), (0.8, 0.6, 0.6), (0.7, 0.85, 0.7))
"""How often each judge of a jury is right about each class."""


def two_raters():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        gold = rng.integers(1, VALUES + 1, 40)
        yield np.array([gold, np.where(rng.random(40) < 0.7, gold, rng.integers(1, VALUES + 1, 40))], float)


def many_raters():
    """Tables of five raters who left out a third of the items."""
    for seed in range(12):
        rng = np.random.default_rng(100 + seed)
        gold = rng.integers(1, VALUES + 1, 30)
        table = np.where(rng.random((5, 30)) < 0.6, gold, rng.integers(1, VALUES + 1, (5, 30))).astype(float)
        table[rng.random((5, 30)) < 0.33] = np.nan
        yield table


def contests():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        strength = rng.normal(size=5)
        chance = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
        wins = rng.binomial(60, chance).astype(float) + 1
        np.fill_diagonal(wins, 0)
        yield wins


def labelled_samples():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        truth = (rng.random(1200) < 0.4 + 0.02 * seed).astype(float)
        judged = np.clip(np.where(rng.random(1200) < 0.85, truth, 1 - truth) * 0.8 + 0.1, 0, 1)
        yield truth[:200], judged[:200], judged[200:]


def juries():
    """Votes of five judges on three classes; one in ten is missing, but none of the first judge."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 3, 1000)
        votes = []
        for rates in BIASES:
            wrong = (truth + rng.integers(1, 3, len(truth))) % 3
            votes.append(np.where(rng.random(len(truth)) < np.array(rates)[truth], truth, wrong))
        table = np.column_stack(votes)
        table[:, 1:][rng.random((len(truth), len(BIASES) - 1)) < 0.1] = NO_VOTE
        yield table, truth


def coincidences(table):
    met = np.zeros((VALUES, VALUES))
    for column in table.T:
        given = column[~np.isnan(column)].astype(int) - 1
        for i, one in enumerate(given):
            for j, other in enumerate(given):
                if i != j:
                    met[one, other] += 1 / (len(given) - 1)
    return met


def test_krippendorffs_alpha_is_that_of_krippendorff():
    twos, many = list(two_raters()), list(many_raters())
    told = oracle("krippendorff_alphas", [table.tolist() for table in (*twos, *many)], METRICS)
    ours = [[krippendorff_alpha(Ratings.of(*table), metric=metric).value for metric in METRICS] for table in twos]
    values = np.arange(1, VALUES + 1)
    ours += [[float(alpha_of(coincidences(t), metric=metric, values=values)) for metric in METRICS] for t in many]
    assert len(ours) == len(told) == 24
    assert np.abs(np.array(ours) - told).max() < 1e-12


def test_log_weights_without_ties_are_those_of_choix():
    tables = list(contests())
    ours = [log_weights(wins, np.zeros_like(wins), prior=1e-9) for wins in tables]
    theirs = np.array(oracle("bradley_terry", [wins.tolist() for wins in tables]))
    theirs -= theirs.mean(axis=1, keepdims=True)
    assert np.abs(np.array(ours) - theirs).max() < 1e-6


@pytest.mark.slow
def test_a_powered_mean_is_that_of_ppi_python():
    samples = list(labelled_samples())
    told = oracle("prediction_powered", [[each.tolist() for each in sample] for sample in samples])
    for sample, (value, low, high) in zip(samples, told, strict=True):
        ours = powered_mean(*sample)
        assert ours.value == pytest.approx(value, abs=1e-12)
        # Theirs is symmetric and normal, ours is Wilson's with Student's t.
        assert ours.high - ours.low == pytest.approx(high - low, rel=0.02)
        assert (ours.low, ours.high) == pytest.approx((low, high), abs=0.01)


@pytest.mark.slow
def test_dawid_skene_is_that_of_crowd_kit():
    """Ours has one imagined vote in every cell, so rates differ a little; the labels hardly ever do."""
    answers = oracle("dawid_skene", [table.tolist() for table, _ in juries()])
    for (table, truth), told in zip(juries(), answers, strict=True):
        rule = dawid_skene(table, VoteScale(3))
        ours, theirs = rule.verdicts(table), np.array(told["labels"])
        decided = ours != NO_VOTE
        assert decided.sum() > 950
        assert (ours == theirs)[decided].mean() > 0.995
        assert (ours == truth)[decided].mean() > (table[:, 0] == truth).mean()
        rates = np.exp(rule.support)
        off = [
            abs(rates[int(worker), int(given), int(true)] - p)
            for worker, given, true, p in told["errors"]
            if given >= 0
        ]
        assert len(off) == 5 * 3 * 3
        assert max(off) < 0.01


def test_an_intraclass_correlation_follows_from_the_analysis_of_variance_of_statsmodels():
    """With unequal repeats, their effective number is that of the textbook."""
    import pandas as pd

    rng = np.random.default_rng(1)
    unequal = [
        rng.normal(mean, 1, size) for mean, size in zip(rng.normal(0, 1.5, 30), rng.integers(2, 6, 30), strict=True)
    ]
    for items in (list(SHROUT_FLEISS), unequal):
        rows = [(f"item {number}", answer) for number, answers in enumerate(items) for answer in answers]
        table = anova_lm(ols("answer ~ C(item)", pd.DataFrame(rows, columns=["item", "answer"])).fit())
        between, within = table["mean_sq"]
        sizes = np.array([len(answers) for answers in items], float)
        repeats = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (len(items) - 1)
        totals = [float(np.sum(answers)) for answers in items]
        squares = [float(np.square(answers).sum()) for answers in items]
        ours = float(icc_of(repeat_sums(sizes, totals, squares, np.ones(len(items))).sum(axis=0)))
        assert ours == pytest.approx((between - within) / (between + (repeats - 1) * within), abs=1e-12)
