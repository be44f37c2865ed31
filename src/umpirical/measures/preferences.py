"""False preferences: on blank inputs, and between two equally good answers."""

from collections.abc import Callable, Sequence

from umpirical.domain.measures import Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import PairTally, Tallies, VacuumTally
from umpirical.measures.catalogue import BY_PART, WHOLE_VARIANT, MeasureFamily, Part
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


def equal_shares(tallies: Tallies, variant: str, score: Score) -> list[Part]:
    """A share of the pairs of equal quality, then the same of each control; `score` is its numerator in one tally."""
    return [
        *_by_transform(equal_pairs(tallies, variant), lambda chosen: pair_share(chosen, score)),
        *(
            Part(pair_share(chosen, score), part)
            for family, part in CONTROLS.items()
            if (chosen := of_family(tallies, variant, family))
        ),
    ]


def one_sided_shares(tallies: Tallies, variant: str, score: Score) -> list[Part]:
    """A share of the one-sided commits at equal quality."""

    def share(chosen: Sequence[PairTally]) -> Result:
        return clustered_rate(
            [Counted(tally.cluster, score(tally), tally.one_sided) for tally in chosen],
            unit="pair",
            empty="no pair had a winner in exactly one order",
            excluded=incomplete(chosen),
            lost=lost(chosen),
        )

    return _by_transform(equal_pairs(tallies, variant), share)


def _by_transform(chosen: Sequence[PairTally], result: Callable[[Sequence[PairTally]], Result]) -> list[Part]:
    """All pairs first, then those of each transform that makes the two answers differ."""
    transforms = sorted({tally.stratum for tally in chosen if tally.stratum})
    return [
        Part(result(chosen)),
        *(Part(result([tally for tally in chosen if tally.stratum == part]), part) for part in transforms),
    ]


def slot_shares(tallies: Tallies, variant: str, score: Score) -> list[Part]:
    """A share of the calls on pairs of equal quality."""
    return [Part(slot_share(equal_pairs(tallies, variant), score))]


EQUAL = MeasureFamily(
    equal_shares,
    contract=(
        "Pooled, and by the change that makes the two answers differ. Also for two controls: answers that meet equally "
        "many requirements but not the same ones (`different-subset`), and answers with the same content but "
        "different lengths (`longer`). Level: canonical pair of equal quality, asked in both orders. Undefined without "
        "a pair answered in both orders. Interval: cluster-Wilson over tasks."
    ),
)

ONE_SIDED = MeasureFamily(
    one_sided_shares,
    contract=(
        "Pooled, and by the change that makes the two answers differ. Level: canonical pair of equal quality with a "
        "winner in exactly one order. Bounds: 0 to 1; both ends are bad. Undefined without such a pair. Interval: "
        "cluster-Wilson over tasks."
    ),
)

SLOTS = MeasureFamily(
    slot_shares,
    contract=(
        "Undefined without a pair answered in both orders, or if positions were not counted, as in published counts. "
        "Interval: cluster-Wilson over tasks."
    ),
)


@BY_PART.measure(
    "Blank-input preference",
    "How often it names a winner between blank or identical answers (dark current), or gives a blank answer more "
    "than the lowest grade.",
    worse="higher",
    kinds=("compare", "grade"),
    symbol="DC",
)
def dark_current(tallies: Tallies, variant: str) -> list[Part]:
    """Share of blank inputs that get a preference: a winner, or more than the lowest grade.

    Formula: for a `compare` judge, the share of distinct blank-input prompts (empty, whitespace or identical answers)
    for which it names the first or the second answer. For a `grade` judge, the share of distinct prompts with an empty
    or blank answer that gets more than the lowest grade. A tie, the lowest grade or an abstention is not a preference.
    A prompt that is asked several times counts once, with the share of its replies that show a preference. Both orders
    of an identical pair are one prompt, and repeats measure noise. Pooled, and by kind of blank input. Level: prompt.
    Bounds: 0 to 1, higher is worse. Undefined without an answered blank-input prompt. Interval: cluster-Wilson over
    tasks. Reference: the Dark Current paper, equation 1; for grades, ours.
    """
    vacuum = [tally for tally in tallies.vacuum if tally.variant == variant]
    classes = sorted({tally.stratum for tally in vacuum})
    return [
        Part(_vacuum_rate(vacuum)),
        *(Part(_vacuum_rate([t for t in vacuum if t.stratum == name]), name) for name in classes),
    ]


