"""The effect of an instruction: a prompt variant compared with the baseline."""

from collections.abc import Callable, Collection, Iterator
from math import isfinite
from typing import NamedTuple

from umpirical.domain.measures import Estimate, Interval, Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import PairTally, Tallies
from umpirical.measures.catalogue import MeasureFamily, Part, by_itself
from umpirical.measures.estimates.pairs import NO_VERDICTS, incomplete_pairs
from umpirical.measures.estimates.rates import (
    ONE_TASK,
    Counted,
    Paired,
    difference_result,
    paired_by_task,
    sign_flip_result,
)
from umpirical.measures.signal import model_outcomes, pair_counts
from umpirical.stats.seeds import generator
from umpirical.stats.signal_tests import parameter_difference

BASELINE = "baseline"
SHORTEST, LONGEST = "short", "example"
"""The built-in prompts that ask the same with the fewest words and the most."""
NO_SHARED_PAIRS = "no task has answered pairs with both prompts"


class Step(NamedTuple):
    """A step of the ladder that was asked in the variant and in the baseline."""

    name: str
    paired: Paired
    """Two rates per task, the variant's first, of the tasks with answered pairs on both sides."""
    excluded: dict[str, int]


def shared_steps(
    tallies: Tallies,
    variant: str,
    families: Collection[str],
    score: Callable[[PairTally], float],
    base: str = BASELINE,
) -> Iterator[Step]:
    """The steps that both were asked, with the rates of `score`; none for the base itself."""
    if variant == base:
        return
    chosen = [tally for tally in tallies.pairs if tally.family in families]
    steps = sorted({t.delta for t in chosen if t.variant == variant} & {t.delta for t in chosen if t.variant == base})
    for step in steps:
        here = [tally for tally in chosen if tally.variant == variant and tally.delta == step]
        there = [tally for tally in chosen if tally.variant == base and tally.delta == step]
        paired = paired_by_task(
            [Counted(tally.cluster, score(tally), tally.pairs) for tally in here],
            [Counted(tally.cluster, score(tally), tally.pairs) for tally in there],
        )
        missing = {
            "without an answer in both orders, this prompt variant": sum(tally.incomplete for tally in here),
            f"without an answer in both orders, {base}": sum(tally.incomplete for tally in there),
        }
        yield Step(f"{step:g}", paired, missing)


def _ties(tallies: Tallies, variant: str) -> Iterator[Step]:
    """Tie rates, at equal quality and on the ladder."""
    return shared_steps(tallies, variant, (Family.EQUAL, Family.GRADED), lambda tally: tally.tie_calls / 2)


def _difference(step: Step) -> Part:
    found = difference_result(step.paired, unit="pair", empty=NO_SHARED_PAIRS, excluded=step.excluded)
    return Part(found, step.name)


SHIFT = MeasureFamily(by_itself, scale="difference")


@SHIFT.measure(
    "Criterion shift",
    "How much more often it ties than with the baseline instruction, by the size of the difference.",
    worse="depends",
    between_variants=True,
    symbol="ΔC",
)
def criterion_shift(tallies: Tallies, variant: str) -> list[Part]:
    """Tie rate of the prompt variant minus that of the baseline, at equal quality (step 0) and at each difference.

    Formula: tie calls / (2 · pairs) in the prompt variant, minus the same in the baseline. A rise at step 0 is caution;
    above step 0 it is accuracy lost to ties (the change of the miss-by-tie rate). Level: canonical pair, scoring 0, one
    half or 1; the denominator is that of the prompt variant. Bounds: -1 to 1. Not given for the baseline itself.
    Undefined if fewer than two tasks have answered pairs in both prompt variants. Interval: cluster-Wilson limits of
    both rates, joined over the tasks they share (Newcombe's square-and-add). Reference: the Dark Current paper,
    equations 11 and 12.
    """
    return [_difference(step) for step in _ties(tallies, variant)]


@SHIFT.measure(
    "Criterion shift, permutation p",
    "How surprising the criterion shift would be if the instruction had no effect.",
    worse="depends",
    scale="p-value",
    between_variants=True,
)
def criterion_shift_test(tallies: Tallies, variant: str) -> list[Part]:
    """P-value of the criterion shift, if prompt variant and baseline could be exchanged within each task.

    Formula: two-sided sign-flip permutation of the differences of tie rates, task by task: all sign patterns for up to
    14 tasks that differ, otherwise 20,000 drawn from a fixed seed. Level: task; counts are those of the criterion
    shift. Bounds: 0 to 1; small values are evidence against equal tie rates. Not given for the baseline itself.
    Undefined if fewer than two tasks have answered pairs in both prompt variants. Interval: none, because this is a
    test and not an estimate.
    """
    found = []
    for step in _ties(tallies, variant):
        rng = generator(0, "criterion-shift-test", variant, step.name)
        result = sign_flip_result(step.paired, unit="pair", empty=NO_SHARED_PAIRS, excluded=step.excluded, rng=rng)
        found.append(Part(result, step.name))
    return found


