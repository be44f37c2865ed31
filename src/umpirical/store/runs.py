"""One run on disk: its manifest, its plan, and all its responses.

    run.json                     what is measured, and with what
    plan/00003.parquet           the trials of shard 3
    journal.sqlite               responses of shards in progress
    responses/00003-0.parquet    the sealed responses of shard 3; -1, -2 hold answers to trials that had failed before
    judgments/00003.parquet      read from the responses by the judge's parser; can be deleted at any time

A sealed shard is immutable and named by the plan, so many workers can seal different shards of one run, and a folder
listing shows what is done. SIGKILL at any moment costs at most the calls in flight and the commit in progress.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from operator import itemgetter
from pathlib import Path
from typing import Any

from umpirical.domain.digests import Json
from umpirical.domain.errors import StoreError
from umpirical.domain.responses import Response
from umpirical.domain.trials import Trial
from umpirical.store.files import write_text
from umpirical.store.journal import Journal
from umpirical.store.lock import locked
from umpirical.store.parquet import read_metadata, read_rows, write_rows
from umpirical.store.schemas import (
    plan_schema,
    response_from_row,
    response_row,
    response_schema,
    trial_from_row,
    trial_row,
)

__all__ = ["RunStore"]

_SEALED = re.compile(r"(\d+)-(\d+)\.parquet")


class RunStore:
    """The record of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._manifest: Mapping[str, Any] | None = None

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What is measured, and with what; cached."""
        if self._manifest is None:
            self._manifest = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        return self._manifest

    def write_manifest(self, manifest: Json) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(self.folder / "run.json", json.dumps(manifest, indent=1) + "\n")
        self._manifest = None

    def locked(self) -> AbstractContextManager[None]:
        """Held while a run is asked."""
        return locked(self.folder, held=f"run {self.folder.name} is being asked by another process")

    # The plan

    def write_plan_shard(self, shard: int, trials: Sequence[tuple[Trial, int]]) -> None:
        """Writes trials, each with the part of the stimulus set that its stimulus is in."""
        (self.folder / "plan").mkdir(parents=True, exist_ok=True)
        rows = [trial_row(trial, part) for trial, part in trials]
        write_rows(self._plan(shard), rows, plan_schema())

    def finish_plan(self, trials: int, shards: int) -> None:
        """Marks the plan as complete; a run killed while planning plans again."""
        write_text(self.folder / "plan" / "plan.json", json.dumps({"trials": trials, "shards": shards}) + "\n")

    def plan_size(self) -> tuple[int, int] | None:
        """Returns (trials, shards), or None while there is no complete plan."""
        path = self.folder / "plan" / "plan.json"
        if not path.exists():
            return None
        size = json.loads(path.read_text(encoding="utf-8"))
        return size["trials"], size["shards"]

    def plan_shard(self, shard: int) -> Iterator[tuple[Trial, int]]:
        """Yields the trials of a shard, each with the part of the stimulus set that its stimulus is in."""
        for row in read_rows(self._plan(shard)):
            yield trial_from_row(row), row["stimulus_part"]

    # Responses

    def open_journal(self) -> Journal:
        """Opens the journal, dropping what a killed run had sealed but not yet removed from it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        journal = Journal(self.folder / "journal.sqlite")
        for shard, generation in self.sealed():
            journal.forget(shard, generation)
        return journal

    def started(self) -> bool:
        """Whether anything was ever answered."""
        if self.sealed():
            return True
        if not (self.folder / "journal.sqlite").exists():
            return False
        journal = self.open_journal()
        try:
            return journal.holds_any()
        finally:
            journal.close()

    def sealed(self) -> list[tuple[int, int]]:
        """Returns (shard, generation) of every sealed file."""
        found = (_SEALED.fullmatch(path.name) for path in (self.folder / "responses").glob("*.parquet"))
        return sorted((int(match[1]), int(match[2])) for match in found if match)

    def state(self, shard: int) -> tuple[int, int]:
        """Returns (next generation, failures to ask again) of a shard; (0, 0) if none of it is sealed.

        Each generation retries everything that failed in the one before, so the last one shows what still fails.
        """
        generations = [generation for part, generation in self.sealed() if part == shard]
        if not generations:
            return 0, 0
        last = max(generations)
        return last + 1, int(read_metadata(self._responses(shard, last))["failed"])

    def seal(self, shard: int, generation: int, responses: Sequence[Response]) -> str:
        """Writes the responses of a shard permanently and returns their digest."""
        return self.seal_rows(shard, generation, [response_row(response) for response in responses])

    def seal_rows(self, shard: int, generation: int, rows: Sequence[Mapping[str, Any]]) -> str:
        """Like `seal`, for responses that are already rows, as in the journal."""
        (self.folder / "responses").mkdir(exist_ok=True)
        digest = responses_digest((row["trial_id"], row["text"], row["failure"]) for row in rows)
        failed = sum(row["failure"] is not None for row in rows)
        meta = {"failed": str(failed), "sha256": digest}
        write_rows(self._responses(shard, generation), rows, response_schema(), metadata=meta)
        return digest

    def sealed_responses(self, shard: int) -> dict[str, Response]:
        """Returns the latest sealed response to each trial of a shard. An answer is final: two of them are an error."""
        found: dict[str, Response] = {}
        for part, generation in self.sealed():
            if part != shard:
                continue
            for row in read_rows(self._responses(shard, generation)):
                _take(found, response_from_row(row))
        return found

    def responses(self, shard: int, journal: Journal | None = None) -> dict[str, Response]:
        """Returns every response to a trial of this shard, sealed or still in the journal."""
        # The journal is read first: what another process seals meanwhile is then seen twice rather than missed.
        unsealed = journal.responses(shard) if journal else []
        found = self.sealed_responses(shard)
        for response in unsealed:
            if found.get(response.trial_id) != response:
                _take(found, response)
        return found

    def walk(self) -> Iterator[tuple[int, dict[str, Response]]]:
        """Yields every shard of the plan, with all its responses so far; nothing while there is no complete plan."""
        size = self.plan_size()
        if size is None:
            return
        journal = self.open_journal()
        try:
            for shard in range(size[1]):
                yield shard, self.responses(shard, journal)
        finally:
            journal.close()

    def _plan(self, shard: int) -> Path:
        return self.folder / "plan" / f"{shard:05d}.parquet"

    def _responses(self, shard: int, generation: int) -> Path:
        return self.folder / "responses" / f"{shard:05d}-{generation}.parquet"


def responses_digest(answers: Iterable[tuple[str, str | None, str | None]]) -> str:
    """Returns the SHA-256 over (trial id, text, failure) of every response, in order of trial id."""
    state = hashlib.sha256()
    for trial_id, text, failure in sorted(answers, key=itemgetter(0)):
        answer = text if failure is None else f"\0{failure}"
        state.update(f"{trial_id}\0{answer}\n".encode("utf-8", "surrogatepass"))
    return state.hexdigest()


def _take(found: dict[str, Response], response: Response) -> None:
    earlier = found.get(response.trial_id)
    if earlier is not None and earlier.failure is None:
        raise StoreError(f"trial {response.trial_id} has two answers", fix="keep one of the two files with it")
    found[response.trial_id] = response
