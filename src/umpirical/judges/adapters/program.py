"""The adapter for programs in any language, which read questions and write answers as JSON lines.

    {"id": "7c9e...", "task": "...", "first": "...", "second": "..."}      or, to grade, with "response"
    {"id": "7c9e...", "verdict": "1"}      or {"id": ..., "error": "...", "kind": "rate-limited"}

Replies may come in any order. A program has the environment of whoever runs it, as a Python judge has: its keys too.
"""

import json
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from umpirical.domain.errors import UsageError
from umpirical.domain.responses import FailureKind
from umpirical.domain.trials import Presented
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.arguments import question_of
from umpirical.judges.failures import Unreadable
from umpirical.judges.processes import Program
from umpirical.models.caller import CallFailed
from umpirical.store.manifests import file_sha256

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec

LEFT_OUT = frozenset({"node_modules", "__pycache__", "runs"})
"""Folders whose files are not the user's own code."""


def program_judge(spec: "JudgeSpec", folder: Path) -> Adapted:
    """Makes the program of a spec askable. It is started with the first question."""
    assert spec.exec is not None  # noqa: S101  # the caller checked it
    question = question_of(spec)
    if "id" in spec.inputs.values():
        raise UsageError(f"judge {spec.name}: inputs: id is the name of the question's id", fix="choose another name")
    program = Program(spec.exec, folder, processes=spec.processes)

    async def ask(shown: Presented) -> str:
        return _text(await program.ask(question(shown)))

    files = {str(file.relative_to(folder)): file_sha256(file) for file in program_files(spec.exec, folder)}
    return Adapted(ask, {"command": list(spec.exec), "files": files}, close=program.close)


def _text(reply: dict[str, Any]) -> str:
    """Returns the answer in a reply, for the answer reader. Raises what the program reports."""
    error, kind = reply.pop("error", None), reply.pop("kind", None)
    if error not in (None, "", False):
        if kind == "unreadable":
            raise Unreadable(str(error))
        raise CallFailed(kind if kind in get_args(FailureKind) else "judge-error", str(error))
    if reply.keys() == {"text"} and isinstance(reply["text"], str):
        return reply["text"]
    try:
        return json.dumps(reply)
    except RecursionError:
        # What could just be read may be too deep to be written again.
        raise CallFailed("malformed", "a reply that is nested too deeply") from None


def program_files(command: Sequence[str], folder: Path, *, also: Collection[str] = ()) -> list[Path]:
    """Returns the files of a folder that a command names, with all others in it of the same sort, in order.

    `node judge.js` may load any other file in JavaScript; installed packages are left out. `also` are further suffixes.
    """
    home = folder.resolve()
    named = {file for word in command if (file := _named(word, home)) is not None}
    suffixes = {*also, *(file.suffix for file in named)} - {""}
    found = named | {file for file in _files(home) if file.suffix in suffixes}
    return [folder / file.relative_to(home) for file in sorted(found)]


def _named(word: str, home: Path) -> Path | None:
    for name in (word, word.rpartition("=")[2]):
        try:
            file = (home / name).resolve()
            if name and file.is_file() and file.is_relative_to(home):
                return file
        except OSError:  # a word that is too long for a name
            continue
    return None


def _files(home: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(home):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in LEFT_OUT)
        yield from (Path(place, name) for name in files if Path(place, name).is_file())
