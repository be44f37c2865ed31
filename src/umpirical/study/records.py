"""Records that are stored: what was published about a run, wherever it lies."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from umpirical.domain.errors import UsageError
from umpirical.protocols.catalogue import PROTOCOLS
from umpirical.protocols.protocol import Protocol
from umpirical.reports.record import Record, first_problem

__all__ = ["StoredRecord", "stored_record"]


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record that was read from a file, and the protocol that it is of."""

    protocol: Protocol[Any, Any]
    record: Record
    folder: Path | None
    """The folder of its run; None for a record that lies elsewhere."""


def stored_record(place: Path) -> StoredRecord:
    """Reads a record from a JSON file, or from the folder of a measured run. Makes no calls."""
    names = [f"{protocol.name}.json" for protocol in PROTOCOLS]
    file = next((place / name for name in names if (place / name).is_file()), place)
    if not file.is_file():
        raise UsageError(f"{place} holds no record", fix=f"name a file such as {names[0]}, or the folder of a run")
    try:
        text = file.read_text(encoding="utf-8")
        form = json.loads(text).get("format")
    except (ValueError, AttributeError, RecursionError):
        raise UsageError(f"{file} is not a record", fix="name a JSON file that Umpirical wrote") from None
    for protocol in PROTOCOLS:
        if protocol.record.model_fields["format"].default == form:
            try:
                record = protocol.parse(text)
            except ValidationError as error:
                raise UsageError(
                    f"{file} is not whole: {first_problem(error)}", fix="restore it, or measure again"
                ) from None
            return StoredRecord(protocol, record, file.parent if (file.parent / "run.json").is_file() else None)
    raise UsageError(f"{file} is a record of format {form!r}, which is not known here", fix="is its plugin installed?")
