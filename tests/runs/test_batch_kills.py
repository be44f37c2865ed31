"""SIGKILL at every step of a batch's life, and at random: nothing is lost, doubled or asked in vain."""

import os
import random
import signal
import time

import pytest

from tests.runs.batched import PROTOCOLS, ask, batch_study, planned, start
from tests.runs.loopback import CALLS, responses, swayed_answer
from tests.servers.batch_server import BatchServer
from umpirical.store.batches import BatchRecords

POINTS = {
    "before it is recorded": "before store.batches:BatchRecords.write",
    "before the upload": "after store.batches:BatchRecords.write",
    "while results are recorded": "before store.journal:Journal.commit",
    "once results are recorded": "after store.journal:Journal.commit",
    "before the first seal": "before store.runs:RunStore.seal_rows",
    "after the first seal": "after store.runs:RunStore.seal_rows",
}
"""In the process that asks."""

AT_THE_SERVER = {
    "openai-compatible": {
        "while uploading": ("before", "POST /v1/files"),
        "after the upload": ("after", "POST /v1/files"),
        "before it is created": ("before", "POST /v1/batches"),
        "created, and the id not heard": ("after", "POST /v1/batches"),
        "while polling": ("after", "GET /v1/batches/{id}"),
        "while reading results": ("before", "GET /v1/files/{id}/content"),
    },
    "anthropic": {
        "before it is created": ("before", "POST /v1/messages/batches"),
        "created, and the id not heard": ("after", "POST /v1/messages/batches"),
        "while polling": ("after", "GET /v1/messages/batches/{id}"),
        "while reading results": ("before", "GET /v1/messages/batches/{id}/results"),
    },
}
"""By the server, when a request comes in or before it is replied to."""


def is_whole(server, run) -> None:
    """Every trial has one answer, and was put into one batch."""
    found = [response.trial_id for response in responses(run.folder)]
    assert len(found) == len(set(found)) == CALLS
    assert all(response.failure is None for response in responses(run.folder))
    assert server.worked.total() == len(server.worked) == CALLS
    assert BatchRecords(run.folder).in_flight() == []


@pytest.mark.parametrize("point", POINTS.values(), ids=POINTS)
def test_killed_by_its_own_hand(tmp_path, point):
    with BatchServer(swayed_answer) as server:
        study = batch_study(tmp_path, server)
        run = planned(study)
        process = start(study, point)
        _, said = process.communicate(timeout=300)
        assert process.returncode == -signal.SIGKILL, said
        ask(run)
        is_whole(server, run)


@pytest.mark.parametrize(
    ("protocol", "when", "route"),
    [
        pytest.param(protocol, *place, id=f"{protocol} {name}")
        for protocol, places in AT_THE_SERVER.items()
        for name, place in places.items()
    ],
)
def test_killed_in_an_exchange(tmp_path, protocol, when, route):
    victim: list[int] = []

    def kill(asked: str) -> None:
        if asked == route and victim:
            os.kill(victim.pop(), signal.SIGKILL)

    with BatchServer(swayed_answer) as server:
        setattr(server, when, kill)
        study = batch_study(tmp_path, server, protocol)
        run = planned(study)
        process = start(study)
        victim.append(process.pid)
        _, said = process.communicate(timeout=300)
        assert process.returncode == -signal.SIGKILL, said
        ask(run)
        is_whole(server, run)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_killed_at_random_moments(tmp_path, protocol):
    rng = random.Random(7)  # noqa: S311  # moments, not secrets
    with BatchServer(swayed_answer, polls=3) as server:
        study = batch_study(tmp_path, server, protocol)
        run = planned(study)
        for _ in range(8):
            process = start(study, most=50)
            asked = server.asked.total() + rng.randrange(1, 12)
            while process.poll() is None and server.asked.total() < asked:
                time.sleep(0.002)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        ask(run)
        is_whole(server, run)
