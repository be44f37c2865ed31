"""Failures by part of the test cases: by answer format, language and domain.

An average over all test cases hides a judge that fails on one kind of them. These measures give one rate for each part,
and their intervals hold for all parts together. A part often has only three task families. It can show that a judge
fails there. It cannot show that a judge is sound there.
"""

from collections.abc import Iterable, Sequence
from math import ceil
from typing import NamedTuple

from umpirical.domain.measures import Estimate, Interval, Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import GradePairTally, PairTally, Tallies
from umpirical.measures.catalogue import MeasureFamily, Part, by_itself
from umpirical.measures.consistency import UNPOOLED
from umpirical.measures.estimates.pairs import NO_PAIR, UNANSWERED, UNGRADED
from umpirical.measures.estimates.rates import DIGITS, LOST_REPEATS, PLANNING_CORRELATION, by_task
from umpirical.stats.intervals import exact_high, exact_low, kish_effect

LARGE = 2.0
"""Requirements. A judge that is sound sees a difference of this size or more in both orders."""

PROSE, LIST = "format=prose", "format=list"
"""A pair of prose answers belongs to the second if one of its answers is laid out as a list."""

ERROR = 0.05
"""How often an interval of any part misses the true value, all parts together."""


class Failed(NamedTuple):
    """Pairs of one kind in one task, and how many of them the judge failed."""

    pair: PairTally | GradePairTally
    failed: float


def by_part(tallies: Tallies, variant: str, counts: Iterable[Failed]) -> list[Part]:
    """One failure rate for each part, in alphabetical order within format, language and domain."""
    parts: dict[str, list[Failed]] = {}
    known = _known(tallies, variant)
    for count in counts:
        for part in known.get(count.pair.cluster, ()):
            listed = part == PROSE and count.pair.stratum == "list"
            parts.setdefault(LIST if listed else part, []).append(count)
    return [Part(_rate(parts[part], len(parts)), group=part) for part in sorted(parts, key=_place)]


def _known(tallies: Tallies, variant: str) -> dict[str, set[str]]:
    """The parts of each task family."""
    known: dict[str, set[str]] = {}
    for tally in tallies.parts:
        if tally.variant == variant:
            known.setdefault(tally.cluster, set()).add(tally.part)
    return known


def _place(part: str) -> tuple[int, str]:
    kinds = ("format", "language", "domain")
    kind = part.partition("=")[0]
    return kinds.index(kind) if kind in kinds else len(kinds), part


def _rate(counts: Sequence[Failed], parts: int) -> Result:
    """The rate with its exact interval at an assumed correlation: three families do not show one."""
    reason = UNGRADED if any(isinstance(count.pair, GradePairTally) for count in counts) else UNANSWERED
    absent = sum(count.pair.incomplete for count in counts)
    missing = {reason: absent} if absent else {}
    if lost := ceil(round(sum(count.pair.lost for count in counts), DIGITS)):
        missing[LOST_REPEATS] = lost
    failed, pairs = by_task((count.pair.cluster, count.failed, count.pair.pairs) for count in counts)
    if not pairs:
        return Undefined(NO_PAIR, excluded=missing)
    total, count = round(sum(failed), DIGITS), round(sum(pairs))
    most = count + absent
    effect = kish_effect(pairs, correlation=PLANNING_CORRELATION)
    tail, effective = ERROR / 2 / parts, count / effect
    method = "Clopper-Pearson on effective pairs, for all parts together"
    hits = total / effect
    return Estimate(
        value=total / count,
        numerator=total,
        denominator=count,
        unit="pair",
        interval=Interval(exact_low(hits, effective, tail), exact_high(hits, effective, tail), method=method),
        clusters=len(pairs),
        planning_effect=effect,
        excluded=missing,
        bounds=(max(0.0, total - lost) / most, min(most, total + absent + lost) / most) if missing else None,
    )


BY_PART = MeasureFamily(
    by_itself,
    contract=(
        "Level: pair; repeats are averaged. Bounds: 0 to 1, {worse}. Undefined in a part without an answered pair. "
        "Interval: Clopper-Pearson on the pairs divided by the design effect at an intra-task correlation of 0.05, at "
        "95% for all parts together (Bonferroni)."
    ),
)


@BY_PART.measure(
    "Large differences missed",
    "How often it does not prefer an answer that meets at least two more requirements, by part of the test cases.",
    worse="higher",
    kinds=("compare", "grade"),
)
def missed_differences(tallies: Tallies, variant: str) -> list[Part]:
    """Share of pairs with a large difference whose better answer is not preferred, in each part of the test cases.

    Formula: for a `compare` judge, 1 - pairs whose better answer wins in both orders / pairs, over differences of two
    requirements or more. For a `grade` judge, 1 - pairs whose better answer has the higher grade / pairs, at the
    largest difference, because a coarse scale cannot show smaller ones.
    """
    compared = [t for t in tallies.pairs if t.variant == variant and t.family == Family.GRADED and t.delta >= LARGE]
    graded = [t for t in tallies.grade_pairs if t.variant == variant and t.family == Family.GRADED]
    top = max((tally.delta for tally in graded), default=0.0)
    counts = [
        *(Failed(tally, tally.pairs - tally.both_correct) for tally in compared),
        *(Failed(tally, tally.pairs - tally.better_higher) for tally in graded if tally.delta == top),
    ]
    return by_part(tallies, variant, counts)


@BY_PART.measure(
    "Verdicts reversed by swapping",
    "How often it names the other answer when the two are swapped, by part of the test cases.",
    worse="higher",
)
def swap_reversals(tallies: Tallies, variant: str) -> list[Part]:
    """Share of pairs in which the same position is named in both orders, in each part of the test cases.

    Formula: positional / pairs, over all pairs of two different answers, whichever is better. A judge that always names
    one position scores 1. Random guessing without ties scores 1/2, so this does not separate position bias from
    guessing.
    """
    pairs = [tally for tally in tallies.pairs if tally.variant == variant and tally.family not in UNPOOLED]
    return by_part(tallies, variant, [Failed(tally, tally.positional) for tally in pairs])
