"""Responses are committed together if they come together, and none waits for long."""

import asyncio

import pytest

from umpirical.domain.responses import Response
from umpirical.runs import asking as recording
from umpirical.runs.asking import OpenShard, Recorder
from umpirical.store.runs import RunStore
from umpirical.store.snapshots import snapshot

FOR_EVER = 3600.0


def durable(store):
    with snapshot(store) as now:
        return now.counts()[0]


def recorded(folder, responses, *, most, expected):
    """Records responses, waits until as many as expected are durable, and ends; returns how many are then."""
    store = RunStore(folder)

    async def record():
        recorder, shard = Recorder(store, most), OpenShard(0, 0, waiting=1000)
        try:
            for number in range(responses):
                recorder.record(shard, Response(f"trial-{number}", "tie"))
            async with asyncio.timeout(120):
                while durable(store) < expected:  # noqa: ASYNC110  # a disk tells nobody
                    await asyncio.sleep(0.01)
            assert durable(store) == expected
        finally:
            recorder.close()

    asyncio.run(record())
    return durable(store)


@pytest.mark.parametrize(("responses", "most"), [(1, 1), (8, 16)])
def test_half_of_what_may_be_lost_waits_for_nothing(tmp_path, monkeypatch, responses, most):
    monkeypatch.setattr(recording, "GATHERING", FOR_EVER)
    kept = recorded(tmp_path, responses, most=most, expected=responses)
    assert kept == responses


def test_fewer_wait_for_others_and_are_kept_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "GATHERING", FOR_EVER)
    assert recorded(tmp_path, 7, most=16, expected=0) == 7


def test_one_alone_waits_for_no_other(tmp_path):
    assert recorded(tmp_path, 1, most=64, expected=1) == 1


def test_a_shard_is_sealed_with_its_last_answer_and_not_before(tmp_path):
    store = RunStore(tmp_path)

    async def record(last):
        recorder, shard = Recorder(store, 1), OpenShard(0, 0, waiting=2)
        for number in range(2 if last else 1):
            recorder.record(shard, Response(f"trial-{number}", "tie"))
            await recorder.keep_up()
        return recorder.close()

    assert asyncio.run(record(last=False)) == []
    (receipt,) = asyncio.run(record(last=True))
    assert receipt.shard == 0
