"""Judges that are the same are told apart in at most one comparison in twenty, whatever the number of rows and judges.

Each judge has effects of its own on every family of tasks, as real judges have: a test that counts pairs as independent
takes them for differences between the judges.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest

from tests.recovery.outcome_sampling import DESIGN, sample_run
from umpirical.domain.measures import Interval
from umpirical.domain.stimuli import Family
from umpirical.measures.contrasts import contrasts_between
from umpirical.protocols.datasheet.spec import preset
from umpirical.reports.comparison import standings, words_on
from umpirical.reports.significance import difference_p
from umpirical.stats.differences import sign_flip_p
from umpirical.stats.simulation.judge import LatentJudge

JUDGES = {
    "careful": LatentJudge(1.5, 0.9, 0.2, 0.4, 0.01),
    "hasty": LatentJudge(0.6, 0.3, 0.5, 0.6, 0.02),
}

LIMITED = {check.key for check in preset().compare}

ROWS = tuple(kind for kind in DESIGN if kind.family in (Family.EQUAL, Family.GRADED))

SPREAD = 0.6
"""Standard deviation of the criterion between families, drawn anew for each judge."""

FAMILIES = 24


def sizes(small):
    return [pytest.param(small, id=str(small)), pytest.param(2000, id="2000", marks=pytest.mark.slow)]


def sampled(judge, rng, *, spread=SPREAD):
    return sample_run(judge, rng, tasks=FAMILIES, design=ROWS, spread=spread)


def compared(runs):
    """All contrasts of all pairs of judges, and what each is worth among them."""
    contrasts = [
        contrast
        for one, two in combinations(runs, 2)
        for contrast in contrasts_between(one, two, "baseline", "baseline")
    ]
    found = [contrast.measure.result for contrast in contrasts]
    primary = [(contrast.measure.name, contrast.measure.stratum) in LIMITED for contrast in contrasts]
    return contrasts, found, standings(found, primary, never=[contrast.never for contrast in contrasts])


def most(runs, level=0.05):
    """Three binomial standard errors above the level."""
    return level + 3 * np.sqrt(level * (1 - level) / runs)


@pytest.mark.parametrize("runs", sizes(150))
def test_one_difference_is_tested_at_its_level_under_family_effects(runs):
    """McNemar's test on the same pairs is not."""
    rng = np.random.default_rng([runs, 11])
    ours, flipped, naive = [], [], []
    for _ in range(runs):
        one, two = (sampled(JUDGES["careful"], rng) for _ in range(2))
        row = difference([one, two])
        ours.append(difference_p(row.measure.result) < 0.05)
        flipped.append(sign_flip_p(*row.paired, rng=rng) < 0.05)
        naive.append(mcnemar(row.paired, rng) < 0.05)
    assert np.mean(ours) <= max(0.06, most(runs))
    assert np.mean(flipped) <= max(0.06, most(runs))
    assert np.mean(naive) > 0.10


def mcnemar(paired, rng):
    """The exact test on discordant pairs, as if all pairs were independent of each other."""
    up = down = 0
    for y, n, z, _ in zip(*paired, strict=True):
        one, two = (rng.permutation(np.arange(int(n)) < round(count)) for count in (y, z))
        up, down = up + int(np.sum(one & ~two)), down + int(np.sum(two & ~one))
    return binomtest(up, up + down).pvalue if up + down else 1.0


@pytest.mark.parametrize("judges", [2, 5])
@pytest.mark.parametrize("runs", sizes(25))
@pytest.mark.parametrize("name", JUDGES)
def test_judges_that_are_alike_differ_in_one_comparison_in_twenty(name, runs, judges):
    rng = np.random.default_rng([runs, judges, list(JUDGES).index(name)])
    alone, primary, hints = [], [], []
    for _ in range(runs):
        _, found, standing = compared([sampled(JUDGES[name], rng) for _ in range(judges)])
        alone.append(any(one.kind == "estimate" and one.interval.low * one.interval.high > 0 for one in found))
        primary.append(any(one.shown for one in standing if one.family == "primary"))
        hints.append(any(one.shown for one in standing if one.family == "exploratory"))
    assert np.mean(primary) <= most(runs)
    assert np.mean(hints) <= most(runs)
    # Each row by its own interval: what the correction is for.
    assert np.mean(alone) > 0.15


@pytest.mark.parametrize("runs", sizes(100))
def test_judges_that_differ_by_the_margin_are_seldom_called_equivalent(runs):
    rng = np.random.default_rng([runs, 17])
    judges = [LatentJudge(1.5, criterion, 0.2, 0.4, 0.01) for criterion in (0.9, 1.1)]
    truth = difference([sample_run(judge, rng, tasks=3000, design=ROWS, spread=0.3) for judge in judges])
    called = []
    for _ in range(runs):
        narrow = difference([sampled(judge, rng, spread=0.3) for judge in judges]).narrow()
        called.append(within(narrow, abs(truth.measure.result.value)))
    assert np.mean(called) <= most(runs)


def difference(runs, name="no-preference"):
    return next(c for c in contrasts_between(*runs, "baseline", "baseline") if c.measure.name == name)


def within(narrow, margin):
    return -margin <= narrow.low and narrow.high <= margin


def test_a_judge_that_is_worse_is_told():
    rng = np.random.default_rng(7)
    shown = []
    for _ in range(10):
        _, _, standing = compared([sampled(judge, rng, spread=0.0) for judge in JUDGES.values()])
        shown.append(sum(one.shown for one in standing if one.family == "primary"))
    assert min(shown) >= 1


def test_judges_that_are_alike_are_called_equivalent_once_there_is_enough():
    rng = np.random.default_rng(9)
    sharp = LatentJudge(6.0, 3.0, 0.0, 0.05, 0.0)
    one, two = (sample_run(sharp, rng, tasks=120, design=ROWS) for _ in range(2))
    contrasts, found, standing = compared([one, two])
    words = [
        words_on(result, "higher", stands, narrow=_record(contrast.narrow()), margin=0.05, missing=contrast.missing)
        for contrast, result, stands in zip(contrasts, found, standing, strict=True)
        if contrast.measure.name == "raw-false-preference"
    ]
    assert words == ["equivalent"]


def _record(found):
    return Interval(low=found.low, high=found.high, level=found.level, method=found.method)
