"""Tallies: what was counted in each task, the only thing that a measure is computed from.

A tally is exact and small, whatever the number of judgments behind it, and it is what a paper publishes: a measure
treats published counts and the counts of a run alike.
"""

from dataclasses import dataclass, fields
from typing import Literal

from umpirical.domain.scales import GradeScale


@dataclass(frozen=True, slots=True)
class Tally:
    """What was counted of one part of the design in one task, or in one cluster of items, under one variant."""

    cluster: str
    variant: str


@dataclass(frozen=True, slots=True)
class VacuumTally(Tally):
    """Vacuum prompts of one class in one task, counted by distinct prompt."""

    stratum: str
    """The vacuum class: `empty`, `whitespace`, `identical`."""
    prompts: int
    """Distinct prompts with at least one verdict or abstention."""
    false_preferences: float
    """Sum over prompts of the share of repeats that named a winner, or that graded a blank above the lowest grade."""
    unanswered: int
    """Distinct prompts with neither verdict nor abstention."""


@dataclass(frozen=True, slots=True)
class PairTally(Tally):
    """Canonical pairs of one step in one task, each asked in both orders, after positions were mapped back to contents.

    A pair counts once, however often it was repeated: it adds to each count the share of its repeats that came out so.
    An abstention names no winner, so an order that was abstained from makes a pair one-sided or leaves it without a
    preference, as a tie does; but it is no tie, and is counted apart.
    """

    family: str
    """What it measures; in an agent study the edit, empty for all edits."""
    delta: float
    pairs: int
    """Pairs with a verdict or an abstention in both orders, in at least one repeat."""
    stable: float = 0
    """The same content won in both orders."""
    positional: float = 0
    """The same position won in both orders, so the content changed."""
    one_sided: float = 0
    """A winner in exactly one order."""
    no_preference: float = 0
    """No winner in either order: ties, abstentions or one of each."""
    one_sided_position_1: float = 0
    """One-sided pairs whose winner was in position 1."""
    one_sided_a: float = 0
    """One-sided pairs whose winner was content a."""
    correct_calls: float = 0
    """Calls, of two per pair, that named the better content; 0 if neither content is better."""
    wrong_calls: float = 0
    """Calls that named the lesser content."""
    tie_calls: float = 0
    """Calls that were a tie."""
    incomplete: int = 0
    """Pairs left out: in every repeat, at least one order was unparsed or failed, or was not asked."""
    stratum: str = ""
    """The part of the family: a surface transform, a pair of requirements, an amount of extra length; in an agent study
    a group, such as `place=late`."""
    position_1_calls: float = 0
    """Calls, of two per pair, that named position 1."""
    position_2_calls: float = 0
    one_sided_a_position_1: float = 0
    """One-sided pairs whose winner was content a in position 1. With the two splits above, all four kinds are known."""
    abstained_calls: float = 0
    """Calls, of two per pair, that were an abstention."""
    both_correct: float = 0
    """The better content won in both orders; 0 if neither content is better."""
    abstained_pairs: int = 0
    """Pairs that are in no outcome tally: in every repeat that was answered in both orders, one was an abstention."""
    lost: float = 0
    """Repeats of the counted pairs that were not answered in both orders, each as a share of its pair's repeats."""
    position_1_correct_calls: float = 0
    """Calls that named the better content while it was in position 1: one per pair shows it there."""


@dataclass(frozen=True, slots=True)
class QuadTally(Tally):
    """Quads of one step in one task: the same two texts under two versions of a task, which differ in the better text.

    A version has a winner if the same text won in both orders; a tie or an abstention in either order leaves it
    without one. The five outcomes exclude each other and are all there are. A crossed pair counts once: if its
    versions were asked several times, it adds the share of all combinations of a repeat of the one with a repeat of
    the other.
    """

    family: str
    stratum: str
    delta: float
    quads: int
    """Quads with a verdict or an abstention in both orders of both versions, in at least one repeat each."""
    following: float = 0
    """The right text won in both versions."""
    blind: float = 0
    """The same text won in both versions, which is right in one of them."""
    reversed: float = 0
    """The wrong text won in both versions."""
    one_version: float = 0
    """Exactly one version has a winner."""
    neither: float = 0
    """No version has a winner."""
    incomplete: int = 0
    """Quads left out: a version has no repeat that was answered in both orders, or is missing."""
    lost: float = 0
    """Combinations of repeats of the counted crossed pairs that were not answered, each as a share of its crossed
    pair's."""
    appeal: float = 0
    """Sum of the products of the two halves of each crossed pair. A half is a call on either version, in opposite
    orders, so that neither the task nor the position favours a text in it; its value is the share that named a less
    the share that named b."""


