"""The desk, on both databases: who is shown what, which decisions it takes, and their outcome."""

from dataclasses import replace

import pytest

from tests.review.items import an_item, some_items
from umpirical.domain.errors import UsageError
from umpirical.domain.reviews import REASONS
from umpirical.review.database import open_database
from umpirical.review.desk import Desk
from umpirical.review.records import NotAssigned, Refused, ReviewChoice, ReviewProgress, Settings

ACCEPT = ReviewChoice("accept")
REJECT = ReviewChoice("reject", reason="meaning")


def edit(text: str, **fields) -> ReviewChoice:
    return ReviewChoice("edit", text=text, **fields)


def states(desk) -> list[str]:
    return [outcome.state for outcome in desk.outcomes()]


def disagree(desk, item: str = "item-0") -> None:
    """Ana accepts what Bob rejects."""
    for person, choice in (("ana", ACCEPT), ("bob", REJECT)):
        while (shown := desk.next(person)).item.id != item:
            desk.decide(person, shown.item.id, ACCEPT)
        desk.decide(person, item, choice)


# Giving


def test_items_are_added_once_and_given_in_their_order(desk_of):
    desk = desk_of()
    assert desk.next("ana") is None
    assert desk.add(some_items(3)) == 3
    assert desk.add(some_items(4)) == 1
    assert desk.add([]) == 0
    assert list(desk.items()) == some_items(4)
    given = []
    while (shown := desk.next("ana")) is not None:
        given.append(shown.item.id)
        desk.decide("ana", shown.item.id, ACCEPT)
    assert given == [item.id for item in some_items(4)]


def test_an_item_that_came_again_with_another_text_stays_as_it_was(desk_of):
    desk = desk_of()
    desk.add([an_item()])
    assert desk.add([an_item(after="Something else.")]) == 0
    assert list(desk.items()) == [an_item()]


def test_many_items_are_added_and_given_out_whole(desk_of):
    desk = desk_of()
    items = some_items(450)
    assert desk.add(iter(items)) == 450
    assert list(desk.items()) == items
    assert [outcome.item for outcome in desk.outcomes()] == [item.id for item in items]


def test_what_is_open_is_shown_again_until_it_is_decided(desk_of, url):
    desk = desk_of()
    desk.add(some_items(2))
    shown = desk.next("ana")
    assert desk.next("ana") == shown
    reopened = open_database(url)
    assert Desk(reopened, Settings()).next("ana") == shown
    reopened.close()


def test_no_item_goes_to_more_people_than_the_overlap(desk_of):
    desk = desk_of(overlap=2)
    desk.add([an_item()])
    assert desk.next("ana").item.id == desk.next("bob").item.id == "item-0"
    assert desk.next("cem") is None


def test_what_comes_next_can_be_asked_for_while_one_is_open(desk_of):
    desk = desk_of()
    desk.add(some_items(3))
    assert desk.next("ana").item.id == "item-0"
    assert desk.next("ana", after="item-0").item.id == "item-1"
    assert desk.next("ana", after="item-0").item.id == "item-1"
    assert desk.next("ana").item.id == "item-0"
    assert desk.next("ana", after="item-1").item.id == "item-0"
    desk.decide("ana", "item-0", ACCEPT)
    assert desk.next("ana").item.id == "item-1"
    assert desk.next("ana", after="no such item").item.id == "item-1"


def test_a_skip_makes_room_for_another_but_not_for_the_same_person(desk_of):
    desk = desk_of()
    desk.add(some_items(2))
    desk.next("ana")
    desk.decide("ana", "item-0", ReviewChoice("skip"))
    desk.decide("ana", desk.next("ana").item.id, ACCEPT)
    assert desk.next("ana") is None
    assert desk.next("bob").item.id == "item-0"
    assert desk.progress("ana") == ReviewProgress(left=0, done=1, total=2, disputed=0)
    assert desk.progress("bob") == ReviewProgress(left=1, done=0, total=2, disputed=0)


