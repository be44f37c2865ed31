"""Trust in a study folder: what it would do on this machine is shown and agreed to, once, before any of it is done.

Agreements are kept with the user's own state and never in the folder, where a stranger could ship them. They hold for
the folder as it is: a destination, a variable or a file of code that is new, or has changed, is shown again.
"""

import hashlib
import json
import os
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from umpirical.domain.errors import NotTrusted
from umpirical.judges.spec import JudgeSpec
from umpirical.protocols.protocol import Study
from umpirical.store.files import state_folder
from umpirical.store.runs import run_folders
from umpirical.study.powers import Power, powers_of, powers_of_judges
from umpirical.text.inert import inert


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be agreed to."""

    folder: Path
    powers: Sequence[Power]
    """Those that nobody has agreed to yet."""
    before: bool
    """Whether other powers of the folder were agreed to before."""

    @property
    def heading(self) -> str:
        if self.before:
            return f"{_one_line(str(self.folder))} has changed since it was agreed to. New is that it"
        return f"{_one_line(str(self.folder))} is used here for the first time. It"

    def lines(self) -> list[str]:
        """Returns the powers in words, what is odd first."""
        ordered = sorted(self.powers, key=lambda power: not power.doubt)
        return [_one_line(f"{power.words}{f'   <- {power.doubt}' if power.doubt else ''}") for power in ordered]


def _one_line(text: str) -> str:
    """Makes foreign text inert, line ends included: a name must not add a line of its own to the list."""
    return inert(text).replace("\n", "⟦U+000A⟧").replace("\t", "⟦U+0009⟧")


Agree = Callable[[Asked], bool]
"""Shows what is asked, and returns whether a person agrees to it."""


def agree_to_all(_: Asked) -> bool:
    """Agrees for a caller who said so in advance."""
    return True


def agree_if(*, trust: bool) -> Agree:
    """Answers for a caller who cannot be asked, and has said or not said so in advance."""
    return agree_to_all if trust else agree_to_none


def agree_to_none(asked: Asked) -> bool:
    """Raises, with everything that was asked: nobody is there to answer."""
    raise NotTrusted(
        "\n  - ".join([asked.heading, *asked.lines()]),
        fix="read the list, then pass trust=True; nothing was sent, and none of its code was run",
    )


def ensure_trusted(study: Study[Any], agree: Agree, *, named: Collection[str] = (), data: bool = True) -> None:
    """Raises NotTrusted unless everything that a study would do has been agreed to, earlier or now.

    `named` are judges that the person has named in the command itself. Without `data`, so were the data.
    """
    here = _made_here(_place(study.folder), study.folder)
    _ensure(study.folder, powers_of(study, named=named, data=data, made_here=here), agree)


def ensure_judge_trusted(judge: JudgeSpec, folder: Path, agree: Agree) -> None:
    """Raises NotTrusted unless what asking a judge would do has been agreed to: one that a run names, say."""
    _ensure(folder, powers_of_judges([judge], folder), agree)


def _ensure(folder: Path, powers: Sequence[Power], agree: Agree) -> None:
    place = _place(folder)
    agreed = _read(place)
    new = [power for power in powers if power.key not in agreed]
    if not new:
        return
    if not agree(Asked(folder, new, before=bool(agreed))):
        raise NotTrusted(
            "nobody has agreed to what this study would do; nothing was sent, and none of its code was run",
            fix="read the list, then add --trust, or answer yes on a terminal",
        )
    _write(place, folder, agreed, new)


def trust_as_made(study: Study[Any]) -> None:
    """Agrees to a study that the person's own command has just written."""
    ensure_trusted(study, agree_to_all)


def note_run(folder: Path, run: str) -> None:
    """Remembers that a run of a study is made on this machine, so that its answers are no stranger's."""
    with suppress(OSError):
        runs = _place(folder) / "runs"
        runs.mkdir(parents=True, exist_ok=True, mode=0o700)
        (runs / _digest(run)).touch(mode=0o600)


def _place(folder: Path) -> Path:
    """Returns where the agreements on a folder are kept: by its real path, so that a copy elsewhere is another one."""
    return state_folder() / "studies" / _digest(str(folder.resolve()))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _read(place: Path) -> dict[str, str]:
    """Returns what was agreed to, and when. A file that somebody else could have written says nothing."""
    file = place / "agreed.json"
    try:
        status = file.lstat()
        if status.st_uid != os.getuid() or status.st_mode & 0o022:
            return {}
        found = json.loads(file.read_text(encoding="utf-8"))["agreed"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return {str(key): str(when) for key, when in found.items()} if isinstance(found, dict) else {}


def _write(place: Path, folder: Path, agreed: dict[str, str], new: Sequence[Power]) -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    record = {"folder": str(folder.resolve()), "agreed": {**agreed, **{power.key: now for power in new}}}
    draft = place / f".agreed.{os.getpid()}.tmp"
    # An agreement that cannot be kept, as where the home cannot be written to, holds for this command.
    with suppress(OSError):
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        text = json.dumps(record, indent=1).encode("ascii")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(text)
        draft.replace(place / "agreed.json")


def _made_here(place: Path, folder: Path) -> set[str]:
    return {run.name for run in run_folders(folder) if (place / "runs" / _digest(run.name)).is_file()}