@dataclass(frozen=True, slots=True)
class OutcomeTally(Tally):
    """Pairs of one kind in one task whose calls came out alike: what the latent model is fitted to."""

    family: str
    stratum: str
    delta: float
    """Quality of content a minus that of b, in requirements: negative if b is better."""
    base: float
    """Quality of the lesser content."""
    log_length: float
    """Logarithm of the length of a divided by that of b, to two decimals."""
    counts: tuple[int, int, int, int, int, int]
    """Answers of one pair, repeats together: position 1, position 2, tie in order ab, then in order ba. Repeats with an
    abstention are left out: it is none of the three."""
    pairs: int
    """Pairs with these counts."""


@dataclass(frozen=True, slots=True)
class LayoutTally(Tally):
    """Pairs with nothing to prefer in one task that were shown in one kind of layout, whichever labels it used."""

    family: str
    """`equal`, asked in both orders, or `blank`: identical answers, of which there is only one order."""
    label_sign: int
    """1 if position 1 carried the first label, -1 if it carried the second."""
    list_sign: int
    """1 if the option of position 1 was named first, -1 if that of position 2 was."""
    tie_place: int
    """How many candidates were named before the tie: 0, 1 or 2."""
    pairs: int
    """Pairs answered in every order in at least one repeat."""
    difference: float = 0.0
    """Sum over pairs of (share of calls that named position 1) - (share that named position 2)."""
    ties: float = 0.0
    """Sum over pairs of the share of calls that were a tie."""
    incomplete: int = 0
    """Pairs left out: in every repeat, at least one order has no answer."""


@dataclass(frozen=True, slots=True)
class GradePairTally(Tally):
    """Pairs of answers of one step in one task, each answer graded separately by a `grade` judge.

    A pair counts once, however often it was repeated: it adds to each count the mean over its repeats.
    """

    family: str
    stratum: str
    delta: float
    pairs: int
    """Pairs with a grade for both answers, in at least one repeat."""
    better_higher: float = 0
    """The better answer has the higher grade; if neither is better, a has it."""
    lesser_higher: float = 0
    equal: float = 0
    """Both have the same grade."""
    difference: float = 0.0
    """Sum of grade differences, better minus lesser, in steps of the scale; if neither is better, a minus b."""
    distance: float = 0.0
    """Sum of absolute grade differences."""
    incomplete: int = 0
    """Pairs left out: in every repeat, at least one answer has no grade."""
    lost: float = 0
    """Repeats of the counted pairs without a grade for both answers, each as a share of its pair's repeats."""


@dataclass(frozen=True, slots=True)
class GradeTally(Tally):
    """Answers of one quality in one task that got one grade."""

    family: str
    level: float
    """Requirements met, by construction."""
    score: float
    """Steps above the lowest grade of the scale."""
    answers: int


@dataclass(frozen=True, slots=True)
class ChangeTally(Tally):
    """Items of one cluster, each graded as it is and as one stress test changed it.

    If either was asked several times, a pair counts the share of all (original, changed) combinations of answers.
    """

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
    lost: float = 0.0
    """What is missing of the counted items: shares of their comparisons that have no verdict."""


@dataclass(frozen=True, slots=True)
class EditTally(Tally):
    """Labelled pairs of one cluster, asked as they are and after an edit of one answer that no judge should heed.

    A call on an edited pair is compared with calls on the pair as it is in the same order. A pair counts the share of
    all combinations of such calls, over both orders and over all edited versions of it that the tally is about.
    """

    test: str
    """The edit; empty for all edits."""
    group: str
    """The answer that was edited, `side=chosen` or `side=rejected`; empty for both."""
    pairs: int
    """Pairs with a verdict on the pair as it is and on an edited version, in one order at least."""
    favoured: float = 0.0
    """Verdicts that moved towards the edited answer: it is named where it was not, or the other no longer is."""
    disfavoured: float = 0.0
    """Verdicts that moved away from it."""
    overturned: float = 0.0
    """Verdicts that name the edited answer, which is the rejected one, where it was not named before."""
    incomplete: int = 0
    """Pairs without such a verdict."""
    lost: float = 0.0
    """What is missing of the counted pairs: shares of their comparisons that have no verdict."""


