"""Writes files atomically: a file is either complete or absent."""

import os
from pathlib import Path

from umpirical.domain.errors import UsageError

__all__ = ["inside", "publish", "read_named_text", "write_text"]


def write_text(path: Path, text: str) -> None:
    """Replaces the file at `path` atomically: a reader sees the old text or the new, never a mixture."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    # surrogatepass would make a file that other programs cannot read; a lone surrogate becomes a visible mark instead.
    draft.write_text(text, encoding="utf-8", errors="backslashreplace")
    publish(draft, path)


def publish(draft: Path, path: Path) -> None:
    """Moves a finished draft to its place, so that it survives a power cut from then on."""
    with draft.open("rb") as handle:
        os.fsync(handle.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def inside(folder: Path, name: str, *, what: str = "file", outside: bool | None = None) -> Path:
    """Returns the path of a file that a study names, starting from the study's folder. Raises if it is outside.

    A stranger's study must not be able to send any file on this machine to a model. `outside` says that a person allows
    it; None if nobody can.
    """
    path = (folder / name).resolve()
    if not outside and not path.is_relative_to(folder.resolve()):
        fix = "copy it in" if outside is None else "copy it in, or add --outside"
        raise UsageError(f"the {what} {name} is outside the study folder", fix=fix)
    return path


def read_named_text(path: Path, *, name: str, most: int) -> str:
    """Returns the text of a file, stripped. `name` is what the user called it; `most` is in bytes."""
    if not path.is_file():
        raise UsageError(f"no file {name}", fix="name an existing text or Markdown file")
    if path.stat().st_size > most:
        raise UsageError(f"{name} is larger than {most:,} bytes", fix="keep only the part that judges need")
    try:
        text = path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not UTF-8 text", fix="save it as UTF-8") from None
    if not text:
        raise UsageError(f"{name} is empty", fix="describe what makes a good answer")
    return text