def test_who_is_past_an_item_is_given_it_when_it_becomes_free(desk_of):
    desk = desk_of()
    desk.add(some_items(3))
    assert desk.next("ana").item.id == "item-0"
    for _ in range(2):
        desk.decide("bob", desk.next("bob").item.id, ACCEPT)
    assert desk.next("bob") is None
    desk.decide("ana", "item-0", ReviewChoice("skip"))
    assert desk.next("bob").item.id == "item-0"


def test_what_a_person_has_open_can_be_given_back(desk_of):
    desk = desk_of()
    desk.add(some_items(2))
    desk.next("ana")
    assert desk.release("ana") == 1
    assert desk.release("ana") == 0
    assert [desk.next(name).item.id for name in ("bob", "cem")] == ["item-1", "item-0"]
    assert desk.next("ana") is None


def test_who_gave_an_item_back_can_be_given_it_again(desk_of):
    desk = desk_of()
    desk.add([an_item()])
    desk.next("ana")
    desk.release("ana")
    assert desk.progress("ana").left == 1
    assert desk.next("ana").item.id == "item-0"
    desk.decide("ana", "item-0", ACCEPT)
    assert states(desk) == ["accepted"]


def test_a_larger_overlap_asks_for_more_people_and_a_smaller_for_fewer(desk_of):
    one = desk_of(overlap=1)
    one.add(some_items(2))
    one.next("ana")
    one.decide("ana", "item-0", ACCEPT)
    two = desk_of(overlap=2)
    assert states(two) == ["undecided", "undecided"]
    assert two.next("bob").item.id == "item-0"
    two.decide("bob", "item-0", REJECT)
    assert [two.next(name).item.id for name in ("ana", "bob")] == ["item-1", "item-1"]
    assert states(two) == ["disputed", "undecided"]
    back = desk_of(overlap=1)
    assert back.next("cem") is None
    # Both decisions were made: a smaller overlap does not forget either.
    assert states(back) == ["disputed", "undecided"]


def test_an_overlap_of_none_is_refused():
    with pytest.raises(UsageError, match="overlap 0"):
        Settings(overlap=0)


# Deciding


def test_a_decision_holds_all_that_was_said(desk_of):
    desk = desk_of()
    desk.add([an_item(labels=("1", "2"))])
    desk.next("ana")
    said = desk.decide("ana", "item-0", ReviewChoice("accept", label="2", comment="fine", milliseconds=1234))
    assert (said.number, said.item, said.reviewer, said.kind, said.revision) == (1, "item-0", "ana", "accept", 0)
    assert (said.label, said.comment, said.milliseconds, said.mode, said.guideline) == ("2", "fine", 1234, "blind", 0)
    assert said.at.startswith("2026-01-01T00:00:")
    assert said.at.endswith("+00:00")
    assert list(desk.decisions()) == [said]


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        (ReviewChoice("accept"), "label is missing"),
        (edit("Another."), "label is missing"),
        (ReviewChoice("accept", label="9"), "not a label of this item"),
        (ReviewChoice("reject"), "needs a reason"),
        (ReviewChoice("reject", reason="because"), "needs a reason"),
        (ReviewChoice("edit", label="1"), "needs a text"),
        (edit(" \n", label="1"), "needs a text"),
        (edit(an_item().after, label="1"), "text is unchanged"),
        (ReviewChoice("accept", label="1", revision=1), "you have not seen revision 1"),
        (ReviewChoice("maybe", label="1"), "unknown decision"),
    ],
)
def test_what_cannot_be_said_is_refused_and_leaves_nothing(desk_of, choice, says):
    desk = desk_of()
    desk.add([an_item(labels=("1", "2"))])
    shown, version = desk.next("ana"), desk.version()
    with pytest.raises(Refused, match=says) as refused:
        desk.decide("ana", "item-0", choice)
    assert refused.value.fix
    assert list(desk.decisions()) == []
    assert [revision.number for revision in desk.revisions()] == [0]
    assert desk.next("ana") == shown
    assert desk.version() == version


def test_a_label_where_there_are_none_is_refused(desk_of):
    desk = desk_of()
    desk.add([an_item()])
    desk.next("ana")
    with pytest.raises(Refused, match="not a label"):
        desk.decide("ana", "item-0", ReviewChoice("accept", label="1"))


