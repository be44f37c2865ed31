"""A run that machines share through object storage: what is taken, what is refused, and what is not paid twice."""

import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.runs.loopback import swayed_answer, write_study
from tests.runs.test_actor import ELSEWHERE, HERE, Leader, planned, wait_until
from tests.servers.chat_server import ChatServer
from tests.store.s3 import s3_server
from umpirical.domain.errors import StoreError, UsageError
from umpirical.integrations.object_storage import depots
from umpirical.integrations.object_storage.depots import Deliveries, Depot
from umpirical.integrations.ray import actor as actors
from umpirical.integrations.ray.actor import Actor, Delivered, Left, Posting, Stop, Taken
from umpirical.models.money import FREE, Ledger, Meter
from umpirical.models.spec import Calling
from umpirical.runs.assignments import Settled
from umpirical.runs.executor import EXECUTORS, Unwatched, factory_of
from umpirical.runs.local import LocalExecutor
from umpirical.runs.together import Together
from umpirical.store.manifests import Damaged, file_sha256
from umpirical.store.reuse import find_answers
from umpirical.store.runs import DEPOT, RunStore
from umpirical.store.snapshots import snapshot
from umpirical.study.run import CallOptions, complete_run


class Shared:
    """A run, its depot, and a server that answers."""

    def __init__(self, folder, uri, server):
        self.uri, self.server = uri, server
        self.run = planned(folder, server.base_url)
        self.store = self.run.store
        self.depot = Depot.of(uri, self.store)

    def posting(self, shards):
        access = self.depot.stock(self.store, self.run.stimuli, shards, every_stimulus=False)
        calling = Calling(8, Meter(FREE, Ledger()))
        together = Together(tuple(shards), self.run.call, self.store, calling, 1, 50)
        assignment = together.assignment(1, place=0)
        return Posting(assignment, 1, leased=False, beside=HERE, token="", path=(), depot=access)

    def led(self, *shards, take=None):
        """Lets one actor ask some shards, and returns its leader."""
        leader = Taker(self, Actor(self.posting(shards), ELSEWHERE), shards, take)
        leader.ended = leader.lead()
        return leader

    def objects(self, pattern):
        return sorted(Path(self.uri.removeprefix("file://")).glob(f"{self.run.folder.name}/*/{pattern}"))


class Taker(Leader):
    """Takes deliveries, as the leading process does; or does with them what a test wants."""

    def __init__(self, shared, actor, shards, take=None):
        super().__init__(actor, shards)
        self.take = take or (lambda delivery: shared.depot.take(delivery, shared.store))

    def answer(self, word):
        super().answer(word)
        if isinstance(word, Delivered):
            try:
                self.take(word.delivery)
                self.actor.hear(Taken())
            except StoreError as error:
                self.actor.hear(Taken(error))


@pytest.fixture
def shared(tmp_path):
    with ChatServer(swayed_answer) as server:
        yield Shared(tmp_path / "study", (tmp_path / "objects").as_uri(), server)


@pytest.fixture(scope="module")
def s3():
    with s3_server() as uri:
        yield uri


def ask_here(run, shards):
    LocalExecutor(Calling(8, Meter(FREE, Ledger()))).run(shards, run.call, run.store, Unwatched())


def untaken(shared, *shards):
    """Lets an actor deliver while nobody listens: a leading process that is killed before it takes what was put."""
    return shared.led(*shards, take=lambda _: None)


def test_an_actor_that_sees_no_folder_seals_what_it_is_given(shared):
    leader = shared.led(0, 2)
    assert leader.ended.error is None
    assert [receipt.shard for receipt in leader.ended.receipts] == [0, 2]
    assert list(leader.ended.receipts) == [shared.store.receipt(0, 0), shared.store.receipt(2, 0)]
    assert sum(len(word.trials) for word in leader.said(Settled)) == shared.server.asked.total() == 56
    # Nothing of SQLite's, and no file of the actor's own, is where machines meet.
    assert not list(shared.run.folder.rglob("*journal-*"))
    assert {path.suffix for path in shared.objects("sealed/*/*")} == {".parquet", ".json"}
    assert not [path for path in shared.objects("**/*") if "sqlite" in path.name]


