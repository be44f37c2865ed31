"""The stored standing of every item, which saves reading all decisions, always agrees with them."""

import random
from contextlib import suppress

import pytest
from sqlalchemy import event, select

from tests.review.items import some_items
from tests.timing import growth
from umpirical.domain.errors import UsageError
from umpirical.review.database import open_database
from umpirical.review.database.tables import assignment, standing
from umpirical.review.desk import Desk
from umpirical.review.records import ReviewChoice, Settings, outcome_of

PEOPLE = ["ana", "bob", "cem", "dia"]


def one_step(desk: Desk, rng: random.Random) -> None:
    """A random person does a random thing, which may be refused."""
    person = rng.choice(PEOPLE)
    kind = rng.choice(["accept", "accept", "reject", "edit", "skip", "again", "undo", "release", "adjudicate", "peek"])
    choice = rng.choice(
        [ReviewChoice("accept"), ReviewChoice("reject", reason="other"), ReviewChoice("edit", text=rng.choice("xy"))]
    )
    if kind == "undo":
        desk.undo(person)
    elif kind == "release":
        desk.release(person)
    elif kind == "adjudicate":
        shown = desk.disputed(person)
        if shown is not None:
            desk.adjudicate(person, shown.item.id, choice)
    elif kind == "again":
        for item in desk.decided(person, limit=3)[-1:]:
            desk.decide(person, item, choice)
    else:
        shown = desk.next(person)
        if kind == "peek" and shown is not None:
            shown = desk.next(person, after=shown.item.id)
        if shown is not None:
            desk.decide(person, shown.item.id, ReviewChoice("skip") if kind == "skip" else choice)


def check_standing(desk: Desk) -> None:
    overlap = desk.settings.overlap
    items, revisions, decisions = list(desk.items()), list(desk.revisions()), list(desk.decisions())
    with desk.database.read() as connection:
        kept = {row.item: row for row in connection.execute(select(standing))}
        rows = connection.execute(select(assignment)).all()
    outcomes = list(desk.outcomes())
    for serial, item in enumerate(items, 1):
        said = [decision for decision in decisions if decision.item == item.id]
        texts = [revision for revision in revisions if revision.item == item.id]
        outcome = outcome_of(item, texts, said, overlap=overlap)
        held = [row for row in rows if row.item == serial and row.slot is not None]
        assert outcomes[serial - 1] == outcome
        assert kept[serial].state == outcome.state
        assert kept[serial].free == (0 if outcome.adjudicator else overlap - len(held))
        assert len({row.slot for row in held}) == len(held) <= overlap
        assert {row.state for row in held} <= {"open", "decided"}
        assert {row.reviewer for row in held if row.state == "decided"} == set(outcome.reviewers)
    for person in PEOPLE:
        mine = {row.item: row.state for row in rows if row.reviewer == person and row.state != "released"}
        can_have = [serial for serial, row in kept.items() if row.free > 0 and serial not in mine]
        progress = desk.progress(person)
        assert progress.left == len(can_have) + list(mine.values()).count("open")
        assert progress.done == list(mine.values()).count("decided")
        assert progress.disputed == sum(outcome.state == "disputed" for outcome in outcomes)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_the_standing_is_that_of_the_record(desk_of, seed):
    rng = random.Random(seed)  # noqa: S311
    desk = desk_of(overlap=1 + seed)
    desk.add(some_items(6))
    for step in range(90):
        with suppress(UsageError):
            one_step(desk, rng)
        if step % 15 == 14:
            desk.add(some_items(6 + step // 15))
            check_standing(desk)
    assert len(list(desk.decisions())) > 20
    # And everyone who goes on asking is given all that was left for them.
    for person in PEOPLE:
        left, given = desk.progress(person).left, 0
        while (shown := desk.next(person)) is not None:
            desk.decide(person, shown.item.id, ReviewChoice("accept"))
            given += 1
        assert given == left
    check_standing(desk)


@pytest.mark.parametrize("overlaps", [(1, 3), (2, 1, 2)])
def test_another_overlap_counts_every_place_anew(desk_of, overlaps):
    rng = random.Random(7)  # noqa: S311
    for count, overlap in enumerate(overlaps, 1):
        desk = desk_of(overlap=overlap)
        desk.add(some_items(4 * count))
        for _ in range(40):
            with suppress(UsageError):
                one_step(desk, rng)
    with desk.database.read() as connection:
        kept = {row.item: (row.free, row.state) for row in connection.execute(select(standing))}
        rows = connection.execute(select(assignment).where(assignment.c.slot.is_not(None))).all()
    for serial, outcome in enumerate(desk.outcomes(), 1):
        held = sum(row.item == serial for row in rows)
        assert kept[serial] == (0 if outcome.adjudicator else max(0, overlaps[-1] - held), outcome.state)


# Growth


def reviewed(url: str, count: int, *, done: int) -> Desk:
    desk = Desk(open_database(url), Settings(2))
    desk.add(some_items(count))
    rows = [
        {"item": number, "reviewer": "ana", "slot": 0, "state": "decided", "position": number, "turn": number}
        for number in range(1, done + 1)
    ]
    with desk.database.write() as connection:
        connection.execute(assignment.insert(), rows)
        connection.execute(standing.update().where(standing.c.item <= done).values(free=1))
    return desk


def press(desk: Desk, person: str) -> None:
    """What the desk does for one key press."""
    shown = desk.next(person)
    desk.decide(person, shown.item.id, ReviewChoice("accept"))
    desk.undo(person)
    desk.decided(person)
    desk.version()
    desk.disputed("eve")


def test_a_key_press_takes_no_longer_with_20000_items(tmp_path):
    desks: dict[int, Desk] = {}

    def work(size: int, mark: str) -> None:  # noqa: ARG001
        for _ in range(5):
            press(desks[size], "ana")
            press(desks[size], "bob")

    for size in (5_000, 20_000):
        desks[size] = reviewed(f"sqlite:///{tmp_path}/{size}.sqlite", size, done=size - 100)
    # Four times the items must not be four times the work.
    assert growth(work, size=5_000) < 2.5
    for desk in desks.values():
        desk.database.close()


def test_no_key_press_reads_a_table_from_end_to_end(tmp_path):
    desk = reviewed(f"sqlite:///{tmp_path}/review.sqlite", 50, done=20)
    asked: dict[str, object] = {}

    def note(connection, cursor, statement, parameters, context, executemany) -> None:  # noqa: ARG001
        if statement.lstrip().lower().startswith(("select", "update")):
            asked.setdefault(statement, parameters)

    event.listen(desk.database.engine, "before_cursor_execute", note)
    for person in ("ana", "bob"):
        press(desk, person)
        desk.show(person, "item-20")
        desk.progress(person)
    event.remove(desk.database.engine, "before_cursor_execute", note)
    assert len(asked) > 15
    with desk.database.engine.connect() as connection:
        plans = {
            statement: " ".join(row[3] for row in connection.exec_driver_sql(f"explain query plan {statement}", given))
            for statement, given in asked.items()
        }
    scanned = {statement: plan for statement, plan in plans.items() if "SCAN" in plan}
    # The only scan is of an index that holds nothing but disputed items.
    assert set(scanned.values()) <= {"SCAN standing USING INDEX standing_disputed"}
    desk.database.close()
