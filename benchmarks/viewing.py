"""`umpirical view` of a large run: how long the server works on each page, and the memory that it takes.

    python benchmarks/viewing.py --trials 1000000
    python benchmarks/viewing.py --trials 1000000 --keep FOLDER    makes the study there, or looks at the one there is

The run is planned as any other. Its answers are made up without asking, of every kind of outcome, then sealed, read and
measured. The server runs in a process of its own. Prints one JSON object: milliseconds from a request to the end of its
answer, the median and the most of several, the same for 20 people who look at once and never pause, and the highest
memory of the server.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from million import MODEL, TRIALS_PER_REPEAT, datasheet_study

from umpirical.domain.responses import Response, Usage
from umpirical.runs.run import Run
from umpirical.store.parquet import read_rows
from umpirical.study.prepare import prepare_run

ANSWERS = ("1", "1", "1", "2", "2", "tie", "tie", "abstain")

FILTERS = (
    "",
    "family=graded",
    "family=graded&step=2",
    "position=1",
    "position=tie",
    "outcome=unparsed",
    "outcome=failed",
    "result=wrong",
    "q=parcel",
    "sort=-said",
    "family=blank&position=1",
    "order=ba&position=2",
    "family=equal&order=ab&position=tie&outcome=verdict",
)

TIMES = 5
PEOPLE = 20


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--trials", type=int, default=1_000_000)
    options.add_argument("--keep", type=Path, help="a folder for the study, in place of a temporary one")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = chosen.keep or Path(folder, "study")
        if not (study / "runs").is_dir():
            make(study, chosen.trials)
        print(json.dumps(measure(study), indent=1))


def make(folder: Path, trials: int) -> Run:
    """Writes a study with one measured run of about so many trials."""
    folder.mkdir(parents=True)
    study = datasheet_study(
        folder, max(1, round(trials / TRIALS_PER_REPEAT)), MODEL.format(url="http://127.0.0.1:9/v1")
    )
    run = prepare_run(study, study.spec.judges[0], stimuli=study.protocol.stimuli(study))
    for shard in range(run.shards):
        rows = read_rows(run.folder / "plan" / f"{shard:05d}.parquet", ["trial_id", "asked_in"])
        run.store.seal(shard, 0, [made_up(row["trial_id"]) for row in rows if row["asked_in"] == shard])
        if shard % 50 == 0:
            print(f"{shard} of {run.shards} shards", file=sys.stderr)
    study.protocol.write(study.protocol.report(run), run.folder)
    return run


def made_up(trial_id: str) -> Response:
    """An answer of one kind or another, by the id of the trial."""
    drawn = int(trial_id[:8], 16)
    shared: dict[str, Any] = {"latency_ms": 100.0, "asked_at": "2026-01-01T00:00:00+00:00", "served_by": "stub"}
    if drawn % 97 == 0:
        return Response(trial_id, None, failure="timeout", failure_detail="no answer within 30 s", **shared)
    text = "Hard to say." if drawn % 53 == 0 else json.dumps({"verdict": ANSWERS[drawn // 97 % len(ANSWERS)]})
    return Response(trial_id, text, finish_reason="stop", usage=Usage(1200, 6), **shared)


def measure(study: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "umpirical", "view", str(study), "--port", "0", "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # noqa: S101  # a pipe was asked for
        link = next(found[1] for line in process.stdout if (found := re.search(r"(http://\S+/join/\S+)", line)))
        try:
            return looked(link) | {"peak_mb": peak_mb(process.pid)}
        finally:
            process.terminate()


def looked(link: str) -> dict[str, Any]:
    """Comes in by the link, and times every page: first as a server answers that has just started, then again."""
    browser = Browser(link)
    time.sleep(1)  # a person who opens the link takes longer
    cold = {"index": browser.timed(f"{browser.home}/")}
    [run] = set(re.findall(r'href="([^"]+/runs/[^"/]+)"', browser.get(f"{browser.home}/")))
    # The list before the page of the run, which would have its table counted in the background.
    cold["trials"], cold["run"] = browser.timed(f"{run}/trials?position=1"), browser.timed(run)
    pages = {"index": f"{browser.home}/", "run": run} | {f"trials?{each}": f"{run}/trials?{each}" for each in FILTERS}
    if following := re.search(r'rel="next" href="([^"]+)"', browser.get(f"{run}/trials?position=1")):
        pages["following page"] = following[1].replace("&amp;", "&")
        pages["page near the end"] = re.sub(r"page=\d+", "page=950000", pages["following page"])
    if trial := re.search(r'href="([^"]+/trials/\d+[^"]*)"', browser.get(f"{run}/trials?family=graded")):
        pages["trial"] = trial[1].replace("&amp;", "&")
    found: dict[str, Any] = {
        "cold_ms": {name: round(value, 1) for name, value in cold.items()},
        "ms": {},
        "most_ms": {},
    }
    for name, path in pages.items():
        times = [browser.timed(path) for _ in range(TIMES)]
        found["ms"][name], found["most_ms"][name] = round(statistics.median(times), 1), round(max(times), 1)
    return found | {"people": together(link, list(pages.values()))}


def together(link: str, paths: Sequence[str]) -> dict[str, Any]:
    """Times every page for people who look at once. Each begins with another page, and asks for one after the other."""

    def look(person: int) -> list[float]:
        browser, start, times = Browser(link), person % len(paths), []
        for path in (*paths[start:], *paths[:start]):
            with suppress(RuntimeError):
                times.append(browser.timed(path))
        return times

    with ThreadPoolExecutor(PEOPLE) as people:
        times = sorted(one for each in people.map(look, range(PEOPLE)) for one in each)
    asked = PEOPLE * len(paths)
    figures = {"median_ms": times[len(times) // 2], "p95_ms": times[int(0.95 * len(times))], "most_ms": times[-1]}
    return {"requests": asked, "refused": asked - len(times)} | {name: round(ms) for name, ms in figures.items()}


class Browser:
    """A session, over one connection."""

    def __init__(self, link: str) -> None:
        address = urlsplit(link)
        self.host = address.netloc
        self.connection = HTTPConnection(self.host)
        self.connection.request("GET", address.path)
        answer = self.connection.getresponse()
        answer.read()
        self.home = str(answer.headers["Location"]).rstrip("/")
        self.cookie = str(answer.headers["Set-Cookie"]).partition(";")[0]

    def get(self, path: str) -> str:
        headers = {"Cookie": self.cookie, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
        self.connection.request("GET", path, headers=headers)
        answer = self.connection.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status}\n{text[:2000]}")
        return text

    def timed(self, path: str) -> float:
        start = time.perf_counter()
        self.get(path)
        return 1000 * (time.perf_counter() - start)


def peak_mb(process: int) -> float:
    """The highest memory of a process so far; NaN on a system without /proc."""
    with suppress(OSError):
        [line] = [each for each in Path(f"/proc/{process}/status").read_text().splitlines() if "VmHWM" in each]
        return round(int(line.split()[1]) / 1024, 1)
    return float("nan")


if __name__ == "__main__":
    main()
