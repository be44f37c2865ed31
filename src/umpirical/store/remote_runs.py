"""A run as seen by a machine that does not share its folder: read from its depot, sealed in a temporary folder."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from umpirical.store.depots import Access, Delivery, Depot, Stock
from umpirical.store.runs import Receipt, RunStore


class RemoteRun(RunStore):
    """The record of one run, as far as one asker needs it and adds to it."""

    def __init__(self, folder: Path, access: Access, *, process: int, deliver: Callable[[Delivery], None]) -> None:
        """`folder` is this asker's own. `deliver` tells the leading process, and raises if it refuses."""
        super().__init__(folder / "run", process=process)
        self._depot, self._deliver = Depot.at(access), deliver
        # In the names of what it puts, so that no two askers ever write the same object.
        self._asker = uuid4().hex
        self._stock = Stock(self._depot, access, folder)
        self.stimuli = folder / "stimuli"

    def fetch_shard(self, shard: int) -> None:
        """Fetches what is read while asking a shard."""
        self._stock.fetch_shard(shard)

    def seal_rows(self, shard: int, generation: int, rows: Sequence[Mapping[str, Any]]) -> Receipt:
        """Seals here, and delivers. Unless it arrives, it is not sealed: the rows are still in the journal."""
        receipt = super().seal_rows(shard, generation, rows)
        try:
            self._deliver(self._depot.deliver(self._asker, receipt, self._responses(shard, generation)))
        except BaseException:
            self._receipt(shard, generation).unlink()
            self._responses(shard, generation).unlink()
            raise
        return receipt
