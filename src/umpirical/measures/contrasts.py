"""Contrasts: every rate that two judges have in common, the second judge's less the first's, over the same families."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple, TypeVar

from umpirical.domain.measures import Estimate, Interval, Measure, Unit
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import TIER_2, Family
from umpirical.domain.tallies import (
    CallTally,
    ChangeTally,
    GoldTally,
    GradePairTally,
    PairTally,
    QuadTally,
    RepeatTally,
    Tallies,
)
from umpirical.measures.changes import change_tallies
from umpirical.measures.estimates.pairs import PairCount, count_pairs, different_grades, false_preference, of_family
from umpirical.measures.estimates.rates import METHOD, Counted, Paired, difference_result, paired_by_task
from umpirical.measures.natural import NATURAL
from umpirical.measures.repeats import repeat_tallies, repeated
from umpirical.stats.differences import paired_difference, sign_flip_p
from umpirical.stats.repeats import flip_chance
from umpirical.stats.seeds import generator

ROUNDING = 1e-9


class ComparableRate(NamedTuple):
    """One rate of one judge, by cluster, and the units that it lacks."""

    name: str
    stratum: str
    unit: Unit
    counts: list[Counted]
    missing: float

    @property
    def missing_share(self) -> float:
        everything = self.missing + sum(count.denominator for count in self.counts)
        return self.missing / everything if everything else 0.0


def item_rates(tallies: Tallies, variant: str) -> Iterator[ComparableRate]:
    """Yields, by test, the rates of a judge on the user's own items: all items, without groups."""
    changes = [tally for tally in change_tallies(tallies, variant, "same-verdict") if not tally.group]
    for test, same in _by_test(changes):
        yield _of_changes("change-rate", test, same, lambda t: t.changed, lambda t: t.pairs)
    changes = [tally for tally in change_tallies(tallies, variant, "flipped-verdict") if not tally.group]
    for test, flipped in _by_test(changes):
        yield _of_changes("flip-detection", test, flipped, lambda t: t.moved, lambda t: t.golden)
    for test, repeats in _by_test(tally for tally in repeat_tallies(tallies, variant) if not tally.group):
        yield _of_repeats(test, repeats)
    golds = [tally for tally in tallies.golds if tally.variant == variant and not tally.group]
    for test, labelled in _by_test(golds):
        yield _of_golds(test, labelled, tallies.scale)


_OF_NATURAL: dict[str, Callable[[PairTally], float]] = {
    "both-orders-accuracy": lambda tally: tally.both_correct,
    "both-orders-error": lambda tally: tally.stable - tally.both_correct,
    "same-slot-rate": lambda tally: tally.positional,
    "one-order-rate": lambda tally: tally.one_sided,
    "no-winner-rate": lambda tally: tally.no_preference,
    "single-order-accuracy": lambda tally: tally.correct_calls / 2,
    "chosen-first-accuracy": lambda tally: tally.position_1_correct_calls,
    "chosen-second-accuracy": lambda tally: tally.correct_calls - tally.position_1_correct_calls,
}


def natural_rates(tallies: Tallies, variant: str, pairs: Sequence[PairTally]) -> Iterator[ComparableRate]:
    """Yields the rates of a judge on labeled pairs: all pairs, and the edits of them, without groups."""
    missing = sum(tally.incomplete + tally.lost for tally in pairs)
    for name, score in _OF_NATURAL.items():
        counts = [Counted(tally.cluster, score(tally), tally.pairs) for tally in pairs]
        yield ComparableRate(name, "", "pair", counts, missing)
    yield from item_rates(tallies, variant)
    yield from _of_calls(tallies, variant)


_Tally = TypeVar("_Tally", ChangeTally, RepeatTally, GoldTally)


def _by_test(tallies: Iterable[_Tally]) -> list[tuple[str, list[_Tally]]]:
    found: dict[str, list[_Tally]] = {}
    for tally in tallies:
        found.setdefault(tally.test, []).append(tally)
    return sorted(found.items())


def _of_changes(
    name: str,
    test: str,
    chosen: Sequence[ChangeTally],
    score: Callable[[ChangeTally], float],
    among: Callable[[ChangeTally], int],
) -> ComparableRate:
    counts = [Counted(tally.cluster, score(tally), among(tally)) for tally in chosen]
    return ComparableRate(name, test, "item", counts, sum(tally.incomplete for tally in chosen))


def _of_repeats(test: str, chosen: Sequence[RepeatTally]) -> ComparableRate:
    kept, excluded, _ = repeated(chosen)
    counts = [Counted(t.cluster, t.items * flip_chance([count for _, count in t.answers]), t.items) for t in kept]
    return ComparableRate("flip-rate", test, "item", counts, sum(excluded.values()))


