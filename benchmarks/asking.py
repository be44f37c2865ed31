"""Asking: the local executor against a bare aiohttp loop that also appends every answer durably.

    python benchmarks/asking.py [--quick]

All against one server on loopback, each in a process of its own, one after the other and in rounds, so that a busy
machine slows all of them alike. Read the ratios; the absolute figures are this machine's of this minute.
"""

import argparse
import json
import statistics
from concurrent.futures import ThreadPoolExecutor

from calling import StubServer, measure

Figures = dict[str, float]


def measure_asking(*, quick: bool = False) -> Figures:
    """All figures of asking, by name."""
    return local_figures(quick=quick) | processes_figures(quick=quick)


def local_figures(*, quick: bool = False) -> Figures:
    """One process against the bare loops, at a latency of 20 ms."""
    found: Figures = {}
    with StubServer() as server:
        for in_flight, ending in ((64, ""), (128, "_128")):
            middle = _middle(["bare_durable", "bare_durable_uvloop", "asking"], server.url(20), in_flight, quick=quick)
            for name, figure in (("cpu", "cpu_ms"), ("throughput", "per_second")):
                found[f"local_{name}_vs_bare{ending}"] = _ratio(middle, figure, "bare_durable")
                found[f"local_{name}_vs_bare_on_uvloop{ending}"] = _ratio(middle, figure, "bare_durable_uvloop")
            found[f"local_cpu_ms{ending}"] = middle["asking"]["cpu_ms"]
            found[f"local_per_second{ending}"] = middle["asking"]["per_second"]
    return found


def processes_figures(*, quick: bool = False) -> Figures:
    """Two processes against one, where a processor is the limit: no latency, 128 in flight.

    The limit of this machine is what two runs of their own reach at the same time, each in one process. The server
    takes its part of the processors in all of them.
    """
    with StubServer() as server:
        middle = _middle(["asking", "asking_in_two"], server.url(0), 128, quick=quick, times=8)
        apart = _apart(server.url(0), 128, quick=quick, times=8)
    one, two = middle["asking"], middle["asking_in_two"]
    return {
        "processes_speedup": two["per_second"] / one["per_second"],
        "processes_limit": apart / one["per_second"],
        "processes_vs_limit": two["per_second"] / apart,
        "processes_cpu_vs_one": two["cpu_ms"] / one["cpu_ms"],
    }


def _apart(url: str, in_flight: int, *, quick: bool, times: int) -> float:
    """Calls a second of two runs at the same time; the median over the rounds."""
    calls, rounds = _size(quick=quick, times=times)
    found = []
    with ThreadPoolExecutor(2) as both:
        for _ in range(rounds):
            runs = [both.submit(measure, "asking", url, calls // 2, in_flight // 2) for _ in range(2)]
            found.append(sum(run.result()["per_second"] for run in runs))
    return statistics.median(found)


def _size(*, quick: bool, times: int) -> tuple[int, int]:
    """Calls of a round, and rounds."""
    return (4992 * times, 1) if quick else (14976 * times, 3)


def _middle(ways: list[str], url: str, in_flight: int, *, quick: bool, times: int = 1) -> dict[str, Figures]:
    """Medians over the rounds, by way."""
    calls, rounds = _size(quick=quick, times=times)
    found: dict[str, list[Figures]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way in ways:
            found[way].append(measure(way, url, calls, in_flight))
    return {
        way: {name: statistics.median(run[name] for run in runs) for name in runs[0]} for way, runs in found.items()
    }


def _ratio(found: dict[str, Figures], name: str, bare: str) -> float:
    return found["asking"][name] / found[bare][name]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="fewer calls, one round")
    chosen = options.parse_args()
    print(json.dumps(measure_asking(quick=chosen.quick), indent=1))


if __name__ == "__main__":
    main()
