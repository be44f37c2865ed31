"""Whether a judge sees a known quality difference, by its size."""

import re
from collections.abc import Callable, Sequence

import numpy as np

from umpirical.domain.measures import Estimate, Interval, Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import PairTally, Tallies
from umpirical.domain.trials import BASELINE
from umpirical.measures.catalogue import BY_PART, WHOLE_VARIANT, MeasureFamily, Part, by_itself
from umpirical.measures.estimates.pairs import (
    IN_QUAD,
    UNANSWERED,
    PairCount,
    by_step,
    correct_pairs,
    count_pairs,
    counted_share,
    excluded,
    ladder_pairs,
    pair_share,
    share_by_step,
)
from umpirical.measures.estimates.rates import ONE_TASK, Counted, clustered_rate
from umpirical.stats.isotonic import isotonic_fit, threshold, threshold_interval

FINE_PART = re.compile(r"([a-z]+)/([0-9]{1,4})(/shared)?")
"""The part of a pair with a fine difference: the kind of detail that is wrong, how many details, shared errors."""


def step_shares(tallies: Tallies, variant: str, score: Callable[[PairTally], float]) -> list[Part]:
    """A share of the pairs of each ladder step."""
    return by_step(ladder_pairs(tallies, variant), lambda step: pair_share(step, score, joint=IN_QUAD))


EITHER = MeasureFamily(
    by_itself,
    kinds=("compare", "grade"),
    contract=(
        "Level: canonical pair, scoring 0, one half or 1; for a `grade` judge 0 or 1. Undefined without a pair "
        "answered in both orders, or graded on both sides. Interval: cluster-Wilson over tasks."
    ),
)
"""For both kinds of judges."""

STEPS = MeasureFamily(
    step_shares,
    contract=(
        "Bounds: 0 to 1, {worse}. Undefined without a pair answered in both orders. Interval: cluster-Wilson over "
        "tasks."
    ),
)


@EITHER.measure(
    "Accuracy",
    "How often it prefers the answer that meets more requirements, by the size of the difference.",
    worse="lower",
    symbol="Pcorr",
)
def target_sensitivity(tallies: Tallies, variant: str) -> list[Part]:
    """Share of calls that prefer the better answer, for each difference in requirements; a tie is not correct.

    Formula: for a `compare` judge, correct calls / (2 · pairs), both orders of a pair together. For a `grade` judge,
    the share of pairs whose better answer has the higher grade. Bounds: 0 to 1, lower is worse. Reference: the Dark
    Current paper, equation 8; for grades, ours.
    """
    return share_by_step(correct_pairs(tallies, variant), joint=IN_QUAD)


@EITHER.measure(
    "Accuracy on fine differences",
    "How often it prefers the long answer with more details right, where each detail has to be worked out.",
    worse="lower",
)
def fine_sensitivity(tallies: Tallies, variant: str) -> list[Part]:
    """Share of calls that prefer the answer with more details right, of two long answers; a tie is not correct.

    Formula: as for accuracy. Both answers give every detail; the wrong ones are off by a little, and none is written in
    the task. Given for all of them together, for each difference in requirements (a fifth of the details is one
    requirement), for each kind of detail that is wrong, by how many of how many details are wrong, and by whether both
    answers also share errors, which tell nothing. Bounds: 0 to 1, lower is worse. Not given if the design has no such
    pairs.
    """
    counts = correct_pairs(tallies, variant, Family.FINE)
    kinds: dict[str, list[PairCount]] = {}
    errors: dict[str, list[PairCount]] = {"no shared errors": [], "shared errors": []}
    shapes: dict[tuple[int, int], list[PairCount]] = {}
    for count in counts:
        # A test case whose part says something else, as in a forged set, is in the total alone.
        if found := FINE_PART.fullmatch(count.stratum):
            kind, details = found[1], int(found[2])
            kinds.setdefault(kind, []).append(count)
            errors["shared errors" if found[3] else "no shared errors"].append(count)
            # All details are five requirements.
            shapes.setdefault((round(count.delta * details / 5), details), []).append(count)
    named = sorted(kinds.items()) + [(f"{wrong} of {all_}", shapes[wrong, all_]) for wrong, all_ in sorted(shapes)]
    named += [(name, chosen) for name, chosen in errors.items() if chosen]
    whole = [Part(counted_share(counts, joint=IN_QUAD))] if counts else []
    return [
        *whole,
        *share_by_step(counts, joint=IN_QUAD),
        *(Part(counted_share(chosen, joint=IN_QUAD), name) for name, chosen in named),
    ]