@pytest.mark.parametrize("reason", REASONS)
def test_a_rejection_keeps_its_reason_and_the_item(desk_of, reason):
    desk = desk_of()
    desk.add([an_item()])
    desk.next("ana")
    assert desk.decide("ana", "item-0", ReviewChoice("reject", reason=reason)).reason == reason
    assert states(desk) == ["rejected"]
    assert list(desk.items()) == [an_item()]


def test_what_does_not_belong_to_a_kind_is_excluded(desk_of):
    desk = desk_of()
    desk.add([an_item()])
    desk.next("ana")
    said = desk.decide("ana", "item-0", ReviewChoice("accept", reason="meaning", text="ignored", milliseconds=-5))
    assert (said.reason, said.milliseconds, said.revision) == (None, None, 0)
    assert [revision.number for revision in desk.revisions()] == [0]


def test_only_who_was_given_an_item_decides_it(desk_of):
    desk = desk_of()
    desk.add([an_item()])
    desk.next("ana")
    for person, item in (("bob", "item-0"), ("ana", "item-9")):
        with pytest.raises(NotAssigned):
            desk.decide(person, item, ACCEPT)
    assert list(desk.decisions()) == []


def test_the_same_choice_sent_twice_is_one_decision(desk_of):
    desk = desk_of()
    desk.add(some_items(4, labels=("1", "2")))
    choices = [
        ReviewChoice("accept", label="1"),
        edit("New text.", label="2"),
        ReviewChoice("reject", reason="other", comment="no"),
        ReviewChoice("skip"),
    ]
    for choice in choices:
        item = desk.next("ana").item.id
        first = desk.decide("ana", item, choice)
        version = desk.version()
        assert desk.decide("ana", item, replace(choice, milliseconds=9)) == first
        assert desk.version() == version
    assert len(list(desk.decisions())) == 4


def test_deciding_again_takes_the_place_of_what_was_said(desk_of):
    desk = desk_of()
    desk.add([an_item()])
    desk.next("ana")
    desk.decide("ana", "item-0", ACCEPT)
    desk.decide("ana", "item-0", REJECT)
    assert [said.kind for said in desk.decisions()] == ["accept", "reject"]
    assert states(desk) == ["rejected"]
    assert desk.show("ana", "item-0").own.kind == "reject"
    assert desk.decided("ana") == ["item-0"]
    assert desk.progress("ana").done == 1


def test_who_skipped_may_decide_after_all_while_there_is_room(desk_of):
    desk = desk_of()
    desk.add(some_items(2))
    for _ in range(2):
        desk.decide("ana", desk.next("ana").item.id, ReviewChoice("skip"))
    desk.decide("ana", "item-0", ACCEPT)
    assert desk.next("bob").item.id == "item-1"
    with pytest.raises(Refused, match="other reviewers have taken"):
        desk.decide("ana", "item-1", ACCEPT)
    assert states(desk) == ["accepted", "undecided"]
    assert [said.kind for said in desk.decisions()] == ["skip", "skip", "accept"]


# Edits


def test_an_edit_makes_a_revision_with_author_and_parent(desk_of):
    desk = desk_of()
    desk.add([an_item()])
    desk.next("ana")
    said = desk.decide("ana", "item-0", edit("The sea is a blue one."))
    second = desk.decide("ana", "item-0", edit("The sea is blue indeed.", revision=said.revision))
    generated, first, last = desk.revisions()
    assert (generated.number, generated.author, generated.text) == (0, "writer-1", an_item().after)
    assert (first.number, first.parent, first.author, first.text) == (1, 0, "ana", "The sea is a blue one.")
    assert (last.number, last.parent, last.author, last.text) == (2, 1, "ana", "The sea is blue indeed.")
    assert (said.revision, second.revision) == (1, 2)
    (outcome,) = desk.outcomes()
    assert (outcome.state, outcome.text, outcome.edited) == ("accepted", "The sea is blue indeed.", True)


