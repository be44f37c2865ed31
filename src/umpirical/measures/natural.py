"""Natural pairs: two answers of which nobody planted which is better.

People chose one of the two in labelled pairs; of verdicts of the past only the orders are known. That a judge keeps to
one of two natural answers is no fault, so what becomes of them as they change places is no false preference.
"""

from collections.abc import Callable, Sequence

import numpy as np

from umpirical.domain.measures import Result, Undefined
from umpirical.domain.tallies import EditTally, PairTally, Tallies
from umpirical.measures.catalogue import BY_PART, MeasureFamily, Part
from umpirical.measures.estimates.items import balanced_share, by_part, chance_corrected
from umpirical.measures.estimates.pairs import (
    UNANSWERED,
    of_family,
    pair_agreement_of,
    pair_share,
    right_half,
    slot_share,
)
from umpirical.measures.estimates.rates import (
    ONE_TASK,
    Counted,
    clustered_rate,
    difference_result,
    paired_by_task,
)

NATURAL = "natural"
"""The family of such pairs. The stratum of a tally of them is a group, `subset=math`; empty for all pairs."""

CHOSEN_SIDE, REJECTED_SIDE = "side=chosen", "side=rejected"
"""Groups of edited pairs, by the answer that was edited."""

LONGER_CHOSEN, LONGER_REJECTED = "longer=chosen", "longer=rejected"
"""Groups of labelled pairs, by the answer that has more characters."""

NO_CONTRAST = "the longer answer is always the chosen one, or always the rejected one: a judge of length looks the same"
UNCOMPARED = "without a verdict as it is or edited"
Score = Callable[[PairTally], float]


def natural_shares(tallies: Tallies, arm: str, score: Score) -> list[Part]:
    """A share of the pairs, each asked in both orders; all of them first, then each group."""
    return by_group(tallies, arm, lambda chosen: pair_share(chosen, score))


def natural_slots(tallies: Tallies, arm: str, score: Score) -> list[Part]:
    """A share of the calls, two to a pair; those on all pairs first, then those on each group."""
    return by_group(tallies, arm, lambda chosen: slot_share(chosen, score))


def by_group(tallies: Tallies, arm: str, result: Callable[[Sequence[PairTally]], Result]) -> list[Part]:
    """One measure for all pairs, even if there is none, and one for each group there is."""
    own = of_family(tallies, arm, NATURAL)
    groups = sorted({"", *(tally.stratum for tally in own)})
    return [Part(result([tally for tally in own if tally.stratum == group]), group=group) for group in groups]


def _edits(*groups: str) -> MeasureFamily[Callable[[EditTally], float]]:
    """Shares of the edited pairs, for every edit and for some groups of them."""

    def shares(tallies: Tallies, arm: str, score: Callable[[EditTally], float]) -> list[Part]:
        def result(chosen: Sequence[EditTally]) -> Result:
            return clustered_rate(
                [Counted(tally.cluster, score(tally), tally.pairs) for tally in chosen],
                unit="pair",
                empty="no pair has a verdict in both orders, as it is and edited",
                left_out={UNCOMPARED: sum(tally.incomplete for tally in chosen)},
                lost=sum(tally.lost for tally in chosen),
            )

        return by_part([t for t in tallies.edits if t.arm == arm and t.group in groups], result)

    return MeasureFamily(
        shares,
        protocols=("pairs",),
        contract=(
            "Level: labelled pair with a verdict as it is and edited, in the same order. Bounds: 0 to 1, {worse}. Not "
            "given without edits. Undefined without two clusters of such pairs. Interval: cluster-Wilson over tasks."
        ),
    )


NATURAL_PAIRS = MeasureFamily(
    natural_shares,
    protocols=("pairs",),
    contract=(
        "Level: natural pair, asked in both orders; repeats are averaged. Bounds: 0 to 1, {worse}. Undefined "
        "without two clusters of pairs answered in both orders. Interval: cluster-Wilson over tasks."
    ),
)

