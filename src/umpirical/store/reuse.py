"""Reuses answers from other runs: the same question is never paid for twice.

A trial's id is the digest of what is sent, so an answer to the same trial in another run is also an answer here.
Failures are not answers. A reused answer costs nothing, and says where it comes from.
"""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from umpirical.domain.errors import StoreError
from umpirical.domain.responses import Response
from umpirical.store.manifests import check_file, file_sha256, read_manifest, write_manifest
from umpirical.store.parquet import read_rows
from umpirical.store.runs import RunStore
from umpirical.store.schemas import response_from_row
from umpirical.store.snapshots import RunSnapshot, snapshot
from umpirical.store.sql import open_duckdb, quoted_glob

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

    Done once: the result appears completely or, if this is killed, is looked up again. Every file is held to its
    receipt first; nothing is taken from a run in which one is not what was sealed.
    """
    if (store.folder / "reused").exists():
        return
    sealed: list[Path] = []
    excluded: dict[str, str] = {}
    for other in others:
        try:
            sealed += _checked(other)
        except StoreError as error:
            excluded[other.folder.name] = str(error)
    if not sealed and not excluded:
        return
    target = store.folder / "reused.part"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    if sealed:
        query = _FIND.format(
            plan=quoted_glob(store.folder / "plan", "*.parquet"),
            responses=", ".join(quoted_glob(path, "") for path in sealed),
            target=quoted_glob(target, ""),
        )
        with open_duckdb(spill=store.folder / "spill") as db:
            db.execute(query)
    _describe(target, excluded)
    target.rename(store.folder / "reused")


def reused_answers(store: RunStore, shard: int) -> list[Response]:
    """Returns the answers found for one shard, in order of trial id."""
    found = []
    for path in reused_files(store, shard):
        for row in read_rows(path):
            taken = {**row, "cost": "0", "attempts": 0, "rate_limited": 0, "price_table": f"reused from {row['run']}"}
            found.append(response_from_row(taken))
    return sorted(found, key=lambda response: response.trial_id)


def reused_files(store: RunStore, shard: int) -> list[Path]:
    """Returns the files of the answers found for one shard, each held to its digest."""
    files = sorted((store.folder / "reused" / f"shard={shard}").glob("*.parquet"))
    if digests := _manifest(store).get("files", {}):
        for path in files:
            check_file(path, digests.get(f"{path.parent.name}/{path.name}", ""), lost="answers from other runs")
    return files


def answered_trials(store: RunStore) -> Iterator[tuple[int, set[str] | None]]:
    """Yields every shard of the plan, with the trials that have an answer, from here or reused from another run.

    None stands for all of them: then nothing but receipts had to be read.
    """
    with snapshot(store) as now:
        size = store.plan_size()
        shards = range(size[1] if size else 0)
        answered = [now.is_answered(shard) for shard in shards]
        whole = all(answered)
        for shard in shards:
            # What an earlier shard asks may be open where everything else is answered.
            if whole or (answered[shard] and not store.asked_elsewhere(shard)):
                yield shard, None
            else:
                yield shard, _answered(now, shard)


def _answered(now: RunSnapshot, shard: int) -> set[str]:
    found = {trial_id for trial_id, response in now.responses(shard).items() if response.failure is None}
    return found.union(response.trial_id for response in reused_answers(now.store, shard))


def reused_counts(store: RunStore) -> dict[str, int]:
    """Returns how many answers were found in which other run."""
    return dict(_manifest(store).get("runs", {}))


def excluded_runs(store: RunStore) -> dict[str, str]:
    """Returns the runs whose answers were not taken over because they are damaged, each with the damage."""
    return dict(_manifest(store).get("excluded", {}))


def _checked(store: RunStore) -> list[Path]:
    """Returns the sealed files of a run, each held to its receipt."""
    with snapshot(store) as now:
        return [store.check(receipt) for receipt in now.receipts()]


def _describe(folder: Path, excluded: dict[str, str]) -> None:
    counts: dict[str, int] = {}
    files = sorted(folder.glob("shard=*/*.parquet"))
    for path in files:
        for row in read_rows(path, ["run"]):
            counts[row["run"]] = counts.get(row["run"], 0) + 1
    digests = {f"{path.parent.name}/{path.name}": file_sha256(path) for path in files}
    write_manifest(folder / "reused.json", {"runs": counts, "excluded": excluded, "files": digests})


def _manifest(store: RunStore) -> dict[str, Any]:
    """What was found, and where. Nothing has been looked up yet, or the first format had none, if it is empty."""
    path = store.folder / "reused" / "reused.json"
    return read_manifest(path) if path.exists() else {}