@SHIFT.measure(
    "Accuracy shift",
    "How much more often it names the better answer than with the baseline instruction.",
    worse="lower",
    between_variants=True,
)
def sensitivity_shift(tallies: Tallies, variant: str) -> list[Part]:
    """Accuracy of the prompt variant minus that of the baseline, at each difference in requirements.

    Formula: correct calls / (2 · pairs) in the prompt variant, minus the same in the baseline. Level: canonical pair,
    scoring 0, one half or 1; the denominator is that of the prompt variant. Bounds: -1 to 1, lower is worse. Not given
    for the baseline itself. Undefined if fewer than two tasks have answered pairs in both prompt variants. Interval:
    cluster-Wilson limits of both rates, joined over the tasks they share (Newcombe's square-and-add). Reference: the
    Dark Current paper, equations 8 and 11.
    """
    steps = shared_steps(tallies, variant, (Family.GRADED,), lambda tally: tally.correct_calls / 2)
    return [_difference(step) for step in steps]


@SHIFT.measure(
    "Prompt-complexity shift",
    "How much more often it names the better answer with guidelines and an example than with a short prompt.",
    worse="depends",
    between_variants=True,
)
def complexity_shift(tallies: Tallies, variant: str) -> list[Part]:
    """Accuracy with the longest built-in prompt minus that with the shortest, at each difference in requirements.

    Formula: correct calls / (2 · pairs) in the prompt variant `example`, minus the same in `short`. Both ask for the
    same; `example` adds guidelines and an example. Level: canonical pair, scoring 0, one half or 1; the denominator is
    that of `example`. Bounds: -1 to 1; far from 0, the length of the prompt decides what the judge sees. Given for
    `example` only. Undefined if fewer than two tasks have answered pairs with both prompts. Interval: cluster-Wilson
    limits of both rates, joined over the tasks they share (Newcombe's square-and-add). Reference: Thakur et al.,
    Judging the Judges (2025), who found that small models lose agreement as their prompt grows.
    """
    if variant != LONGEST:
        return []
    steps = shared_steps(tallies, variant, (Family.GRADED,), lambda tally: tally.correct_calls / 2, base=SHORTEST)
    return [_difference(step) for step in steps]


@SHIFT.measure(
    "Resolution shift",
    "How much more clearly it sees one missing requirement than with the baseline instruction.",
    worse="lower",
    scale="latent",
    between_variants=True,
)
def resolution_shift(tallies: Tallies, variant: str) -> list[Part]:
    """Resolution of the prompt variant minus that of the baseline: 0 if the instruction moves only the criterion.

    Formula: k of the tie-aware signal-detection model in the prompt variant, minus k in the baseline (see
    `resolution`). It depends on the model: check the goodness of fit of both. Level: canonical pair, over all tier 1
    families except pairs of unlike requirements; the denominator counts those of the prompt variant. Bounds: none,
    lower is worse. Not given for the baseline itself. Undefined if the model cannot be fitted in both, or a resolution
    has no limit in one of them. Interval: task jackknife with Student's t, with each task removed from both at once.
    """
    return [] if variant == BASELINE else [Part(_shift(tallies, variant))]


def _shift(tallies: Tallies, variant: str) -> Result:
    missing = incomplete_pairs(tallies, variant)
    here, there = model_outcomes(tallies, variant), model_outcomes(tallies, BASELINE)
    tasks = sorted({tally.cluster for tally in (*here, *there)})
    if len(tasks) < 2 or not here or not there:
        return Undefined(ONE_TASK if len(tasks) == 1 else NO_VERDICTS, excluded=missing)
    try:
        found = parameter_difference(pair_counts(there, tasks), pair_counts(here, tasks), parameter="resolution")
    except ValueError as error:
        return Undefined(str(error), excluded=missing)
    if not isfinite(found.standard_error) or found.standard_error == 0:
        return Undefined("it depends on a single task, or no task changes it, so there is no spread", missing)
    pairs = sum(tally.pairs for tally in here)
    limits = Interval(found.low, found.high, method="model-based, task jackknife of both prompt variants at once")
    return Estimate(found.value, pairs, pairs, "pair", limits, len(tasks), excluded=missing)
