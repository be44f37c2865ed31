"""Opening a database of either kind, what it stores, and the errors when it cannot be opened."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import text

from tests.review.hostile import HOSTILE
from tests.review.items import an_item
from umpirical.domain.errors import UsageError
from umpirical.domain.stimuli import CheckResult
from umpirical.review.database import open_database
from umpirical.review.database.connection import HEAD, MIGRATIONS
from umpirical.review.database.tables import metadata
from umpirical.review.desk import Desk
from umpirical.review.records import ReviewChoice, Settings


def value(database, statement: str) -> object:
    with database.read() as connection:
        return connection.execute(text(statement)).scalar_one()


# Opening


def test_the_tables_are_those_that_the_steps_make(database):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_the_newest_step_is_the_one_named():
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    steps = ScriptDirectory.from_config(config)
    assert steps.get_current_head() == HEAD
    numbers = [step.revision for step in steps.walk_revisions()]
    assert numbers == sorted(numbers, reverse=True), "newer steps have higher numbers"


def test_the_steps_lie_in_the_package():
    import umpirical.review.database as package

    assert {step.name for step in MIGRATIONS.rglob("*.py")} >= {"env.py", "v0001_tables.py"}
    assert str(MIGRATIONS).startswith(next(iter(package.__path__)))


def test_a_database_is_opened_again_with_all_it_had_and_without_alembic(url):
    database = open_database(url)
    Desk(database, Settings()).add([an_item()])
    database.close()
    script = (
        "import sys\n"
        "from umpirical.review.database import open_database\n"
        "from umpirical.review.desk import Desk\n"
        "from umpirical.review.records import Settings\n"
        "print([item.id for item in Desk(open_database(sys.argv[1]), Settings()).items()])\n"
        "print('alembic' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, url], capture_output=True, text=True, check=True)
    assert done.stdout == "['item-0']\nFalse\n"


def test_many_may_open_an_empty_database_at_once(url):
    with ThreadPoolExecutor(6) as pool:
        opened = list(pool.map(lambda _: open_database(url), range(6)))
    assert [value(database, "select count(*) from counter") for database in opened] == [3] * 6
    for database in opened:
        database.close()


def test_an_empty_server_is_made_ready(postgres_url):
    """Other tests copy a migrated database; here every migration runs on PostgreSQL."""
    from sqlalchemy import create_engine

    engine = create_engine(postgres_url.format(name="template1"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("create database bare"))
    engine.dispose()
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(lambda _: open_database(postgres_url.format(name="bare")), range(4)))
    desk = Desk(opened[0], Settings())
    assert desk.add([an_item()]) == 1
    for database in opened:
        database.close()


def test_a_database_of_a_newer_program_is_refused_with_what_to_do(url):
    database = open_database(url)
    with database.write() as connection:
        connection.execute(text("update alembic_version set version_num = '9999'"))
    database.close()
    with pytest.raises(UsageError, match="version 9999, but this program supports versions up to 0001") as refused:
        open_database(url)
    assert refused.value.fix == "pip install --upgrade umpirical"


def test_sqlite_is_set_to_survive_and_to_share(tmp_path):
    database = open_database(f"sqlite:///{tmp_path}/new/folder/review.sqlite")
    pragmas = {name: value(database, f"pragma {name}") for name in ("journal_mode", "synchronous", "foreign_keys")}
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
    database.close()


def test_postgres_is_set_to_survive_and_to_see_what_others_committed(fresh_postgres):
    """Even if the server is configured otherwise."""
    url = fresh_postgres()
    database = open_database(url)
    name = value(database, "select current_database()")
    with database.write() as connection:
        connection.execute(text(f"alter database {name} set synchronous_commit = off"))
        connection.execute(text(f"alter database {name} set default_transaction_isolation = 'repeatable read'"))
    database.close()
    database = open_database(url)
    assert value(database, "select current_setting('synchronous_commit')") == "on"
    assert value(database, "select current_setting('transaction_isolation')") == "repeatable read"
    with database.write() as connection:
        assert connection.execute(text("show transaction_isolation")).scalar_one() == "read committed"
    database.close()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("review.sqlite", "must be a URL"),
        ("sqlite://", "needs a file name"),
        ("sqlite:///:memory:", "needs a file name"),
        ("sqlite:///a.sqlite?mode=ro", "needs a file name"),
        ("mysql://me@there/review", "unsupported database mysql"),
        ("postgresql+asyncpg://me@there/review", "unsupported database postgresql"),
    ],
)
def test_what_is_no_database_of_ours_is_refused(url, says):
    with pytest.raises(UsageError, match=says) as refused:
        open_database(url)
    assert "sqlite:///folder/review.sqlite" in refused.value.fix


def test_a_server_that_is_not_there_is_said_without_the_password(tmp_path):
    with pytest.raises(UsageError, match="cannot open the review database") as refused:
        open_database(f"postgresql+psycopg://me:s3cr3t@/review?host={tmp_path}")
    assert "s3cr3t" not in str(refused.value)
    assert refused.value.fix


def test_a_password_in_a_broken_url_is_not_repeated():
    with pytest.raises(UsageError) as refused:
        open_database("postgresql:/me:s3cr3t@there")
    assert "s3cr3t" not in str(refused.value) + refused.value.fix


def test_a_file_that_is_no_database_is_said_to_be_none(tmp_path):
    (tmp_path / "review.sqlite").write_text("A letter, and a long one, that somebody has written. " * 40)
    with pytest.raises(UsageError, match="file is not a database"):
        open_database(f"sqlite:///{tmp_path}/review.sqlite")


@pytest.mark.parametrize(
    ("absent", "imported", "fix"),
    [
        ("sqlalchemy", "umpirical.review.desk", "umpirical[review]"),
        ("alembic", "umpirical.review.people", "umpirical[review]"),
    ],
)
def test_what_is_not_installed_is_named(absent, imported, fix):
    script = (
        "import importlib.util, sys\n"
        "found = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: None if name == sys.argv[1] else found(name, *more)\n"
        "from umpirical.domain.errors import UsageError\n"
        "try:\n"
        "    __import__(sys.argv[2])\n"
        "except UsageError as error:\n"
        "    print(error.fix)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, absent, imported], capture_output=True, text=True, check=True)
    assert fix in done.stdout


def test_postgres_without_its_driver_is_named(monkeypatch):
    monkeypatch.setattr("umpirical.review.database.connection.find_spec", lambda _: None)
    with pytest.raises(UsageError, match="postgres extra") as refused:
        open_database("postgresql://me@there/review")
    assert "umpirical[postgres]" in refused.value.fix


def test_what_fails_half_way_leaves_nothing(database):
    def fails() -> None:
        with database.write() as connection:
            connection.execute(text("update counter set value = 77"))
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        fails()
    assert value(database, "select max(value) from counter") == 0


def test_a_reader_sees_one_moment(database):
    with database.read() as connection:
        before = connection.execute(text("select value from counter where name = 'version'")).scalar_one()
        Desk(database, Settings()).add([an_item()])
        assert connection.execute(text("select value from counter where name = 'version'")).scalar_one() == before
    assert value(database, "select value from counter where name = 'version'") == before + 1


# Storing


@pytest.mark.parametrize("hostile", HOSTILE)
def test_any_text_comes_back_as_it_was(desk_of, hostile):
    desk = desk_of(overlap=2)
    item = an_item(
        f"id {hostile}",
        **dict.fromkeys(("test", "question", "task", "before", "generator", "rubric", "target"), hostile),
        after=f"after {hostile}",
        labels=(hostile, "other"),
        checks=(CheckResult(hostile, passed=True, found=hostile, allowed=hostile),),
        opinions=(hostile,),
        sensitive=True,
    )
    assert desk.add([item]) == 1
    assert list(desk.items()) == [item]
    assert desk.add([item]) == 0
    desk.set_guideline(hostile)
    assert desk.guideline() == (1, hostile)
    assert desk.set_guideline(hostile) == 1
    shown = desk.next(hostile)
    assert shown.item == replace(item, target="", opinions=())
    text_made = f"edited {hostile}"
    said = desk.decide(hostile, item.id, ReviewChoice("edit", label=hostile, comment=hostile, text=text_made))
    assert (said.reviewer, said.item, said.label, said.comment) == (hostile, item.id, hostile, hostile)
    assert list(desk.decisions()) == [said]
    assert [revision.text for revision in desk.revisions()] == [item.after, text_made]
    assert desk.show(hostile, item.id).own == said
    assert desk.decided(hostile) == [item.id]
    desk.next("bob")
    desk.decide("bob", item.id, ReviewChoice("edit", label=hostile, text=text_made))
    (outcome,) = desk.outcomes()
    assert (outcome.state, outcome.text, outcome.label) == ("accepted", text_made, hostile)
    assert desk.undo(hostile) == item.id