def _vacuum_rate(tallies: Sequence[VacuumTally]) -> Result:
    return clustered_rate(
        [Counted(tally.cluster, tally.false_preferences, tally.prompts) for tally in tallies],
        unit="prompt",
        empty="no blank-input prompt was answered",
        excluded={"without an answer": sum(tally.unanswered for tally in tallies)},
    )


@WHOLE_VARIANT.measure(
    "False preference",
    "How often it names a winner between two equally good answers, or gives them different grades.",
    worse="higher",
    kinds=("compare", "grade"),
    symbol="RFP0",
)
def raw_false_preference(tallies: Tallies, variant: str) -> Result:
    """Share of equally good pairs in which one answer is preferred.

    Formula: for a `compare` judge, (stable + positional + one-sided / 2) / pairs: the mean over pairs of the share of
    the two orders that name a winner. For a `grade` judge, the share of pairs with different grades. This is a mixture;
    its parts are separate measures. Level: canonical pair, scoring 0, one half or 1; for a `grade` judge 0 or 1.
    Bounds: 0 to 1, higher is worse. Undefined without a pair answered in both orders, or graded on both sides.
    Interval: cluster-Wilson over tasks. Reference: the Dark Current paper, equations 2 and 7; for grades, ours.
    """
    counts = count_pairs(tallies, variant, (Family.EQUAL,), compared=false_preference, graded=different_grades)
    return counted_share(counts)


@EQUAL.measure(
    "Wording bias",
    "How often it prefers the same one of two equally good answers in both orders.",
    worse="depends",
    symbol="SCS",
)
def stable_cross_sensitivity(tally: PairTally) -> float:
    """Share of equally good pairs in which the same answer wins in both orders.

    Formula: stable / pairs. A higher value is worse if the task does not ask for a particular form. Bounds: 0 to 1.
    Reference: the Dark Current paper, equation 3.
    """
    return tally.stable


FEWEST = 20
"""With fewer pairs that position did not decide, the share says nothing about wordings."""


@WHOLE_VARIANT.measure(
    "Wording bias without position bias",
    "Among pairs that position does not decide, how often it prefers the same one of two equally good answers.",
    worse="depends",
)
def unlocked_cross_sensitivity(tallies: Tallies, variant: str) -> Result:
    """Share of equally good pairs in which the same answer wins in both orders, among pairs not decided by position.

    Formula: stable / (pairs - positional), which is wording bias / (1 - position bias). A judge that always follows the
    position has no stable pair, so its wording bias would look low. Level: canonical pair of equal quality that is not
    positional; repeats are averaged. Bounds: 0 to 1; higher is worse if the task does not ask for a particular form.
    Undefined with fewer than 20 such pairs. Interval: cluster-Wilson over tasks.
    """
    equal = equal_pairs(tallies, variant)
    found = clustered_rate(
        [Counted(tally.cluster, tally.stable, tally.pairs - tally.positional) for tally in equal],
        unit="pair",
        empty="position decided every pair that was answered in both orders",
        excluded={UNANSWERED: sum(tally.incomplete for tally in equal)},
        lost=sum(tally.lost for tally in equal),
    )
    free = sum(tally.pairs - tally.positional for tally in equal)
    if isinstance(found, Undefined) or free >= FEWEST:
        return found
    reason = f"only {free:g} pairs were not decided by position (minimum {FEWEST})"
    return Undefined(reason, excluded=found.excluded)


