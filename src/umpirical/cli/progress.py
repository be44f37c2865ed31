"""Progress a person can trust: a live line on a terminal, a plain one now and then elsewhere."""

import sys
import time
from typing import Self

from umpirical.domain.judgments import Failed, Outcome, Unparsed

__all__ = ["Progress", "watch_run"]

SECONDS_BETWEEN_LINES = 30.0


class Progress:
    """Counts what settles. Standard error only: standard output belongs to results."""

    def __init__(self, name: str, total: int) -> None:
        self.name, self.total = name, total
        self.done = self.before = self.failed = self.unparsed = 0
        self._start = time.monotonic()
        self._last_line = self._start

    def resumed(self, trials: int) -> None:
        self.done += trials
        self.before += trials
        self.show()

    def settled(self, outcome: Outcome) -> None:
        self.done += 1
        self.failed += isinstance(outcome, Failed)
        self.unparsed += isinstance(outcome, Unparsed)
        self.show()

    def show(self) -> None:
        now = time.monotonic()
        if now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = now
            print(self.line(), file=sys.stderr, flush=True)  # noqa: T201  # progress is printed

    def line(self) -> str:
        asked, elapsed = self.done - self.before, time.monotonic() - self._start
        left = f"{(self.total - self.done) * elapsed / asked:.0f} s left" if asked else "starting"
        if self.done == self.total:
            left = f"{elapsed:.0f} s"
        share = self.done / self.total if self.total else 1.0
        return (
            f"{self.name}  {self.done:,}/{self.total:,}  {share:.0%}  {left}  "
            f"failed {self.failed}  unparsed {self.unparsed}"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.done > self.before:
            print(self.line(), file=sys.stderr, flush=True)  # noqa: T201


class _LiveProgress(Progress):
    """A bar that moves."""

    def __init__(self, name: str, total: int) -> None:
        super().__init__(name, total)
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("failed {task.fields[failed]}  unparsed {task.fields[unparsed]}"),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task(name, total=total, failed=0, unparsed=0)

    def show(self) -> None:
        self._bar.update(self._task, completed=self.done, failed=self.failed, unparsed=self.unparsed)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


def watch_run(name: str, total: int) -> Progress:
    """The progress that fits where standard error goes."""
    return (_LiveProgress if sys.stderr.isatty() else Progress)(name, total)
