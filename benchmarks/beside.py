"""This checkout beside another: the CPU that a call takes, and a report, as ratios of the two.

    python benchmarks/beside.py ../other-checkout --pairs 12 --sizes standard full

Both are run by turns, each in a process of its own, so that a busy machine slows both alike. Of each, the least and the
median are compared: other work on the machine only ever adds to the CPU that is counted.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from calling import HERE, StubServer

STUDY = """\
study: beside
judges:
  - name: careful
    model: {{adapter: simulated, name: careful}}
design: {{size: {size}}}
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("other", type=Path, help="a checkout of the version to compare with")
    options.add_argument("--pairs", type=int, default=12)
    options.add_argument("--calls", type=int, default=1440, help="for each measurement of calls; 0 for none")
    options.add_argument("--sizes", nargs="*", default=["standard"], help="of the studies that are reported")
    chosen = options.parse_args()
    sides = {"other": chosen.other.resolve(), "this": HERE.parent}
    if chosen.calls:
        with StubServer() as server:
            compare("call", chosen.pairs, {name: call(root, server, chosen.calls) for name, root in sides.items()})
    for size in chosen.sizes:
        with tempfile.TemporaryDirectory() as folder:
            runs = {name: simulated_run(root, Path(folder, name), size) for name, root in sides.items()}
            for again in (False, True):
                title = f"report, {size}, {'again' if again else 'first'}"
                compare(
                    title, chosen.pairs, {name: report(sides[name], run, again=again) for name, run in runs.items()}
                )


def compare(title: str, pairs: int, sides: dict[str, Callable[[], float]]) -> None:
    """Measures both by turns, and prints what they take and the ratio of this to the other."""
    found: dict[str, list[float]] = {name: [] for name in sides}
    for pair in range(pairs):
        # Whoever comes second finds a warmer machine.
        for name in sorted(sides, reverse=bool(pair % 2)):
            found[name].append(sides[name]())
    for word, middle in (("least", min), ("median", statistics.median)):
        this, other = middle(found["this"]), middle(found["other"])
        print(f"{title}: {word} {other:.3f} -> {this:.3f}, ratio {this / other:.3f}", flush=True)


def call(root: Path, server: StubServer, calls: int) -> Callable[[], float]:
    """Returns what measures a call of the fast path, in milliseconds of CPU."""
    ways = [str(root / "benchmarks" / "calling_ways.py"), "fast_path", server.url(20), str(calls), "64"]

    def measure() -> float:
        done = subprocess.run([sys.executable, *ways], env=_of(root), capture_output=True, text=True, check=True)
        return float(json.loads(done.stdout.splitlines()[-1])["cpu_ms"])

    return measure


def simulated_run(root: Path, folder: Path, size: str) -> Path:
    """Makes a study and its run with one of the two; returns the run's folder."""
    folder.mkdir()
    (folder / "umpirical.yaml").write_text(STUDY.format(size=size))
    command = [sys.executable, "-m", "umpirical", "run"]
    known = subprocess.run([*command, "--help"], env=_of(root), capture_output=True, text=True, check=True).stdout
    trust = ["--trust"] if "--trust" in known else []
    # What the policy says of the judge is of no interest here, and is in the exit code.
    subprocess.run([*command, str(folder), "--yes", *trust], env=_of(root), capture_output=True, check=False)
    [run] = (folder / "runs").iterdir()
    return run


def report(root: Path, run: Path, *, again: bool) -> Callable[[], float]:
    """Returns what measures a report, in seconds of CPU: the first one, or again with the judgments of one before."""

    def measure() -> float:
        if not again:
            (run / "judgments.parquet").unlink(missing_ok=True)
        command = [sys.executable, "-m", "umpirical", "report", str(run)]
        process = subprocess.Popen(command, env=_of(root), stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 3, 4):
            raise RuntimeError(f"no report on {run}")
        return used.ru_utime + used.ru_stime

    return measure


def _of(root: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(root / "src"), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


if __name__ == "__main__":
    main()
