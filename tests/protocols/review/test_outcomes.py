"""What an outcome does to a stimulus."""

from dataclasses import replace

import pytest

from tests.stimuli.generation.wanted import PARAPHRASE, SAME, drive, grade, original, wanted
from umpirical.domain.reviews import ReviewOutcome
from umpirical.domain.stimuli import FlippedVerdict, GivenLabel, SameVerdict
from umpirical.protocols.review import Review, applied, checked_again

FLIP = "I do not care for it much. " * 12
NEW = "Uniforms are worn in many schools, and some like them. " * 6


def paraphrase():
    commission = wanted("paraphrase")
    attempt, _ = drive(commission, text=PARAPHRASE, opinions=[SAME] * 2)
    return commission, attempt.stimulus


def flip(gold="5", target="2"):
    commission = wanted("label-flip", source=original(gold=gold), target=target)
    attempt, _ = drive(commission, text=FLIP, opinions=[grade(target)] * 2)
    return commission, attempt.stimulus


def synthetic(target="2"):
    commission = wanted("synthetic-ordinal", target=target)
    attempt, _ = drive(commission, text=NEW, opinions=[grade(target)] * 2)
    return commission, attempt.stimulus


def reviewed(made, revisions=None, **outcome):
    commission, stimulus = made
    given = {"item": stimulus.id, "state": "accepted", "text": stimulus.candidates[0], "reviewers": ("ana",)}
    found = ReviewOutcome(**given | outcome)
    return applied(Review({stimulus.id: found}, revisions or {}), stimulus.id, commission, stimulus)


def test_what_was_accepted_is_the_same_with_a_word_for_it():
    made = paraphrase()
    found = reviewed(made)
    assert found == replace(made[1], evidence={**made[1].evidence, "review": "kept by 1 person"})
    assert found.id != made[1].id


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ({"reviewers": ("ana", "ben")}, "kept by 2 people"),
        ({"reviewers": ("ana", "ben"), "adjudicator": "cleo"}, "decided by an adjudicator, after 2 had decided"),
        ({"reviewers": (), "adjudicator": "cleo"}, "decided by an adjudicator"),
    ],
)
def test_the_evidence_says_how_many_and_never_who(outcome, words):
    evidence = reviewed(paraphrase(), **outcome).evidence
    assert evidence["review"] == words
    assert not any(name in text for name in ("ana", "ben", "cleo") for text in (words, evidence["review"]))


def test_an_edit_is_asked_about_and_checked_anew():
    made = paraphrase()
    text = made[1].candidates[0].replace("61 out of 100", "61 in 100")
    found = reviewed(made, {(made[1].id, text): 3}, text=text, edited=True)
    assert found.candidates == (text,)
    assert found.evidence["review"] == "edited by a person (revision 3), kept by 1 person"
    assert found.evidence["validators"].startswith("asked about the text before a person edited it: reader-1: 2 of 2")
    checks = {kind for kind in made[1].evidence if kind.startswith("check ")}
    assert checks
    assert {kind for kind in found.evidence if kind.startswith("check ")} == checks
    assert found.evidence["check length ratio"] != made[1].evidence["check length ratio"]
    assert not any("NOT PASSED" in text for text in found.evidence.values())


def test_a_check_that_an_edit_fails_is_shown_and_nothing_is_dropped():
    made = paraphrase()
    found = reviewed(made, text="Uniforms, 12 times.", edited=True)
    assert found.candidates == ("Uniforms, 12 times.",)
    failed = {kind for kind, text in found.evidence.items() if text.startswith("NOT PASSED: ")}
    assert {"check length ratio", "check numbers"} <= failed
    assert failed == {
        f"check {result.check}" for result in checked_again(made[0], "Uniforms, 12 times.") if not result.passed
    }
    assert found.evidence["check numbers"].endswith("; all kept, none new")
    assert (found.expectation, found.gold) == (made[1].expectation, made[1].gold)


def test_a_copy_of_an_example_is_seen_in_an_edit():
    commission, _ = synthetic()
    shown = replace(commission, examples=("An example that the generator was shown.",))
    results = {result.check: result for result in checked_again(shown, "An example that the generator was shown.")}
    assert not results["not a copy"].passed
    assert results["not a copy"].found == "the words of another text"


def test_a_label_that_was_confirmed_stays_what_it_was():
    made = flip()
    found = reviewed(made, label="2")
    assert (found.gold, found.gold_from, found.expectation) == ("2", "construction", FlippedVerdict())
    assert found.evidence["review"] == "kept by 1 person"


def test_another_label_is_the_reviewers_word():
    made = flip()
    found = reviewed(made, label="3")
    assert (found.gold, found.gold_from, found.expectation) == ("3", "review", FlippedVerdict())
    assert found.evidence["review"] == "kept by 1 person; label 3 instead of 2"


def test_a_flip_that_people_do_not_see_is_none():
    found = reviewed(flip(gold="5"), label="5")
    assert (found.gold, found.gold_from, found.expectation) == ("5", "review", SameVerdict())


def test_a_new_text_has_the_label_that_people_give_it():
    found = reviewed(synthetic("2"), label="4")
    assert (found.gold, found.gold_from, found.expectation) == ("4", "review", GivenLabel("4"))


def test_edited_and_relabelled_at_once():
    made = synthetic("2")
    found = reviewed(made, text=f"{NEW} Or not.", edited=True, label="4")
    assert found.candidates == (f"{NEW} Or not.",)
    assert found.gold_from == "review"
    assert found.evidence["review"] == "edited by a person, kept by 1 person; label 4 instead of 2"


@pytest.mark.parametrize(
    ("state", "fate"),
    [("accepted", "kept"), ("rejected", "rejected"), ("undecided", "undecided"), ("disputed", "undecided")],
)
def test_the_fate_of_an_item(state, fate):
    review = Review({"one": ReviewOutcome("one", state)})
    assert review.fate("one") == fate
    assert review.fate("another") == "undecided"


def test_who_was_looked_at():
    review = Review(
        {
            "decided": ReviewOutcome("decided", "disputed", reviewers=("ana", "ben")),
            "settled": ReviewOutcome("settled", "accepted", adjudicator="cleo"),
            "skipped": ReviewOutcome("skipped", "undecided"),
        }
    )
    assert [review.looked_at(item) for item in ("decided", "settled", "skipped", "new")] == [True, True, False, False]
