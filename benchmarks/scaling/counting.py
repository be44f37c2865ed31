"""`umpirical runs` and `umpirical plan` on a run that is finished: what has been answered is counted, and not read."""

import sys
import tempfile
from pathlib import Path

from scaling.cpu import cpu_of
from umpirical.domain.responses import Response, Usage
from umpirical.study.file import parse_study
from umpirical.study.prepare import prepare_run

TRIALS, QUICK_TRIALS = 1_000_000, 20_000

STUDY = """\
study: answered
judges:
  - {{name: careful, model: {{adapter: simulated, name: careful}}}}
design: {{size: screen, repeats: {repeats}}}
"""

CALLS = 336
"""Calls of a datasheet of this size with one repeat."""


def measure(*, quick: bool) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        trials = answered_study(Path(folder), max(1, round((QUICK_TRIALS if quick else TRIALS) / CALLS)))
        command = [sys.executable, "-m", "umpirical"]
        plan = [*command, "plan", folder, "--trust", "--max-calls", str(trials)]
        first = cpu_of(plan)
        return {
            "counted_trials": trials,
            "start_cpu": cpu_of([*command, "runs", "--help"]),
            "runs_cpu": cpu_of([*command, "runs", folder]),
            "first_plan_cpu": first,
            "plan_cpu": cpu_of(plan),
        }


def answered_study(folder: Path, repeats: int) -> int:
    """Writes a study with a run in which every trial has an answer; returns how many there are."""
    text = STUDY.format(repeats=repeats)
    (folder / "umpirical.yaml").write_text(text)
    study = parse_study(text, folder)
    run = prepare_run(study, study.spec.judges[0])
    for shard in range(run.shards):
        answers = [
            Response(trial.id, '{"verdict": "1"}', usage=Usage(400, 8), latency_ms=20.0, attempts=1)
            for trial, _ in run.store.plan_shard(shard)
        ]
        run.store.seal(shard, 0, answers)
    return run.trials