@STEPS.measure(
    "Accuracy in both orders",
    "How often it names the better answer in both orders, by the size of the difference.",
    worse="lower",
)
def both_orders_sensitivity(tally: PairTally) -> float:
    """Share of pairs whose better answer is named in both orders, for each difference in requirements.

    Formula: pairs whose better answer wins in both orders / pairs. This is the accuracy of a judge that is asked in
    both orders and believed only if they agree. It is never higher than the accuracy of single calls. Level: canonical
    pair, asked in both orders; repeats are averaged.
    """
    return tally.both_correct


@EITHER.measure(
    "Tie rate",
    "How often it calls a tie, or gives both answers the same grade, by the size of the difference.",
    worse="depends",
    symbol="C",
    symbol_above_0="MBT",
)
def tie_rate(tallies: Tallies, variant: str) -> list[Part]:
    """Share of calls without a preference, at equal quality (step 0) and at each difference in requirements.

    Formula: for a `compare` judge, tie calls / (2 · pairs); an abstention is not a tie. For a `grade` judge, the share
    of pairs with the same grade on both sides, which is common for small differences on a coarse scale. Bounds: 0 to 1;
    correct at step 0, an error above it. Reference: the Dark Current paper, equations 11 and 12; for grades, ours.
    """
    counts = count_pairs(
        tallies,
        variant,
        (Family.EQUAL, Family.GRADED),
        compared=lambda tally: tally.tie_calls / 2,
        graded=lambda tally: tally.equal,
    )
    return share_by_step(counts)


@STEPS.measure(
    "Wrong choice rate",
    "How often it names the answer that meets fewer requirements, by the size of the difference.",
    worse="higher",
)
def wrong_choice_rate(tally: PairTally) -> float:
    """Share of calls that name the worse answer, for each difference in requirements.

    Formula: wrong calls / (2 · pairs), both orders of a pair together. Level: canonical pair, scoring 0, one half or 1.
    Reference: the Dark Current paper, equations 8 and 12.
    """
    return tally.wrong_calls / 2


@BY_PART.measure(
    "Accuracy when it names a winner",
    "When it names a winner, how often that is the better answer, by the size of the difference.",
    worse="lower",
    symbol="Pcorr (non-tie)",
)
def committed_accuracy(tallies: Tallies, variant: str) -> list[Part]:
    """Share of the named winners that are the better answer, for each difference in requirements.

    Formula: correct calls / (correct + wrong calls). Compare it with the tie rate: a judge that names a winner only
    when it is sure is often right. Level: call that named a winner. Bounds: 0 to 1, lower is worse. Undefined if no
    call named a winner. Interval: cluster-Wilson over tasks. Reference: the Dark Current paper, equation 9.
    """
    return by_step(ladder_pairs(tallies, variant), _accuracy)


def _accuracy(step: Sequence[PairTally]) -> Result:
    return clustered_rate(
        [Counted(tally.cluster, tally.correct_calls, tally.correct_calls + tally.wrong_calls) for tally in step],
        unit="call",
        empty="no call named a winner",
        excluded={UNANSWERED: 2 * sum(tally.incomplete for tally in step)},
        lost=2 * sum(tally.lost for tally in step),
    )


