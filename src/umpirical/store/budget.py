"""The budget of a study: what its calls have cost or may have cost, over all commands, processes and retries.

    booked = billed + uncertain + held

One SQLite database in WAL mode beside the study's runs. Every judge has an account, and so have the models that write
stimuli. A process takes a lease out of an account before it sends anything. The lease is durable, and covers the worst
case of everything that the process sends until it renews the lease; so no call waits for the disk. At the end the
process writes what was billed and gives the rest back. If it is killed, its lease stays booked at its full amount.
Processes that ask one run together have a lease each, whose part is that of the run with a number behind it.
A batch at a provider has a lease of its own, which outlives the process that took it: whoever reads the results of the
batch takes it up and settles it.
"""

import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Protocol, get_args

from umpirical.domain.bills import Bill, BillingFault
from umpirical.domain.digests import canonical_json, digest
from umpirical.domain.errors import StoreError
from umpirical.store.database_view import DatabaseView

FORMAT = 1
"""Written into the file, and checked whenever it is opened."""

# As SQLite keeps them, to the letter.
_LEASE = """\
CREATE TABLE lease (
  id integer primary key, account text not null, part text not null, opened text not null, open integer not null,
  held text not null, billed text not null, uncertain text not null,
  billed_calls integer not null, uncertain_calls integer not null, faults text not null, digest text not null
)"""

COLUMNS = (
    *("account", "part", "opened", "open", "held"),
    *("billed", "uncertain", "billed_calls", "uncertain_calls", "faults"),
)
"""What the digest of a lease covers."""

_INDEX = "CREATE INDEX lease_by_account on lease (account)"

UNREADABLE = (sqlite3.Error, UnicodeDecodeError)
"""What reading a damaged file raises; the second if SQLite's own message quotes what is no text."""

PROCESS = "#"
"""Stands between a part and the number of a process."""

BATCH = "~"
"""Stands between a part and the name of a batch."""

BUSY_SECONDS = 30.0
"""How long to wait for another process's commit, which takes milliseconds."""


@dataclass(frozen=True, slots=True)
class Booked:
    """What is booked on some accounts."""

    bill: Bill = field(default_factory=Bill)
    held: Decimal = Decimal(0)
    """What open leases reserve beyond what they have settled: by processes that run, or that were killed."""

    @property
    def total(self) -> Decimal:
        return self.bill.total + self.held


class Budget:
    """The accounts of one study. Reading never creates or changes the file."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "budget.sqlite"

    def booked(self, accounts: Sequence[str]) -> Booked:
        return _booked([row for row in self._rows() if row["account"] in accounts])

    def bill_of(self, part: str) -> Bill | None:
        """Returns the bill of one part, such as a run; None if nothing was ever booked for it."""
        rows = [row for row in self._rows() if _is_of(row, part) or str(row["part"]).startswith(f"{part}{BATCH}")]
        return _closed(_booked(rows)) if rows else None

    def holds(self, account: str) -> bool:
        return any(row["account"] == account for row in self._rows())

    def begin(self, account: str, bill: Bill) -> None:
        """Opens an account with what was spent before there was a budget, unless it is open already."""
        db = self._open()
        try:
            with _transaction(db):
                if not any(row["account"] == account for row in _read(db)):
                    _insert(db, account, "", held=bill.total, bill=bill, is_open=False)
        except UNREADABLE as error:
            raise self._broken(error) from None
        finally:
            db.close()

    def lease(self, account: str, part: str, *, scope: Sequence[str] = ()) -> "Lease":
        """Returns a lease that is taken when it is first renewed. A cap is held against all accounts in `scope`.

        A part is asked by one process at a time. So an open lease of the same part was left by a process that was
        killed: what it reserved is uncertain from then on.
        """
        return Lease(self, account, part, tuple(scope) or (account,))

    def _rows(self) -> list[sqlite3.Row]:
        if not self.path.is_file():
            return []
        try:
            with closing(DatabaseView(self.path)) as view:
                return _read(view.db) if self._made(view.db) else []
        except UNREADABLE as error:
            raise self._broken(error) from None

    def _open(self) -> sqlite3.Connection:
        """Opens the file for writing, and creates it if it is not there."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS)
        try:
            db.execute("pragma trusted_schema = off")
            _set_wal(db)
            # FULL: what is sent under a lease may be billed, so the lease must survive a power cut.
            db.execute("pragma synchronous = full")
            with _transaction(db):
                if not self._made(db):
                    db.execute(_LEASE)
                    db.execute(_INDEX)
                    db.execute(f"pragma user_version = {FORMAT}")
        except UNREADABLE as error:
            db.close()
            raise self._broken(error) from None
        except BaseException:
            db.close()
            raise
        return db

    def _made(self, db: sqlite3.Connection) -> bool:
        """Whether the tables are there. Refuses another format, and whatever a stranger may have added to the file."""
        db.row_factory = sqlite3.Row
        # Text that is not UTF-8 is damage, which the digest of its row shows.
        db.text_factory = lambda raw: raw.decode("utf-8", "backslashreplace")
        (version,) = db.execute("pragma user_version").fetchone()
        found = {row[0] for row in db.execute("select sql from sqlite_master")}
        if not version and not found:
            return False
        (state,) = db.execute("pragma quick_check(1)").fetchone()
        if state != "ok":
            raise StoreError(f"{self.path} is damaged: {state}", fix=self._fix)
        if version != FORMAT or found != {_LEASE, _INDEX}:
            raise StoreError(f"{self.path} is not a budget of format {FORMAT}", fix=self._fix)
        return True

    def _broken(self, error: Exception) -> StoreError:
        return StoreError(f"{self.path}: {error}", fix=self._fix)

    @property
    def _fix(self) -> str:
        return "restore it, or move it away. Umpirical then counts only the cost of recorded answers"


