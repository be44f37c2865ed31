"""A stimulus set on disk, in parts of at most a thousand, so that any number can be read with little memory."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from umpirical.domain.digests import Json
from umpirical.domain.stimuli import Stimulus
from umpirical.store.manifests import check_file, file_sha256, read_manifest, write_manifest
from umpirical.store.parquet import read_rows, write_rows
from umpirical.store.schemas import stimulus_from_row, stimulus_row, stimulus_schema

PART_SIZE = 1000
PART_TEXT = 8_000_000
"""Characters of the texts of one part; a longer text is a part of its own."""


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

    @property
    def count(self) -> int:
        return int(self.manifest["stimuli"])

    def parts(self) -> list[int]:
        return list(range(self.manifest["parts"]))

    def part(self, number: int) -> dict[str, Stimulus]:
        """Returns the stimuli of one part, by id, in order."""
        return self._load(number)

    def __iter__(self) -> Iterator[Stimulus]:
        for number in self.parts():
            yield from self.part(number).values()

    def file(self, number: int) -> Path:
        """Returns the file of one part, held to its digest."""
        path = self.folder / f"{number:05d}.parquet"
        if digests := self.manifest.get("files"):
            check_file(path, digests[number], lost=f"part {number} of the test cases")
        return path

    def _read_part(self, number: int) -> dict[str, Stimulus]:
        rows = read_rows(self.file(number))
        if self.manifest.get("files"):
            return {row["id"]: _named(stimulus_from_row(row), row["id"]) for row in rows}
        return {stimulus.id: stimulus for stimulus in map(stimulus_from_row, rows)}


def _named(stimulus: Stimulus, name: str) -> Stimulus:
    """Returns a stimulus with the id that it was written with: the file is what was written, so it is its digest."""
    vars(stimulus)["id"] = name
    return stimulus


About = Mapping[str, Json]


def write_stimuli(
    folder: Path, stimuli: Iterable[Stimulus], about: About | Callable[[], About] | None = None
) -> StimulusSet:
    """Writes a set, with its manifest last, so a set with a manifest is complete. `about` goes into the manifest.

    The stimuli are taken one by one, and a part at a time is in memory. If `about` is a function, it is called once all
    have been taken.
    """
    folder.mkdir(parents=True, exist_ok=True)
    state, count, digests = hashlib.sha256(), 0, list[str]()
    for part in _parts(stimuli):
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
    told = about() if callable(about) else about
    write_manifest(folder / "manifest.json", {**(told or {}), **identity})
    return StimulusSet(folder)


def _parts(stimuli: Iterable[Stimulus]) -> Iterator[list[Stimulus]]:
    part: list[Stimulus] = []
    size = 0
    for stimulus in stimuli:
        length = len(stimulus.task) + sum(map(len, stimulus.candidates))
        if part and (len(part) == PART_SIZE or size + length > PART_TEXT):
            yield part
            part, size = [], 0
        part.append(stimulus)
        size += length
    if part:
        yield part
