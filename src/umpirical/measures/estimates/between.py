"""Two judges on the same stimuli: how far apart their rates are, task by task."""

from collections.abc import Callable, Iterator

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import GradePairTally, PairTally, Tallies
from umpirical.measures.estimates.contrasts import difference_result, paired_by_task
from umpirical.measures.estimates.pairs import PairCount, count_pairs
from umpirical.measures.estimates.rates import Counted
from umpirical.measures.pairs.raw_false_preference import false_preference

__all__ = ["differences_between"]

EMPTY = "the two have no task in common in which both were answered"

_AT_EQUAL_QUALITY: dict[str, tuple[Callable[[PairTally], float], Callable[[GradePairTally], float] | None]] = {
    "raw-false-preference": (false_preference, lambda tally: tally.better_higher + tally.lesser_higher),
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
    """Of every rate that both have: the second's less the first's, over the tasks they share.

    Interval: cluster-Wilson limits of both rates, joined over tasks, as for a criterion shift: what a task does to both
    sides is not taken for a difference between them.
    """
    yield _measure("dark-current", "", arm, _vacuum(second, other_arm), _vacuum(first, arm), "prompt")
    for name, (compared, graded) in _AT_EQUAL_QUALITY.items():
        if graded is None and (first.grade_pairs or second.grade_pairs):
            continue
        here, there = (_pairs(t, a, "delta0", compared, graded) for t, a in ((first, arm), (second, other_arm)))
        yield _measure(name, "", arm, _counted(there), _counted(here), "pair")
    for name, (compared, graded) in _ON_THE_LADDER.items():
        here, there = (_pairs(t, a, "ladder", compared, graded) for t, a in ((first, arm), (second, other_arm)))
        for step in sorted({count.delta for count in here} & {count.delta for count in there}):
            yield _measure(name, f"{step:g}", arm, _counted(there, step), _counted(here, step), "pair")


def _measure(  # noqa: PLR0917  # a measure and its two sides
    name: str, stratum: str, arm: str, counts: list[Counted], others: list[Counted], unit: str
) -> Measure:
    result = difference_result(
        paired_by_task(counts, others), unit="prompt" if unit == "prompt" else "pair", empty=EMPTY, left_out={}
    )
    return Measure(name, result, arm, stratum)


def _vacuum(tallies: Tallies, arm: str) -> list[Counted]:
    return [Counted(t.task_id, t.false_preferences, t.prompts) for t in tallies.vacuum if t.arm == arm]


def _pairs(
    tallies: Tallies,
    arm: str,
    family: str,
    compared: Callable[[PairTally], float],
    graded: Callable[[GradePairTally], float] | None,
) -> list[PairCount]:
    return count_pairs(tallies, arm, (family,), compared=compared, graded=graded or (lambda _: 0.0))


def _counted(counts: list[PairCount], step: float | None = None) -> list[Counted]:
    return [Counted(c.task_id, c.score, c.pairs) for c in counts if step is None or c.delta == step]
