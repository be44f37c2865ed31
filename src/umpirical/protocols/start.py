"""Functions that protocols share for writing a new study file."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from umpirical.domain.errors import UsageError
from umpirical.protocols.protocol import STUDY_FILE

_PLAIN = re.compile(r"[A-Za-z_/][\w./-]*", re.ASCII)
_NO_TEXT = frozenset({"true", "false", "null"})


def new_study_file(folder: Path) -> Path:
    """Returns the path for a folder's study file. Raises if there already is one: none is ever overwritten."""
    file = folder / STUDY_FILE
    if file.exists():
        raise UsageError(f"{file} already exists", fix="choose another folder, or edit that file")
    return file


def path_from(folder: Path, data: Path) -> str:
    """Returns the path relative to the study file if the two are close, so that both can be moved; else in full."""
    data, folder = data.resolve(), folder.resolve()
    return os.path.relpath(data, folder) if data.is_relative_to(folder.parent) else str(data)


def study_name(folder: Path) -> str:
    """Makes a study's name from that of its folder."""
    name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in folder.resolve().name)
    return name or "my-study"


def quoted_list(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(quoted, texts))}]"


def scalar(text: str) -> str:
    """Returns the text as is if YAML reads it as exactly that text, otherwise in quotes."""
    return text if _PLAIN.fullmatch(text) and text.lower() not in _NO_TEXT else quoted(text)


def quoted(text: str) -> str:
    """Returns any text in double quotes on one line; characters that cannot be printed are escaped as in YAML."""
    escaped = (
        f"\\{letter}" if letter in '"\\' else letter if letter.isprintable() else f"\\U{ord(letter):08x}"
        for letter in text
    )
    return f'"{"".join(escaped)}"'
