"""Differences of two rates over the same tasks: of an arm and the baseline, and of two judges."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined, Unit
from umpirical.domain.stimuli import TIER_2, Family
from umpirical.domain.tallies import CallTally, GradePairTally, PairTally, QuadTally, Tallies
from umpirical.measures.estimates.pairs import PairCount, count_pairs, different_grades, false_preference
from umpirical.measures.estimates.rates import DIGITS, ONE_TASK, Counted, task_sums
from umpirical.stats.differences import paired_difference, sign_flip_p

__all__ = [
    "BASELINE",
    "NO_SHARED_PAIRS",
    "Paired",
    "difference_result",
    "differences_between",
    "further_differences",
    "paired_by_task",
    "shifts_by_step",
    "sign_flip_result",
]

BASELINE = "baseline"

NO_SHARED_PAIRS = "no task has answered pairs in this arm and in the baseline"

NO_SHARED_TASK = "the two have no task in common in which both were answered"

METHOD = "cluster-Wilson limits of both rates, joined over tasks"


class Paired(NamedTuple):
    """Two rates per task."""

    numerators: list[float]
    denominators: list[float]
    other_numerators: list[float]
    other_denominators: list[float]


def paired_by_task(counts: Iterable[Counted], others: Iterable[Counted], *, shared: bool = True) -> Paired:
    """Sums per task: for the tasks that have both rates, or, if not `shared`, for those that have either."""
    one, other = ({task: sums for task, sums in task_sums(side).items() if sums[1]} for side in (counts, others))
    tasks = sorted(one.keys() & other.keys() if shared else one.keys() | other.keys())
    none = (0.0, 0.0)
    ours, theirs = [one.get(task, none) for task in tasks], [other.get(task, none) for task in tasks]
    return Paired(
        [round(y, DIGITS) for y, _ in ours],
        [n for _, n in ours],
        [round(y, DIGITS) for y, _ in theirs],
        [n for _, n in theirs],
    )


def difference_result(paired: Paired, *, unit: Unit, empty: str, left_out: Mapping[str, int]) -> Result:
    """One rate minus the other, in units of the first rate's denominator."""
    missing = {reason: count for reason, count in left_out.items() if count}
    least = min(np.count_nonzero(paired.denominators), np.count_nonzero(paired.other_denominators))
    if least < 2:
        return Undefined(ONE_TASK if least else empty, left_out=missing)
    found, count = paired_difference(*paired), round(sum(paired.denominators))
    limits = Interval(found.low, found.high, METHOD)
    return Estimate(found.value, found.value * count, count, unit, limits, found.clusters, left_out=missing)


def sign_flip_result(
    paired: Paired, *, unit: Unit, empty: str, left_out: Mapping[str, int], rng: np.random.Generator
) -> Result:
    """P-value of the difference if the two sides could be exchanged within each task; counts are the difference's."""
    plain = difference_result(paired, unit=unit, empty=empty, left_out=left_out)
    if isinstance(plain, Undefined):
        return plain
    return replace(plain, value=sign_flip_p(*paired, rng=rng), interval=None)


# An arm against the baseline.


def shifts_by_step(
    name: str,
    tallies: Tallies,
    arm: str,
    *,
    families: Collection[str],
    score: Callable[[PairTally], float],
    result: Callable[[Paired, dict[str, int], str], Result],
) -> list[Measure]:
    """`result` for the rates of the arm and of the baseline, at each step that both were asked; none for the baseline.

    Tasks without answered pairs on one of the sides are left out. `result` takes the two rates per task, what was left
    out, and the name of the step.
    """
    if arm == BASELINE:
        return []
    chosen = [tally for tally in tallies.pairs if tally.family in families]
    steps = sorted({t.delta for t in chosen if t.arm == arm} & {t.delta for t in chosen if t.arm == BASELINE})
    found = []
    for step in steps:
        here = [tally for tally in chosen if tally.arm == arm and tally.delta == step]
        there = [tally for tally in chosen if tally.arm == BASELINE and tally.delta == step]
        paired = paired_by_task(
            [Counted(tally.cluster, score(tally), tally.pairs) for tally in here],
            [Counted(tally.cluster, score(tally), tally.pairs) for tally in there],
        )
        missing = {
            "without an answer in both orders, this arm": sum(tally.incomplete for tally in here),
            "without an answer in both orders, baseline": sum(tally.incomplete for tally in there),
        }
        found.append(Measure(name, result(paired, missing, f"{step:g}"), arm, f"{step:g}"))
    return found


# One judge against another.

