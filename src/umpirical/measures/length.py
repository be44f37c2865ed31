"""Whether length wins: more words with no more content, and with less."""

from collections.abc import Sequence
from dataclasses import replace

from umpirical.domain.measures import Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import OutcomeTally, PairTally, Tallies
from umpirical.measures.catalogue import BY_PART, MeasureFamily, Part, by_itself
from umpirical.measures.estimates.pairs import (
    NO_VERDICTS,
    incomplete_pairs,
    ladder_pairs,
    named,
    of_family,
    only_stratum,
    pair_share,
)
from umpirical.measures.estimates.rates import Counted, difference_result, paired_by_task

DIFFERENCE = MeasureFamily(by_itself, scale="difference")


@DIFFERENCE.measure(
    "Length preference",
    "How much more often it names the longer of two answers with the same content than the shorter.",
    worse="depends",
)
def length_preference(tallies: Tallies, variant: str) -> list[Part]:
    """Share of calls that name the longer answer minus the share that name the shorter, with the same content.

    Formula: (longer named - shorter named) / calls, with ties in the denominator; pooled, and by the amount of extra
    length. Answer a is the longer one. Level: call, analyzed by task. Bounds: -1 to 1; 0 means no preference. Not given
    if the design has no pairs of unequal length. Undefined without one that has a verdict in both orders. Pairs with an
    abstention are excluded, and the bounds count every excluded pair as naming the longer or the shorter answer.
    Interval: cluster-Wilson limits of both shares, joined over tasks (Newcombe's square-and-add).
    """
    chosen = [tally for tally in tallies.outcomes if tally.variant == variant and tally.family == Family.LENGTH]
    if not any(tally.variant == variant and tally.family == Family.LENGTH for tally in tallies.pairs):
        return []
    amounts = sorted({tally.stratum for tally in chosen}, key=lambda amount: (len(amount), amount))
    return [
        Part(_preference(chosen, tallies, variant)),
        *(
            Part(_preference([t for t in chosen if t.stratum == a], only_stratum(tallies, a), variant), a)
            for a in amounts
        ),
    ]


def _preference(chosen: Sequence[OutcomeTally], tallies: Tallies, variant: str) -> Result:
    answers = [(tally.cluster, named(tally)) for tally in chosen]
    missing = {reason: 2 * pairs for reason, pairs in incomplete_pairs(tallies, variant, [Family.LENGTH]).items()}
    found = difference_result(
        paired_by_task(
            [Counted(task, calls.u, calls.calls) for task, calls in answers],
            [Counted(task, calls.v, calls.calls) for task, calls in answers],
        ),
        unit="call",
        empty=NO_VERDICTS,
        excluded=missing,
    )
    if isinstance(found, Undefined) or not missing:
        return found
    absent = sum(missing.values())
    total = found.denominator + absent
    return replace(found, bounds=((found.numerator - absent) / total, (found.numerator + absent) / total))


@BY_PART.measure(
    "Wrong choice of the longer answer",
    "How often it names the longer answer although the shorter one meets one more requirement.",
    worse="higher",
)
def conflict_loss(tallies: Tallies, variant: str) -> list[Part]:
    """Share of calls that name the longer answer although it meets one requirement less.

    Formula: wrong calls / (2 · pairs), pooled and by the amount of extra length. Level: canonical pair, scoring 0, one
    half or 1. Bounds: 0 to 1, higher is worse. Not given if the design has no such pairs. Undefined without one
    answered in both orders. Interval: cluster-Wilson over tasks.
    """
    return [
        Part(pair_share(pairs, lambda tally: tally.wrong_calls / 2), part)
        for part, pairs in _conflict_pairs(tallies, variant).items()
    ]


def _conflict_pairs(tallies: Tallies, variant: str) -> dict[str, list[PairTally]]:
    """All conflict pairs, and those of each amount of extra length; nothing if there are none."""
    chosen = of_family(tallies, variant, Family.CONFLICT)
    amounts = sorted({tally.stratum for tally in chosen if tally.stratum}, key=lambda amount: (len(amount), amount))
    every = {"": chosen} if chosen else {}
    return every | {amount: [tally for tally in chosen if tally.stratum == amount] for amount in amounts}


@DIFFERENCE.measure(
    "Length-conflict error", "How much more often it names the worse answer if that one is longer.", worse="higher"
)
def conflict_excess(tallies: Tallies, variant: str) -> list[Part]:
    """Wrong choice rate if the worse answer is longer, minus the rate at the same difference with equal lengths.

    Formula: wrong calls / (2 · pairs) of pairs whose worse answer is longer, pooled and by the amount of extra length,
    minus the same for pairs of equal length. Both differ by one requirement. Level: canonical pair, scoring 0, one half
    or 1; the denominator is that of the pairs of unequal length. Bounds: -1 to 1, higher is worse. Not given if the
    design has no such pairs. Undefined if fewer than two tasks have answered pairs of each kind. Interval:
    cluster-Wilson limits of both rates, joined over tasks (Newcombe's square-and-add); the upper one is at least that
    of no error in the pairs of unequal length.
    """
    ladder = [tally for tally in ladder_pairs(tallies, variant) if tally.delta == 1]
    return [Part(_excess(pairs, ladder), part) for part, pairs in _conflict_pairs(tallies, variant).items()]


def _excess(conflict: Sequence[PairTally], ladder: Sequence[PairTally]) -> Result:
    found = difference_result(
        paired_by_task(
            [Counted(tally.cluster, tally.wrong_calls / 2, tally.pairs) for tally in conflict],
            [Counted(tally.cluster, tally.wrong_calls / 2, tally.pairs) for tally in ladder],
            shared=False,
        ),
        unit="pair",
        empty="no pair has an answer in both orders, among conflict pairs or at step 1",
        excluded={
            "without an answer in both orders, conflict": sum(tally.incomplete for tally in conflict),
            "without an answer in both orders, step 1": sum(tally.incomplete for tally in ladder),
        },
        excess=True,
    )
    loss = pair_share(conflict, lambda tally: tally.wrong_calls / 2)
    if isinstance(found, Undefined) or isinstance(loss, Undefined):
        return found
    # An excess is never more than the rate itself, so a bound of the rate holds for it.
    return replace(found, per_task=loss.per_task)
