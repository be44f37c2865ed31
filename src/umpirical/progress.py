"""Progress a person can trust: a bar on a terminal and in a notebook, an occasional plain line elsewhere.

A terminal shows it on standard error only: standard output is for results.
"""

import sys
import time
from decimal import Decimal
from html import escape
from typing import TYPE_CHECKING, Self

from umpirical.domain.judgments import Failed, Outcome, Unparsed
from umpirical.domain.responses import Response
from umpirical.domain.stimuli import Attempt

if TYPE_CHECKING:
    from umpirical.models.money import Ledger

SECONDS_BETWEEN_LINES = 30.0
SECONDS_BETWEEN_PICTURES = 0.2


def tell(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)  # noqa: T201  # as progress is


class Progress:
    """Counts settled trials, and prints a line from time to time."""

    def __init__(self, name: str, total: int, ledger: "Ledger | None" = None) -> None:
        self.name, self.total = name, total
        self.done = self.before = self.failed = self.unparsed = self.rate_limited = 0
        self._ledger = ledger
        self._spent_before = ledger.bill.total if ledger else Decimal(0)
        self._start = time.monotonic()
        self._last_line = self._start

    def resumed(self, trials: int) -> None:
        self.done += trials
        self.before += trials
        self.show()

    def settled(self, outcome: Outcome, response: Response) -> None:
        self.done += 1
        self.failed += isinstance(outcome, Failed)
        self.unparsed += isinstance(outcome, Unparsed)
        self.rate_limited += response.rate_limited
        self.show()

    def told(self, sentence: str) -> None:
        """Shows a sentence at once: what is waited for, and what can be done meanwhile."""
        tell(f"{self.name}  {sentence}")

    def ended(self) -> None:
        """Counts what was asked as all that there was to ask."""
        self.total = self.done
        self.show()

    def show(self) -> None:
        now = time.monotonic()
        if now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = now
            print(self.line(), file=sys.stderr, flush=True)  # noqa: T201  # progress is printed

    def line(self) -> str:
        share = self.done / self.total if self.total else 1.0
        parts = [
            self.name,
            f"{self.done:,}/{self.total:,}",
            f"{share:.0%}",
            self.money(),
            self.time_left(),
            self.trouble(),
        ]
        return "  ".join(part for part in parts if part)

    def time_left(self) -> str:
        asked, elapsed = self.done - self.before, time.monotonic() - self._start
        if self.done == self.total:
            return f"{elapsed:.0f} s"
        return f"{(self.total - self.done) * elapsed / asked:.0f} s left" if asked else "starting"

    def money(self) -> str:
        """Returns the amount booked, the budget, and the projected total. Empty if nothing costs anything."""
        if self._ledger is None or not (self._ledger.bill.total or self._ledger.cap):
            return ""
        spent, asked = self._ledger.bill.total, self.done - self.before
        cap = f" of ${self._ledger.cap:.2f}" if self._ledger.cap is not None else ""
        elsewhere = self._ledger.elsewhere.total
        whole = (
            self._spent_before + (spent - self._spent_before) * (self.total - self.before) / asked if asked else spent
        )
        return f"${elsewhere + spent:.4f}{cap} (projected: ${elsewhere + whole:.4f})"

    def trouble(self) -> str:
        return f"rate-limited {self.rate_limited}  failed {self.failed}  unparsed {self.unparsed}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.done > self.before:
            print(self.line(), file=sys.stderr, flush=True)  # noqa: T201  # the final state


class _LiveProgress(Progress):
    """A bar that moves."""

    def __init__(self, name: str, total: int, ledger: "Ledger | None" = None) -> None:
        super().__init__(name, total, ledger)
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}", markup=False),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task(name, total=total, state="")

    def told(self, sentence: str) -> None:
        # Above the bar, which is drawn again below it.
        self._bar.console.print(f"{self.name}  {sentence}", markup=False, highlight=False)

    def show(self) -> None:
        state = "  ".join(part for part in (self.money(), self.time_left(), self.trouble()) if part)
        self._bar.update(self._task, total=self.total, completed=self.done, state=state)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


class _NotebookProgress(Progress):
    """A bar in the output of a notebook cell. It needs no widgets, so it works in every notebook."""

    def __init__(self, name: str, total: int, ledger: "Ledger | None" = None) -> None:
        super().__init__(name, total, ledger)
        from IPython.display import display

        self._shown = display(_Bar(self), display_id=True)  # type: ignore[no-untyped-call]  # IPython has no types
        self._last_shown = 0.0

    def show(self) -> None:
        now = time.monotonic()
        if self._shown is not None and now - self._last_shown >= SECONDS_BETWEEN_PICTURES:
            self._last_shown = now
            self._shown.update(_Bar(self))

    def __exit__(self, *_: object) -> None:
        if self._shown is not None:
            self._shown.update(_Bar(self))


class _Bar:
    """How a notebook displays a progress."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def __repr__(self) -> str:
        return self._progress.line()

    def _repr_html_(self) -> str:
        progress = self._progress
        bar = f'<progress value="{progress.done}" max="{max(1, progress.total)}"></progress>'
        return f"<div>{bar} {escape(progress.line())}</div>"


def watch_run(name: str, total: int, ledger: "Ledger | None" = None) -> Progress:
    """Returns the kind of progress that suits a notebook, a terminal or a log."""
    if _in_notebook():
        return _NotebookProgress(name, total, ledger)
    return (_LiveProgress if sys.stderr.isatty() else Progress)(name, total, ledger)


def _in_notebook() -> bool:
    """Whether this process is a notebook's kernel. Nothing is imported to find out."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


class _Generating(Progress):
    """Counts commissions instead of trials: filled, given up, or open because a call failed."""

    taken = given_up = still_open = 0

    def asked(self, response: Response) -> None:
        self.rate_limited += response.rate_limited
        self.show()

    def commission_settled(self, last: Attempt | None) -> None:
        self.done += 1
        self.still_open += last is None
        self.taken += last is not None and last.stimulus is not None
        self.given_up += last is not None and last.stimulus is None
        self.show()

    def trouble(self) -> str:
        return (
            f"written {self.taken}  given up {self.given_up}  open {self.still_open}  rate-limited {self.rate_limited}"
        )


class _LiveGenerating(_Generating, _LiveProgress):
    """The same, shown as a bar."""


def watch_generation(name: str, total: int, ledger: "Ledger | None" = None) -> _Generating:
    return (_LiveGenerating if sys.stderr.isatty() else _Generating)(name, total, ledger)
