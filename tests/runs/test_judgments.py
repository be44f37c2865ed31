"""Responses to judgments: every planned trial gets one outcome, and what the study knows of it."""

import math
from collections import Counter

import pytest

from tests.protocols.datasheet.end_to_end.conftest import Silent
from tests.stimuli.own_tasks import CROSSED, write_own_study
from umpirical.domain.trials import Order
from umpirical.protocols.datasheet.report import read_run
from umpirical.runs.plan import shown
from umpirical.stimuli.controlled.family_files import load_family
from umpirical.stimuli.controlled.materials import crossed_materials
from umpirical.store.parquet import read_rows
from umpirical.study.file import read_study
from umpirical.study.prepare import prepare_run
from umpirical.study.run import complete_run

JUDGE = """\
def compare(task, first, second):
    if not (first + second).strip():
        return "abstain"
    if first == second:
        return "I cannot say."
    if "tuna" in first and "tuna" not in second:
        raise RuntimeError("no tuna")
    return "1"


def grade(task, answer):
    return "good" if "tuna" in answer else "poor"
"""


def read(folder, judge):
    (folder / "fishy_judge.py").write_text(JUDGE)
    study = read_study(write_own_study(folder, CROSSED, judge=judge))
    run = prepare_run(study, study.spec.judges[0])
    complete_run(run, 2, lambda *_: Silent())
    found = read_run(run)
    rows = list(read_rows(run.folder / "judgments.parquet"))
    return found, rows, {stimulus.id: stimulus for stimulus in run.stimuli}


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    return read(tmp_path_factory.mktemp("compared"), "callable: fishy_judge:compare")


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    scale = "{kind: ordinal, labels: [poor, fair, good]}"
    judge = f"callable: fishy_judge:grade\n    kind: grade\n    scale: {scale}"
    return read(tmp_path_factory.mktemp("graded"), judge)


def test_every_trial_has_one_outcome_and_all_of_them_are_counted(compared):
    found, rows, _ = compared
    outcomes = Counter(row["outcome"] for row in rows)
    assert found.reading.planned == len(rows) == len({row["trial_id"] for row in rows}) == 38
    assert found.reading.unasked == 0
    assert set(outcomes) == {"verdict", "abstained", "unparsed", "failed"}
    assert {kind: count for (kind, _), count in found.reading.trouble.items()} == {
        kind: outcomes[kind] for kind in ("unparsed", "failed")
    }


def test_what_is_no_verdict_is_kept_with_its_words(compared):
    found, rows, _ = compared
    examples = {kind: text for (kind, _), text in found.reading.examples.items()}
    assert examples["unparsed"] == "I cannot say."
    assert "no tuna" in examples["failed"]
    assert all(row["choice"] is None for row in rows if row["outcome"] != "verdict")
    assert all(row["choice"] == "1" for row in rows if row["outcome"] == "verdict")


def test_what_the_study_knows_of_a_trial_stands_beside_the_outcome(compared):
    _, rows, stimuli = compared
    for row in rows:
        stimulus = stimuli[row["stimulus_id"]]
        assert (row["cluster"], row["family"], row["stratum"]) == (stimulus.cluster, stimulus.family, stimulus.stratum)
        assert (row["delta"], row["base"]) == (stimulus.delta, stimulus.base)
        assert row["winner"] == getattr(stimulus.expectation, "candidate", None)
        u, v = (max(1, len(text)) for text in stimulus.candidates)
        assert row["log_length"] == pytest.approx(math.log(u / v), abs=0.005)
        assert row["level"] is row["score"] is None


def test_calls_are_added_up(compared):
    found, *_ = compared
    assert (found.reading.spent.calls, len(found.reading.spent.latencies)) == (38, 38)
    assert found.reading.served_by == {"fishy_judge:compare"}


def test_failures_of_the_judge_are_kept(compared):
    found, *_ = compared
    measures = {failure.measure for failure in found.failures}
    assert "positional-false-preference" in measures
    assert all(answer.words == "1" for failure in found.failures for answer in failure.answers)


def test_a_grade_stands_beside_the_level_of_the_answer_that_was_shown(graded):
    found, rows, stimuli = graded
    family = load_family(found.run.stimuli.folder.parents[1] / "own.yaml")
    tasks = {task.id: task for task in crossed_materials([(family, place) for place in range(3)]).all_tasks}
    assert rows
    for row in rows:
        stimulus = stimuli[row["stimulus_id"]]
        answer = shown(stimulus, Order(row["order"]), "grade").first
        assert row["level"] == tasks[stimulus.task_id].level(answer)
        expected = ("good", 2.0) if "tuna" in answer else ("poor", 0.0)
        assert (row["label"], row["score"]) == expected


def test_a_judge_that_grades_is_not_shown_two_identical_answers(graded):
    _, rows, _ = graded
    assert not [row for row in rows if row["stratum"] == "identical"]
