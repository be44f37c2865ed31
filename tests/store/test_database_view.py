"""A database is read as it is, with what a killed process committed last, also where nobody may write."""

import os
import shutil
import sqlite3
import subprocess
import sys
from decimal import Decimal

import pytest

from umpirical.store import database_view
from umpirical.store.database_view import DatabaseView

KILLED = """\
import os, sys
from decimal import Decimal
from pathlib import Path
from umpirical.domain.bills import Bill
from umpirical.store.budget import Budget
lease = Budget(Path(sys.argv[1])).lease("a", "run")
lease.renew(Bill(), least=Decimal(0), want=Decimal(7), cap=None)
os._exit(9)
"""

LOOKS = """\
import sys
from pathlib import Path
from umpirical.store.budget import Budget
print(Budget(Path(sys.argv[1])).booked(["a"]).total)
"""

UNPRIVILEGED = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-dac_override")


def test_what_a_killed_process_booked_last_is_seen_where_nobody_may_write(tmp_path):
    prefix = UNPRIVILEGED if os.geteuid() == 0 else ()
    if prefix and shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere, and there is no setpriv to take that away")
    study = tmp_path / "study"
    assert subprocess.run([sys.executable, "-c", KILLED, study], check=False).returncode == 9
    (study / "budget.sqlite-shm").unlink()
    before = sorted(path.name for path in study.iterdir())
    assert before == ["budget.sqlite", "budget.sqlite-wal"]
    study.chmod(0o555)
    try:
        looked = subprocess.run(
            [*prefix, sys.executable, "-c", LOOKS, study], capture_output=True, text=True, check=True
        )
        assert sorted(path.name for path in study.iterdir()) == before
    finally:
        study.chmod(0o755)
    assert Decimal(looked.stdout.strip()) == 7


def test_a_view_does_not_change_while_it_is_written_to(tmp_path):
    path = tmp_path / "a.sqlite"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.executescript("pragma journal_mode = wal; create table t (x); insert into t values (1);")
    view = DatabaseView(path)
    writer.execute("insert into t values (2)")
    assert view.db.execute("select count(*) from t").fetchone() == (1,)
    view.close()
    view = DatabaseView(path)
    assert view.db.execute("select count(*) from t").fetchone() == (2,)
    view.close()
    writer.close()


def test_a_copy_that_is_never_whole_is_given_up(tmp_path, monkeypatch):
    path = tmp_path / "a.sqlite"
    path.write_bytes(b"")
    (tmp_path / "copy").mkdir()
    copied = []

    def meanwhile(_, target):
        copied.append(target)
        path.write_bytes(b"x" * len(copied))

    monkeypatch.setattr(database_view.shutil, "copyfile", meanwhile)
    with pytest.raises(sqlite3.OperationalError, match="the database is busy"):
        database_view._copied(path, tmp_path / "copy")
    assert len(copied) == database_view.TRIES
