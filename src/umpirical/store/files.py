"""Files that are either whole or not there."""

import os
from pathlib import Path

__all__ = ["publish", "write_text"]


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
