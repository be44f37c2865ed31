"""The Ray executor on a cluster of two nodes, both on this machine, with an actor on each.

One is beside the leading process. The other is on another machine as far as either can tell: it has a journal of its
own, elsewhere. `test_actor.py` has more of what differs there.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.attack.billing_server import BEHAVIOURS, BillingServer
from tests.attack.test_billing import DOLLARS
from tests.runs.loopback import CALLS, REFUSED, judgments, swayed_answer
from tests.runs.test_processes import (
    CONCURRENCY,
    SHARD,
    UNDER_COMMIT,
    OnePushBack,
    planned_study,
    record,
    run_folder,
    wait_for_calls,
    wait_until,
)
from tests.servers.chat_server import ChatServer
from umpirical.store.budget import Budget
from umpirical.testing import check_executor

# Ray warns of its own future, and leaves processes to its own end.
pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

LOST = CONCURRENCY + UNDER_COMMIT + SHARD
"""Calls that a kill may cost: those in flight, those whose commit was under way, and the shard of the other node."""


@pytest.fixture(scope="module")
def address():
    """Of the cluster. Where it must be there, as in CI, its absence is an error and not a skip."""
    if find_spec("ray") is None:
        if os.environ.get("UMPIRICAL_REQUIRE_RAY"):
            pytest.fail("Ray is not installed")
        pytest.skip("needs Ray: pip install 'umpirical[ray]'")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    cluster = started_cluster()
    yield cluster.address
    ended(cluster)


def started_cluster(starts: int = 5):
    """Starts a cluster, and tries again where Ray gives up: it waits 15 seconds for its own processes and no longer."""
    import umpirical.integrations.ray.executor  # noqa: F401  # first: it settles how Ray behaves under `uv run`, where CI is
    import ray  # isort: skip
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    try:
        # No more processes than it takes.
        cluster.add_node(num_cpus=1, include_dashboard=False, no_monitor=True, include_log_monitor=False)
        cluster.add_node(num_cpus=1, include_log_monitor=False)
        cluster.wait_for_nodes(timeout=60)
        ray.init(address=cluster.address, log_to_driver=False, configure_logging=False)
    except Exception:
        ended(cluster)
        if starts == 1:
            raise
        return started_cluster(starts - 1)
    return cluster


def ended(cluster) -> None:
    import ray

    ray.shutdown()
    cluster.shutdown()


def start(study: Path, address: str, *more: str) -> "subprocess.Popen[str]":
    words = ["run", str(study), "--trust", "--yes", "--json", "--no-preflight", "--executor", "ray", "--processes", "2"]
    return subprocess.Popen(
        [sys.executable, "-m", "umpirical", *words, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "RAY_ADDRESS": address},
    )


def finish(study: Path, address: str) -> dict:
    process = start(study, address)
    said, complaints = process.communicate(timeout=600)
    assert process.returncode == REFUSED, complaints
    return json.loads(said)[0]


def actors() -> set[int]:
    """The processes of actors on this machine."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().startswith(b"ray::_RayActor"):
                found.add(int(path.parent.name))
        except OSError:
            continue
    return found


