"""A run as it was at one moment: read by any process, also while another one asks, also without permission to write.

The journal is opened first, and keeps its view of the rows; then the sealed files are listed. What is sealed in between
is seen twice, and never missed; what is sealed later is not seen.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache

from umpirical.domain.errors import StoreError
from umpirical.domain.responses import Response
from umpirical.store.journal import Journal, JournalViews
from umpirical.store.manifests import Damaged
from umpirical.store.runs import Receipt, RunStore
from umpirical.store.schemas import response_from_row

SHARDS_KEPT = 2
"""Shards whose responses stay in memory, for later shards that share their questions."""


class RunSnapshot:
    """The responses of a run at one moment."""

    def __init__(self, store: RunStore, journal: Journal | JournalViews) -> None:
        self.store = store
        self._journal = journal
        # A file without a receipt whose rows are in the journal was being written by a process that was killed.
        drafts = journal.counts()
        self._sealed: dict[int, list[int]] = {}
        """The generations of each shard."""
        for shard, generation in store.sealed():
            if (shard, generation) not in drafts or store.has_receipt(shard, generation):
                self._sealed.setdefault(shard, []).append(generation)
        self._receipt = cache(store.receipt)
        self._shared_shard = lru_cache(maxsize=SHARDS_KEPT)(self._read_shard)

    def receipts(self, shard: int | None = None) -> list[Receipt]:
        shards = self._sealed if shard is None else [shard]
        return [self._receipt(each, generation) for each in shards for generation in self._sealed.get(each, ())]

    def next_generation(self, shard: int) -> int:
        return max((generation + 1 for generation in self._sealed.get(shard, ())), default=0)

    def is_answered(self, shard: int) -> bool:
        """Whether the sealed files of a shard answer every question that it asks.

        By its receipts and the plan: each file is held to its digest, and none is read.
        """
        receipts = self.receipts(shard)
        answered, asked = sum(receipt.answered for receipt in receipts), self.store.asked(shard)
        if answered > asked:
            raise Damaged(f"the receipts of shard {shard} list {answered:,} answers to {asked:,} questions")
        if answered < asked or not receipts:
            return False
        for receipt in receipts:
            self.store.check_counts(receipt)
        return True

    def counts(self) -> tuple[int, int]:
        """Returns how many trials have an answer, and how many only a failure. Reads no responses."""
        receipts = self.receipts()
        answered = sum(receipt.answered for receipt in receipts)
        # Each generation asks everything again that failed in the one before.
        last = {receipt.shard: receipt for receipt in receipts}
        failed = sum(receipt.failed for receipt in last.values())
        for (shard, generation), (found, lost) in self._journal.counts().items():
            if generation not in self._sealed.get(shard, ()):
                answered, failed = answered + found - lost, failed + lost - (found if shard in last else 0)
        return answered, failed

    def progress(self) -> dict[int, tuple[object, ...]]:
        """Returns a value for each shard that was begun. It changes whenever an answer of the shard is added."""
        found: dict[int, list[object]] = {shard: list(generations) for shard, generations in self._sealed.items()}
        for (shard, generation), counts in sorted(self._journal.counts().items()):
            if generation not in self._sealed.get(shard, ()):
                found.setdefault(shard, []).append((generation, *counts))
        return {shard: tuple(found[shard]) for shard in sorted(found)}

    def responses(self, shard: int) -> dict[str, Response]:
        """Returns every response to a trial of this shard, sealed or still in the journal, or asked in another one."""
        found = self._read_shard(shard)
        for trial_id, owner in self.store.asked_elsewhere(shard).items():
            if (response := self._shared_shard(owner).get(trial_id)) is not None:
                found[trial_id] = response
        return found

    def some_responses(self, shard: int, trials: Collection[str]) -> dict[str, Response]:
        """Returns the responses to these trials of a shard, which takes less than all of them."""
        elsewhere, found = self.store.asked_elsewhere(shard), dict[str, Response]()
        for asked_in in sorted({elsewhere.get(trial_id, shard) for trial_id in trials}):
            for receipt in self.receipts(asked_in):
                for row in self.store.rows(receipt, trials):
                    _take(found, response_from_row(row))
            for response in self._journal.responses(asked_in):
                if response.trial_id in trials and found.get(response.trial_id) != response:
                    _take(found, response)
        return found

    def own_responses(self, shard: int) -> dict[str, Response]:
        """Returns every response to a question that this shard asks itself."""
        return self._read_shard(shard)

    def walk(self) -> Iterator[tuple[int, dict[str, Response]]]:
        """Yields every shard of the plan, with all its responses so far; nothing while there is no complete plan."""
        size = self.store.plan_size()
        for shard in range(size[1] if size else 0):
            yield shard, self.responses(shard)

    def _read_shard(self, shard: int) -> dict[str, Response]:
        found: dict[str, Response] = {}
        for receipt in self.receipts(shard):
            for row in self.store.rows(receipt):
                _take(found, response_from_row(row))
        for response in self._journal.responses(shard):
            if found.get(response.trial_id) != response:
                _take(found, response)
        return found


@contextmanager
def snapshot(store: RunStore) -> Iterator[RunSnapshot]:
    """Opens a run as it is now. Every reading of one report goes through one snapshot."""
    journal = JournalViews(store.journals())
    try:
        yield RunSnapshot(store, journal)
    finally:
        journal.close()


def started(store: RunStore) -> bool:
    """Whether anything of a run was ever answered."""
    with snapshot(store) as now:
        return any(now.counts())


def _take(found: dict[str, Response], response: Response) -> None:
    earlier = found.get(response.trial_id)
    if earlier is not None and earlier.failure is None:
        raise StoreError(
            f"trial {response.trial_id} has two answers", fix="keep only one of the two files that contain it"
        )
    found[response.trial_id] = response