@EQUAL.measure(
    "Position bias",
    "How often it names the same position in both orders of two equally good answers.",
    worse="higher",
    symbol="PFP",
)
def positional_false_preference(tally: PairTally) -> float:
    """Share of equally good pairs in which the same position wins in both orders, although the answers are swapped.

    Formula: positional / pairs. Bounds: 0 to 1. Reference: the Dark Current paper, equation 4.
    """
    return tally.positional


@EQUAL.measure(
    "Preference in one order only",
    "How often it names a winner in only one of the two orders of two equally good answers.",
    worse="depends",
    symbol="OSC",
)
def one_sided_commit(tally: PairTally) -> float:
    """Share of equally good pairs with a winner in exactly one order.

    Formula: one-sided / pairs. Bounds: 0 to 1. Reference: the Dark Current paper, equation 5.
    """
    return tally.one_sided


@EQUAL.measure(
    "Other outcomes",
    "How often a pair of equally good answers has any other outcome. It is 0 unless the data are inconsistent.",
    worse="higher",
    symbol="Other",
)
def other_conflict(tally: PairTally) -> float:
    """Share of equally good pairs that are not stable, positional, one-sided or without preference.

    Formula: (pairs - stable - positional - one-sided - no preference) / pairs. These are the pairs behind the paper's
    residual, RFP0 - SCS - PFP - OSC/2. It is a consistency check. If every reply of a pair names a position, a tie or
    an abstention, it is 0 by construction, as in every run counted here. Published counts may contain other replies.
    Our false preference counts only the named parts. Bounds: 0 to 1; any value above 0 is bad. Reference: the Dark
    Current paper, equations 6 and 7.
    """
    return round(tally.pairs - tally.stable - tally.positional - tally.one_sided - tally.no_preference, DIGITS)


@EQUAL.measure(
    "No preference",
    "How often it ties or abstains in both orders of two equally good answers.",
    worse="depends",
    symbol="NP",
)
def no_preference(tally: PairTally) -> float:
    """Share of equally good pairs without a winner in either order: ties, abstentions or one of each.

    Formula: pairs without a winner in either order / pairs. Bounds: 0 to 1. Reference: the Dark Current paper, table 7.
    """
    return tally.no_preference


@ONE_SIDED.measure(
    "One-order preferences for the first position",
    "When it names a winner in only one order, how often that is the first answer; 50% means no position bias.",
    worse="depends",
)
def one_sided_slot(tally: PairTally) -> float:
    """Share of the one-order preferences between equally good answers that name the first position.

    Formula: one-sided in position 1 / one-sided. A judge that leans to one position but often ties has few positional
    pairs and many one-sided ones, and this share shows the lean. Without a lean it is one half, so compare the interval
    with 0.5.
    """
    return tally.one_sided_position_1


@ONE_SIDED.measure(
    "One-order preferences for answer A",
    "When it names a winner in only one order, how often that is answer A; a valid run gives about 50%.",
    worse="depends",
)
def one_sided_content(tally: PairTally) -> float:
    """Share of the one-order preferences between equally good answers that name answer A (u).

    Formula: one-sided for a / one-sided. Which answer is called a is arbitrary, and a coin decides which of the two is
    changed, so a valid run gives one half. Any other value means that the test cases, or the mapping from positions to
    answers, are wrong.
    """
    return tally.one_sided_a


@SLOTS.measure("First position named", "How often it names the first of two equally good answers.", worse="depends")
def slot_1_rate(tally: PairTally) -> float:
    """Share of calls on equally good pairs that name the first position.

    Formula: position 1 calls / (2 · pairs). Each answer is in each position once, so a judge without position bias
    names both positions equally often. Level: call. Bounds: 0 to 1; bad if it differs from the rate of the second
    position.
    """
    return tally.position_1_calls


@SLOTS.measure("Second position named", "How often it names the second of two equally good answers.", worse="depends")
def slot_2_rate(tally: PairTally) -> float:
    """Share of calls on equally good pairs that name the second position.

    Formula: position 2 calls / (2 · pairs). Each answer is in each position once, so a judge without position bias
    names both positions equally often. Level: call. Bounds: 0 to 1; bad if it differs from the rate of the first
    position.
    """
    return tally.position_2_calls