_AT_EQUAL_QUALITY: dict[str, tuple[Callable[[PairTally], float], Callable[[GradePairTally], float] | None]] = {
    "raw-false-preference": (false_preference, different_grades),
    "stable-cross-sensitivity": (lambda tally: tally.stable, None),
    "positional-false-preference": (lambda tally: tally.positional, None),
    "one-sided-commit": (lambda tally: tally.one_sided, None),
    "no-preference": (lambda tally: tally.no_preference, None),
}

_ON_THE_LADDER: dict[str, tuple[Callable[[PairTally], float], Callable[[GradePairTally], float]]] = {
    "target-sensitivity": (lambda tally: tally.correct_calls / 2, lambda tally: tally.better_higher),
    "tie-rate": (lambda tally: tally.tie_calls / 2, lambda tally: tally.equal),
}


def differences_between(first: Tallies, second: Tallies, arm: str, other_arm: str) -> Iterator[Measure]:
    """The second judge's rate minus the first's, for every rate that both have, over the tasks they share.

    Interval: cluster-Wilson limits of both rates, joined over tasks, as for a criterion shift: what a task does to both
    judges does not count as a difference between them.
    """
    yield _difference("dark-current", "", arm, _vacuum(second, other_arm), _vacuum(first, arm), "prompt")
    for name, (compared, graded) in _AT_EQUAL_QUALITY.items():
        if graded is None and (first.grade_pairs or second.grade_pairs):
            continue
        here, there = (_pairs(t, a, Family.DELTA0, compared, graded) for t, a in ((first, arm), (second, other_arm)))
        yield _difference(name, "", arm, _counted(there), _counted(here), "pair")
    for name, (compared, graded) in _ON_THE_LADDER.items():
        here, there = (_pairs(t, a, Family.LADDER, compared, graded) for t, a in ((first, arm), (second, other_arm)))
        for step in sorted({count.delta for count in here} & {count.delta for count in there}):
            yield _difference(name, f"{step:g}", arm, _counted(there, step), _counted(here, step), "pair")


_OF_QUADS: dict[str, Callable[[QuadTally], float]] = {
    "task-following": lambda tally: tally.following,
    "task-blind-preference": lambda tally: tally.blind,
}

_OF_CALLS: dict[str, Callable[[CallTally], int]] = {
    "unparsed-rate": lambda tally: tally.unparsed,
    "failure-rate": lambda tally: tally.failed,
}


def further_differences(first: Tallies, second: Tallies, arm: str, other_arm: str) -> Iterator[Measure]:
    """The same for the rates of quads and of calls. A comparison does not show them; a gate looks at them too."""
    here, there = _quads(first, arm), _quads(second, other_arm)
    steps = sorted({quad.delta for quad in here} & {quad.delta for quad in there})
    for name, score in _OF_QUADS.items():
        for step in [None, *steps] if steps else []:
            counts, others = (
                [Counted(quad.cluster, score(quad), quad.quads) for quad in side if step in (None, quad.delta)]
                for side in (there, here)
            )
            yield _difference(name, "" if step is None else f"{step:g}", arm, counts, others, "quad")
    for name, counted in _OF_CALLS.items():
        yield _difference(name, "", arm, _calls(second, other_arm, counted), _calls(first, arm, counted), "call")


def _quads(tallies: Tallies, arm: str) -> list[QuadTally]:
    return [tally for tally in tallies.quads if tally.arm == arm and tally.family == Family.LADDER]


def _calls(tallies: Tallies, arm: str, counted: Callable[[CallTally], int]) -> list[Counted]:
    chosen = [tally for tally in tallies.calls if tally.arm == arm and tally.family not in TIER_2]
    return [Counted(tally.cluster, counted(tally), tally.planned - tally.unasked) for tally in chosen]


def _difference(  # noqa: PLR0917  # a measure and its two sides
    name: str, stratum: str, arm: str, counts: list[Counted], others: list[Counted], unit: Unit
) -> Measure:
    paired = paired_by_task(counts, others)
    return Measure(name, difference_result(paired, unit=unit, empty=NO_SHARED_TASK, left_out={}), arm, stratum)


def _vacuum(tallies: Tallies, arm: str) -> list[Counted]:
    return [Counted(t.cluster, t.false_preferences, t.prompts) for t in tallies.vacuum if t.arm == arm]


def _pairs(
    tallies: Tallies,
    arm: str,
    family: str,
    compared: Callable[[PairTally], float],
    graded: Callable[[GradePairTally], float] | None,
) -> list[PairCount]:
    return count_pairs(tallies, arm, (family,), compared=compared, graded=graded or (lambda _: 0.0))


def _counted(counts: list[PairCount], step: float | None = None) -> list[Counted]:
    return [Counted(c.cluster, c.score, c.pairs) for c in counts if step is None or c.delta == step]
