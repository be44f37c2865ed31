"""The kit for executors: the one that ships keeps every promise, and a broken one is caught by its promise."""

import shutil
from dataclasses import replace
from typing import get_args

import pytest

from umpirical.models.spec import Calling
from umpirical.runs.batches import BatchExecutor, Polling
from umpirical.runs.executor import EXECUTORS
from umpirical.runs.local import LocalExecutor
from umpirical.testing.executors import Promise, check_executor


def test_the_executor_that_ships_keeps_every_promise():
    assert EXECUTORS.names() == ["local", "ray", "batch"]
    check_executor(EXECUTORS.get("local"))


class Quick(BatchExecutor):
    """The batch executor that ships, which asks a server on loopback more often."""

    def __init__(self, calling):
        super().__init__(calling, polling=Polling(first=0.01, growth=1.0))


def test_the_batch_executor_keeps_those_of_batches():
    assert EXECUTORS.get("batch") is BatchExecutor
    check_executor(Quick)


class TakesAnyJudge(Quick):
    @staticmethod
    def check(judge): ...


def test_it_keeps_them_in_two_processes_as_well():
    check_executor(lambda calling: LocalExecutor(replace(calling, processes=2)))


class Skips(LocalExecutor):
    def run(self, shards, call, store, watcher):
        return super().run([shard for shard in shards if shard == 0], call, store, watcher)


class SaysNothing(LocalExecutor):
    def run(self, shards, call, store, watcher):
        super().run(shards, call, store, watcher)
        return []


class AsksOtherwise(LocalExecutor):
    def run(self, shards, call, store, watcher):
        return super().run(shards, replace(call, seed=call.seed + 1), store, watcher)


class Silent(LocalExecutor):
    def run(self, shards, call, store, watcher):  # noqa: ARG002  # that is what is wrong with it
        class Deaf:
            def resumed(self, trials): ...

            def settled(self, outcome, response): ...

        return super().run(shards, call, store, Deaf())


class AsksAnew(LocalExecutor):
    def run(self, shards, call, store, watcher):
        if len(shards) > 1:
            shutil.rmtree(store.folder / "responses")
        return super().run(shards, call, store, watcher)


class TakesAll(LocalExecutor):
    def run(self, shards, call, store, watcher):  # noqa: ARG002
        return super().run(range(store.plan_size()[1]), call, store, watcher)


class StopsAtTheFirstFailure(LocalExecutor):
    def run(self, shards, call, store, watcher):
        receipts = super().run(shards, call, store, watcher)
        if any(receipt.failed for receipt in receipts):
            raise RuntimeError("a trial failed")
        return receipts


class Forgets(LocalExecutor):
    """That a judge remembers."""

    def run(self, shards, call, store, watcher):
        capabilities = call.judge.capabilities.__class__()
        judge = call.judge.model_copy(update={"capabilities": capabilities})
        return super().run(shards, replace(call, judge=judge), store, watcher)


class Queues(LocalExecutor):
    def __init__(self, calling):
        super().__init__(replace(calling, concurrency=1))


class Spends(LocalExecutor):
    def __init__(self, calling):
        super().__init__(Calling(calling.concurrency))


BROKEN = [
    ("everything", Skips),
    ("receipts", SaysNothing),
    ("no difference", AsksOtherwise),
    ("told", Silent),
    ("idempotent", AsksAnew),
    ("part by part", TakesAll),
    ("failures", StopsAtTheFirstFailure),
    ("one at a time", Forgets),
    ("in parallel", Queues),
    ("the cap", Spends),
    ("refuses", TakesAnyJudge),
]


@pytest.mark.parametrize(("promise", "executor"), BROKEN)
def test_a_broken_promise_is_named(promise, executor):
    with pytest.raises(AssertionError, match=f"^{promise}: "):
        check_executor(executor)


def test_no_promise_goes_untried():
    assert {promise for promise, _ in BROKEN} == set(get_args(Promise))
