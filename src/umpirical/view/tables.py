"""Which table a run is looked at in: the judgments that its report has left, or what this process reads itself."""

import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from umpirical.domain.errors import UmpiricalError
from umpirical.protocols.catalogue import protocol_of_run
from umpirical.view.catalogue import FoundRun, opened
from umpirical.view.filters import Shares
from umpirical.view.reading import RunReading
from umpirical.view.table import TrialTable

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
                    self._files[key] = TrialTable(self._place(), judgments)
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
    # Whoever only reads a journal leaves an empty log behind.
    recorded = [
        stamp
        for name, stamp, size in run.signature()
        if name in {"responses", "plan.json"} or name.endswith(".sqlite") or (name.endswith("-wal") and size)
    ]
    return made >= max(recorded, default=0)


def _reading_of(run: FoundRun, folder: Path) -> RunReading:
    found = opened(run)
    return RunReading(found, folder, protocol_of_run(found.store).early().facts)