def test_two_who_make_the_same_text_agree_and_two_who_do_not_disagree(desk_of):
    desk = desk_of(overlap=2)
    desk.add(some_items(2))
    for person, second in (("ana", "One."), ("bob", "Two.")):
        desk.decide(person, desk.next(person).item.id, edit("The same."))
        desk.decide(person, desk.next(person).item.id, edit(second))
    agreed, disputed = desk.outcomes()
    assert (agreed.state, agreed.text, agreed.reviewers) == ("accepted", "The same.", ("ana", "bob"))
    assert disputed.state == "disputed"
    assert [(one.item, one.number, one.author) for one in desk.revisions() if one.number] == [
        ("item-0", 1, "ana"),
        ("item-1", 1, "ana"),
        ("item-1", 2, "bob"),
    ]


def test_people_disagree_on_a_label_too(desk_of):
    desk = desk_of(overlap=2)
    desk.add(some_items(2, labels=("1", "2")))
    for person, label in (("ana", "1"), ("bob", "2")):
        desk.decide(person, desk.next(person).item.id, ReviewChoice("accept", label=label))
        desk.decide(person, desk.next(person).item.id, ReviewChoice("accept", label="2"))
    disputed, agreed = desk.outcomes()
    assert (disputed.state, agreed.state, agreed.label) == ("disputed", "accepted", "2")


# Blind and assisted


def test_a_blind_reviewer_sees_nothing_of_others_before_deciding(desk_of):
    desk = desk_of(overlap=2)
    desk.add([an_item()])
    desk.next("ana")
    desk.decide("ana", "item-0", edit("Made by Ana."))
    for shown in (desk.next("bob"), desk.show("bob", "item-0")):
        assert shown.item == replace(an_item(), target="", opinions=())
        assert [revision.number for revision in shown.revisions] == [0]
        assert (shown.own, shown.others) == (None, ())
        assert "Ana" not in repr(shown)
    with pytest.raises(Refused, match="you have not seen revision 1"):
        desk.decide("bob", "item-0", ReviewChoice("accept", revision=1))
    desk.decide("bob", "item-0", ACCEPT)
    shown = desk.show("bob", "item-0")
    assert shown.item == an_item()
    assert [revision.text for revision in shown.revisions] == [an_item().after, "Made by Ana."]
    assert (shown.own.kind, [said.reviewer for said in shown.others]) == ("accept", ["ana"])


def test_a_skip_and_an_undo_reveal_nothing(desk_of):
    desk = desk_of(overlap=2)
    desk.add([an_item()])
    desk.next("ana")
    desk.decide("ana", "item-0", ACCEPT)
    desk.next("bob")
    desk.decide("bob", "item-0", ReviewChoice("skip"))
    shown = desk.show("bob", "item-0")
    assert (shown.item.target, shown.item.opinions, shown.others, shown.own.kind) == ("", (), (), "skip")
    desk.undo("bob")
    assert desk.next("bob").item.target == ""
    assert desk.decide("bob", "item-0", edit("Mine.")).mode == "blind"
    desk.undo("bob")
    shown = desk.next("bob")
    assert (shown.item.target, shown.others, shown.own) == ("", (), None)
    assert [revision.text for revision in shown.revisions] == [an_item().after, "Mine."]


def test_a_decision_after_one_that_revealed_is_recorded_as_assisted(desk_of):
    desk = desk_of()
    desk.add(some_items(2))
    assert desk.next("ana")
    assert desk.decide("ana", "item-0", ACCEPT).mode == "blind"
    assert desk.decide("ana", "item-0", REJECT).mode == "assisted"
    desk.undo("ana")
    assert desk.decide("ana", "item-0", ACCEPT).mode == "assisted"
    assert desk.decide("ana", desk.next("ana").item.id, ACCEPT).mode == "blind"


def test_an_assisted_reviewer_sees_everything_and_it_is_recorded(desk_of):
    desk = desk_of(overlap=2, mode="assisted")
    desk.add([an_item()])
    desk.next("ana")
    desk.decide("ana", "item-0", edit("Made by Ana."))
    shown = desk.next("bob")
    assert (shown.item, len(shown.revisions), len(shown.others)) == (an_item(), 2, 1)
    said = desk.decide("bob", "item-0", ReviewChoice("accept", revision=1))
    assert (said.mode, said.revision) == ("assisted", 1)
    assert states(desk) == ["accepted"]


