"""A `grade` judge, end to end: what is built in is in the datasheet, on every kind of scale."""

import pytest

from tests.protocols.datasheet.end_to_end.conftest import Silent
from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Estimate
from umpirical.study.file import parse_study
from umpirical.study.prepare import prepare_run
from umpirical.study.run import complete_run

STUDY = """
study: grades
seed: 5
design: {size: screen, repeats: 2}
judges:
  - name: noisy
    kind: grade
    scale: {kind: ordinal, labels: ["1", "2", "3", "4", "5"]}
    model: {adapter: simulated, name: noisy-grader}
  - name: lenient
    kind: grade
    scale: {kind: ordinal, labels: ["1", "2", "3", "4", "5"]}
    model: {adapter: simulated, name: lenient-on-nothing}
  - name: compressed
    kind: grade
    scale: {kind: interval, low: 0, high: 10}
    model: {adapter: simulated, name: compressed-grader}
  - name: steady
    kind: grade
    scale: {kind: binary, labels: ["no", "yes"]}
    model: {adapter: simulated, name: steady-grader}
  - name: colours
    kind: grade
    scale: {kind: nominal, labels: [red, blue]}
    model: {adapter: simulated, name: steady-grader}
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return parse_study(STUDY, tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def measures(study):
    """The measures of every judge that can be measured, by name."""
    found = {}
    for judge in study.spec.judges[:-1]:
        run = prepare_run(study, judge)
        found[judge.name] = complete_run(run, 4, lambda *_: Silent()).record.measures
    return found


def one(measures, name, stratum=""):
    return next(m.result for m in measures if (m.name, m.stratum) == (name, stratum))


def inside(measure) -> bool:
    limits = measure.result.interval
    if limits is None:
        return True
    low, high = limits.low, limits.high
    return (low is None or low <= measure.true_value + 1e-9) and (high is None or measure.true_value <= high + 1e-9)


@pytest.mark.parametrize("judge", ["noisy", "lenient", "compressed", "steady"])
def test_planted_values_lie_in_the_intervals(measures, judge):
    found = [m for m in measures[judge] if m.true_value is not None and isinstance(m.result, Estimate)]
    assert {m.name for m in found} >= {"dark-current", "grade-slope", "grade-spread", "effective-grades", "tie-rate"}
    missed = [(m.name, m.stratum) for m in found if not inside(m)]
    # One interval in twenty misses, and those of one run lean on the same answers.
    assert len(missed) <= 0.2 * len(found), missed


def test_a_blank_lifted_above_the_least_grade_is_found(measures):
    noisy, lenient = (one(measures[judge], "dark-current") for judge in ("noisy", "lenient"))
    assert noisy.interval.high < lenient.interval.low


def test_a_compressed_grader_is_told_from_one_that_uses_its_scale(measures):
    # In shares of the scale, since one has ten steps and the other four.
    slopes = [one(measures[judge], "grade-slope") for judge in ("compressed", "lenient")]
    assert slopes[0].interval.high / 10 < slopes[1].interval.low / 4


def test_a_binary_scale_ties_where_both_answers_are_on_one_side(measures):
    assert one(measures["steady"], "tie-rate", "1").value > 0.5
    assert one(measures["steady"], "tie-rate", "5").value < 0.2
    assert one(measures["steady"], "grades-used").value == 2


def test_nothing_is_said_of_slots(measures):
    names = {m.name for m in measures["noisy"]}
    assert names.isdisjoint(["positional-false-preference", "stable-cross-sensitivity", "one-sided-commit"])


def test_labels_without_an_order_are_refused_before_anything_is_asked(study):
    with pytest.raises(UsageError, match="needs ordered labels"):
        prepare_run(study, study.judge("colours"))
