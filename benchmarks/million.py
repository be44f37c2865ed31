"""A study of many judgments on one machine: planned, asked, recorded, read, counted and reported, with flat memory.

    python benchmarks/million.py --trials 1000000

Prints one JSON object: judgments per second of each stage, and the highest memory of the process after it.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from umpirical.domain.judgments import Outcome
from umpirical.domain.responses import Response
from umpirical.models.adapters.catalogue import Calling
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.protocols.datasheet.stimuli import write_stimulus_set
from umpirical.runs.local import LocalExecutor
from umpirical.stimuli.controlled.recipes import RECIPES
from umpirical.study.file import parse_study
from umpirical.study.prepare import prepare_run

STUDY = """\
study: million
judges:
  - {{name: careful, model: {{adapter: simulated, name: careful}}}}
design: {{size: standard, repeats: {repeats}}}
"""

TRIALS_PER_REPEAT = RECIPES["standard"].calls


class Watcher:
    """A line on standard error every hundred thousand trials."""

    def __init__(self) -> None:
        self.done = 0

    def resumed(self, trials: int) -> None:
        self.done += trials

    def settled(self, outcome: Outcome, response: Response) -> None:  # noqa: ARG002
        self.done += 1
        if self.done % 100_000 == 0:
            print(f"{self.done:,} asked, {peak_mb():.0f} MB", file=sys.stderr)


class Stages:
    """Times each stage, and notes the highest memory after it."""

    def __init__(self, trials: int) -> None:
        self.found: dict[str, object] = {"trials": trials}
        self._trials = trials
        self._start = time.perf_counter()

    def ended(self, name: str) -> None:
        now = time.perf_counter()
        self.found[f"{name}_per_second"] = round(self._trials / (now - self._start))
        self.found[f"{name}_peak_mb"] = round(peak_mb())
        self._start = now


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--trials", type=int, default=1_000_000)
    repeats = max(1, round(options.parse_args().trials / TRIALS_PER_REPEAT))
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(Path(folder), repeats), indent=1))


def measure(folder: Path, repeats: int) -> dict[str, object]:
    study = parse_study(STUDY.format(repeats=repeats), folder)
    # Made once, however many judgments there are to be.
    write_stimulus_set(study)
    stages = Stages(TRIALS_PER_REPEAT * repeats)
    run = prepare_run(study, study.spec.judges[0])
    stages.ended("planned")
    LocalExecutor(Calling(64)).run(range(run.shards), run.call, run.store, Watcher())
    stages.ended("asked_and_recorded")
    datasheet = DATASHEET.report(run)
    stages.ended("read_counted_and_measured")
    DATASHEET.write(datasheet, run.folder)
    sizes = {path.name: path.stat().st_size for path in run.store.folder.iterdir() if path.is_file()}
    responses = sum(path.stat().st_size for path in (run.store.folder / "responses").iterdir())
    stages.found["bytes_per_response"] = round(responses / run.trials, 1)
    stages.found["journal_bytes_left"] = sizes.get("journal.sqlite", 0)
    stages.found["complete"] = datasheet.complete
    stages.found["in_the_audit"] = sum(row.planned for row in datasheet.audit)
    return stages.found


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