TARGET = 0.75

FLAT = "its accuracy changes too little with the size of the difference to show where it reaches 75%"


@WHOLE_VARIANT.measure(
    "75% detection threshold (Δ75)",
    "The smallest difference, in requirements, at which it prefers the better answer 75% of the time.",
    worse="higher",
    scale="requirements",
    kinds=("compare", "grade"),
    symbol="Δ*75",
)
def detection_threshold(tallies: Tallies, variant: str) -> Result:
    """Delta75: the difference in requirements at which the accuracy curve first reaches 75%.

    A `grade` judge sees a difference if it gives the better answer a higher grade. Formula: isotonic fit over the
    differences, fine ones included, weighted by pairs, with linear interpolation. It is left-censored if the smallest
    difference already reaches 75%, and right-censored if none does; a censored value is bounded on at most one side.
    Level: all differences together; the denominator counts pairs. Bounds: the smallest and the largest difference;
    higher is worse. Undefined with fewer than two differences or two tasks that have answered pairs, for a prompt
    variant that skips differences of the baseline, and if the curve is so flat that the interval has no end on the side
    of the larger differences (or of the smaller ones, if none reaches 75%). Interval: inversion of the cluster-Wilson
    test along the interpolated curve. Reference: the Dark Current paper, equation 10.
    """
    ladder, all_ = (
        [count for family in (Family.FINE, Family.GRADED) for count in correct_pairs(tallies, asked, family)]
        for asked in (variant, BASELINE)
    )
    here, whole = ({count.delta for count in each} for each in (ladder, all_))
    if here < whole and variant != BASELINE:
        some = ", ".join(f"{step:g}" for step in sorted(here)) or "none"
        reason = f"this prompt variant was asked only at differences of {some}; a threshold needs all"
        return Undefined(reason, excluded=excluded(ladder))
    return _threshold(ladder)


def _threshold(ladder: list[PairCount]) -> Result:
    steps = sorted({count.delta for count in ladder if count.pairs})
    missing = excluded(ladder)
    if len(steps) < 2:
        return Undefined("a threshold needs answered pairs at two or more differences", excluded=missing)
    correct, pairs = _by_task_and_step(ladder, steps)
    if len(pairs) < 2:
        return Undefined(ONE_TASK, excluded=missing)
    weights = pairs.sum(axis=0)
    crossing = threshold(steps, isotonic_fit(correct.sum(axis=0) / weights, weights), target=TARGET)
    low, high = threshold_interval(steps, correct, pairs, target=TARGET)
    # A curve that falls steeply somewhere is no psychometric curve; the interval then still holds the estimate.
    low = None if low is None or crossing.censoring == "left" else min(low, crossing.value)
    high = None if high is None or crossing.censoring == "right" else max(high, crossing.value)
    if (low if crossing.censoring == "right" else high) is None:
        return Undefined(FLAT, excluded=missing)
    method = "inverted cluster-Wilson test along the interpolated curve"
    return Estimate(
        value=crossing.value,
        numerator=float(correct.sum()),
        denominator=int(weights.sum()),
        unit="pair",
        interval=None if low is None and high is None else Interval(low, high, method=method),
        clusters=len(pairs),
        censoring=crossing.censoring,
        excluded=missing,
    )


def _by_task_and_step(
    ladder: list[PairCount], steps: list[float]
) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.float64]], np.ndarray[tuple[int, int], np.dtype[np.float64]]]:
    tasks = sorted({count.cluster for count in ladder if count.pairs})
    rows = {task: row for row, task in enumerate(tasks)}
    correct, pairs = np.zeros((len(tasks), len(steps))), np.zeros((len(tasks), len(steps)))
    for count in ladder:
        if count.pairs:
            cell = rows[count.cluster], steps.index(count.delta)
            correct[cell] += count.score
            pairs[cell] += count.pairs
    return correct, pairs
