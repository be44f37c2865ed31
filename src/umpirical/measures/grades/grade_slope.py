"""Grade slope: how many steps of the scale one requirement is worth."""

from collections import defaultdict
from collections.abc import Sequence

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.tallies import GradeTally, Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.grades import answers_without_grade, graded_answers
from umpirical.measures.estimates.rates import by_task
from umpirical.stats.ratios import cluster_ratio


def grade_slope(tallies: Tallies, arm: str) -> list[Measure]:
    """Slope of the regression of grade on requirements met, within tasks, in steps of the scale per requirement.

    Formula: sum over tasks of sum (level - task mean level)·grade, over the same sum of (level - task mean level)²; a
    task that is graded more strictly as a whole does not move it. Positive if better answers get higher grades. A judge
    that uses its whole scale comes to (grades - 1) / requirements; less is central tendency. A grade cannot pass the
    ends of the scale, so the slope is that of the mean grade over the ladder, not of a latent line. Level: answer; the
    denominator counts answers and the numerator is the sum of the products above. Bounds: plus and minus (grades - 1);
    nearer 0 is worse. Undefined without two tasks that have answers of two qualities. Interval: ratio of sums,
    linearised over tasks, Student's t; its standard error is not below that of one answer at the end of the ladder
    graded at the other end of the scale, because one rare slip moves a steady judge's slope by more than its tasks
    differ.
    Reference: ours; the slope of a calibration line.
    """
    return [Measure(SPEC.name, _slope(graded_answers(tallies, arm), answers_without_grade(tallies, arm)), arm)]


def _slope(answers: Sequence[GradeTally], missing: dict[str, int]) -> Result:
    parts = _products(answers)
    products, squares = by_task(parts)
    if len(squares) < 2:
        one = "only one task has answers of two qualities: an interval needs at least two"
        return Undefined(one if squares else "no task has graded answers of two qualities", left_out=missing)
    levels, scores = {tally.level for tally in answers}, {tally.score for tally in answers}
    least = (max(levels) - min(levels)) / 2 * max(1.0, max(scores) - min(scores)) / sum(squares)
    slope = cluster_ratio(products, squares, least=least)
    return Estimate(
        value=slope.value,
        numerator=sum(products),
        denominator=sum(tally.answers for tally in answers),
        unit="item",
        interval=Interval(slope.low, slope.high, "ratio of sums linearised over tasks, Student's t"),
        clusters=slope.clusters,
        left_out=missing,
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


SPEC = MeasureSpec(
    name="grade-slope",
    title="Grade slope",
    about="How many steps of the scale one requirement more is worth, on average over the ladder.",
    worse="lower",
    compute=grade_slope,
    scale="steps",
    kinds=("grade",),
)
