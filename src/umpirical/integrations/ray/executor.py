"""The Ray executor: actors of a cluster ask the run together, and this process leads them.

    leads    this process: holds the lock of the run and the budget, hands out shards, and passes on what settles
    asks     every actor: takes shards one after another, and seals them in the run's folder, which all machines share
    slows    every actor, as soon as a server has asked one of them for less

Machines that share no folder share a depot in object storage instead (`through`): every actor reads the run from there
and delivers there what it has sealed, and this process takes that into the run's folder.

An actor that is lost is replaced, and its shards are given to the one in its place; one that is lost too often stops
the run. The cluster is the one at `RAY_ADDRESS`; without that, one is started on this machine, and stopped at the end.
"""

import asyncio
import os
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import uuid4

from umpirical.domain.errors import UsageError
from umpirical.integrations.object_storage.depots import Access, Deliveries, Delivery
from umpirical.integrations.object_storage.objects import check_uri
from umpirical.integrations.ray.actor import (
    Actor,
    Answer,
    Delivered,
    Given,
    Held,
    Left,
    Posting,
    PushedBack,
    Renewal,
    Stop,
    Taken,
    Wanted,
    Word,
)
from umpirical.models.pace import RelayedPushBacks
from umpirical.models.spec import ADAPTERS, Calling
from umpirical.runs.asking import GIVE_UP_AFTER, ask_shards
from umpirical.runs.assignments import Ended, Resumed, Settled
from umpirical.runs.call import CallSpec
from umpirical.runs.executor import ExecutorFactory, Watcher
from umpirical.runs.local import LocalExecutor
from umpirical.runs.loop import run_on_loop
from umpirical.runs.together import Hearing, ProcessLost, Together, begun, until_all_end, why_alone
from umpirical.store.batches import refuse_in_flight
from umpirical.store.budget import Booked
from umpirical.store.runs import Receipt, RunStore

# Under `uv run`, Ray would give every actor a copy of the working folder and an environment of its own, made over the
# network; where that fails, actors start and end for minutes. Ours find what this process finds. Ray reads this when it
# is imported.
os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")

try:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError:
    raise UsageError("the executor ray requires the `ray` extra", fix="pip install 'umpirical[ray]'") from None

MOST_LOSSES = 3
"""How often an actor may be lost in one place: a judge that brings its process down does so wherever it is asked."""

THREADS = 4
"""Of an actor, for what is said to it: one waits for its words, and the others are there at once."""


class RayExecutor:
    """Asks on a Ray cluster. If an actor is lost, its calls in flight are; on another machine, its shard as well."""

    def __init__(self, calling: Calling, *, give_up_after: int = GIVE_UP_AFTER, through: str = "") -> None:
        """`give_up_after` has the same meaning as in `Workers`; `through` is the URI of object storage, if any."""
        self._calling = calling
        self._give_up_after = give_up_after
        self._through = through

    @classmethod
    def through(cls, uri: str) -> ExecutorFactory:
        check_uri(uri)
        return partial(cls, through=uri)

    def run(self, shards: Sequence[int], call: CallSpec, store: RunStore, watcher: Watcher) -> list[Receipt]:
        calling = self._calling
        if why_alone(call, calling):
            return LocalExecutor(calling, give_up_after=self._give_up_after).run(shards, call, store, watcher)
        with store.locked():
            store.tidy()
            refuse_in_flight(store.folder)
            if not self._through:
                return self._ask(shards, call, store, watcher)
            deliveries = Deliveries(self._through, store, watcher)
            deliveries.take_up()
            return self._ask(deliveries.not_answered(shards), call, store, watcher, deliveries)

    def _ask(
        self,
        shards: Sequence[int],
        call: CallSpec,
        store: RunStore,
        watcher: Watcher,
        deliveries: Deliveries | None = None,
    ) -> list[Receipt]:
        calling = self._calling
        together = Together(tuple(shards), call, store, calling, calling.processes, self._give_up_after)
        mine, rest = begun(together)
        # A place without a shard, or without a call, would have nothing to do.
        actors = min(calling.processes, len(rest), calling.concurrency - bool(mine))
        if actors < 1:
            if deliveries is not None:
                deliveries.end()
            asking = ask_shards(shards, call, store, watcher, calling=calling, give_up_after=self._give_up_after)
            return run_on_loop(asking)
        together = replace(together, processes=actors + bool(mine))
        access = deliveries.stock(call, rest) if deliveries is not None else None
        if call.judge.model is not None:
            # What this process has loaded for a preflight may be on the GPU that an actor is to have.
            ADAPTERS.get(call.judge.model.adapter).release()
        with _connected(actors):
            _check_gpus(_gpus(call), actors)
            return run_on_loop(_Cluster(together, watcher, deliveries, access).ask(mine, rest, actors))


