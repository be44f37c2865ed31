"""Tallies: what was counted in each task, the only thing that a measure is computed from.

A tally is exact and small, whatever the number of judgments behind it, and it is what a paper publishes: a measure
treats published counts and the counts of a run alike.
"""

from dataclasses import dataclass
from typing import Literal

from umpirical.domain.scales import GradeScale

__all__ = [
    "CallTally",
    "ChangeTally",
    "GoldTally",
    "GradePairTally",
    "GradeTally",
    "OutcomeTally",
    "PairTally",
    "RepeatTally",
    "Tallies",
    "VacuumTally",
]


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
    """Sum over prompts of the share of repeats that named a winner, or that graded a blank above the lowest grade."""
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
    """One-sided pairs whose winner was in slot 1."""
    one_sided_u: int = 0
    """One-sided pairs whose winner was content u."""
    correct_calls: int = 0
    """Calls, of two per pair, that named the better content; 0 if neither content is better."""
    wrong_calls: int = 0
    """Calls that named the lesser content."""
    tie_calls: int = 0
    """Calls that were a tie or an abstention."""
    incomplete: int = 0
    """Pairs left out: at least one order was unparsed or failed, or was not asked."""
    stratum: str = ""
    """The part of the family: a surface transform, a pair of requirements, an amount of extra length."""
    slot_1_calls: int = 0
    """Calls, of two per pair, that named slot 1."""
    slot_2_calls: int = 0
    one_sided_u_slot_1: int = 0
    """One-sided pairs whose winner was content u in slot 1. With the two splits above, all four kinds are known."""


@dataclass(frozen=True, slots=True)
class OutcomeTally:
    """Pairs of one kind in one task whose calls came out alike: what the latent model is fitted to."""

    task_id: str
    arm: str
    family: str
    stratum: str
    delta: float
    """Quality of content u minus that of v, in requirements: negative if v is better."""
    base: float
    """Quality of the lesser content."""
    log_length: float
    """Logarithm of the length of u divided by that of v, to two decimals."""
    counts: tuple[int, int, int, int, int, int]
    """Answers of one pair, repeats together: slot 1, slot 2, tie in order uv, then in order vu."""
    pairs: int
    """Pairs with these counts."""


@dataclass(frozen=True, slots=True)
class GradePairTally:
    """Pairs of answers of one step in one task, each answer graded separately by a `grade` judge."""

    task_id: str
    arm: str
    family: str
    stratum: str
    delta: float
    pairs: int
    """Pairs with a grade for both answers."""
    better_higher: int = 0
    """The better answer has the higher grade; if neither is better, u has it."""
    lesser_higher: int = 0
    equal: int = 0
    """Both have the same grade."""
    difference: float = 0.0
    """Sum of grade differences, better minus lesser, in steps of the scale; if neither is better, u minus v."""
    distance: float = 0.0
    """Sum of absolute grade differences."""
    incomplete: int = 0
    """Pairs left out: at least one answer has no grade."""


@dataclass(frozen=True, slots=True)
class GradeTally:
    """Answers of one quality in one task that got one grade."""

    task_id: str
    arm: str
    family: str
    level: float
    """Requirements met, by construction."""
    score: float
    """Steps above the lowest grade of the scale."""
    answers: int


@dataclass(frozen=True, slots=True)
class ChangeTally:
    """Items of one cluster, each graded as it is and as one stress test changed it.

    If either was asked several times, a pair counts the share of all (original, changed) combinations of answers.
    """

    task_id: str
    arm: str
    test: str
    group: str
    """A stratum of the user's data, such as `grade_level=8`; empty for all items, which are counted separately."""
    expectation: Literal["same-verdict", "flipped-verdict"]
    pairs: int
    """Items with a verdict both on the original and on the changed text."""
    changed: float = 0.0
    """Verdicts that differ."""
    moved: float = 0.0
    """Verdicts that moved towards the gold label of the changed text, in order; on a scale without order, to it."""
    right_on_both: float = 0.0
    """Verdicts that are the gold label on both."""
    golden: int = 0
    """Pairs for which both gold labels are known: the denominator of `moved` and `right_on_both`."""
    shift: float = 0.0
    """Sum of score differences, changed minus original, in steps of the scale; 0 on a scale without order."""
    distance: float = 0.0
    """Sum of absolute score differences."""
    retested: int = 0
    """Pairs of which both texts were answered at least twice in the same words."""
    retest_changed: float = 0.0
    """For those, the unbiased chance that two answers to one text differ, averaged over the two texts."""
    changed_retested: float = 0.0
    """`changed`, for the retested pairs only."""
    incomplete: int = 0
    """Items without a verdict on one of the two, or on both."""
    changed_missing: int = 0
    """Incomplete items with a verdict on the original only."""
    original_missing: int = 0
    """Incomplete items with a verdict on the changed text only."""


@dataclass(frozen=True, slots=True)
class RepeatTally:
    """Items of one cluster whose repeats were answered alike."""

    task_id: str
    arm: str
    test: str
    """`stability`: the same request again; `seeds`: the same with another seed."""
    group: str
    answers: tuple[tuple[str, int], ...]
    """Verdict and how often it was given, in order of the verdict's text."""
    scores: tuple[float, ...]
    """The score of each of those verdicts, in steps of the scale; empty on a scale without order."""
    items: int
    asked: int
    """Repeats that were planned, answered or not."""


@dataclass(frozen=True, slots=True)
class GoldTally:
    """Items of one cluster and one gold label that were given one verdict."""

    task_id: str
    arm: str
    test: str
    """`original`, or the stress test that made the text."""
    group: str
    gold: str
    given: str
    """The verdict; empty for items without one."""
    gold_score: float | None
    """In steps of the scale; None on a scale without order."""
    given_score: float | None
    items: float
    """Number of items; one that was asked several times counts the share of its answers."""


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
    graded: int = 0
    """Calls of a `grade` judge that gave a grade."""


@dataclass(frozen=True, slots=True)
class Tallies:
    """Everything counted in one run."""

    vacuum: tuple[VacuumTally, ...] = ()
    pairs: tuple[PairTally, ...] = ()
    calls: tuple[CallTally, ...] = ()
    outcomes: tuple[OutcomeTally, ...] = ()
    grade_pairs: tuple[GradePairTally, ...] = ()
    grades: tuple[GradeTally, ...] = ()
    changes: tuple[ChangeTally, ...] = ()
    repeats: tuple[RepeatTally, ...] = ()
    golds: tuple[GoldTally, ...] = ()
    scale: GradeScale | None = None
    """The scale of a judge under stress tests on the user's own data."""
    positive: tuple[str, ...] = ()
    """The labels that count as positive for error rates, if the user named any."""

    def arms(self) -> tuple[str, ...]:
        """The arms in which anything was counted, in alphabetical order."""
        single = (self.vacuum, self.pairs, self.calls, self.outcomes, self.grade_pairs, self.grades)
        return tuple(
            sorted({tally.arm for part in (*single, self.changes, self.repeats, self.golds) for tally in part})
        )
