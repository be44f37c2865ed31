"""One run on disk: its manifest, its plan, and all its responses.

    run.json                     what is measured, and with what
    plan/00003.parquet           the trials of shard 3
    plan/plan.json               how many there are, how many each shard asks, and the digest of every file;
                                 the plan is complete
    plan/precision.json          how precise its measures will be; can be deleted at any time
    journal.sqlite               responses of shards in progress
    journal-1.sqlite             the same, by the first of the processes that ask together with the one that was started
    responses/00003-0.parquet    the sealed responses of shard 3; -1, -2 hold answers to trials that had failed before
    responses/00003-0.json       its receipt: how many, and the digest of the file
    depot.json                   where this run is in object storage, while machines without this folder ask it:
                                 see `integrations/object_storage/depots.py`
    batches/5f0c....json         a batch that is at a provider, or was: see `batches.py`
    judgments.parquet            read from the responses by the judge's parser; can be deleted at any time

One process asks, perhaps with others that it has started, and any number read: see `snapshots.py`. A sealed shard is
immutable and named by the plan, so many workers can seal different shards of one run. SIGKILL at any moment costs at
most the calls in flight and the commit in progress. Whatever is read is held to its digest.
"""

import hashlib
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict, dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from umpirical.domain.digests import Json, digest
from umpirical.domain.errors import StoreError
from umpirical.domain.responses import Response
from umpirical.domain.trials import Trial
from umpirical.store.files import drafted, sweep_drafts
from umpirical.store.journal import Journal
from umpirical.store.lock import joined, locked
from umpirical.store.manifests import Damaged, check_file, file_sha256, read_manifest, write_manifest
from umpirical.store.parquet import count_rows, read_metadata, read_rows, write_rows
from umpirical.store.schemas import (
    plan_schema,
    response_row,
    response_schema,
    trial_from_row,
    trial_row,
)

DEPOT = "depot.json"
"""The place of a run's depot, and the secret. Gone when the depot is, at every end but a kill."""

