"""Preferences where there is nothing to prefer: on vacuum, and between two answers of equal quality."""

from collections.abc import Callable, Sequence

from umpirical.domain.measures import Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import PairTally, Tallies, VacuumTally
from umpirical.measures.catalogue import BY_PART, WHOLE_ARM, MeasureFamily, Part
from umpirical.measures.estimates.pairs import (
    CONTROLS,
    UNANSWERED,
    count_pairs,
    counted_share,
    different_grades,
    equal_pairs,
    false_preference,
    incomplete,
    lost,
    of_family,
    pair_share,
    slot_share,
)
from umpirical.measures.estimates.rates import DIGITS, Counted, clustered_rate

Score = Callable[[PairTally], float]


def equal_shares(tallies: Tallies, arm: str, score: Score) -> list[Part]:
    """A share of the pairs of equal quality, then the same of each control; `score` is its numerator in one tally."""
    return [
        *_by_transform(equal_pairs(tallies, arm), lambda chosen: pair_share(chosen, score)),
        *(
            Part(pair_share(chosen, score), part)
            for family, part in CONTROLS.items()
            if (chosen := of_family(tallies, arm, family))
        ),
    ]


def one_sided_shares(tallies: Tallies, arm: str, score: Score) -> list[Part]:
    """A share of the one-sided commits at equal quality."""

    def share(chosen: Sequence[PairTally]) -> Result:
        return clustered_rate(
            [Counted(tally.cluster, score(tally), tally.one_sided) for tally in chosen],
            unit="pair",
            empty="no pair had a winner in exactly one order",
            left_out=incomplete(chosen),
            lost=lost(chosen),
        )

    return _by_transform(equal_pairs(tallies, arm), share)


def _by_transform(chosen: Sequence[PairTally], result: Callable[[Sequence[PairTally]], Result]) -> list[Part]:
    """All pairs first, then those of each transform that makes the two answers differ."""
    transforms = sorted({tally.stratum for tally in chosen if tally.stratum})
    return [
        Part(result(chosen)),
        *(Part(result([tally for tally in chosen if tally.stratum == part]), part) for part in transforms),
    ]


def slot_shares(tallies: Tallies, arm: str, score: Score) -> list[Part]:
    """A share of the calls on pairs of equal quality."""
    return [Part(slot_share(equal_pairs(tallies, arm), score))]


EQUAL = MeasureFamily(
    equal_shares,
    contract=(
        "Pooled, and by the transform that makes the two answers differ. Apart from these, for two controls: answers "
        "that meet as many requirements but not the same (`different-subset`), and answers of which one is longer "
        "(`longer`). Level: canonical pair of equal quality, asked in both orders. Undefined without a pair answered "
        "in both orders. Interval: cluster-Wilson over tasks."
    ),
)

ONE_SIDED = MeasureFamily(
    one_sided_shares,
    contract=(
        "Pooled, and by the transform that makes the two answers differ. Level: canonical pair of equal quality "
        "with a winner in exactly one order. Bounds: 0 to 1; both ends are bad. Undefined without a one-sided "
        "commit. Interval: cluster-Wilson over tasks."
    ),
)

SLOTS = MeasureFamily(
    slot_shares,
    contract=(
        "Undefined without a pair answered in both orders, or where slots were not counted, as in published "
        "counts. Interval: cluster-Wilson over tasks."
    ),
)


@BY_PART.measure(
    "dark-current",
    "Dark current",
    "How often it names a winner where there is nothing to compare, or gives a blank more than the least grade.",
    worse="higher",
    kinds=("compare", "grade"),
    symbol="DC",
)
def dark_current(tallies: Tallies, arm: str) -> list[Part]:
    """How often it makes something of nothing: a winner on vacuum inputs, or more than the least grade for a blank.

    Formula: for a `compare` judge the share of distinct vacuum prompts (empty, whitespace, identical candidates)
    answered with slot 1 or slot 2; for a `grade` judge the share of distinct prompts with an empty or blank answer that
    got more than the least grade. A tie, the least grade or an abstention is no preference. A prompt asked several
    times counts once, with the share of its answers that made something of nothing: both orders of an identical pair
    are one prompt, and repeats measure noise, not more vacuum. Pooled, and by vacuum class. Level: prompt. Bounds: 0 to
    1, higher is worse. Undefined without an answered vacuum prompt. Interval: cluster-Wilson over tasks. Reference: the
    Dark Current paper, equation 1; for grades, ours.
    """
    vacuum = [tally for tally in tallies.vacuum if tally.arm == arm]
    classes = sorted({tally.stratum for tally in vacuum})
    return [
        Part(_vacuum_rate(vacuum)),
        *(Part(_vacuum_rate([t for t in vacuum if t.stratum == name]), name) for name in classes),
    ]


