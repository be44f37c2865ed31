"""Calling a judge: the fast path and the Inspect adapter against the bare clients they are built on.

    python benchmarks/calling.py --json            about ten minutes
    python benchmarks/calling.py --quick --json    under a minute

All against one server on loopback, each in a process of its own, one after the other and in rounds, so that a busy
machine slows all of them alike. Read the ratios; the absolute figures are this machine's of this minute.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

HERE = Path(__file__).parent

HARNESS_CPU_MS = 6.9
"""CPU per call of the Judge Reliability Harness's public code, measured elsewhere: it cannot be run here."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="fewer calls, one round")
    options.add_argument("--memory", action="store_true", help="also measure memory at 10,000 and 200,000 calls")
    options.add_argument("--json", action="store_true", help="print nothing but the JSON object")
    chosen = options.parse_args()
    with StubServer() as server:
        found = compare(server, quick=chosen.quick, quiet=chosen.json)
        if chosen.memory:
            found |= memory(server, quick=chosen.quick)
    print(json.dumps(found, indent=1))


class StubServer:
    """The stub in a process of its own."""

    def __enter__(self) -> Self:
        command = [sys.executable, str(HERE / "stub_server.py")]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None  # noqa: S101  # a pipe was asked for
        self._port = int(self._process.stdout.readline())
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def url(self, latency_ms: int, *, graded: bool = False) -> str:
        return f"http://127.0.0.1:{self._port}/{latency_ms}/{'graded/' if graded else ''}v1"


def compare(server: StubServer, *, quick: bool, quiet: bool) -> dict[str, Any]:
    many, few, rounds = (2304, 250, 1) if quick else (11520, 1500, 3)
    plan = [("bare_aiohttp", many), ("fast_path", many)]
    slow = [("openai_client", few), ("inspect_generate", few), ("inspect_adapter", few)]
    results: dict[str, list[dict[str, float]]] = {}
    for latency in (20, 0):
        for in_flight in (64, 128):
            heavy = slow if (latency, in_flight) == (20, 64) else []
            for _ in range(rounds):
                for way, calls in [*plan, *heavy]:
                    key = f"{way} {latency} ms {in_flight} in flight"
                    result = measure(way, server.url(latency), calls, in_flight)
                    results.setdefault(key, []).append(result)
                    if not quiet:
                        print(key, result, file=sys.stderr)
    return summary(results)


def measure(way: str, url: str, calls: int, in_flight: int) -> dict[str, float]:
    command = [sys.executable, str(HERE / "calling_ways.py"), way, url, str(calls), str(in_flight)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{way} failed:\n{done.stderr[-3000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def summary(results: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """Ratios of medians over the rounds."""
    middle = {
        key: {name: statistics.median(run[name] for run in runs) for name in runs[0]} for key, runs in results.items()
    }
    settings = [key.removeprefix("fast_path ") for key in middle if key.startswith("fast_path ")]
    throughput = {
        setting: middle[f"fast_path {setting}"]["per_second"] / middle[f"bare_aiohttp {setting}"]["per_second"]
        for setting in settings
    }
    over = {
        setting: middle[f"fast_path {setting}"]["cpu_ms"] - middle[f"bare_aiohttp {setting}"]["cpu_ms"]
        for setting in settings
    }
    base = "20 ms 64 in flight"
    fast = middle[f"fast_path {base}"]["cpu_ms"]
    return {
        "fast_path_throughput_vs_bare": round(min(throughput.values()), 3),
        "fast_path_cpu_ms_over_bare": round(max(over.values()), 3),
        "inspect_adapter_cpu_vs_bare_inspect": round(
            middle[f"inspect_adapter {base}"]["cpu_ms"] / middle[f"inspect_generate {base}"]["cpu_ms"], 3
        ),
        "fast_path_cpu_vs_openai_client": round(fast / middle[f"openai_client {base}"]["cpu_ms"], 3),
        "fast_path_cpu_vs_inspect_generate": round(fast / middle[f"inspect_generate {base}"]["cpu_ms"], 3),
        "fast_path_cpu_vs_harness": round(fast / HARNESS_CPU_MS, 3),
        "by_setting": {
            setting: {
                "fast_path_throughput_vs_bare": round(throughput[setting], 3),
                "fast_path_cpu_ms_over_bare": round(over[setting], 3),
            }
            for setting in settings
        },
        "measured": {key: {name: round(value, 3) for name, value in found.items()} for key, found in middle.items()},
        "rounds": max(map(len, results.values())),
    }


def memory(server: StubServer, *, quick: bool) -> dict[str, Any]:
    """Highest memory of the fast path at two sizes, twenty times apart, and of the Inspect adapter."""
    small, large, inspect = (2304, 23040, 500) if quick else (10_368, 200_448, 5000)
    peaks = [measure("fast_path", server.url(0), calls, 128)["peak_mb"] for calls in (small, large)]
    slow = [measure("inspect_adapter", server.url(0), calls, 64)["peak_mb"] for calls in (inspect // 10, inspect)]
    return {
        "memory_calls": [small, large],
        "memory_growth_mb": round(peaks[1] - peaks[0], 1),
        "inspect_memory_calls": [inspect // 10, inspect],
        "inspect_memory_growth_mb": round(slow[1] - slow[0], 1),
    }


if __name__ == "__main__":
    main()
