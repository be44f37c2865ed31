"""Reuses answers from other runs: the same question is never paid for twice.

A trial's id is the digest of what is sent, so an answer to the same trial in another run is also an answer here.
Failures are not answers. A reused answer costs nothing, and says where it comes from.
"""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from umpirical.domain.responses import Response
from umpirical.store.parquet import read_rows
from umpirical.store.runs import RunStore
from umpirical.store.schemas import response_from_row
from umpirical.store.sql import open_duckdb, quoted_glob

__all__ = ["answered_trials", "find_answers", "reused_answers"]

# The file name of a plan file is its shard; if a trial has several answers, any of them will do.
_FIND = """
copy (
  select cast(parse_filename(p.filename, true) as integer) as shard, r.* exclude (filename),
    parse_path(r.filename)[-3] as run
  from read_parquet({plan}, filename = true) p
  join read_parquet([{responses}], filename = true) r using (trial_id)
  where r.failure is null
  qualify row_number() over (partition by r.trial_id) = 1
) to {target} (format parquet, partition_by (shard), overwrite_or_ignore)
"""


def find_answers(store: RunStore, others: Sequence[RunStore]) -> None:
    """Looks up every planned trial of a run among the sealed answers of `others`, and stores what it finds in the run.

    Done once: the result appears completely or, if this is killed, is looked up again.
    """
    sealed = [other.folder / "responses" for other in others if any((other.folder / "responses").glob("*.parquet"))]
    if not sealed or (store.folder / "reused").exists():
        return
    target = store.folder / "reused.part"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    query = _FIND.format(
        plan=quoted_glob(store.folder / "plan", "*.parquet"),
        responses=", ".join(quoted_glob(folder, "*.parquet") for folder in sealed),
        target=quoted_glob(target, ""),
    )
    with open_duckdb(spill=store.folder / "spill") as db:
        db.execute(query)
    target.rename(store.folder / "reused")


def reused_answers(store: RunStore, shard: int) -> list[Response]:
    """Returns the answers found for one shard, in order of trial id."""
    found = []
    for path in sorted(_folder(store, shard).glob("*.parquet")):
        for row in read_rows(path):
            taken = {**row, "cost": "0", "attempts": 0, "rate_limited": 0, "price_table": f"reused from {row['run']}"}
            found.append(response_from_row(taken))
    return sorted(found, key=lambda response: response.trial_id)


def answered_trials(store: RunStore) -> Iterator[tuple[int, set[str]]]:
    """Yields every shard of the plan, with the trials that have an answer, from here or reused from another run."""
    for shard, responses in store.walk():
        answered = {trial_id for trial_id, response in responses.items() if response.failure is None}
        answered.update(response.trial_id for response in reused_answers(store, shard))
        yield shard, answered


def _folder(store: RunStore, shard: int) -> Path:
    return store.folder / "reused" / f"shard={shard}"
