"""The tables that the view keeps open, also of runs in progress."""

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from umpirical.domain.errors import UmpiricalError
from umpirical.domain.measures import Estimate, Measure, Undefined
from umpirical.domain.trials import BASELINE
from umpirical.measures.catalogue import MeasureSpec, measure_all
from umpirical.protocols.catalogue import protocol_of_run
from umpirical.protocols.protocol import EarlyMeasures
from umpirical.reports import numbers
from umpirical.reports.record import measure_record
from umpirical.runs.run import Run
from umpirical.study.results import RunState
from umpirical.study.spending import AgreedBudget, agreed_budget
from umpirical.view.catalogue import FoundRun, opened
from umpirical.view.table import Filters, RunReading, Shares, TrialTable

MOST_OPEN = 4
"""Tables that are kept open."""

FIRST_SECONDS = 0.5
"""How long the first look at a run reads by itself; the rest is read in the background."""

STEP_SECONDS = 1.0

JUDGMENTS = "judgments.parquet"

Key = TypeVar("Key")
Open = TypeVar("Open", TrialTable, RunReading)


@dataclass(frozen=True, slots=True)
class OpenTable:
    """A table of trials at one moment."""

    table: TrialTable
    version: object
    behind: int = 0
    """Answers that are recorded and not read yet."""
    reading: RunReading | None = None
    """Who reads them; None for the judgments of a report."""

    @property
    def shares(self) -> Shares:
        return self.table.shares(self.version)

    def found(self, filters: Filters) -> Shares:
        """Returns the counts of what a search finds."""
        return self.table.shares(self.version, filters)


class TrialTables:
    """The open tables. Reading goes on in one thread of its own."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="umpirical-view")
        self._lock = threading.Lock()
        self._files: OrderedDict[tuple[object, ...], TrialTable] = OrderedDict()
        self._readings: OrderedDict[str, RunReading] = OrderedDict()
        self._catching_up: set[str] = set()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="reading")
        self._closed = False
        self._made = 0

    def of(self, run: FoundRun) -> OpenTable:
        """Returns the table of a run. Raises if it cannot be read, or was removed."""
        judgments = run.folder / JUDGMENTS
        if _is_current(run, judgments):
            stat = judgments.stat()
            key = (run.key, stat.st_ino, stat.st_mtime_ns, stat.st_size)
            with self._lock:
                if key not in self._files:
                    self._files[key] = TrialTable(opened(run), self._place(), judgments)
                self._keep_few(self._files, key)
                return OpenTable(self._files[key], key)
        return self._read(run)

    def prepare(self, run: FoundRun) -> None:
        """Opens and counts a table in the background, for somebody who will look at it next."""
        with suppress(RuntimeError):  # closed meanwhile
            self._thread.submit(self._count, run)

    def close(self) -> None:
        self._closed = True
        self._thread.shutdown(cancel_futures=True)
        for table in self._files.values():
            table.close()
        for reading in self._readings.values():
            reading.close()
        self._folder.cleanup()

    def _read(self, run: FoundRun) -> OpenTable:
        with self._lock:
            reading = self._readings.get(run.key)
            if reading is None or reading.run.folder != run.folder:
                reading = self._readings[run.key] = _reading_of(run, self._place())
                reading.refresh(FIRST_SECONDS)
            self._keep_few(self._readings, run.key)
            if run.key not in self._catching_up and not self._closed:
                self._catching_up.add(run.key)
                self._thread.submit(self._catch_up, run.key, reading)
        behind = max(0, reading.answered - reading.read)
        return OpenTable(reading.table, (id(reading), reading.version), behind, reading)

    def _count(self, run: FoundRun) -> None:
        # Whoever looks at the table is told what is wrong with it.
        with suppress(UmpiricalError, OSError):
            self.of(run).shares  # noqa: B018  # counted once, and kept

    def _catch_up(self, key: str, reading: RunReading) -> None:
        try:
            while not self._closed:
                reading.refresh(STEP_SECONDS)
                if reading.is_current:
                    return
        except (UmpiricalError, OSError):
            # Whoever looks at the run next is told: it was damaged, or removed.
            with self._lock:
                self._readings.pop(key, None)
        finally:
            self._catching_up.discard(key)

    @staticmethod
    def _keep_few(open_: OrderedDict[Key, Open], key: Key) -> None:
        open_.move_to_end(key)
        while len(open_) > MOST_OPEN:
            # A query that is under way in another thread keeps its own connection.
            open_.popitem(last=False)[1].close()

    def _place(self) -> Path:
        self._made += 1
        return Path(self._folder.name, str(self._made))


def _is_current(run: FoundRun, judgments: Path) -> bool:
    """Whether the judgments of a report are there, and nothing was recorded after them."""
    try:
        if judgments.is_symlink() or run.folder.is_symlink():
            return False
        made = judgments.stat().st_mtime_ns
    except OSError:
        return False
    recorded = [
        stamp
        for name, stamp, _ in run.signature()
        if name in {"responses", "plan.json"} or name.endswith((".sqlite", "-wal"))
    ]
    return made >= max(recorded, default=0)


def _reading_of(run: FoundRun, folder: Path) -> RunReading:
    found = opened(run)
    return RunReading(found, folder, protocol_of_run(found.store).early().facts)


# A run in progress: how much is answered, what it has cost, what went wrong, and first estimates.


FEWEST_UNITS, FEWEST_TASKS, WIDEST = 30, 5, 0.4
"""What a first estimate needs: as many units, as many tasks, and an interval of a share that is no wider."""

MOST_TRIALS = 200_000
"""Answers from which a run in progress is measured; counting more would take the server from the people who look."""

MEASURED_AT_ONCE = 2_000
"""Answers that are measured while somebody waits for the page."""

REST = 10
"""How many times as long as it takes to measure is waited before measuring again."""


_ALL = Filters()


@dataclass(frozen=True, slots=True)
class FirstEstimate:
    """One measure of a run in progress, in words."""

    title: str
    part: str
    value: str
    """`not yet`, if it says too little."""
    interval: str
    """The interval, or why there is no value."""
    counts: str
    key: str
    """Identifies it on the page."""


class FirstEstimates:
    """The first estimates of runs, each measured again as answers arrive, and never all the time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[Path, tuple[object, float, list[FirstEstimate]]] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="measuring")

    def of(self, run: Run, open_table: OpenTable) -> list[FirstEstimate]:
        """Returns what is known. Of few answers, that is what they say now; many are measured in the background."""
        with self._lock:
            version, again_at, found = self._known.get(run.folder, (None, 0.0, []))
            if version == open_table.version or time.monotonic() < again_at:
                return found
            if open_table.shares.total() <= MEASURED_AT_ONCE:
                return self._measure(run, open_table)
            # Nobody else begins meanwhile.
            self._known[run.folder] = (version, inf, found)
        with suppress(RuntimeError):  # closed meanwhile
            self._thread.submit(self._measure, run, open_table)
        return found

    def close(self) -> None:
        self._thread.shutdown(cancel_futures=True)

    def _measure(self, run: Run, open_table: OpenTable) -> list[FirstEstimate]:
        start, found = time.monotonic(), list[FirstEstimate]()
        try:
            found = _measured(run, open_table)
        finally:
            now = time.monotonic()
            self._known[run.folder] = (open_table.version, now + REST * (now - start), found)
        return found


