"""The journal: an answer is final, a failure gives way."""

import sqlite3
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umpirical.domain.responses import Response, Usage
from umpirical.store.journal import Journal, JournalView, JournalViews
from umpirical.store.runs import RunStore
from umpirical.store.snapshots import snapshot

FULL = Response(
    "t1",
    'text with \0, \r\n, 🙂 and "quotes"',
    finish_reason="stop",
    usage=Usage(10, 2, None),
    logprobs='{"content": []}',
    sent='{"seed":1}',
    served_by="model fp",
    latency_ms=12.5,
    attempts=3,
    asked_at="2026-01-01T00:00:00+00:00",
)


@pytest.fixture
def journal(tmp_path):
    opened = Journal(tmp_path / "journal.sqlite")
    yield opened
    opened.close()


def failed(trial_id, detail=""):
    return Response(trial_id, None, "timeout", detail)


def test_a_response_comes_back_whole(journal):
    journal.commit([(3, 0, FULL)])
    assert journal.responses(3) == [FULL]
    assert journal.responses(2) == []


def test_a_journal_that_is_just_being_made_is_empty(tmp_path):
    path = tmp_path / "journal.sqlite"
    path.touch()
    for pragma in ("", "pragma journal_mode = wal"):
        writer = sqlite3.connect(path)
        writer.execute(pragma)
        view = JournalView(path)
        assert view.counts() == {}
        view.close()
        writer.close()


def test_what_was_committed_survives_reopening(tmp_path):
    first = Journal(tmp_path / "j")
    first.commit([(0, 0, FULL)])
    # A second connection reads it while the first is open still, as after a kill.
    second = Journal(tmp_path / "j")
    assert second.responses(0) == [FULL]
    first.close()
    second.close()


def test_an_answer_is_never_overwritten(journal):
    journal.commit([(0, 0, FULL)])
    journal.commit([(0, 0, replace(FULL, text="other")), (0, 0, failed("t1"))])
    assert journal.responses(0) == [FULL]


def test_a_failure_gives_way_to_an_answer_and_to_a_later_failure(journal):
    journal.commit([(0, 0, failed("t1", "first"))])
    journal.commit([(0, 0, failed("t1", "second"))])
    assert [response.failure_detail for response in journal.responses(0)] == ["second"]
    journal.commit([(0, 0, FULL)])
    assert journal.responses(0) == [FULL]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.sampled_from("xyz")), max_size=12))
def test_each_trial_keeps_its_first_answer_or_else_its_last_failure(tmp_path_factory, said):
    journal = Journal(tmp_path_factory.mktemp("j") / "j")
    expected = {}
    for place, (trial, text) in enumerate(said):
        response = failed(trial, str(place)) if text is None else Response(trial, text)
        journal.commit([(0, 0, response)])
        if trial not in expected or expected[trial].failure is not None:
            expected[trial] = response
    assert {response.trial_id: response for response in journal.responses(0)} == expected
    journal.close()


def test_forgetting_drops_one_generation_of_one_shard(journal):
    journal.commit([(0, 0, Response("a", "1")), (0, 1, Response("b", "1")), (1, 0, Response("c", "1"))])
    assert {name: len(rows) for name, rows in journal.unsealed().items()} == {(0, 0): 1, (0, 1): 1, (1, 0): 1}
    journal.forget(0, 0)
    assert [response.trial_id for response in journal.responses(0)] == ["b"]
    assert [len(journal.rows(0, 1)), len(journal.rows(1, 0))] == [1, 1]


def test_a_batch_that_cannot_be_written_leaves_nothing_behind_and_the_journal_usable(journal):
    with pytest.raises(OverflowError):
        journal.commit([(0, 0, FULL), (0, 0, Response("t2", "1", attempts=2**70))])
    assert journal.responses(0) == []
    journal.commit([(0, 0, FULL)])
    assert journal.responses(0) == [FULL]


def test_lone_surrogates_anywhere_are_kept_as_escapes(journal):
    odd = replace(FULL, text="\ud800", finish_reason="\ud800", served_by="\ud800", sent="\ud800", logprobs="\ud800")
    journal.commit([(0, 0, odd), (0, 0, replace(failed("t2"), failure_detail="\udfff"))])
    first, second = journal.responses(0)
    kept = {first.text, first.finish_reason, first.served_by, first.sent, first.logprobs}
    assert kept == {"\\ud800"}
    assert second.failure_detail == "\\udfff"


def test_journals_of_several_processes_are_read_as_one(tmp_path):
    paths = [tmp_path / "journal-1.sqlite", tmp_path / "journal-2.sqlite", tmp_path / "journal.sqlite"]
    answers = [replace(FULL, trial_id=name) for name in "abc"]
    held = [[(0, 0, answers[0]), (1, 0, failed("x"))], [(1, 0, answers[1])], [(0, 0, answers[0]), (0, 0, answers[2])]]
    for path, rows in zip(paths, held, strict=True):
        journal = Journal(path)
        journal.commit(rows)
        journal.close()
    views = JournalViews([*paths, tmp_path / "journal-3.sqlite"])

    # The first answer is in two of them, as after a kill while one was taken up.
    assert views.responses(0) == [answers[0], answers[2]]
    assert views.responses(1) == [answers[1], failed("x")]
    assert views.counts() == {(0, 0): (2, 0), (1, 0): (2, 1)}
    views.close()


def test_the_journal_of_a_killed_process_is_taken_up(tmp_path):
    store, other = RunStore(tmp_path), RunStore(tmp_path, process=1)
    answers = {name: replace(FULL, trial_id=name) for name in "abcd"}
    mine, theirs = store.open_journal(), other.open_journal()
    mine.commit([(0, 0, answers["a"]), (0, 0, failed("b"))])
    # It has answered what had failed before, has sealed one shard without forgetting it, and was killed in another.
    theirs.commit([(0, 0, answers["b"]), (1, 0, answers["c"]), (2, 0, answers["d"])])
    other.seal(1, 0, [answers["c"]])
    mine.close()
    theirs.close()
    with snapshot(store) as before:
        counted = before.counts()
    store.take_up_journals()
    store.take_up_journals()

    with snapshot(store) as after:
        assert after.counts() == counted == (4, 0)
    taken = store.open_journal()
    assert taken.responses(0) == [answers["a"], answers["b"]]
    assert taken.responses(1) == []
    assert taken.responses(2) == [answers["d"]]
    taken.close()
    assert [path.name for path in tmp_path.glob("journal*")] == ["journal.sqlite"]
