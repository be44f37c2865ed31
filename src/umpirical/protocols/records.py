"""Reads the record of a measured judge, whichever protocol wrote it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from umpirical.domain.errors import UsageError
from umpirical.protocols.catalogue import PROTOCOLS
from umpirical.protocols.protocol import Protocol
from umpirical.reports.record import Record, first_problem

LARGEST = 1 << 28
"""Bytes of a record that are read at most."""


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """A record, and where it came from."""

    protocol: Protocol[Any, Any]
    record: Record
    file: Path
    text: str

    @property
    def run(self) -> Path | None:
        """The folder of its run; None for a record that lies elsewhere."""
        return self.file.parent if (self.file.parent / "run.json").is_file() else None


def read_record(path: Path) -> ReadRecord:
    """Reads a record. `path` is its JSON file, or the folder of a measured run."""
    names = [f"{protocol.name}.json" for protocol in PROTOCOLS]
    file = next((path / name for name in names if (path / name).is_file()), path)
    if not file.is_file():
        raise UsageError(f"{path} holds no record", fix=f"name a file such as {names[0]}, or the folder of a run")
    if file.stat().st_size > LARGEST:
        raise UsageError(f"{file} has more than {LARGEST:,} bytes", fix="name a JSON file that Umpirical wrote")
    try:
        text = file.read_bytes().decode("utf-8")
        form = json.loads(text).get("format")
    except (ValueError, AttributeError, RecursionError):
        raise UsageError(f"{file} is not a record", fix="name a JSON file that Umpirical wrote") from None
    for protocol in PROTOCOLS:
        if protocol.record.model_fields["format"].default == form:
            try:
                record = protocol.parse(text)
            except ValidationError as error:
                message = f"{file} is not whole: {first_problem(error)}"
                raise UsageError(message, fix="restore it, or measure again") from None
            return ReadRecord(protocol, record, file, text)
    raise UsageError(f"{file} is a record of format {form!r}, which is not known here", fix="is its plugin installed?")
