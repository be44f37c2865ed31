"""The key of whoever runs reviews on this machine, kept in their own folder and in no study.

Links and sessions are stored as hashes made with it. A database that comes from elsewhere may hold any hash, but none
that a token of its sender leads to here.
"""

import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from umpirical.domain.errors import UsageError
from umpirical.store.files import state_folder

KEY_BYTES = 32


def key_file(environment: Mapping[str, str] = os.environ) -> Path:
    return state_folder(environment) / "review.key"


def own_key(environment: Mapping[str, str] = os.environ) -> bytes:
    """The key, which is made the first time. Raises if others can read it, or wrote it."""
    path = key_file(environment)
    try:
        if not path.exists():
            _make(path)
        return _read(path)
    except OSError as error:
        raise UsageError(
            f"the key of your reviews, {path}, cannot be used: {error.strerror or error}",
            fix="make that folder yours and writable, or set XDG_STATE_HOME to a private folder",
        ) from None


def _make(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, secrets.token_bytes(KEY_BYTES))
        os.fsync(handle)
    finally:
        os.close(handle)
    # A link, not a rename: of two programs that start at once, both use the key of the first.
    with suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()


def _read(path: Path) -> bytes:
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    try:
        found, key = os.fstat(handle), os.read(handle, KEY_BYTES + 1)
    finally:
        os.close(handle)
    if os.name == "posix" and (found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077):
        raise UsageError(
            f"the key of your reviews, {path}, can be read or was written by others",
            fix="delete it: a new one is made, and everybody needs a new link",
        )
    if len(key) != KEY_BYTES:
        raise UsageError(f"the key of your reviews, {path}, is damaged", fix="delete it: a new one is made")
    return key
