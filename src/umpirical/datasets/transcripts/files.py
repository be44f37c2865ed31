"""Transcripts of a file, or of a folder of logs: in which formats, read how, and with what taken out."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path

from umpirical.datasets.confined_folder import only_inside
from umpirical.datasets.transcripts.chat import read_messages
from umpirical.datasets.transcripts.confinement import Parsed, parse_apart
from umpirical.datasets.transcripts.sources import TranscriptLimits, TranscriptReader, TranscriptSource
from umpirical.datasets.transcripts.spans import read_spans
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.transcripts import Message, Transcript
from umpirical.registry import load_integration

# Which formats there are, and which of them a file has.


def read_inspect(source: TranscriptSource, note: Callable[[str], None]) -> Iterator[Transcript]:
    read: TranscriptReader = load_integration("inspect", "transcripts")
    return read(source, note)


FORMATS: Mapping[str, TranscriptReader] = {
    "inspect": read_inspect,
    "messages": read_messages,
    "otel": read_spans,
}

ENDINGS = (".eval", ".json", ".jsonl", ".ndjson")
"""Endings of files that are looked at in a folder."""

LOOKED_AT = 1 << 16
"""Bytes of a file that its format is guessed from."""


def guess_format(path: Path) -> str | None:
    """Returns the format that a file has by its ending and its first bytes; None if they tell none."""
    ending = path.suffix.casefold()
    with path.open("rb") as file:
        begins = file.read(LOOKED_AT).removeprefix(b"\xef\xbb\xbf").lstrip()
    if ending == ".eval" or begins.startswith(b"PK\x03\x04"):
        return "inspect"
    if ending in (".jsonl", ".ndjson") or (ending == ".json" and begins.startswith((b"{", b"["))):
        return _format_of_json(begins, ending)
    return None


def _format_of_json(begins: bytes, ending: str) -> str | None:
    # A trace begins by saying that it is one.
    if begins.startswith(b"{") and b'"resourceSpans"' in begins[:200]:
        return "otel"
    if ending != ".json":
        return "messages"
    if begins.startswith(b"{") and b'"eval"' in begins and b'"version"' in begins[:200]:
        return "inspect"
    return "messages" if b'"role"' in begins else None


# What may be taken out of transcripts before a judge sees them, known by name: nothing is imported by a path.

Preprocessor = Callable[[Transcript], Transcript]

TAKEN_OUT = "[tool output taken out]"
"""Stands for a tool's output, so that every call still has its answer."""


def drop_tool_output(transcript: Transcript) -> Transcript:
    """What tools answered is replaced by a placeholder, and an error by the fact that there was one."""
    return _each(
        transcript,
        lambda message: (
            replace(message, text=TAKEN_OUT, error=message.error and TAKEN_OUT, attachments=())
            if message.role == "tool"
            else message
        ),
    )


def drop_reasoning(transcript: Transcript) -> Transcript:
    """What the agent thought is taken out; what it said and called stays."""
    return _each(transcript, lambda message: replace(message, reasoning=""))


def strip_system(transcript: Transcript) -> Transcript:
    """System messages are taken out, wherever they stand."""
    return replace(transcript, messages=tuple(each for each in transcript.messages if each.role != "system"))


PREPROCESSORS: Mapping[str, Preprocessor] = {
    "drop-tool-output": drop_tool_output,
    "drop-reasoning": drop_reasoning,
    "strip-system": strip_system,
}


def preprocessed(transcript: Transcript, names: Sequence[str]) -> Transcript:
    for name in names:
        transcript = PREPROCESSORS[name](transcript)
    return transcript


def check_names(names: Sequence[str]) -> None:
    for name in names:
        if name not in PREPROCESSORS:
            near = get_close_matches(name, PREPROCESSORS, n=1)
            fix = f"did you mean {near[0]!r}?" if near else f"choose one of: {', '.join(PREPROCESSORS)}"
            raise UsageError(f"unknown preprocessor {name!r:.80}", fix=fix)


def _each(transcript: Transcript, change: Callable[[Message], Message]) -> Transcript:
    return replace(transcript, messages=tuple(map(change, transcript.messages)))


@dataclass(frozen=True, slots=True)
class TranscriptFile:
    """What was read."""

    transcripts: tuple[Transcript, ...]
    """In the order of the files' names, and in each file in its order. Their names are distinct."""
    notes: tuple[str, ...]
    """What a person should know: what was left out, what ended with an error, which head does not tell the truth."""


def read_transcripts(
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
        raise UsageError("reading Inspect logs requires the `inspect` extra", fix="pip install 'umpirical[inspect]'")
    found = parse_apart(files, strata=strata, columns=columns, limits=limits)
    notes += [note for parsed in found for note in parsed.notes]
    transcripts = tuple(preprocessed(transcript, preprocess) for transcript in _distinct(found))
    if not transcripts:
        raise ConfigError(
            "the file contains no transcripts",
            where=path.name,
            fix="; ".join(notes[:3]) or "check that it is the right file",
        )
    if hollow := [each.name for each in transcripts if not each.messages]:
        fix = f"remove one of {', '.join(preprocess)}"
        raise ConfigError(
            f"the preprocessors remove all text from {hollow[0]!r} and {len(hollow) - 1} more", where=path.name, fix=fix
        )
    return TranscriptFile(transcripts, tuple(notes))


def _check_format(name: str | None) -> None:
    if name is not None and name not in FORMATS:
        near = get_close_matches(name, FORMATS, n=1)
        fix = f"did you mean {near[0]!r}?" if near else f"choose one of: {', '.join(FORMATS)}"
        raise UsageError(f"unknown transcript format {name!r:.80}", fix=fix)


def _chosen(path: Path, named: str | None, limits: TranscriptLimits) -> tuple[list[tuple[str, Path]], list[str]]:
    """Returns the files with their formats, and notes on those that are left out."""
    if path.is_dir():
        return _of_folder(path, named, limits)
    if not path.is_file():
        raise UsageError(
            f"{path} does not exist or is not a file", fix="name a file of transcripts or a folder of logs"
        )
    if form := named or guess_format(path):
        return [(form, path)], []
    raise UsageError(f"{path.name}: the format cannot be recognized from the name or the contents", fix=_say_format())


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
        raise UsageError(
            f"{folder.name} contains no logs", fix=f"supported endings: {', '.join(ENDINGS)}; or {_say_format()}"
        )
    if len(files) > limits.files:
        message = f"{len(files):,} files; the limit is {limits.files:,}"
        raise ConfigError(message, where=folder.name, fix="split the folder, or raise the limit `files`")
    notes = (
        [f"{folder.name}: {len(others):,} files are not logs and are excluded, such as {others[0]}"] if others else []
    )
    return files, notes


def _say_format() -> str:
    return f"choose a format: {', '.join(FORMATS)}"


def _distinct(found: Sequence[Parsed]) -> list[Transcript]:
    """Returns all transcripts; those of different files that have the same name get the file's name in front."""
    uses = Counter(transcript.name for parsed in found for transcript in parsed.transcripts)
    return [
        replace(each, name=f"{parsed.file}: {each.name}") if uses[each.name] > 1 else each
        for parsed in found
        for each in parsed.transcripts
    ]
