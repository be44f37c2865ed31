"""What a stimulus set was made from, so that the same is not made twice.

A set is named by its stimuli, which have to be made before the name is known. Beside its manifest is therefore a note
of what it was made from. A note that is missing or damaged costs time, and nothing else.
"""

import inspect
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from umpirical.datasets.readers import format_of
from umpirical.domain.digests import Json, digest
from umpirical.domain.errors import StoreError
from umpirical.protocols.stress.spec import StressStudy
from umpirical.stimuli.perturbations.catalogue import ProvedPerturbation
from umpirical.store.manifests import file_sha256, read_manifest, write_manifest
from umpirical.store.stimulus_sets import StimulusSet

NOTE = "made-from.json"

ONE_FILE = ("csv", "jsonl", "parquet")
"""Formats whose readers read one file and nothing else."""


def source_of(study: StressStudy) -> str | None:
    """Returns the digest of everything that decides the stimuli of a study; None if that cannot be told beforehand.

    That is so for a dataset that is not one file here, and for texts that a model writes and people review.
    """
    spec = study.spec
    path = study.folder / spec.dataset.path
    if spec.stress.generated or spec.dataset.responses is not None or not path.is_file():
        return None
    read_as = format_of(spec.dataset.path, study.folder, named=spec.dataset.format)
    if read_as not in ONE_FILE:
        return None
    tests: list[Json] = [[test.maker, *_code(test)] for test in spec.stress.proved]
    return digest(
        "source of a stress set",
        {
            "dataset": spec.dataset.model_dump(mode="json"),
            "format": read_as,
            "content": file_sha256(path),
            "columns": list(study.named_columns),
            "tests": tests,
            "seed": spec.seed,
            "umpirical": version("umpirical"),
        },
    )


def set_made_from(stimuli: Path, source: str | None) -> StimulusSet | None:
    """Returns the set of a study that was made from this before, if there is one."""
    for note in sorted(stimuli.glob(f"*/{NOTE}")) if source is not None else ():
        with suppress(StoreError):
            if read_manifest(note).get("source") == source and (note.parent / "manifest.json").exists():
                return StimulusSet(note.parent)
    return None


def note_source(folder: Path, source: str | None) -> None:
    """Notes what a set was made from. One that is made from several things in turn has the last of them."""
    if source is not None:
        write_manifest(folder / NOTE, {"source": source})


def _code(test: ProvedPerturbation) -> list[str]:
    """Returns digests of the files with the code of a test: its author may forget to raise its version."""
    files = {inspect.getsourcefile(function) for function in (test.change, test.normal)}
    return [file_sha256(Path(file)) for file in sorted(filter(None, files))]
