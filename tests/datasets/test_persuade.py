"""Real essays: 93 records with quoted line breaks, six human levels, thirteen assignments."""

import csv

import pytest

from tests.datasets.described import PERSUADE, read
from umpirical.datasets.guess import guess_dataset

FILE = PERSUADE / "essays.csv"

pytestmark = pytest.mark.skipif(not FILE.is_file(), reason="needs the essays, which lie beside the repository")

PARTS = {
    "columns": {
        "response": "full_text",
        "task": "assignment",
        "label": "holistic_essay_score",
        "id": "essay_id",
        "strata": ["grade_level", "prompt_name"],
    },
    "scale": {"kind": "ordinal", "labels": list("123456")},
}


def test_what_is_in_the_file_is_what_is_read():
    items, summary = read(FILE, **PARTS)
    assert (summary.rows, summary.items, summary.unlabelled, summary.empty_responses) == (93, 93, 0, 0)
    assert summary.duplicates == 0
    assert summary.labels == {"1": 3, "2": 25, "3": 34, "4": 20, "5": 9, "6": 2}
    grades, prompts = summary.strata
    assert grades.values == {"6.0": 6, "8.0": 37, "9.0": 2, "10.0": 36, "11.0": 11, "12.0": 1}
    assert (len(prompts.values), prompts.missing) == (13, 0)
    assert len({item.name for item in items}) == 93


def test_the_text_is_verbatim_down_to_the_word():
    """Word counts that came with the data agree with what was read, but for the two that are wrong in the source."""
    with FILE.open(encoding="utf-8", newline="") as handle:
        counted = {row["essay_id"]: int(row["essay_word_count"]) for row in csv.DictReader(handle)}
    items, _ = read(FILE, **PARTS)
    off = {item.name: (counted[item.name], len(item.response.split())) for item in items}
    wrong = {name: pair for name, pair in off.items() if abs(pair[0] - pair[1]) > 0.1 * pair[1]}
    assert len(wrong) == 2, wrong


def test_without_ids_each_essay_is_named_by_the_line_it_starts_in():
    columns = {key: value for key, value in PARTS["columns"].items() if key != "id"}
    items, _ = read(FILE, **{**PARTS, "columns": columns})
    lines = FILE.read_bytes().split(b"\n")
    named, _ = read(FILE, **PARTS)
    for item, same in zip(items, named, strict=True):
        file, _, line = item.name.partition(":")
        assert file == "essays.csv"
        assert lines[int(line) - 1].decode().startswith(same.name)


def test_a_sample_by_label_has_all_six_levels():
    items, summary = read(FILE, **PARTS, sample={"size": 60, "by": ["label"]})
    assert len(items) == 60
    # 60 of 93: shares 1.9, 16.1, 21.9, 12.9, 5.8 and 1.3.
    assert summary.sampled_labels == {"1": 2, "2": 16, "3": 22, "4": 13, "5": 6, "6": 1}
    _, even = read(FILE, **PARTS, sample={"size": 30, "by": ["label"], "allocation": "even"})
    # Levels 1 and 6 are used up, and the others share the rest.
    assert even.sampled_labels == {"1": 3, "2": 6, "3": 7, "4": 6, "5": 6, "6": 2}


def test_its_columns_and_its_scale_are_guessed():
    guess = guess_dataset(FILE, told={})
    assert guess.columns == {
        "response": "full_text",
        "task": "assignment",
        "label": "holistic_essay_score",
        "id": "essay_id",
    }
    assert (guess.scale.scale.kind, guess.scale.scale.labels) == ("ordinal", tuple("123456"))
    assert guess.strata == ("prompt_name", "grade_level")