@contextmanager
def _connected(actors: int) -> Iterator[None]:
    """Connects to the cluster, unless this process is connected already."""
    if ray.is_initialized():
        yield
        return
    # Nothing is reported about this use of Ray.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # A judge may print; standard output is for results.
    quiet: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    if not (named := os.environ.get("RAY_ADDRESS")):
        quiet |= {"address": "local", "num_cpus": actors, "include_dashboard": False}
    try:
        try:
            ray.init(**quiet)
        except Exception as error:
            said = str(error).strip().partition("\n")[0]
            raise UsageError(
                f"no Ray cluster at {named}: {said}" if named else f"cannot start a Ray cluster here: {said}",
                fix="check whether `ray status` finds a cluster at RAY_ADDRESS"
                if named
                else "start one with `ray start --head`, and set RAY_ADDRESS",
            ) from error
        yield
    finally:
        ray.shutdown()


def _gpus(call: CallSpec) -> float:
    model = call.judge.model
    return 0.0 if model is None else ADAPTERS.get(model.adapter).gpus(model)


def _check_gpus(each: float, actors: int) -> None:
    """Raises UsageError for actors that Ray would never place: it would wait for their GPUs without an end."""
    there = float(ray.cluster_resources().get("GPU", 0))
    if each * actors > there:
        raise UsageError(
            f"{actors} actors with {each:g} GPUs each are needed, but the cluster has {there:g} GPUs",
            fix="lower --processes, or tensor_parallel_size of the model; for a model on CPUs, use model_args: {gpus: "
            "0}",
        )


class _Cluster:
    """The actors of a run, as seen by the leading process. Called on the event loop."""

    def __init__(
        self, together: Together, watcher: Watcher, deliveries: Deliveries | None, access: Access | None
    ) -> None:
        self.together, self.watcher, self.deliveries, self.access = together, watcher, deliveries, access
        self.machine: str = ray.get_runtime_context().get_node_id()
        # Named like a draft: what a killed process leaves is swept away.
        self.token = f".seen-{uuid4().hex}.tmp"
        self.left: list[Left] = []
        self._rest: deque[int] = deque()
        self._actors: list[_Place] = []
        self._own = RelayedPushBacks(together.processes, lambda seconds: self.push_back(None, seconds))
        self.before = set(together.store.sealed())

    async def ask(self, mine: Sequence[int], rest: Sequence[int], actors: int) -> list[Receipt]:
        together, store = self.together, self.together.store
        together.begin()
        self._rest.extend(rest)
        token = store.folder / self.token
        token.write_text(self.token, encoding="utf-8")
        try:
            self._actors = [_Place(self, number) for number in range(1, actors + 1)]
            calling = replace(together.part(actors), others=self._own)
            own = asyncio.create_task(
                ask_shards(
                    mine, together.call, store, self.watcher, calling=calling, give_up_after=together.give_up_after
                )
            )
            return await until_all_end(own, self._actors)
        finally:
            token.unlink(missing_ok=True)
            store.take_up_journals()
            # What one had begun, another one may have sealed.
            left = [row for left in self.left for row in left.rows if not store.has_receipt(row[0], row[1])]
            if left:
                store.take_up(left)
            if self.deliveries is not None:
                self.deliveries.end()

    def next_shard(self) -> int | None:
        return self._rest.popleft() if self._rest else None

    def push_back(self, teller: "_Place | None", seconds: float) -> None:
        """Tells everyone else that a server has asked for less."""
        if teller is not None:
            self._own.hear(seconds)
        for actor in self._actors:
            if actor is not teller:
                actor.tell(PushedBack(seconds))

    def receipts_since(self, shards: Sequence[int]) -> list[Receipt]:
        """Returns the receipts of what has been sealed of some shards since the run was taken up."""
        store = self.together.store
        new = [each for each in store.sealed() if each not in self.before and each[0] in shards]
        return [store.receipt(*each) for each in new if store.has_receipt(*each)]


