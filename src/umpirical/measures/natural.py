"""Natural pairs: two real answers, without a known true winner.

In labeled pairs, people chose one of the two; for past verdicts only the orders are known. A judge may rightly prefer
one of two natural answers, so a stable preference here is not a false preference.
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

NO_CONTRAST = "the longer answer is always the chosen one or always the rejected one, so length cannot be separated"
UNCOMPARED = "without a verdict on the original or the edited pair"
Score = Callable[[PairTally], float]


def natural_shares(tallies: Tallies, variant: str, score: Score) -> list[Part]:
    """A share of the pairs, each asked in both orders; all of them first, then each group."""
    return by_group(tallies, variant, lambda chosen: pair_share(chosen, score))


def natural_slots(tallies: Tallies, variant: str, score: Score) -> list[Part]:
    """A share of the calls, two to a pair; those on all pairs first, then those on each group."""
    return by_group(tallies, variant, lambda chosen: slot_share(chosen, score))


def by_group(tallies: Tallies, variant: str, result: Callable[[Sequence[PairTally]], Result]) -> list[Part]:
    """One measure for all pairs, even if there is none, and one for each group there is."""
    own = of_family(tallies, variant, NATURAL)
    groups = sorted({"", *(tally.stratum for tally in own)})
    return [Part(result([tally for tally in own if tally.stratum == group]), group=group) for group in groups]


def _edits(*groups: str) -> MeasureFamily[Callable[[EditTally], float]]:
    """Shares of the edited pairs, for every edit and for some groups of them."""

    def shares(tallies: Tallies, variant: str, score: Callable[[EditTally], float]) -> list[Part]:
        def result(chosen: Sequence[EditTally]) -> Result:
            return clustered_rate(
                [Counted(tally.cluster, score(tally), tally.pairs) for tally in chosen],
                unit="pair",
                empty="no pair has a verdict in both orders, original and edited",
                excluded={UNCOMPARED: sum(tally.incomplete for tally in chosen)},
                lost=sum(tally.lost for tally in chosen),
            )

        return by_part([t for t in tallies.edits if t.variant == variant and t.group in groups], result)

    return MeasureFamily(
        shares,
        protocols=("pairs",),
        contract=(
            "Level: labeled pair with a verdict on the original and the edited pair, in the same order. Bounds: "
            "0 to 1, {worse}. Not given without edits. Undefined without two clusters of such pairs. Interval: "
            "cluster-Wilson over tasks."
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
    "Right in both orders", "How often it names the chosen answer in both orders of a pair.", worse="lower"
)
def both_orders_accuracy(tally: PairTally) -> float:
    """Share of labeled pairs in which the chosen answer wins in both orders.

    Formula: both correct / pairs. Random guessing without ties scores 1/4, and a judge that always names one position
    0.
    """
    return tally.both_correct


@NATURAL_PAIRS.measure(
    "Wrong in both orders", "How often it names the rejected answer in both orders of a pair.", worse="higher"
)
def both_orders_error(tally: PairTally) -> float:
    """Share of labeled pairs in which the rejected answer wins in both orders.

    Formula: (stable - both correct) / pairs. The cause is not noise or position, but the judge's own preference, or a
    wrong label.
    """
    return tally.stable - tally.both_correct


@NATURAL_PAIRS.measure(
    "Same answer in both orders",
    "How often it names the same answer in both orders, so that the order does not matter.",
    worse="lower",
)
def same_answer_rate(tally: PairTally) -> float:
    """Share of pairs in which the same answer wins in both orders.

    Formula: stable / pairs. With the same-position rate, the one-order rate and the no-winner rate it sums to 1.
    """
    return tally.stable


@NATURAL_PAIRS.measure(
    "Same position in both orders",
    "How often it names the same position in both orders, so that the order decides.",
    worse="higher",
)
def same_slot_rate(tally: PairTally) -> float:
    """Share of pairs in which the same position wins in both orders, although the answers are swapped.

    Formula: positional / pairs. For equally good answers, a datasheet calls this position bias.
    """
    return tally.positional


@NATURAL_PAIRS.measure(
    "A winner in one order only", "How often it names a winner in only one of the two orders.", worse="higher"
)
def one_order_rate(tally: PairTally) -> float:
    """Share of pairs with a winner in exactly one order; the other is a tie or an abstention.

    Formula: one-sided / pairs.
    """
    return tally.one_sided


@NATURAL_PAIRS.measure("No winner in either order", "How often it names no winner in either order.", worse="depends")
def no_winner_rate(tally: PairTally) -> float:
    """Share of pairs without a winner in either order: ties, abstentions or one of each.

    Formula: no preference / pairs.
    """
    return tally.no_preference


@NATURAL_CALLS.measure(
    "First position named",
    "How often it names the first answer. Each answer is first once, so an unbiased judge names both positions "
    "equally often.",
    worse="depends",
)
def named_slot_1_rate(tally: PairTally) -> float:
    """Share of calls that name the first position.

    Formula: position 1 calls / (2 · pairs).
    """
    return tally.position_1_calls


@NATURAL_CALLS.measure("Second position named", "How often it names the second answer.", worse="depends")
def named_slot_2_rate(tally: PairTally) -> float:
    """Share of calls that name the second position.

    Formula: position 2 calls / (2 · pairs).
    """
    return tally.position_2_calls


@NATURAL_CALLS.measure(
    "Right in one order, on average",
    "How often it names the chosen answer if each pair is asked once, in random order.",
    worse="lower",
)
def single_order_accuracy(tally: PairTally) -> float:
    """Share of calls that name the chosen answer, over both orders: the naive accuracy, at which guessing scores 1/2.

    Formula: correct calls / (2 · pairs). A judge that always names one position scores 1/2.
    """
    return tally.correct_calls


@NATURAL_PAIRS.measure(
    "Right with the chosen answer first",
    "How often it names the chosen answer when that is first. A judge that always picks the first is always right "
    "here.",
    worse="lower",
)
def chosen_first_accuracy(tally: PairTally) -> float:
    """Share of labeled pairs in which the chosen answer is named while it is first.

    Formula: correct calls with the chosen answer in position 1 / pairs.
    """
    return tally.position_1_correct_calls


@NATURAL_PAIRS.measure(
    "Right with the chosen answer second",
    "How often it names the chosen answer when that is second. A judge that always picks the first is never right "
    "here.",
    worse="lower",
)
def chosen_second_accuracy(tally: PairTally) -> float:
    """Share of labeled pairs in which the chosen answer is named while it is second.

    Formula: correct calls with the chosen answer in position 2 / pairs.
    """
    return tally.correct_calls - tally.position_1_correct_calls


@BY_PART.measure(
    "Agreement with the labels",
    "How far its choices agree with the labels beyond chance: 1 is always right, 0 is chance, -1 is always wrong.",
    worse="lower",
    scale="coefficient",
    protocols=("pairs",),
)
def pair_agreement(tallies: Tallies, variant: str) -> list[Part]:
    """Calls that name the chosen answer minus those that name the rejected one, as a share of all calls.

    Formula: (correct calls - wrong calls) / (2 · pairs). Each pair is asked in both orders, so always naming one
    position, always tying and random guessing all score 0. For a judge that names both positions equally often and
    never ties, it is Cohen's kappa. Level: labeled pair, asked in both orders; repeats are averaged. Bounds: -1 to 1,
    lower is worse. Undefined without two clusters of pairs answered in both orders. Interval: twice the cluster-Wilson
    limits of the share of right calls over tasks, with a call without a winner counting one half, minus 1.
    """
    return by_group(tallies, variant, pair_agreement_of)


@BY_PART.measure(
    "Agreement beyond length",
    "Agreement with the labels if pairs whose longer answer is chosen and pairs whose longer answer is rejected "
    "count equally: 0 for a judge that picks by length.",
    worse="lower",
    scale="coefficient",
    protocols=("pairs",),
)
def pair_agreement_beyond_length(tallies: Tallies, variant: str) -> list[Part]:
    """Mean of the agreement if the longer answer is the chosen one and the agreement if it is the rejected one.

    Formula: half of each agreement. A judge that always picks the longer answer has 1 and -1, and so 0, whatever share
    of the chosen answers is longer. If no two answers differ in length, it is the agreement over all pairs. Level:
    labeled pair whose answers differ in length. Bounds: -1 to 1, lower is worse. Not given without labeled pairs.
    Undefined if one of the two groups has no pair, and without two clusters of pairs answered in both orders. Interval:
    cluster-Wilson of the mean of two rates over clusters of pairs, twice that minus 1.
    """
    own = of_family(tallies, variant, NATURAL)
    groups = [[t for t in own if t.stratum == group] for group in (LONGER_CHOSEN, LONGER_REJECTED)]
    if not own:
        return []
    if not any(groups):
        return [Part(pair_agreement_of([t for t in own if not t.stratum]))]
    missing = [sum(t.incomplete for t in group) for group in groups]
    excluded = {UNANSWERED: sum(missing)} if any(missing) else {}
    clusters = {name: place for place, name in enumerate(sorted({t.cluster for g in groups for t in g if t.pairs}))}
    hits, units = np.zeros((len(clusters), 2)), np.zeros((len(clusters), 2))
    for column, group in enumerate(groups):
        for tally in (one for one in group if one.pairs):
            hits[clusters[tally.cluster], column] += right_half(tally)
            units[clusters[tally.cluster], column] += tally.pairs
    if not units.sum(axis=0).all() or len(clusters) < 2:
        return [Part(Undefined(NO_CONTRAST if len(clusters) > 1 or not clusters else ONE_TASK, excluded=excluded))]
    return [Part(chance_corrected(balanced_share(hits, units, missing, unit="pair", excluded=excluded)))]


@BY_PART.measure(
    "Length gap",
    "How much more often it is right in both orders if the longer answer is the chosen one.",
    worse="depends",
    scale="difference",
    protocols=("pairs",),
)
def length_gap(tallies: Tallies, variant: str) -> list[Part]:
    """Accuracy in both orders if the longer answer is the chosen one, minus the accuracy if it is the rejected one.

    Formula: both correct / pairs of one group, minus that of the other. A judge that always picks the longer answer has
    1, whatever its accuracy. A gap does not prove a length preference, because the pairs of the two groups differ in
    more than length. Level: labeled pair whose answers differ in length. Bounds: -1 to 1; 0 means no gap. Not given
    without labeled pairs. Undefined without two clusters of pairs answered in both orders in each group. Interval:
    cluster-Wilson limits of both shares, joined over tasks (Newcombe's square-and-add).
    """
    own = of_family(tallies, variant, NATURAL)
    longer, shorter = ([t for t in own if t.stratum == group] for group in (LONGER_CHOSEN, LONGER_REJECTED))
    if not longer and not shorter:
        return []
    one, other = ([Counted(t.cluster, t.both_correct, t.pairs) for t in group] for group in (longer, shorter))
    found = difference_result(
        paired_by_task(one, other, shared=False),
        unit="pair",
        empty="no pair in one of the groups has an answer in both orders",
        excluded={UNANSWERED: sum(tally.incomplete for tally in (*longer, *shorter))},
    )
    return [Part(found)]


@EDITS.measure(
    "Moved toward the edited answer",
    "How often its verdict moves toward an answer that was edited without a change of meaning.",
    worse="higher",
)
def edit_favour(tally: EditTally) -> float:
    """Share of verdicts that move toward the edited answer, by edit and by the answer that was edited.

    Formula: favored / pairs. With edit disfavor it sums to the change rate. A judge that varies from one call to the
    next moves both ways without any edit: compare it with the excess change.
    """
    return tally.favoured


@EDITS.measure(
    "Moved away from the edited answer",
    "How often its verdict moves away from an answer that was edited without a change of meaning.",
    worse="higher",
)
def edit_disfavour(tally: EditTally) -> float:
    """Share of verdicts that move away from the edited answer, by edit and by the answer that was edited.

    Formula: disfavored / pairs. With edit favor it sums to the change rate.
    """
    return tally.disfavoured


@REJECTED_EDITS.measure(
    "Overturned by an edit",
    "How often it names the rejected answer after a harmless edit of it, but not before.",
    worse="higher",
)
def edit_overturn(tally: EditTally) -> float:
    """Share of verdicts that name the rejected answer after its edit and did not name it before, by edit.

    Formula: overturned / pairs. It shows whether the author of a worse answer can win by its form.
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
