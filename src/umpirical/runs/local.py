"""The local executor: this machine, in one process or in several, with as many calls in flight as requested."""

from collections.abc import Sequence

from umpirical.models.spec import Calling
from umpirical.runs.asking import GIVE_UP_AFTER, ask_shards
from umpirical.runs.call import CallSpec
from umpirical.runs.executor import Watcher
from umpirical.runs.loop import run_on_loop
from umpirical.runs.processes import ask_together
from umpirical.runs.together import Together, why_alone
from umpirical.store.batches import refuse_in_flight
from umpirical.store.runs import Receipt, RunStore


class LocalExecutor:
    """Asks on this machine. If killed, it loses at most the calls in flight and the commits in progress."""

    def __init__(self, calling: Calling, *, give_up_after: int = GIVE_UP_AFTER) -> None:
        """`give_up_after` has the same meaning as in `Workers`."""
        self._calling = calling
        self._give_up_after = give_up_after

    def run(self, shards: Sequence[int], call: CallSpec, store: RunStore, watcher: Watcher) -> list[Receipt]:
        calling, give_up_after = self._calling, self._give_up_after
        # A process without a shard, or without a call, would have nothing to do.
        processes = min(calling.processes, len(shards), calling.concurrency)
        if call.judge.loads_model:
            # Another process would load the model again, into the same memory.
            processes = 1
        with store.locked():
            store.tidy()
            refuse_in_flight(store.folder)
            if processes > 1 and not why_alone(call, calling):
                together = Together(tuple(shards), call, store, calling, processes, give_up_after)
                return run_on_loop(ask_together(together, watcher))
            return run_on_loop(ask_shards(shards, call, store, watcher, calling=calling, give_up_after=give_up_after))