NATURAL_CALLS = MeasureFamily(
    natural_slots,
    protocols=("pairs",),
    contract=(
        "Level: call, two to a natural pair. Bounds: 0 to 1, {worse}. Undefined without two clusters of pairs "
        "answered in both orders. Interval: cluster-Wilson over tasks."
    ),
)

EDITS = _edits("", CHOSEN_SIDE, REJECTED_SIDE)
REJECTED_EDITS = _edits(REJECTED_SIDE)


@NATURAL_PAIRS.measure(
    "both-orders-accuracy",
    "Right in both orders",
    "How often it names the chosen answer in both orders of a pair.",
    worse="lower",
)
def both_orders_accuracy(tally: PairTally) -> float:
    """Share of labelled pairs in which the chosen answer won in both orders.

    Formula: both correct / pairs. A coin that never ties scores 1/4, and a judge that always names one slot 0.
    """
    return tally.both_correct


@NATURAL_PAIRS.measure(
    "both-orders-error",
    "Wrong in both orders",
    "How often it names the rejected answer in both orders of a pair.",
    worse="higher",
)
def both_orders_error(tally: PairTally) -> float:
    """Share of labelled pairs in which the rejected answer won in both orders.

    Formula: (stable - both correct) / pairs. Not the judge's noise or its slot, but its taste, or a wrong label.
    """
    return tally.stable - tally.both_correct


@NATURAL_PAIRS.measure(
    "same-answer-rate",
    "Same answer in both orders",
    "How often it names the same answer in both orders: the part of its choices that the order does not touch.",
    worse="lower",
)
def same_answer_rate(tally: PairTally) -> float:
    """Share of pairs in which the same answer won in both orders.

    Formula: stable / pairs. With the same-slot rate, the one-order rate and the no-winner rate it sums to 1.
    """
    return tally.stable


@NATURAL_PAIRS.measure(
    "same-slot-rate",
    "Same slot in both orders",
    "How often it names the same slot in both orders, so that the answer changes with the order alone.",
    worse="higher",
)
def same_slot_rate(tally: PairTally) -> float:
    """Share of pairs in which the same slot won in both orders, so that the answer changed.

    Formula: positional / pairs. What the datasheet calls a positional false preference where nothing is better.
    """
    return tally.positional


@NATURAL_PAIRS.measure(
    "one-order-rate",
    "A winner in one order only",
    "How often it names a winner in one order and none in the other.",
    worse="higher",
)
def one_order_rate(tally: PairTally) -> float:
    """Share of pairs with a winner in exactly one order; the other was a tie or an abstention.

    Formula: one-sided / pairs.
    """
    return tally.one_sided


@NATURAL_PAIRS.measure(
    "no-winner-rate", "No winner in either order", "How often it names no winner in either order.", worse="depends"
)
def no_winner_rate(tally: PairTally) -> float:
    """Share of pairs without a winner in either order: ties, abstentions or one of each.

    Formula: no preference / pairs.
    """
    return tally.no_preference


@NATURAL_CALLS.measure(
    "named-slot-1-rate",
    "Slot 1 named",
    "How often it names slot 1. Each answer was in each slot once, so a sound judge names both equally often.",
    worse="depends",
)
def named_slot_1_rate(tally: PairTally) -> float:
    """Share of calls that named slot 1.

    Formula: slot 1 calls / (2 · pairs).
    """
    return tally.slot_1_calls


@NATURAL_CALLS.measure("named-slot-2-rate", "Slot 2 named", "How often it names slot 2.", worse="depends")
def named_slot_2_rate(tally: PairTally) -> float:
    """Share of calls that named slot 2.

    Formula: slot 2 calls / (2 · pairs).
    """
    return tally.slot_2_calls


