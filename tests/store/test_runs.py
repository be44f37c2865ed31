"""One run on disk."""

import subprocess
import sys
from dataclasses import replace

import pytest

from umpirical.domain.errors import StoreError, UsageError
from umpirical.domain.responses import Response
from umpirical.domain.trials import Order, Presentation, Trial
from umpirical.store.runs import RunStore

ANSWERS = [Response("a", "1"), Response("b", "2"), Response("c", "tie")]


def failed(trial_id):
    return Response(trial_id, None, "server-error", "HTTP 500")


@pytest.fixture
def store(tmp_path):
    found = RunStore(tmp_path / "run")
    found.write_manifest({"id": "x", "seed": 1})
    return found


def test_the_manifest_comes_back(store):
    assert store.manifest == {"id": "x", "seed": 1}


def test_a_plan_comes_back_shard_by_shard(store):
    trials = [
        (Trial(f"t{number}", f"p{number // 2}", "s", Presentation(order, arm, number)), number)
        for number, (order, arm) in enumerate([(Order.UV, "baseline"), (Order.VU, "baseline"), (Order.UV, "strict")])
    ]
    assert store.plan_size() is None
    store.write_plan_shard(0, trials[:2])
    store.write_plan_shard(1, trials[2:])
    assert store.plan_size() is None
    store.finish_plan(3, 2)
    assert store.plan_size() == (3, 2)
    assert [list(store.plan_shard(shard)) for shard in (0, 1)] == [trials[:2], trials[2:]]


def test_a_shard_nothing_of_which_is_sealed_starts_at_generation_0(store):
    assert store.state(0) == (0, 0)
    assert store.sealed_responses(0) == {}


def test_each_generation_asks_again_what_failed_in_the_one_before(store):
    store.seal(3, 0, [Response("a", "1"), failed("b"), failed("c")])
    assert store.state(3) == (1, 2)
    store.seal(3, 1, [Response("b", "2"), failed("c")])
    assert store.state(3) == (2, 1)
    assert store.responses(3) == {"a": Response("a", "1"), "b": Response("b", "2"), "c": failed("c")}
    store.seal(3, 2, [Response("c", "tie")])
    assert store.state(3) == (3, 0)
    assert list(store.responses(3).values()) == ANSWERS
    assert store.sealed() == [(3, 0), (3, 1), (3, 2)]


def test_generations_are_taken_in_order_of_number_and_not_of_name(store):
    for generation in range(11):
        store.seal(0, generation, [replace(failed("a"), failure_detail=str(generation))])
    assert store.state(0) == (11, 1)
    assert store.responses(0)["a"].failure_detail == "10"


def test_the_shards_of_a_run_do_not_mix(store):
    store.seal(1, 0, [failed("a")])
    store.seal(11, 0, [Response("b", "1")])
    assert (store.state(1), store.state(11)) == ((1, 1), (1, 0))
    assert set(store.responses(1)) == {"a"}


@pytest.mark.parametrize("second", [Response("a", "2"), Response("a", "1"), failed("a")])
def test_a_trial_that_is_asked_again_after_its_answer_is_an_error(store, second):
    store.seal(0, 0, [Response("a", "1")])
    store.seal(0, 1, [second])
    with pytest.raises(StoreError, match="trial a has two answers"):
        store.responses(0)


def test_a_response_in_the_journal_counts_and_may_follow_a_sealed_failure(store):
    store.seal(0, 0, [failed("a"), Response("b", "2")])
    journal = store.open_journal()
    journal.commit([(0, 1, Response("a", "1"))])
    assert store.responses(0, journal) == {"a": Response("a", "1"), "b": Response("b", "2")}
    journal.close()


def test_an_answer_seen_while_it_is_being_sealed_counts_once(store):
    journal = store.open_journal()
    journal.commit([(0, 0, Response("a", "1"))])
    store.seal(0, 0, [Response("a", "1")])
    assert store.responses(0, journal) == {"a": Response("a", "1")}
    journal.close()


def test_another_answer_sealed_than_in_the_journal_is_an_error(store):
    journal = store.open_journal()
    journal.commit([(0, 0, Response("a", "1"))])
    store.seal(0, 0, [Response("a", "2")])
    with pytest.raises(StoreError, match="two answers"):
        store.responses(0, journal)
    journal.close()


def test_what_was_sealed_but_not_forgotten_is_forgotten_when_the_run_is_opened_again(store):
    journal = store.open_journal()
    journal.commit([(0, 0, response) for response in ANSWERS] + [(1, 0, Response("d", "1"))])
    store.seal(0, 0, journal.responses(0))
    # Killed here, before forget().
    journal.close()
    again = store.open_journal()
    assert [len(again.rows(shard)) for shard in (0, 1)] == [0, 1]
    assert list(store.responses(0, again).values()) == ANSWERS
    assert set(store.responses(1, again)) == {"d"}
    again.close()


def test_the_digest_of_a_shard_depends_on_its_answers_and_not_on_their_order_or_speed(store):
    digest = store.seal(0, 0, ANSWERS)
    slower = [replace(answer, latency_ms=99.0, attempts=4) for answer in reversed(ANSWERS)]
    assert store.seal(0, 0, slower) == digest
    assert store.seal(0, 0, [*ANSWERS[:2], Response("c", "1")]) != digest
    assert store.seal(0, 0, [*ANSWERS[:2], failed("c")]) != digest


def test_a_draft_that_was_never_published_is_not_part_of_the_record(store):
    store.seal(0, 0, ANSWERS)
    (store.folder / "responses" / ".00000-1.parquet.tmp").write_bytes(b"half")
    (store.folder / "responses" / "notes.parquet").write_bytes(b"not ours")
    assert store.sealed() == [(0, 0)]


HOLDER = """
import sys
from pathlib import Path
from umpirical.store.runs import RunStore
with RunStore(Path(sys.argv[1])).locked():
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_cannot_ask_the_same_run_until_the_first_has_ended(store):
    command = [sys.executable, "-c", HOLDER, str(store.folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(UsageError, match="being asked by another process"), store.locked():
            pass
        # Killed, not closed: a lock must not outlive its process.
        holder.kill()
        holder.wait()
    with store.locked():
        pass