def _of_golds(test: str, chosen: Sequence[GoldTally], scale: GradeScale | None) -> ComparableRate:
    given = [tally for tally in chosen if tally.given]
    counts = [Counted(tally.cluster, tally.items * _is_right(tally, scale), tally.items) for tally in given]
    return ComparableRate("accuracy", test, "item", counts, sum(tally.items for tally in chosen if not tally.given))


def _is_right(tally: GoldTally, scale: GradeScale | None) -> bool:
    """Whether the verdict is the gold label; numbers are compared, not how they are written."""
    if scale is None or scale.kind != "interval" or tally.given_score is None or tally.gold_score is None:
        return tally.given == tally.gold
    return abs(tally.given_score - tally.gold_score) < ROUNDING


# Contrasts: every rate that two judges have in common, the second judge's less the first's, over the same families.


NO_SHARED_TASK = "the two have no task in common that both answered"

EQUIVALENCE_LEVEL = 0.90
"""Two one-sided tests at 5 % are one interval at 90 %."""

DRAWS_SEED = 1
"""Seed of the draws of the sign-flip test, so that the same answers give the same p-value."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """One rate of two judges."""

    measure: Measure
    """The second judge's rate less the first's."""
    paired: Paired
    """Both rates by family, the second judge's first."""
    missing: tuple[float, float]
    """Shares of the first and of the second judge's units that have no answer."""

    def narrow(self) -> Interval | None:
        """Returns the interval that lies within a margin if the two are equivalent; None without a difference.

        Reference: D. J. Schuirmann, A comparison of the two one-sided tests procedure, Journal of Pharmacokinetics and
        Biopharmaceutics 15 (1987).
        """
        if not isinstance(self.measure.result, Estimate):
            return None
        found = paired_difference(*self.paired, level=EQUIVALENCE_LEVEL)
        return Interval(found.low, found.high, method=METHOD, level=EQUIVALENCE_LEVEL)

    @property
    def never(self) -> bool:
        """Whether neither judge had any event, or nothing but events: such a row cannot tell the two apart."""
        y, n, z, m = (sum(column) for column in self.paired)
        return y + z <= ROUNDING or n + m - y - z <= ROUNDING

    def sign_flip_p(self) -> float | None:
        """Returns the p-value if the two judges could be exchanged within each family; None without a difference."""
        if not isinstance(self.measure.result, Estimate):
            return None
        draws = generator(DRAWS_SEED, "contrast", self.measure.name, self.measure.stratum)
        return sign_flip_p(*self.paired, rng=draws)


def contrasts_between(first: Tallies, second: Tallies, variant: str, other_variant: str) -> Iterator[Contrast]:
    """Yields a contrast for every rate that both judges have, over the families in which both were answered.

    Interval: cluster-Wilson limits of both rates, joined over families, as for a criterion shift: what a family does to
    both judges does not count as a difference between them.
    """
    # A decomposition by order is of judges that compare: against one that grades there is nothing to hold it to.
    graded = bool(first.grade_pairs or second.grade_pairs)
    ours, theirs = (
        {(rate.name, rate.stratum): rate for rate in _rates(tallies, each, graded=graded)}
        for tallies, each in ((first, variant), (second, other_variant))
    )
    for (name, stratum), here in ours.items():
        there = theirs.get((name, stratum))
        if there is None:
            continue
        paired = paired_by_task(there.counts, here.counts)
        missing = {"without an answer, first": ceil(here.missing), "without an answer, second": ceil(there.missing)}
        result = difference_result(paired, unit=here.unit, empty=NO_SHARED_TASK, excluded=missing)
        yield Contrast(Measure(name, result, variant, stratum), paired, (here.missing_share, there.missing_share))


_AT_EQUAL_QUALITY: dict[str, tuple[Callable[[PairTally], float], Callable[[GradePairTally], float] | None]] = {
    "raw-false-preference": (false_preference, different_grades),
    "stable-cross-sensitivity": (lambda tally: tally.stable, None),
    "positional-false-preference": (lambda tally: tally.positional, None),
    "one-sided-commit": (lambda tally: tally.one_sided, None),
    "no-preference": (lambda tally: tally.no_preference, None),
}

_BY_STEP: dict[str, tuple[Family, Callable[[PairTally], float], Callable[[GradePairTally], float]]] = {
    "target-sensitivity": (Family.GRADED, lambda t: t.correct_calls / 2, lambda t: t.better_higher),
    "tie-rate": (Family.GRADED, lambda t: t.tie_calls / 2, lambda t: t.equal),
    "fine-sensitivity": (Family.FINE, lambda t: t.correct_calls / 2, lambda t: t.better_higher),
    "figure-sensitivity": (Family.FIGURES, lambda t: t.correct_calls / 2, lambda t: t.better_higher),
}

