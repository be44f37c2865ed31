"""Takes out of a log what differs from run to run: times, durations, random ids, the port, the commit."""

import json
import re
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

DAY = "2026-01-01T00:00:00+00:00"
"""When every run was, for all that the log says."""

DURATIONS = {"time", "total_time", "working_time", "working_start"}

LEFT_OUT = {"revision"}
"""The commit cannot be the one that the log is part of."""

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)")
RANDOM_ID = re.compile(r"[2-9A-HJ-NP-Za-km-z]{22}")


def tidy(log: Path, file: Path, *, address: str) -> None:
    """Writes a tidy copy of a log to `file`; `address` is where the model was.

    Inspect packs its logs with Zstandard, which zipfile knows once Inspect is imported. The copy is deflated, so that
    any zipfile opens it.
    """
    ids: dict[str, str] = {}
    with ZipFile(log) as old, ZipFile(file, "w") as new:
        for name in sorted(old.namelist()):
            found = json.loads(old.read(name).decode().replace(address, "http://127.0.0.1/v1"))
            entry = ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            text = json.dumps(_tidied(found, ids), ensure_ascii=False)
            new.writestr(entry, text, compress_type=ZIP_DEFLATED, compresslevel=9)


def _tidied(value: Any, ids: dict[str, str]) -> Any:  # noqa: ANN401  # JSON
    match value:
        case {"path": str(path), "value": int() | float()} if path.rpartition("/")[2] in DURATIONS:
            return value | {"value": 0}
        case dict():
            return {
                name: 0 if name in DURATIONS and isinstance(each, int | float) else _tidied(each, ids)
                for name, each in value.items()
                if name not in LEFT_OUT
            }
        case list():
            return [_tidied(each, ids) for each in value]
        case str() if TIME.fullmatch(value):
            return DAY
        case str() if RANDOM_ID.fullmatch(value):
            return ids.setdefault(value, f"id-{len(ids) + 1:03}")
        case _:
            return value
