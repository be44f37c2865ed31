"""Inspect as the host: its command line against a server on loopback, and the same plan asked by `umpirical run`."""

import csv
import json
import re
import time
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log

import umpirical
from tests.integrations.inspect.hosting import (
    KEY,
    inspect_eval,
    inspect_evaluating,
    inspect_here,
    inspect_retry,
    only_log,
    umpirical_run,
)
from tests.runs.loopback import CALLS, REFUSED, swayed_answer
from tests.servers.chat_server import ChatServer
from tests.stimuli.built import lend_stimuli
from umpirical.cli import main
from umpirical.domain.errors import UmpiricalError, UsageError

STUDY = """\
study: hosted
judges:
  - name: swayed
    model:
      adapter: inspect
      name: openai-api/local/swayed
      base_url: {base_url}
      api_key_env: LOCAL_API_KEY
      price: free
      attempts: 1
design: {{size: screen}}
"""


def some_fail(trial_id: str, _: int) -> str | None:
    """One call in 16 is answered with a body that is no JSON, whoever asks, and however often."""
    return "malformed" if trial_id.startswith("0") else None


def record(folder: Path, name: str = "datasheet") -> dict:
    [file] = folder.glob(f"runs/*/{name}.json")
    return json.loads(file.read_text())


@pytest.fixture(scope="module")
def sides(tmp_path_factory):
    """The same plan, asked by `inspect eval` and by `umpirical run`."""
    hosted, own = tmp_path_factory.mktemp("hosted"), tmp_path_factory.mktemp("own")
    lend_stimuli(hosted / "umpirical-runs")
    lend_stimuli(own)
    with ChatServer(swayed_answer, misbehave=some_fail) as inspected:
        said = inspect_eval(
            hosted,
            "umpirical/datasheet",
            *("-T", "size=screen", "--no-score-display", "--max-connections", "32"),
            base_url=inspected.base_url,
        )
        (own / "umpirical.yaml").write_text(STUDY.format(base_url=inspected.base_url))
        asked_by_inspect = dict(inspected.asked)
        inspected.asked.clear()
        umpirical_run(own, base_url=inspected.base_url, expect=REFUSED)
        asked_by_us = dict(inspected.asked)
    return hosted, own, asked_by_inspect, asked_by_us, said


def test_every_trial_is_asked_once_and_they_are_the_same_trials(sides):
    _, _, asked_by_inspect, asked_by_us, _ = sides
    assert len(asked_by_inspect) == CALLS
    assert set(asked_by_inspect.values()) == {1}
    assert asked_by_inspect == asked_by_us


def test_every_measure_is_that_of_our_own_run_digit_for_digit(sides):
    hosted, own, *_ = sides
    theirs, ours = record(hosted / "umpirical-runs"), record(own)
    assert len(ours["measures"]) > 100
    assert json.dumps(theirs["measures"]) == json.dumps(ours["measures"])
    for part in ("decision", "checks", "audit", "findings", "profile", "complete"):
        assert json.dumps(theirs[part]) == json.dumps(ours[part]), part
    failed = sum(row["failed"] for row in ours["audit"])
    unparsed = sum(row["unparsed"] for row in ours["audit"])
    assert failed > 0
    assert unparsed > 0


def test_the_log_holds_every_trial_with_its_raw_answer(sides):
    hosted, *_ = sides
    log = read_eval_log(str(only_log(hosted)))
    assert log.status == "success"
    assert log.samples is not None
    assert len({sample.id for sample in log.samples}) == CALLS
    scores = [sample.scores["verdict"] for sample in log.samples]
    assert {score.value for score in scores} == {"1", "2", "tie", "abstained", "unparsed", "failed"}
    for sample, score in zip(log.samples, scores, strict=True):
        about = score.metadata
        assert about["response"]["trial_id"] == sample.id
        assert (score.value == "failed") == (about["response"]["failure"] is not None)
        if score.value != "failed":
            assert about["response"]["text"] == score.answer == sample.output.completion
            assert about["stop_reason"] == "stop"
        assert sample.metadata["family"]
        assert sample.metadata["order"] in ("ab", "ba")


