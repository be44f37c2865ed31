"""JSON documents of others, read within limits."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from umpirical.datasets.readers import READERS, Row, Source
from umpirical.datasets.spec import LimitsSpec
from umpirical.datasets.text_lines import check_size
from umpirical.domain.errors import ConfigError

LIMITS = LimitsSpec(bytes=1 << 28, depth=64)
"""A document is parsed as a whole, and takes ten times its size in memory."""

_FORMAT = "name the format with --format, or export the file again"


def read_document(path: Path) -> Any:  # noqa: ANN401  # foreign JSON
    """Returns the JSON in a file. Raises ConfigError for one that is too large, nested too deeply, or no JSON."""
    source = Source(path, path.name, limits=LIMITS)
    check_size(source)
    return parse_document(path.read_bytes(), path.name)


def parse_document(text: bytes, where: str) -> Any:  # noqa: ANN401  # foreign JSON
    try:
        found: Any = json.loads(text.decode("utf-8-sig"), object_pairs_hook=_distinct)
    except RecursionError:
        raise ConfigError("nested too deeply to be read", where=where, fix=_FORMAT) from None
    except ValueError as error:
        raise ConfigError(f"not JSON: {str(error)[:200]}", where=where, fix=_FORMAT) from None
    return found


def table_rows(path: Path, form: str) -> Iterator[Row]:
    """Yields the rows of a table: CSV, JSON Lines or Parquet, by the readers of datasets, and in their limits."""
    yield from READERS.get(form).open(Source(path, path.name, limits=LIMITS)).rows


def entries(found: object, *path: str, where: str) -> Sequence[Mapping[str, Any]]:
    """Returns a list of objects inside a document. Raises ConfigError if something else stands there."""
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    if not isinstance(found, list) or not all(isinstance(each, Mapping) for each in found):
        place = ".".join(path) or "the document"
        raise ConfigError(f"{place} is not a list of objects", where=where, fix=_FORMAT)
    return found


def text_of(value: object) -> str:
    """Returns a name or an id as text; empty if there is none."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, sort_keys=True)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has the same field twice, and may contradict itself")
    return found
