"""Files of a review that come from elsewhere, and the link that lets its owner in."""

import hashlib
import os
import pty
import re
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.protocols.review.written import small_study, terms_of, write
from tests.review.web import samples
from tests.review.web.serving import serving
from tests.trusting import trusting
from umpirical.domain.errors import UsageError
from umpirical.protocols.review import open_review, read_review
from umpirical.review.database import open_database
from umpirical.review.people import People, key_file, own_key

from .review_parts import Client

PLANTED = "a session that the sender of the file knows"

# The people and the tokens of a file are as its sender wants them.
ROWS = """
insert into person values ('"mallory"', '"mallory"', 'owner', 0);
insert into token values ('{hash}', '"mallory"', '{purpose}', '{at}', 0, 0);
"""


def true_value(path, *, purpose, hashed):
    """A review database as someone sends it who wants to come in."""
    open_database(f"sqlite:///{path}").close()
    with sqlite3.connect(path) as connection:
        connection.executescript(ROWS.format(hash=hashed, purpose=purpose, at="2026-11-16T12:00:00+00:00"))
    connection.close()


@pytest.mark.parametrize("hashed", [hashlib.sha256(PLANTED.encode()).hexdigest(), PLANTED])
def test_a_session_that_came_with_the_file_opens_nothing(tmp_path, hashed):
    true_value(tmp_path / "review.sqlite", purpose="session", hashed=hashed)
    with serving(tmp_path, [samples.paraphrase()]) as review:
        thief = Client(review.url)
        home = review.home({review.cookie: PLANTED}).removeprefix(review.url)
        assert review.people.person(PLANTED) is None
        for path in (home, ""):
            answer = thief.send("GET", f"{path}/people", Cookie=f"{review.cookie}={PLANTED}")
            assert answer[0] in (401, 404)
        # A session that is made here is good.
        assert review.people.person(review.people.session_for("olga", "owner")).role == "owner"


def test_a_link_that_came_with_the_file_opens_nothing(tmp_path):
    path = tmp_path / "review.sqlite"
    true_value(path, purpose="link", hashed=hashlib.sha256(PLANTED.encode()).hexdigest())
    database = open_database(f"sqlite:///{path}")
    assert People(database).redeem(PLANTED) is None
    database.close()


def test_a_session_does_not_travel_with_the_file(tmp_path, monkeypatch):
    """What is signed in on one machine is not on another, or for another user."""
    database = open_database(f"sqlite:///{tmp_path}/review.sqlite")
    session = People(database).session_for("ana", "owner")
    assert People(database).person(session) is not None
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    assert People(database).person(session) is None
    database.close()


def test_the_key_is_its_owners_alone(tmp_path):
    environment = {"XDG_STATE_HOME": str(tmp_path)}
    assert len({own_key(environment) for _ in range(3)}) == 1
    path = key_file(environment)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [each.name for each in path.parent.iterdir()] == ["review.key"]
    path.chmod(0o644)
    with pytest.raises(UsageError, match="can read or have changed"):
        own_key(environment)
    path.chmod(0o600)
    path.write_bytes(b"short")
    with pytest.raises(UsageError, match="damaged"):
        own_key(environment)
    path.unlink()
    path.symlink_to(tmp_path / "other")
    (tmp_path / "other").write_bytes(b"x" * 32)
    with pytest.raises(UsageError, match="cannot use your review key"):
        own_key(environment)