def test_an_item_of_others_is_not_shown(desk_of):
    desk = desk_of()
    desk.add([an_item()])
    desk.next("ana")
    assert desk.show("bob", "item-0") is None
    assert desk.show("ana", "no such item") is None


# Undoing


def test_an_undo_opens_the_item_again_and_keeps_the_decision(desk_of):
    desk = desk_of()
    desk.add(some_items(3))
    for _ in range(2):
        desk.decide("ana", desk.next("ana").item.id, ACCEPT)
    assert desk.next("ana").item.id == "item-2"
    assert desk.undo("ana") == "item-1"
    assert desk.next("ana").item.id == "item-1"
    assert desk.undo("ana") == "item-0"
    assert desk.undo("ana") is None
    assert [said.undone for said in desk.decisions()] == [True, True]
    assert states(desk) == ["undecided"] * 3
    given = []
    while (shown := desk.next("ana")) is not None:
        given.append(shown.item.id)
        desk.decide("ana", shown.item.id, REJECT)
    assert given == ["item-0", "item-1", "item-2"]
    assert states(desk) == ["rejected"] * 3


def test_an_undo_takes_back_all_that_was_said_of_the_item(desk_of):
    desk = desk_of()
    desk.add([an_item()])
    desk.next("ana")
    desk.decide("ana", "item-0", ACCEPT)
    desk.decide("ana", "item-0", REJECT)
    assert desk.undo("ana") == "item-0"
    assert states(desk) == ["undecided"]
    assert desk.undo("ana") is None


def test_each_undoes_their_own(desk_of):
    desk = desk_of(overlap=2)
    desk.add([an_item()])
    for person in ("ana", "bob"):
        desk.next(person)
        desk.decide(person, "item-0", ACCEPT)
    assert desk.undo("ana") == "item-0"
    assert [(said.reviewer, said.undone) for said in desk.decisions()] == [("ana", True), ("bob", False)]
    assert desk.undo("cem") is None


def test_a_skip_is_undone_while_there_is_room(desk_of):
    desk = desk_of()
    desk.add(some_items(2))
    desk.next("ana")
    desk.decide("ana", "item-0", ReviewChoice("skip"))
    assert desk.undo("ana") == "item-0"
    desk.decide("ana", "item-0", ReviewChoice("skip"))
    assert [desk.next("bob").item.id, desk.next("cem").item.id] == ["item-1", "item-0"]
    assert desk.undo("ana") is None


def test_an_undo_works_in_another_program_later(desk_of, url):
    desk = desk_of()
    desk.add(some_items(2))
    desk.decide("ana", desk.next("ana").item.id, ACCEPT)
    reopened = open_database(url)
    later = Desk(reopened, Settings())
    assert later.undo("ana") == "item-0"
    assert later.next("ana").item.id == "item-0"
    reopened.close()


# Adjudicating


def test_an_adjudicator_settles_what_others_disagree_on(desk_of):
    desk = desk_of(overlap=2)
    desk.add(some_items(2))
    assert desk.disputed("eve") is None
    disagree(desk)
    shown = desk.disputed("eve")
    assert shown.item == an_item()
    assert [(said.reviewer, said.kind) for said in shown.others] == [("ana", "accept"), ("bob", "reject")]
    assert desk.progress("eve").disputed == 1
    said = desk.adjudicate("eve", "item-0", edit("Settled."))
    assert (said.adjudicates, said.mode, said.reviewer) == (True, "assisted", "eve")
    assert desk.adjudicate("eve", "item-0", edit("Settled.")) == said
    (outcome, _) = desk.outcomes()
    assert (outcome.state, outcome.text, outcome.adjudicator) == ("accepted", "Settled.", "eve")
    assert outcome.reviewers == ("ana", "bob")
    assert desk.disputed("eve") is None
    assert desk.show("eve", "item-0").own == said


