"""Scores that are not what this run's samples would have: a log of another run, edited, or with epochs."""

from dataclasses import replace

import pytest
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import SampleScore, Score

import umpirical
from tests.models.inspect_opening import OLD_NAME
from tests.runs.loopback import CALLS, responses
from umpirical.domain.errors import StoreError, UsageError
from umpirical.integrations.inspect.hosted import HostedRun, _refuse_additions, hosted_run
from umpirical.store.schemas import response_row

pytestmark = OLD_NAME

OPEN = 4
"""The exit code where there is not enough data, as at the least size."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory) -> HostedRun:
    """A run that has all its answers."""
    folder = tmp_path_factory.mktemp("hosted")
    report = umpirical.datasheet("simulated:careful", size="screen", folder=folder, progress=False)
    return hosted_run(str(report.folder))


def scores_of(hosted: HostedRun, number: int) -> list[SampleScore]:
    rows = [response_row(each) for each in responses(hosted.run.folder)[:number]]
    return [SampleScore(sample_id=row["trial_id"], score=hosted.score(row["trial_id"], row)) for row in rows]


def test_measuring_a_log_again_changes_nothing(measured):
    before = (measured.run.folder / "datasheet.json").read_text()
    found = measured.measure(scores_of(measured, CALLS))
    assert (measured.run.folder / "datasheet.json").read_text() == before
    assert found["decision"] == OPEN
    assert measured.summary["complete"] is True


def test_an_answer_that_is_there_is_never_replaced_by_an_edited_log(measured):
    first = responses(measured.run.folder)[0]
    row = response_row(replace(first, text='{"verdict": "abstain"}'))
    edited = SampleScore(sample_id=first.trial_id, score=Score(value="abstained", metadata={"response": row}))
    before = responses(measured.run.folder)
    with pytest.raises(StoreError, match="different answers"):
        measured.measure([edited])
    assert responses(measured.run.folder) == before


def test_the_same_trial_in_two_epochs_is_refused(measured):
    [score] = scores_of(measured, 1)
    with pytest.raises(UsageError, match="several epochs"):
        measured.measure([score, score])


def test_the_response_to_another_trial_is_refused(measured):
    one, other = scores_of(measured, 2)
    with pytest.raises(StoreError, match="response to another trial"):
        measured.measure([SampleScore(sample_id=one.sample_id, score=other.score)])


def test_a_trial_of_another_run_is_refused(measured):
    [score] = scores_of(measured, 1)
    row = dict(score.score.metadata["response"], trial_id="f" * 32)
    with pytest.raises(StoreError, match="not in the plan"):
        measured.measure([SampleScore(sample_id="f" * 32, score=Score(value="1", metadata={"response": row}))])


def test_a_sample_that_ended_before_the_judge_was_asked_has_no_answer(measured):
    trial = responses(measured.run.folder)[0].trial_id
    score = measured.score(trial, None)
    assert score.value == "unasked"
    assert measured.measure([SampleScore(sample_id=trial, score=score)])["decision"] == OPEN


def test_only_what_is_no_part_of_the_question_may_be_added_to_it():
    planned = GenerateConfig(temperature=0.0, max_tokens=256)
    same = planned.model_copy(update={"max_retries": 3, "timeout": 9, "max_connections": 4, "cache_prompt": False})
    _refuse_additions(planned, same)
    for name, value in {"top_p": 0.5, "system_message": "be kind", "stop_seqs": ["x"], "reasoning_tokens": 9}.items():
        with pytest.raises(UsageError, match=name):
            _refuse_additions(planned, same.model_copy(update={name: value}))
