"""The guide to programs and endpoints as judges does what it says."""

import json
import re

import pytest

from tests.attack.raw_server import RawServer, http
from tests.docs.reading import ROOT, blocks
from tests.trusting import trusting
from umpirical.cli import main
from umpirical.domain.responses import FailureKind
from umpirical.judges.adapters import program as processes
from umpirical.models.prices import pricer_of
from umpirical.study.file import parse_study

GUIDE = ROOT / "docs" / "connect" / "programs.md"
PROGRAM, ENDPOINT = blocks(GUIDE, "yaml")
(JUDGE,) = blocks(GUIDE, "python")
(LINES,) = blocks(GUIDE, "json")
SMALL = "design: {size: screen}\n"


def measured(folder, capsys):
    """Runs the study in a folder; returns its datasheet."""
    with pytest.raises(SystemExit) as stop:
        main(trusting(["run", str(folder), "--yes"]))
    assert stop.value.code in (0, 3, 4), capsys.readouterr().err
    (path,) = folder.glob("runs/*/datasheet.json")
    return json.loads(path.read_text(encoding="utf-8"))


def value(datasheet, name):
    return next(each["result"] for each in datasheet["measures"] if each["name"] == name)


def test_the_program_is_measured(tmp_path, capsys):
    (tmp_path / "umpirical.yaml").write_text(PROGRAM + SMALL)
    (tmp_path / "judge.py").write_text(JUDGE)
    datasheet = measured(tmp_path, capsys)
    assert datasheet["judge"]["model"] == "program: python3 judge.py"
    assert value(datasheet, "failure-rate")["numerator"] == 0
    assert "no matter what the task asks" in " ".join(datasheet["findings"])


def test_the_endpoint_is_measured(tmp_path, capsys, monkeypatch):
    async def answer(asked, writer):
        first, second = map(len, json.loads(asked.body)["candidates"])
        writer.write(http({"result": {"winner": "none" if first == second else "a" if first > second else "b"}}))

    monkeypatch.setenv("MY_API_KEY", "a-key-of-the-test")
    with RawServer(answer) as server:
        text = ENDPOINT.replace("127.0.0.1:8000", f"127.0.0.1:{server.port}")
        (tmp_path / "umpirical.yaml").write_text(text + SMALL)
        datasheet = measured(tmp_path, capsys)
    assert value(datasheet, "failure-rate")["numerator"] == 0
    assert datasheet["judge"]["model"] == f"http: http://127.0.0.1:{server.port}/judge"
    assert datasheet["spend"]["cost"] is None
    assert {asked.headers["authorization"] for asked in server.asked} == {"Bearer a-key-of-the-test"}


def test_its_lines_are_a_question_and_its_answer():
    question, reply = map(json.loads, LINES.splitlines())
    assert question.keys() == {"id", "task", "first", "second"}
    assert reply == {"id": question["id"], "verdict": "1"}


def test_every_kind_of_error_is_named_and_the_checks_are_those_of_the_code(tmp_path):
    text = GUIDE.read_text(encoding="utf-8")
    assert {*FailureKind.__args__} <= set(re.findall(r"`([a-z-]+)`", text))
    assert (processes.BARREN_STARTS, processes.MOST_STARTS, processes.LONGEST_LINE) == (3, 50, 2**20)
    assert parse_study(PROGRAM, tmp_path).spec.judges[0].deadline == 120
    assert parse_study(ENDPOINT, tmp_path).spec.judges[0].http.attempts == 5


@pytest.mark.parametrize("text", blocks(GUIDE.with_name("networks.md"), "yaml"))
def test_every_study_of_the_page_on_networks_is_one_with_a_known_price(text, tmp_path):
    for judge in parse_study(text, tmp_path).spec.judges:
        assert judge.name == "my-model" or pricer_of(judge.model, {}, allow_unpriced=False)