def test_its_answers_are_those_of_an_actor_that_sees_the_folder(shared, tmp_path):
    shared.led(*range(shared.run.shards))
    there = planned(tmp_path / "there", shared.server.base_url)
    ask_here(there, range(there.shards))
    with snapshot(shared.store) as one, snapshot(there.store) as two:
        assert [receipt.sha256 for receipt in one.receipts()] == [receipt.sha256 for receipt in two.receipts()]


def test_it_works_on_a_server_of_s3_s_protocol_and_leaves_nothing_there(tmp_path, s3):
    with ChatServer(swayed_answer) as server:
        shared = Shared(tmp_path, s3, server)
        untaken(shared, 1)
        assert shared.depot.take_up(shared.store) == []
        leader = shared.led(0)
        asked = server.asked.total()
    assert leader.ended.error is None
    assert shared.store.sealed() == [(0, 0), (1, 0)]
    assert asked == 56
    shared.depot.close(shared.store)
    assert depots.ObjectStore(s3).names(shared.run.folder.name) == []
    assert not (shared.run.folder / DEPOT).exists()


def test_only_what_is_read_is_put(shared):
    shared.posting([1])
    put = {path.name for path in shared.objects("stock/*")}
    run, stimuli = shared.run.folder, shared.run.stimuli
    read = [run / "run.json", run / "plan" / "plan.json", run / "plan" / "00001.parquet"]
    parts = [stimuli.folder / f"{part:05d}.parquet" for part in shared.store.stimulus_parts(1)]
    files = {file_sha256(path) for path in (*read, stimuli.folder / "manifest.json", *parts)}
    # And the index of it.
    assert files < put
    assert len(put) == len(files) + 1


def test_answers_of_another_run_are_reused(shared, tmp_path):
    other = planned(tmp_path / "other", shared.server.base_url)
    ask_here(other, [0])
    before = shared.server.asked.total()
    find_answers(shared.store, [other.store])
    shared.led(0)
    assert shared.server.asked.total() == before
    assert all(row["price_table"].startswith("reused") for row in shared.store.rows(shared.store.receipt(0, 0)))


def test_a_second_generation_asks_only_what_failed(shared):
    shared.led(3)
    receipt = shared.store.receipt(3, 0)
    rows = [dict(row) for row in shared.store.rows(receipt)]
    rows[5] |= {"text": None, "failure": "timeout", "failure_detail": "of the test"}
    for path in (shared.run.folder / "responses").iterdir():
        path.unlink()
    shared.store.seal_rows(3, 0, rows)
    before = shared.server.asked.total()
    shared.led(3)
    assert shared.server.asked.total() == before + 1
    assert shared.store.sealed() == [(3, 0), (3, 1)]


def test_what_was_delivered_to_a_leading_process_that_was_killed_is_not_paid_twice(shared):
    untaken(shared, 0, 2)
    assert shared.store.sealed() == []
    asked = shared.server.asked.total()
    again = Depot.of(shared.uri, RunStore(shared.run.folder))
    assert again.take_up(shared.store) == []
    assert shared.store.sealed() == [(0, 0), (2, 0)]
    assert shared.run.trials - shared.run.calls_left() == asked == 56


def test_of_two_deliveries_of_a_shard_one_is_taken_and_stays(shared):
    untaken(shared, 0)
    second = shared.led(0)
    assert second.ended.error is None
    receipt = shared.store.receipt(0, 0)
    rows = list(shared.store.rows(receipt))
    assert len(shared.objects("sealed/*/*.parquet")) == 2
    assert shared.depot.take_up(shared.store) == []
    assert shared.store.sealed() == [(0, 0)]
    assert list(shared.store.rows(shared.store.receipt(0, 0))) == rows


def test_a_kill_between_the_file_and_its_receipt_is_made_good(shared):
    untaken(shared, 0)
    shared.depot.take_up(shared.store)
    receipt = shared.store.receipt(0, 0)
    (shared.run.folder / "responses" / "00000-0.json").unlink()
    assert shared.depot.take_up(shared.store) == []
    assert shared.store.receipt(0, 0) == receipt


