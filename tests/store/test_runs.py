"""One run on disk."""

import subprocess
import sys
from dataclasses import replace

import pytest

from umpirical.domain.errors import StoreError, UsageError
from umpirical.domain.responses import Response
from umpirical.domain.trials import Order, Presentation, Trial
from umpirical.store.manifests import Damaged
from umpirical.store.parquet import read_metadata, read_rows, write_rows
from umpirical.store.runs import RunStore
from umpirical.store.schemas import response_schema
from umpirical.store.snapshots import snapshot

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
        (Trial(f"t{number}", f"p{number // 2}", "s", Presentation(order, variant, number)), number)
        for number, (order, variant) in enumerate(
            [(Order.AB, "baseline"), (Order.BA, "baseline"), (Order.AB, "strict")]
        )
    ]
    assert store.plan_size() is None
    digests = [store.write_plan_shard(0, trials[:2]), store.write_plan_shard(1, trials[2:])]
    assert store.plan_size() is None
    store.finish_plan(3, digests)
    assert store.plan_size() == (3, 2)
    assert [list(store.plan_shard(shard)) for shard in (0, 1)] == [trials[:2], trials[2:]]


def responses(store, shard):
    with snapshot(store) as now:
        # Shards without a plan share no questions.
        return now._read_shard(shard)


def state(store, shard):
    """The next generation, and what has failed in the last one."""
    with snapshot(store) as now:
        last = now.receipts(shard)[-1:]
        return now.next_generation(shard), sum(receipt.failed for receipt in last)


def counts(store):
    with snapshot(store) as now:
        return now.counts()


def test_a_shard_nothing_of_which_is_sealed_starts_at_generation_0(store):
    assert state(store, 0) == (0, 0)
    assert responses(store, 0) == {}
    assert counts(store) == (0, 0)


def test_each_generation_asks_again_what_failed_in_the_one_before(store):
    store.seal(3, 0, [Response("a", "1"), failed("b"), failed("c")])
    assert state(store, 3) == (1, 2)
    store.seal(3, 1, [Response("b", "2"), failed("c")])
    assert state(store, 3) == (2, 1)
    assert counts(store) == (2, 1)
    assert responses(store, 3) == {"a": Response("a", "1"), "b": Response("b", "2"), "c": failed("c")}
    store.seal(3, 2, [Response("c", "tie")])
    assert state(store, 3) == (3, 0)
    assert counts(store) == (3, 0)
    assert list(responses(store, 3).values()) == ANSWERS
    assert store.sealed() == [(3, 0), (3, 1), (3, 2)]


def test_generations_are_taken_in_order_of_number_and_not_of_name(store):
    for generation in range(11):
        store.seal(0, generation, [replace(failed("a"), failure_detail=str(generation))])
    assert state(store, 0) == (11, 1)
    assert responses(store, 0)["a"].failure_detail == "10"


def test_the_shards_of_a_run_do_not_mix(store):
    store.seal(1, 0, [failed("a")])
    store.seal(11, 0, [Response("b", "1")])
    assert (state(store, 1), state(store, 11)) == ((1, 1), (1, 0))
    assert set(responses(store, 1)) == {"a"}


@pytest.mark.parametrize("second", [Response("a", "2"), Response("a", "1"), failed("a")])
def test_a_trial_that_is_asked_again_after_its_answer_is_an_error(store, second):
    store.seal(0, 0, [Response("a", "1")])
    store.seal(0, 1, [second])
    with pytest.raises(StoreError, match="trial a has two answers"):
        responses(store, 0)


def test_a_response_in_the_journal_counts_and_may_follow_a_sealed_failure(store):
    store.seal(0, 0, [failed("a"), Response("b", "2"), failed("c")])
    journal = store.open_journal()
    journal.commit([(0, 1, Response("a", "1"))])
    assert responses(store, 0) == {"a": Response("a", "1"), "b": Response("b", "2"), "c": failed("c")}
    assert counts(store) == (2, 1)
    journal.close()


def test_an_answer_seen_while_it_is_being_sealed_counts_once(store):
    journal = store.open_journal()
    journal.commit([(0, 0, Response("a", "1"))])
    store.seal(0, 0, [Response("a", "1")])
    assert responses(store, 0) == {"a": Response("a", "1")}
    assert counts(store) == (1, 0)
    journal.close()


