"""Who may take part, on both databases."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from tests.review.items import some_items
from umpirical.domain.errors import UsageError
from umpirical.review.database.tables import metadata
from umpirical.review.people import LINK_LASTS, SESSION_LASTS, People, Person
from umpirical.review.records import ReviewChoice


@pytest.fixture
def people(database, clock):
    return People(database, clock)


def test_a_link_leads_to_a_session_once(people):
    link = people.invite("ana", "reviewer")
    session = people.redeem(link)
    assert people.person(session) == Person("ana", "reviewer", revoked=False)
    assert people.redeem(link) is None
    assert people.person(link) is None
    assert people.redeem(session) is None
    assert people.redeem("") is None
    assert people.person("\ud800 no token") is None


def test_tokens_are_long_and_never_the_same(people):
    tokens = {people.invite("ana", "reviewer") for _ in range(20)} | {people.session_for("eve", "owner")}
    assert len(tokens) == 21
    assert all(len(token) >= 43 and token.isascii() for token in tokens)


def test_only_hashes_are_kept(people, database):
    link = people.invite("ana", "reviewer")
    tokens = [link, people.redeem(link), people.session_for("ana", "reviewer")]
    with database.read() as connection:
        kept = repr([connection.execute(select(table)).all() for table in metadata.sorted_tables])
    assert "ana" in kept
    assert [token for token in tokens if token in kept] == []


def test_a_link_is_good_for_a_day_and_a_session_for_a_month(people, clock):
    late, soon = people.invite("ana", "reviewer"), people.invite("bob", "reviewer")
    clock.now += LINK_LASTS - timedelta(seconds=30)
    session = people.redeem(soon)
    clock.now += timedelta(seconds=60)
    assert people.redeem(late) is None
    clock.now += SESSION_LASTS - timedelta(minutes=2)
    assert people.person(session).name == "bob"
    clock.now += timedelta(minutes=4)
    assert people.person(session) is None


def test_a_new_link_ends_the_old_one_and_leaves_sessions(people):
    first = people.invite("ana", "reviewer")
    session = people.redeem(people.invite("ana", "reviewer"))
    second = people.invite("ana", "adjudicator")
    assert people.redeem(first) is None
    assert people.person(session) == Person("ana", "adjudicator", revoked=False)
    assert people.person(people.redeem(second)).role == "adjudicator"
    assert people.all() == [Person("ana", "adjudicator", revoked=False)]


def test_a_revoked_person_is_out_at_once(people):
    open_link, session = people.invite("ana", "reviewer"), people.session_for("ana", "reviewer")
    other = people.session_for("bob", "owner")
    assert people.revoke("ana")
    assert people.person(session) is None
    assert people.redeem(open_link) is None
    assert people.person(other).name == "bob"
    assert people.all() == [Person("ana", "reviewer", revoked=True), Person("bob", "owner", revoked=False)]
    assert not people.revoke("cem")


def test_who_is_invited_again_comes_in_with_a_new_link_only(people):
    session = people.session_for("ana", "reviewer")
    people.revoke("ana")
    link = people.invite("ana", "reviewer")
    assert people.person(session) is None
    assert people.person(people.redeem(link)).name == "ana"


def test_what_a_revoked_person_has_open_goes_to_others_and_what_they_said_stays(people, desk_of):
    desk = desk_of()
    desk.add(some_items(2))
    people.session_for("ana", "reviewer")
    desk.decide("ana", desk.next("ana").item.id, ReviewChoice("accept"))
    desk.next("ana")
    people.revoke("ana")
    assert desk.next("bob").item.id == "item-1"
    assert [said.reviewer for said in desk.decisions()] == ["ana"]


@pytest.mark.parametrize(
    "name", ["", " ", "ana ", "a" * 65, "a\nb", "a\x00", "a\u202eb", "a\u200b", "\ud800", "a\x1b[2J"]
)
def test_a_name_that_cannot_be_seen_is_refused(people, name):
    with pytest.raises(UsageError) as refused:
        people.invite(name, "reviewer")
    assert refused.value.fix
    assert str(refused.value).isprintable()
    assert people.all() == []


@pytest.mark.parametrize(
    "name", ["Ana María", "<script>alert(1)</script>", "=cmd|' /C calc'!A0", "{{7*7}}", "李", "'; --"]
)
def test_a_name_of_any_letters_comes_back_as_it_was(people, name):
    assert people.person(people.redeem(people.invite(name, "reviewer"))).name == name


@pytest.mark.parametrize("name", ["ANA", "Ana", "\uff41na"])
def test_a_name_much_like_another_is_refused(people, name):
    people.invite("ana", "reviewer")
    with pytest.raises(UsageError, match="too similar to ana"):
        people.invite(name, "owner")
    assert people.all() == [Person("ana", "reviewer", revoked=False)]
    assert people.revoke(name)


def test_a_role_that_there_is_not_is_refused(people):
    with pytest.raises(UsageError, match="unknown role 'admin'"):
        people.invite("ana", "admin")
