"""Runs to attack: made once, copied for every attack, and held to what they said before."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.sharing import locked, shared_folder
from tests.stimuli.built import lend_stimuli
from tests.trusting import trusting
from umpirical.protocols.datasheet.report import read_run
from umpirical.runs.executor import Unwatched
from umpirical.runs.run import open_run
from umpirical.store.runs import RunStore
from umpirical.store.snapshots import snapshot
from umpirical.study.file import read_study
from umpirical.study.run import complete_run, plan_runs

STUDY = """\
study: attacked
judges:
  - name: careful
    model: {{adapter: simulated, name: careful}}
design: {{size: screen, repeats: {repeats}}}
"""


def simulated_run(folder: Path, *, repeats: int = 1) -> Path:
    """Makes a study with a finished run; returns the run's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    lend_stimuli(folder)
    (folder / "umpirical.yaml").write_text(STUDY.format(repeats=repeats))
    [run] = plan_runs(read_study(folder), ())
    return complete_run(run, 8, lambda *_: Unwatched()).folder


def sound_run() -> Path:
    """A finished run, made once in a session; whichever process needs it first makes it."""
    folder = shared_folder() / "attacked"
    with locked(folder.with_suffix(".lock")):
        done = [page.parent for page in folder.glob("runs/*/datasheet.html")]
        return done[0] if done else simulated_run(folder)


def copy_study(run: Path, folder: Path) -> Path:
    """Copies the study of a run; returns the run's folder in the copy."""
    shutil.copytree(run.parent.parent, folder)
    return folder / "runs" / run.name


def unseal(run: Path) -> None:
    """Puts the answers of the first shard back into the journal, as if the run had been killed before sealing it."""
    store = RunStore(run)
    with snapshot(store) as now:
        found = list(now.responses(0).values())
    for path in (run / "responses").glob("00000-*"):
        path.unlink()
    journal = store.open_journal()
    journal.commit([(0, 0, response) for response in found])
    journal.close()


def said(run: Path) -> tuple[Any, ...]:
    """What a report on a run is made from: how many trials have no answer, the digest of all answers, every count."""
    found = read_run(open_run(run))
    return found.reading.unasked, found.reading.responses_sha256, found.tallies


def command(*arguments: object, prefix: tuple[str, ...] = ()) -> "subprocess.Popen[str]":
    """Starts the command line in a process of its own."""
    whole = [*prefix, sys.executable, "-m", "umpirical", *trusting(arguments)]
    return subprocess.Popen(whole, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
