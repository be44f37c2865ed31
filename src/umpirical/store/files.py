"""Files that are either whole or not there."""

import os
from pathlib import Path

from umpirical.domain.errors import UsageError

__all__ = ["inside", "publish", "read_named_text", "write_text"]


def write_text(path: Path, text: str) -> None:
    """Replaces the file at `path` at once: a reader sees the old text or the new, never half."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    # surrogatepass would make a file other programs cannot read; a lone surrogate becomes a visible mark instead.
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
    """Where a file is that a study names, from the study's folder. Raises if it lies elsewhere.

    Somebody else's study must not make this machine send any file of its own to a model. `outside` is a person's word
    that it may; None where nobody can give it.
    """
    path = (folder / name).resolve()
    if not outside and not path.is_relative_to(folder.resolve()):
        fix = "copy it in" if outside is None else "copy it in, or add --outside"
        raise UsageError(f"the {what} {name} lies outside the study folder", fix=fix)
    return path


def read_named_text(path: Path, *, name: str, most: int) -> str:
    """The text of a file, without blanks around it. `name` is what the person called it; `most` is in bytes."""
    if not path.is_file():
        raise UsageError(f"no file {name}", fix="name a text or Markdown file that is there")
    if path.stat().st_size > most:
        raise UsageError(f"{name} is larger than {most:,} bytes", fix="give the part that judges go by")
    try:
        text = path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not UTF-8 text", fix="save it as UTF-8") from None
    if not text:
        raise UsageError(f"{name} is empty", fix="write down what a good answer has to do")
    return text
