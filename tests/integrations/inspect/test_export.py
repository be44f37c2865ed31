"""Runs as logs of Inspect's: written by Inspect's writer, read back by its reader."""

import json
import zipfile
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

import umpirical
from tests.models.inspect_opening import OLD_NAME
from tests.runs.loopback import CALLS, judgments, swayed_answer, write_study
from tests.servers.chat_server import ChatServer
from umpirical.cli import main
from umpirical.domain.errors import UsageError
from umpirical.integrations.inspect import export

pytestmark = OLD_NAME

KEY = "sk-secret-of-the-export-test-0123456789"


def some_fail(trial_id: str, _: int) -> str | None:
    return "malformed" if trial_id.startswith("0") else None


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    with ChatServer(swayed_answer, misbehave=some_fail) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXPORT_KEY", KEY)
        file = write_study(folder, server.base_url, attempts=1)
        file.write_text(file.read_text().replace("price:", "api_key_env: EXPORT_KEY\n      price:"))
        [report] = umpirical.run(folder, trust=True, preflight=False, progress=False)
    assert report.folder is not None
    return report.folder


@pytest.fixture(scope="module")
def log(run):
    # The key is gone, and so is the server.
    with pytest.raises(SystemExit) as ended:
        main(["export", str(run), "--to", "inspect"])
    assert ended.value.code == 0
    return run / f"{run.name}.eval"


def test_every_trial_is_a_sample_with_its_question_answer_and_outcome(run, log):
    found = read_eval_log(str(log))
    expected = judgments(run)
    assert found.status == "success"
    assert {sample.id for sample in found.samples} == expected.keys()
    assert len(found.samples) == CALLS
    failed = 0
    for sample in found.samples:
        outcome, choice = expected[str(sample.id)]
        assert sample.metadata["outcome"] == outcome
        assert {"family", "order", "layout", "step", "variant", "repeat", "stimulus"} <= sample.metadata.keys()
        assert "[candidate " in sample.messages[0].content
        if outcome == "failed":
            failed += 1
            assert sample.error.message.startswith("malformed")
            assert not sample.scores
            continue
        assert sample.messages[-1].role == "assistant"
        assert sample.scores["verdict"].value == (choice if outcome == "verdict" else outcome)
        assert sample.scores["verdict"].answer == sample.output.completion == sample.messages[-1].content
        assert sample.scores["verdict"].metadata["stop_reason"] == "stop"
    assert failed == sum(name.startswith("0") for name in expected) > 0


def test_the_measures_are_metrics_with_their_counts_and_intervals(run, log):
    found = read_eval_log(str(log), header_only=True)
    sheet = json.loads((run / "datasheet.json").read_text())
    whole = {each["name"]: each["result"] for each in sheet["measures"] if not each["stratum"]}
    metrics = found.results.scores[0].metrics
    assert metrics["decision"].value == 3
    for name, metric in metrics.items():
        if name != "decision":
            assert metric.value == whole[name]["value"]
            assert metric.metadata["denominator"] == whole[name]["denominator"]
            assert metric.metadata["interval"]["method"] == whole[name]["interval"]["method"]
    told = found.eval.metadata["umpirical"]
    assert set(told["undefined"]) == whole.keys() - metrics.keys()
    assert found.eval.viewer.trust_content is False


def test_a_log_says_no_secret_and_no_place_on_this_machine(run, log):
    found = read_eval_log(str(log))
    text = found.model_dump_json()
    assert KEY not in text
    assert str(run.parent.parent) not in text.replace(found.location, "")


def test_samples_are_listed_without_reading_them_all(log):
    assert len(read_eval_log_sample_summaries(str(log))) == CALLS
    assert any(name.startswith("samples/") for name in zipfile.ZipFile(log).namelist())


def test_a_run_that_is_too_large_and_a_file_that_is_no_log_are_refused(run, tmp_path, monkeypatch):
    with pytest.raises(UsageError, match=r"must end in \.eval"):
        export.export_run(run, tmp_path / "log.txt")
    monkeypatch.setattr(export, "MOST_SAMPLES", 10)
    with pytest.raises(UsageError, match="the limit for an export is 10"):
        export.export_run(run, tmp_path / "log.eval")


def test_a_function_that_judges_is_exported_with_what_it_was_shown(tmp_path):
    report = umpirical.datasheet(
        lambda _task, first, second: "1" if len(first) > len(second) else "2",
        size="screen",
        name="longer",
        folder=tmp_path,
        progress=False,
    )
    path, samples = export.export_run(report.folder, tmp_path / "log.json")
    found = read_eval_log(str(path))
    assert samples == len(found.samples) == CALLS
    assert found.eval.model == "callable/longer"
    assert found.samples[0].messages[0].content.startswith("Task:\n")