_SEALED = re.compile(r"(\d+)-(\d+)\.(parquet|json)")
_ANSWER = ["trial_id", "text", "failure"]


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

    def __init__(self, folder: Path, *, process: int = 0, journals: Path | None = None, once: bool = False) -> None:
        """`process` is the number of this one among those that ask the run together; 0 is the one that leads them.

        `journals` is where this process keeps its own, if not with the run: SQLite is not safe on a file system that
        machines share. With `once`, a shard that another process has sealed meanwhile is not sealed again.
        """
        self.folder = folder
        self._process = process
        self._journals = journals or folder
        self._once = once
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

    def has_depot(self) -> bool:
        """Whether there may be answers in object storage that this folder does not have."""
        return (self.folder / DEPOT).exists()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Held while a run is asked, by the process that leads. What killed processes have recorded is taken up."""
        with locked(self.folder, held=f"another process is working on run {self.folder.name}"):
            self.take_up_journals()
            yield

    def joined(self) -> AbstractContextManager[None]:
        """Held by every other process while it asks."""
        return joined(self.folder)

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

    def finish_plan(self, trials: int, digests: Sequence[str], asked: Sequence[int] | None = None) -> None:
        """Marks the plan as complete, given the digest of every shard; a run killed while planning plans again.

        `asked` has the number of questions that each shard asks: without it, whoever counts reads the plan.
        """
        plan: dict[str, Json] = {"run": self._id, "trials": trials, "shards": len(digests), "files": list(digests)}
        if asked is not None:
            plan["asked"] = list(asked)
        write_manifest(self.folder / "plan" / "plan.json", plan)
        self._plan_manifest = None

    def plan_size(self) -> tuple[int, int] | None:
        """Returns (trials, shards), or None while there is no complete plan."""
        plan = self._read_plan()
        return None if plan is None else (plan["trials"], plan["shards"])

    def plan_files(self) -> list[str]:
        """Returns the digest of every shard of the plan."""
        return [*(self._read_plan() or {}).get("files", [])]

    def planned(self, shard: int) -> int:
        return count_rows(self._checked_plan(shard))

    def asked(self, shard: int) -> int:
        """Returns how many questions a shard asks itself: several trials may share one, or an earlier shard ask it."""
        counts = (self._read_plan() or {}).get("asked")
        return self.count_asked(shard) if counts is None else int(counts[shard])

    def count_asked(self, shard: int) -> int:
        """Returns the same, counted in the plan."""
        rows = read_rows(self._checked_plan(shard), ["trial_id", "asked_in"])
        return len({row["trial_id"] for row in rows if row.get("asked_in", shard) == shard})

    @property
    def plan_digest(self) -> str:
        """Digest of the whole plan, by the digests of its files."""
        return digest("plan", dict(self._read_plan() or {}))

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

    def stimulus_parts(self, shard: int) -> set[int]:
        """Returns the parts of the stimulus set that the trials of a shard are about."""
        return {row["stimulus_part"] for row in read_rows(self._checked_plan(shard), ["stimulus_part"])}

    def files_of(self, shard: int, generations: Iterable[int]) -> list[Path]:
        """Returns the files that asking a shard reads, each held to its digest: its plan, and what has been sealed."""
        files = [self._checked_plan(shard)]
        for generation in generations:
            files.append(self.check(self.receipt(shard, generation)))
            if self.has_receipt(shard, generation):
                files.append(self._receipt(shard, generation))
        return files

    def _read_plan(self) -> Mapping[str, Any] | None:
        path = self.folder / "plan" / "plan.json"
        if self._plan_manifest is None and path.exists():
            plan = read_manifest(path)
            if plan.get("run", self._id) != self._id:
                raise Damaged(f"{path} is the plan of another run")
            if not _is_plan(plan):
                raise Damaged(f"{path} is not a valid plan")
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
        journal = Journal(self._journals / self._journal(self._process).name)
        self._drop_sealed(journal)
        return journal

    def _drop_sealed(self, journal: Journal) -> None:
        for (shard, generation), rows in journal.unsealed().items():
            if self.has_receipt(shard, generation) and self._holds(self.receipt(shard, generation), rows):
                journal.forget(shard, generation)

    def journals(self) -> list[Path]:
        """Returns the journals of a run: those of other processes first, which are taken up into the last one."""
        return [*sorted(self.folder.glob("journal-*.sqlite")), self._journal(0)]

    def take_up_journals(self) -> None:
        """Takes the journals of other processes, which have ended or were killed, into the one of this process."""
        if not (others := self.journals()[:-1]):
            return
        with closing(self.open_journal()) as journal:
            for path in others:
                other = Journal(path)
                try:
                    self._drop_sealed(other)
                    journal.take_up(other)
                except BaseException:
                    other.close()
                    raise
                other.remove()

    def take_up(self, left: Iterable[tuple[int, int, Response]]) -> None:
        """Takes (shard, generation, response) triples of a process on another machine into the journal."""
        with closing(self.open_journal()) as journal:
            journal.commit(left)

    def tidy(self) -> None:
        """Removes what killed processes left behind half made."""
        for folder in (self.folder, self.folder / "plan", self.folder / "responses"):
            sweep_drafts(folder)

    def sealed(self) -> list[tuple[int, int]]:
        """Returns (shard, generation) of every sealed file."""
        found = (_SEALED.fullmatch(path.name) for path in (self.folder / "responses").glob("*-*.*"))
        return sorted({(int(match[1]), int(match[2])) for match in found if match})

    def generations(self) -> dict[int, list[int]]:
        """Returns the same by shard, for whoever looks up many."""
        found: dict[int, list[int]] = {}
        for shard, generation in self.sealed():
            found.setdefault(shard, []).append(generation)
        return found

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
            raise Damaged(f"{path} is not a valid receipt: {error}") from None
        counts, digests = (receipt.answered, receipt.failed), [receipt.sha256, receipt.file_sha256]
        if not all(map(_is_count, counts)) or not _are_names(digests, 2):
            raise Damaged(f"{path} is not a valid receipt")
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
        try:
            write_rows(path, rows, response_schema(), metadata=meta, read_back=True, once=self._once)
        except FileExistsError:
            # It is this process's own if it was killed before it wrote the receipt.
            if self.has_receipt(shard, generation) or not meta.items() <= read_metadata(path).items():
                raise StoreError(
                    f"another process has sealed shard {shard} in the meantime", fix="run the same command again"
                ) from None
        receipt = Receipt(shard, generation, len(rows) - failed, failed, digest, file_sha256(path))
        write_manifest(self._receipt(shard, generation), {"run": self._id, **asdict(receipt)})
        return receipt

    def admit(self, receipt: Receipt, file: Path) -> bool:
        """Seals a file that a machine without this folder has sealed; returns whether it was the first to come.

        Raises Damaged if it is not what its receipt says, or has answers to other questions than those of its shard.
        """
        self._check_foreign(receipt, file)
        (self.folder / "responses").mkdir(exist_ok=True)
        path = self._responses(receipt.shard, receipt.generation)
        try:
            with drafted(path, once=True) as draft:
                shutil.copyfile(file, draft)
        except FileExistsError:
            # It is the same one if this process was killed before it wrote the receipt.
            if self.has_receipt(receipt.shard, receipt.generation) or file_sha256(path) != receipt.file_sha256:
                return False
        write_manifest(self._receipt(receipt.shard, receipt.generation), {"run": self._id, **asdict(receipt)})
        return True

    def _check_foreign(self, receipt: Receipt, file: Path) -> None:
        if file_sha256(file) != receipt.file_sha256:
            raise Damaged(f"a file is not the one that was sealed; this affects {receipt.lost}")
        rows = read_rows(self._checked_plan(receipt.shard), ["trial_id", "asked_in"])
        asked = {row["trial_id"] for row in rows if row.get("asked_in", receipt.shard) == receipt.shard}
        answers = [(row["trial_id"], row["text"], row["failure"]) for row in read_rows(file, _ANSWER)]
        trials, failed = {trial_id for trial_id, _, _ in answers}, sum(answer[2] is not None for answer in answers)
        counted = (len(answers) - failed, failed) == (receipt.answered, receipt.failed)
        if not counted or len(trials) != len(answers) or responses_digest(answers) != receipt.sha256:
            raise Damaged(f"a receipt of shard {receipt.shard} does not match the answers in its file")
        if not trials <= asked:
            raise Damaged(f"a file has answers to questions that are not in shard {receipt.shard}")

    def rows(self, receipt: Receipt, trials: Collection[str] | None = None) -> Iterator[dict[str, Any]]:
        """Yields the rows of a sealed file, which is held to its receipt: of these trials, or of all."""
        yield from read_rows(self.check(receipt), only=None if trials is None else ("trial_id", trials))

    def check(self, receipt: Receipt) -> Path:
        """Returns a sealed file. Raises Damaged if it is not what its receipt says."""
        path = self._responses(receipt.shard, receipt.generation)
        if receipt.file_sha256:
            check_file(path, receipt.file_sha256, lost=receipt.lost)
            return path
        rows = read_rows(path, _ANSWER)
        if responses_digest((row["trial_id"], row["text"], row["failure"]) for row in rows) != receipt.sha256:
            raise Damaged(f"{path} has been changed since it was written; this affects {receipt.lost}")
        return path

    def check_counts(self, receipt: Receipt) -> None:
        """Raises Damaged if a sealed file is not what its receipt says, or says other counts. Reads no answers."""
        said = read_metadata(self.check(receipt))
        counts = {"rows": str(receipt.answered + receipt.failed), "failed": str(receipt.failed)}
        if any(said.get(name, count) != count for name, count in counts.items()):
            raise Damaged(f"the receipt of shard {receipt.shard} does not match the answers in its file")

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

    def _journal(self, process: int) -> Path:
        return self.folder / (f"journal-{process}.sqlite" if process else "journal.sqlite")

    def _plan(self, shard: int) -> Path:
        return self.folder / "plan" / f"{shard:05d}.parquet"

    def _responses(self, shard: int, generation: int) -> Path:
        return self.folder / "responses" / f"{shard:05d}-{generation}.parquet"

    def _receipt(self, shard: int, generation: int) -> Path:
        return self._responses(shard, generation).with_suffix(".json")


def run_folders(study: Path) -> list[Path]:
    return sorted(path.parent for path in (study / "runs").glob("*/run.json"))


def _is_plan(plan: Mapping[str, Any]) -> bool:
    """Whether a manifest has what a plan has. One of the first format names no files; older ones do not say `asked`."""
    trials, shards, files, asked = (plan.get(name) for name in ("trials", "shards", "files", "asked"))
    if not (_is_count(trials) and _is_count(shards) and (files is None or _are_names(files, shards))):
        return False
    return asked is None or (isinstance(asked, list) and len(asked) == shards and all(map(_is_count, asked)))


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _are_names(value: object, number: object) -> bool:
    return isinstance(value, list) and len(value) == number and all(isinstance(text, str) for text in value)


def responses_digest(answers: Iterable[tuple[str, str | None, str | None]]) -> str:
    """Returns the SHA-256 over (trial id, text, failure) of every response, in order of trial id."""
    state = hashlib.sha256()
    for trial_id, text, failure in sorted(answers, key=itemgetter(0)):
        answer = text if failure is None else f"\0{failure}"
        state.update(f"{trial_id}\0{answer}\n".encode("utf-8", "surrogatepass"))
    return state.hexdigest()
