"""Columns of the data in a prompt: a judge is shown those that it names, and never the label."""

import csv

import pytest

from umpirical.domain.errors import ConfigError, UsageError
from umpirical.judges.factory import build_judge
from umpirical.models.spec import Calling
from umpirical.protocols.stress.protocol import check_stress
from umpirical.protocols.stress.stimuli import read_originals
from umpirical.runs.plan import request_for
from umpirical.runs.run import open_run
from umpirical.study.file import parse_study_data
from umpirical.study.prepare import prepare_run
from umpirical.study.verification import verify_run

HEADER = ["question", "answer", "label", "reference", "verdict", "rubric"]
ROWS = [
    ["Q1", "A1.\n\nMore.", "yes", "R1", "YES", "strict"],
    ["Q2", "A2.\n\nMore.", "no", "R2", "no", "mild"],
    ["Q2", "A2.\n\nMore.", "no", "R2", "no", "strict"],
    ["Q2", "A2.\n\nMore.", "no", "R2", "no", "strict"],
    ["Q3", "A3.\n\nMore.", "yes", "", "yes ", "mild"],
]


def study(tmp_path, *prompts, **judge):
    with (tmp_path / "data.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEADER, *ROWS])
    model = {"adapter": "openai-compatible", "name": "m", "base_url": "http://127.0.0.1:9/v1"}
    judges = []
    for place, prompt in enumerate(prompts):
        (tmp_path / f"p{place}.md").write_text(prompt)
        judges.append({"name": f"j{place}", "model": model, "prompts": {"baseline": f"p{place}.md"}, **judge})
    data = {
        "study": "s",
        "judges": judges,
        "dataset": {
            "path": "data.csv",
            "columns": {"task": "question", "response": "answer", "label": "label"},
            "scale": {"kind": "binary", "labels": ["no", "yes"]},
        },
        "stress": {"tests": ["vertical-spacing"]},
    }
    return parse_study_data(data, tmp_path)


def first_way(opened, judge, stimulus):
    return next(iter(opened.protocol.design(opened, judge).presentations(stimulus, judge.capabilities, "grade")))


def shown(opened, stimulus, place=0):
    spec = opened.spec.judges[place]
    judge = build_judge(spec, folder=opened.folder, calling=Calling())
    return request_for(judge, stimulus, first_way(opened, spec, stimulus)).messages[0].content


def test_each_judge_is_shown_the_columns_that_it_names_and_no_other(tmp_path):
    opened = study(tmp_path, "{{task}}|{{first}}|{{row.reference}}", "{{task}}|{{first}}|{{ row.rubric }}")
    stimulus = read_originals(opened).stimuli[0]
    assert dict(stimulus.columns) == {"reference": "R1", "rubric": "strict"}
    assert shown(opened, stimulus, 0) == "Q1|A1.\n\nMore.|R1"
    assert shown(opened, stimulus, 1) == "Q1|A1.\n\nMore.|strict"


def test_one_response_under_two_rubrics_is_two_questions_and_a_repeated_row_is_none(tmp_path):
    plain, by_rubric = study(tmp_path, "{{task}} {{first}}"), study(tmp_path, "{{task}} {{first}} {{row.rubric}}")
    assert len(read_originals(plain).stimuli) == 3
    assert len(read_originals(by_rubric).stimuli) == 4
    assert not any(stimulus.columns for stimulus in read_originals(plain).stimuli)


def test_changed_texts_keep_the_columns_of_their_row_and_an_empty_cell_is_said(tmp_path):
    opened = study(tmp_path, "{{task}} {{first}} {{row.reference}}")
    checked = check_stress(opened)
    changed = [stimulus for stimulus in checked.stimuli if stimulus.family == "vertical-spacing"]
    assert changed
    assert {stimulus.columns["reference"] for stimulus in changed} == {"R1", "R2", ""}
    assert any("1 of the rows used have no 'reference'" in note for note in checked.notes)


@pytest.mark.parametrize("column", ["label", "answer", "question"])
def test_the_label_the_response_and_the_task_are_refused_when_the_study_is_read(tmp_path, column):
    with pytest.raises(UsageError, match=f"uses the column '{column}'") as refused:
        study(tmp_path, f"{{{{task}}}} {{{{first}}}} {{{{row.{column}}}}}")
    assert refused.value.fix


def test_the_label_is_refused_under_another_name_of_the_template_too(tmp_path):
    with pytest.raises(UsageError, match="uses the column 'label'"):
        study(tmp_path, "{{task}} {{first}} {{hint}}", inputs={"row.label": "hint"})


def test_a_copy_of_the_label_in_another_column_is_refused_before_anything_is_asked(tmp_path):
    opened = study(tmp_path, "{{task}} {{first}} {{row.verdict}}")
    with pytest.raises(UsageError, match="contains the label of every row"):
        check_stress(opened)


def test_a_column_that_is_not_there_is_said_with_those_there_are(tmp_path):
    opened = study(tmp_path, "{{task}} {{first}} {{row.referense}}")
    with pytest.raises(ConfigError, match="no column 'referense'; columns: question, answer") as refused:
        check_stress(opened)
    assert refused.value.fix == "did you mean 'reference'?"


def test_a_run_with_columns_is_planned_and_verified_and_its_ids_depend_on_them(tmp_path):
    opened = study(tmp_path, "{{task}} {{first}} {{row.reference}}")
    run = prepare_run(opened, opened.spec.judges[0])
    trials = {trial.id for trial, _ in run.store.plan_shard(0)}
    again = open_run(run.folder)
    assert all(check.holds for check in verify_run(again.folder))
    other = study(tmp_path, "{{task}} {{first}} {{row.rubric}}")
    others = {trial.id for trial, _ in prepare_run(other, other.spec.judges[0]).store.plan_shard(0)}
    assert trials.isdisjoint(others)
