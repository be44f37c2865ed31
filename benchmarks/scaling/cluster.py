"""Asking on a Ray cluster, beside bare actors of Ray Core that make and store the same calls.

Both on one cluster of this machine, in rounds. CPU is that of everything that was started: Ray's own processes, too.
"""

import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from calling import StubServer

IN_FLIGHT = 128
LATENCY_MS = 20
SHARD = 1000
CALLS_PER_REPEAT = 1368
"""Of a datasheet of the standard size."""
REPEATS, QUICK_REPEATS = 48, 4
ROUNDS, QUICK_ROUNDS = 3, 1

STUDY = """\
study: cluster
judges:
  - name: stub
    model: {{adapter: openai-compatible, name: stub, base_url: "{url}"}}
design: {{size: standard, repeats: {repeats}}}
concurrency: {in_flight}
"""

BODY = {"model": "stub", "max_tokens": 256, "messages": [{"role": "user", "content": "word " * 400}]}
"""Of the size of ours."""

_TICKS = os.sysconf("SC_CLK_TCK")


def measure(*, quick: bool) -> dict[str, float]:
    """Figures of one actor against one bare actor. Empty where Ray is not installed."""
    try:
        import ray
    except ImportError:
        return {}
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    repeats = QUICK_REPEATS if quick else REPEATS
    found: dict[str, list[tuple[float, float]]] = {"bare": [], "product": []}
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        with StubServer() as server:
            for _ in range(QUICK_ROUNDS if quick else ROUNDS):
                found["bare"].append(_bare(server.url(LATENCY_MS), repeats * CALLS_PER_REPEAT))
                found["product"].append(_product(server.url(LATENCY_MS), repeats))
    finally:
        ray.shutdown()
    cpu, wall = ({way: statistics.median(run[at] for run in runs) for way, runs in found.items()} for at in (0, 1))
    return {
        "ray_calls": repeats * CALLS_PER_REPEAT,
        "ray_cpu_ms": cpu["product"],
        "ray_cpu_vs_bare": cpu["product"] / cpu["bare"],
        "ray_throughput_vs_bare": wall["bare"] / wall["product"],
    }


def _product(url: str, repeats: int) -> tuple[float, float]:
    from umpirical.models.spec import Calling
    from umpirical.runs.executor import EXECUTORS, RAY, Unwatched
    from umpirical.study.file import parse_study
    from umpirical.study.prepare import prepare_run

    with tempfile.TemporaryDirectory() as folder:
        text = STUDY.format(url=url, repeats=repeats, in_flight=IN_FLIGHT)
        study = parse_study(text, Path(folder))
        run = prepare_run(study, study.spec.judges[0])
        executor = EXECUTORS.get(RAY)(Calling(IN_FLIGHT))
        found = _timed(run.trials, lambda: executor.run(range(run.shards), run.call, run.store, Unwatched()))
        assert run.calls_left() == 0  # noqa: S101
        return found


def _bare(url: str, calls: int) -> tuple[float, float]:
    import ray

    def work() -> object:
        actor: Any = ray.remote(num_cpus=1)(_Bare).remote(url, folder)
        return ray.get([actor.ask.remote(shard, min(SHARD, calls - shard)) for shard in range(0, calls, SHARD)])

    with tempfile.TemporaryDirectory() as folder:
        return _timed(calls, work)


class _Bare:
    """Makes the calls of one shard after another, and stores each shard once: what any such actor has to do."""

    def __init__(self, url: str, folder: str) -> None:
        self._url, self._folder = f"{url}/chat/completions", Path(folder)
        self._session: Any = None
        self._turn = asyncio.Lock()

    async def ask(self, shard: int, calls: int) -> int:
        import aiohttp

        async with self._turn:
            if self._session is None:
                self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
            left, answers = iter(range(calls)), list[dict[str, Any]]()

            async def work() -> None:
                for place in left:
                    async with self._session.post(self._url, json=BODY) as reply:
                        answers.append({"place": shard + place, "answer": json.loads(await reply.read())})

            await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
            await asyncio.to_thread(self._store, shard, answers)
            return len(answers)

    def _store(self, shard: int, answers: list[dict[str, Any]]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        draft = self._folder / f"{shard}.tmp"
        rows = [{"place": row["place"], "answer": json.dumps(row["answer"])} for row in answers]
        pq.write_table(pa.Table.from_pylist(rows), draft, compression="zstd")
        with draft.open("rb") as handle:
            os.fsync(handle.fileno())
        (self._folder / f"{shard}.parquet").hardlink_to(draft)
        draft.unlink()


def _timed(calls: int, work: Callable[[], object]) -> tuple[float, float]:
    """Returns the CPU of a call in milliseconds, over this process and all below it, and the seconds that all took."""
    cpu, wall = _tree_cpu(), time.perf_counter()
    work()
    wall = time.perf_counter() - wall
    return (_tree_cpu() - cpu) / calls * 1000, wall


def _tree_cpu() -> float:
    """Returns the seconds of CPU of this process and of all below it, those that have ended among them."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(path.parent.name)
        parents[pid] = int(fields[1])
        used[pid] = sum(map(int, fields[11:15])) / _TICKS
    return sum(seconds for pid, seconds in used.items() if _is_below(pid, parents))


def _is_below(pid: int, parents: dict[int, int]) -> bool:
    while pid > 1 and pid != os.getpid():
        pid = parents.get(pid, 0)
    return pid == os.getpid()