_OF_QUADS: dict[str, Callable[[QuadTally], float]] = {
    "task-following": lambda tally: tally.following,
    "task-blind-preference": lambda tally: tally.blind,
}

_OF_CALLS: dict[str, Callable[[CallTally], int]] = {
    "unparsed-rate": lambda tally: tally.unparsed,
    "failure-rate": lambda tally: tally.failed,
}


def _rates(tallies: Tallies, variant: str, *, graded: bool) -> Iterator[ComparableRate]:
    """Every rate of a judge that can be held against another's. `graded`: one of the two judges grades."""
    if tallies.scale is not None:
        yield from item_rates(tallies, variant)
        return
    if natural := [tally for tally in of_family(tallies, variant, NATURAL) if not tally.stratum]:
        yield from natural_rates(tallies, variant, natural)
        return
    yield _of_vacuum(tallies, variant)
    for name, (compared, grade) in _AT_EQUAL_QUALITY.items():
        if grade is not None or not graded:
            counts = count_pairs(tallies, variant, (Family.EQUAL,), compared=compared, graded=grade or (lambda _: 0.0))
            yield _of_pairs(name, "", counts)
    for name, (family, compared, grade) in _BY_STEP.items():
        counts = count_pairs(tallies, variant, (family,), compared=compared, graded=grade)
        whole = [_of_pairs(name, "", counts)] if counts and family == Family.FINE else []
        yield from (*whole, *_of_steps(name, counts))
    for name, score in _OF_QUADS.items():
        quads = [tally for tally in tallies.quads if tally.variant == variant and tally.family == Family.GRADED]
        if quads:
            yield _of_quads(name, "", quads, score)
        for step in sorted({tally.delta for tally in quads}):
            yield _of_quads(name, f"{step:g}", [tally for tally in quads if tally.delta == step], score)
    if tallies.grade_pairs:
        yield _concordance(tallies, variant)
    yield from _of_calls(tallies, variant)


def _of_steps(name: str, counts: Sequence[PairCount]) -> Iterator[ComparableRate]:
    for step in sorted({count.delta for count in counts}):
        yield _of_pairs(name, f"{step:g}", [count for count in counts if count.delta == step])


def _of_vacuum(tallies: Tallies, variant: str) -> ComparableRate:
    chosen = [tally for tally in tallies.vacuum if tally.variant == variant]
    counts = [Counted(t.cluster, t.false_preferences, t.prompts) for t in chosen]
    return ComparableRate("dark-current", "", "prompt", counts, sum(t.unanswered for t in chosen))


def _of_pairs(name: str, stratum: str, pairs: Iterable[PairCount]) -> ComparableRate:
    chosen = list(pairs)
    counts = [Counted(count.cluster, count.score, count.pairs) for count in chosen]
    return ComparableRate(name, stratum, "pair", counts, sum(count.incomplete + count.lost for count in chosen))


def _of_quads(name: str, stratum: str, quads: list[QuadTally], score: Callable[[QuadTally], float]) -> ComparableRate:
    counts = [Counted(tally.cluster, score(tally), tally.quads) for tally in quads]
    return ComparableRate(name, stratum, "crossed-pair", counts, sum(tally.incomplete + tally.lost for tally in quads))


def _concordance(tallies: Tallies, variant: str) -> ComparableRate:
    chosen = [tally for tally in tallies.grade_pairs if tally.variant == variant and tally.family == Family.GRADED]
    counts = [Counted(t.cluster, t.better_higher, t.better_higher + t.lesser_higher) for t in chosen]
    return ComparableRate("grade-concordance", "", "pair", counts, sum(t.incomplete + t.lost for t in chosen))


def _of_calls(tallies: Tallies, variant: str) -> Iterator[ComparableRate]:
    """Shares of the calls made. An abstention on a blank is right, so blanks are left out of that one."""
    calls = [tally for tally in tallies.calls if tally.variant == variant]
    chosen = [tally for tally in calls if tally.family not in TIER_2 | {Family.BLANK}]
    answered = [
        Counted(t.cluster, t.abstained, t.position_1 + t.position_2 + t.tie + t.graded + t.abstained) for t in chosen
    ]
    unread = sum(tally.unparsed + tally.failed + tally.unasked for tally in chosen)
    yield ComparableRate("abstention-rate", "", "call", answered, unread)
    made = [tally for tally in calls if tally.family not in TIER_2]
    for name, score in _OF_CALLS.items():
        counts = [Counted(tally.cluster, score(tally), tally.planned - tally.unasked) for tally in made]
        yield ComparableRate(name, "", "call", counts, sum(tally.unasked for tally in made))
