"""What protocols share when they write a study file for somebody to start from."""

import re
from collections.abc import Iterable
from pathlib import Path

from umpirical.domain.errors import UsageError
from umpirical.protocols.study import STUDY_FILE

__all__ = ["new_study_file", "quoted", "quoted_list", "scalar", "study_name"]

_PLAIN = re.compile(r"[A-Za-z_/][\w./-]*", re.ASCII)
_NO_TEXT = frozenset({"true", "false", "null"})


def new_study_file(folder: Path) -> Path:
    """Where the study file of a folder goes. Raises where there is one already: none is ever overwritten."""
    file = folder / STUDY_FILE
    if file.exists():
        raise UsageError(f"{file} exists already", fix="choose another folder, or edit that file")
    return file


def study_name(folder: Path) -> str:
    """A name for a study, from that of its folder."""
    name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in folder.resolve().name)
    return name or "my-study"


def quoted_list(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(quoted, texts))}]"


def scalar(text: str) -> str:
    """As it is where YAML reads it as that text and nothing else, or else in quotes."""
    return text if _PLAIN.fullmatch(text) and text.lower() not in _NO_TEXT else quoted(text)


def quoted(text: str) -> str:
    """In double quotes on one line, whatever is in it: what cannot be printed is escaped as YAML does it."""
    escaped = (
        f"\\{letter}" if letter in '"\\' else letter if letter.isprintable() else f"\\U{ord(letter):08x}"
        for letter in text
    )
    return f'"{"".join(escaped)}"'
