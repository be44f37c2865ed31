"""The outcome of any decisions."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.review.items import an_item
from umpirical.domain.reviews import ReviewDecision
from umpirical.review.records import Revision, current, outcome_of, outcomes_of, state_of

ITEM = an_item()
REVISIONS = [Revision(number, ITEM.id, 0, "ana", f"Text {number}.", "") for number in (1, 2)]


def said(number: int, reviewer: str = "ana", kind: str = "accept", **fields) -> ReviewDecision:
    given = {"revision": 0, "at": "", "milliseconds": 0, "mode": "blind", "guideline": 0}
    return ReviewDecision(number, ITEM.id, reviewer, kind, **given | fields)


def fold(*decisions: ReviewDecision, overlap: int = 1):
    return outcome_of(ITEM, REVISIONS, decisions, overlap=overlap)


@st.composite
def histories(draw) -> list[ReviewDecision]:
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["ana", "bob", "cem"]),
                st.sampled_from(["accept", "edit", "reject", "skip"]),
                st.sampled_from([0, 1, 2]),
                st.sampled_from(["1", "2"]),
                st.booleans(),
                st.integers(0, 9),
            ),
            max_size=8,
        )
    )
    return [
        said(number, who, kind, revision=revision, label=label, undone=undone, adjudicates=dice == 0 and kind != "skip")
        for number, (who, kind, revision, label, undone, dice) in enumerate(rows, 1)
    ]


def test_nothing_said_is_undecided():
    assert fold().state == "undecided"
    assert fold(said(1, kind="skip")).state == "undecided"
    assert fold(said(1, undone=True)).state == "undecided"


def test_accepted_edited_and_rejected():
    assert (fold(said(1, label="2")).text, fold(said(1, label="2")).label) == (ITEM.after, "2")
    edited = fold(said(1, kind="edit", revision=2))
    assert (edited.state, edited.text, edited.edited) == ("accepted", "Text 2.", True)
    rejected = fold(said(1, kind="reject", label="2"))
    assert (rejected.state, rejected.text, rejected.label) == ("rejected", "", "")


def test_the_reason_of_a_rejection_is_nothing_to_disagree_on():
    both = fold(said(1, kind="reject", reason="label"), said(2, "bob", "reject", reason="other"), overlap=2)
    assert (both.state, both.reviewers) == ("rejected", ("ana", "bob"))


@pytest.mark.parametrize("second", [{"kind": "reject"}, {"label": "2"}, {"kind": "edit", "revision": 1}])
def test_two_who_do_not_say_the_same_disagree(second):
    assert fold(said(1, label="1"), said(2, "bob", **{"label": "1"} | second), overlap=2).state == "disputed"


def test_an_adjudication_stands_above_all_and_its_undoing_brings_the_dispute_back():
    pair = [said(1), said(2, "bob", "reject")]
    settled = fold(*pair, said(3, "eve", "edit", revision=1, adjudicates=True), overlap=2)
    assert (settled.state, settled.text, settled.adjudicator) == ("accepted", "Text 1.", "eve")
    again = fold(*pair, said(3, "eve", adjudicates=True, undone=True), overlap=2)
    assert (again.state, again.adjudicator) == ("disputed", "")


def test_the_newest_adjudication_settles_it():
    pair = [said(1), said(2, "bob", "reject")]
    first, second = said(3, "eve", "reject", adjudicates=True), said(4, "dan", "edit", revision=2, adjudicates=True)
    settled = fold(*pair, first, second, overlap=2)
    assert (settled.state, settled.text, settled.adjudicator) == ("accepted", "Text 2.", "dan")


@given(histories(), st.integers(1, 3), st.randoms())
def test_the_order_in_which_decisions_are_read_changes_nothing(history, overlap, random):
    mixed = random.sample(history, len(history))
    assert fold(*mixed, overlap=overlap) == fold(*history, overlap=overlap)


@given(histories(), st.integers(1, 3))
def test_undone_decisions_and_skips_change_nothing(history, overlap):
    kept = [decision for decision in history if not decision.undone]
    assert fold(*kept, overlap=overlap) == fold(*history, overlap=overlap)
    silent = said(len(history) + 1, "zoe", "skip")
    assert fold(*history, silent, overlap=overlap) == fold(*history, overlap=overlap)


@given(histories(), st.integers(1, 3))
def test_the_state_follows_from_who_decided_what(history, overlap):
    outcome = fold(*history, overlap=overlap)
    standing = current(history)
    assert outcome.reviewers == tuple(decision.reviewer for decision in standing)
    assert len(set(outcome.reviewers)) == len(outcome.reviewers)
    assert outcome.state == state_of(history, overlap=overlap)
    if outcome.adjudicator:
        assert outcome.state in ("accepted", "rejected")
    elif len(standing) < overlap:
        assert outcome.state == "undecided"
    else:
        assert (outcome.state == "disputed") == (len({decision.says for decision in standing}) > 1)
    assert bool(outcome.text) == (outcome.state == "accepted")
    assert not (outcome.label and outcome.state != "accepted")


def test_each_item_has_its_own_decisions_and_texts():
    other = an_item("item-1", after="Other.")
    texts = [*REVISIONS, replace(REVISIONS[0], item="item-1", text="Edited other.")]
    decisions = [said(1, kind="reject"), replace(said(2, kind="edit", revision=1), item="item-1")]
    first, second, third = outcomes_of([ITEM, other, an_item("item-2")], texts, decisions, overlap=1)
    assert (first.item, first.state) == ("item-0", "rejected")
    assert (second.item, second.state, second.text) == ("item-1", "accepted", "Edited other.")
    assert (third.item, third.state) == ("item-2", "undecided")