@NATURAL_CALLS.measure(
    "single-order-accuracy",
    "Right in one order, on average",
    "How often it names the chosen answer if each pair is asked once, in an order drawn at random.",
    worse="lower",
)
def single_order_accuracy(tally: PairTally) -> float:
    """Share of calls that named the chosen answer, over both orders: the naive accuracy, at which a coin scores 1/2.

    Formula: correct calls / (2 · pairs). A judge that always names one slot scores 1/2.
    """
    return tally.correct_calls


@NATURAL_PAIRS.measure(
    "chosen-first-accuracy",
    "Right with the chosen answer first",
    "How often it names the chosen answer where that is in slot 1. A judge of slot 1 is always right here.",
    worse="lower",
)
def chosen_first_accuracy(tally: PairTally) -> float:
    """Share of labelled pairs in which the chosen answer was named while it was in slot 1.

    Formula: correct calls with the chosen answer in slot 1 / pairs.
    """
    return tally.slot_1_correct_calls


@NATURAL_PAIRS.measure(
    "chosen-second-accuracy",
    "Right with the chosen answer second",
    "How often it names the chosen answer where that is in slot 2. A judge of slot 1 is never right here.",
    worse="lower",
)
def chosen_second_accuracy(tally: PairTally) -> float:
    """Share of labelled pairs in which the chosen answer was named while it was in slot 2.

    Formula: correct calls with the chosen answer in slot 2 / pairs.
    """
    return tally.correct_calls - tally.slot_1_correct_calls


@BY_PART.measure(
    "pair-agreement",
    "Agreement with the labels",
    "How far its choices agree with the labels beyond chance: 1 is always right, 0 is chance, -1 is always wrong.",
    worse="lower",
    scale="coefficient",
    protocols=("pairs",),
)
def pair_agreement(tallies: Tallies, arm: str) -> list[Part]:
    """Calls that name the chosen answer, less those that name the rejected one, as a share of all calls.

    Formula: (correct calls - wrong calls) / (2 · pairs). Each pair is asked in both orders, so a judge that always
    names one slot, one that always ties and a coin all have 0. It is Cohen's kappa, for a judge that names both slots
    equally often and never ties. Level: labelled pair, asked in both orders; repeats are averaged. Bounds: -1 to 1,
    lower is worse. Undefined without two clusters of pairs answered in both orders. Interval: twice the cluster-Wilson
    limits of the share of right calls over tasks, a call without a winner counting one half, less 1.
    """
    return by_group(tallies, arm, pair_agreement_of)


@BY_PART.measure(
    "pair-agreement-beyond-length",
    "Agreement beyond length",
    "The same, with pairs whose longer answer is chosen and rejected counting alike: 0 for a judge of length.",
    worse="lower",
    scale="coefficient",
    protocols=("pairs",),
)
def pair_agreement_beyond_length(tallies: Tallies, arm: str) -> list[Part]:
    """Mean of the agreement where the longer answer is the chosen one and where it is the rejected one.

    Formula: half of the one agreement and half of the other. A judge that takes the longer answer has 1 and -1, and so
    0, whatever share of the chosen answers is longer. Where no two answers differ in length it is the agreement over
    all pairs. Level: labelled pair whose answers differ in length. Bounds: -1 to 1, lower is worse. Not given without
    labelled pairs. Undefined if one of the two groups has no pair, and without two clusters of pairs answered in both
    orders. Interval: cluster-Wilson of the mean of two rates over clusters of pairs, twice that less 1.
    """
    own = of_family(tallies, arm, NATURAL)
    groups = [[t for t in own if t.stratum == group] for group in (LONGER_CHOSEN, LONGER_REJECTED)]
    if not own:
        return []
    if not any(groups):
        return [Part(pair_agreement_of([t for t in own if not t.stratum]))]
    missing = [sum(t.incomplete for t in group) for group in groups]
    left_out = {UNANSWERED: sum(missing)} if any(missing) else {}
    clusters = {name: place for place, name in enumerate(sorted({t.cluster for g in groups for t in g if t.pairs}))}
    hits, units = np.zeros((len(clusters), 2)), np.zeros((len(clusters), 2))
    for column, group in enumerate(groups):
        for tally in (one for one in group if one.pairs):
            hits[clusters[tally.cluster], column] += right_half(tally)
            units[clusters[tally.cluster], column] += tally.pairs
    if not units.sum(axis=0).all() or len(clusters) < 2:
        return [Part(Undefined(NO_CONTRAST if len(clusters) > 1 or not clusters else ONE_TASK, left_out=left_out))]
    return [Part(chance_corrected(balanced_share(hits, units, missing, unit="pair", left_out=left_out)))]


