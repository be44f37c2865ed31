"""A first guess at what columns mean, and what it goes by."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from umpirical.datasets.guess import guess_dataset
from umpirical.domain.errors import UsageError
from umpirical.domain.scales import GradeScale


def write_csv(tmp_path, header, *lines):
    path = tmp_path / "data.csv"
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def guessed(tmp_path, header, *lines, **told):
    return guess_dataset(write_csv(tmp_path, header, *lines), told=told)


LONG = "It was a long answer of many words."
ROWS = [f"{number},{LONG} {number},{number % 2 + 3}" for number in range(6)]


@pytest.mark.parametrize(
    ("header", "response", "label"),
    [
        ("n,text,label", "text", "label"),
        ("n,Response,Score", "Response", "Score"),
        ("n,full_text,holistic_essay_score", "full_text", "holistic_essay_score"),
        ("n,essay,grade", "essay", "grade"),
        ("n,modelAnswer,humanRating2", "modelAnswer", "humanRating2"),
        ("n,completion,rating_mean", "completion", "rating_mean"),
    ],
)
def test_columns_are_known_by_their_names(tmp_path, header, response, label):
    guess = guessed(tmp_path, header, *ROWS)
    assert (guess.columns["response"], guess.columns["label"]) == (response, label)
    assert guess.because["response"] == guess.because["label"] == "from its name"
    assert guess.rows == 6


@pytest.mark.parametrize(
    "name", ["correct", "is_correct", "Correctness", "passed", "quality", "human", "category", "verdict", "class"]
)
def test_labels_go_by_many_names(tmp_path, name):
    lines = [f"{number},{LONG} {number},{'yes' if number % 2 else 'no'},{'ab'[number % 2]}" for number in range(6)]
    guess = guessed(tmp_path, f"n,text,{name},model", *lines)
    assert (guess.columns["label"], guess.because["label"]) == (name, "from its name")
    assert guess.scale.scale == GradeScale("binary", ("no", "yes"))


def test_a_name_that_may_mean_other_things_gives_way_to_a_clear_one(tmp_path):
    lines = [f"{'ab'[number % 2]},{'cd'[number % 2]},{LONG} {number},{number % 3}" for number in range(9)]
    assert guessed(tmp_path, "category,correct,essay,holistic_score", *lines).columns["label"] == "holistic_score"
    # The right answer is not whether an answer is right.
    with pytest.raises(UsageError, match="no column looks like labels") as refused:
        guessed(tmp_path, "correct_answer,sort,essay,x", *lines)
    assert refused.value.fix == "name it with --label COLUMN; columns with few different values: sort, x"


def test_the_only_column_with_few_values_is_taken_and_said_to_be(tmp_path):
    lines = [f"q{number % 2},{LONG} {number},{'up' if number % 3 else 'down'},{number * 7}" for number in range(30)]
    guess = guessed(tmp_path, "question,text,thumb,seconds", *lines)
    assert guess.columns["label"] == "thumb"
    assert guess.because["label"] == "the only column with a few short values"
    assert guess.columns["task"] == "question"


def test_the_clearest_name_wins(tmp_path):
    header = "essay_id,grade_level,score,essay_length,essay,prompt_name,prompt"
    lines = [f"e{number},{number % 3},{number % 4},{number * 7},{LONG} {number},p,What? {LONG}" for number in range(12)]
    guess = guessed(tmp_path, header, *lines)
    assert guess.columns == {"response": "essay", "task": "prompt", "label": "score", "id": "essay_id"}
    assert guess.strata == ("grade_level",)


def test_what_a_person_says_is_taken_at_their_word(tmp_path):
    header = "text,other,label,mark,prompt,ask"
    lines = [f"{LONG} {number},b {number},{number % 2},{number % 3},c,d" for number in range(9)]
    guess = guessed(tmp_path, header, *lines, response="other", label="mark", task="ask")
    assert {role: guess.columns[role] for role in ("response", "label", "task")} == {
        "response": "other",
        "label": "mark",
        "task": "ask",
    }
    assert set(guess.because.values()) >= {"you named it"}
    assert guess.scale.scale.labels == ("0", "1", "2")


def test_a_column_that_is_said_and_not_there_is_answered_with_the_near_one(tmp_path):
    with pytest.raises(UsageError) as refused:
        guessed(tmp_path, "n,text,label", *ROWS, label="lable")
    assert "data.csv: no column 'lable'; columns: n, text, label" in str(refused.value)
    assert refused.value.fix == "did you mean 'label'?"


def test_one_column_cannot_be_two_things(tmp_path):
    with pytest.raises(UsageError, match="one column has two roles"):
        guessed(tmp_path, "n,text,label", *ROWS, label="text", response="text")


def test_responses_without_a_telling_name_are_the_longest_texts(tmp_path):
    guess = guessed(tmp_path, "a,b,score", *(f"short {number},{LONG} {number},{number % 2}" for number in range(6)))
    assert (guess.columns["response"], guess.because["response"]) == ("b", "has the longest texts")


@pytest.mark.parametrize(
    ("header", "lines", "message", "fix"),
    [
        ("a,score", ["x,1", "y,2", "z,1"], "no column looks like responses", "name it with --response COLUMN"),
        (
            "prompt,chosen",
            [f"{LONG},a", f"{LONG} x,b"],
            "no column looks like labels",
            "name it with --label COLUMN; or, for labeled pairs, name one column chosen and one rejected",
        ),
        ("text,n", [f"{LONG},1", f"{LONG} x,2"], "no column looks like labels", "name it with --label COLUMN"),
        ("text,label", [f"{LONG},1", f"{LONG} x,1"], "no column looks like labels", "name it with --label COLUMN"),
    ],
)
def test_what_cannot_be_guessed_is_asked_for(tmp_path, header, lines, message, fix):
    with pytest.raises(UsageError) as refused:
        guessed(tmp_path, header, *lines)
    assert message in str(refused.value)
    assert f"columns: {header.replace(',', ', ')}" in str(refused.value)
    assert refused.value.fix == fix


@pytest.mark.parametrize(
    ("labels", "scale", "because", "ordered"),
    [
        (["yes", "no"], GradeScale("binary", ("no", "yes")), "two labels, in alphabetical order", False),
        (["1", "0"], GradeScale("binary", ("0", "1")), "two labels, in numeric order", True),
        (["2", "10", "1"], GradeScale("ordinal", ("1", "2", "10")), "in numeric order", True),
        (["1.0", "0.5", "0"], GradeScale("ordinal", ("0", "0.5", "1.0")), "in numeric order", True),
        (["-1", "1", "0"], GradeScale("ordinal", ("-1", "0", "1")), "in numeric order", True),
        (["poor", "good", "fair"], GradeScale("nominal", ("fair", "good", "poor")), "in alphabetical order", False),
        (["1", "2", "n/a"], GradeScale("nominal", ("1", "2", "n/a")), "in alphabetical order", False),
    ],
)
def test_the_scale_is_made_of_the_labels_found(tmp_path, labels, scale, because, ordered):
    lines = [f"{LONG} {number},{labels[number % len(labels)]}" for number in range(8)]
    # A row without a label says nothing about the scale.
    guess = guessed(tmp_path, "text,label", *lines, f"{LONG},")
    assert (guess.scale.scale, guess.scale.because, guess.scale.ordered) == (scale, because, ordered)


def test_many_different_numbers_are_an_interval_scale(tmp_path):
    guess = guessed(tmp_path, "text,score", *(f"{LONG} {number},{number / 2}" for number in range(30)))
    assert guess.scale.scale == GradeScale("interval", low=0.0, high=14.5)


@pytest.mark.parametrize(("count", "kind"), [(20, "ordinal"), (21, "interval")])
def test_twenty_different_numbers_are_labels_and_more_are_not(tmp_path, count, kind):
    guess = guessed(tmp_path, "text,score", *(f"{LONG} {number},{number}" for number in range(count)))
    assert guess.scale.scale.kind == kind


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([f"word {number}x" for number in range(30)], "more than 20 different texts"),
        (["same"] * 3, "only one label, 'same'"),
        ([""] * 3, "no possible labels"),
    ],
)
def test_a_column_said_to_be_labels_that_is_no_scale_is_refused(tmp_path, labels, message):
    with pytest.raises(UsageError, match=message):
        guessed(tmp_path, "text,label", *(f"{LONG},{label}" for label in labels), label="label")


def test_an_id_is_short_and_another_in_every_row(tmp_path):
    def id_of(values, header="ref,text,label"):
        lines = [f"{value},{LONG} {number},{number % 2}" for number, value in enumerate(values)]
        return guessed(tmp_path, header, *lines).columns.get("id")

    assert id_of(["r1", "r2", "r3", "r4"]) == "ref"
    assert id_of(["r1", "r2", "r3", "r1"]) is None
    assert id_of(["r1", "r2", "r3", ""]) is None
    assert id_of([f"{'x' * 100}{number}" for number in range(4)]) is None
    # A number with no name to it may be anything.
    assert id_of([10, 20, 30, 40]) is None
    assert id_of([10, 20, 30, 40], header="ref_id,text,label") == "ref_id"


def test_strata_have_few_short_values_that_come_again(tmp_path):
    header = "text,label,topic,level,word,note,constant"
    lines = [
        f"{LONG} {number},{number % 2},{'sky' if number % 3 else 'sea'},{number % 4},w{number},{LONG},x"
        for number in range(24)
    ]
    assert guessed(tmp_path, header, *lines).strata == ("topic", "level")


def test_a_task_is_found_only_where_every_row_has_one(tmp_path):
    lines = [f"{LONG} {number},{number % 2},{'Why?' if number else ''}" for number in range(6)]
    assert "task" not in guessed(tmp_path, "text,label,question", *lines).columns
    assert guessed(tmp_path, "text,label,question", *lines[1:]).columns["task"] == "question"


def test_typed_labels_are_spelt_as_they_will_be_read(tmp_path):
    path = tmp_path / "data.jsonl"
    labels = [1, 2, 3.0, None, 2]
    path.write_text("".join(json.dumps({"text": LONG, "label": label, "tags": ["a"]}) + "\n" for label in labels))
    assert guess_dataset(path, told={}).scale.scale == GradeScale("ordinal", ("1", "2", "3"))
    path.write_text("".join(json.dumps({"text": LONG, "label": label}) + "\n" for label in [True, False]))
    assert guess_dataset(path, told={}).scale.scale == GradeScale("binary", ("false", "true"))
    pq.write_table(pa.table({"text": [LONG] * 3, "label": [1.0, float("nan"), 2.0]}), tmp_path / "data.parquet")
    assert guess_dataset(tmp_path / "data.parquet", told={}).scale.scale == GradeScale("binary", ("1", "2"))


def test_a_file_without_rows_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"data\.csv: the file has no rows"):
        guessed(tmp_path, "text,label")
