"""A stimulus set is made once: from the same it is not made again, and from anything else it is."""

import csv
import json
import os
import shutil

import pytest

from umpirical.domain.digests import digest
from umpirical.protocols.stress import stimuli
from umpirical.protocols.stress.stimuli import source_of, write_stress_set
from umpirical.store import stimulus_sets
from umpirical.store.stimulus_sets import StimulusSet
from umpirical.study.file import parse_study

STUDY = """\
study: s
seed: 4
dataset:
  path: items.csv
  columns: {response: text, task: task, label: grade}
  scale: {kind: ordinal, labels: ["1", "2", "3"]}
stress: {tests: [vertical-spacing, typos, heading-case, stability]}
judges:
  - {name: sound, model: {adapter: simulated, name: sound-examiner}}
"""

GENERATED = """\
  generator: {model: {adapter: simulated-writer, name: generator}}
  validator: {model: {adapter: simulated-writer, name: validator}}
"""


def write_items(folder, *, word="harbour"):
    rows = [
        (f"Describe place {n}.", f"The {word} opened early in {n}.\n\nPeople came later.", 1 + n % 3) for n in range(9)
    ]
    with (folder / "items.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("task", "text", "grade"), *rows])


@pytest.fixture
def study(tmp_path):
    write_items(tmp_path)
    return parse_study(STUDY, tmp_path)


@pytest.fixture
def unmade(monkeypatch):
    """From now on nothing can be made."""

    def forbid():
        def refuse(*_, **__):
            raise AssertionError("it was made again")

        monkeypatch.setattr(stimuli, "read_originals", refuse)

    return forbid


def test_the_same_is_made_once(study, unmade):
    made = write_stress_set(study)
    unmade()
    again = write_stress_set(parse_study(STUDY, study.folder))
    assert (again.folder, again.digest) == (made.folder, made.digest)
    assert list(again) == list(made)


def test_the_name_is_the_digest_of_the_ids_and_of_how_they_were_made(study):
    """The name of a set must not change: runs name it."""
    made = write_stress_set(study)
    told = made.manifest["made"]
    assert list(told) == ["vertical-spacing", "typos", "heading-case", "original"]
    assert told["heading-case"]["unchanged"] == told["original"]["wanted"] == 9
    assert made.folder.name == digest("stress set", [[stimulus.id for stimulus in made], told])[:12]


def test_other_data_under_the_same_name_size_and_time_is_other_data(study):
    path, before = study.folder / "items.csv", write_stress_set(study)
    stat = path.stat()
    write_items(study.folder, word="library")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert path.stat().st_size == stat.st_size
    after = write_stress_set(study)
    assert after.digest != before.digest
    assert "library" in next(iter(after)).candidates[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seed: 4", "seed: 5"),
        ("typos, ", "typos, indentation, "),
        ("label: grade}", "label: grade, id: task}"),
        ('"3"]}', '"3"]}\n  sample: {size: 4}'),
    ],
)
def test_another_study_has_another_source(study, old, new):
    assert STUDY.count(old) == 1
    changed = parse_study(STUDY.replace(old, new), study.folder)
    assert source_of(study) not in (None, source_of(changed))
    assert write_stress_set(changed).digest != write_stress_set(study).digest


def test_a_changed_program_has_another_source_though_its_version_is_the_same(study, monkeypatch):
    before = source_of(study)
    monkeypatch.setattr(stimuli, "_code", lambda _: ["changed"])
    assert source_of(study) not in (None, before)


def test_what_a_generator_writes_is_never_looked_up(study):
    text = STUDY.replace("stress: {tests: [", "stress:\n  tests: [paraphrase, ").replace("stability]}", "stability]")
    text = text.replace("judges:\n", f"{GENERATED}rubric: rubric.txt\njudges:\n")
    (study.folder / "rubric.txt").write_text("Be fair.")
    assert source_of(parse_study(text, study.folder)) is None


@pytest.mark.parametrize("damage", ["cut", "edited", "not a valid manifest", "of another set"])
def test_a_note_that_is_not_sound_is_not_believed(study, damage):
    made = write_stress_set(study)
    note, ids = made.folder / stimuli.NOTE, [stimulus.id for stimulus in made]
    if damage == "cut":
        note.write_text(note.read_text()[:20])
    elif damage == "edited":
        note.write_text(json.dumps(json.loads(note.read_text()) | {"source": "x"}))
    elif damage == "not a valid manifest":
        (made.folder / "manifest.json").unlink()
    else:
        stimuli.note_source(made.folder, "x")
    again = write_stress_set(study)
    assert [stimulus.id for stimulus in again] == ids
    assert stimuli.set_made_from(study.folder / "stimuli", source_of(study)).folder == made.folder


def test_what_a_killed_process_left_is_swept_and_is_no_set(study, monkeypatch):
    """Killed while a set is made: what is there has no name yet, so nobody can take it for a set."""

    def die(*_):
        raise KeyboardInterrupt

    real, rmtree = stimuli.publish_folder, shutil.rmtree
    monkeypatch.setattr(stimuli, "publish_folder", die)
    monkeypatch.setattr("umpirical.store.files.shutil.rmtree", lambda *_, **__: None)
    with pytest.raises(KeyboardInterrupt):
        write_stress_set(study)
    monkeypatch.setattr(stimuli, "publish_folder", real)
    monkeypatch.setattr("umpirical.store.files.shutil.rmtree", rmtree)
    left = list((study.folder / "stimuli").iterdir())
    assert len(left) == 1
    made = write_stress_set(study)
    assert list((study.folder / "stimuli").iterdir()) == [made.folder]
    assert len(list(StimulusSet(made.folder))) == made.count


def test_stimuli_are_taken_one_part_at_a_time(study, monkeypatch):
    """However many there are, only a part of them is ever in memory."""
    waiting, most = [0], [0]
    real_proved, real_rows = stimuli.proved_stimuli, stimulus_sets.write_rows

    def proved(*arguments, **named):
        for pair in real_proved(*arguments, **named):
            waiting[0] += 1
            most[0] = max(most[0], waiting[0])
            yield pair

    def rows(path, part, schema):
        waiting[0] = 0
        return real_rows(path, part, schema)

    monkeypatch.setattr(stimulus_sets, "PART_SIZE", 5)
    monkeypatch.setattr(stimulus_sets, "write_rows", rows)
    monkeypatch.setattr(stimuli, "proved_stimuli", proved)
    made = write_stress_set(study)
    assert made.count == 9 * 3
    # One more is made before it is known that the part is full, and texts without a heading are passed over.
    assert most[0] <= 5 + 1 + 9
