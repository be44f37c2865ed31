"""A stimulus set on disk, in parts of a thousand, so that any number of stimuli can be read with little memory."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from umpirical.domain.digests import Json
from umpirical.domain.stimuli import Stimulus
from umpirical.store.manifests import check_file, file_sha256, read_manifest, write_manifest
from umpirical.store.parquet import read_rows, write_rows
from umpirical.store.schemas import stimulus_from_row, stimulus_row, stimulus_schema

__all__ = ["StimulusSet", "write_stimuli"]

PART_SIZE = 1000


class StimulusSet:
    """Stimuli that have been written to disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Plans use the stimuli in order, so only a few parts are ever in use.
        self._load = lru_cache(maxsize=4)(self._read_part)
        self._manifest = lru_cache(maxsize=1)(lambda *_: read_manifest(folder / "manifest.json"))

    @property
    def digest(self) -> str:
        """Digest over the ids of all stimuli in order: the same set has the same digest."""
        return str(self.manifest["digest"])

    @property
    def manifest(self) -> dict[str, Any]:
        """What the set is made from, and what the gates found."""
        path = self.folder / "manifest.json"
        stat = path.stat()
        return self._manifest(stat.st_mtime_ns, stat.st_size)

    def parts(self) -> list[int]:
        return list(range(self.manifest["parts"]))

    def part(self, number: int) -> dict[str, Stimulus]:
        """Returns the stimuli of one part, by id, in order."""
        return self._load(number)

    def __iter__(self) -> Iterator[Stimulus]:
        for number in self.parts():
            yield from self.part(number).values()

    def _read_part(self, number: int) -> dict[str, Stimulus]:
        path = self.folder / f"{number:05d}.parquet"
        if digests := self.manifest.get("files"):
            check_file(path, digests[number], lost=f"part {number} of the stimuli")
        return {stimulus.id: stimulus for stimulus in map(stimulus_from_row, read_rows(path))}


def write_stimuli(folder: Path, stimuli: Iterable[Stimulus], about: Mapping[str, Json] | None = None) -> StimulusSet:
    """Writes a set, with its manifest last, so a set with a manifest is complete. `about` goes into the manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    source, state, count, digests = iter(stimuli), hashlib.sha256(), 0, list[str]()
    while part := list(islice(source, PART_SIZE)):
        path = folder / f"{len(digests):05d}.parquet"
        write_rows(path, map(stimulus_row, part), stimulus_schema())
        digests.append(file_sha256(path))
        for stimulus in part:
            state.update(stimulus.id.encode())
        count += len(part)
    identity: dict[str, Json] = {
        "digest": state.hexdigest()[:32],
        "stimuli": count,
        "parts": len(digests),
        "files": digests,
    }
    write_manifest(folder / "manifest.json", {**(about or {}), **identity})
    return StimulusSet(folder)