class _Place:
    """One of the actors; after a loss, another one in its place. Called on the event loop, apart from `_read`."""

    def __init__(self, cluster: _Cluster, number: int) -> None:
        self._cluster, self._number = cluster, number
        self._loop = asyncio.get_running_loop()
        self.receipts: asyncio.Future[list[Receipt]] = self._loop.create_future()
        self._losses: list[str] = []
        self._done: list[Receipt] = []
        """Of actors that were lost."""
        self._again: deque[int] = deque()
        """Shards that the actor before had been given, and had not sealed."""
        self._stopping = False
        self._start(None)

    def _start(self, machine: str | None) -> None:
        """Makes an actor; on the machine that is named, where the journal of the one before is."""
        cluster, together = self._cluster, self._cluster.together
        self._given: list[int] = []
        self._told = self._owed = 0
        self._machine = ""
        self._lease = together.lease(self._number)
        # What each has spent is added up, so the one that was lost has a number of its own.
        number = self._number + len(self._losses) * 1_000_000
        self._hearing = Hearing(number, cluster.watcher, together.calling.meter.ledger)
        posting = Posting(
            together.assignment(self._number, place=self._number - 1),
            together.processes,
            self._lease is not None,
            cluster.machine,
            cluster.token,
            tuple(place for place in sys.path if place),
            cluster.access,
        )
        options: dict[str, Any] = {"num_cpus": 1, "max_concurrency": THREADS, "max_restarts": 0}
        if gpus := _gpus(together.call):
            options["num_gpus"] = gpus
        if machine is not None:
            options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(machine, soft=False)
        self._actor: Any = ray.remote(**options)(_RayActor).remote(posting)
        threading.Thread(target=self._read, args=(self._actor,), name=f"umpirical-{self._number}", daemon=True).start()

    def stop(self) -> None:
        self._stopping = True
        if self.receipts.done():
            return
        self.tell(Stop())
        if not self._machine:
            # It has not been placed yet, and may never be.
            ray.kill(self._actor)

    def tell(self, answer: Answer) -> None:
        # Of one that is lost, `_read` hears.
        with suppress(ray.exceptions.RayError):
            self._actor.hear.remote(answer)

    def _read(self, actor: Any) -> None:  # noqa: ANN401  # Ray has no type for it
        try:
            machine = ray.get(actor.machine.remote())
            self._loop.call_soon_threadsafe(self._placed, machine)
            while True:
                words = ray.get(actor.words.remote())
                self._loop.call_soon_threadsafe(self._hear, words)
                if words and isinstance(words[-1], Ended):
                    return
        except Exception as error:  # noqa: BLE001  # whatever it is, nothing more will be heard
            self._loop.call_soon_threadsafe(self._lose, error)

    def _placed(self, machine: str) -> None:
        self._machine = machine

    def _hear(self, words: Sequence[Word]) -> None:
        for word in words:
            match word:
                case Wanted():
                    self._give()
                case Renewal():
                    self._renewing = self._loop.create_task(self._renew(word))
                case PushedBack(seconds):
                    self._cluster.push_back(self, seconds)
                case Delivered(delivery):
                    self._taking = self._loop.create_task(self._take(delivery))
                case Left():
                    self._cluster.left.append(word)
                case Ended():
                    self._hearing.hear(word)
                    self._end(word)
                case Resumed() | Settled():
                    self._pass_on(word)

    def _give(self) -> None:
        shard = self._again.popleft() if self._again else self._cluster.next_shard()
        if shard is not None:
            self._given.append(shard)
        self.tell(Given(shard))

    async def _renew(self, wanted: Renewal) -> None:
        lease, cap = self._lease, self._cluster.together.calling.meter.ledger.cap
        assert lease is not None  # noqa: S101  # an actor without one asks for nothing
        try:
            held, booked = await asyncio.to_thread(
                lease.renew, wanted.bill, least=wanted.least, want=wanted.want, cap=cap
            )
            self.tell(Held(held, booked))
        except Exception as error:  # noqa: BLE001  # raised again where the money is wanted
            self.tell(Held(wanted.least, Booked(), error))

    async def _take(self, delivery: Delivery) -> None:
        deliveries = self._cluster.deliveries
        assert deliveries is not None  # noqa: S101  # an actor without a depot delivers nothing
        try:
            await asyncio.to_thread(deliveries.take, delivery)
            self.tell(Taken())
        except Exception as error:  # noqa: BLE001  # raised again where the answers are, which are kept there
            self.tell(Taken(error))

    def _pass_on(self, word: Resumed | Settled) -> None:
        """Passes on what is new: of a shard that is asked again, some was told by the actor that was lost."""
        count = word.trials if isinstance(word, Resumed) else len(word.trials)
        known = min(self._owed, count)
        self._owed -= known
        self._told += count
        if isinstance(word, Resumed):
            self._hearing.hear(Resumed(count - known))
        else:
            self._hearing.hear(Settled(word.trials[known:], word.bill))

    def _end(self, last: Ended) -> None:
        if self._lease is not None:
            self._lease.close(last.bill)
        ray.kill(self._actor)
        if last.error is not None:
            self.receipts.set_exception(last.error)
        else:
            self.receipts.set_result([*self._done, *last.receipts])

    def _lose(self, error: Exception) -> None:
        if self.receipts.done():
            return
        self._losses.append(str(error).strip().partition("\n")[0])
        # It may only be out of reach, and must not go on where another one asks.
        with suppress(ray.exceptions.RayError):
            ray.kill(self._actor)
        if self._lease is not None:
            self._lease.abandon()
        if self._cluster.deliveries is None:
            self._replace(error)
        else:
            self._replacing = self._loop.create_task(self._take_up_and_replace(self._cluster.deliveries, error))

    async def _take_up_and_replace(self, deliveries: Deliveries, error: Exception) -> None:
        """What it delivered last may not have been heard of."""
        try:
            await asyncio.to_thread(deliveries.take_up, set(self._given))
        except Exception as unreachable:  # noqa: BLE001  # raised again where the run is waited for
            self.receipts.set_exception(unreachable)
        else:
            self._replace(error)

    def _replace(self, error: Exception) -> None:
        """Puts another actor in the place of one that is lost, unless it is stopped anyway or was lost too often."""
        store = self._cluster.together.store
        sealed = self._cluster.receipts_since(self._given)
        finished = {receipt.shard for receipt in sealed}
        lost = [shard for shard in self._given if shard not in finished]
        self._done += sealed
        if self._stopping:
            self.receipts.set_result(self._done)
        elif len(self._losses) == MOST_LOSSES or not isinstance(error, ray.exceptions.RayActorError):
            self.receipts.set_exception(
                ProcessLost(
                    f"worker {self._number} was lost {len(self._losses)} times. Last cause: {self._losses[-1]}",
                    fix="run the same command again; finished parts are kept",
                )
            )
        else:
            # What the watcher knows of the shards that are asked again.
            known = self._told + self._owed - sum(map(store.planned, finished))
            beside = self._machine == self._cluster.machine and self._cluster.access is None
            self._again.extendleft(reversed(lost))
            self._start(self._machine if beside else None)
            self._owed = max(0, known)


class _RayActor(Actor):
    """The actor that knows which machine Ray has put it on."""

    def __init__(self, posting: Posting) -> None:
        self._name: str = ray.get_runtime_context().get_node_id()
        super().__init__(posting, self._name)

    def machine(self) -> str:
        return self._name