def test_a_shard_that_the_journal_has_begun_is_completed_there(shared):
    untaken(shared, 0)
    other = planned(shared.run.folder.parent / "elsewhere", shared.server.base_url)
    ask_here(other, [0])
    with snapshot(other.store) as now:
        [first, *_] = now.own_responses(0).values()
    shared.store.take_up([(0, 0, first)])
    assert shared.depot.take_up(shared.store) == []
    assert shared.store.sealed() == []


# The leading process


class Sentences(Unwatched):
    def __init__(self):
        self.sentences, self.known = [], 0

    def told(self, sentence):
        self.sentences.append(sentence)

    def resumed(self, trials):
        self.known += trials


def test_at_its_end_it_takes_what_nobody_has_heard_of_and_removes_the_rest(shared):
    untaken(shared, 0)
    shared.led(1)
    watcher = Sentences()
    deliveries = Deliveries(shared.uri, shared.store, watcher)
    deliveries.end()
    assert shared.store.sealed() == [(0, 0), (1, 0)]
    assert watcher.sentences == []
    assert not shared.objects("**/*")
    assert not shared.run.store.has_depot()


def test_it_hands_out_only_what_has_questions_without_an_answer(shared):
    shared.led(0, 3)
    watcher = Sentences()
    deliveries = Deliveries(shared.uri, shared.store, watcher)
    assert deliveries.not_answered([0, 1, 2, 3]) == [1, 2]
    assert watcher.known == 56


def test_it_tells_what_it_refuses(shared):
    untaken(shared, 0)
    [file] = shared.objects("sealed/*/*.parquet")
    changed(file)
    watcher = Sentences()
    Deliveries(shared.uri, shared.store, watcher).take_up()
    [sentence] = watcher.sentences
    assert file.as_uri() in sentence
    assert sentence.endswith("the calls are repeated")


def test_a_store_that_fails_at_the_end_is_left_to_the_next_command(shared, monkeypatch):
    def fail(*_):
        raise StoreError("out of order")

    untaken(shared, 0)
    watcher = Sentences()
    deliveries = Deliveries(shared.uri, shared.store, watcher)
    with monkeypatch.context() as patch:
        patch.setattr(depots.ObjectStore, "names", fail)
        deliveries.end()
    assert watcher.sentences == ["files stay in object storage until the next run: out of order"]
    assert shared.run.store.has_depot()
    Deliveries(shared.uri, shared.store, watcher).take_up()
    assert shared.store.sealed() == [(0, 0)]


def test_a_command_without_it_says_that_answers_may_be_left_there(shared):
    said = []
    untaken(shared, *range(shared.run.shards))
    shared.depot.take_up(shared.store)
    complete_run(shared.run, 8, lambda *_: Unwatched(), calls=CallOptions(log=said.append))
    assert said == [f"run {shared.run.name} may have answers in object storage: add the same --through to collect them"]


def test_simulated_judges_are_given_every_stimulus(shared):
    access = shared.depot.stock(shared.store, shared.run.stimuli, [0], every_stimulus=True)
    index = json.loads(shared.objects(f"stock/{access.index}")[0].read_text())
    parts = {f"stimuli/{part:05d}.parquet" for part in shared.run.stimuli.parts()}
    assert parts <= index["run"].keys()


# Who would cheat


@pytest.mark.parametrize("place", ["../../others", "x", "", "a" * 31])
def test_the_place_of_a_depot_that_is_not_of_our_making_is_refused(shared, place):
    (shared.run.folder / DEPOT).write_text(json.dumps({"place": place, "secret": "known"}))
    with pytest.raises(Damaged, match=r"cannot read .*depot\.json"):
        Depot.of(shared.uri, shared.store)


def changed(path, content=None):
    path.write_bytes(path.read_bytes()[:-1] + b"x" if content is None else content)


def test_a_sealed_object_that_was_changed_is_refused_by_name_and_its_answers_are_kept(shared):
    def cheat(delivery):
        [path] = shared.objects("sealed/*/*.parquet")
        changed(path)
        shared.depot.take(delivery, shared.store)

    leader = shared.led(0, take=cheat)
    [path] = shared.objects("sealed/*/*.parquet")
    assert isinstance(leader.ended.error, Damaged)
    assert f"{path.as_uri()} was rejected" in str(leader.ended.error)
    assert not (shared.run.folder / "responses").exists() or shared.store.sealed() == []
    # They are still in the actor's journal, which is handed over.
    [left] = leader.said(Left)
    assert len(left.rows) == 28
    shared.store.take_up(left.rows)
    assert shared.run.trials - shared.run.calls_left() == 28