class Lending(Protocol):
    """What a process may send comes out of this: a lease, or whoever holds one for it."""

    def renew(self, bill: Bill, *, least: Decimal, want: Decimal, cap: Decimal | None) -> tuple[Decimal, Booked]:
        """Makes it hold `want`, as far as the cap allows, and never less than `least`.

        `bill` is what the process has settled so far, `least` what it holds already. Returns what it holds now, and
        what is booked on the accounts in scope apart from it.
        """
        ...

    def close(self, bill: Bill) -> None:
        """Books what was billed, and gives the rest back. May be called more than once."""
        ...


class Lease:
    """What one process may send out of an account. Any thread may call it."""

    def __init__(
        self, budget: Budget, account: str, part: str, scope: tuple[str, ...], *, outlives: bool = False
    ) -> None:
        """`outlives` says that an open lease of this part is taken up, and not given up."""
        self.account, self.part, self.scope = account, part, scope
        self._outlives = outlives
        self._budget = budget
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._id: int | None = None
        self._begun = self._closed = False

    def __reduce__(self) -> tuple[type["Lease"], tuple[Budget, str, str, tuple[str, ...]]]:
        """A lease is sent to another process before it is taken: it holds nothing there yet."""
        assert not self._outlives  # noqa: S101  # a batch is read by the process that leads
        return Lease, (self._budget, self.account, self.part, self.scope)

    def beside(self, process: int) -> "Lease":
        """Returns a lease for another process that asks the same part. `begin` comes first."""
        return Lease(self._budget, self.account, f"{self.part}{PROCESS}{process}", self.scope)

    def of_batch(self, name: str) -> "Lease":
        """Returns the lease of a batch, which may be held already: it outlives the process that took it."""
        return Lease(self._budget, self.account, f"{self.part}{BATCH}{name}", self.scope, outlives=True)

    def begin(self) -> None:
        """Gives up what processes that were killed hold of this part. Otherwise done when the lease is first renewed.

        To be called before others join in: their leases would be given up, too.
        """
        with self._lock:
            if self._budget.path.is_file() and not self._begun:
                with self._committing() as db:
                    self._give_up(db)
            self._begun = True

    def renew(self, bill: Bill, *, least: Decimal, want: Decimal, cap: Decimal | None) -> tuple[Decimal, Booked]:
        with self._lock, self._committing() as db:
            if not self._begun:
                least = max(least, self._take_up(db))
                self._begun = True
            rows = _read(db)
            others = _booked([row for row in rows if row["account"] in self.scope and row["id"] != self._id])
            free = want if cap is None else cap - others.total
            held = least if self._closed else max(least, min(want, free))
            if not self._closed and held:
                self._write(db, held, bill, is_open=True)
            return held, others

    def close(self, bill: Bill) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if self._id is not None:
                with self._committing() as db:
                    self._write(db, bill.total, bill, is_open=False)
            if self._db is not None:
                self._db.close()
                self._db = None

    def settle(self, bill: Bill) -> None:
        """Books what was billed, taking up the lease first if another process took it. The same bill may come twice."""
        with self._lock, self._committing() as db:
            if not self._begun:
                self._take_up(db)
                self._begun = True
        self._closed = False
        self.close(bill)

    def _take_up(self, db: sqlite3.Connection) -> Decimal:
        """Returns what is held under this part already. What a killed process held is given up, unless it outlives."""
        if not self._outlives:
            self._give_up(db)
            return Decimal(0)
        mine = [row for row in _read(db) if row["account"] == self.account and row["part"] == self.part]
        if not mine:
            return Decimal(0)
        self._id = mine[-1]["id"]
        return _amount(mine[-1]["held"])

    def abandon(self) -> None:
        """Leaves it booked at its full amount: whoever sent out of it is lost, and cannot say what was billed."""
        with self._lock:
            self._closed = True
            if self._db is not None:
                self._db.close()
                self._db = None

    def _give_up(self, db: sqlite3.Connection) -> None:
        mine = [row for row in _read(db) if row["account"] == self.account and _is_of(row, self.part)]
        _give_up(db, [row for row in mine if row["open"]])

    def _write(self, db: sqlite3.Connection, held: Decimal, bill: Bill, *, is_open: bool) -> None:
        if self._id is None:
            self._id = _insert(db, self.account, self.part, held=held, bill=bill, is_open=is_open)
        else:
            _update(db, self._id, held=held, bill=bill, is_open=is_open)

    @contextmanager
    def _committing(self) -> Iterator[sqlite3.Connection]:
        if self._db is None:
            self._db = self._budget._open()  # of one module
        try:
            with _transaction(self._db):
                yield self._db
        except UNREADABLE as error:
            raise self._budget._broken(error) from None  # likewise