STRANGE = {
    "trigger": "create trigger t after insert on decision begin update person set role = 'owner'; end",
    "view": "create view v as select 1",
    "table": "create table notes (text)",
    "index": "create index i on decision (kind)",
    "virtual table": "create virtual table f using fts5(text)",
    "a column that computes": "alter table person add column x generated always as (upper(name)) virtual",
    "a default that computes": "alter table decision add column x default (1 + 1)",
    "a table instead": "drop table guideline; create view guideline as select 1 as version, 'x' as text, 'x' as at",
    "a check": "drop table counter; create table counter (name varchar not null, value integer check (value > 0))",
    "nothing": "drop table event",
    "two versions": "insert into alembic_version values ('0002')",
    "an odd version": "update alembic_version set version_num = 'latest'",
    "an older version": "update alembic_version set version_num = '0000'",
    "a newer version": "update alembic_version set version_num = '0009'",
    "no version": "drop table alembic_version",
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_database_of_another_make_is_refused_and_not_changed(tmp_path, name):
    path = tmp_path / "review.sqlite"
    open_database(f"sqlite:///{path}").close()
    with sqlite3.connect(path) as connection:
        connection.executescript(STRANGE[name])
    connection.execute("pragma wal_checkpoint(truncate)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(UsageError) as refused:
        open_database(f"sqlite:///{path}")
    assert refused.value.fix
    assert path.read_bytes() == before


def test_the_database_of_another_program_is_not_made_a_review(tmp_path):
    path = tmp_path / "cookies.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("create table cookies (name text)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(UsageError, match="not a review database"):
        open_database(f"sqlite:///{path}")
    assert path.read_bytes() == before


@pytest.mark.parametrize("what", ["review", "review/review.sqlite"])
def test_a_study_does_not_lead_to_a_database_outside_of_it(tmp_path, what):
    folder = small_study(tmp_path / "study")
    outside = tmp_path / "outside"
    outside.mkdir()
    open_database(f"sqlite:///{outside}/review.sqlite").close()
    (folder / what).parent.mkdir(exist_ok=True)
    (folder / what).symlink_to(outside if what == "review" else outside / "review.sqlite")
    for opening in (lambda: open_review(terms_of(folder), begin=True), lambda: read_review(terms_of(folder))):
        with pytest.raises(UsageError, match="leads out of the study folder"):
            opening()


BROWSER = """#!{python}
import os, sys, time
# As a browser that stays: its arguments can be read for as long as it runs.
open({seen!r}, "w").write(repr(sys.argv))
while os.path.exists({seen!r}):
    time.sleep(0.1)
"""

AS_NOBODY = """
import os, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    open(sys.argv[1]).read()
except PermissionError:
    print("refused")
"""


def test_the_link_is_in_no_list_of_processes(tmp_path):
    """At a terminal, a browser is opened. Whoever else is on the machine sees with what."""
    folder = small_study(tmp_path / "study")
    write(folder)
    for each in (tmp_path, *tmp_path.parents[:2]):
        each.chmod(0o755)
    seen, browser = tmp_path / "seen", tmp_path / "browser"
    browser.write_text(BROWSER.format(python=sys.executable, seen=str(seen)))
    browser.chmod(0o755)
    here, there = pty.openpty()
    review = subprocess.Popen(
        [sys.executable, "-m", "umpirical", *trusting(["review", folder, "--port", "0"])],
        stdout=there, stderr=subprocess.DEVNULL, env=os.environ | {"BROWSER": str(browser)},
    )  # fmt: skip
    os.close(there)
    try:
        said = ""
        while not (found := re.search(r"http://127\.0\.0\.1:\d+/join/([\w-]{43,})", said)):
            said += os.read(here, 4096).decode()
        while not seen.exists() or not seen.read_text():
            time.sleep(0.05)
        [page] = re.findall(r"file://([^']+)'", seen.read_text())
        link, token = found.group(0, 1)
        assert token not in _all_arguments()
        assert link in Path(page).read_text()
        assert stat.S_IMODE(Path(page).stat().st_mode) == 0o600
        assert stat.S_IMODE(Path(page).parent.stat().st_mode) == 0o700
        if os.geteuid() == 0:
            tried = subprocess.run([sys.executable, "-c", AS_NOBODY, page], check=False, capture_output=True, text=True)
            assert tried.stdout == "refused\n", tried.stderr
    finally:
        seen.unlink(missing_ok=True)
        review.terminate()
        review.wait(60)
        os.close(here)
    # Nothing of it is left behind.
    assert not Path(page).parent.exists()


def _all_arguments():
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(each.read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return "\n".join(found)


@pytest.mark.browser
def test_a_real_browser_is_led_to_the_link(browser, tmp_path):
    from umpirical.web.server import redirect_file

    with serving(tmp_path, [samples.paraphrase()]) as review:
        link = f"{review.url}/join/{review.people.invite('ana', 'reviewer')}"
        with redirect_file(tmp_path, link) as path:
            page = browser.new_page()
            page.goto(path.as_uri())
            page.wait_for_url(link)
            page.get_by_role("button", name="Start reviewing").click()
            page.get_by_role("heading", name="Is the meaning unchanged?").wait_for()
            page.close()
        assert not path.exists()