@pytest.mark.parametrize(
    "cheat",
    [
        pytest.param(lambda file, _: changed(file), id="changed"),
        pytest.param(lambda file, _: changed(file, file.read_bytes()[:100]), id="half written"),
        pytest.param(lambda file, _: changed(file, file.read_bytes() + b"x" * 10_000), id="longer"),
        pytest.param(lambda file, _: file.unlink(), id="removed"),
        pytest.param(lambda _, note: changed(note), id="note changed"),
        pytest.param(lambda _, note: changed(note, b"[" * 9_000), id="note without end"),
        pytest.param(lambda _, note: changed(note, b"{}" + b" " * 100_000), id="note too long"),
        pytest.param(
            lambda _, note: changed(note, note.read_bytes().replace(b'"answered": 28', b'"answered": 27')), id="count"
        ),
    ],
)
def test_what_is_not_what_was_delivered_is_refused_by_name_and_asked_again(shared, cheat):
    untaken(shared, 0)
    [file], [note] = shared.objects("sealed/*/*.parquet"), shared.objects("sealed/*/*.json")
    cheat(file, note)
    [refused] = shared.depot.take_up(shared.store)
    assert file.with_suffix("").as_uri() in refused
    assert shared.store.sealed() == []
    before = shared.server.asked.total()
    assert shared.led(0).ended.error is None
    assert shared.server.asked.total() == before + 28


def test_a_delivery_to_another_run_is_refused_under_our_name(shared, tmp_path):
    other = Shared(tmp_path / "other", shared.uri, shared.server)
    untaken(other, 0)
    [place] = Path(shared.uri.removeprefix("file://")).glob(f"{other.run.folder.name}/{other.depot._place[-32:]}")
    ours = place.with_name(shared.depot._place[-32:])
    shutil.copytree(place / "sealed", ours / "sealed")
    [refused] = shared.depot.take_up(shared.store)
    assert "not signed by a worker of this run" in refused
    assert shared.store.sealed() == []


def test_a_delivery_under_the_name_of_another_shard_is_refused(shared):
    untaken(shared, 0)
    for path in shared.objects("sealed/*/*"):
        path.rename(path.with_name(path.name.replace("00000", "00001")))
    [refused] = shared.depot.take_up(shared.store)
    assert "not signed by a worker of this run" in refused
    assert shared.store.sealed() == []


def test_an_asker_of_the_run_cannot_seal_answers_to_questions_of_another_shard(shared):
    shared.led(0)
    file, receipt = shared.run.folder / "responses" / "00000-0.parquet", shared.store.receipt(0, 0)
    said = {name: getattr(receipt, name) for name in receipt.__slots__}
    wrong = type(receipt)(**{**said, "shard": 1})
    with pytest.raises(Damaged, match="questions that are not in shard 1"):
        shared.depot.take(shared.depot.deliver("a" * 32, wrong, file), shared.store)
    fewer = type(receipt)(**{**said, "shard": 1, "answered": 3})
    with pytest.raises(Damaged, match="does not match"):
        shared.depot.take(shared.depot.deliver("b" * 32, fewer, file), shared.store)


def test_a_delivery_larger_than_a_shard_can_be_is_refused(shared, monkeypatch):
    untaken(shared, 0)
    monkeypatch.setattr(depots, "LARGEST_SHARD", 100)
    [refused] = shared.depot.take_up(shared.store)
    assert "has more than 100 bytes" in refused


def test_objects_of_strangers_below_our_prefix_are_not_read(shared):
    untaken(shared, 0)
    [sealed] = {path.parent.parent for path in shared.objects("sealed/*/*")}
    for name in ("../../../outside.json", "nobody/00001-0.json", "00001-0.json", f"{'a' * 32}/00001-0.json.exe"):
        (sealed / name).parent.mkdir(exist_ok=True, parents=True)
        (sealed / name).write_text("{}")
    assert shared.depot.take_up(shared.store) == []
    assert shared.store.sealed() == [(0, 0)]


