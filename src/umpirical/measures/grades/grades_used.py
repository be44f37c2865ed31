"""Grades used: how many different grades came up."""

from umpirical.domain.measures import Estimate, Interval, Measure, Undefined
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.grades import answers_without_grade, graded_answers
from umpirical.measures.estimates.rates import ONE_TASK


def grades_used(tallies: Tallies, arm: str) -> list[Measure]:
    """Number of different grades given to the answers of the ladder.

    Formula: a count of what was seen, so a lower limit of what the judge uses: a grade it gives once in a thousand
    answers is missed by most runs. Level: answer; the denominator counts answers. Bounds: 1 to the number of grades of
    the scale; fewer is worse on answers of all qualities. Undefined without a graded answer, or with one task only,
    as every other measure is. Interval: open above, since the grades seen do not tell how many more there are; the
    effective grades tell how evenly they are used. Reference: ours.
    """
    answers, missing = graded_answers(tallies, arm), answers_without_grade(tallies, arm)
    tasks = {tally.cluster for tally in answers}
    if len(tasks) < 2:
        why = ONE_TASK if tasks else "no answer has a grade"
        return [Measure(SPEC.name, Undefined(why, left_out=missing), arm)]
    count = len({tally.score for tally in answers})
    result = Estimate(
        value=count,
        numerator=count,
        denominator=sum(tally.answers for tally in answers),
        unit="item",
        interval=Interval(count, None, "at least as many as were seen"),
        clusters=len(tasks),
        left_out=missing,
    )
    return [Measure(SPEC.name, result, arm)]


SPEC = MeasureSpec(
    name="grades-used",
    title="Grades used",
    about="How many different grades it gave to answers of every quality.",
    worse="lower",
    compute=grades_used,
    scale="steps",
    kinds=("grade",),
)
