"""JSON that is written inert, and read with limits: errors name the line that is too long, too deep or not JSON."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from umpirical.domain.digests import Json
from umpirical.domain.errors import UsageError

LONGEST_LINE = 8_000_000
"""Bytes; several times as long as the longest texts that an item can hold."""

LONGEST_FILE = 512_000_000
"""Bytes of a file of many lines."""

LONGEST_LIST = 128_000_000
"""Bytes of a file that is a single JSON value: what is read from it takes many times as much memory."""


class BadLine(UsageError):
    """A line that cannot be imported."""

    def __init__(self, place: str, message: str, *, fix: str = "nothing was imported; correct the file") -> None:
        super().__init__(f"{place}: {message}", fix=fix)


def json_line(payload: Json) -> str:
    """One line of ASCII: whatever the texts hold, they can neither control a terminal nor end the line."""
    return json.dumps(payload, sort_keys=True, separators=(",", ":"), allow_nan=False)


def json_lines(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a JSONL file, each with its place, such as `review.jsonl:3`. Blank lines are skipped."""
    with file.open("rb") as lines:
        number = size = 0
        while line := lines.readline(LONGEST_LINE + 1):
            number += 1
            size += len(line)
            place = f"{file.name}:{number}"
            if size > LONGEST_FILE:
                raise BadLine(place, f"the file is longer than {LONGEST_FILE:,} bytes")
            if len(line) > LONGEST_LINE:
                raise BadLine(place, f"the line is longer than {LONGEST_LINE:,} bytes")
            if line.strip():
                yield place, _object(_parsed(line, place), place)


def json_list(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a JSON list, each with its place, such as `tasks.json: task 3`."""
    with file.open("rb") as whole:
        text = whole.read(LONGEST_LIST + 1)
    if len(text) > LONGEST_LIST:
        raise BadLine(file.name, f"the file is longer than {LONGEST_LIST:,} bytes", fix="split it")
    found = _parsed(text, file.name)
    if not isinstance(found, list):
        raise BadLine(file.name, f"expected a list of tasks, got {_kind(found)}")
    for number, entry in enumerate(found, 1):
        place = f"{file.name}: task {number}"
        yield place, _object(entry, place)


def _parsed(text: bytes, place: str) -> Any:  # noqa: ANN401  # whatever the JSON holds
    try:
        return json.loads(text)
    except RecursionError:
        raise BadLine(place, "the JSON is nested too deeply") from None
    except ValueError as error:
        raise BadLine(place, f"this is not valid JSON: {error}") from None


def text_of(record: Mapping[str, Any], name: str, place: str, *, most: int = LONGEST_LINE) -> str:
    """A text field of a record; empty if there is none."""
    value = record.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadLine(place, f"{name}: expected a text, got {_kind(value)}")
    if len(value) > most:
        raise BadLine(place, f"{name}: {len(value):,} characters, allowed: {most:,}")
    return value


def _object(value: object, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadLine(place, f"expected a JSON object, got {_kind(value)}")
    return value


def _kind(value: object) -> str:
    kinds = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return kinds.get(type(value), "null")
