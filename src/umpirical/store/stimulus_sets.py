"""A stimulus set on disk, in parts of a thousand, so that any number of stimuli can be read with little memory."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from umpirical.domain.digests import Json
from umpirical.domain.stimuli import Stimulus
from umpirical.store.files import write_text
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

    @property
    def digest(self) -> str:
        """Digest over the ids of all stimuli in order: the same set has the same digest."""
        return str(self.manifest["digest"])

    @property
    def manifest(self) -> dict[str, Any]:
        """What the set is made from, and what the gates found."""
        found: dict[str, Any] = json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))
        return found

    def parts(self) -> list[int]:
        return sorted(int(path.stem) for path in self.folder.glob("*.parquet"))

    def part(self, number: int) -> dict[str, Stimulus]:
        """Returns the stimuli of one part, by id, in order."""
        return self._load(number)

    def __iter__(self) -> Iterator[Stimulus]:
        for number in self.parts():
            yield from self.part(number).values()

    def _read_part(self, number: int) -> dict[str, Stimulus]:
        rows = map(stimulus_from_row, read_rows(self.folder / f"{number:05d}.parquet"))
        return {stimulus.id: stimulus for stimulus in rows}


def write_stimuli(folder: Path, stimuli: Iterable[Stimulus], about: Mapping[str, Json] | None = None) -> StimulusSet:
    """Writes a set, with its manifest last, so a set with a manifest is complete. `about` goes into the manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    source, state, count, number = iter(stimuli), hashlib.sha256(), 0, 0
    while part := list(islice(source, PART_SIZE)):
        write_rows(folder / f"{number:05d}.parquet", map(stimulus_row, part), stimulus_schema())
        for stimulus in part:
            state.update(stimulus.id.encode())
        count, number = count + len(part), number + 1
    manifest = {**(about or {}), "digest": state.hexdigest()[:32], "stimuli": count, "parts": number}
    write_text(folder / "manifest.json", json.dumps(manifest, indent=1) + "\n")
    return StimulusSet(folder)
