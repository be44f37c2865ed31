"""A SQLite database as it was at one moment, for a reader who need not be allowed to write."""

import shutil
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory

TRIES = 100
"""How often a database that is being written to is copied, before the reader gives up."""


class DatabaseView:
    """One transaction, kept until `close`: whatever is written meanwhile, a reader sees the same rows."""

    def __init__(self, path: Path) -> None:
        self._copy: TemporaryDirectory[str] | None = None
        try:
            self.db = _begun(path)
        except sqlite3.OperationalError:
            # A folder that cannot be written to has no place for the shared memory that SQLite needs. The copy has the
            # write-ahead log too: what a killed process committed last is only there.
            self._copy = TemporaryDirectory(prefix="umpirical")
            try:
                self.db = _begun(_copied(path, Path(self._copy.name)))
            except BaseException:
                self._copy.cleanup()
                raise

    def close(self) -> None:
        self.db.close()
        if self._copy is not None:
            self._copy.cleanup()


def _begun(path: Path) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=ro"
    db = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    try:
        db.execute("begin")
        # A transaction begins with its first reading.
        db.execute("select count(*) from sqlite_master").fetchone()
    except BaseException:
        db.close()
        raise
    return db


def _copied(path: Path, folder: Path) -> Path:
    """Copies a database with its log, again if it was written to meanwhile."""
    files = [path, path.with_name(f"{path.name}-wal")]
    for _ in range(TRIES):
        before = [_state(file) for file in files]
        for file in files:
            if file.exists():
                shutil.copyfile(file, folder / file.name)
        if before == [_state(file) for file in files]:
            return folder / path.name
    raise sqlite3.OperationalError("the database is busy; try again")


def _state(file: Path) -> tuple[int, int] | None:
    return (file.stat().st_size, file.stat().st_mtime_ns) if file.exists() else None