def _vacuum_rate(tallies: Sequence[VacuumTally]) -> Result:
    return clustered_rate(
        [Counted(tally.cluster, tally.false_preferences, tally.prompts) for tally in tallies],
        unit="prompt",
        empty="no vacuum prompt was answered",
        left_out={"without an answer": sum(tally.unanswered for tally in tallies)},
    )


@WHOLE_ARM.measure(
    "raw-false-preference",
    "Raw false preference",
    "How often it names a winner between two equally good answers, or grades them differently.",
    worse="higher",
    kinds=("compare", "grade"),
    symbol="RFP0",
)
def raw_false_preference(tallies: Tallies, arm: str) -> Result:
    """How often one of two equally good answers is preferred.

    Formula: for a `compare` judge (stable + positional + one-sided / 2) / pairs, the mean over pairs of the share of
    the two orders that named a winner; for a `grade` judge the share of pairs with different grades. A mixture, not a
    mechanism: its parts are measures of their own. Level: canonical pair, scoring 0, one half or 1; for a `grade` judge
    0 or 1. Bounds: 0 to 1, higher is worse. Undefined without a pair answered in both orders, or graded on both sides.
    Interval: cluster-Wilson over tasks. Reference: the Dark Current paper, equations 2 and 7; for grades, ours.
    """
    counts = count_pairs(tallies, arm, (Family.DELTA0,), compared=false_preference, graded=different_grades)
    return counted_share(counts)


@EQUAL.measure(
    "stable-cross-sensitivity",
    "Stable cross-sensitivity",
    "How often it prefers the same wording in both orders, though both answers are equally good.",
    worse="depends",
    symbol="SCS",
)
def stable_cross_sensitivity(tally: PairTally) -> float:
    """Share of pairs of equal quality in which the same content won in both orders.

    Formula: stable / pairs. Bad where the task does not ask for a form. Bounds: 0 to 1. Reference: the Dark Current
    paper, equation 3.
    """
    return tally.stable


FEWEST = 20
"""With fewer pairs that the slot did not decide, the share says nothing about wordings."""


@WHOLE_ARM.measure(
    "unlocked-cross-sensitivity",
    "Unlocked cross-sensitivity",
    "Where it does not follow the slot, how often it prefers the same one of two equally good wordings.",
    worse="depends",
)
def unlocked_cross_sensitivity(tallies: Tallies, arm: str) -> Result:
    """Of the pairs of equal quality that the slot did not decide, the share in which the same content won both orders.

    Formula: stable / (pairs - positional), which is stable cross-sensitivity / (1 - positional false preference). A
    judge that always follows the slot has no stable pair, and stable cross-sensitivity would praise it for that. Level:
    canonical pair of equal quality that is not positional; repeats are averaged. Bounds: 0 to 1; bad where the task
    does not ask for a form. Undefined with fewer than 20 such pairs. Interval: cluster-Wilson over tasks.
    """
    equal = equal_pairs(tallies, arm)
    found = clustered_rate(
        [Counted(tally.cluster, tally.stable, tally.pairs - tally.positional) for tally in equal],
        unit="pair",
        empty="in every pair answered in both orders, the same slot won both times",
        left_out={UNANSWERED: sum(tally.incomplete for tally in equal)},
        lost=sum(tally.lost for tally in equal),
    )
    free = sum(tally.pairs - tally.positional for tally in equal)
    if isinstance(found, Undefined) or free >= FEWEST:
        return found
    reason = f"the slot did not decide {free:g} pairs only: fewer than {FEWEST} say nothing about wordings"
    return Undefined(reason, left_out=found.left_out)