def test_who_reviewed_an_item_does_not_adjudicate_it(desk_of):
    desk = desk_of(overlap=2)
    desk.add([an_item()])
    disagree(desk)
    assert desk.disputed("ana") is None
    with pytest.raises(NotAssigned, match="reviewed"):
        desk.adjudicate("ana", "item-0", ACCEPT)
    with pytest.raises(NotAssigned, match="unknown item"):
        desk.adjudicate("eve", "item-9", ACCEPT)


def test_only_what_is_disputed_is_adjudicated_and_only_once(desk_of):
    desk = desk_of(overlap=2)
    desk.add(some_items(2))
    with pytest.raises(Refused, match="is not disputed"):
        desk.adjudicate("eve", "item-0", ACCEPT)
    disagree(desk)
    with pytest.raises(Refused, match="must decide, not skip"):
        desk.adjudicate("eve", "item-0", ReviewChoice("skip"))
    desk.adjudicate("eve", "item-0", REJECT)
    with pytest.raises(Refused, match="eve has decided"):
        desk.adjudicate("fay", "item-0", ACCEPT)
    desk.adjudicate("eve", "item-0", ACCEPT)
    assert states(desk)[0] == "accepted"


def test_what_is_settled_is_neither_decided_nor_undone_by_reviewers(desk_of):
    desk = desk_of(overlap=2)
    desk.add([an_item()])
    disagree(desk)
    desk.adjudicate("eve", "item-0", REJECT)
    with pytest.raises(Refused, match="decided this item"):
        desk.decide("bob", "item-0", ACCEPT)
    assert desk.undo("bob") is None
    assert states(desk) == ["rejected"]
    assert desk.undo("eve") == "item-0"
    assert states(desk) == ["disputed"]
    assert desk.disputed("eve").item.id == "item-0"
    assert desk.undo("bob") == "item-0"
    assert states(desk) == ["undecided"]
    assert desk.disputed("eve") is None


def test_an_adjudicator_can_leave_an_item_for_later(desk_of):
    desk = desk_of(overlap=2)
    desk.add(some_items(3))
    for item in ("item-0", "item-1", "item-2"):
        disagree(desk, item)
    assert desk.disputed("eve").item.id == "item-0"
    assert desk.disputed("eve", after="item-0").item.id == "item-1"
    assert desk.disputed("eve", after="item-2").item.id == "item-0"


def test_an_item_that_was_settled_is_given_to_nobody_for_a_larger_overlap(desk_of):
    desk = desk_of(overlap=2)
    desk.add([an_item()])
    disagree(desk)
    desk.adjudicate("eve", "item-0", ACCEPT)
    assert desk_of(overlap=3).next("cem") is None


# The whole review


def test_progress_counts_what_is_left_for_each(desk_of):
    desk = desk_of(overlap=2)
    assert desk.progress("ana") == ReviewProgress(left=0, done=0, total=0, disputed=0)
    desk.add(some_items(5))
    disagree(desk)
    desk.next("ana")
    assert desk.progress("ana") == ReviewProgress(left=4, done=1, total=5, disputed=1)
    desk.decide("ana", "item-1", ReviewChoice("skip"))
    assert desk.progress("ana") == ReviewProgress(left=3, done=1, total=5, disputed=1)
    assert desk.progress("cem") == ReviewProgress(left=4, done=0, total=5, disputed=1)
    left = 0
    while (shown := desk.next("cem")) is not None:
        desk.decide("cem", shown.item.id, ACCEPT)
        left += 1
    assert left == 4


def test_the_version_grows_with_items_decisions_and_undos_alone(desk_of):
    desk = desk_of()
    seen = [desk.version()]

    def grows() -> bool:
        seen.append(desk.version())
        return seen[-1] > seen[-2]

    desk.add(some_items(2))
    assert grows()
    desk.add(some_items(2))
    desk.next("ana")
    desk.progress("ana")
    assert not grows()
    desk.decide("ana", "item-0", ACCEPT)
    assert grows()
    desk.undo("ana")
    assert grows()
    desk.undo("ana")
    assert not grows()
    desk.set_guideline("Be kind.")
    assert grows()


