"""A small study whose texts are written as a generator would, through the real protocol and into the real record."""

import json
from pathlib import Path

from tests.stimuli.generation.wanted import drive, grade
from umpirical.protocols.protocol import Study
from umpirical.protocols.stress.stimuli import planned_commissions, read_originals
from umpirical.protocols.writing import ReviewTerms, Writing, generation
from umpirical.study.file import read_study

ANSWERS = {
    "a1": (
        "Air scatters blue light more than red light, so the blue of it comes to us from all sides of the sky.",
        "3",
    ),
    "a2": ("Because the sea is blue, and the sky is a mirror of it, as anyone can see who goes to the beach.", "1"),
    "a3": ("The light of the sun is made of all colours, and some of them are scattered by the air above us.", "3"),
    "a4": ("It is blue because it was always so, and nobody in our class knows any better reason for that.", "1"),
}

CUE = " A professor of physics has confirmed every word of this answer."

FLIPPED = "I do not know why that is, and I would rather write about the house of my aunt and what we ate there."

STUDY = {
    "study": "sky",
    "dataset": {
        "path": "answers.jsonl",
        "columns": {"response": "answer", "label": "score", "id": "id"},
        "scale": {"kind": "ordinal", "labels": ["1", "2", "3"]},
    },
    "rubric": "rubric.txt",
    "stress": {
        "tests": ["vertical-spacing", "authority-cue", "label-flip"],
        "repeats": 1,
        "generator": {"model": {"adapter": "openai-compatible", "name": "writer", "base_url": "http://127.0.0.1:9/v1"}},
        "validator": {"model": {"adapter": "openai-compatible", "name": "reader", "base_url": "http://127.0.0.1:9/v1"}},
    },
    "judges": [{"name": "sound", "model": {"adapter": "simulated", "name": "sound-examiner"}}],
}


def small_study(folder: Path, *, task: str = "Why is the sky blue?", **changes: object) -> Path:
    """Four answers, a cue and a flip for each."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = ({"id": name, "answer": answer, "score": score} for name, (answer, score) in ANSWERS.items())
    (folder / "answers.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "rubric.txt").write_text("3: right and complete. 1: wrong.")
    dataset = STUDY["dataset"] | {"task_text": task}
    (folder / "umpirical.yaml").write_text(json.dumps(STUDY | {"dataset": dataset} | changes))
    return folder


def terms_of(folder: Path, **options: bool) -> ReviewTerms:
    """How the study in a folder is reviewed."""
    study = read_study(folder, **options)
    return study.protocol.review(study)


def writing_of(folder: Path, **options: bool) -> Writing:
    """What a model writes for the study in a folder."""
    study = read_study(folder, **options)
    return study.protocol.writing(study)


def commissions(study: Study):
    return planned_commissions(study, read_originals(study).stimuli).commissions


def write(folder: Path, wanted=None, *, number=0, opinions=2):
    """Has commissions written, all that are planned or those `wanted`, and returns the attempts as they are kept.

    With no `opinions` that agree with the target an attempt at a flip is rejected.
    """
    study = read_study(folder)
    attempts = []
    for place, commission in enumerate(commissions(study) if wanted is None else wanted):
        if commission.perturbation.name == "label-flip":
            text = f"{FLIPPED} That was day {place}."
            votes = [grade(commission.target)] * opinions or [grade("2")] * 3
            attempts.append(drive(commission, number, text=text, opinions=votes)[0])
        else:
            attempts.append(drive(commission, number, text=commission.source.candidates[0] + CUE)[0])
    with generation(folder) as store:
        store.commit([], attempts)
    return attempts