def test_another_answer_sealed_than_in_the_journal_is_an_error(store):
    journal = store.open_journal()
    journal.commit([(0, 0, Response("a", "1"))])
    store.seal(0, 0, [Response("a", "2")])
    with pytest.raises(StoreError, match="two answers"):
        responses(store, 0)
    journal.close()


def test_a_snapshot_stays_as_it_was_whatever_is_answered_and_sealed_meanwhile(store):
    journal = store.open_journal()
    journal.commit([(0, 0, Response("a", "1"))])
    with snapshot(store) as before:
        journal.commit([(0, 0, Response("b", "2"))])
        store.seal(0, 0, journal.responses(0))
        journal.forget(0, 0)
        store.seal(1, 0, [Response("c", "1")])
        assert before._read_shard(0) == {"a": Response("a", "1")}
        assert before._read_shard(1) == {}
        assert before.counts() == (1, 0)
    assert set(responses(store, 0)) == {"a", "b"}
    assert counts(store) == (3, 0)
    journal.close()


def test_what_was_sealed_but_not_forgotten_is_forgotten_when_the_run_is_opened_again(store):
    journal = store.open_journal()
    journal.commit([(0, 0, response) for response in ANSWERS] + [(1, 0, Response("d", "1"))])
    store.seal(0, 0, journal.responses(0))
    # Killed here, before forget().
    journal.close()
    again = store.open_journal()
    assert [len(again.rows(shard, 0)) for shard in (0, 1)] == [0, 1]
    again.close()
    assert list(responses(store, 0).values()) == ANSWERS
    assert set(responses(store, 1)) == {"d"}


@pytest.mark.parametrize(
    "sealed", [ANSWERS[:2], [*ANSWERS[:2], Response("c", "1")], None], ids=["fewer", "other", "cut"]
)
def test_nothing_is_forgotten_that_the_sealed_file_does_not_hold(store, sealed):
    journal = store.open_journal()
    journal.commit([(0, 0, response) for response in ANSWERS])
    store.seal(0, 0, sealed or ANSWERS)
    if sealed is None:
        path = store.folder / "responses" / "00000-0.parquet"
        path.write_bytes(path.read_bytes()[:-50])
    journal.close()
    again = store.open_journal()
    assert [row["trial_id"] for row in again.rows(0, 0)] == ["a", "b", "c"]
    again.close()


def test_a_file_without_a_receipt_is_a_draft_as_long_as_its_rows_are_in_the_journal(store):
    journal = store.open_journal()
    journal.commit([(0, 0, response) for response in ANSWERS])
    store.seal(0, 0, ANSWERS[:1])
    (store.folder / "responses" / "00000-0.json").unlink()
    assert list(responses(store, 0).values()) == ANSWERS
    assert state(store, 0) == (0, 0)
    journal.close()


def test_a_file_of_the_first_format_has_no_receipt_and_is_held_to_its_own_digest(store):
    store.seal(0, 0, [*ANSWERS[:2], failed("c")])
    (store.folder / "responses" / "00000-0.json").unlink()
    assert state(store, 0) == (1, 1)
    assert len(responses(store, 0)) == 3
    path = store.folder / "responses" / "00000-0.parquet"
    rows, said = list(read_rows(path)), read_metadata(path)
    rows[0]["text"] = "2"
    write_rows(path, rows, response_schema(), metadata=said)
    with pytest.raises(Damaged, match=r"00000-0\.parquet has been changed since it was written; .* 2 answers"):
        responses(store, 0)


def test_the_digest_of_a_shard_depends_on_its_answers_and_not_on_their_order_or_speed(store):
    digest = store.seal(0, 0, ANSWERS).sha256
    slower = [replace(answer, latency_ms=99.0, attempts=4) for answer in reversed(ANSWERS)]
    assert store.seal(0, 0, slower).sha256 == digest
    assert store.seal(0, 0, [*ANSWERS[:2], Response("c", "1")]).sha256 != digest
    assert store.seal(0, 0, [*ANSWERS[:2], failed("c")]).sha256 != digest


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
        with pytest.raises(UsageError, match="another process is working"), store.locked():
            pass
        # Killed, not closed: a lock must not outlive its process.
        holder.kill()
        holder.wait()
    with store.locked():
        pass
