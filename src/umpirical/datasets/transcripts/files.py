"""Transcripts of a file, or of a folder of logs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path

from umpirical.datasets.confined_folder import only_inside
from umpirical.datasets.transcripts.catalogue import ENDINGS, FORMATS, guess_format
from umpirical.datasets.transcripts.confinement import Parsed, parse_apart
from umpirical.datasets.transcripts.limits import TranscriptLimits
from umpirical.datasets.transcripts.preprocessors import check_names, preprocessed
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.transcripts import Transcript


@dataclass(frozen=True, slots=True)
class TranscriptFile:
    """What was read."""

    transcripts: tuple[Transcript, ...]
    """In the order of the files' names, and in each file in its order. Their names are distinct."""
    notes: tuple[str, ...]
    """What a person should know: what was left out, what ended with an error, which head does not tell the truth."""


def read_transcripts(  # what may be said about a file
    path: Path,
    *,
    format: str | None = None,  # noqa: A002  # the word that a person uses
    preprocess: Sequence[str] = (),
    strata: Sequence[str] = (),
    columns: Sequence[str] = (),
    limits: TranscriptLimits | None = None,
) -> TranscriptFile:
    """Reads a file, or every log of a folder, in the format that is named or that each file shows.

    `strata` and `columns` are keys of what is known about each transcript: its metadata, or its fields. Parsing takes
    place in a process of its own. Raises ConfigError for what cannot be read or is too much, and says which limit.
    """
    check_names(preprocess)
    _check_format(format)
    limits = limits or TranscriptLimits()
    files, notes = _chosen(path, format, limits)
    if any(form == "inspect" for form, _ in files) and find_spec("inspect_ai") is None:
        raise UsageError("logs of Inspect's need inspect_ai", fix="pip install 'umpirical[inspect]'")
    found = parse_apart(files, strata=strata, columns=columns, limits=limits)
    notes += [note for parsed in found for note in parsed.notes]
    transcripts = tuple(preprocessed(transcript, preprocess) for transcript in _distinct(found))
    if not transcripts:
        raise ConfigError(
            "there is no transcript in it", where=path.name, fix="; ".join(notes[:3]) or "is it the file?"
        )
    if hollow := [each.name for each in transcripts if not each.messages]:
        fix = f"leave out one of {', '.join(preprocess)}"
        raise ConfigError(f"nothing is left of {hollow[0]!r} and {len(hollow) - 1} more", where=path.name, fix=fix)
    return TranscriptFile(transcripts, tuple(notes))


def _check_format(name: str | None) -> None:
    if name is not None and name not in FORMATS:
        near = get_close_matches(name, FORMATS, n=1)
        fix = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(FORMATS)}"
        raise UsageError(f"no format of transcripts is named {name!r:.80}", fix=fix)


def _chosen(path: Path, named: str | None, limits: TranscriptLimits) -> tuple[list[tuple[str, Path]], list[str]]:
    """Returns the files with their formats, and notes on those that are left out."""
    if path.is_dir():
        return _of_folder(path, named, limits)
    if not path.is_file():
        raise UsageError(f"{path} is no file", fix="name a file of transcripts, or a folder of logs")
    if form := named or guess_format(path):
        return [(form, path)], []
    raise UsageError(f"{path.name}: neither its ending nor its beginning tells a format", fix=_say_format())


def _of_folder(folder: Path, named: str | None, limits: TranscriptLimits) -> tuple[list[tuple[str, Path]], list[str]]:
    files: list[tuple[str, Path]] = []
    others: list[str] = []
    for file in sorted(folder.iterdir(), key=lambda each: each.name):
        if file.name.startswith(".") or not file.is_file():
            continue
        only_inside(folder, [file.name])
        form = guess_format(file) if file.suffix.casefold() in ENDINGS else None
        if form is None:
            others.append(file.name)
        else:
            files.append((named or form, file))
    if not files:
        raise UsageError(f"{folder.name} has no log in it", fix=f"endings: {', '.join(ENDINGS)}; or {_say_format()}")
    if len(files) > limits.files:
        message = f"{len(files):,} files, at most {limits.files:,} are read"
        raise ConfigError(message, where=folder.name, fix="split the folder, or raise the limit `files`")
    notes = (
        [f"{folder.name}: {len(others):,} files are no logs, and are left out, such as {others[0]}"] if others else []
    )
    return files, notes


def _say_format() -> str:
    return f"name the format: {', '.join(FORMATS)}"


def _distinct(found: Sequence[Parsed]) -> list[Transcript]:
    """Returns all transcripts; those of different files that have the same name get the file's name in front."""
    uses = Counter(transcript.name for parsed in found for transcript in parsed.transcripts)
    return [
        replace(each, name=f"{parsed.file}: {each.name}") if uses[each.name] > 1 else each
        for parsed in found
        for each in parsed.transcripts
    ]