def test_the_metrics_are_the_decision_and_the_measures_that_have_a_value(sides):
    hosted, *_ = sides
    log = read_eval_log(str(only_log(hosted)), header_only=True)
    metrics = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    sheet = record(hosted / "umpirical-runs")
    summary = log.eval.metadata["umpirical"]
    whole = {each["name"]: each["result"] for each in sheet["measures"] if not each["stratum"]}
    known = {n: r["value"] for n, r in whole.items() if r["kind"] == "estimate" and r["censoring"] == "none"}
    assert metrics == {"decision": 3.0, **known}
    assert set(summary["undefined"]) == whole.keys() - known.keys()
    assert "asked once" in summary["undefined"]["flip-rate"]
    assert "only a bound is known" in summary["undefined"]["detection-threshold"]
    assert summary["decision"] == sheet["decision"]["verdict"] == "do-not-use"
    assert Path(summary["html"]).is_file()


def test_the_words_in_the_log_are_not_measured_as_if_they_were_grades(sides):
    hosted, *_ = sides
    with pytest.raises(UsageError, match="of a run that has a report"):
        umpirical.measure_verdicts(only_log(hosted))


def test_no_key_is_written_down(sides):
    hosted, *_ = sides
    kept = [path for path in (hosted / "umpirical-runs").rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if KEY.encode() in path.read_bytes()]


def test_a_hosted_run_is_reread_like_any_other(sides, capsys):
    hosted, *_ = sides
    [folder] = (hosted / "umpirical-runs" / "runs").iterdir()
    before = (folder / "datasheet.json").read_text()
    with pytest.raises(SystemExit):
        main(["report", str(folder)])
    assert (folder / "datasheet.json").read_text() == before
    assert "datasheet.html" in capsys.readouterr().out


ROWS = [
    ("Name a prime.", f"{number} is a prime number.", label)
    for number, label in ((7, "good"), (8, "bad"), (11, "good"), (12, "bad"))
]


def graded(body) -> str:
    return '{"grade": "good"}' if re.search(r"\b(7|11|12)\b", body["messages"][-1]["content"]) else '{"grade": "bad"}'


