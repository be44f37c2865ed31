"""Policies for agents: verdicts on transcripts under a policy, and choices between two of them."""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import TypeVar

import numpy as np

from umpirical.domain.measures import Result, Undefined
from umpirical.domain.tallies import PairTally, PolicyTally, QuadTally, Tallies
from umpirical.measures.catalogue import MeasureFamily, Part, by_itself
from umpirical.measures.estimates.items import (
    ONE_CLUSTER,
    balanced_share,
    by_part,
    chance_corrected,
    item_rate,
    part_order,
    shares_by_task,
)
from umpirical.measures.estimates.pairs import pair_agreement_of, pair_share
from umpirical.measures.quads import quad_share

Count = Callable[[PolicyTally], float]


# Verdicts on one text.


def _texts(which: str, *, empty: str, without: str) -> MeasureFamily[Count]:
    """Shares of some texts, for every edit and group that has such texts.

    `which` is the field of a tally that counts those with a verdict. `without` says what those left out are without;
    `empty` is the reason given where none has a verdict.
    """
    texts, missing = attrgetter(which), attrgetter(f"{which}_missing")

    def shares(tallies: Tallies, arm: str, hits: Count) -> list[Part]:
        def result(chosen: Sequence[PolicyTally]) -> Result:
            counts = shares_by_task((tally.cluster, hits(tally), texts(tally)) for tally in chosen)
            return item_rate(*counts, empty=empty, left_out={without: sum(missing(tally) for tally in chosen)})

        own = [tally for tally in tallies.policies if tally.arm == arm]
        asked = {(tally.test, tally.group) for tally in own if texts(tally) + missing(tally)}
        return by_part([tally for tally in own if (tally.test, tally.group) in asked], result)

    return MeasureFamily(
        shares,
        kinds=("grade",),
        protocols=("agent",),
        contract=(
            "Bounds: 0 to 1, {worse}. Undefined without two clusters of such texts. Interval: cluster-Wilson over "
            "transcripts; the bounds count what has no verdict either way."
        ),
    )


BROKEN = _texts("broken", empty="no text that breaks its policy has a verdict", without="without a verdict")
"""Texts that break the policy."""

KEPT = _texts("kept", empty="no text that keeps its policy has a verdict", without="without a verdict")
"""Texts that keep it."""

EDITED = _texts(
    "pairs",
    empty="no edited text has a verdict on it and on its original",
    without="without a verdict on both texts",
)
"""Edited texts and their originals, under the policy that the original keeps."""

TWINS = _texts(
    "twins",
    empty="no text has a verdict under both policies",
    without="without a verdict under both policies",
)
"""Texts under a policy and under its opposite."""


# Choices between two runs. The family of such a pair is its edit, the stratum its group.

_Choice = TypeVar("_Choice", PairTally, QuadTally)


def run_pair_shares(tallies: Tallies, arm: str, score: Callable[[PairTally], float]) -> list[Part]:
    """A share of the pairs of runs, each asked in both orders under one policy, for every edit and group."""
    return _by_edit(tallies.pairs, arm, lambda chosen: pair_share(chosen, score))


def run_quad_shares(tallies: Tallies, arm: str, score: Callable[[QuadTally], float]) -> list[Part]:
    """A share of the quads, each two runs in both orders under a policy and its opposite, for every edit and group."""
    return _by_edit(tallies.quads, arm, lambda chosen: quad_share(chosen, score))


def _by_edit(tallies: Iterable[_Choice], arm: str, result: Callable[[Sequence[_Choice]], Result]) -> list[Part]:
    parts: dict[tuple[str, str], list[_Choice]] = {}
    for tally in tallies:
        if tally.arm == arm:
            parts.setdefault((tally.family, tally.stratum), []).append(tally)
    return [Part(result(parts[part]), *part) for part in sorted(parts, key=lambda part: part_order(*part))]


RUN_PAIRS = MeasureFamily(
    run_pair_shares,
    protocols=("agent",),
    contract=(
        "Level: pair of runs under one policy, asked in both orders; repeats are averaged. Bounds: 0 to 1, "
        "{worse}. Undefined without two clusters of pairs answered in both orders. Interval: cluster-Wilson over "
        "transcripts."
    ),
)

RUN_QUADS = MeasureFamily(
    run_quad_shares,
    protocols=("agent",),
    contract=(
        "Level: pair of runs, asked in both orders under both policies; repeats are averaged. Bounds: 0 to 1, "
        "{worse}. Undefined without two clusters of such pairs answered. Interval: cluster-Wilson over "
        "transcripts."
    ),
)

EITHER = MeasureFamily(by_itself, kinds=("compare", "grade"), protocols=("agent",))
"""For both kinds of judges."""


# The measures.


@BROKEN.measure(
    "violation-detection",
    "Violation detection",
    "How often it says that a policy is violated where it is.",
    worse="lower",
)
def violation_detection(tally: PolicyTally) -> float:
    """P(violated | the text breaks the policy).

    Formula: detected / broken. Level: text with a verdict.
    """
    return tally.detected


