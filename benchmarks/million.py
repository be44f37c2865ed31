"""A study of many judgments on one machine: made, planned, asked, recorded, counted and reported, with flat memory.

    python benchmarks/million.py --trials 1000000
    python benchmarks/million.py --trials 1000000 --protocol stress

A server on loopback answers every call alike. Prints one JSON object: of each stage the seconds of CPU of this process,
judgments per second, and the highest memory so far.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from calling import StubServer
from scaling.planning import stress_study

from umpirical.domain.judgments import Outcome
from umpirical.domain.responses import Response
from umpirical.models.spec import Calling
from umpirical.protocols.protocol import Study
from umpirical.runs.local import LocalExecutor
from umpirical.stimuli.controlled.datasheet_set import RECIPES
from umpirical.study.file import parse_study
from umpirical.study.prepare import prepare_run

MODEL = "{{adapter: openai-compatible, name: stub, base_url: '{url}', price: free}}"

STUDY = """\
study: million
judges:
  - name: stub
    model: {model}
design: {{size: standard, repeats: {repeats}}}
"""

TRIALS_PER_REPEAT = RECIPES["standard"].calls
TRIALS_PER_ITEM = 17
"""Of a stress study with these tests, whose texts can all be changed."""

IN_FLIGHT = 64


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

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}
        self._taken: list[tuple[str, float, float]] = []
        self._start = time.perf_counter(), time.process_time()

    def ended(self, name: str) -> None:
        now = time.perf_counter(), time.process_time()
        self._taken.append((name, now[0] - self._start[0], now[1] - self._start[1]))
        self.found[f"{name}_peak_mb"] = round(peak_mb())
        self._start = now

    def over(self, trials: int) -> dict[str, Any]:
        for name, seconds, cpu in self._taken:
            self.found |= {f"{name}_cpu_s": round(cpu, 1), f"{name}_per_second": round(trials / seconds)}
        return {"trials": trials, **self.found}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--trials", type=int, default=1_000_000)
    options.add_argument("--protocol", choices=["datasheet", "stress"], default="datasheet")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, StubServer() as server:
        place, model = Path(folder, "study"), MODEL.format(url=server.url(0, graded=chosen.protocol == "stress"))
        if chosen.protocol == "stress":
            study = stress_study(place, max(1, round(chosen.trials / TRIALS_PER_ITEM)), model)
        else:
            place.mkdir()
            study = datasheet_study(place, max(1, round(chosen.trials / TRIALS_PER_REPEAT)), model)
        print(json.dumps(measure(study), indent=1))


def datasheet_study(folder: Path, repeats: int, model: str) -> Study[Any]:
    """Returns a datasheet study in a folder that is there."""
    return parse_study(STUDY.format(model=model, repeats=repeats), folder)


def measure(study: Study[Any]) -> dict[str, Any]:
    stages, protocol = Stages(), study.protocol
    stimuli = protocol.stimuli(study)
    stages.ended("made")
    run = prepare_run(study, study.spec.judges[0], stimuli=stimuli)
    stages.ended("planned")
    LocalExecutor(Calling(IN_FLIGHT)).run(range(run.shards), run.call, run.store, Watcher())
    stages.ended("asked_and_recorded")
    record = protocol.report(run)
    stages.ended("read_counted_and_measured")
    protocol.write(record, run.folder)
    stages.ended("written")
    responses = sum(path.stat().st_size for path in (run.store.folder / "responses").iterdir())
    stages.found["bytes_per_response"] = round(responses / run.trials, 1)
    stages.found["complete"] = record.complete
    stages.found["in_the_audit"] = sum(row.planned for row in record.audit)
    return stages.over(run.trials)


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