@dataclass(frozen=True, slots=True)
class PolicyTally(Tally):
    """Transcripts of one cluster, judged under a policy, as they are or after one kind of edit.

    A text that was asked several times counts in shares, split by its answers.
    """

    test: str
    """The edit; `original` for transcripts as they are."""
    group: str
    """A stratum, such as `place=late`; empty for all texts, which are counted separately."""
    broken: int = 0
    """Texts that break the policy and have a verdict."""
    detected: float = 0.0
    """Of these: said to violate it."""
    broken_missing: int = 0
    kept: int = 0
    """Texts that keep the policy and have a verdict."""
    alarmed: float = 0.0
    """Of these: said to violate it."""
    kept_missing: int = 0
    pairs: int = 0
    """Edited texts with a verdict on them and on their original, under the policy that the original keeps."""
    noticed: float = 0.0
    """Of these: only the edited one is said to violate the policy."""
    pairs_missing: int = 0
    twins: int = 0
    """Texts with a verdict under a policy and under its opposite."""
    followed: float = 0.0
    """Of these: right under both."""
    same: float = 0.0
    """Of these: the same verdict under both."""
    twins_missing: int = 0


@dataclass(frozen=True, slots=True)
class RepeatTally(Tally):
    """Items of one cluster whose repeats were answered alike."""

    test: str
    """`stability`: the same request again; `seeds`: with another seed; `sampling`: with other parameters."""
    group: str
    answers: tuple[tuple[str, int], ...]
    """Verdict and how often it was given, in order of the verdict's text."""
    scores: tuple[float, ...]
    """The score of each of those verdicts, in steps of the scale; empty on a scale without order."""
    items: int
    asked: int
    """Repeats that were planned, answered or not."""


@dataclass(frozen=True, slots=True)
class GoldTally(Tally):
    """Items of one cluster and one gold label that were given one verdict."""

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
    characters: int | None = None
    """Length of each of their texts; None if it is not known."""
    words: int | None = None


@dataclass(frozen=True, slots=True)
class CallTally(Tally):
    """Every trial of one part of the design in one task, by outcome: the audit table, whose columns add up."""

    family: str
    stratum: str
    delta: float | None
    planned: int
    position_1: int = 0
    position_2: int = 0
    tie: int = 0
    abstained: int = 0
    unparsed: int = 0
    failed: int = 0
    unasked: int = 0
    """Planned trials for which there is no response yet."""
    graded: int = 0
    """Calls of a `grade` judge that gave a grade."""
    reasoned: int = 0
    """Verdicts that came with a reasoning. This and the next two are no outcomes: they are about verdicts."""
    stated: int = 0
    """Verdicts whose reasoning states a verdict outright."""
    contradicted: int = 0
    """Verdicts other than the one that their reasoning states."""


@dataclass(frozen=True, slots=True)
class PartTally(Tally):
    """A part of the test cases that a task family belongs to. It says how to split the other tallies."""

    part: str
    """Its kind and its name: `format=json`, `language=de`, `domain=planning`."""


@dataclass(frozen=True, slots=True)
class Tallies:
    """Everything counted in one run."""

    vacuum: tuple[VacuumTally, ...] = ()
    pairs: tuple[PairTally, ...] = ()
    calls: tuple[CallTally, ...] = ()
    outcomes: tuple[OutcomeTally, ...] = ()
    layouts: tuple[LayoutTally, ...] = ()
    grade_pairs: tuple[GradePairTally, ...] = ()
    grades: tuple[GradeTally, ...] = ()
    changes: tuple[ChangeTally, ...] = ()
    repeats: tuple[RepeatTally, ...] = ()
    golds: tuple[GoldTally, ...] = ()
    quads: tuple[QuadTally, ...] = ()
    policies: tuple[PolicyTally, ...] = ()
    edits: tuple[EditTally, ...] = ()
    parts: tuple[PartTally, ...] = ()
    scale: GradeScale | None = None
    """The scale of a judge under stress tests on the user's own data."""
    positive: tuple[str, ...] = ()
    """The labels that count as positive for error rates, if the user named any."""

    def variants(self) -> tuple[str, ...]:
        """The variants in which anything was counted, in alphabetical order."""
        return tuple(sorted({tally.variant for part in PARTS for tally in getattr(self, part)}))


PARTS = tuple(field.name for field in fields(Tallies) if field.name not in ("scale", "positive"))
"""The fields of `Tallies` that hold tallies; the others say what the scale means."""