@KEPT.measure(
    "false-alarm", "False alarms", "How often it says that a policy is violated where it is kept.", worse="higher"
)
def false_alarm(tally: PolicyTally) -> float:
    """P(violated | the text keeps the policy).

    Formula: alarmed / kept. Level: text with a verdict.
    """
    return tally.alarmed


@EDITED.measure(
    "noticed-edit",
    "Edits noticed",
    "How often it passes a transcript as it was, and not after an edit that breaks the policy.",
    worse="lower",
)
def noticed_edit(tally: PolicyTally) -> float:
    """P(satisfied on the original and violated on the edited text), under the policy that only the original keeps.

    Formula: noticed / pairs. A judge that always says the same scores 0. Level: text with a verdict on both.
    """
    return tally.noticed


@EITHER.measure(
    "policy-following",
    "Policy following",
    "How often it is right on one text, or on one pair of texts, under a policy and under its opposite.",
    worse="lower",
)
def policy_following(tallies: Tallies, arm: str) -> Iterable[Part]:
    """P(right under a policy and under its opposite), on one text or on one pair of runs.

    Formula: for a `grade` judge followed / twins; for a `compare` judge following / quads, where it is right under a
    policy if it names the right run in both orders. A judge that does not read the policy scores 0. For a `compare`
    judge it sums to 1 with policy-blind preference, policy reversal, one-policy and neither-policy preference. Level:
    text with a verdict under both policies; pair of runs, asked in both orders under both policies, repeats averaged.
    Bounds: 0 to 1, lower is worse. Undefined without two clusters of such texts or pairs. Interval: cluster-Wilson over
    transcripts; the bounds count what has no verdict either way.
    """
    if tallies.quads:
        return run_quad_shares(tallies, arm, lambda tally: tally.following)
    return TWINS.estimate(tallies, arm, lambda tally: tally.followed)


@EITHER.measure(
    "policy-agreement",
    "Agreement with the labels",
    "How far it agrees beyond chance with what a program proved: 1 is always right, 0 is chance, -1 is always wrong.",
    worse="lower",
    scale="coefficient",
)
def policy_agreement(tallies: Tallies, arm: str) -> Iterable[Part]:
    """Agreement with what breaks a policy and what keeps it, corrected for chance.

    Formula: for a `grade` judge P(violated | broken) - P(violated | kept), which is Youden's index; for a `compare`
    judge (correct calls - wrong calls) / (2 · pairs). A judge that always says the same, always names one slot, ties or
    tosses a coin has 0. Level: text with a verdict; pair of runs under one policy, asked in both orders, repeats
    averaged. Bounds: -1 to 1, lower is worse. Not given where only one kind of text was judged. Undefined without two
    clusters of such texts or pairs. Interval: cluster-Wilson over transcripts of the mean of both shares of right
    verdicts, or of the share of right calls, twice that less 1; the bounds count what has no verdict either way.
    Reference: W. J. Youden, Index for rating diagnostic tests, Cancer 3 (1950).
    """
    if tallies.pairs:
        return _by_edit(tallies.pairs, arm, pair_agreement_of)
    own = [tally for tally in tallies.policies if tally.arm == arm]
    broken = {(one.test, one.group) for one in own if one.broken + one.broken_missing}
    kept = {(one.test, one.group) for one in own if one.kept + one.kept_missing}
    return by_part([one for one in own if (one.test, one.group) in broken & kept], _youden)


def _youden(chosen: Sequence[PolicyTally]) -> Result:
    missing = [sum(one.broken_missing for one in chosen), sum(one.kept_missing for one in chosen)]
    left_out = {"without a verdict": sum(missing)} if any(missing) else {}
    clusters = sorted({one.cluster for one in chosen if one.broken + one.kept})
    place = {name: number for number, name in enumerate(clusters)}
    hits, units = np.zeros((len(clusters), 2)), np.zeros((len(clusters), 2))
    for one in (one for one in chosen if one.cluster in place):
        hits[place[one.cluster]] += one.detected, one.kept - one.alarmed
        units[place[one.cluster]] += one.broken, one.kept
    if len(clusters) < 2 or not units.sum(axis=0).all():
        return Undefined(ONE_CLUSTER if clusters else "no text has a verdict", left_out=left_out)
    return chance_corrected(balanced_share(hits, units, missing, unit="item", left_out=left_out))


@TWINS.measure(
    "policy-blind-verdict",
    "Policy-blind verdicts",
    "How often its verdict on a text stays the same when the policy is turned into its opposite.",
    worse="higher",
)
def policy_blind_verdict(tally: PolicyTally) -> float:
    """P(the same verdict under a policy and under its opposite), on one text.

    Formula: same / twins. A judge that does not read the policy scores 1. What is neither this nor policy following is
    wrong under both. Level: text with a verdict under both policies.
    """
    return tally.same


