"""The stimulus set of a reviewed study, without any judge."""

import pytest

from tests.protocols.review.written import small_study, write
from umpirical.protocols.review import ItemFeed, open_review
from umpirical.protocols.review_record import ReviewRecord
from umpirical.protocols.stress.stimuli import write_stress_set
from umpirical.review.records import ReviewChoice
from umpirical.study.file import read_study


@pytest.fixture
def folder(tmp_path):
    folder = small_study(tmp_path / "study", review={"overlap": 2})
    write(folder)
    return folder


def say(folder, person, choice, *, label=None):
    """Has a person decide on everything: cues by `choice`, flips as they were meant or by `label`."""
    study = read_study(folder)
    opened = open_review(study.protocol.review(study), begin=True)
    try:
        ItemFeed(study.protocol.writing(study)).into(opened.desk)
        targets = {item.id: item.target for item in opened.desk.items()}
        while shown := opened.desk.next(person):
            item = shown.item
            given = ReviewChoice("accept", label=label or targets[item.id]) if item.labels else choice
            opened.desk.decide(person, item.id, given)
    finally:
        opened.close()


def record(stimuli):
    return ReviewRecord.model_validate(stimuli.manifest["review"])


def test_a_set_is_written_anew_when_only_the_figures_of_its_review_are_new(folder):
    """The same texts and the same counts, and yet people agree less: the report must not show the old figure."""
    study = read_study(folder)
    say(folder, "ana", ReviewChoice("accept"))
    before = write_stress_set(study)
    assert record(before).agreement.kind == "undefined"
    say(folder, "ben", ReviewChoice("reject", reason="meaning"), label="2")
    after = write_stress_set(study)
    found = record(after)
    assert (found.agreement.numerator, found.agreement.denominator) == (0, 8)
    assert (found.reviewed, found.undecided, found.rejected) == (8, 8, 0)
    # What people have not settled counts, so nothing is gone.
    assert after.digest == before.digest
    assert after.manifest["made"] == before.manifest["made"]
    assert after.folder != before.folder
    assert write_stress_set(study).folder == after.folder


def test_what_was_said_of_an_earlier_state_of_the_study_is_not_in_its_figures(folder):
    say(folder, "ana", ReviewChoice("accept"))
    say(folder, "ben", ReviewChoice("accept"))
    assert record(write_stress_set(read_study(folder))).reviewed == 8
    (folder / "rubric.txt").write_text("3 is best.")
    write(folder)
    found = record(write_stress_set(read_study(folder)))
    assert (found.generated, found.reviewed, found.undecided, found.people, found.decisions) == (8, 0, 8, 0, 0)
    assert found.tests == found.generators == []


def test_decisions_outlive_what_becomes_known_of_an_item(folder):
    """Another stratum is no other text: what people said of it holds."""
    say(folder, "ana", ReviewChoice("accept"))
    say(folder, "ben", ReviewChoice("accept"))
    file = folder / "umpirical.yaml"
    file.write_text(file.read_text().replace('"id": "id"', '"id": "id", "strata": ["score"]'))
    stimuli = write_stress_set(read_study(folder))
    assert record(stimuli).reviewed == 8
    cues = [stimulus for stimulus in stimuli if stimulus.family == "authority-cue"]
    assert len(cues) == 4
    for stimulus in cues:
        assert stimulus.strata["score"]
        assert stimulus.evidence["review"] == "kept by 2 people"


def test_names_of_people_are_in_no_set(folder):
    say(folder, "Anastasia", ReviewChoice("edit", text="A cue of mine: a professor says that it is so."))
    stimuli = write_stress_set(read_study(folder))
    assert "Anastasia" not in (stimuli.folder / "manifest.json").read_text()
    assert not any("Anastasia" in text for stimulus in stimuli for text in stimulus.evidence.values())
