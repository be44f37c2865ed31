"""Who is given which item when many ask at once. Each reviewer has their own connections."""

import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from tests.review.items import some_items
from umpirical.review.database import Database, assignments, open_database
from umpirical.review.database.connection import _begin_sqlite
from umpirical.review.desk import Desk
from umpirical.review.records import ReviewChoice, Settings

REVIEWERS = [f"reviewer-{number}" for number in range(8)]


def review_all(url: str, name: str, *, overlap: int) -> int:
    """One reviewer works until nothing is left, and undoes and repeats every 17th decision."""
    database = open_database(url)
    desk, count = Desk(database, Settings(overlap)), 0
    while (shown := desk.next(name)) is not None:
        desk.decide(name, shown.item.id, ReviewChoice("accept"))
        count += 1
        if count % 17 == 0:
            assert desk.undo(name) == shown.item.id
    database.close()
    return count


def check_run(url: str, *, items: int, overlap: int) -> None:
    database = open_database(url)
    desk = Desk(database, Settings(overlap))
    desk.add(some_items(items))
    with ThreadPoolExecutor(len(REVIEWERS)) as pool:
        list(pool.map(lambda name: review_all(url, name, overlap=overlap), REVIEWERS))
    given = {item.id: [] for item in desk.items()}
    for decision in desk.decisions():
        if not decision.undone:
            given[decision.item].append(decision.reviewer)
    wrong = {item: names for item, names in given.items() if len(names) != overlap or len(set(names)) != overlap}
    assert wrong == {}
    assert len(given) == items
    assert [decision.number for decision in desk.decisions()] == list(range(1, 1 + len(list(desk.decisions()))))
    assert {outcome.state for outcome in desk.outcomes()} == {"accepted"}
    with database.read() as connection:
        assert connection.execute(text("select count(*) from assignment")).scalar_one() == items * overlap
    database.close()


@pytest.mark.parametrize("run", range(2))
def test_eight_reviewers_give_every_item_exactly_two(url, run):
    check_run(url, items=60 + run, overlap=2)


@pytest.mark.slow
@pytest.mark.parametrize("run", range(20))
def test_eight_reviewers_give_each_of_500_items_exactly_two(url, run):  # noqa: ARG001  # another each time
    check_run(url, items=500, overlap=2)


def test_eight_processes_give_every_item_exactly_two(url):
    database = open_database(url)
    desk = Desk(database, Settings(2))
    desk.add(some_items(80))
    command = [sys.executable, "-m", "tests.review.worker", url]
    running = [subprocess.Popen([*command, name, "2"], stdout=subprocess.PIPE, text=True) for name in REVIEWERS]
    said = [process.communicate(timeout=300)[0].split("\n")[:-1] for process in running]
    assert [process.returncode for process in running] == [0] * len(REVIEWERS)
    assert sorted(int(line.split()[0]) for lines in said for line in lines) == list(range(1, 161))
    assert Counter(line.split()[1] for lines in said for line in lines) == {f"item-{n}": 2 for n in range(80)}
    assert all(len(set(lines)) == len(lines) for lines in said)
    database.close()


def wait_until(happened) -> None:
    until = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.02)


def ask_while_the_last_place_is_given(url: str, *, database) -> object:
    """Ana takes the only place of item-0 and has not committed when Bob asks; then she commits. What is Bob given?"""
    first, found, asked = open_database(url), [], []
    Desk(first, Settings(1)).add(some_items(2))
    event.listen(database.engine, "before_cursor_execute", lambda *given: asked.append(given[2]))

    def ask() -> None:
        try:
            found.append(Desk(database, Settings(1)).next("bob").item.id)
        except DBAPIError as error:
            found.append(error)

    def waits() -> bool:
        """Bob has found nothing open and waits to write, or has been refused."""
        if first.engine.dialect.name == "sqlite":
            return "begin immediate" in asked or bool(found)
        with first.read() as looking:
            return looking.execute(text("select 1 from pg_stat_activity where wait_event_type = 'Lock'")).all() != []

    with first.write() as connection:
        assert assignments.give(connection, "ana", overlap=1) == 1
        thread = threading.Thread(target=ask)
        thread.start()
        wait_until(waits)
    thread.join(timeout=60)
    first.close()
    return found[0]


def test_a_place_given_while_one_waits_is_not_given_again(url):
    database = open_database(url)
    assert ask_while_the_last_place_is_given(url, database=database) == "item-1"
    database.close()


def test_a_count_older_than_the_lock_would_give_it_twice(fresh_postgres):
    """A mutation: in a snapshot from before the lock the place looks free. Only the table's constraint stops it."""
    url = fresh_postgres()
    database = open_database(url)
    stale = Database(database.engine.execution_options(isolation_level="REPEATABLE READ"))
    assert isinstance(ask_while_the_last_place_is_given(url, database=stale), IntegrityError)
    database.close()


def test_without_the_lock_it_would_be_given_twice(url, monkeypatch):
    """A mutation: a writer that begins like a reader. Either database then refuses, and nobody is given an item."""
    database = open_database(url)
    monkeypatch.setattr(database, "_lock", lambda _: None)
    if database.engine.dialect.name == "sqlite":
        event.remove(database.engine, "begin", _begin_sqlite)
        event.listen(database.engine, "begin", lambda connection: connection.exec_driver_sql("begin"))
    assert isinstance(ask_while_the_last_place_is_given(url, database=database), DBAPIError)
    database.close()


def test_the_queue_is_not_believed_against_what_people_hold(desk_of):
    desk = desk_of(overlap=1)
    desk.add(some_items(2))
    assert desk.next("ana").item.id == "item-0"
    with desk.database.write() as connection:
        connection.execute(text("update standing set free = 1 where item = 1"))
    assert desk.next("bob").item.id == "item-1"
    assert desk.next("cem") is None
