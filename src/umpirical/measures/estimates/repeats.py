"""Items that were asked several times in the same words."""

from collections.abc import Sequence
from typing import NamedTuple

from umpirical.domain.tallies import RepeatTally, Tallies

NOT_REPEATED = "no item was answered twice"


class Repeated(NamedTuple):
    """Items answered at least twice."""

    tallies: tuple[RepeatTally, ...]
    left_out: dict[str, int]
    repeats: str
    """How often they were answered, for the reader: `R = 5`, `R = 3 to 5`."""


def repeat_tallies(tallies: Tallies, arm: str) -> list[RepeatTally]:
    return [tally for tally in tallies.repeats if tally.arm == arm]


def repeated(chosen: Sequence[RepeatTally]) -> Repeated:
    """The items of `chosen` that were answered at least twice."""
    kept = tuple(tally for tally in chosen if _answers(tally) >= 2)
    single = sum(tally.items for tally in chosen) - sum(tally.items for tally in kept)
    answers = sorted({_answers(tally) for tally in kept})
    written = f"R = {answers[0]} to {answers[-1]}" if len(answers) > 1 else f"R = {answers[0]}" if answers else ""
    return Repeated(kept, {"answered less than twice": single} if single else {}, written)


def _answers(tally: RepeatTally) -> int:
    return sum(count for _, count in tally.answers)
