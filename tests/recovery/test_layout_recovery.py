"""Slot, label, list and tie-place effects of latent judges, on the cells of the sizes that ship: bias and coverage."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import ndtr

from tests.stimuli.built import built
from umpirical.domain.measures import Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import LayoutTally, Tallies
from umpirical.measures.catalogue import MEASURES
from umpirical.measures.layout import NO_TIES
from umpirical.protocols.datasheet.spec import layouts_of

NAMES = ("slot-effect", "label-effect", "list-effect", "tie-place-effect")


@dataclass(frozen=True)
class Pulled:
    """A judge with pulls on the latent scale, tastes that belong to a pair, and tasks that differ."""

    slot: float = 0.0
    label: float = 0.0
    listed: float = 0.0
    criteria: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """By the place of the tie."""
    taste: float = 0.5
    spread: float = 0.2
    """Of the position's pull over tasks."""


JUDGES = {
    "rarely ties": Pulled(0.5, 0.3, 0.0, (0.2, 0.2, 0.2), spread=0.3),
    "ties half": Pulled(0.4, 0.3, 0.2, (0.7, 1.0, 1.2)),
    "clean": Pulled(0.35, criteria=(1.13, 1.13, 1.13), taste=0.15, spread=0.1),
    "coin": Pulled(criteria=(0.43, 0.43, 0.43), taste=0.0, spread=0.0),
}


def design(size):
    """Rows of (task family, label sign, list sign, tie place), one for each equal pair of the set that ships."""
    stimuli = built(size)
    layouts, tasks = layouts_of(stimuli), dict[str, int]()
    found = [
        (tasks.setdefault(one.cluster, len(tasks)), layouts[one.id]) for one in stimuli if one.family == Family.EQUAL
    ]
    signs = [(t, 1 - 2 * one.labels_swapped, 1 - 2 * one.options_swapped, one.tie_place) for t, one in found]
    return np.array(signs)


def draw(judge, rows, rng):
    """(d, share of ties) of each pair: both orders, the taste for u against v turned round."""
    task, label, listed, place = rows.T
    criterion = np.array(judge.criteria)[place]
    pull = judge.slot + judge.spread * rng.standard_normal(task.max() + 1)[task]
    pull = pull + judge.label * label + judge.listed * listed
    taste = judge.taste * rng.standard_normal(len(rows))
    seen = np.stack([pull + taste, pull - taste]) + rng.standard_normal((2, len(rows)))
    return ((seen > criterion) * 1.0 - (seen < -criterion)).mean(axis=0), (np.abs(seen) <= criterion).mean(axis=0)


def tallies(judge, rows, rng):
    d, ties = draw(judge, rows, rng)
    return Tallies(
        layouts=tuple(
            LayoutTally(f"t{t}", "baseline", "equal", int(a), int(q), int(p), 1, float(one), float(tie))
            for (t, a, q, p), one, tie in zip(rows, d, ties, strict=True)
        )
    )


def truth(judge):
    """What the measures come to over endless pairs: the means of the twelve kinds of layout, by the normal law."""
    spread = np.sqrt(1 + judge.taste**2 + judge.spread**2)
    d, tie = {}, {}
    for a in (1, -1):
        for q in (1, -1):
            for place, criterion in enumerate(judge.criteria):
                pull = judge.slot + judge.label * a + judge.listed * q
                one, two = ndtr((pull - criterion) / spread), ndtr((-pull - criterion) / spread)
                d[a, q, place], tie[a, q, place] = one - two, 1 - one - two
    mean = np.mean(list(d.values()))
    label = np.mean([a * value for (a, _, _), value in d.items()])
    listed = np.mean([q * value for (_, q, _), value in d.items()])
    first, last = (np.mean([v for key, v in tie.items() if key[2] == place]) for place in (0, 2))
    return dict(zip(NAMES, (mean, label, listed, first - last), strict=True))


def recovered(judge, size, *, runs):
    rows, rng, true = design(size), np.random.default_rng(7), truth(judge)
    values, covered = {name: [] for name in NAMES}, dict.fromkeys(NAMES, 0)
    for _ in range(runs):
        run = tallies(judge, rows, rng)
        for name in NAMES:
            [measure] = MEASURES.get(name).compute(run, "baseline")
            # A judge that rarely ties has runs without a tie, whose place in the list then shows nothing.
            if isinstance(measure.result, Undefined):
                assert measure.result.reason == NO_TIES
                continue
            values[name].append(measure.result.value)
            covered[name] += measure.result.interval.low <= true[name] <= measure.result.interval.high
    found = {name: np.array(seen) for name, seen in values.items()}
    assert min(map(len, found.values())) >= 0.9 * runs
    return true, found, {name: count / len(found[name]) for name, count in covered.items()}


@pytest.mark.parametrize("name", JUDGES)
def test_effects_are_recovered(name):
    """A small version: bias within four standard errors of the mean, coverage within what 60 runs can show."""
    true, values, covered = recovered(JUDGES[name], "screen", runs=60)
    for effect in NAMES:
        error = values[effect].std(ddof=1) / np.sqrt(60)
        assert abs(values[effect].mean() - true[effect]) <= 4 * error, effect
        assert covered[effect] >= 0.86, (effect, covered[effect])


@pytest.mark.slow
@pytest.mark.parametrize("size", ["screen", "standard", "full"])
@pytest.mark.parametrize("name", JUDGES)
def test_intervals_cover_as_they_say(name, size):
    true, values, covered = recovered(JUDGES[name], size, runs=1000)
    for effect in NAMES:
        error = values[effect].std(ddof=1) / np.sqrt(1000)
        # The cells of a size are balanced nearly, not exactly, which moves a mean by less than this.
        assert abs(values[effect].mean() - true[effect]) <= 4 * error + 0.005, effect
        # An interval knows nothing of the factors that the layouts balance, and takes what they do for noise.
        assert 0.93 <= covered[effect] <= 0.99, (effect, covered[effect])
