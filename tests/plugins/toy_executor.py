"""An executor in one file: the local one, a shard at a time, and a line in a log for each."""

from umpirical.runs.local import LocalExecutor

LOG = "shards.log"


class ShardByShard:
    """Asks shard after shard, so that never more than one is open."""

    def __init__(self, calling):
        self._local = LocalExecutor(calling)

    def run(self, shards, call, store, watcher):
        receipts = []
        for shard in shards:
            receipts += self._local.run([shard], call, store, watcher)
            with (store.folder / LOG).open("a") as log:
                log.write(f"{shard}\n")
        return receipts
