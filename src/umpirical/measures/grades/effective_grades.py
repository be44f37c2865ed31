"""Effective grades: how much of a scale is really used."""

from collections.abc import Sequence

import numpy as np

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.tallies import GradeTally, Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.grades import answers_without_grade, graded_answers
from umpirical.stats.diversity import effective_number, effective_number_interval


def effective_grades(tallies: Tallies, arm: str) -> list[Measure]:
    """How many evenly used grades would distinguish answers of all qualities as well as the grades it gives.

    Formula: 1 / P(two answers, of two different tasks, get the same grade). A judge with one favourite grade comes to
    1, an even use of K grades to K; a count of the grades seen would rise with every rare slip. Level: answer, of the
    ladder and of the pairs of equal quality; the denominator counts answers, the numerator the different grades among
    them. Bounds: 1 to the number of grades of the scale, lower is worse on answers of all qualities. Undefined with
    fewer than three tasks, or if no two tasks share a grade. Interval: jackknife over tasks of the logarithm,
    Student's t; not narrower than one answer graded differently would make it. It covers .94 to .96, but .91 if grades
    are used almost evenly and tasks are graded differently.
    Reference: M. O. Hill, Diversity and evenness, Ecology 54 (1973), the number of order 2.
    """
    return [Measure(SPEC.name, _effective(graded_answers(tallies, arm), answers_without_grade(tallies, arm)), arm)]


def _effective(answers: Sequence[GradeTally], missing: dict[str, int]) -> Result:
    tasks, scores = sorted({tally.cluster for tally in answers}), sorted({tally.score for tally in answers})
    if not tasks:
        return Undefined("no answer has a grade", left_out=missing)
    if len(tasks) < 3:
        few = "only one task was measured" if len(tasks) == 1 else "only two tasks were measured"
        return Undefined(f"{few}: an interval needs at least three", left_out=missing)
    counts = np.zeros((len(tasks), len(scores)))
    rows, columns = {task: row for row, task in enumerate(tasks)}, {score: place for place, score in enumerate(scores)}
    for tally in answers:
        counts[rows[tally.cluster], columns[tally.score]] += tally.answers
    if not np.isfinite(effective_number(counts)):
        return Undefined("no two tasks share a grade", left_out=missing)
    number = effective_number_interval(counts)
    # An unbiased estimate exceeds the number of grades by chance where they are used evenly.
    value = min(number.value, len(scores))
    return Estimate(
        value=value,
        numerator=len(scores),
        denominator=int(counts.sum()),
        unit="item",
        interval=Interval(min(number.low, value), number.high, "jackknife over tasks of the logarithm, Student's t"),
        clusters=number.clusters,
        left_out=missing,
    )


SPEC = MeasureSpec(
    name="effective-grades",
    title="Effective grades",
    about="How many grades it really uses on answers of all qualities: as many evenly used ones would do the same.",
    worse="lower",
    compute=effective_grades,
    scale="steps",
    kinds=("grade",),
)
