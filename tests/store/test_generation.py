import sqlite3

import pytest

from umpirical.domain.errors import UsageError
from umpirical.domain.responses import Response, Usage
from umpirical.domain.stimuli import Attempt, CheckResult, SameVerdict, Stimulus
from umpirical.store.generation import GenerationStore


@pytest.fixture
def store(tmp_path):
    opened = GenerationStore(tmp_path / "generated")
    yield opened
    opened.close()


def stimulus(text="another text"):
    return Stimulus(
        task_id="essay-1",
        task="Write.",
        candidates=(text,),
        expectation=SameVerdict(),
        maker="paraphrase/1+abc",
        family="paraphrase",
        parent="the original",
        gold="3",
        gold_from="label",
        evidence={"check length-ratio": "1.1", "validators": "2 of 2 agree"},
        strata={"grade": "8"},
    )


def attempt(commission="s1", number=0, **changes):
    base = {
        "commission": commission,
        "test": "paraphrase",
        "number": number,
        "temperature": 0.7,
        "text": "another text",
        "checks": (CheckResult("length-ratio", passed=True, found="1.1", allowed="0.7 to 1.4"),),
        "opinions": ("same", "different", "same"),
        "rejected": "",
        "stimulus": stimulus(),
    }
    return Attempt(**(base | changes))


def rejected(commission="s1", number=0):
    return attempt(commission, number, rejected="not-a-copy: all words are the same", stimulus=None)


def answer(name="c1", text="words"):
    return Response(name, text, usage=Usage(3, 4), sent='{"temperature":0.7}')


def test_an_attempt_comes_back_as_it_was(store):
    store.commit([], [rejected(), attempt(number=1)])
    assert list(store.attempts()) == [rejected(), attempt(number=1)]
    assert list(store.attempts(["another"])) == []


def test_a_stimulus_keeps_its_id_through_the_store(store):
    store.commit([], [attempt()])
    [found] = store.attempts()
    assert found.stimulus is not None
    assert found.stimulus.id == stimulus().id


def test_a_commission_is_settled_by_a_stimulus(store):
    store.commit([], [rejected("s1"), attempt("s1", 1), rejected("s2"), rejected("s2", 1)])
    assert store.settled() == {"s1": (2, True), "s2": (2, False)}


def test_a_commission_takes_one_stimulus_and_an_attempt_is_settled_once(store):
    store.commit([], [attempt("s1", 0)])
    with pytest.raises(sqlite3.IntegrityError):
        store.commit([], [attempt("s1", 1)])
    with pytest.raises(sqlite3.IntegrityError):
        store.commit([], [rejected("s1", 0)])
    assert len(list(store.attempts())) == 1


def test_a_commit_is_all_or_nothing(store):
    store.commit([], [attempt("s1", 0)])
    with pytest.raises(sqlite3.IntegrityError):
        store.commit([("s2", "generator", answer())], [attempt("s1", 1)])
    assert store.call(answer().trial_id) is None


def test_an_answer_is_final_and_a_failure_gives_way(store):
    failed = Response("c1", None, "server-error", "it broke")
    store.commit([("s1", "generator", failed)], [])
    assert store.call("c1").failure == "server-error"
    assert store.failures({"s1"}) == {("server-error", "it broke"): 1}
    assert not store.failures({"s2"})
    store.commit([("s1", "generator", answer())], [])
    store.commit([("s1", "generator", answer(text="other words"))], [])
    assert store.call("c1").text == "words"
    assert store.call("c1").usage == Usage(3, 4)


def test_a_refusal_is_an_answer(store):
    store.commit([("s1", "generator", Response("c1", None, "refused", "no"))], [])
    assert store.call("c1").failure == "refused"


def test_what_was_written_is_read_while_it_is_being_written(store, tmp_path):
    store.commit([], [attempt("s1")])
    reader = GenerationStore(tmp_path / "generated")
    store.commit([], [attempt("s2", stimulus=stimulus("a third text"))])
    assert [found.commission for found in reader.attempts()] == ["s1", "s2"]
    reader.close()


def test_a_second_process_does_not_write_the_same(store, tmp_path):
    other = GenerationStore(tmp_path / "generated")
    with store.locked(), pytest.raises(UsageError, match="another process"), other.locked():
        pass
    other.close()


def test_lone_surrogates_are_kept_as_their_escape(store):
    store.commit([("s1", "generator", answer(text="a\ud800b"))], [])
    assert store.call("c1").text == "a\\ud800b"


def test_an_attempt_is_a_stimulus_or_was_rejected():
    with pytest.raises(ValueError, match="reason for rejection"):
        attempt(rejected="both")
    with pytest.raises(ValueError, match="reason for rejection"):
        attempt(stimulus=None)


def test_calls_are_told_by_role(store):
    store.commit([("s1", "generator", answer("a")), ("s1", "validator", answer("b"))], [])
    assert [(role, response.trial_id) for role, response in store.spent()] == [("generator", "a"), ("validator", "b")]
