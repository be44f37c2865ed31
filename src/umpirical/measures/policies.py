"""Agent judges: verdicts on transcripts under a policy, and choices between two of them."""

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

    def shares(tallies: Tallies, variant: str, hits: Count) -> list[Part]:
        def result(chosen: Sequence[PolicyTally]) -> Result:
            counts = shares_by_task((tally.cluster, hits(tally), texts(tally)) for tally in chosen)
            return item_rate(*counts, empty=empty, excluded={without: sum(missing(tally) for tally in chosen)})

        own = [tally for tally in tallies.policies if tally.variant == variant]
        asked = {(tally.test, tally.group) for tally in own if texts(tally) + missing(tally)}
        return by_part([tally for tally in own if (tally.test, tally.group) in asked], result)

    return MeasureFamily(
        shares,
        kinds=("grade",),
        protocols=("agent",),
        contract=(
            "Bounds: 0 to 1, {worse}. Undefined without two clusters of such texts. Interval: cluster-Wilson over "
            "transcripts; the bounds count missing verdicts either way."
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


def run_pair_shares(tallies: Tallies, variant: str, score: Callable[[PairTally], float]) -> list[Part]:
    """A share of the pairs of runs, each asked in both orders under one policy, for every edit and group."""
    return _by_edit(tallies.pairs, variant, lambda chosen: pair_share(chosen, score))


def run_quad_shares(tallies: Tallies, variant: str, score: Callable[[QuadTally], float]) -> list[Part]:
    """A share of crossed pairs: two runs in both orders under a policy and its opposite, by edit and group."""
    return _by_edit(tallies.quads, variant, lambda chosen: quad_share(chosen, score))


def _by_edit(tallies: Iterable[_Choice], variant: str, result: Callable[[Sequence[_Choice]], Result]) -> list[Part]:
    parts: dict[tuple[str, str], list[_Choice]] = {}
    for tally in tallies:
        if tally.variant == variant:
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


@BROKEN.measure("Violation detection", "How often it reports a violation of a policy that is violated.", worse="lower")
def violation_detection(tally: PolicyTally) -> float:
    """Share of texts that break the policy which are called violated.

    Formula: detected / broken. Level: text with a verdict.
    """
    return tally.detected


@KEPT.measure("False alarms", "How often it reports a violation of a policy that is kept.", worse="higher")
def false_alarm(tally: PolicyTally) -> float:
    """Share of texts that keep the policy which are called violated.

    Formula: alarmed / kept. Level: text with a verdict.
    """
    return tally.alarmed


@EDITED.measure(
    "Edits noticed",
    "How often it passes a transcript as it was, but not after an edit that breaks the policy.",
    worse="lower",
)
def noticed_edit(tally: PolicyTally) -> float:
    """Share of texts called satisfied before an edit and violated after it, under the policy that the edit breaks.

    Formula: noticed / pairs. A judge that always gives the same verdict scores 0. Level: text with a verdict on both.
    """
    return tally.noticed


@EITHER.measure(
    "Policy following",
    "How often it is right on a text, or a pair of texts, under both a policy and its opposite.",
    worse="lower",
)
def policy_following(tallies: Tallies, variant: str) -> Iterable[Part]:
    """Share of texts, or pairs of runs, on which it is right under a policy and under its opposite.

    Formula: for a `grade` judge, followed / twins. For a `compare` judge, following / crossed pairs, where it is right
    under a policy if it names the right run in both orders. A judge that does not read the policy scores 0. For a
    `compare` judge it sums to 1 with policy-blind preference, policy reversal, one-policy and neither-policy
    preference. Level: text with a verdict under both policies; pair of runs, asked in both orders under both policies,
    repeats averaged. Bounds: 0 to 1, lower is worse. Undefined without two clusters of such texts or pairs. Interval:
    cluster-Wilson over transcripts; the bounds count missing verdicts either way.
    """
    if tallies.quads:
        return run_quad_shares(tallies, variant, lambda tally: tally.following)
    return TWINS.estimate(tallies, variant, lambda tally: tally.followed)


@EITHER.measure(
    "Agreement with the labels",
    "How far it agrees with the known labels beyond chance: 1 is always right, 0 is chance, -1 is always wrong.",
    worse="lower",
    scale="coefficient",
)
def policy_agreement(tallies: Tallies, variant: str) -> Iterable[Part]:
    """Agreement with the known labels (policy broken or kept), corrected for chance.

    Formula: for a `grade` judge, P(violated | broken) - P(violated | kept), which is Youden's index. For a `compare`
    judge, (correct calls - wrong calls) / (2 · pairs). A judge that always gives the same verdict, always names one
    position, always ties or guesses scores 0. Level: text with a verdict; pair of runs under one policy, asked in both
    orders, repeats averaged. Bounds: -1 to 1, lower is worse. Not given if only one kind of text was judged. Undefined
    without two clusters of such texts or pairs. Interval: cluster-Wilson over transcripts of the mean of both shares of
    right verdicts, or of the share of right calls, twice that minus 1; the bounds count missing verdicts either way.
    Reference: W. J. Youden, Index for rating diagnostic tests, Cancer 3 (1950).
    """
    if tallies.pairs:
        return _by_edit(tallies.pairs, variant, pair_agreement_of)
    own = [tally for tally in tallies.policies if tally.variant == variant]
    broken = {(one.test, one.group) for one in own if one.broken + one.broken_missing}
    kept = {(one.test, one.group) for one in own if one.kept + one.kept_missing}
    return by_part([one for one in own if (one.test, one.group) in broken & kept], _youden)


def _youden(chosen: Sequence[PolicyTally]) -> Result:
    missing = [sum(one.broken_missing for one in chosen), sum(one.kept_missing for one in chosen)]
    excluded = {"without a verdict": sum(missing)} if any(missing) else {}
    clusters = sorted({one.cluster for one in chosen if one.broken + one.kept})
    place = {name: number for number, name in enumerate(clusters)}
    hits, units = np.zeros((len(clusters), 2)), np.zeros((len(clusters), 2))
    for one in (one for one in chosen if one.cluster in place):
        hits[place[one.cluster]] += one.detected, one.kept - one.alarmed
        units[place[one.cluster]] += one.broken, one.kept
    if len(clusters) < 2 or not units.sum(axis=0).all():
        return Undefined(ONE_CLUSTER if clusters else "no text has a verdict", excluded=excluded)
    return chance_corrected(balanced_share(hits, units, missing, unit="item", excluded=excluded))


@TWINS.measure(
    "Policy-blind verdicts",
    "How often its verdict on a text stays the same when the policy is replaced by its opposite.",
    worse="higher",
)
def policy_blind_verdict(tally: PolicyTally) -> float:
    """Share of texts with the same verdict under a policy and under its opposite.

    Formula: same / twins. A judge that does not read the policy scores 1. The remaining texts, beside these and policy
    following, are wrong under both. Level: text with a verdict under both policies.
    """
    return tally.same


@RUN_PAIRS.measure("Policy accuracy", "How often it names the run that keeps the policy.", worse="lower")
def policy_sensitivity(tally: PairTally) -> float:
    """Share of calls that name the run that keeps the policy; a tie is not correct.

    Formula: correct calls / (2 · pairs), both orders of a pair together. Each pair is also asked under the opposite
    policy, where the other run is right. So a judge that does not read the policy, or that always names one position,
    scores one half if it never ties.
    """
    return tally.correct_calls / 2


@RUN_PAIRS.measure(
    "Right in both orders", "How often it names the run that keeps the policy in both orders of a pair.", worse="lower"
)
def right_in_both_orders(tally: PairTally) -> float:
    """Share of pairs in which the run that keeps the policy wins in both orders.

    Formula: both correct / pairs. With wrong in both orders, positional preference, one-order preference and
    neither-order preference it sums to 1. Random guessing without ties scores 1/4.
    """
    return tally.both_correct


@RUN_PAIRS.measure(
    "Wrong in both orders",
    "How often it names the run that breaks the policy in both orders of a pair.",
    worse="higher",
)
def wrong_in_both_orders(tally: PairTally) -> float:
    """Share of pairs in which the run that breaks the policy wins in both orders.

    Formula: (stable - both correct) / pairs. A judge that does not read the policy scores as much here as in right in
    both orders. Random guessing without ties scores 1/4.
    """
    return tally.stable - tally.both_correct


@RUN_PAIRS.measure(
    "Same position in both orders",
    "How often it names the same position in both orders of two runs, although one of them is better.",
    worse="higher",
)
def positional_preference(tally: PairTally) -> float:
    """Share of pairs of runs in which the same position wins in both orders, although the runs are swapped.

    Formula: positional / pairs. A judge that always names one position scores 1, random guessing without ties 1/2.
    """
    return tally.positional


@RUN_PAIRS.measure(
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
    "Neither-order preference",
    "How often it names neither run in either order, although one of them is better.",
    worse="higher",
)
def neither_order_preference(tally: PairTally) -> float:
    """Share of pairs of runs without a winner in either order: ties, abstentions or one of each.

    Formula: pairs without a winner in either order / pairs. A judge that cannot see the difference, and says so, scores
    1.
    """
    return tally.no_preference


@RUN_QUADS.measure(
    "Policy-blind preference",
    "How often it prefers the same run under a policy and under its opposite.",
    worse="higher",
)
def policy_blind_preference(tally: QuadTally) -> float:
    """Share of pairs of runs in which the same run wins under a policy and under its opposite.

    Formula: blind / crossed pairs. A policy has a winner if the same run wins in both orders. The run is right under
    one policy and wrong under the other, so the policy did not decide. Random guessing without ties scores 1/8.
    """
    return tally.blind


@RUN_QUADS.measure(
    "Policy reversal", "How often it prefers the wrong run under both a policy and its opposite.", worse="higher"
)
def policy_reversal(tally: QuadTally) -> float:
    """Share of pairs of runs in which the wrong run wins under a policy and under its opposite.

    Formula: reversed / crossed pairs. A policy has a winner if the same run wins in both orders. Only a judge that
    reads the policy can be wrong both times more often than random guessing without ties, which scores 1/16.
    """
    return tally.reversed


@RUN_QUADS.measure(
    "One-policy preference",
    "How often it has the same preference in both orders under only one of a policy and its opposite.",
    worse="higher",
)
def one_policy_preference(tally: QuadTally) -> float:
    """Share of pairs of runs with a winner under exactly one of a policy and its opposite.

    Formula: one version / crossed pairs. A policy has a winner if the same run wins in both orders. A tie, an
    abstention or two different winners leave it without one. Random guessing without ties scores 1/2.
    """
    return tally.one_version


@RUN_QUADS.measure(
    "Neither-policy preference",
    "How often it has no consistent preference under either a policy or its opposite.",
    worse="higher",
)
def neither_policy_preference(tally: QuadTally) -> float:
    """Share of pairs of runs without a winner under a policy or under its opposite.

    Formula: neither / crossed pairs. A policy has a winner if the same run wins in both orders. A tie, an abstention or
    two different winners leave it without one. A judge that always names one position, or always ties, scores 1.
    """
    return tally.neither
