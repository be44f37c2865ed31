"""Turns what a person types into runs: a study's folder or file, a run's folder, or the name of a run or a judge."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from umpirical.domain.errors import StoreError, UsageError
from umpirical.protocols.protocol import STUDY_FILE
from umpirical.store.runs import RunStore, run_folders

STUDY_ENDINGS = (".yaml", ".yml")

RUN_WAYS = "a study's folder or file, the folder of a run, or the name of a run or a judge"


@dataclass(frozen=True, slots=True)
class RunTarget:
    """Runs that a person has named."""

    study: Path
    """The study's folder."""
    runs: tuple[Path, ...]
    """Their folders, by name; those of a study may be none."""
    whole: bool
    """Whether they are all runs of the study."""


def find_runs(target: str | Path) -> RunTarget:
    """Finds the runs that a person means. A name is looked up in the folder before it, or in the working directory.

    Raises UsageError, with what there is, if there is nothing of that name.
    """
    path = Path(target)
    if (path / "run.json").is_file():
        return RunTarget(_study_of(path), (path,), whole=False)
    if path.is_dir() and ((path / "runs").is_dir() or (path / STUDY_FILE).is_file()):
        return RunTarget(path, tuple(run_folders(path)), whole=True)
    if path.is_file():
        _refuse_other_files(path)
        return RunTarget(path.parent, tuple(run_folders(path.parent)), whole=True)
    study, known = path.parent, run_folders(path.parent)
    named = [run for run in known if run.name == path.name] or [run for run in known if _judge_of(run) == path.name]
    if named:
        return RunTarget(study, tuple(named), whole=False)
    if path.is_dir():
        return RunTarget(path, (), whole=True)
    raise UsageError(f"no run or judge {str(target)!r}", fix=_what_there_is(path.name, study, known))


def find_run(target: str | Path) -> Path:
    """Finds the one run that a person means. Raises UsageError, with their names, if there are several or none."""
    found = find_runs(target)
    if not found.runs:
        raise UsageError(f"{target}: no run has been made yet", fix=f"umpirical run {found.study}")
    if len(found.runs) > 1:
        names = ", ".join(str(run) for run in found.runs)
        raise UsageError(f"{target} has {len(found.runs)} runs, and one is needed", fix=f"name one of {names}")
    return found.runs[0]


def shared_study(runs: Sequence[Path]) -> Path:
    """Returns the folder of the study that all of these runs are of; the working directory if they are of several."""
    studies = {_study_of(run).resolve() for run in runs}
    return studies.pop() if len(studies) == 1 else Path()


def _refuse_other_files(path: Path) -> None:
    """Refuses a file that is no study's: it would pass for all runs that happen to lie beside it."""
    if path.suffix in STUDY_ENDINGS:
        return
    run = path.parent if (path.parent / "run.json").is_file() else None
    fix = f"name its folder, {run}" if run else f"name {RUN_WAYS}"
    raise UsageError(f"{path} is a file, but no study file ({' or '.join(STUDY_ENDINGS)})", fix=fix)


def _judge_of(run: Path) -> str | None:
    """Returns the name of a run's judge; None if its manifest is damaged."""
    try:
        judge = RunStore(run).manifest.get("judge")
    except StoreError:
        return None
    return str(judge.get("name")) if isinstance(judge, dict) else None


def _study_of(run: Path) -> Path:
    """Returns the folder of a run's study: `STUDY/runs/RUN`, or the run's own if it lies elsewhere."""
    parent = run.resolve().parent
    return parent.parent if parent.name == "runs" else run


def _what_there_is(name: str, study: Path, known: Sequence[Path]) -> str:
    names = [*(run.name for run in known), *filter(None, map(_judge_of, known))]
    near = get_close_matches(name, names, n=1)
    if near:
        return f"did you mean {near[0]}?"
    judges = ", ".join(dict.fromkeys(filter(None, map(_judge_of, known))))
    where = f"judges with runs in {study}: {judges}" if judges else f"there are no runs in {study}"
    return f"name {RUN_WAYS}; {where}"