@EQUAL.measure(
    "positional-false-preference",
    "Positional false preference",
    "How often it names the same slot in both orders, whatever is in it.",
    worse="higher",
    symbol="PFP",
)
def positional_false_preference(tally: PairTally) -> float:
    """Share of pairs of equal quality in which the same slot won in both orders, so that the content changed.

    Formula: positional / pairs. Bounds: 0 to 1. Reference: the Dark Current paper, equation 4.
    """
    return tally.positional


@EQUAL.measure(
    "one-sided-commit",
    "One-sided commit",
    "How often it names a winner in one order and none in the other.",
    worse="depends",
    symbol="OSC",
)
def one_sided_commit(tally: PairTally) -> float:
    """Share of pairs of equal quality with a winner in exactly one order.

    Formula: one-sided / pairs. Bounds: 0 to 1. Reference: the Dark Current paper, equation 5.
    """
    return tally.one_sided


@EQUAL.measure(
    "other-conflict",
    "Other conflict",
    "How often a pair of equally good answers has an outcome with no other name; 0 unless something is amiss.",
    worse="higher",
    symbol="Other",
)
def other_conflict(tally: PairTally) -> float:
    """Share of pairs of equal quality that are neither stable, positional, one-sided nor without preference.

    Formula: (pairs - stable - positional - one-sided - no preference) / pairs: the pairs behind the paper's residual,
    RFP0 - SCS - PFP - OSC/2. A guard: if every answer of a pair is a slot, a tie or an abstention, which counts as no
    preference, it is 0 by construction, as in every run counted here; published counts may hold other kinds. Our raw
    false preference counts the named parts only. Bounds: 0 to 1; any is bad. Reference: the Dark Current paper,
    equations 6 and 7.
    """
    return round(tally.pairs - tally.stable - tally.positional - tally.one_sided - tally.no_preference, DIGITS)


@EQUAL.measure(
    "no-preference",
    "No preference",
    "How often it ties (or abstains) in both orders on answers of equal quality.",
    worse="depends",
    symbol="NP",
)
def no_preference(tally: PairTally) -> float:
    """Share of pairs of equal quality with a winner in neither order: ties, abstentions or one of each.

    Formula: pairs without a winner in either order / pairs. Bounds: 0 to 1. Reference: the Dark Current paper, table 7.
    """
    return tally.no_preference


@ONE_SIDED.measure(
    "one-sided-slot",
    "One-sided commits in slot 1",
    "Where it names a winner in one order only, how often that is slot 1; one half means no lean to a slot.",
    worse="depends",
)
def one_sided_slot(tally: PairTally) -> float:
    """The share of one-sided commits at equal quality whose winner sat in slot 1.

    Formula: one-sided in slot 1 / one-sided. A judge that leans to one slot but often ties has few positional pairs and
    many one-sided ones; this share shows the lean. Without a lean it is one half, so read the interval against .5.
    """
    return tally.one_sided_slot_1


@ONE_SIDED.measure(
    "one-sided-content",
    "One-sided commits to content u",
    "Where it names a winner in one order only, how often that is the first content; a sound run gives one half.",
    worse="depends",
)
def one_sided_content(tally: PairTally) -> float:
    """The share of one-sided commits at equal quality that content u won.

    Formula: one-sided for u / one-sided. Which content is called u is arbitrary, and a coin decides which of the two is
    transformed, so a sound run gives one half: another value shows that the stimuli or the mapping from slots to
    contents are not what they seem.
    """
    return tally.one_sided_u


@SLOTS.measure(
    "slot-1-rate", "Slot 1 rate", "How often it names slot 1 between two equally good answers.", worse="depends"
)
def slot_1_rate(tally: PairTally) -> float:
    """Share of calls on pairs of equal quality that named slot 1.

    Formula: slot 1 calls / (2 · pairs). Each content sits in each slot once, so a judge without position bias names
    both slots equally often. Level: call. Bounds: 0 to 1; bad where it differs from the rate of slot 2.
    """
    return tally.slot_1_calls


@SLOTS.measure(
    "slot-2-rate", "Slot 2 rate", "How often it names slot 2 between two equally good answers.", worse="depends"
)
def slot_2_rate(tally: PairTally) -> float:
    """Share of calls on pairs of equal quality that named slot 2.

    Formula: slot 2 calls / (2 · pairs). Each content sits in each slot once, so a judge without position bias names
    both slots equally often. Level: call. Bounds: 0 to 1; bad where it differs from the rate of slot 1.
    """
    return tally.slot_2_calls
