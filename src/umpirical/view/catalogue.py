"""The studies and runs in a folder, as they are found now.

A name in an address is looked up among what was found, and never becomes a path. Links are not followed: a stranger's
folder could lead to any file of this machine.
"""

import os
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from umpirical.domain.errors import StoreError, UsageError
from umpirical.protocols.protocol import STUDY_FILE
from umpirical.runs.run import Run, open_run
from umpirical.store.runs import RunStore
from umpirical.study.results import RunState, run_state

DEEPEST = 4
"""How far below the folder a study is looked for."""

MOST_FOLDERS = 5_000
"""How many folders are looked into, so that somebody's home folder is not walked to its end."""

OWN_FOLDERS = frozenset({"runs", "stimuli", "comparisons", "juries", "report", "gallery", "review"})
"""What a study keeps in its folder, in which no other study is looked for."""

KEPT_SECONDS = 1.0
"""How long a walk counts as now."""

BESIDE = "keep stimuli/ beside runs/"

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")

Signature = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class FoundRun:
    """The folder of a run."""

    key: str
    """Its name in addresses: that of its folder, or one made from where it is."""
    folder: Path
    study: Path

    def signature(self) -> Signature:
        """Changes whenever anything is recorded: the name, time and size of whatever a writer touches."""
        return tuple(_stamps(self.folder))


@dataclass(frozen=True, slots=True)
class FoundStudy:
    """A folder with runs, or with a study file."""

    folder: Path
    name: str
    """Where it is, from the folder that is looked at."""
    runs: tuple[FoundRun, ...]


class Catalogue:
    """What there is under one folder. Several threads may ask at once."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._lock = threading.Lock()
        self._found: list[FoundStudy] = []
        self._looked = -KEPT_SECONDS
        self._states: dict[str, tuple[Signature, RunState]] = {}

    def studies(self) -> list[FoundStudy]:
        with self._lock:
            if time.monotonic() - self._looked >= KEPT_SECONDS:
                self._found = _numbered(self.root)
                self._looked = time.monotonic()
            return self._found

    def run(self, key: str) -> FoundRun | None:
        """Returns the run of that name that is there now."""
        found = next((run for study in self.studies() for run in study.runs if run.key == key), None)
        return found if found is not None and (found.folder / "run.json").is_file() else None

    def state(self, run: FoundRun) -> RunState:
        """Returns a run at a glance; read again only if something was recorded since."""
        signature = run.signature()
        known = self._states.get(run.key)
        if known is None or known[0] != signature:
            known = self._states[run.key] = (signature, _state(run))
        return known[1]


def opened(run: FoundRun) -> Run:
    """Opens a run for reading. Raises if anything in it leads elsewhere."""
    _refuse_links(run.folder)
    named = str(RunStore(run.folder).manifest.get("stimuli_folder", ""))
    if named != Path(named).name:
        raise StoreError(f"run {run.folder.name} uses test cases outside its study", fix=BESIDE)
    found = open_run(run.folder)
    stimuli = found.stimuli.folder
    if not stimuli.resolve().is_relative_to(run.study.resolve()) or _links(stimuli):
        raise StoreError(
            f"the test cases of run {run.folder.name} are outside its study", fix="keep stimuli/ beside runs/"
        )
    return found


def _state(run: FoundRun) -> RunState:
    try:
        _refuse_links(run.folder)
    except StoreError as error:
        return RunState(run.folder.name, damage=str(error))
    except OSError as error:
        return RunState(run.folder.name, damage=f"it cannot be read: {error.strerror}")
    return run_state(RunStore(run.folder))


def _refuse_links(folder: Path) -> None:
    for part in (folder, folder / "plan", folder / "responses"):
        if link := _links(part):
            raise StoreError(f"{link} is a link, and links are not followed", fix="replace it with the file itself")


def _links(folder: Path) -> Path | None:
    """Returns the folder, or the first thing in it, that is a link."""
    if folder.is_symlink():
        return folder
    try:
        with os.scandir(folder) as entries:
            return next((Path(entry.path) for entry in entries if entry.is_symlink()), None)
    except FileNotFoundError:
        return None


def _numbered(root: Path) -> list[FoundStudy]:
    """Returns the studies, in the order of their names, and gives every run a name of its own."""
    found = []
    names: set[str] = set()
    for folder in sorted(_study_folders(root)):
        runs = []
        for run in _run_folders(folder):
            key = run.name if _PLAIN.fullmatch(run.name) and run.name not in names else _made_up(run, root)
            names.add(key)
            runs.append(FoundRun(key, run, folder))
        found.append(FoundStudy(folder, "." if folder == root else str(folder.relative_to(root)), tuple(runs)))
    return found


def _made_up(run: Path, root: Path) -> str:
    return f"run-{sha256(os.fsencode(run.relative_to(root))).hexdigest()[:16]}"


def _study_folders(root: Path) -> Iterator[Path]:
    """Yields the folders that hold a study, level by level."""
    level, looked = [root], 0
    for _ in range(DEEPEST + 1):
        below = []
        for folder in level:
            looked += 1
            if looked > MOST_FOLDERS:
                return
            is_study = _is_study(folder)
            if is_study:
                yield folder
            below += [each for each in _folders_in(folder) if not (is_study and each.name in OWN_FOLDERS)]
        level = below


def _is_study(folder: Path) -> bool:
    file = folder / STUDY_FILE
    return (file.is_file() and not file.is_symlink()) or bool(_run_folders(folder))


def _run_folders(study: Path) -> list[Path]:
    runs = study / "runs"
    if runs.is_symlink() or not runs.is_dir():
        return []
    return [run for run in _folders_in(runs) if (run / "run.json").is_file()]


def _folders_in(folder: Path) -> list[Path]:
    """Returns the folders in a folder, by name: no links, and none that are hidden."""
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in entries if not e.name.startswith(".") and e.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return [folder / name for name in sorted(names)]


def _stamps(folder: Path) -> Iterator[tuple[str, int, int]]:
    watched = [folder / name for name in ("run.json", "plan/plan.json", "responses", "judgments.parquet")]
    try:
        names = [e.name for e in os.scandir(folder) if e.name.startswith("journal") or e.name.endswith(".json")]
        names = [name for name in names if not name.endswith("-shm")]
    except OSError:
        names = []
    for path in [*watched, *(folder / name for name in sorted(names))]:
        try:
            stat = path.lstat()
        except OSError:
            continue
        # Whoever only reads a journal leaves an empty log and an index of it behind.
        if stat.st_size or not path.name.endswith("-wal"):
            yield path.name, stat.st_mtime_ns, stat.st_size


def study_root(target: Path) -> Path:
    """Returns the folder to look at, for a folder, a study file or the folder of a run."""
    if (target / "run.json").is_file():
        parent = target.resolve().parent
        return parent.parent if parent.name == "runs" else parent
    if target.is_dir():
        return target
    if target.is_file():
        return target.parent
    raise UsageError(f"no folder {target}", fix="choose a study folder, or a folder that contains studies")
