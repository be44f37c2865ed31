"""Crossed tasks: the same two texts under two versions of a task, each in both orders.

The versions of a quad are two requests, two tables of givens for the ladder of figures, or two contexts for answers of
the user's own (see `carriers.py`).
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
NO_QUAD = "no quad has an answer in both orders of both versions"
UNANSWERED = "without an answer in both orders of both versions"


def quad_shares(family: Family) -> Callable[[Tallies, str, Score], list[Part]]:
    """A share of the quads of a family: of all of them, then by step. Nothing if the design has none."""

    def shares(tallies: Tallies, arm: str, score: Score) -> list[Part]:
        chosen = quad_tallies(tallies, arm, family)
        if not chosen:
            return []
        steps = sorted({tally.delta for tally in chosen})
        return [
            Part(quad_share(chosen, score)),
            *(Part(quad_share([t for t in chosen if t.delta == step], score), f"{step:g}") for step in steps),
        ]

    return shares


def quad_tallies(tallies: Tallies, arm: str, family: str) -> list[QuadTally]:
    return [tally for tally in tallies.quads if tally.arm == arm and tally.family == family]


def quad_share(chosen: Sequence[QuadTally], score: Score) -> Result:
    """The mean of `score` over quads that were answered in both orders of both versions."""
    return clustered_rate(
        [Counted(tally.cluster, score(tally), tally.quads) for tally in chosen],
        unit="quad",
        empty=NO_QUAD,
        left_out=incomplete_quads(chosen),
        lost=sum(tally.lost for tally in chosen),
    )


def incomplete_quads(chosen: Sequence[QuadTally]) -> dict[str, int]:
    """Quads left out, by reason."""
    count = sum(tally.incomplete for tally in chosen)
    return {UNANSWERED: count} if count else {}


TASKS = MeasureFamily(
    quad_shares(Family.LADDER),
    contract=(
        "Level: quad, asked in both orders of both versions; repeats are averaged. Bounds: 0 to 1, {worse}. Not "
        "given if the design has no crossed ladder. Undefined without a quad answered in both orders of both "
        "versions. Interval: cluster-Wilson over tasks."
    ),
)

FIGURES = MeasureFamily(
    quad_shares(Family.FIGURES),
    contract=(
        "Level: quad, asked in both orders of both versions; repeats are averaged. Bounds: 0 to 1, {worse}. Not "
        "given if the design has no ladder of figures. Undefined without a quad answered in both orders of both "
        "versions. Interval: cluster-Wilson over tasks."
    ),
)


@TASKS.measure(
    "task-following",
    "Task following",
    "How often it prefers the right one of the same two answers under both versions of a task.",
    worse="lower",
)
def task_following(tally: QuadTally) -> float:
    """Share of quads in which the right text won in both versions of the task, pooled and by ladder step.

    Formula: following / quads. A version has a winner if the same text won in both orders. Whatever does not read the
    task cannot follow it: a coin scores 1/16. With task-blind preference, reversal, one version and neither it sums to
    1.
    """
    return tally.following


@TASKS.measure(
    "task-blind-preference",
    "Task-blind preference",
    "How often it prefers the same one of two answers under both versions of a task, each better under one.",
    worse="higher",
)
def task_blind_preference(tally: QuadTally) -> float:
    """Share of quads in which the same text won in both versions of the task, pooled and by ladder step.

    Formula: blind / quads. A version has a winner if the same text won in both orders. The text is right under one
    version and wrong under the other, so its own appeal decided and not the task; a coin scores 1/8.
    """
    return tally.blind


@TASKS.measure(
    "task-reversal",
    "Task reversal",
    "How often it prefers the wrong one of the same two answers under both versions of a task.",
    worse="higher",
)
def task_reversal(tally: QuadTally) -> float:
    """Share of quads in which the wrong text won in both versions of the task, pooled and by ladder step.

    Formula: reversed / quads. A version has a winner if the same text won in both orders. It takes a judge that reads
    the task to get it wrong both times: a coin scores 1/16.
    """
    return tally.reversed


@TASKS.measure(
    "one-version-preference",
    "One-version preference",
    "How often it has a preference that survives the swap under one version of a task and none under the other.",
    worse="depends",
)
def one_version_preference(tally: QuadTally) -> float:
    """Share of quads in which exactly one version of the task has a winner, pooled and by ladder step.

    Formula: one version / quads. A version has a winner if the same text won in both orders; a tie, an abstention or
    two winners leave it without one. A coin scores 1/2.
    """
    return tally.one_version


@TASKS.measure(
    "neither-version-preference",
    "Neither-version preference",
    "How often it has no preference that survives the swap under either version of a task.",
    worse="higher",
)
def neither_version_preference(tally: QuadTally) -> float:
    """Share of quads in which no version of the task has a winner, pooled and by ladder step.

    Formula: neither / quads. A version has a winner if the same text won in both orders; a tie, an abstention or two
    winners leave it without one. A coin scores 1/4, a judge that always names one slot 1.
    """
    return tally.neither


PARTS = {Family.LADDER: "", Family.FIGURES: "figures"}
"""The ladders that are measured, each by itself, and what they are called."""

LEAST_ERROR = 1.9
"""The least standard error, in quads: where no quad shows any appeal, the upper limit is that of 0 events of n."""


@BY_PART.measure(
    "text-appeal",
    "Text appeal",
    "How far it prefers one of two answers whatever the task asks for, as a difference of shares of calls.",
    worse="higher",
    scale="difference",
)
def text_appeal(tallies: Tallies, arm: str) -> list[Part]:
    """How far one of two texts is preferred whatever the task asks for: root mean square over quads.

    Formula: sqrt(E[a²]), with a the share of calls that name the one text less the share that name the other, over both
    versions and both orders of a quad, as they would be over endless repeats. Noise does not count: a² is estimated by
    the product of two halves of the quad, each a call on either version in opposite orders, so that neither the task
    nor the slot favours a text in either half, and no call is multiplied by itself. It is exact unless a slot helps a
    text under one version and harms it under the other. 0 if texts are preferred for what the task asks, for their
    slot, or at random; 1 if one of two texts always wins. For the ladder, and apart from it for figures. Level: quad.
    Bounds: 0 to 1, higher is worse. Not given if the design has no quads. Undefined without a quad answered in both
    orders of both versions, or if the halves disagree by more than chance. Interval: linearised over tasks with
    Student's t, on the square.
    """
    return [
        Part(_appeal(chosen), part) for family, part in PARTS.items() if (chosen := quad_tallies(tallies, arm, family))
    ]


def _appeal(chosen: Sequence[QuadTally]) -> Result:
    missing = incomplete_quads(chosen)
    products, quads = by_task((tally.cluster, tally.appeal, tally.quads) for tally in chosen)
    if len(quads) < 2:
        return Undefined(ONE_TASK if quads else NO_QUAD, left_out=missing)
    count = round(sum(quads))
    found = cluster_ratio(products, quads, least=LEAST_ERROR / count)
    if found.high <= 0:
        return Undefined("the two halves of quads disagree by more than chance", left_out=missing)
    value, low, high = (sqrt(min(1.0, max(0.0, square))) for square in (found.value, found.low, found.high))
    limits = Interval(low, high, method="linearised over tasks, on the square")
    return Estimate(value, value * count, count, "quad", limits, found.clusters, left_out=missing)


@BY_PART.measure(
    "figure-sensitivity",
    "Figure sensitivity",
    "How often it prefers the answer with more right figures, by the size of the difference.",
    worse="lower",
    kinds=("compare", "grade"),
)
def figure_sensitivity(tallies: Tallies, arm: str) -> list[Part]:
    """P(the answer with more right figures is preferred), one measure per step; a tie is not correct.

    Formula: as target sensitivity: correct calls / (2 · pairs), or for a `grade` judge the share of pairs whose better
    answer has the higher grade. A ladder of correctness: both answers state as much, and the givens decide which of
    their figures are right. Never pooled with the ladder of requests. Level: canonical pair, scoring 0, one half or 1;
    for a `grade` judge 0 or 1. Bounds: 0 to 1, lower is worse. Not given if the design has no ladder of figures.
    Undefined without a pair answered in both orders, or graded on both sides. Interval: cluster-Wilson over tasks.
    """
    return share_by_step(correct_pairs(tallies, arm, Family.FIGURES), joint=IN_QUAD)


@FIGURES.measure(
    "figure-following",
    "Figure following",
    "How often it prefers the answer with more right figures under both of two sets of givens.",
    worse="lower",
)
def figure_following(tally: QuadTally) -> float:
    """Share of quads of figures in which the right text won under both sets of givens, pooled and by step.

    Formula: following / quads. A version, here a table of givens, has a winner if the same text won in both orders. A
    judge that does not check figures against the givens cannot follow them. Never pooled with the ladder of requests.
    """
    return tally.following


@FIGURES.measure(
    "figure-blind-preference",
    "Figure-blind preference",
    "How often it prefers the same answer under both sets of givens, though its figures are right under one.",
    worse="higher",
)
def figure_blind_preference(tally: QuadTally) -> float:
    """Share of quads of figures in which the same text won under both sets of givens, pooled and by step.

    Formula: blind / quads. A version, here a table of givens, has a winner if the same text won in both orders. Never
    pooled with the ladder of requests.
    """
    return tally.blind
