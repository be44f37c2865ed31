"""Crossed pairs: the same two answers under two versions of a task, each in both orders.

The versions are two requests, two sets of given figures, or two contexts for your own answers (see `carriers.py`).
"""

from collections.abc import Callable, Sequence
from math import sqrt

from umpirical.domain.measures import Estimate, Interval, Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import QuadTally, Tallies
from umpirical.measures.catalogue import BY_PART, MeasureFamily, Part
from umpirical.measures.estimates.pairs import IN_QUAD, correct_pairs, share_by_step
from umpirical.measures.estimates.rates import ONE_TASK, Counted, by_task, clustered_rate
from umpirical.stats.intervals import cluster_ratio

Score = Callable[[QuadTally], float]
NO_QUAD = "no crossed pair has an answer in both orders of both versions"
UNANSWERED = "without an answer in both orders of both versions"


def quad_shares(family: Family) -> Callable[[Tallies, str, Score], list[Part]]:
    """A share of the crossed pairs of a family: of all of them, then by step. Nothing if the design has none."""

    def shares(tallies: Tallies, variant: str, score: Score) -> list[Part]:
        chosen = quad_tallies(tallies, variant, family)
        if not chosen:
            return []
        steps = sorted({tally.delta for tally in chosen})
        return [
            Part(quad_share(chosen, score)),
            *(Part(quad_share([t for t in chosen if t.delta == step], score), f"{step:g}") for step in steps),
        ]

    return shares


def quad_tallies(tallies: Tallies, variant: str, family: str) -> list[QuadTally]:
    return [tally for tally in tallies.quads if tally.variant == variant and tally.family == family]


def quad_share(chosen: Sequence[QuadTally], score: Score) -> Result:
    """The mean of `score` over crossed pairs that were answered in both orders of both versions."""
    return clustered_rate(
        [Counted(tally.cluster, score(tally), tally.quads) for tally in chosen],
        unit="crossed-pair",
        empty=NO_QUAD,
        excluded=incomplete_quads(chosen),
        lost=sum(tally.lost for tally in chosen),
    )


def incomplete_quads(chosen: Sequence[QuadTally]) -> dict[str, int]:
    count = sum(tally.incomplete for tally in chosen)
    return {UNANSWERED: count} if count else {}


TASKS = MeasureFamily(
    quad_shares(Family.GRADED),
    contract=(
        "Level: crossed pair, asked in both orders of both versions; repeats are averaged. Bounds: 0 to 1, {worse}. "
        "Not given if the design has no crossed pairs. Undefined without one answered in both orders of both versions. "
        "Interval: cluster-Wilson over tasks."
    ),
)

FIGURES = MeasureFamily(
    quad_shares(Family.FIGURES),
    contract=(
        "Level: crossed pair, asked in both orders of both versions; repeats are averaged. Bounds: 0 to 1, {worse}. "
        "Not given if the design has no pairs with figures. Undefined without a crossed pair answered in both orders "
        "of both versions. Interval: cluster-Wilson over tasks."
    ),
)


@TASKS.measure(
    "Task following",
    "How often it prefers the right one of the same two answers under both versions of a task.",
    worse="lower",
)
def task_following(tally: QuadTally) -> float:
    """Share of crossed pairs in which the right answer wins under both versions of the task.

    Formula: following / crossed pairs, pooled and by difference in requirements. A version has a winner if the same
    answer wins in both orders. A judge that does not read the task cannot follow it; random guessing scores 1/16. With
    task-blind preference, reversal, one version and neither version it sums to 1.
    """
    return tally.following


@TASKS.measure(
    "Task-blind preference",
    "How often it prefers the same answer under both versions of a task, although it is worse under one.",
    worse="higher",
)
def task_blind_preference(tally: QuadTally) -> float:
    """Share of crossed pairs in which the same answer wins under both versions of the task.

    Formula: blind / crossed pairs, pooled and by difference in requirements. A version has a winner if the same answer
    wins in both orders. The answer is right under one version and wrong under the other, so the task did not decide.
    Random guessing scores 1/8.
    """
    return tally.blind


@TASKS.measure(
    "Task reversal",
    "How often it prefers the wrong one of the same two answers under both versions of a task.",
    worse="higher",
)
def task_reversal(tally: QuadTally) -> float:
    """Share of crossed pairs in which the wrong answer wins under both versions of the task.

    Formula: reversed / crossed pairs, pooled and by difference in requirements. A version has a winner if the same
    answer wins in both orders. Only a judge that reads the task can be wrong both times more often than random
    guessing, which scores 1/16.
    """
    return tally.reversed


@TASKS.measure(
    "One-version preference",
    "How often it has the same preference in both orders under only one version of a task.",
    worse="depends",
)
def one_version_preference(tally: QuadTally) -> float:
    """Share of crossed pairs in which exactly one version of the task has a winner.

    Formula: one version / crossed pairs, pooled and by difference in requirements. A version has a winner if the same
    answer wins in both orders. A tie, an abstention or two different winners leave it without one. Random guessing
    scores 1/2.
    """
    return tally.one_version


