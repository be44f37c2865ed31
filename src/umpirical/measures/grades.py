"""The grades that a judge gives to answers of known quality.

Measured on the answers of the ladder and of the pairs of equal quality, which cover all qualities evenly.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from umpirical.domain.measures import Estimate, Interval, Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import GradePairTally, GradeTally, Tallies
from umpirical.measures.catalogue import MeasureFamily, as_a_whole
from umpirical.measures.estimates.pairs import NO_GRADED_PAIR, UNGRADED
from umpirical.measures.estimates.rates import ONE_TASK, Counted, by_task, clustered_rate
from umpirical.stats.intervals import cluster_mean, cluster_ratio
from umpirical.stats.repeats import effective_number, effective_number_interval

GRADES = MeasureFamily(as_a_whole, kinds=("grade",), scale="steps")
FAMILIES = (Family.EQUAL, Family.GRADED)


def graded_answers(tallies: Tallies, variant: str) -> list[GradeTally]:
    return [tally for tally in tallies.grades if tally.variant == variant and tally.family in FAMILIES]


def answers_without_grade(tallies: Tallies, variant: str) -> dict[str, int]:
    calls = [tally for tally in tallies.calls if tally.variant == variant and tally.family in FAMILIES]
    missing = {
        reason: sum(getattr(tally, reason) for tally in calls)
        for reason in ("abstained", "unparsed", "failed", "unasked")
    }
    return {reason: count for reason, count in missing.items() if count}


@GRADES.measure(
    "Same-quality spread",
    "How many steps the grades of two equally good answers differ by, on average.",
    worse="higher",
)
def grade_spread(tallies: Tallies, variant: str) -> Result:
    """Mean distance between the grades of two equally good answers, in steps of the scale.

    Formula: sum of |grade of u - grade of v| / pairs. Level: pair of equal quality, with each answer graded separately.
    Bounds: 0 to the number of steps of the scale, higher is worse. Undefined without a pair graded on both sides.
    Interval: score interval over tasks, with the variance in proportion to the mean; at 0 it is that of a share of
    pairs that differ by one step. Reference: ours; half of the mean square would be the variance within a quality, but
    a mean distance is in the unit of the grades.
    """
    chosen = [tally for tally in tallies.grade_pairs if tally.variant == variant and tally.family == Family.EQUAL]
    return _spread(chosen)


def _spread(chosen: Sequence[GradePairTally]) -> Result:
    incomplete = sum(tally.incomplete for tally in chosen)
    missing = {UNGRADED: incomplete} if incomplete else {}
    distances, pairs = by_task((tally.cluster, tally.distance, tally.pairs) for tally in chosen)
    if len(pairs) < 2:
        return Undefined(ONE_TASK if pairs else NO_GRADED_PAIR, excluded=missing)
    mean = cluster_mean(distances, pairs)
    return Estimate(
        value=mean.value,
        numerator=sum(distances),
        denominator=int(sum(pairs)),
        unit="pair",
        interval=Interval(mean.low, mean.high, method="cluster score over tasks, variance in proportion to the mean"),
        clusters=mean.clusters,
        excluded=missing,
    )


@GRADES.measure(
    "Grade concordance",
    "When it grades two answers of different quality differently, how often the better one gets the higher grade.",
    worse="lower",
    scale="rate",
)
def grade_concordance(tallies: Tallies, variant: str) -> Result:
    """Share of pairs with different grades in which the better answer has the higher grade.

    Formula: better higher / (better higher + worse higher), all differences together. Pairs with equal grades are left
    to the tie rate; counting them as correct would give full marks to a judge that grades everything alike. Level: pair
    with two different grades. Bounds: 0 to 1, one half is chance, lower is worse. Undefined without such a pair.
    Interval: cluster-Wilson over tasks. Reference: L. A. Goodman and W. H. Kruskal, Measures of association for cross
    classifications, JASA 49 (1954): their gamma, on these pairs, is 2·concordance - 1.
    """
    ladder = [tally for tally in tallies.grade_pairs if tally.variant == variant and tally.family == Family.GRADED]
    return clustered_rate(
        [Counted(tally.cluster, tally.better_higher, tally.better_higher + tally.lesser_higher) for tally in ladder],
        unit="pair",
        empty="no ladder pair has two different grades",
        excluded={UNGRADED: sum(tally.incomplete for tally in ladder)},
        lost=sum(tally.lost for tally in ladder),
    )


@GRADES.measure("Grade slope", "How many steps of the scale one more requirement is worth, on average.", worse="lower")
def grade_slope(tallies: Tallies, variant: str) -> Result:
    """Slope of the regression of grade on requirements met, within tasks, in steps of the scale per requirement.

    Formula: sum over tasks of sum (level - task mean level)·grade, divided by the same sum of (level - task mean
    level)²; a task that is graded more strictly as a whole does not change it. Positive if better answers get higher
    grades. A judge that uses its whole scale has (grades - 1) / requirements; less is central tendency. A grade cannot
    pass the ends of the scale, so the slope is that of the mean grade, not of a latent line. Level: answer; the
    denominator counts answers and the numerator is the sum of the products above. Bounds: plus and minus (grades - 1);
    nearer 0 is worse. Undefined without two tasks that have answers of two qualities. Interval: ratio of sums,
    linearized over tasks, Student's t. Its standard error is at least that of one of the best or worst answers graded
    at the other end of the scale, because one rare slip moves a steady judge's slope by more than its tasks differ.
    Reference: ours; the slope of a calibration line.
    """
    return _slope(graded_answers(tallies, variant), answers_without_grade(tallies, variant))


def _slope(answers: Sequence[GradeTally], missing: dict[str, int]) -> Result:
    parts = _products(answers)
    products, squares = by_task(parts)
    if len(squares) < 2:
        one = "only one task has answers of two qualities; an interval needs at least two"
        return Undefined(one if squares else "no task has graded answers of two qualities", excluded=missing)
    levels, scores = {tally.level for tally in answers}, {tally.score for tally in answers}
    least = (max(levels) - min(levels)) / 2 * max(1.0, max(scores) - min(scores)) / sum(squares)
    slope = cluster_ratio(products, squares, least=least)
    return Estimate(
        value=slope.value,
        numerator=sum(products),
        denominator=sum(tally.answers for tally in answers),
        unit="item",
        interval=Interval(slope.low, slope.high, method="ratio of sums linearized over tasks, Student's t"),
        clusters=slope.clusters,
        excluded=missing,
    )


def _products(answers: Sequence[GradeTally]) -> list[tuple[str, float, float]]:
    """Per task the sums of (level - mean)·grade and of (level - mean)²."""
    tasks: dict[str, list[GradeTally]] = defaultdict(list)
    for tally in answers:
        tasks[tally.cluster].append(tally)
    found = []
    for cluster, tallies in tasks.items():
        mean = sum(tally.level * tally.answers for tally in tallies) / sum(tally.answers for tally in tallies)
        gaps = [(tally.level - mean, tally) for tally in tallies]
        product = sum(gap * tally.score * tally.answers for gap, tally in gaps)
        found.append((cluster, product, sum(gap * gap * tally.answers for gap, tally in gaps)))
    return found


@GRADES.measure(
    "Effective grades",
    "How many grades it really uses on answers of all qualities, as a number of evenly used grades.",
    worse="lower",
)
def effective_grades(tallies: Tallies, variant: str) -> Result:
    """How many evenly used grades would distinguish answers of all qualities as well as the grades it gives.

    Formula: 1 / P(two answers, of two different tasks, get the same grade). A judge with one favorite grade has 1, an
    even use of K grades has K; a count of the grades seen would rise with every rare slip. Level: answer, of pairs of
    different and of equal quality; the denominator counts answers, the numerator the different grades among them.
    Bounds: 1 to the number of grades of the scale, lower is worse on answers of all qualities. Undefined with fewer
    than three tasks, or if no two tasks share a grade. Interval: jackknife over tasks of the logarithm, Student's t; at
    least as wide as one answer graded differently would make it. Its coverage is 94% to 96%, but 91% if grades are used
    almost evenly and tasks are graded differently. Reference: M. O. Hill, Diversity and evenness, Ecology 54 (1973),
    the number of order 2.
    """
    return _effective(graded_answers(tallies, variant), answers_without_grade(tallies, variant))


def _effective(answers: Sequence[GradeTally], missing: dict[str, int]) -> Result:
    tasks, scores = sorted({tally.cluster for tally in answers}), sorted({tally.score for tally in answers})
    if not tasks:
        return Undefined("no answer has a grade", excluded=missing)
    if len(tasks) < 3:
        few = "one task" if len(tasks) == 1 else "two tasks"
        return Undefined(f"the data come from only {few}; an interval needs at least three", excluded=missing)
    counts = np.zeros((len(tasks), len(scores)))
    rows, columns = {task: row for row, task in enumerate(tasks)}, {score: place for place, score in enumerate(scores)}
    for tally in answers:
        counts[rows[tally.cluster], columns[tally.score]] += tally.answers
    if not np.isfinite(effective_number(counts)):
        return Undefined("no two tasks share a grade", excluded=missing)
    number = effective_number_interval(counts)
    # An unbiased estimate exceeds the number of grades by chance where they are used evenly.
    value = min(number.value, len(scores))
    return Estimate(
        value=value,
        numerator=len(scores),
        denominator=int(counts.sum()),
        unit="item",
        interval=Interval(
            min(number.low, value), number.high, method="jackknife over tasks of the logarithm, Student's t"
        ),
        clusters=number.clusters,
        excluded=missing,
    )


@GRADES.measure("Grades used", "How many different grades it gave to answers of all qualities.", worse="lower")
def grades_used(tallies: Tallies, variant: str) -> Result:
    """Number of different grades given to answers of all qualities.

    Formula: a count of what was seen, so a lower limit of what the judge uses; most runs miss a grade that it gives
    once in a thousand answers. Level: answer; the denominator counts answers. Bounds: 1 to the number of grades of the
    scale; fewer is worse on answers of all qualities. Undefined without a graded answer, or with only one task, like
    every other measure. Interval: open above, because the grades seen do not show how many more there are; the
    effective grades show how evenly they are used. Reference: ours.
    """
    answers, missing = graded_answers(tallies, variant), answers_without_grade(tallies, variant)
    tasks = {tally.cluster for tally in answers}
    if len(tasks) < 2:
        why = ONE_TASK if tasks else "no answer has a grade"
        return Undefined(why, excluded=missing)
    count = len({tally.score for tally in answers})
    return Estimate(
        value=count,
        numerator=count,
        denominator=sum(tally.answers for tally in answers),
        unit="item",
        interval=Interval(count, None, method="at least as many as were seen"),
        clusters=len(tasks),
        excluded=missing,
    )