def numbers_of(
    run: FoundRun, state: RunState, open_table: OpenTable | None, estimates: Iterable[FirstEstimate]
) -> dict[str, str]:
    """Returns what changes on the page of a run, by the place where it stands."""
    done = (state.answered or 0) + (state.failed or 0)
    planned = state.trials or 0
    found = {
        "answered": f"{state.answered or 0:,}",
        "failed": f"{state.failed or 0:,}",
        "planned": f"{planned:,}",
        "share": f"{done / planned:.0%}" if planned else "not planned yet",
        "done": str(done),
        "spend": numbers.dollars(state.spent) if state.spent is not None else "$0",
        "cap": _budget(agreed_budget(run.folder)),
    }
    if open_table is not None and open_table.reading is not None:
        shares = open_table.shares
        for name in ("unparsed", "abstained"):
            found[name] = f"{sum(o.count for o in shares.options('outcome', _ALL) if o.value == name):,}"
        found["read"] = f"{open_table.reading.read:,}"
    for each in estimates:
        found |= {f"{each.key}-{part}": getattr(each, part) for part in ("value", "interval", "counts")}
    return found


def _budget(agreed: AgreedBudget | None) -> str:
    if agreed is None:
        return "no cap"
    shared = f", shared by {len(agreed.accounts)} judges" if len(agreed.accounts) > 1 else ""
    return f"of {numbers.dollars(agreed.cap)} cap{shared}"


def _measured(run: Run, open_table: OpenTable) -> list[FirstEstimate]:
    protocol = protocol_of_run(run.store)
    early: EarlyMeasures = protocol.early()
    if open_table.shares.total() > MOST_TRIALS:
        return []
    with TemporaryDirectory(prefix="umpirical") as folder:
        file = Path(folder, "judgments.parquet")
        open_table.table.copy_to(file)
        tallies = early.tally(file, run.judge.kind)
    measured = measure_all(tallies, kind=run.judge.kind, protocol=protocol.name, only=early.measures)
    return [_shown(spec, measure, place) for place, (spec, measure) in enumerate(measured)]


def _shown(spec: MeasureSpec, measure: Measure, place: int) -> FirstEstimate:
    record, result = measure_record(spec, measure), measure.result
    variant = "" if measure.variant == BASELINE else f", prompt {measure.variant}"
    words = (spec.title, f"{numbers.part(measure.stratum)}{variant}")
    if isinstance(result, Undefined):
        return FirstEstimate(*words, "not yet", result.reason, "", f"estimate-{place}")
    assert isinstance(record.result, Estimate)  # noqa: S101  # as the result is
    counts = numbers.measured_counts(record, record.result)
    if why := _too_early(spec, result):
        return FirstEstimate(*words, "not yet", why, counts, f"estimate-{place}")
    value = numbers.measured_value(record, record.result)
    interval = numbers.measured_interval(record, record.result.interval)
    return FirstEstimate(*words, value, interval, counts, f"estimate-{place}")


def _too_early(spec: MeasureSpec, result: Estimate) -> str:
    if result.denominator < FEWEST_UNITS:
        return f"{result.denominator:,} of {FEWEST_UNITS} {numbers.units(result.unit, FEWEST_UNITS)}"
    if result.clusters < FEWEST_TASKS:
        return f"{result.clusters:,} of {FEWEST_TASKS} tasks"
    interval = result.interval
    if interval is None or interval.low is None or interval.high is None:
        return "no interval yet"
    if spec.scale == "rate" and interval.high - interval.low > WIDEST:
        return f"interval wider than {numbers.gap(WIDEST)}"
    return ""
