"""Judges in the shapes of production, run as they are written, against a server that answers as they ask.

What is built in in the answers has to come out: the lean to a position, wrong grades, malformed answers, and reasonings
that state another verdict than is given.
"""

import csv
import json
import shutil
from pathlib import Path

import pytest

import umpirical
from tests.judges.production.shapes_asked_for import (
    COMPARING,
    CONTRADICTED,
    DECLINED,
    GRADING,
    MALFORMED,
    POSITION_1,
    POSITION_2,
    ROWS,
    SHIFT,
    SILENT,
    WRONG,
    comparing,
    gold,
    grading,
)
from tests.servers.chat_server import ChatServer
from umpirical.store.yaml_files import read
from umpirical.study.verification import verify_run

HERE = Path(__file__).parent

JUDGES = sorted(path.parent.name for path in HERE.glob("*/judge.yaml"))

MOST_LINES = 5

LOOKED_AT = {"five_way_pair", "schema_pair", "absolute_grading"}
"""Messages, a schema and columns of the data: their runs are verified, and their pages looked at."""


def is_near(report, name, true_value, stratum=""):
    """Whether a measure holds a true value: within its interval, made twice as wide."""
    result = report.measure(name, stratum=stratum).result
    margin = (result.interval.high - result.interval.low) / 2
    return result.interval.low - margin <= true_value <= result.interval.high + margin


def entry(name, url):
    configuration = read((HERE / name / "judge.yaml").read_text(encoding="utf-8"), name="judge.yaml")
    return {"name": name, "model": {"adapter": "openai-compatible", "name": "m", "base_url": url}, **configuration}


def measured(tmp_path, name, answer, study):
    for file in (HERE / name).glob("prompt.*"):
        shutil.copy(file, tmp_path)
    with ChatServer(answer) as server:
        (tmp_path / "umpirical.yaml").write_text(
            json.dumps({"study": name, "judges": [entry(name, server.base_url)], **study}), encoding="utf-8"
        )
        [report] = umpirical.run(tmp_path, allow_unpriced=True, trust=True, progress=False)
    if name in LOOKED_AT:
        assert [check for check in verify_run(report.folder) if not check.holds] == []
        assert "Reasoning and verdict" in report.html()
        assert report.record.reasoning.examples[0].trial_id in report.html()
    return report, server


def test_there_are_at_least_twenty_and_each_has_five_lines_at_most():
    assert len(JUDGES) >= 20
    assert set(JUDGES) == {write.__name__ for write in COMPARING} | GRADING.keys()
    for name in JUDGES:
        assert len((HERE / name / "judge.yaml").read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("write", COMPARING, ids=lambda write: write.__name__)
def test_a_judge_that_compares_is_measured_as_it_is(tmp_path, write):
    name = write.__name__
    report, server = measured(tmp_path, name, comparing(write), {"design": {"size": "screen"}})
    both = POSITION_1 + POSITION_2
    assert report.record.complete
    assert is_near(report, "unparsed-rate", MALFORMED)
    assert is_near(report, "slot-1-rate", POSITION_1 / both if name in SILENT else POSITION_1)
    assert is_near(report, "slot-2-rate", POSITION_2 / both if name in SILENT else POSITION_2)
    if name not in SILENT:
        assert is_near(report, "dark-current", both)
    _held_to_its_reasoning(report, reasons=name not in SILENT)
    for body in server.bodies:
        assert ("response_format" in body) == (name == "schema_pair")
    if name == "schema_pair":
        schema = server.bodies[0]["response_format"]["json_schema"]["schema"]
        assert list(schema["properties"]) == ["reasoning", "verdict"]


@pytest.mark.parametrize("name", GRADING)
def test_a_judge_that_grades_is_measured_as_it_is(tmp_path, name):
    grader = GRADING[name]
    with (tmp_path / "data.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "answer", "label", "reference", "rubric", "context"])
        for number in range(ROWS):
            texts = [f"{column} for item-{number}" for column in ("reference", "rubric", "context")]
            answer = f"It is about item-{number}.\n\nThere is a second paragraph."
            writer.writerow([f"What about case {number}?", answer, gold(number, grader.scale), *texts])
    dataset = {
        "path": "data.csv",
        "columns": {"task": "question", "response": "answer", "label": "label"},
        "scale": grader.scale,
    }
    report, server = measured(
        tmp_path, name, grading(grader), {"dataset": dataset, "stress": {"tests": ["vertical-spacing"]}}
    )
    assert report.record.complete
    assert is_near(report, "unparsed-rate", MALFORMED)
    if grader.scale["kind"] == "interval":
        assert report.measure("grade-bias", stratum="original").result.value == pytest.approx(SHIFT)
    else:
        assert is_near(report, "accuracy", 1 - WRONG, stratum="original")
    if grader.declines:
        assert is_near(report, "abstention-rate", DECLINED, stratum="original")
    _held_to_its_reasoning(report, reasons=grader.reasons)
    assert not any("response_format" in body for body in server.bodies)


def _held_to_its_reasoning(report, *, reasons):
    if not reasons:
        assert report.measure("reasoning-contradiction").result.kind == "undefined"
        return
    found = report.record.reasoning
    assert is_near(report, "reasoning-contradiction", CONTRADICTED)
    assert found.contradicted == report.measure("reasoning-contradiction").result.numerator
    assert found.stated == found.reasoned
    assert found.examples
    assert all(example.trial_id and example.said != example.stated for example in found.examples)
