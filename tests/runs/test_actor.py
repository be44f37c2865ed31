"""An actor without a cluster: what it says, what it hears, and how it ends."""

import sys
import threading
import time
from decimal import Decimal

import pytest

from tests.runs.loopback import swayed_answer, write_study
from tests.servers.chat_server import ChatServer
from umpirical.domain.errors import StoreError, UsageError
from umpirical.integrations.ray import actor as actors
from umpirical.integrations.ray.actor import Actor, Given, Held, Left, Posting, PushedBack, Renewal, Stop, Wanted
from umpirical.models.money import FREE, Ledger, Meter
from umpirical.models.pace import Pace, RelayedPushBacks
from umpirical.models.prices import RatePricer, TokenPrices
from umpirical.models.spec import Calling
from umpirical.runs.assignments import Ended, Settled
from umpirical.runs.executor import EXECUTORS
from umpirical.runs.together import Together
from umpirical.store.budget import Booked
from umpirical.store.runs import RunStore
from umpirical.study.file import read_study
from umpirical.study.prepare import PlanOptions, prepare_run

SEEN = ".seen-by-the-test.tmp"
HERE, ELSEWHERE = "here", "elsewhere"


def planned(folder, base_url):
    study = read_study(write_study(folder, base_url, concurrency=8))
    return prepare_run(study, study.spec.judges[0], options=PlanOptions(shard_size=28))


def posting(run, *, leased=False, pricer=FREE):
    (run.folder / SEEN).write_text(SEEN)
    calling = Calling(8, Meter(pricer, Ledger()))
    together = Together(tuple(range(run.shards)), run.call, run.store, calling, 1, 50)
    return Posting(together.assignment(1, place=0), 1, leased, HERE, SEEN, ())


class Leader:
    """Answers an actor as the leading process does, and remembers what it says."""

    def __init__(self, actor, shards, *, held=Decimal(1)):
        self.actor, self.shards, self.held = actor, list(shards), held
        self.words = []

    def lead(self, *, until=Ended):
        while True:
            for word in self.actor.words():
                self.words.append(word)
                self.answer(word)
                if isinstance(word, until):
                    return word

    def answer(self, word):
        match word:
            case Wanted():
                self.actor.hear(Given(self.shards.pop(0) if self.shards else None))
            case Renewal():
                self.actor.hear(Held(self.held, Booked()))

    def said(self, kind):
        return [word for word in self.words if isinstance(word, kind)]


@pytest.mark.parametrize("machine", [HERE, ELSEWHERE])
def test_it_seals_what_it_is_given_and_says_so(tmp_path, machine):
    with ChatServer(swayed_answer) as server:
        run = planned(tmp_path, server.base_url)
        leader = Leader(Actor(posting(run), machine), [0, 2])
        ended = leader.lead()
        asked = server.asked.total()
    assert ended.error is None
    assert [receipt.shard for receipt in ended.receipts] == [0, 2] == [shard for shard, _ in run.store.sealed()]
    assert sum(len(word.trials) for word in leader.said(Settled)) == asked == 56
    # On another machine, nothing of SQLite's is in the folder of the run.
    assert (run.folder / "journal-1.sqlite").exists() == (machine == HERE)


def test_told_to_stop_elsewhere_it_hands_over_what_is_not_sealed(tmp_path):
    with ChatServer(swayed_answer, latency=0.05) as server:
        run = planned(tmp_path, server.base_url)
        actor = Actor(posting(run), ELSEWHERE)
        leader = Leader(actor, [0])
        leader.lead(until=Settled)
        actor.hear(Stop())
        ended = leader.lead()
        [left] = leader.said(Left)
        answered = len(server.answered)
        run.store.take_up(left.rows)
        assert ended.error is None
        assert not ended.receipts
        assert 0 < len(left.rows) <= answered
        assert run.trials - run.calls_left() == len(left.rows)


def test_it_refuses_a_folder_that_is_not_the_leading_process_s(tmp_path):
    with ChatServer(swayed_answer) as server:
        run = planned(tmp_path, server.base_url)
        posted = posting(run)
        (run.folder / SEEN).write_text("of another run")
        ended = Leader(Actor(posted, ELSEWHERE), [0]).lead()
        assert server.asked.total() == 0
    assert isinstance(ended.error, UsageError)
    assert "cannot read the run folder" in str(ended.error)