def test_what_one_has_decided_the_newest_first(desk_of):
    desk = desk_of()
    desk.add(some_items(5))
    for choice in (ACCEPT, REJECT, ReviewChoice("skip"), ACCEPT):
        desk.decide("ana", desk.next("ana").item.id, choice)
    desk.decide("ana", "item-0", REJECT)
    desk.next("ana")
    assert desk.decided("ana") == ["item-0", "item-3", "item-2", "item-1"]
    assert desk.decided("ana", limit=2) == ["item-0", "item-3"]
    desk.undo("ana")
    assert desk.decided("ana") == ["item-3", "item-2", "item-1"]
    assert desk.decided("bob") == []


def test_guidelines_have_versions_and_decisions_name_theirs(desk_of):
    desk = desk_of()
    desk.add(some_items(4))
    assert desk.guideline() == (0, "")

    def decided_under() -> int:
        return desk.decide("ana", desk.next("ana").item.id, ACCEPT).guideline

    assert decided_under() == 0
    assert [desk.set_guideline("Be strict."), desk.set_guideline("Be strict.")] == [1, 1]
    assert decided_under() == 1
    assert desk.set_guideline("Be lenient.") == 2
    assert (desk.guideline(), decided_under()) == ((2, "Be lenient."), 2)
    assert desk.set_guideline("Be strict.") == 1
    assert (desk.guideline(), decided_under()) == ((1, "Be strict."), 1)
    assert desk.set_guideline("") == 0
    assert desk.guideline() == (0, "")


def test_an_adjudicator_who_skipped_an_item_can_settle_it(desk_of):
    desk = desk_of(overlap=2)
    desk.add([an_item()])
    desk.next("cleo")
    desk.decide("cleo", "item-0", ReviewChoice("skip"))
    for person, choice in (("ana", ReviewChoice("accept")), ("bob", ReviewChoice("reject", reason="other"))):
        desk.next(person)
        desk.decide(person, "item-0", choice)
    assert desk.disputed("cleo").item == an_item()
    assert desk.adjudicate("cleo", "item-0", ReviewChoice("accept")).adjudicates
    assert [(found.state, found.adjudicator) for found in desk.outcomes()] == [("accepted", "cleo")]


def test_what_a_reviewer_has_replaced_is_not_shown_as_what_they_say(desk_of):
    desk = desk_of(overlap=2)
    desk.add([an_item()])
    for person, choice in (("ana", ReviewChoice("accept")), ("bob", ReviewChoice("reject", reason="other"))):
        desk.next(person)
        desk.decide(person, "item-0", choice)
    desk.decide("ana", "item-0", ReviewChoice("edit", text="The sea."))
    said = [(said.reviewer, said.kind) for said in desk.disputed("cleo").others]
    assert said == [("bob", "reject"), ("ana", "edit")]


def test_an_undo_that_means_another_decision_takes_nothing_back(desk_of):
    desk = desk_of()
    desk.add(some_items(2))
    for name in ("item-0", "item-1"):
        assert desk.next("ana").item.id == name
        desk.decide("ana", name, ReviewChoice("accept"))
    assert desk.undo("ana", item="item-0") is None
    assert [said.undone for said in desk.decisions()] == [False, False]
    assert desk.undo("ana", item="item-1") == "item-1"
    assert desk.undo("ana", item="item-1") is None
    assert [said.undone for said in desk.decisions()] == [False, True]


def test_one_person_decides_on_one_item_so_many_times(desk_of, monkeypatch):
    monkeypatch.setattr("umpirical.review.desk.MOST_DECISIONS", 3)
    desk = desk_of()
    desk.add([an_item()])
    desk.next("ana")
    for number in range(3):
        desk.decide("ana", "item-0", ReviewChoice("edit", text=f"Text {number}."))
    with pytest.raises(Refused, match="3 decisions"):
        desk.decide("ana", "item-0", ReviewChoice("edit", text="One more."))
    assert len(list(desk.decisions())) == 3
