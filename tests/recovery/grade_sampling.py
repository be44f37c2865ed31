"""Whole runs of a latent grader, drawn as arrays: the same rule as the simulated judges, thousands of runs a minute."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from umpirical.domain.tallies import CallTally, GradePairTally, GradeTally, Tallies, VacuumTally
from umpirical.judges.simulated.comparer import GradedPair
from umpirical.stats.simulation.grader import LatentGrader

TOP = 5
BLANKS = 3


def design(tasks: int) -> list[GradedPair]:
    """Per task 6 pairs of equal quality, and every pair of whole levels: 5, 4, 3, 2 and 1 of them."""
    pairs = [(level, 0) for level in range(TOP + 1)]
    pairs += [(base, delta) for delta in range(1, TOP + 1) for base in range(TOP + 1 - delta)]
    return [GradedPair(f"t{task}", float(base), float(delta)) for task in range(tasks) for base, delta in pairs]


def shifted(grader: LatentGrader, shift: float) -> LatentGrader:
    """The grader in a task that it grades more leniently."""
    return replace(grader, leniency=grader.leniency + shift, blank=grader.blank + shift)


def sample_grades(grader: LatentGrader, level, rng, *, grades: int, blank=False, shift=0.0):
    """Numbers of the grades given to answers, each in a wording of its own."""
    size = np.shape(level)
    if blank:
        place = np.full(size, grader.blank)
    else:
        place = 0.5 + grader.leniency + grader.gain * (np.asarray(level, float) - grader.middle)
        place = place + grader.surface * rng.standard_normal(size)
    place = place + shift + grader.noise * rng.standard_normal(size)
    nearest = np.clip(np.rint(place * (grades - 1)), 0, grades - 1).astype(int)
    lapsed = rng.random(size) < grader.lapse
    return np.where(lapsed, rng.integers(0, grades, size), nearest)


def sample_tallies(
    grader: LatentGrader, rng, *, tasks: int, grades: int = 5, spread: float = 0.0, unparsed: float = 0.0
) -> Tallies:
    """One run. `spread` is the standard deviation of the leniency between tasks, which correlates its answers."""
    base, delta = np.array([(pair.base, pair.delta) for pair in design(1)]).T
    shift = spread * rng.standard_normal((tasks, 1))
    levels = np.tile(np.stack([base, base + delta]), (tasks, 1, 1))
    given = sample_grades(grader, levels, rng, grades=grades, shift=shift[:, :, None])
    read = rng.random(given.shape) >= unparsed
    dark = sample_grades(grader, np.zeros((tasks, BLANKS)), rng, grades=grades, blank=True, shift=shift)
    missing = (~read).sum(axis=(1, 2)).tolist()
    calls, names = 2 * len(base), [f"t{number}" for number in range(tasks)]
    return Tallies(
        vacuum=tuple(
            VacuumTally(name, "baseline", "empty", BLANKS, float(count), 0)
            for name, count in zip(names, (dark > 0).sum(axis=1).tolist(), strict=True)
        ),
        calls=tuple(
            CallTally(name, "baseline", "graded", "", 1.0, calls, graded=calls - count, unparsed=count)
            for name, count in zip(names, missing, strict=True)
        ),
        grade_pairs=tuple(
            tally
            for step in range(TOP + 1)
            for tally in _pair_tallies(names, step, given[:, :, delta == step], read[:, :, delta == step])
        ),
        grades=tuple(_grade_tallies(names, levels, given, read)),
    )


def _pair_tallies(names: list[str], step: int, given, read) -> Iterator[GradePairTally]:
    whole = read.all(axis=1)
    difference = np.where(whole, given[:, 1] - given[:, 0], 0)
    columns = [whole, difference > 0, difference < 0, whole & (difference == 0), difference, abs(difference), ~whole]
    for name, *sums in zip(names, *(column.sum(axis=1).tolist() for column in columns), strict=True):
        pairs, higher, lower, equal, total, distance, incomplete = sums
        yield GradePairTally(
            name,
            "baseline",
            "graded" if step else "equal",
            "",
            float(step),
            pairs,
            better_higher=higher,
            lesser_higher=lower,
            equal=equal,
            difference=float(total),
            distance=float(distance),
            incomplete=incomplete,
        )


def _grade_tallies(names: list[str], levels, given, read) -> Iterator[GradeTally]:
    task = np.broadcast_to(np.arange(len(names))[:, None, None], given.shape)
    kinds, counts = np.unique(np.stack([task[read], levels[read], given[read]]), axis=1, return_counts=True)
    for (number, level, grade), count in zip(kinds.T.tolist(), counts.tolist(), strict=True):
        yield GradeTally(names[int(number)], "baseline", "graded", level, grade, count)
