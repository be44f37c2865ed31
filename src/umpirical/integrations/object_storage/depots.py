"""The depot of a run: what lies of it in object storage, for machines that do not see its folder.

    NAME/5f0c.../stock/ab12...                    a file that is read while asking, named by its digest
    NAME/5f0c.../sealed/77aa.../00003-0.parquet   responses that one asker has sealed; 77aa... is a name of its own
    NAME/5f0c.../sealed/77aa.../00003-0.json      their delivery note: the receipt, and a signature

Who writes what, so that no store has to create an object only if there is none:

- The leading process, of which there is one, writes the stock. A reader holds every file to the digest that it was told
  by the leading process, not by the store.
- An asker writes under a name that no other has, the note after the file. It never writes an object twice.
- The leading process takes one sealed file for each shard and generation into the run's folder, where it is given its
  name once. It believes a note only by its signature, whose secret is in the run's folder and is told to askers.

5f0c... is the depot's own, so that copies of one study do not share a depot.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from umpirical.domain.digests import canonical_json
from umpirical.domain.errors import StoreError
from umpirical.integrations.object_storage.objects import ObjectStore
from umpirical.models.spec import ADAPTERS
from umpirical.runs.call import CallSpec
from umpirical.runs.executor import Told, Watcher
from umpirical.store.files import drafted
from umpirical.store.journal import JournalViews
from umpirical.store.manifests import Damaged, file_sha256
from umpirical.store.reuse import reused_files
from umpirical.store.runs import DEPOT, Receipt, RunStore
from umpirical.store.snapshots import snapshot
from umpirical.store.stimulus_sets import StimulusSet

LARGEST_SHARD = 256_000_000
"""Bytes that a sealed file may have. One of 2,000 answers has some hundred thousand."""

LARGEST_NOTE = 10_000

LARGEST_INDEX = 64_000_000
"""Bytes that the index of a stock may have. That of a million trials has some hundred thousand."""

AT_ONCE = 16
"""Files that are put at a time: a put waits for the store much longer than it works."""

_TOKEN = re.compile(r"[0-9a-f]{32}")
_NOTE = re.compile(r"([0-9a-f]{32})/(\d{5,9})-(\d{1,4})\.json")

_CHANGED = "check who else writes there, then run the same command again"


@dataclass(frozen=True)
class Access:
    """What an asker is told about a depot. Credentials of the store are not in it: they are in the environment."""

    uri: str
    place: str
    index: str
    """Digest of the list of what is in stock."""
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Delivery:
    """A sealed file that an asker has put into a depot."""

    asker: str
    receipt: Receipt
    size: int
    """In bytes."""

    @property
    def name(self) -> str:
        return f"{self.asker}/{self.receipt.shard:05d}-{self.receipt.generation}"


class Depot:
    """The depot of one run."""

    def __init__(self, objects: ObjectStore, place: str, secret: str) -> None:
        self._objects, self._place, self._secret = objects, place, secret

    @classmethod
    def of(cls, uri: str, store: RunStore) -> "Depot":
        """Returns the depot of a run, for its leading process: that of a killed command, or a new one."""
        objects, record = ObjectStore(uri), store.folder / DEPOT
        try:
            said = json.loads(record.read_bytes())
            place, secret = str(said["place"]), str(said["secret"])
            if not _TOKEN.fullmatch(place) or not secret:
                raise ValueError("it comes from another source")  # noqa: TRY301  # one sentence for whatever is wrong with it
        except FileNotFoundError:
            place, secret = token_hex(16), token_hex(32)
            with drafted(record) as draft:
                draft.chmod(0o600)
                draft.write_text(json.dumps({"place": place, "secret": secret}), encoding="utf-8")
        except (ValueError, KeyError, TypeError):
            raise Damaged(
                f"cannot read {record}", fix="remove it: Umpirical will repeat the calls stored there"
            ) from None
        return cls(objects, f"{store.folder.name}/{place}", secret)

    @classmethod
    def at(cls, access: Access) -> "Depot":
        return cls(ObjectStore(access.uri), access.place, access.secret)

    # What is read while asking

    def stock(self, store: RunStore, stimuli: StimulusSet, shards: Iterable[int], *, every_stimulus: bool) -> Access:
        """Puts what is read while asking some shards, and returns how to get it.

        With `every_stimulus`, all of them are read before the first shard, as by a simulated judge.
        """
        places = {"run": store.folder, "stimuli": stimuli.folder}
        common = [store.folder / "run.json", store.folder / "plan" / "plan.json", stimuli.folder / "manifest.json"]
        if (found := store.folder / "reused" / "reused.json").exists():
            common.append(found)
        if every_stimulus:
            common += [stimuli.file(part) for part in stimuli.parts()]
        sealed = store.generations()
        by_shard = {
            shard: [
                *store.files_of(shard, sealed.get(shard, ())),
                *reused_files(store, shard),
                *(stimuli.file(part) for part in sorted(store.stimulus_parts(shard))),
            ]
            for shard in shards
        }
        known: dict[Path, tuple[str, int]] = {}
        for path in (*common, *(path for files in by_shard.values() for path in files)):
            if path not in known:
                known[path] = file_sha256(path), path.stat().st_size
        self._put_all({sha256: path for path, (sha256, _) in known.items()})

        def listed(files: Iterable[Path]) -> dict[str, tuple[str, int]]:
            return {_relative(path, places): known[path] for path in files}

        index = {"run": listed(common), "shards": {str(shard): listed(files) for shard, files in by_shard.items()}}
        return Access(self._objects.uri, self._place, self._put_index(index), self._secret)

    def _put_all(self, files: Mapping[str, Path]) -> None:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for _ in pool.map(lambda each: self._objects.put(self._stocked(each[0]), each[1]), files.items()):
                pass

    def _put_index(self, index: Mapping[str, Any]) -> str:
        with TemporaryDirectory(prefix="umpirical-index-") as folder:
            file = Path(folder) / "index.json"
            file.write_text(json.dumps(index), encoding="utf-8")
            sha256 = file_sha256(file)
            self._objects.put(self._stocked(sha256), file)
        return sha256

    def fetch(self, sha256: str, file: Path, *, size: int) -> None:
        """Writes a file of the stock. Raises Damaged, and leaves no file, if it is not the one with this digest."""
        name, draft = self._stocked(sha256), file.with_name(f".{file.name}.tmp")
        try:
            self._objects.get(name, draft, most=size)
            if file_sha256(draft) != sha256:
                raise Damaged(f"{self._objects.shown(name)} has been changed since it was written", fix=_CHANGED)
            draft.replace(file)
        finally:
            draft.unlink(missing_ok=True)

    def _stocked(self, sha256: str) -> str:
        return f"{self._place}/stock/{sha256}"

    # What has been sealed

    def deliver(self, asker: str, receipt: Receipt, file: Path) -> Delivery:
        """Puts a sealed file, and then its note; returns what to tell the leading process."""
        delivery = Delivery(asker, receipt, file.stat().st_size)
        note = {"size": delivery.size, "receipt": asdict(receipt), "signature": self._signature(delivery)}
        with TemporaryDirectory(prefix="umpirical-note-") as folder:
            written = Path(folder) / "note.json"
            written.write_text(json.dumps(note), encoding="utf-8")
            self._objects.put(self._sealed(f"{delivery.name}.parquet"), file)
            self._objects.put(self._sealed(f"{delivery.name}.json"), written)
        return delivery

    def take(self, delivery: Delivery, store: RunStore) -> bool:
        """Seals what was delivered in the run's folder; returns whether it was the first of its shard and generation.

        Raises Damaged, with the name of the object, if it is not what was delivered.
        """
        name = self._sealed(f"{delivery.name}.parquet")
        if delivery.size > LARGEST_SHARD:
            raise Damaged(f"{self._objects.shown(name)} has more than {LARGEST_SHARD:,} bytes", fix=_CHANGED)
        with TemporaryDirectory(prefix="umpirical-delivery-") as folder:
            file = Path(folder) / "sealed.parquet"
            self._objects.get(name, file, most=delivery.size)
            try:
                return store.admit(delivery.receipt, file)
            except Damaged as error:
                raise Damaged(f"{self._objects.shown(name)} was rejected: {error}", fix=_CHANGED) from None

    def take_up(self, store: RunStore, shards: Collection[int] | None = None) -> list[str]:
        """Takes what lies in the depot and is not in the run yet, of some shards or of all; returns what was refused.

        For what was delivered while nobody listened. A shard of which the journal has answers is left out: those are
        paid for too, and are completed where they are.
        """
        notes = self._notes()
        with closing(JournalViews(store.journals())) as journals:
            begun = set(journals.counts())
        refused, sealed = [], store.generations()
        for asker, shard, generation in notes:
            before, wanted = sealed.get(shard, []), shards is None or shard in shards
            if not wanted or (shard, generation) in begun or generation != _next_generation(store, shard, before):
                continue
            try:
                self.take(self._noted(asker, shard, generation), store)
            except Damaged as error:
                refused.append(str(error))
            else:
                sealed[shard] = sorted({*before, generation})
        return refused

    def _notes(self) -> list[tuple[str, int, int]]:
        """Returns (asker, shard, generation) of every note, the first generations first. Other objects are not ours."""
        under = self._sealed("")[:-1]
        found = [_NOTE.fullmatch(name.removeprefix(f"{under}/")) for name in self._objects.names(under)]
        notes = [(match[1], int(match[2]), int(match[3])) for match in found if match]
        return sorted(notes, key=lambda note: (note[1], note[2], note[0]))

    def _noted(self, asker: str, shard: int, generation: int) -> Delivery:
        """Reads a note. Raises Damaged unless it was signed for this depot, under this name."""
        name = self._sealed(f"{asker}/{shard:05d}-{generation}.json")
        with TemporaryDirectory(prefix="umpirical-note-") as folder:
            file = Path(folder) / "note.json"
            self._objects.get(name, file, most=LARGEST_NOTE)
            try:
                said = json.loads(file.read_bytes())
                delivery = Delivery(asker, Receipt(**said["receipt"]), said["size"])
                signed = hmac.compare_digest(said["signature"], self._signature(delivery))
            except (ValueError, KeyError, TypeError, RecursionError):
                raise Damaged(f"{self._objects.shown(name)} was rejected: it is not a note", fix=_CHANGED) from None
        if not signed or delivery.name != f"{asker}/{shard:05d}-{generation}":
            raise Damaged(
                f"{self._objects.shown(name)} was rejected: it is not signed by a worker of this run", fix=_CHANGED
            )
        return delivery

    def _signature(self, delivery: Delivery) -> str:
        text = canonical_json([self._place, delivery.asker, delivery.size, asdict(delivery.receipt)])
        return hmac.new(self._secret.encode(), text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()

    def _sealed(self, name: str) -> str:
        return f"{self._place}/sealed/{name}"

    def close(self, store: RunStore) -> None:
        """Removes the depot, of which everything has been taken up."""
        self._objects.clear(self._place)
        (store.folder / DEPOT).unlink(missing_ok=True)


class Stock:
    """What is in stock of a run, as seen by an asker: fetched into a folder of its machine, each file once."""

    def __init__(self, depot: Depot, access: Access, folder: Path) -> None:
        self._depot, self._folder = depot, folder
        index = folder / "index.json"
        depot.fetch(access.index, index, size=LARGEST_INDEX)
        self._index: Mapping[str, Any] = json.loads(index.read_bytes())
        self._fetch(self._index["run"])

    def fetch_shard(self, shard: int) -> None:
        self._fetch(self._index["shards"][str(shard)])

    def _fetch(self, files: Mapping[str, tuple[str, int]]) -> None:
        for name, (sha256, size) in files.items():
            if not (path := self._folder / name).exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                self._depot.fetch(sha256, path, size=size)


def _relative(path: Path, places: Mapping[str, Path]) -> str:
    [(name, folder)] = [(name, folder) for name, folder in places.items() if path.is_relative_to(folder)]
    return f"{name}/{path.relative_to(folder).as_posix()}"


def _next_generation(store: RunStore, shard: int, sealed: Sequence[int]) -> int:
    """Returns the generation that a shard wants; that of a file that was left without its receipt comes again."""
    without = (generation for generation in sealed if not store.has_receipt(shard, generation))
    return next(without, max(sealed, default=-1) + 1)


# A run as seen by a machine that does not share its folder: read from its depot, sealed in a temporary folder.


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


# Deliveries of a run that machines share through object storage: what the leading process does with its depot.


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
            self._tell(f"{why}; unless its shard is sealed, the calls are repeated")

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
            self._tell(f"files stay in object storage until the next run: {error}")

    def _tell(self, sentence: str) -> None:
        if isinstance(self._watcher, Told):
            self._watcher.told(sentence)