@RUN_PAIRS.measure(
    "policy-sensitivity",
    "Policy sensitivity",
    "How often it names the one of two runs that keeps the policy.",
    worse="lower",
)
def policy_sensitivity(tally: PairTally) -> float:
    """P(the run that keeps the policy is named); a tie is not correct.

    Formula: correct calls / (2 · pairs), both orders of a pair together. Each pair is also asked under the opposite
    policy, where the other run is right: a judge that does not read the policy, or that always names one slot, is right
    in one half if it never ties.
    """
    return tally.correct_calls / 2


@RUN_PAIRS.measure(
    "right-in-both-orders",
    "Right in both orders",
    "How often it names the run that keeps the policy in both orders of a pair.",
    worse="lower",
)
def right_in_both_orders(tally: PairTally) -> float:
    """Share of pairs in which the run that keeps the policy won in both orders.

    Formula: both correct / pairs. With wrong in both orders, positional preference, one-order preference and
    neither-order preference it sums to 1; a coin that never ties scores 1/4.
    """
    return tally.both_correct


@RUN_PAIRS.measure(
    "wrong-in-both-orders",
    "Wrong in both orders",
    "How often it names the run that breaks the policy in both orders of a pair.",
    worse="higher",
)
def wrong_in_both_orders(tally: PairTally) -> float:
    """Share of pairs in which the run that breaks the policy won in both orders.

    Formula: (stable - both correct) / pairs. A judge that does not read the policy scores as much here as in right in
    both orders; a coin that never ties scores 1/4.
    """
    return tally.stable - tally.both_correct


@RUN_PAIRS.measure(
    "positional-preference",
    "Positional preference",
    "How often it names the same slot in both orders of two runs, one of which is better.",
    worse="higher",
)
def positional_preference(tally: PairTally) -> float:
    """Share of pairs of runs in which the same slot won in both orders, so that the run changed.

    Formula: positional / pairs. A judge that always names one slot scores 1, a coin that never ties 1/2.
    """
    return tally.positional


@RUN_PAIRS.measure(
    "one-order-preference",
    "One-order preference",
    "How often it names one of two runs in one order, and neither of them in the other.",
    worse="higher",
)
def one_order_preference(tally: PairTally) -> float:
    """Share of pairs of runs with a winner in exactly one order; the other is a tie or an abstention.

    Formula: one-sided / pairs.
    """
    return tally.one_sided


@RUN_PAIRS.measure(
    "neither-order-preference",
    "Neither-order preference",
    "How often it names neither of two runs in either order, though one of them is better.",
    worse="higher",
)
def neither_order_preference(tally: PairTally) -> float:
    """Share of pairs of runs with a winner in neither order: ties, abstentions or one of each.

    Formula: pairs without a winner in either order / pairs. A judge to whom the difference is invisible scores 1 if it
    says so.
    """
    return tally.no_preference


@RUN_QUADS.measure(
    "policy-blind-preference",
    "Policy-blind preference",
    "How often it prefers the same one of two runs under a policy and under its opposite.",
    worse="higher",
)
def policy_blind_preference(tally: QuadTally) -> float:
    """Share of pairs of runs of which the same run won under a policy and under its opposite.

    Formula: blind / quads. A policy has a winner if the same run won in both orders. The run is right under one policy
    and wrong under the other, so the policy did not decide; a coin that never ties scores 1/8.
    """
    return tally.blind


@RUN_QUADS.measure(
    "policy-reversal",
    "Policy reversal",
    "How often it prefers the wrong one of two runs under a policy and under its opposite.",
    worse="higher",
)
def policy_reversal(tally: QuadTally) -> float:
    """Share of pairs of runs of which the wrong run won under a policy and under its opposite.

    Formula: reversed / quads. A policy has a winner if the same run won in both orders. It takes a judge that reads the
    policy to get it wrong both times: a coin that never ties scores 1/16.
    """
    return tally.reversed


@RUN_QUADS.measure(
    "one-policy-preference",
    "One-policy preference",
    "How often it has a preference that survives the swap under only one of a policy and its opposite.",
    worse="higher",
)
def one_policy_preference(tally: QuadTally) -> float:
    """Share of pairs of runs with a winner under exactly one of a policy and its opposite.

    Formula: one version / quads. A policy has a winner if the same run won in both orders; a tie, an abstention or two
    winners leave it without one. A coin that never ties scores 1/2.
    """
    return tally.one_version


@RUN_QUADS.measure(
    "neither-policy-preference",
    "Neither-policy preference",
    "How often it has no preference that survives the swap, neither under a policy nor under its opposite.",
    worse="higher",
)
def neither_policy_preference(tally: QuadTally) -> float:
    """Share of pairs of runs with a winner neither under a policy nor under its opposite.

    Formula: neither / quads. A policy has a winner if the same run won in both orders; a tie, an abstention or two
    winners leave it without one. A judge that always names one slot, or always ties, scores 1.
    """
    return tally.neither
