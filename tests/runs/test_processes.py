"""Several processes that ask one run together: the same answers, one budget, and nothing lost or doubled by a kill."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

import pytest

import umpirical
from tests.runs.loopback import CALLS, REFUSED, judgments, swayed_answer, write_study
from tests.servers.chat_server import ChatServer
from umpirical.runs.process import ShardLeases
from umpirical.store.budget import Budget
from umpirical.study.file import read_study
from umpirical.study.prepare import PlanOptions, prepare_run

CONCURRENCY = 32
UNDER_COMMIT = 64
"""Responses that may have come in while a commit was under way, in all processes together."""

SHARD = 28
"""Trials per shard: few, so that every process gets several."""


def planned_study(folder: Path, base_url: str, **settings) -> Path:
    """A study whose run is planned in small shards."""
    study = write_study(folder, base_url, concurrency=CONCURRENCY, **settings)
    loaded = read_study(study)
    prepare_run(loaded, loaded.spec.judges[0], options=PlanOptions(shard_size=SHARD))
    return study


def command(study: Path, processes: int, *more: str) -> list[str]:
    words = ["run", str(study), "--trust", "--yes", "--json", "--no-preflight", "--processes", str(processes)]
    return [sys.executable, "-m", "umpirical", *words, *more]


def start(study: Path, processes: int, *more: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(command(study, processes, *more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(study: Path, processes: int) -> dict:
    done = subprocess.run(command(study, processes), capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == REFUSED, done.stderr
    return json.loads(done.stdout)[0]


def run_folder(study: Path) -> Path:
    [run] = (study.parent / "runs").glob("*/run.json")
    return run.parent


def record(result: dict) -> dict:
    """The report, without what differs between any two runs: times, and the address of the server."""
    found = json.loads(Path(result["datasheet"]).read_text())
    return {name: found[name] for name in ("measures", "audit", "decision") if name in found} | {
        "answers": found["run"]["responses_sha256"]
    }


def children(pid: int) -> list[int]:
    """The processes that a process has started, in whichever of its threads."""
    found = Path(f"/proc/{pid}/task").glob("*/children")
    try:
        return [int(child) for path in found for child in path.read_text().split()]
    except OSError:
        return []


def wait_until(condition, seconds: float = 300.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True


def test_two_processes_give_the_report_of_one(tmp_path):
    with ChatServer(swayed_answer, latency=0.005) as server:
        one = finish(planned_study(tmp_path / "one", server.base_url), 1)
        asked = server.asked.total()
        two = finish(planned_study(tmp_path / "two", server.base_url), 2)

        # Both have asked everything once, and the second really in two processes.
        assert server.asked.total() == 2 * asked == 2 * CALLS
    assert record(one) == record(two)
    folder = Path(two["datasheet"]).parent
    assert (folder / "lock.joined").exists()
    assert not (Path(one["datasheet"]).parent / "lock.joined").exists()
    assert [path.name for path in folder.glob("journal*.sqlite")] == ["journal.sqlite"]


@pytest.mark.parametrize(
    ("times", "repeats", "seed"),
    [(3, 2, 1), pytest.param(20, 12, 2, marks=pytest.mark.slow)],
    ids=["3 times", "20 times"],
)
def test_processes_killed_at_random_moments_lose_and_double_nothing(tmp_path, times, repeats, seed):
    rng = random.Random(seed)  # noqa: S311  # moments, not secrets
    with ChatServer(swayed_answer) as calm:
        undisturbed = finish(planned_study(tmp_path / "calm", calm.base_url, repeats=repeats), 1)
    with ChatServer(swayed_answer, latency=0.02) as server:
        study = planned_study(tmp_path / "killed", server.base_url, repeats=repeats)
        for turn in range(times):
            kill_at_random_moments(start(study, 2), server, rng, another_first=turn % 2 == 1)
        resumed = finish(study, 2)
        asked_twice = server.asked.total() - len(server.asked)

    killed_run, calm_run = Path(resumed["datasheet"]).parent, Path(undisturbed["datasheet"]).parent
    assert judgments(killed_run) == judgments(calm_run)
    assert len(judgments(killed_run)) == resumed["trials"] == CALLS * repeats
    assert record(resumed) == record(undisturbed)
    print(f"asked twice per kill: {asked_twice / times:.1f}")  # noqa: T201  # a figure worth reading with -s
    assert asked_twice <= times * (CONCURRENCY + UNDER_COMMIT)
    assert not list(killed_run.glob("journal-*.sqlite"))


def kill_at_random_moments(process, server: ChatServer, rng: random.Random, *, another_first: bool) -> None:
    """Kills the leading process after some more calls; before it, perhaps, the one that it has started."""
    if another_first:
        wait_for_calls(process, server, rng.randrange(20, 60))
        kill_others(process)
    wait_for_calls(process, server, rng.randrange(20, 60))
    process.kill()
    process.communicate(timeout=120)


def wait_for_calls(process, server: ChatServer, more: int) -> None:
    calls = server.asked.total() + more
    assert wait_until(lambda: server.asked.total() >= calls or process.poll() is not None)
    assert process.poll() is None, process.communicate()[1]


def kill_others(process) -> None:
    others = children(process.pid)
    assert others
    for other in others:
        os.kill(other, signal.SIGKILL)


def test_the_others_go_on_without_a_process_that_is_killed(tmp_path):
    with ChatServer(swayed_answer, latency=0.02) as server:
        study = planned_study(tmp_path, server.base_url)
        process = start(study, 2)
        wait_for_calls(process, server, 60)
        kill_others(process)
        said = process.communicate(timeout=120)[1]
        answered = len(server.answered)
        result = finish(study, 1)
        asked_twice = server.asked.total() - len(server.asked)
    assert process.returncode == 5, said
    assert "worker process 1 was killed by signal 9" in said
    # All but the shard of the killed one were asked to their end, and what it had recorded of that is not asked again.
    assert answered >= CALLS - SHARD
    assert asked_twice <= CONCURRENCY // 2 + UNDER_COMMIT // 2
    assert result["trials"] == len(judgments(run_folder(study))) == CALLS


def test_ctrl_c_keeps_what_every_process_has(tmp_path):
    with ChatServer(swayed_answer, latency=0.02) as server:
        study = planned_study(tmp_path, server.base_url)
        process = start(study, 2)
        assert wait_until(lambda: len(server.answered) >= 100 and len(children(process.pid)) == 1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        # What had been answered when Ctrl-C came is kept, and nothing of it is asked again.
        before = len(server.answered)
        finish(study, 2)
        asked_twice = server.asked.total() - len(server.asked)
    assert process.returncode == 130
    assert 100 <= before < CALLS
    assert asked_twice <= CONCURRENCY


def test_the_budget_holds_for_all_processes_together(tmp_path):
    cap = Decimal("0.05")
    with ChatServer(swayed_answer, latency=0.005) as server:
        study = planned_study(tmp_path, server.base_url, price="{input: 1, output: 1}")
        process = start(study, 3, "--max-cost", str(cap))
        said = process.communicate(timeout=120)[1]
        asked = server.asked.total()
    booked = Budget(tmp_path).booked(["judge loopback"])
    assert process.returncode == 6, said
    assert 0 < asked < CALLS
    assert not booked.held
    assert 0 < booked.total <= cap
    # The run's own bill has the leases of all of them.
    assert Budget(tmp_path).bill_of(run_folder(study).name) == booked.bill


class OnePushBack:
    """A server that asks for a pause once, in the middle of a run, and keeps when it was asked."""

    WAIT = 5.0
    LATENCY = 0.25
    """Long enough for those who had not heard of it to be asking all the while."""

    def __init__(self):
        self.asked_at, self.pushed_at = [], []

    def __call__(self, _, times):
        self.asked_at.append(time.monotonic())
        if len(self.asked_at) == 120 and times == 1:
            self.pushed_at.append(time.monotonic())
            return "rate-limit"
        return None

    def server(self) -> ChatServer:
        return ChatServer(swayed_answer, misbehave=self, latency=self.LATENCY, retry_after=self.WAIT)

    def check_that_all_kept_still(self):
        [at] = self.pushed_at
        # Calls that were under way come in later; on a busy machine, a good deal later.
        still = [moment for moment in self.asked_at if at + self.WAIT / 2 < moment < at + 0.9 * self.WAIT]
        assert not still, f"{len(still)} calls were made in the second half of the pause"


def test_a_server_that_pushes_one_process_back_is_asked_less_by_all(tmp_path):
    """A single 429 stops all calls for as long as it says, whichever process it was said to."""
    push_back = OnePushBack()
    with ChatServer(
        swayed_answer, misbehave=push_back, latency=push_back.LATENCY, retry_after=push_back.WAIT
    ) as server:
        finish(planned_study(tmp_path, server.base_url), 2)
    push_back.check_that_all_kept_still()


def test_a_live_object_is_asked_in_one_process_and_the_caller_is_told(tmp_path, capfd):
    pids = set()

    def judge(task, first, second):  # noqa: ARG001
        pids.add(os.getpid())
        return "tie"

    umpirical.datasheet(judge, size="screen", folder=tmp_path, processes=4, preflight=False)
    assert pids == {os.getpid()}
    assert "runs in one process: it is an object in this process" in capfd.readouterr().err


def test_every_shard_is_taken_once(tmp_path):
    file = os.open(tmp_path / "leases", os.O_RDWR | os.O_CREAT)
    shards = (3, 5, 8, 13)
    one, other = iter(ShardLeases(file, shards)), iter(ShardLeases(os.dup(file), shards))
    assert [next(one), next(other), next(other), next(one)] == [3, 5, 8, 13]
    assert not [*one, *other]
    os.close(file)
