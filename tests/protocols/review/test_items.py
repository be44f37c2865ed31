"""What a generator wrote comes to the desk, in its order and while it still writes."""

import subprocess
import sys

import pytest

from tests.protocols.review.written import CUE, commissions, small_study, write, writing_of
from umpirical.domain.errors import UsageError
from umpirical.protocols.review import ItemFeed, review_item
from umpirical.review.database import open_database
from umpirical.review.desk import Desk
from umpirical.review.records import Settings
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, GeneratedPerturbation
from umpirical.study.file import read_study


@pytest.fixture
def folder(tmp_path):
    return small_study(tmp_path / "study")


@pytest.fixture
def desk(tmp_path):
    database = open_database(f"sqlite:///{tmp_path}/review.sqlite")
    yield Desk(database, Settings())
    database.close()


def test_what_is_proved_needs_nobody(folder, desk):
    write(folder)
    feed = ItemFeed(writing_of(folder))
    assert feed.wanted == 8
    assert feed.into(desk) == 8
    assert [item.test for item in desk.items()] == ["authority-cue"] * 4 + ["label-flip"] * 4


def test_an_item_says_all_that_a_reviewer_may_need(folder, desk):
    attempts = write(folder)
    ItemFeed(writing_of(folder)).into(desk)
    items = list(desk.items())
    cue, flip = items[0], items[4]
    assert [item.id for item in items] == [attempt.stimulus.id for attempt in attempts]
    assert cue.question == "Was one passage added, and nothing else changed?"
    assert (cue.labels, cue.target, cue.opinions) == ((), "", ())
    assert cue.after == cue.before + CUE
    assert flip.question == "Which label does this text deserve?"
    assert (flip.labels, flip.target, flip.opinions) == (("1", "2", "3"), "1", ("1", "1"))
    for item in items:
        assert item.task == "Why is the sky blue?"
        assert item.rubric == "3: right and complete. 1: wrong."
        assert item.generator == "writer"
        assert item.checks
        assert all(check.passed for check in item.checks)
        assert not item.sensitive


def test_nothing_is_made_by_looking(folder, desk):
    feed = ItemFeed(writing_of(folder))
    assert feed.into(desk) == 0
    assert not (folder / "generated").exists()
    write(folder)
    assert feed.into(desk) == 8
    assert feed.into(desk) == 0


def test_items_come_while_they_are_written(folder, desk):
    feed = ItemFeed(writing_of(folder))
    planned = commissions(read_study(folder))
    for count, commission in enumerate(planned, 1):
        write(folder, [commission])
        assert feed.into(desk) == 1
        assert len(list(desk.items())) == count


def test_another_process_may_write(folder, desk):
    """The record is read while somebody else has it open and has written more than was read."""
    code = (
        "import sys; from pathlib import Path; from tests.protocols.review.written import *\n"
        "from umpirical.study.file import read_study\n"
        "folder = Path(sys.argv[1]); planned = commissions(read_study(folder))\n"
        "for place in range(0, len(planned), 2):\n"
        "    write(folder, planned[place : place + 2]); print('written', flush=True); sys.stdin.readline()\n"
    )
    feed = ItemFeed(writing_of(folder))
    with subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        found = []
        for _ in range(4):
            assert writer.stdout.readline() == "written\n"
            found.append(feed.into(desk))
            writer.stdin.write("\n")
            writer.stdin.flush()
    assert found == [2, 2, 2, 2]
    assert writer.returncode == 0


def test_rejected_attempts_are_no_items(folder, desk):
    flips = [one for one in commissions(read_study(folder)) if one.perturbation.name == "label-flip"]
    rejected = write(folder, flips, opinions=0)
    assert all(attempt.stimulus is None for attempt in rejected)
    feed = ItemFeed(writing_of(folder))
    assert feed.into(desk) == 0
    write(folder, flips, number=1)
    assert feed.into(desk) == 4


def test_what_was_written_for_another_rubric_is_no_item(folder, desk):
    write(folder)
    (folder / "rubric.txt").write_text("3 is best.")
    assert ItemFeed(writing_of(folder)).into(desk) == 0


def test_what_did_not_reach_the_desk_is_brought_again(folder, desk, monkeypatch):
    write(folder)
    feed = ItemFeed(writing_of(folder))

    def locked(_):
        raise OSError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(desk, "add", locked)
        with pytest.raises(OSError, match="the disk is full"):
            feed.into(desk)
    assert feed.into(desk) == 8


def test_many_are_brought_in_batches(folder, desk, monkeypatch):
    monkeypatch.setattr("umpirical.protocols.review.BATCH", 3)
    write(folder)
    assert ItemFeed(writing_of(folder)).into(desk) == 8
    assert len(list(desk.items())) == 8


def test_texts_of_sensitive_tests_are_blurred(folder, desk):
    small_study(folder, review={"sensitive": ["label-flip"]})
    write(folder)
    ItemFeed(writing_of(folder)).into(desk)
    assert {item.test for item in desk.items() if item.sensitive} == {"label-flip"}


def test_a_text_from_nothing_has_nothing_before_it():
    from tests.stimuli.generation.wanted import drive, grade, wanted

    commission = wanted("synthetic-ordinal", target="2")
    text = "Uniforms are worn in many schools, and some like them. " * 6
    attempt, _ = drive(commission, text=text, opinions=[grade("2")] * 2)
    assert review_item(commission, attempt).before == ""
    with pytest.raises(ValueError, match="was rejected"):
        review_item(commission, drive(commission, text=text, opinions=[grade("5")] * 3)[0])


def test_a_study_without_a_generator_has_nothing_to_review(tmp_path):
    folder = small_study(tmp_path / "proved", stress={"tests": ["vertical-spacing"]})
    with pytest.raises(UsageError, match="nothing to generate or review"):
        ItemFeed(writing_of(folder))


def test_every_generated_test_has_a_question():
    questions = {
        test.name: test.review_question
        for test in map(PERTURBATIONS.get, PERTURBATIONS.names())
        if isinstance(test, GeneratedPerturbation)
    }
    assert len(questions) == 15
    assert all(question.endswith("?") for question in questions.values())
    assert questions["paraphrase"] == "Is the meaning unchanged?"
    assert questions["prompt-injection"] == "Was one passage added, and nothing else changed?"
    assert questions["synthetic-ordinal"] == questions["label-flip"] == "Which label does this text deserve?"
