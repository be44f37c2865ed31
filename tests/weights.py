"""How much CPU each test takes: every run records it, and the record in `weights.json` decides what is heavy.

A parallel run starts with the longest group of tests, and `just quick` leaves heavy tests out. A test takes what its
own process and the children that it waited for used, fixtures included. A fixture that several tests share is made by
the first of them; whether a test is heavy counts it for each, since each takes as much when it runs alone.

A whole run writes `out/weights.json`; `just weights` takes it over into `tests/weights.json`.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

import pytest

ROOT = Path(__file__).parents[1]
COMMITTED = ROOT / "tests" / "weights.json"
WRITTEN = ROOT / "out" / "weights.json"

HEAVY = 2.0
"""Seconds of CPU from which on a test is left out of quick runs."""

LISTED = 1.0
"""Seconds of CPU from which on the record names a test; for a file, half of it."""

SPLIT = 8
"""A file that takes more than this part of the whole suite is given to the workers test by test."""

GROUPS = {
    # The server takes all processors that it can get: two of them at a time would be in each other's way.
    "tests/llm": "the real model",
    "tests/docs/test_readme.py": "the demo",
    "tests/study/test_demo.py": "the demo",
}
"""Groups of more than one file."""

NEEDY = frozenset({"browser", "english", "llm"})
"""Marks of tests that need more than Python."""


@dataclass(frozen=True)
class Weight:
    """What a file of tests takes, in seconds of CPU."""

    cpu: float
    tests: Mapping[str, float] = field(default_factory=dict)
    """Its long tests, each with what it takes alone, by the name of its function."""


@dataclass(eq=False)
class Record:
    """What the files of a test suite take."""

    files: Mapping[str, Weight] = field(default_factory=dict)

    @cached_property
    def split(self) -> frozenset[str]:
        """The files whose tests need not run on one worker."""
        whole = sum(weight.cpu for weight in self.files.values())
        return frozenset(path for path, weight in self.files.items() if weight.cpu > whole / SPLIT)

    @cached_property
    def groups(self) -> Mapping[str, float]:
        """What each group takes."""
        found: defaultdict[str, float] = defaultdict(float)
        for path, weight in self.files.items():
            if path in self.split:
                found |= {f"{path}::{function}": seconds for function, seconds in weight.tests.items()}
            found[group_of(path, self)] += weight.cpu
        return found

    def seconds(self, nodeid: str) -> float:
        """What a test takes alone; 0 where that is not much."""
        path, function = _parts(nodeid)
        return self.files[path].tests.get(function, 0) if path in self.files else 0


def is_heavy(item: pytest.Item, record: Record) -> bool:
    """Whether a test needs a browser, a database, a model server or more than a few seconds."""
    needs = any(item.get_closest_marker(name) for name in NEEDY) or "postgresql" in _parameters(item)
    return needs or record.seconds(item.nodeid) >= HEAVY


def longest_first(items: Iterable[pytest.Item], record: Record) -> list[pytest.Item]:
    """The tests by their groups, longest group first; what is not known to be long keeps its order.

    A long group that started last would keep one worker busy while the others have nothing left to do.
    """
    return sorted(items, key=lambda item: -record.groups.get(group_of(item.nodeid, record), 0))


def group_of(nodeid: str, record: Record) -> str:
    """Tests of one group run on the same worker: those of a file, whose fixtures would else be made on every worker."""
    if shared := next((group for name, group in GROUPS.items() if _within(nodeid, name)), None):
        return shared
    path, function = _parts(nodeid)
    return f"{path}::{function}" if function and path in record.split else path


class Recorder:
    """Writes a line for each test of a process: what it took, and what the shared fixtures take that it uses."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._path = folder / f"{os.getpid()}.jsonl"
        self._fixtures: dict[tuple[str, str], float] = {}
        self._made = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Measures a test with its fixtures, also one that fails."""
        before, self._made = _used(), 0.0
        try:
            return (yield)
        finally:
            took = _used() - before
            shared = sum(
                self._fixtures.get((name, node.nodeid), 0)
                for name in getattr(item, "fixturenames", ())
                for node in item.listchain()
            )
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([item.nodeid, took, took - self._made, shared]) + "\n")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
    ) -> Iterator[None]:
        """Measures a fixture that more than one test may use."""
        before = _used()
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                took = _used() - before
                self._made += took
                self._fixtures[fixturedef.argname, request.node.nodeid] = took


def recorded(folder: Path) -> Record:
    """What the processes of a session have recorded."""
    files: defaultdict[str, float] = defaultdict(float)
    alone: defaultdict[tuple[str, str], float] = defaultdict(float)
    shared: defaultdict[tuple[str, str], float] = defaultdict(float)
    for path in folder.glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            nodeid, took, own, fixtures = json.loads(line)
            test = _parts(nodeid)
            files[test[0]] += took
            alone[test] += own
            shared[test] = max(shared[test], fixtures)
    tests: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for (file, function), own in alone.items():
        if own + shared[file, function] >= LISTED:
            tests[file][function] = round(own + shared[file, function], 1)
    return Record({file: Weight(round(cpu, 1), tests[file]) for file, cpu in files.items()})


def read_record(path: Path = COMMITTED) -> Record:
    """A record; an empty one where there is no file."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return Record({name: Weight(entry["cpu"], entry.get("tests", {})) for name, entry in kept.items()})


def write_record(record: Record, path: Path = WRITTEN) -> None:
    """Writes a record, with a line for each file and each long test."""
    entries = {
        name: {"cpu": weight.cpu} | ({"tests": dict(sorted(weight.tests.items()))} if weight.tests else {})
        for name, weight in sorted(record.files.items())
    }
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")


def take_over(before: Record, after: Record, root: Path = ROOT) -> Record:
    """The later of two records, of the files that there are, without what is hardly worth a line.

    A figure that is not much different stays as it was: no two runs take the same.
    """
    record = {}
    for path, weight in after.files.items():
        old = before.files.get(path, Weight(0))
        tests = {name: _settled(old.tests.get(name, 0), seconds) for name, seconds in weight.tests.items()}
        if (root / path).exists() and (weight.cpu >= LISTED / 2 or tests):
            record[path] = Weight(_settled(old.cpu, weight.cpu), tests)
    return Record(record)


def _settled(old: float, new: float) -> float:
    if old and abs(new - old) <= max(0.5, 0.3 * old):
        return old
    return round(new) if new >= 10 else round(new, 1)


def _used() -> float:
    own, children = getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _parts(nodeid: str) -> tuple[str, str]:
    """The file of a test, and its function without the parameters."""
    path, _, test = nodeid.partition("::")
    return path, test.partition("[")[0]


def _within(nodeid: str, name: str) -> bool:
    return nodeid == name or nodeid.startswith((f"{name}::", f"{name}/", f"{name}["))


def _parameters(item: pytest.Item) -> Sequence[object]:
    call = getattr(item, "callspec", None)
    return list(call.params.values()) if call else []


if __name__ == "__main__":
    write_record(take_over(read_record(), read_record(WRITTEN)), COMMITTED)
