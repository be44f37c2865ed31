"""One run on disk: its manifest, its plan, and all its responses.

    run.json                     what is measured, and with what
    plan/00003.parquet           the trials of shard 3
    plan/plan.json               how many there are, with the digest of every file; the plan is complete
    journal.sqlite               responses of shards in progress
    responses/00003-0.parquet    the sealed responses of shard 3; -1, -2 hold answers to trials that had failed before
    responses/00003-0.json       its receipt: how many, and the digest of the file
    judgments.parquet            read from the responses by the judge's parser; can be deleted at any time

One process asks, and any number read: see `snapshots.py`. A sealed shard is immutable and named by the plan, so many
workers can seal different shards of one run. SIGKILL at any moment costs at most the calls in flight and the commit in
progress. Whatever is read is held to its digest.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from umpirical.domain.digests import Json
from umpirical.domain.responses import Response
from umpirical.domain.trials import Trial
from umpirical.store.files import sweep_drafts
from umpirical.store.journal import Journal
from umpirical.store.lock import locked
from umpirical.store.manifests import Damaged, check_file, file_sha256, read_manifest, write_manifest
from umpirical.store.parquet import read_metadata, read_rows, write_rows
from umpirical.store.schemas import (
    plan_schema,
    response_row,
    response_schema,
    trial_from_row,
    trial_row,
)

__all__ = ["Receipt", "RunStore", "responses_digest"]

_SEALED = re.compile(r"(\d+)-(\d+)\.(parquet|json)")


@dataclass(frozen=True, slots=True)
class Receipt:
    """What is in a sealed file."""

    shard: int
    generation: int
    answered: int
    failed: int
    sha256: str
    """Of the answers, whatever file they are in."""
    file_sha256: str = ""
    """Of the file; empty if it was sealed without a receipt, as in the first format."""

    @property
    def lost(self) -> str:
        """What is lost with the file, in words."""
        return f"{self.answered:,} answers of shard {self.shard}"


class RunStore:
    """The record of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._manifest: Mapping[str, Any] | None = None
        self._plan_manifest: Mapping[str, Any] | None = None

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What is measured, and with what; cached."""
        if self._manifest is None:
            self._manifest = read_manifest(self.folder / "run.json")
        return self._manifest

    def write_manifest(self, manifest: Mapping[str, Json]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_manifest(self.folder / "run.json", manifest)
        self._manifest = None

    def locked(self) -> AbstractContextManager[None]:
        """Held while a run is asked."""
        return locked(self.folder, held=f"run {self.folder.name} is being asked by another process")

    # The plan

    def write_plan_shard(
        self, shard: int, trials: Sequence[tuple[Trial, int]], asked_in: Mapping[str, int] | None = None
    ) -> str:
        """Writes trials, each with the part of the stimulus set that its stimulus is in; returns the file's digest.

        `asked_in` has the trials that an earlier shard asks, and its number.
        """
        elsewhere = asked_in or {}
        (self.folder / "plan").mkdir(parents=True, exist_ok=True)
        rows = [trial_row(trial, part, elsewhere.get(trial.id, shard)) for trial, part in trials]
        write_rows(self._plan(shard), rows, plan_schema(), metadata={"elsewhere": str(len(elsewhere))})
        return file_sha256(self._plan(shard))

    def finish_plan(self, trials: int, digests: Sequence[str]) -> None:
        """Marks the plan as complete, given the digest of every shard; a run killed while planning plans again."""
        plan: dict[str, Json] = {"run": self._id, "trials": trials, "shards": len(digests), "files": list(digests)}
        write_manifest(self.folder / "plan" / "plan.json", plan)
        self._plan_manifest = None

    def plan_size(self) -> tuple[int, int] | None:
        """Returns (trials, shards), or None while there is no complete plan."""
        plan = self._read_plan()
        return None if plan is None else (plan["trials"], plan["shards"])

    def plan_shard(self, shard: int) -> Iterator[tuple[Trial, int]]:
        """Yields the trials of a shard, each with the part of the stimulus set that its stimulus is in."""
        for row in read_rows(self._checked_plan(shard)):
            yield trial_from_row(row), row["stimulus_part"]

    def asked_elsewhere(self, shard: int) -> dict[str, int]:
        """Returns the trials of a shard that an earlier shard asks, with its number."""
        path = self._checked_plan(shard)
        if read_metadata(path).get("elsewhere", "0") == "0":
            return {}
        rows = read_rows(path, ["trial_id", "asked_in"])
        return {row["trial_id"]: row["asked_in"] for row in rows if row["asked_in"] != shard}

    def _read_plan(self) -> Mapping[str, Any] | None:
        path = self.folder / "plan" / "plan.json"
        if self._plan_manifest is None and path.exists():
            plan = read_manifest(path)
            if plan.get("run", self._id) != self._id:
                raise Damaged(f"{path} is the plan of another run")
            trials, shards, files = plan.get("trials"), plan.get("shards"), plan.get("files")
            # A plan of the first format names no files.
            if not (_is_count(trials) and _is_count(shards) and (files is None or _are_names(files, shards))):
                raise Damaged(f"{path} is no plan")
            self._plan_manifest = plan
        return self._plan_manifest

    def _checked_plan(self, shard: int) -> Path:
        path, plan = self._plan(shard), self._read_plan() or {}
        if shard < len(digests := plan.get("files", [])):
            check_file(path, digests[shard], lost=f"the plan of shard {shard}")
        return path

    # Responses

    def open_journal(self) -> Journal:
        """Opens the journal for writing, which only the process that holds the lock may do.

        What a killed run had sealed but not yet removed is dropped, once it has been read back from the sealed file.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        journal = Journal(self.folder / "journal.sqlite")
        for (shard, generation), rows in journal.unsealed().items():
            if self.has_receipt(shard, generation) and self._holds(self.receipt(shard, generation), rows):
                journal.forget(shard, generation)
        return journal

    def tidy(self) -> None:
        """Removes what killed processes left behind half made."""
        for folder in (self.folder, self.folder / "plan", self.folder / "responses"):
            sweep_drafts(folder)

    def sealed(self) -> list[tuple[int, int]]:
        """Returns (shard, generation) of every sealed file."""
        found = (_SEALED.fullmatch(path.name) for path in (self.folder / "responses").glob("*-*.*"))
        return sorted({(int(match[1]), int(match[2])) for match in found if match})

    def has_receipt(self, shard: int, generation: int) -> bool:
        return self._receipt(shard, generation).exists()

    def receipt(self, shard: int, generation: int) -> Receipt:
        """Returns the receipt of a sealed file. One of the first format has none but its own metadata."""
        path = self._receipt(shard, generation)
        if not self.has_receipt(shard, generation):
            said = read_metadata(self._responses(shard, generation))
            failed, rows = int(said.get("failed", 0)), int(said.get("rows", -1))
            if rows < 0:
                rows = sum(1 for _ in read_rows(self._responses(shard, generation), ["trial_id"]))
            return Receipt(shard, generation, rows - failed, failed, said.get("sha256", ""))
        found = read_manifest(path)
        if (found.get("run"), found.get("shard"), found.get("generation")) != (self._id, shard, generation):
            raise Damaged(f"{path} is the receipt of another file")
        try:
            receipt = Receipt(**{name: value for name, value in found.items() if name != "run"})
        except TypeError as error:
            raise Damaged(f"{path} is no receipt: {error}") from None
        counts, digests = (receipt.answered, receipt.failed), [receipt.sha256, receipt.file_sha256]
        if not all(map(_is_count, counts)) or not _are_names(digests, 2):
            raise Damaged(f"{path} is no receipt")
        return receipt

    def seal(self, shard: int, generation: int, responses: Sequence[Response]) -> Receipt:
        """Writes the responses of a shard permanently and returns their receipt."""
        return self.seal_rows(shard, generation, [response_row(response) for response in responses])

    def seal_rows(self, shard: int, generation: int, rows: Sequence[Mapping[str, Any]]) -> Receipt:
        """Like `seal`, for responses that are already rows, as in the journal.

        The receipt comes last, after the file has been read back: until then, the rows are only in the journal.
        """
        (self.folder / "responses").mkdir(exist_ok=True)
        digest = responses_digest((row["trial_id"], row["text"], row["failure"]) for row in rows)
        failed = sum(row["failure"] is not None for row in rows)
        meta = {"failed": str(failed), "rows": str(len(rows)), "sha256": digest}
        path = self._responses(shard, generation)
        write_rows(path, rows, response_schema(), metadata=meta, read_back=True)
        receipt = Receipt(shard, generation, len(rows) - failed, failed, digest, file_sha256(path))
        write_manifest(self._receipt(shard, generation), {"run": self._id, **asdict(receipt)})
        return receipt

    def rows(self, receipt: Receipt) -> Iterator[dict[str, Any]]:
        """Yields the rows of a sealed file, which is held to its receipt."""
        yield from read_rows(self.check(receipt))

    def check(self, receipt: Receipt) -> Path:
        """Returns a sealed file. Raises Damaged if it is not what its receipt says."""
        path = self._responses(receipt.shard, receipt.generation)
        if receipt.file_sha256:
            check_file(path, receipt.file_sha256, lost=receipt.lost)
            return path
        rows = read_rows(path, ["trial_id", "text", "failure"])
        if responses_digest((row["trial_id"], row["text"], row["failure"]) for row in rows) != receipt.sha256:
            raise Damaged(f"{path} has been changed since it was written, and with it {receipt.lost}")
        return path

    def _holds(self, receipt: Receipt, rows: Sequence[Mapping[str, Any]]) -> bool:
        """Whether a sealed file can be read, and holds exactly these rows."""
        try:
            found = {row["trial_id"]: row for row in self.rows(receipt)}
        except Damaged:
            return False
        return len(found) == len(rows) and all(found.get(row["trial_id"]) == row for row in rows)

    @property
    def _id(self) -> str:
        return str(self.manifest.get("id", "")) if (self.folder / "run.json").exists() else ""

    def _plan(self, shard: int) -> Path:
        return self.folder / "plan" / f"{shard:05d}.parquet"

    def _responses(self, shard: int, generation: int) -> Path:
        return self.folder / "responses" / f"{shard:05d}-{generation}.parquet"

    def _receipt(self, shard: int, generation: int) -> Path:
        return self._responses(shard, generation).with_suffix(".json")


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _are_names(value: object, number: object) -> bool:
    """Whether a value is a list of that many texts."""
    return isinstance(value, list) and len(value) == number and all(isinstance(text, str) for text in value)


def responses_digest(answers: Iterable[tuple[str, str | None, str | None]]) -> str:
    """Returns the SHA-256 over (trial id, text, failure) of every response, in order of trial id."""
    state = hashlib.sha256()
    for trial_id, text, failure in sorted(answers, key=itemgetter(0)):
        answer = text if failure is None else f"\0{failure}"
        state.update(f"{trial_id}\0{answer}\n".encode("utf-8", "surrogatepass"))
    return state.hexdigest()
