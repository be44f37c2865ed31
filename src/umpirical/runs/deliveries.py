"""Deliveries of a run that machines share through object storage: what the leading process does with its depot."""

from collections.abc import Collection, Sequence

from umpirical.domain.errors import StoreError
from umpirical.models.adapters.catalogue import ADAPTERS
from umpirical.runs.call import CallSpec
from umpirical.runs.executor import Told, Watcher
from umpirical.store.depots import Access, Delivery, Depot
from umpirical.store.runs import RunStore
from umpirical.store.snapshots import snapshot


class Deliveries:
    """Takes what askers put into the depot of a run. For the process that holds the run's lock."""

    def __init__(self, uri: str, store: RunStore, watcher: Watcher) -> None:
        self._store, self._watcher = store, watcher
        self._depot = Depot.of(uri, store)

    def take(self, delivery: Delivery) -> None:
        """Seals what an asker says it has delivered, unless its shard is sealed already. Raises if it is refused."""
        self._depot.take(delivery, self._store)

    def take_up(self, shards: Collection[int] | None = None) -> None:
        """Takes what was delivered while nobody listened, of some shards or of all, and tells what is refused."""
        for why in self._depot.take_up(self._store, shards):
            self._tell(f"{why}; unless its shard is sealed, it is asked again")

    def not_answered(self, shards: Sequence[int]) -> list[int]:
        """Returns the shards that have questions without an answer: nothing of the others has to be put anywhere."""
        left = []
        with snapshot(self._store) as now:
            for shard in shards:
                if now.is_answered(shard):
                    self._watcher.resumed(self._store.planned(shard))
                else:
                    left.append(shard)
        return left

    def stock(self, call: CallSpec, shards: Sequence[int]) -> Access:
        """Puts what is read while asking some shards, and returns what to tell askers."""
        model = call.judge.model
        simulated = model is not None and ADAPTERS.get(model.adapter).simulated
        return self._depot.stock(self._store, call.stimulus_set, shards, every_stimulus=simulated)

    def end(self) -> None:
        """Takes what is left, and removes the depot. If the store fails, both are left to the next command."""
        try:
            self.take_up()
            self._depot.close(self._store)
        except StoreError as error:
            self._tell(f"left in object storage: {error}")

    def _tell(self, sentence: str) -> None:
        if isinstance(self._watcher, Told):
            self._watcher.told(sentence)