@BY_PART.measure(
    "length-gap",
    "Length gap",
    "How much more often it is right in both orders where the longer answer is the chosen one.",
    worse="depends",
    scale="difference",
    protocols=("pairs",),
)
def length_gap(tallies: Tallies, arm: str) -> list[Part]:
    """Accuracy with both orders where the longer answer is the chosen one, less that where it is the rejected one.

    Formula: both correct / pairs of the one group, less that of the other. A judge that takes the longer answer has 1,
    whatever its accuracy. It is no proof of a taste for length: the pairs of the two groups differ in more than that.
    Level: labelled pair whose answers differ in length. Bounds: -1 to 1; 0 is no gap. Not given without labelled pairs.
    Undefined without two clusters of pairs answered in both orders in each group. Interval: cluster-Wilson limits of
    both shares, joined over tasks (Newcombe's square-and-add).
    """
    own = of_family(tallies, arm, NATURAL)
    longer, shorter = ([t for t in own if t.stratum == group] for group in (LONGER_CHOSEN, LONGER_REJECTED))
    if not longer and not shorter:
        return []
    one, other = ([Counted(t.cluster, t.both_correct, t.pairs) for t in group] for group in (longer, shorter))
    found = difference_result(
        paired_by_task(one, other, shared=False),
        unit="pair",
        empty="no pair in one of the groups has an answer in both orders",
        left_out={UNANSWERED: sum(tally.incomplete for tally in (*longer, *shorter))},
    )
    return [Part(found)]


@EDITS.measure(
    "edit-favour",
    "Won over by an edit",
    "How often its verdict moves towards the answer that was edited without a change of meaning.",
    worse="higher",
)
def edit_favour(tally: EditTally) -> float:
    """Share of verdicts that moved towards the edited answer, by edit and by the answer that was edited.

    Formula: favoured / pairs. With edit disfavour it sums to the change rate. A judge that answers the same question
    differently moves both ways without any edit: read the excess change beside it.
    """
    return tally.favoured


@EDITS.measure(
    "edit-disfavour",
    "Turned away by an edit",
    "How often its verdict moves away from the answer that was edited without a change of meaning.",
    worse="higher",
)
def edit_disfavour(tally: EditTally) -> float:
    """Share of verdicts that moved away from the edited answer, by edit and by the answer that was edited.

    Formula: disfavoured / pairs. With edit favour it sums to the change rate.
    """
    return tally.disfavoured


@REJECTED_EDITS.measure(
    "edit-overturn",
    "Overturned by an edit",
    "How often the rejected answer is named after a harmless edit of it, where it was not named as it was.",
    worse="higher",
)
def edit_overturn(tally: EditTally) -> float:
    """Share of verdicts that name the edited rejected answer and did not name it as it was, by edit.

    Formula: overturned / pairs. The number that tells whether who writes a worse answer can win by its form.
    """
    return tally.overturned


SWAPPED = (
    same_answer_rate,
    same_slot_rate,
    one_order_rate,
    no_winner_rate,
    named_slot_1_rate,
    named_slot_2_rate,
)
"""What becomes of a natural pair when its two answers change places: given for verdicts of the past, too."""
