"""SIGKILL at random moments, several times over: nothing is lost, nothing is counted twice."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.runs.loopback import CALLS, REFUSED, judgments, swayed_answer, write_study
from tests.servers.chat_server import ChatServer

CONCURRENCY = 32
UNDER_COMMIT = 64
"""Responses that may have come in while a commit was under way, at most, on a slow disk."""


def run_command(study: Path) -> list[str]:
    return [sys.executable, "-m", "umpirical", "run", str(study), "--trust", "--yes", "--json"]


def start(study: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(run_command(study), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(study: Path) -> dict:
    done = subprocess.run(run_command(study), capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == REFUSED, done.stderr
    return json.loads(done.stdout)[0]


def kill_at_a_random_moment(
    process: subprocess.Popen[str], server: ChatServer, rng: random.Random, number: int = signal.SIGKILL
) -> bool:
    """By a number of calls, or by time, which may be before the first call; False if the run ended before."""
    calls = server.asked.total() + rng.randrange(50, 250) if rng.random() < 0.7 else None
    deadline = time.monotonic() + (60 if calls else rng.uniform(0.2, 1.2))
    while process.poll() is None and time.monotonic() < deadline:
        if calls is not None and server.asked.total() >= calls:
            break
        time.sleep(0.002)
    killed = process.poll() is None
    process.send_signal(number)
    process.communicate()
    return killed


def datasheet(result: dict) -> dict:
    return json.loads(Path(result["datasheet"]).read_text())


@pytest.mark.parametrize(
    ("times", "repeats", "seed"),
    [(3, 6, 4), pytest.param(10, 18, 20, marks=pytest.mark.slow)],
    ids=["3 times", "10 times"],
)
def test_a_run_killed_several_times_ends_as_an_undisturbed_one(tmp_path, times, repeats, seed):
    rng = random.Random(seed)  # noqa: S311  # moments, not secrets
    with ChatServer(swayed_answer) as calm:
        undisturbed = finish(write_study(tmp_path / "calm", calm.base_url, repeats=repeats, concurrency=CONCURRENCY))
    with ChatServer(swayed_answer, latency=0.005) as server:
        study = write_study(tmp_path / "killed", server.base_url, repeats=repeats, concurrency=CONCURRENCY)
        kills = sum(kill_at_a_random_moment(start(study), server, rng) for _ in range(times))
        answered_before = len(server.answered)
        resumed = finish(study)
        asked_twice = server.asked.total() - len(server.asked)

    assert kills == times
    assert 0 < answered_before < resumed["trials"]
    assert resumed["trials"] == CALLS * repeats

    # Every trial judged exactly once, with the verdict it would have had.
    killed_run, calm_run = Path(resumed["datasheet"]).parent, Path(undisturbed["datasheet"]).parent
    assert judgments(killed_run) == judgments(calm_run)
    assert len(judgments(killed_run)) == resumed["trials"]
    assert not any(outcome in ("unasked", "failed") for outcome, _ in judgments(killed_run).values())

    # At most the calls in flight, and those being committed, were asked twice.
    print(f"asked twice per kill: {asked_twice / kills:.1f}")  # noqa: T201  # a figure worth reading with -s
    assert asked_twice <= kills * (CONCURRENCY + UNDER_COMMIT)

    one, other = datasheet(resumed), datasheet(undisturbed)
    assert one["measures"] == other["measures"]
    assert one["audit"] == other["audit"]
    assert one["run"]["responses_sha256"] == other["run"]["responses_sha256"]


RESUMABLE = 5


@pytest.mark.parametrize(
    ("times", "repeats", "processes"),
    [(3, 6, 1), pytest.param(3, 6, 3, marks=pytest.mark.heavy), pytest.param(40, 60, 1, marks=pytest.mark.slow)],
    ids=["3 times", "3 times, 3 processes", "40 times"],
)
def test_a_run_told_to_end_finishes_its_calls_and_resumes(tmp_path, times, repeats, processes):
    rng = random.Random(7)  # noqa: S311  # moments, not secrets
    with ChatServer(swayed_answer, latency=0.02) as server:
        study = write_study(tmp_path, server.base_url, repeats=repeats, concurrency=CONCURRENCY)
        command = [*run_command(study), "--processes", str(processes)]
        codes = []
        for _ in range(times):
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            calls = server.asked.total() + rng.randrange(20, CALLS * repeats // (2 * times))
            while process.poll() is None and server.asked.total() < calls:
                time.sleep(0.002)
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate()
            codes.append(process.returncode)
            assert "run the same command again to resume" in said
        resumed = finish(study)
        asked_twice = server.asked.total() - len(server.asked)

    assert codes == [RESUMABLE] * times
    run = Path(resumed["datasheet"]).parent
    assert len(judgments(run)) == resumed["trials"] == CALLS * repeats
    assert not any(outcome in ("unasked", "failed") for outcome, _ in judgments(run).values())
    # One process lets its calls finish. Of several, the others give up theirs.
    assert asked_twice <= times * CONCURRENCY * (processes > 1)