def _set_wal(db: sqlite3.Connection) -> None:
    """Two processes that do this to a new file at once lock each other out, whatever the timeout: one tries again."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            db.execute("pragma journal_mode = wal")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("begin immediate")
    try:
        yield
    except BaseException:
        db.execute("rollback")
        raise
    db.execute("commit")


def _read(db: sqlite3.Connection) -> list[sqlite3.Row]:
    rows = db.execute("select * from lease order by id").fetchall()
    for row in rows:
        if row["digest"] != _digest([row[name] for name in COLUMNS]):
            raise _damaged(tuple(row))
    return rows


def _insert(db: sqlite3.Connection, account: str, part: str, *, held: Decimal, bill: Bill, is_open: bool) -> int:
    opened = datetime.now(UTC).isoformat(timespec="seconds")
    return _put(db, None, [account, part, opened, int(is_open), str(held), *_columns(bill)])


def _update(db: sqlite3.Connection, number: int, *, held: Decimal, bill: Bill, is_open: bool) -> None:
    row = db.execute("select account, part, opened from lease where id = ?", (number,)).fetchone()
    if row is None:
        raise StoreError("the study's budget file has lost a reservation of this process", fix="restore budget.sqlite")
    _put(db, number, [*row, int(is_open), str(held), *_columns(bill)])


def _put(db: sqlite3.Connection, number: int | None, values: Sequence[Any]) -> int:
    """Writes one lease; returns its number."""
    places = ", ".join("?" * (len(values) + 2))
    written = db.execute(
        f"insert or replace into lease (id, {', '.join(COLUMNS)}, digest) values ({places})",  # noqa: S608  # ours
        (number, *values, _digest(values)),
    )
    assert written.lastrowid is not None  # noqa: S101  # one row was written
    return written.lastrowid


def _digest(values: Sequence[Any]) -> str:
    return digest("lease", [value if isinstance(value, str | int) else repr(value) for value in values])


def _columns(bill: Bill) -> tuple[Any, ...]:
    faults = canonical_json({str(name): count for name, count in bill.faults.items()})
    return str(bill.billed), str(bill.uncertain), bill.billed_calls, bill.uncertain_calls, faults


def _is_of(row: sqlite3.Row, part: str) -> bool:
    """Whether a lease was taken for a part, by whichever process."""
    named = str(row["part"])
    return named == part or named.startswith(f"{part}{PROCESS}")


def _give_up(db: sqlite3.Connection, rows: Sequence[sqlite3.Row]) -> None:
    """Closes leases whose process was killed: nobody will ever say what became of what they reserved."""
    for row in rows:
        bill = _closed(_booked([row]))
        _update(db, row["id"], held=bill.total, bill=bill, is_open=False)


def _closed(booked: Booked) -> Bill:
    """Returns what is booked as a bill: what is held is uncertain."""
    if not booked.held:
        return booked.bill
    return Bill.sum([booked.bill, Bill(uncertain=booked.held, faults={"abandoned": 1})])


def _booked(rows: Sequence[sqlite3.Row]) -> Booked:
    bills = [_bill(row) for row in rows]
    held = (max(Decimal(0), _amount(row["held"]) - bill.total) for row, bill in zip(rows, bills, strict=True))
    return Booked(Bill.sum(bills), sum((more for more, row in zip(held, rows, strict=True) if row["open"]), Decimal(0)))


def _bill(row: sqlite3.Row) -> Bill:
    try:
        faults = json.loads(row["faults"])
        known = {name: _count(faults[name]) for name in get_args(BillingFault) if name in faults}
    except (ValueError, TypeError):
        raise _damaged(row) from None
    calls = _count(row["billed_calls"]), _count(row["uncertain_calls"])
    return Bill(_amount(row["billed"]), _amount(row["uncertain"]), *calls, known)


def _amount(text: object) -> Decimal:
    try:
        amount = Decimal(text) if isinstance(text, str) else Decimal("NaN")
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        raise _damaged(text)
    return amount


def _count(number: object) -> int:
    if type(number) is not int or number < 0:
        raise _damaged(number)
    return number


def _damaged(found: object) -> StoreError:
    return StoreError(f"the study's budget file is damaged: it contains {found!r}", fix="restore budget.sqlite")