def test_money_is_asked_of_the_leading_process_and_nothing_is_sent_without(tmp_path):
    pricer = RatePricer(TokenPrices(Decimal(1), Decimal(1)), "test")
    with ChatServer(swayed_answer) as server:
        run = planned(tmp_path, server.base_url)
        paid = posting(run, leased=True, pricer=pricer)
        poor = Leader(Actor(paid, ELSEWHERE), [0], held=Decimal(0)).lead()
        assert server.asked.total() == 0
        rich = Leader(Actor(paid, ELSEWHERE), [0])
        ended = rich.lead()
        assert server.asked.total() == 28
    assert type(poor.error).__name__ == "CapReached"
    assert ended.error is None
    assert rich.said(Renewal)
    assert 0 < ended.bill.total < 1
    assert not (tmp_path / "budget.sqlite").exists()


def test_it_ends_by_itself_when_nobody_fetches_its_words(tmp_path, monkeypatch):
    monkeypatch.setattr(actors, "BEAT", 0.05)
    monkeypatch.setattr(actors, "SILENCE", 0.2)
    with ChatServer(swayed_answer, latency=0.05) as server:
        run = planned(tmp_path, server.base_url)
        actor = Actor(posting(run), HERE)
        actor.hear(Given(0))
        assert wait_until(actor._stopped.is_set)
        assert wait_until(lambda: not any(thread.name == "umpirical-actor" for thread in threading.enumerate()))
        assert server.asked.total() < run.trials
    # The journal is beside the leading process's, and the next command takes it up.
    with run.store.locked():
        assert run.calls_left() < run.trials


def wait_until(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_a_push_back_told_to_one_is_heard_by_the_others_for_as_long():
    told = []
    teller, hearer = RelayedPushBacks(2, told.append), RelayedPushBacks(2, lambda _: None)
    teller.tell(time.monotonic() + 30)
    [seconds] = told
    assert 29 < seconds <= 30
    hearer.hear(seconds)
    times, resume_at = hearer.heard()
    assert times == 1
    assert 28 < resume_at - time.monotonic() <= 30
    assert teller.heard() == (0, 0.0)


async def test_an_actor_that_hears_of_a_push_back_starts_no_call():
    others = RelayedPushBacks(2, lambda _: None)
    pace = Pace(8, first=8, others=others)
    before = pace.limit
    others.hear(0.0)
    mark = await pace.enter()
    assert pace.limit < before
    assert mark == 1


def test_a_pushed_back_actor_says_so(tmp_path):
    def misbehave(_, times):
        return "rate-limit" if times == 1 and len(server.asked) == 3 else None

    with ChatServer(swayed_answer, misbehave=misbehave, retry_after=0.01) as server:
        run = planned(tmp_path, server.base_url)
        leader = Leader(Actor(posting(run), HERE), [0])
        assert leader.lead().error is None
    assert leader.said(PushedBack)


def test_without_ray_the_extra_is_named_before_anything_is_made(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "umpirical.integrations.ray.executor", raising=False)
    with pytest.raises(UsageError, match="requires the `ray` extra") as refused:
        EXECUTORS.get("ray")
    assert refused.value.fix == "pip install 'umpirical[ray]'"


def test_a_shard_is_sealed_once_whoever_comes_second(tmp_path):
    with ChatServer(swayed_answer) as server:
        run = planned(tmp_path, server.base_url)
        Leader(Actor(posting(run), HERE), [0]).lead()
    [receipt] = [run.store.receipt(0, 0)]
    rows = list(run.store.rows(receipt))
    second = RunStore(run.folder, once=True)
    with pytest.raises(StoreError, match="another process has sealed"):
        second.seal_rows(0, 0, rows[:-1])
    assert run.store.receipt(0, 0) == receipt
    assert list(run.store.rows(receipt)) == rows
    # One that was killed between the file and its receipt goes on with its own.
    (run.folder / "responses" / "00000-0.json").unlink()
    assert second.seal_rows(0, 0, rows) == receipt
    (run.folder / "responses" / "00000-0.json").unlink()
    with pytest.raises(StoreError, match="another process has sealed"):
        second.seal_rows(0, 0, rows[:-1])
