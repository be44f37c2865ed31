"""JSON Lines: one object in each line."""

import json
from collections.abc import Iterator
from typing import Any

from umpirical.datasets.nesting import is_deeper
from umpirical.datasets.readers import DatasetReader, Row, Source, Table, counted
from umpirical.datasets.text_lines import numbered_lines
from umpirical.domain.errors import ConfigError

LONGEST_NUMBER = 1_000
"""The most digits that a whole number may have."""


def _read(source: Source) -> Table:
    """Objects may have different keys, so only the rows say which columns there are. Blank lines are skipped."""
    return Table(source.name, None, counted(_rows(source), source))


def _rows(source: Source) -> Iterator[Row]:
    for number, line in numbered_lines(source):
        if line.strip():
            place = f"{source.name}:{number}"
            yield Row(place, _parsed(line, place, source.limits.depth))


def _parsed(line: str, place: str, deepest: int) -> dict[str, object]:
    if is_deeper(line, deepest):
        fix = "flatten the record, or raise dataset.limits.depth"
        raise ConfigError(f"nested more than {deepest} levels deep", where=place, fix=fix)
    try:
        found: Any = json.loads(line, object_pairs_hook=_distinct, parse_int=_whole_number)
    except json.JSONDecodeError as error:
        fix = "each line is one whole JSON object"
        raise ConfigError(f"not JSON: {error.msg} at place {error.pos + 1}", where=place, fix=fix) from None
    except ValueError as error:
        raise ConfigError(str(error), where=place, fix="correct the line") from None
    if not isinstance(found, dict):
        message = f'expected an object such as {{"response": "..."}}, got {type(found).__name__}'
        raise ConfigError(message, where=place, fix="write one object to a line, and no list around them")
    return found


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} is there twice")
    return found


def _whole_number(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise ValueError(f"a number of {len(digits):,} digits, at most {LONGEST_NUMBER} are read")
    return int(digits)


READER = DatasetReader("jsonl", _read)
