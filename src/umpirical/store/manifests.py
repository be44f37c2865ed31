"""Manifests and digests: what is read is what was written, or the damage is named with its file.

A manifest is a JSON file that carries the digest of its own content, and those of the files that it lists. This shows
accidents and careless edits. Whoever edits a file on purpose can write a new digest too.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from umpirical.domain.digests import Json, canonical_json
from umpirical.domain.errors import StoreError
from umpirical.store.files import write_text

FORMAT = 2
"""Version of the manifests and what they list. 1 had neither a version nor digests, and is still read."""

LARGEST = 64_000_000
"""Bytes that a manifest may have. The plan of a million trials has 40,000."""

_checked: dict[Path, tuple[int, int, int, str]] = {}
"""Inode, size, time of change and digest of the files checked by this process: each is hashed once per change."""


class Damaged(StoreError):
    """A file of the record is missing, or is not what was written."""

    def __init__(self, message: str, *, fix: str = "restore it from a copy of the study") -> None:
        super().__init__(message, fix=fix)


def write_manifest(path: Path, content: Mapping[str, Json]) -> None:
    """Writes a manifest atomically, with the version of its format and the digest of its content."""
    whole = {"format": FORMAT, **content}
    write_text(path, json.dumps({**whole, "manifest_sha256": _digest(whole)}, indent=1) + "\n")


def read_manifest(path: Path) -> dict[str, Any]:
    """Returns the content of a manifest, checked. One of the first format has no digest to check."""
    content = _parsed(path)
    version = content.get("format", 1)
    if not isinstance(version, int) or version > FORMAT:
        raise StoreError(
            f"{path} has format {version!r}, but this version reads formats up to {FORMAT}",
            fix="install a newer umpirical",
        )
    said = content.pop("manifest_sha256", None)
    if (said is not None or version > 1) and said != _digest(content):
        raise Damaged(f"{path} has been changed since it was written")
    content.pop("format", None)
    return content


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_file(path: Path, sha256: str, *, lost: str) -> None:
    """Raises Damaged if a file is not the one with this digest; `lost` says what was in it."""
    try:
        stat = path.stat()
        known = (stat.st_ino, stat.st_size, stat.st_mtime_ns, sha256)
        if _checked.get(path) == known:
            return
        found = file_sha256(path)
    except FileNotFoundError:
        raise Damaged(f"{path} is missing; this affects {lost}") from None
    if found != sha256:
        raise Damaged(f"{path} has been changed since it was written; this affects {lost}")
    _checked[path] = known


def _parsed(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > LARGEST:
            raise Damaged(f"{path} is larger than {LARGEST:,} bytes")
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise Damaged(f"{path} is missing") from None
    except (ValueError, RecursionError) as error:
        raise Damaged(f"cannot read {path}: {error}") from None
    if not isinstance(content, dict):
        raise Damaged(f"{path} is not a valid manifest")
    return content


def _digest(content: Mapping[str, Any]) -> str:
    try:
        text = canonical_json(content)
    except ValueError as error:
        return f"none: {error}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
