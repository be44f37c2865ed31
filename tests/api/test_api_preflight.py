"""From Python, too, a judge that cannot be read is asked four times and not a thousand."""

import pytest

import umpirical
from tests.stimuli.built import lend_stimuli
from umpirical.domain.errors import JudgeUnreadable
from umpirical.stimuli.controlled.datasheet_set import RECIPES
from umpirical.study.preflight import CALLS


class Judge:
    """Says the same every time, and counts how often."""

    def __init__(self, answer):
        self.answer, self.asked = answer, 0

    def __call__(self, task, first, second):  # noqa: ARG002
        self.asked += 1
        return self.answer


@pytest.fixture
def measure(tmp_path):
    lend_stimuli(tmp_path)

    def measured(judge, **more):
        settings = {"size": "screen", "folder": tmp_path, "progress": False, "allow_unpriced": True}
        return umpirical.datasheet(judge, name="judge", **settings, **more)

    return measured


def test_a_judge_that_cannot_be_read_is_asked_a_few_times(measure):
    judge = Judge("Hard to say.")
    with pytest.raises(JudgeUnreadable, match=r"not on its scale, such as 'Hard to say\.'") as raised:
        measure(judge)
    assert judge.asked == CALLS
    assert "return one of 1, 2, tie, abstain" in raised.value.fix


def test_it_is_measured_as_it_is_if_that_is_wanted(measure):
    judge = Judge("Hard to say.")
    report = measure(judge, preflight=False)
    assert judge.asked == RECIPES["screen"].calls
    assert report.measure("unparsed-rate").result.value == 1


def test_the_calls_of_the_preflight_are_part_of_the_run(measure):
    judge = Judge("1")
    report = measure(judge)
    assert judge.asked == RECIPES["screen"].calls
    assert report.measure("unparsed-rate").result.value == 0