@TASKS.measure(
    "Neither-version preference",
    "How often it has no consistent preference under either version of a task.",
    worse="higher",
)
def neither_version_preference(tally: QuadTally) -> float:
    """Share of crossed pairs in which neither version of the task has a winner.

    Formula: neither / crossed pairs, pooled and by difference in requirements. A version has a winner if the same
    answer wins in both orders. A tie, an abstention or two different winners leave it without one. Random guessing
    scores 1/4; a judge that always names one position scores 1.
    """
    return tally.neither


PARTS = {Family.GRADED: "", Family.FIGURES: "figures"}
"""The ladders that are measured, each by itself, and what they are called."""

LEAST_ERROR = 1.9
"""The least standard error, in crossed pairs: where no crossed pair shows any appeal, the upper limit is that of 0
events of n."""


@BY_PART.measure(
    "Text appeal",
    "How much more often it prefers one of two answers no matter what the task asks, as a difference in shares of "
    "calls.",
    worse="higher",
    scale="difference",
)
def text_appeal(tallies: Tallies, variant: str) -> list[Part]:
    """Preference for one of two answers no matter what the task asks: root mean square over crossed pairs.

    Formula: sqrt(E[a²]). Here a is the share of calls that name one answer minus the share that name the other, over
    both versions and both orders of a crossed pair, as if repeated endlessly. Noise does not count, because a² is
    estimated as the product of two halves of the crossed pair. Each half has one call on each version, in opposite
    orders, so that neither task nor position favors an answer in it. The estimate is exact unless a position helps an
    answer under one version and hurts it under the other. It is 0 if answers are preferred for the task, for their
    position, or at random; it is 1 if one of the two answers always wins. For differences in requirements, and
    separately for figures. Level: crossed pair. Bounds: 0 to 1, higher is worse. Not given if the design has no crossed
    pairs. Undefined without a crossed pair answered in both orders of both versions, or if the halves disagree by more
    than chance. Interval: linearized over tasks with Student's t, on the square.
    """
    return [
        Part(_appeal(chosen), part)
        for family, part in PARTS.items()
        if (chosen := quad_tallies(tallies, variant, family))
    ]


def _appeal(chosen: Sequence[QuadTally]) -> Result:
    missing = incomplete_quads(chosen)
    products, quads = by_task((tally.cluster, tally.appeal, tally.quads) for tally in chosen)
    if len(quads) < 2:
        return Undefined(ONE_TASK if quads else NO_QUAD, excluded=missing)
    count = round(sum(quads))
    found = cluster_ratio(products, quads, least=LEAST_ERROR / count)
    if found.high <= 0:
        return Undefined("the two halves of crossed pairs disagree by more than chance", excluded=missing)
    value, low, high = (sqrt(min(1.0, max(0.0, square))) for square in (found.value, found.low, found.high))
    limits = Interval(low, high, method="linearized over tasks, on the square")
    return Estimate(value, value * count, count, "crossed-pair", limits, found.clusters, excluded=missing)


@BY_PART.measure(
    "Accuracy on figures",
    "How often it prefers the answer with more correct figures, by the size of the difference.",
    worse="lower",
    kinds=("compare", "grade"),
)
def figure_sensitivity(tallies: Tallies, variant: str) -> list[Part]:
    """Share of calls that prefer the answer with more correct figures, for each difference; a tie is not correct.

    Formula: as for accuracy: correct calls / (2 · pairs), or for a `grade` judge the share of pairs whose better answer
    has the higher grade. Both answers state equally much, and the figures given in the task decide which of theirs are
    correct. Never pooled with differences in requirements. Level: canonical pair, scoring 0, one half or 1; for a
    `grade` judge 0 or 1. Bounds: 0 to 1, lower is worse. Not given if the design has no pairs with figures. Undefined
    without a pair answered in both orders, or graded on both sides. Interval: cluster-Wilson over tasks.
    """
    return share_by_step(correct_pairs(tallies, variant, Family.FIGURES), joint=IN_QUAD)


@FIGURES.measure(
    "Figure following",
    "How often it prefers the answer with more correct figures under both of two sets of given figures.",
    worse="lower",
)
def figure_following(tally: QuadTally) -> float:
    """Share of crossed pairs with figures in which the right answer wins under both sets of given figures.

    Formula: following / crossed pairs, pooled and by difference. A version, here a set of given figures, has a winner
    if the same answer wins in both orders. A judge that does not check figures cannot follow them. Never pooled with
    differences in requirements.
    """
    return tally.following


@FIGURES.measure(
    "Figure-blind preference",
    "How often it prefers the same answer under both sets of given figures, although its figures are right under "
    "only one.",
    worse="higher",
)
def figure_blind_preference(tally: QuadTally) -> float:
    """Share of crossed pairs with figures in which the same answer wins under both sets of given figures.

    Formula: blind / crossed pairs, pooled and by difference. A version, here a set of given figures, has a winner if
    the same answer wins in both orders. Never pooled with differences in requirements.
    """
    return tally.blind
