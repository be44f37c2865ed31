"""A server that fails in every way for 30 % of calls: the measures do not change, or the failures are counted."""

import hashlib
import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import get_args

import pytest

from tests.runs.loopback import REFUSED, judgments, swayed_answer, write_study
from tests.servers.chat_server import ChatServer, Fault
from umpirical.cli import main

FAULTS: tuple[Fault, ...] = get_args(Fault)
QUICK = [fault for fault in FAULTS if fault != "hang"]
SHARE = 0.30
HANGS = 3.0
"""Seconds until a call that hangs is given up: long enough that a busy machine answers every other call in time."""


def faulty(trial_id: str, times: int) -> Fault | None:
    """Decided by the trial and the attempt, so that what is injected can be computed afterwards."""
    digest = hashlib.sha256(f"{trial_id} {times}".encode()).digest()
    if int.from_bytes(digest[:4], "big") / 2**32 >= SHARE:
        return None
    # Few hang: each of those lasts until the time is up, while the test has nothing to do.
    return "hang" if digest[4] < 12 else QUICK[digest[4] % len(QUICK)]


def run(study: Path) -> tuple[int, dict]:
    with pytest.raises(SystemExit) as stop, redirect_stdout(StringIO()) as out:
        main(["run", str(study), "--trust", "--yes", "--json", "--no-preflight"])
    return stop.value.code, json.loads(out.getvalue())[0]


def measures(result: dict) -> list:
    return json.loads(Path(result["datasheet"]).read_text())["measures"]


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    with ChatServer(swayed_answer) as server:
        code, result = run(write_study(tmp_path_factory.mktemp("clean"), server.base_url))
    assert code == REFUSED
    return result


def test_with_enough_attempts_the_measures_are_those_of_a_clean_run(tmp_path, clean):
    with ChatServer(swayed_answer, misbehave=faulty, retry_after=0.05) as server:
        study = write_study(tmp_path / "faulty", server.base_url, attempts=12, timeout=HANGS, concurrency=64)
        code, result = run(study)
    assert code == REFUSED
    assert set(server.faults) == set(FAULTS), "every kind of fault was met"
    assert server.faults.total() > 0.2 * server.asked.total()
    assert result["failed"] == 0
    assert measures(result) == measures(clean)


def test_with_few_attempts_what_failed_is_counted_and_is_never_a_verdict(tmp_path, clean):
    with ChatServer(swayed_answer, misbehave=faulty) as server:
        study = write_study(tmp_path / "faulty", server.base_url, attempts=2, timeout=HANGS, concurrency=64)
        code, result = run(study)
    found = judgments(Path(result["datasheet"]).parent)
    expected = judgments(Path(clean["datasheet"]).parent)
    injected = {trial for trial in expected if faulty(trial, 1) and faulty(trial, 2)}
    assert {trial for trial, (outcome, _) in found.items() if outcome == "failed"} == injected
    assert len(injected) > 20
    assert {t: o for t, o in found.items() if t not in injected} == {
        t: o for t, o in expected.items() if t not in injected
    }
    datasheet = json.loads(Path(result["datasheet"]).read_text())
    assert sum(row["failed"] for row in datasheet["audit"]) == len(injected)
    assert sum(entry["count"] for entry in datasheet["trouble"] if entry["outcome"] == "failed") == len(injected)
    rate = next(measure["result"] for measure in datasheet["measures"] if measure["name"] == "failure-rate")
    assert (rate["numerator"], rate["denominator"]) == (len(injected), len(found))
    assert code == (5 if len(injected) > 0.1 * len(found) else REFUSED)


def test_run_again_asks_only_what_failed_and_then_equals_a_clean_run(tmp_path, clean):
    with ChatServer(swayed_answer, misbehave=lambda t, n: faulty(t, 1) if n <= 2 else None) as server:
        study = write_study(tmp_path / "faulty", server.base_url, attempts=2, timeout=HANGS, concurrency=64)
        code, first = run(study)
        assert first["failed"] > 0.1 * first["trials"]
        assert code == 5
        asked = server.asked.total()
        code, second = run(study)
        assert server.asked.total() - asked == first["failed"]
    assert (code, second["failed"]) == (REFUSED, 0)
    assert measures(second) == measures(clean)


def test_a_server_that_is_down_is_given_up_on_and_the_run_can_be_resumed(tmp_path, capsys, clean):
    with ChatServer(swayed_answer, misbehave=lambda _t, _n: "server-error") as server:
        study = write_study(tmp_path / "down", server.base_url, attempts=1)
        with pytest.raises(SystemExit) as stop:
            main(["run", str(study), "--trust", "--yes", "--no-preflight"])
        assert stop.value.code == 5
        assert "calls in a row failed" in capsys.readouterr().err
        assert server.asked.total() < 150
        server.misbehave = lambda _t, _n: None
        code, result = run(study)
    assert code == REFUSED
    assert measures(result) == measures(clean)
