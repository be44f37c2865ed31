"""What was worked out before, kept for this user: the same numbers, from the same counts, by the same code.

It lies in the user's own folder and in no study, so that nobody else's study brings numbers of its own.
"""

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from umpirical.store.files import drafted, state_folder

T = TypeVar("T")

MOST = 200
"""How many results of one kind are kept: those used last."""


def kept_folder(name: str) -> Path | None:
    """Returns the user's folder for results of one kind; None if there can be none, or if others can write to it."""
    folder = state_folder() / "kept" / name
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError:
        return None
    return folder if found.st_uid == os.getuid() and not found.st_mode & 0o022 else None


def remembered(name: str, made_of: str, code: Sequence[str], adapter: TypeAdapter[T], compute: Callable[[], T]) -> T:
    """Returns what `compute` gives, from the user's folder if it was computed before.

    It depends on `made_of`, and on the source of the packages `code`. What `adapter` cannot write as JSON and read
    again is computed each time.
    """
    folder = kept_folder(name)
    if folder is None:
        return compute()
    path = folder / f"{hashlib.sha256(f'{_source(tuple(code))} {made_of}'.encode()).hexdigest()[:32]}.json"
    with suppress(OSError, ValidationError):
        found = adapter.validate_json(path.read_bytes())
        path.touch()
        return found
    found = compute()
    text = adapter.dump_json(found)
    with suppress(OSError, ValidationError):
        if adapter.validate_json(text) == found:
            with drafted(path) as draft:
                draft.write_bytes(text)
            _drop_the_oldest(folder)
    return found


@cache
def _source(packages: tuple[str, ...]) -> str:
    """Returns a digest of everything that such a result depends on besides what it is made of."""
    found = hashlib.sha256(" ".join(version(name) for name in ("numpy", "scipy")).encode())
    for package in packages:
        root = Path(str(files(package)))
        for path in sorted(root.rglob("*.py")):
            found.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return found.hexdigest()


def _drop_the_oldest(folder: Path) -> None:
    kept = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for path in kept[MOST:]:
        path.unlink(missing_ok=True)