def started_by(pid: int) -> int:
    """The process that has started another: of an actor, its node's."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.fixture(scope="module")
def calm(tmp_path_factory, address):
    """What an undisturbed run on the cluster reports."""
    with ChatServer(swayed_answer) as server:
        result = finish(planned_study(tmp_path_factory.mktemp("calm"), server.base_url), address)
        assert server.asked.total() == len(server.asked) == CALLS
    return result


def check_same(study: Path, result: dict, calm: dict) -> None:
    """Nothing lost, nothing doubled, and the report of an undisturbed run."""
    assert judgments(run_folder(study)) == judgments(Path(calm["datasheet"]).parent)
    assert record(result) == record(calm)
    assert [path.name for path in run_folder(study).glob("journal*.sqlite")] == ["journal.sqlite"]
    assert not list(run_folder(study).glob(".seen-*"))


@pytest.mark.usefixtures("address")
def test_it_keeps_every_promise_of_an_executor():
    from umpirical.integrations.ray.executor import RayExecutor

    check_executor(lambda calling: RayExecutor(replace(calling, processes=2)))


def test_an_actor_that_is_killed_is_replaced_and_the_run_is_completed(tmp_path, address, calm):
    # So slow at first that there is something left when the second of them comes up.
    with ChatServer(swayed_answer, latency=3.0) as server:
        study, before = planned_study(tmp_path, server.base_url), actors()
        process = start(study, address)
        assert wait_until(lambda: len(actors() - before) == 2 or process.poll() is not None)
        server.latency = 0.05
        wait_for_calls(process, server, 60)
        found = actors() - before
        assert len({started_by(actor) for actor in found}) == 2, "both actors are on one node"
        for victim in found:
            os.kill(victim, signal.SIGKILL)
        said, complaints = process.communicate(timeout=600)
        asked_twice = server.asked.total() - len(server.asked)
    assert process.returncode == REFUSED, complaints
    check_same(study, json.loads(said)[0], calm)
    print(f"asked twice: {asked_twice}")  # noqa: T201  # a figure worth reading with -s
    assert asked_twice <= LOST


def test_an_actor_that_is_lost_again_and_again_stops_the_run(tmp_path, address):
    with ChatServer(swayed_answer, latency=0.1) as server:
        study, before, killed = planned_study(tmp_path, server.base_url), actors(), set()
        process = start(study, address)
        while process.poll() is None:
            for victim in actors() - before - killed:
                wait_for_some = server.asked.total() + 4
                wait_until(lambda calls=wait_for_some: server.asked.total() >= calls or process.poll() is not None, 20)
                os.kill(victim, signal.SIGKILL)
                killed.add(victim)
            time.sleep(0.01)
        complaints = process.communicate(timeout=600)[1]
    assert process.returncode == 5, complaints
    assert "was lost 3 times" in complaints


def test_what_a_killed_driver_had_is_kept_and_the_next_command_goes_on(tmp_path, address, calm):
    with ChatServer(swayed_answer, latency=0.05) as server:
        study, before = planned_study(tmp_path, server.base_url), actors()
        process = start(study, address)
        wait_for_calls(process, server, 120)
        process.kill()
        process.communicate(timeout=120)
        # Nobody goes on asking without it.
        assert wait_until(lambda: not actors() - before)
        result = finish(study, address)
        asked_twice = server.asked.total() - len(server.asked)
    check_same(study, result, calm)
    print(f"asked twice: {asked_twice}")  # noqa: T201  # a figure worth reading with -s
    assert asked_twice <= LOST


@pytest.mark.slow
def test_ctrl_c_keeps_what_every_actor_has(tmp_path, address, calm):
    with ChatServer(swayed_answer, latency=0.05) as server:
        study = planned_study(tmp_path, server.base_url)
        process = start(study, address)
        wait_for_calls(process, server, 120)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        answered = len(server.answered)
        result = finish(study, address)
        asked_twice = server.asked.total() - len(server.asked)
    assert process.returncode == 130
    assert answered < CALLS
    check_same(study, result, calm)
    # Those in flight, of which nobody has heard: what an actor elsewhere had comes with its last words.
    assert asked_twice <= CONCURRENCY


def test_the_budget_holds_for_all_actors_together(tmp_path, address):
    cap = Decimal("0.05")
    with ChatServer(swayed_answer) as server:
        study = planned_study(tmp_path, server.base_url, price="{input: 1, output: 1}")
        process = start(study, address, "--max-cost", str(cap))
        said = process.communicate(timeout=600)[1]
        asked = server.asked.total()
    booked = Budget(tmp_path).booked(["judge loopback"])
    assert process.returncode == 6, said
    assert 0 < asked < CALLS
    assert not booked.held
    assert 0 < booked.total <= cap
    assert Budget(tmp_path).bill_of(run_folder(study).name) == booked.bill


@pytest.mark.parametrize(
    "name",
    [
        "usage 0/0",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("worked, then 504", "worked, then reset", "ignores max_tokens, and says 1/1")
        ),
    ],
)
def test_a_server_that_lies_to_all_actors_is_paid_from_one_budget(tmp_path, address, name):
    behaviour, cap = BEHAVIOURS[name], 60
    with BillingServer(behaviour) as server:
        study = planned_study(tmp_path, server.base_url, price=DOLLARS, attempts=2, timeout=5.0)
        process = start(study, address, "--max-cost", str(cap))
        said = process.communicate(timeout=600)[1]
        bill, dearest, requests = server.bill, server.dearest, server.requests
    booked = Budget(tmp_path).booked(["judge loopback"])
    assert process.returncode in (5, 6), said
    assert 0 < requests < CALLS
    assert not booked.held
    assert bill <= booked.total
    if behaviour.breaks_bound:
        # A lie that is proven is believed twice by everyone who asks; what is in flight by then cannot be called back.
        assert bill <= cap + dearest * (CONCURRENCY + 2 * 2)
    else:
        assert bill <= cap
    assert behaviour.named in said


@pytest.mark.slow
def test_actors_and_drivers_killed_at_random_moments_lose_and_double_nothing(tmp_path, address):
    rng, times, repeats = random.Random(5), 12, 8  # noqa: S311  # moments, not secrets
    with ChatServer(swayed_answer) as server:
        undisturbed = finish(planned_study(tmp_path / "calm", server.base_url, repeats=repeats), address)
    with ChatServer(swayed_answer, latency=0.05) as server:
        study = planned_study(tmp_path / "killed", server.base_url, repeats=repeats)
        for turn in range(times):
            before, process = actors(), start(study, address)
            wait_for_calls(process, server, rng.randrange(20, 90))
            if turn % 2:
                # The leading process asks what was begun already, and may be at that before there is an actor.
                assert wait_until(lambda before=before: actors() - before)
                os.kill(rng.choice(sorted(actors() - before)), signal.SIGKILL)
                wait_for_calls(process, server, rng.randrange(20, 60))
            process.kill()
            process.communicate(timeout=120)
            assert wait_until(lambda before=before: not actors() - before)
        result = finish(study, address)
        asked_twice = server.asked.total() - len(server.asked)
    check_same(study, result, undisturbed)
    kills = times + times // 2
    print(f"asked twice per kill: {asked_twice / kills:.1f}")  # noqa: T201  # a figure worth reading with -s
    assert asked_twice <= kills * LOST


def test_a_server_that_pushes_one_actor_back_is_asked_less_by_all(tmp_path, address):
    push_back = OnePushBack()
    with ChatServer(
        swayed_answer, misbehave=push_back, latency=push_back.LATENCY, retry_after=push_back.WAIT
    ) as server:
        finish(planned_study(tmp_path, server.base_url), address)
    push_back.check_that_all_kept_still()


def deposited(objects: Path) -> list[Path]:
    """What lies in object storage of sealed shards."""
    return sorted(objects.glob("*/*/sealed/*/*.json"))


def test_machines_that_share_no_folder_share_a_run_through_object_storage_and_one_may_be_lost(tmp_path, address, calm):
    objects = tmp_path / "objects"
    with ChatServer(swayed_answer, latency=0.05) as server:
        study, before = planned_study(tmp_path / "study", server.base_url), actors()
        process = start(study, address, "--through", objects.as_uri())
        assert wait_until(lambda: len(deposited(objects)) > 1 or process.poll() is not None)
        for victim in actors() - before:
            os.kill(victim, signal.SIGKILL)
        kept = len({path.stem for path in deposited(objects)})
        said, complaints = process.communicate(timeout=600)
        asked_twice = server.asked.total() - len(server.asked)
    assert process.returncode == REFUSED, complaints
    check_same(study, json.loads(said)[0], calm)
    print(f"asked twice: {asked_twice}; {kept} shards had been delivered")  # noqa: T201  # a figure worth reading with -s
    # Delivered is paid for once, whether or not it had been heard of.
    assert kept > 1
    assert asked_twice <= CALLS - SHARD * kept
    assert not [path for path in objects.rglob("*") if path.is_file()]
    assert not (run_folder(study) / "depot.json").exists()


@pytest.mark.slow
def test_what_a_killed_driver_left_in_object_storage_is_not_paid_twice(tmp_path, address, calm):
    objects = tmp_path / "objects"
    with ChatServer(swayed_answer, latency=0.05) as server:
        study, before = planned_study(tmp_path / "study", server.base_url), actors()
        process = start(study, address, "--through", objects.as_uri())
        assert wait_until(lambda: len(deposited(objects)) > 3 or process.poll() is not None)
        process.kill()
        process.communicate(timeout=120)
        assert wait_until(lambda: not actors() - before)
        # As if it had been killed before it took the last of them.
        last = max(deposited(objects), key=lambda path: path.stat().st_mtime)
        for path in (run_folder(study) / "responses").glob(f"{last.stem}.*"):
            path.unlink()
        kept = {path.stem for path in deposited(objects)}
        process = start(study, address, "--through", objects.as_uri())
        said, complaints = process.communicate(timeout=600)
        asked_twice = server.asked.total() - len(server.asked)
    assert process.returncode == REFUSED, complaints
    check_same(study, json.loads(said)[0], calm)
    print(f"asked twice: {asked_twice}, of {len(kept)} shards none")  # noqa: T201  # a figure worth reading with -s
    # An actor's journal ends with it: what it had not sealed is asked again, and no more than that.
    assert asked_twice <= CALLS - SHARD * len(kept)
    assert not [path for path in objects.rglob("*") if path.is_file()]
