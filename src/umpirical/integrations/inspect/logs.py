"""Logs of Inspect AI, `.eval` and `.json`, read by Inspect's own public reader."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from umpirical.datasets.archives import check_archive
from umpirical.datasets.transcripts.sources import (
    NamedValues,
    TranscriptSource,
    checked_document,
    described,
    described_data,
    with_call_ids,
)
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.transcripts import Message, ToolCall, Transcript
from umpirical.text.inert import inert

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.model import ChatMessage, Content


def messages_of(found: "ChatMessage") -> Iterator[Message]:
    """Yields a message. A tool that the model's provider ran in the middle of it is a call and an answer of its own."""
    empty = message = Message(found.role)
    parts = [] if isinstance(found.content, str) else found.content
    for part in parts:
        if part.type == "tool_use":
            yield replace(message, calls=(ToolCall(part.id, part.name, part.arguments),))
            yield Message("tool", part.result, answers=part.id, tool=part.name, error=part.error or "")
            message = empty
        else:
            message = _with(message, part)
    if isinstance(found.content, str):
        message = replace(message, text=found.content)
    message = _completed(message, found)
    # After a tool of the provider's there may be nothing left to say.
    if message != empty or not any(part.type == "tool_use" for part in parts):
        yield message


def _completed(message: Message, found: "ChatMessage") -> Message:
    if found.role == "assistant":
        calls = (
            ToolCall(call.id, call.function, json.dumps(call.arguments, ensure_ascii=False))
            for call in found.tool_calls or ()
        )
        return replace(message, calls=tuple(calls))
    if found.role == "tool":
        error = "" if found.error is None else f"{found.error.type}: {found.error.message}"
        return replace(message, answers=found.tool_call_id or "", tool=found.function or "", error=error)
    return message


def _with(message: Message, part: "Content") -> Message:
    if part.type == "text":
        return replace(message, text=_joined(message.text, part.text))
    if part.type == "reasoning" and (thought := part.summary if part.redacted else part.reasoning):
        return replace(message, reasoning=_joined(message.reasoning, thought))
    return replace(message, attachments=(*message.attachments, _description(part)))


def _description(part: "Content") -> str:
    match part.type:
        case "image":
            return described("image", part.image)
        case "audio":
            return described("audio", part.audio)
        case "video":
            return described("video", part.video)
        case "document":
            return described("document", part.document)
        case "reasoning":
            # What a provider has redacted is encrypted, and only a summary could be read.
            return described_data("redacted reasoning", part.reasoning)
        case _:
            return described_data(part.type, part.model_dump(exclude={"internal"}))


def _joined(before: str, after: str) -> str:
    return f"{before}\n{after}" if before and after else before or after


# Samples as transcripts.

_SAMPLE = re.compile(r"samples/(.*)_epoch_(\d{1,9})\.json", re.DOTALL)

_UNUSED = {"events", "events_data", "store", "timelines", "output", "error_retries"}
"""What a sample has besides its messages, and may be hundreds of megabytes of."""

SHOWN = 200
"""Characters of an error that a note quotes."""


def read_inspect(source: TranscriptSource, note: Callable[[str], None]) -> Iterator[Transcript]:
    """A sample is a transcript, and each of its epochs another. Strata and columns are keys of a sample's metadata."""
    is_archive = source.path.suffix.casefold() != ".json"
    names = check_archive(source.path, limits=source.limits.archive) if is_archive else []
    if not is_archive:
        checked_document(source)
    try:
        yield from _transcripts(source, names, note)
    except (ConfigError, UsageError, MemoryError):
        raise
    except RecursionError:
        raise ConfigError("nested too deeply to be read", where=source.name, fix="it is not a log") from None
    except Exception as error:  # noqa: BLE001  # whatever a log makes Inspect's reader raise
        message = f"Inspect cannot read it: {type(error).__name__}: {inert(str(error)[:SHOWN])}"
        fix = "check that the log is complete and not from a newer Inspect version than the installed one"
        raise ConfigError(message, where=source.name, fix=fix) from None


def _transcripts(source: TranscriptSource, names: list[str], note: Callable[[str], None]) -> Iterator[Transcript]:
    values, count = NamedValues(source), 0
    header, samples = _opened(source, names)
    for sample in samples:
        count += 1
        name = str(sample.id) if sample.epoch == 1 else f"{sample.id} epoch {sample.epoch}"
        strata, columns = values.of(sample.metadata, f"{source.name}: {inert(name[:SHOWN])}")
        messages = with_call_ids(part for message in sample.messages for part in messages_of(message))
        _note_end(sample, name, note)
        if messages:
            yield Transcript(messages, name, strata, columns)
        else:
            note(f"{name}: the sample has no messages; excluded")
    if count:
        values.check()
    _note_header(header, count, note)


def _opened(source: TranscriptSource, names: list[str]) -> "tuple[EvalLog, Iterable[EvalSample]]":
    """Returns the head of a log, and its samples: those that are there, whatever the head says."""
    try:
        from inspect_ai.log import read_eval_log
    except ImportError:
        raise UsageError(
            "reading Inspect logs requires the `inspect` extra", fix="pip install 'umpirical[inspect]'"
        ) from None
    if source.path.suffix.casefold() == ".json":
        log = read_eval_log(source.path, resolve_attachments="core", format="json")
        return log, log.samples or []
    return read_eval_log(source.path, header_only=True, format="eval"), _samples(source, names)


def _samples(source: TranscriptSource, names: list[str]) -> "Iterator[EvalSample]":
    """Yields one sample after the other, since a log may be larger than memory."""
    from inspect_ai.log import read_eval_log_sample

    for found in filter(None, map(_SAMPLE.fullmatch, names)):
        yield read_eval_log_sample(
            source.path,
            found[1],
            int(found[2]),
            resolve_attachments="core",
            format="eval",
            exclude_fields=_UNUSED,
        )


def _note_end(sample: "EvalSample", name: str, note: Callable[[str], None]) -> None:
    if sample.error is not None:
        note(f"{name}: the sample ended with an error: {sample.error.message[:SHOWN]}")
    if sample.limit is not None:
        note(f"{name}: the sample was stopped by its {sample.limit.type} limit")


def _note_header(header: "EvalLog", count: int, note: Callable[[str], None]) -> None:
    if header.status != "success":
        note(f"the status of the log is {header.status}")
    told = header.results.total_samples if header.results is not None else None
    # A log that was cut off has no results, but a list of what was to be done.
    if told is None and header.eval.dataset.sample_ids is not None:
        told = len(header.eval.dataset.sample_ids) * (header.eval.config.epochs or 1)
    if told is not None and told != count:
        note(f"the header of the log lists {told:,} samples, but the log contains {count:,}")
