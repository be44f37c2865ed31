"""Which formats of transcripts there are, and which of them a file has."""

from collections.abc import Mapping
from pathlib import Path

from umpirical.datasets.transcripts.chat_lines import read_messages
from umpirical.datasets.transcripts.inspect_logs import read_inspect
from umpirical.datasets.transcripts.sources import TranscriptReader
from umpirical.datasets.transcripts.spans import read_spans

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
