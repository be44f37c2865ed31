"""Tallies: what was counted in each task, the only thing a measure is computed from.

A tally is exact and small, whatever the number of judgments behind it, and it is what a paper publishes:
feeding published counts and feeding a run's counts into a measure is the same thing.
"""

from dataclasses import dataclass

__all__ = ["CallTally", "PairTally", "Tallies", "VacuumTally"]


@dataclass(frozen=True, slots=True)
class VacuumTally:
    """Vacuum prompts of one class in one task, counted by distinct prompt."""

    task_id: str
    arm: str
    stratum: str
    """The vacuum class: `empty`, `whitespace`, `identical`."""
    prompts: int
    """Distinct prompts with at least one verdict or abstention."""
    false_preferences: float
    """Sum over prompts of the share of its repeats that named a winner."""
    unanswered: int
    """Distinct prompts with neither verdict nor abstention."""


@dataclass(frozen=True, slots=True)
class PairTally:
    """Canonical pairs of one step in one task, each asked in both orders, after slots were mapped back to contents."""

    task_id: str
    arm: str
    family: str
    delta: float
    pairs: int
    """Pairs with a verdict or an abstention in both orders."""
    stable: int = 0
    """The same content won in both orders."""
    positional: int = 0
    """The same slot won in both orders, so the content changed."""
    one_sided: int = 0
    """A winner in exactly one order."""
    no_preference: int = 0
    """A tie or an abstention in both orders."""
    one_sided_slot_1: int = 0
    """Of the one-sided: the winner sat in slot 1."""
    one_sided_u: int = 0
    """Of the one-sided: the winner was content u."""
    correct_calls: int = 0
    """Calls, of two per pair, that named the better content; 0 where no content is better."""
    wrong_calls: int = 0
    """Calls that named the lesser content."""
    tie_calls: int = 0
    """Calls that were a tie or an abstention."""
    incomplete: int = 0
    """Pairs left out: at least one order was unparsed or failed, or was not asked."""


@dataclass(frozen=True, slots=True)
class CallTally:
    """Every trial of one part of the design in one task, by outcome: the audit table, whose columns add up."""

    task_id: str
    arm: str
    family: str
    stratum: str
    delta: float | None
    planned: int
    slot_1: int = 0
    slot_2: int = 0
    tie: int = 0
    abstained: int = 0
    unparsed: int = 0
    failed: int = 0
    unasked: int = 0
    """Planned trials for which there is no response yet."""


@dataclass(frozen=True, slots=True)
class Tallies:
    """Everything counted in one run."""

    vacuum: tuple[VacuumTally, ...] = ()
    pairs: tuple[PairTally, ...] = ()
    calls: tuple[CallTally, ...] = ()

    def arms(self) -> tuple[str, ...]:
        """The arms anything was counted in, in alphabetical order."""
        seen = {t.arm for t in self.vacuum} | {t.arm for t in self.pairs} | {t.arm for t in self.calls}
        return tuple(sorted(seen))
