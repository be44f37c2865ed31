"""Decisions made elsewhere are added unchanged."""

from dataclasses import replace

import pytest

from tests.review.items import some_items
from umpirical.domain.errors import UsageError
from umpirical.review.database import open_database
from umpirical.review.desk import Desk
from umpirical.review.people import People
from umpirical.review.records import Additions, ReviewChoice, Settings


@pytest.fixture
def elsewhere(tmp_path):
    """A review that was done on another machine."""
    database = open_database(f"sqlite:///{tmp_path}/elsewhere.sqlite")
    desk = Desk(database, Settings(2))
    desk.add(some_items(5))
    for person, text in (("ana", "Made by both."), ("bob", "Made by Bob.")):
        desk.decide(person, desk.next(person).item.id, ReviewChoice("edit", text="Made by both."))
        desk.decide(person, desk.next(person).item.id, ReviewChoice("edit", text=text, comment="so"))
        desk.decide(person, desk.next(person).item.id, ReviewChoice("reject", reason="label"))
    desk.undo("bob")
    desk.decide("bob", desk.next("bob").item.id, ReviewChoice("accept"))
    desk.decide("ana", desk.next("ana").item.id, ReviewChoice("skip"))
    desk.adjudicate("eve", "item-2", ReviewChoice("reject", reason="other"))
    yield desk
    database.close()


@pytest.fixture(autouse=True)
def adjudicator(database):
    People(database).invite("eve", "adjudicator")


def added(elsewhere, **parts):
    everything = {"revisions": list(elsewhere.revisions()), "decisions": list(elsewhere.decisions())}
    return Additions(**everything | parts)


def test_all_is_there_as_it_was(desk_of, elsewhere):
    desk = desk_of(overlap=2)
    desk.add(elsewhere.items())
    assert desk.restore(added(elsewhere)) == len(list(elsewhere.decisions())) == 9
    assert list(desk.decisions()) == list(elsewhere.decisions())
    assert list(desk.outcomes()) == list(elsewhere.outcomes())
    assert [replace(one, at="") for one in desk.revisions()] == [replace(one, at="") for one in elsewhere.revisions()]
    for person in ("ana", "bob", "eve", "cem"):
        assert desk.decided(person) == elsewhere.decided(person)
        assert replace(desk.progress(person), left=0) == replace(elsewhere.progress(person), left=0)


def test_what_is_there_already_is_passed_over(desk_of, elsewhere):
    desk = desk_of(overlap=2)
    desk.add(elsewhere.items())
    some = list(elsewhere.decisions())[:4]
    assert desk.restore(added(elsewhere, decisions=some)) == 4
    assert desk.restore(added(elsewhere)) == 5
    version = desk.version()
    assert desk.restore(added(elsewhere)) == 0
    assert desk.version() == version
    assert list(desk.outcomes()) == list(elsewhere.outcomes())


def test_who_decided_elsewhere_goes_on_where_they_are(desk_of, elsewhere):
    desk = desk_of(overlap=2)
    desk.add(some_items(6))
    desk.restore(added(elsewhere))
    given = []
    while (shown := desk.next("ana")) is not None:
        given.append(shown.item.id)
        desk.decide("ana", shown.item.id, ReviewChoice("accept"))
    assert given == ["item-4", "item-5"]
    assert desk.undo("ana") == "item-5"


def test_what_was_said_here_stays_and_what_comes_is_added(desk_of, elsewhere):
    desk = desk_of(overlap=2)
    desk.add(elsewhere.items())
    desk.decide("zoe", desk.next("zoe").item.id, ReviewChoice("edit", text="Made by Zoe."))
    desk.restore(added(elsewhere))
    first = next(iter(desk.outcomes()))
    assert (first.state, first.reviewers) == ("disputed", ("zoe", "ana", "bob"))
    assert [one.text for one in desk.revisions() if one.item == "item-0"][1:] == ["Made by Zoe.", "Made by both."]
    assert [said.revision for said in desk.decisions() if said.item == "item-0"] == [1, 2, 2]


def test_what_does_not_fit_is_refused_whole(desk_of, elsewhere):
    desk = desk_of(overlap=2)
    desk.add(some_items(2))
    with pytest.raises(UsageError, match="not in this review"):
        desk.restore(added(elsewhere))
    assert list(desk.decisions()) == []
    desk.add(elsewhere.items())
    with pytest.raises(UsageError, match="revision 1 of item item-0 has no text"):
        desk.restore(added(elsewhere, revisions=[]))
    assert list(desk.decisions()) == []
