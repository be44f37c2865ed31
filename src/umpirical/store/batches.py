"""The batches of a run: what is at a provider, or may be.

    batches/5f0c....json     one batch: its entries by shard, and how far it is

A record is durable before anything of its batch is sent, and is changed only to say how far the batch has come:

    written     the provider may have heard of it; if so, it has the batch by our name
    uploaded    the entries are at the provider, which has not been told to work
    created     the provider works, and its id is known
    settled     its results are in the journal, and paid for

Only a settled batch is out of flight. Until then, nothing else asks its trials.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from umpirical.domain.errors import UsageError
from umpirical.store.files import sweep_drafts
from umpirical.store.manifests import Damaged, read_manifest, write_manifest

_NAME = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """One batch."""

    name: str
    """Ours: it is in the id of every entry and, where the protocol has a place for it, on the batch."""
    written_at: str
    """UTC, ISO 8601: no batch of this name is older."""
    entries: Mapping[str, tuple[int, ...]]
    """Shard and generation of each trial that is asked, by its id, in the order of the plan."""
    uploaded: str = ""
    """The provider's name for the entries, if they are sent before the batch is created."""
    id: str = ""
    """The provider's."""
    settled: str = ""
    """How it ended, in the provider's words; empty while it is in flight."""

    @classmethod
    def new(cls, entries: Mapping[str, tuple[int, int]]) -> "BatchRecord":
        return cls(uuid4().hex[:16], datetime.now(UTC).isoformat(), dict(entries))

    @property
    def moment(self) -> datetime:
        return datetime.fromisoformat(self.written_at)

    @property
    def shards(self) -> dict[int, int]:
        """The generation of each shard that has a trial in it."""
        return dict(self.entries.values())  # type: ignore[arg-type]  # pairs


class BatchRecords:
    """The records of one run. Written by the process that holds the run's lock."""

    def __init__(self, run: Path) -> None:
        self._folder, self._run = run / "batches", run.name

    def in_flight(self) -> list[BatchRecord]:
        """Returns the batches that are not settled, the oldest first."""
        found = [record for record in map(self._read, sorted(self._folder.glob("*.json"))) if not record.settled]
        return sorted(found, key=lambda record: (record.written_at, record.name))

    def write(self, record: BatchRecord, **changes: str) -> BatchRecord:
        """Makes a record durable, with changes if there are any; returns it as it is now."""
        if not self._folder.exists():
            self._folder.mkdir(parents=True)
        now = replace(record, **changes)  # type: ignore[arg-type]  # texts alone
        said: dict[str, Any] = asdict(now)
        said["entries"] = {trial_id: list(place) for trial_id, place in now.entries.items()}
        write_manifest(self._path(now.name), {"run": self._run, **said})
        return now

    def drop(self, record: BatchRecord) -> None:
        """Removes the record of a batch of which nothing was sent."""
        self._path(record.name).unlink(missing_ok=True)

    def tidy(self) -> None:
        sweep_drafts(self._folder)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _read(self, path: Path) -> BatchRecord:
        said = read_manifest(path)
        if said.pop("run", None) != self._run:
            raise Damaged(f"{path} is a batch of another run")
        try:
            record = BatchRecord(**{**said, "entries": {name: tuple(place) for name, place in said["entries"].items()}})
        except (TypeError, KeyError, AttributeError) as error:
            raise Damaged(f"{path} is not a valid batch: {error}") from None
        if not _NAME.fullmatch(record.name) or path != self._path(record.name) or not _are_places(record.entries):
            raise Damaged(f"{path} is not a valid batch")
        return record


def trials_in_flight(run: Path) -> set[str]:
    """Returns the trials that a batch asks whose results are not in yet: they are paid for, or will be."""
    return {trial_id for record in BatchRecords(run).in_flight() for trial_id in record.entries}


def refuse_in_flight(run: Path) -> None:
    """Raises UsageError if trials are in batches: asked in another way meanwhile, they would be paid for twice."""
    if flying := len(trials_in_flight(run)):
        raise UsageError(
            f"{flying:,} trials of run {run.name} are in batches at the provider",
            fix="collect their results with --executor batch",
        )


def _are_places(entries: Mapping[str, Any]) -> bool:
    return all(len(place) == 2 and all(type(part) is int for part in place) for place in entries.values())
