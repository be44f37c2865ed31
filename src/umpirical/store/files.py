"""Writes files atomically: a file is either complete or absent."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from uuid import uuid4

from umpirical.domain.errors import UsageError
from umpirical.store.posix import fcntl

_ASIDE = ".building-"


def write_text(path: Path, text: str) -> None:
    """Replaces the file at `path` atomically: a reader sees the old text or the new, never a mixture."""
    with drafted(path) as draft:
        # surrogatepass would make a file that other programs cannot read; a lone surrogate becomes a visible mark.
        draft.write_text(text, encoding="utf-8", errors="backslashreplace")


@contextmanager
def drafted(path: Path, *, once: bool = False) -> Iterator[Path]:
    """Lends an empty file beside `path` to be written, and puts it in its place if nothing fails.

    No two processes or threads have the same draft. It is locked meanwhile: a sweep leaves it alone. With `once`,
    FileExistsError is raised if there is a file at `path` by then, which stays as it is.
    """
    draft = path.with_name(f".{path.name}.{uuid4().hex}.tmp")
    handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH)
        yield draft
        _publish(draft, path, once=once)
    finally:
        os.close(handle)
        draft.unlink(missing_ok=True)


def _publish(draft: Path, path: Path, *, once: bool = False) -> None:
    """Moves a finished draft to its place, so that it survives a power cut from then on."""
    with draft.open("rb") as handle:
        os.fsync(handle.fileno())
    if once:
        # A second name, which a file system gives to one of any number of machines; the first is removed later.
        path.hardlink_to(draft)
    else:
        draft.replace(path)
    _sync_folder(path.parent)


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def drafted_folder(parent: Path) -> Iterator[Path]:
    """Lends a folder that is not there yet, to be filled and then published under its name in `parent`, or dropped.

    For what is named by its content, which is known only once all of it has been made.
    """
    parent.mkdir(parents=True, exist_ok=True)
    sweep_drafts(parent)
    aside, handle = _locked_folder(parent)
    try:
        yield aside / "draft"
    finally:
        os.close(handle)
        shutil.rmtree(aside, ignore_errors=True)


def publish_folder(draft: Path, path: Path) -> None:
    """Moves a finished folder to its place, where there may be one that a killed process left unfinished."""
    shutil.rmtree(path, ignore_errors=True)
    draft.rename(path)
    _sync_folder(path.parent)


@contextmanager
def building(path: Path, *, keep: bool = True) -> Iterator[Path]:
    """Lends a file of this process's own, aside, to be built and read; puts it in place of `path` if nothing fails.

    Readers of `path` see the file of before or the new one. Where the folder cannot be written to, as on a read-only
    copy, or without `keep`, the file is built elsewhere and dropped in the end.
    """
    aside, handle, kept = _place_aside(path.parent if keep else None)
    try:
        yield aside / path.name
        if kept:
            _publish(aside / path.name, path)
    finally:
        os.close(handle)
        shutil.rmtree(aside, ignore_errors=True)


def _place_aside(parent: Path | None) -> tuple[Path, int, bool]:
    """Makes a folder of this process's own in another, if that is possible; says whether it is there."""
    if parent is not None:
        with suppress(OSError):
            parent.mkdir(parents=True, exist_ok=True)
            return *_locked_folder(parent), True
    return *_locked_folder(None), False


def _locked_folder(parent: Path | None) -> tuple[Path, int]:
    """Makes a folder of this process's own, and returns it with the handle that locks it."""
    while True:
        aside = Path(mkdtemp(prefix=_ASIDE, dir=parent))
        with suppress(FileNotFoundError):
            handle = os.open(aside, os.O_RDONLY)
            fcntl.flock(handle, fcntl.LOCK_SH)
            # A sweep may have come before the lock.
            if aside.exists():
                return aside, handle
            os.close(handle)


def sweep_drafts(folder: Path) -> None:
    """Removes what killed processes were writing in a folder. What a living one writes is locked, and stays."""
    for draft in (*folder.glob(f"{_ASIDE}*"), *folder.glob(".*.tmp")):
        with suppress(OSError):
            handle = os.open(draft, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(draft) if draft.is_dir() else draft.unlink()
            finally:
                os.close(handle)


def state_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Returns the folder of what Umpirical remembers for this user, by the XDG convention: in no study."""
    named = environment.get("XDG_STATE_HOME", "")
    home = Path(named) if Path(named).is_absolute() else Path.home() / ".local" / "state"
    return home / "umpirical"


def inside(folder: Path, name: str, *, what: str = "file", outside: bool | None = None) -> Path:
    """Returns the path of a file that a study names, starting from the study's folder. Raises if it is outside.

    A stranger's study must not be able to send any file on this machine to a model. `outside` says that a person allows
    it; None if nobody can.
    """
    path = (folder / name).resolve()
    if not outside and not path.is_relative_to(folder.resolve()):
        fix = "copy it into the folder" if outside is None else "copy it into the folder, or add --outside"
        raise UsageError(f"the {what} {name} is outside the study folder", fix=fix)
    return path


def read_named_text(path: Path, *, name: str, most: int) -> str:
    """Returns the text of a file, stripped. `name` is what the user called it; `most` is in bytes."""
    if not path.is_file():
        raise UsageError(f"no file {name}", fix="name an existing text or Markdown file")
    if path.stat().st_size > most:
        raise UsageError(f"{name} is larger than {most:,} bytes", fix="keep only what judges need")
    try:
        text = path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not UTF-8 text", fix="save it as UTF-8") from None
    if not text:
        raise UsageError(f"{name} is empty", fix="describe what makes a good answer")
    return text