@pytest.mark.parametrize("which", ["run.json", "plan/plan.json", "plan/00000.parquet", "index"])
def test_a_changed_file_of_the_stock_stops_an_actor_before_anything_is_asked(shared, which):
    posting = shared.posting([0])
    sha256 = posting.depot.index if which == "index" else file_sha256(shared.run.folder / which)
    [stocked] = shared.objects(f"stock/{sha256}")
    changed(stocked)
    ended = Leader(Actor(posting, ELSEWHERE), [0]).lead()
    assert isinstance(ended.error, Damaged)
    assert f"{stocked.as_uri()} has been changed" in str(ended.error)
    assert shared.server.asked.total() == 0


def test_nothing_that_is_put_or_written_or_shown_has_a_secret_of_ours(shared):
    leader = untaken(shared, 0)
    secret = json.loads((shared.run.folder / DEPOT).read_text())["secret"]
    assert (shared.run.folder / DEPOT).stat().st_mode & 0o077 == 0
    assert secret not in repr(shared.posting([0]))
    assert secret not in repr(leader.words)
    assert not [path for path in shared.objects("**/*") if path.is_file() and secret.encode() in path.read_bytes()]
    # Where credentials are, and where they would be, nothing says which store it is.
    assert set(json.loads((shared.run.folder / DEPOT).read_text())) == {"place", "secret"}


# Ends


def test_told_to_stop_it_hands_over_what_is_not_sealed(tmp_path):
    with ChatServer(swayed_answer, latency=0.05) as server:
        shared = Shared(tmp_path / "study", (tmp_path / "objects").as_uri(), server)
        actor = Actor(shared.posting([0]), ELSEWHERE)
        leader = Taker(shared, actor, [0])
        leader.lead(until=Settled)
        actor.hear(Stop())
        ended = leader.lead()
    [left] = leader.said(Left)
    assert ended.error is None
    assert 0 < len(left.rows) <= len(server.answered)


def test_a_store_that_fails_when_a_shard_is_delivered_loses_no_answer(shared, monkeypatch):
    def fail(*_):
        raise StoreError("out of order")

    posting = shared.posting([0])
    monkeypatch.setattr(Depot, "deliver", fail)
    leader = Taker(shared, Actor(posting, ELSEWHERE), [0])
    ended = leader.lead()
    assert str(ended.error) == "out of order"
    [left] = leader.said(Left)
    assert len(left.rows) == 28


def test_without_a_leading_process_it_ends_and_leaves_its_delivery(shared, monkeypatch):
    monkeypatch.setattr(actors, "BEAT", 0.05)
    monkeypatch.setattr(actors, "SILENCE", 2.0)
    actor = Actor(shared.posting([0]), ELSEWHERE)
    # It hears that a shard was delivered, and is gone before it can answer.
    Leader(actor, [0]).lead(until=Delivered)
    assert wait_until(lambda: not any(thread.name == "umpirical-actor" for thread in threading.enumerate()))
    assert actor._stopped.is_set()
    assert shared.depot.take_up(shared.store) == []
    assert shared.store.sealed() == [(0, 0)]


@pytest.mark.parametrize("executor", ["local", "batch"])
def test_other_executors_refuse_it(executor):
    with pytest.raises(UsageError, match=f"the executor {executor} uses only this machine") as refused:
        factory_of(executor, "s3://bucket/prefix")
    assert "--executor ray" in refused.value.fix
    assert factory_of(executor) is EXECUTORS.get(executor)


def said_by_command(folder, *words):
    study = write_study(folder, "http://127.0.0.1:9/v1")
    command = [sys.executable, "-m", "umpirical", "run", str(study), "--yes", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert not (folder / "runs").exists()
    return done.stdout + done.stderr


def test_a_command_with_another_executor_refuses_before_anything_is_made(tmp_path):
    said = said_by_command(tmp_path, "--trust", "--through", "s3://bucket/prefix")
    assert "the executor local uses only this machine" in said


def test_a_command_with_credentials_is_refused_before_anybody_can_interrupt_it(tmp_path):
    said = said_by_command(tmp_path, "--executor", "ray", "--through", "s3://AKIA:wJalrXUtnFEMI@bucket/prefix")
    assert "URI contains credentials" in said
    assert "wJalrXUtnFEMI" not in said