def test_a_stress_test_is_hosted_too_and_repeats_are_samples(tmp_path):
    hosted, own = tmp_path / "hosted", tmp_path / "own"
    for folder in (hosted, own):
        folder.mkdir()
        with (folder / "rows.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("task", "response", "label"), *ROWS])
    with ChatServer(graded) as server:
        parameters = {"data": "rows.csv", "tests": ["typos", "stability"], "repeats": 3}
        inspect_here(hosted, "umpirical/stress", base_url=server.base_url, parameters=parameters)
        model = {"adapter": "openai-compatible", "name": "swayed", "base_url": server.base_url, "price": "free"}
        report = umpirical.stress(
            {"name": "swayed", "model": model},
            own / "rows.csv",
            tests=["typos", "stability"],
            repeats=3,
            folder=own,
            progress=False,
        )
    theirs = record(hosted / "umpirical-runs", "stress")
    assert report.folder is not None
    ours = json.loads((report.folder / "stress.json").read_text())
    assert json.dumps(theirs["measures"]) == json.dumps(ours["measures"])
    log = read_eval_log(str(only_log(hosted)))
    assert max(sample.metadata["repeat"] for sample in log.samples) == 2
    assert {sample.epoch for sample in log.samples} == {1}


def test_a_killed_evaluation_is_retried_and_every_answer_counts_once(tmp_path):
    lend_stimuli(tmp_path / "umpirical-runs")
    options = ("-T", "size=screen", "--limit", "60", "--max-connections", "4", "--log-buffer", "5")
    with ChatServer(swayed_answer, latency=0.2) as server:
        with inspect_evaluating(tmp_path, "umpirical/datasheet", *options, base_url=server.base_url) as process:
            while server.answered.total() < 30 and process.poll() is None:
                time.sleep(0.05)
            assert process.poll() is None
        before = server.answered.total()
        assert before < 60
        inspect_retry(tmp_path, only_log(tmp_path), base_url=server.base_url)
        again = server.answered.total()
    newest = max((tmp_path / "logs").glob("*.eval"), key=lambda path: path.stat().st_mtime_ns)
    log = read_eval_log(str(newest))
    assert log.status == "success"
    assert len({sample.id for sample in log.samples}) == len(log.samples) == 60
    # Answers that the killed process had logged are not asked for again.
    assert again < before + 60
    run = Path(log.eval.metadata["umpirical"]["run"])
    sheet = json.loads((run / "datasheet.json").read_text())
    assert sum(row["planned"] - row["unasked"] for row in sheet["audit"]) == 60
    # The killed one left a plan without a single answer, and the retry has a run of its own.
    assert len(list(run.parent.iterdir())) == 2


JUDGE = """\
model: {adapter: openai-compatible, name: other, base_url: "http://127.0.0.1:9/v1"}
prompts: {baseline: prompt.txt}
decoding: {temperature: 0.5, max_tokens: 40, seed: 7}
"""

PROMPT = """\
The task: {{task}}

[candidate 1, {{fence}}]
{{first}}
[end of candidate 1, {{fence}}]

[candidate 2, {{fence}}]
{{second}}
[end of candidate 2, {{fence}}]
"""


def test_a_judge_file_says_everything_but_the_model(tmp_path):
    place = tmp_path / "judges"
    lend_stimuli(place)
    (place / "strict.yaml").write_text(JUDGE)
    (place / "prompt.txt").write_text(PROMPT)
    with ChatServer(swayed_answer) as server:
        inspect_here(
            tmp_path,
            "umpirical/datasheet",
            base_url=server.base_url,
            parameters={"size": "screen", "judge": "judges/strict.yaml"},
            limit=3,
        )
    assert len(server.bodies) == 3
    for body in server.bodies:
        assert body["messages"][0]["content"].startswith("The task: ")
        assert (body["model"], body["temperature"], body["max_tokens"], body["seed"]) == ("swayed", 0.5, 40, 7)
    assert record(place)["judge"]["name"] == "strict"


def test_a_study_is_hosted_once_it_is_trusted_and_its_own_server_is_never_asked(tmp_path):
    study = tmp_path / "study"
    study.mkdir()
    lend_stimuli(study)
    (study / "umpirical.yaml").write_text(STUDY.format(base_url="http://127.0.0.1:9/v1"))
    parameters = {"study": "study", "judge": "swayed"}
    with ChatServer(swayed_answer) as server:
        inspect_here(tmp_path, "umpirical/datasheet", base_url=server.base_url, parameters=parameters, limit=3)
        with pytest.raises(UsageError, match="is a study for protocol datasheet"):
            inspect_here(tmp_path, "umpirical/stress", base_url=server.base_url, parameters=parameters, limit=3)
    assert server.answered.total() == 3
    assert record(study)["run"]["trials"] == CALLS


@pytest.mark.parametrize(
    ("options", "message"), [({"epochs": 2}, "the same trials again"), ({"top_p": 0.5}, "top_p=0.5")]
)
def test_what_would_be_another_question_is_refused(tmp_path, options, message):
    lend_stimuli(tmp_path / "umpirical-runs")
    with ChatServer(swayed_answer) as server:
        [log] = inspect_here(
            tmp_path,
            "umpirical/datasheet",
            base_url=server.base_url,
            parameters={"size": "screen"},
            limit=2,
            **options,
        )
    assert log.status == "error"
    assert message in log.error.message


def test_a_part_of_the_plan_is_not_a_measured_judge(tmp_path):
    lend_stimuli(tmp_path / "umpirical-runs")
    with ChatServer(swayed_answer) as server:
        [log] = inspect_here(
            tmp_path, "umpirical/datasheet", base_url=server.base_url, parameters={"size": "screen"}, limit=20
        )
    sheet = record(tmp_path / "umpirical-runs")
    assert sheet["complete"] is False
    assert sum(row["unasked"] for row in sheet["audit"]) == CALLS - 20
    assert log.eval.metadata["umpirical"]["complete"] is False
    assert log.results.scores[0].metrics["decision"].value != 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"judge": "some-name"}, "not a judge file"),
        ({"study": ".", "size": "screen"}, "remove -T size="),
        ({"size": "enormous"}, "enormous"),
    ],
)
def test_parameters_that_say_nothing_usable_are_refused_before_a_call(tmp_path, parameters, message):
    with ChatServer(swayed_answer) as server, pytest.raises(UmpiricalError, match=message):
        inspect_here(tmp_path, "umpirical/datasheet", base_url=server.base_url, parameters=parameters)
    assert server.asked.total() == 0
