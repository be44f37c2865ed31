"""From rows to items: what is kept, what is counted, what is refused."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.datasets.described import COLUMNS, described, read, refusal
from tests.plugins.installed import install_plugin
from umpirical.datasets.items import StratumCounts, read_items
from umpirical.domain.errors import ConfigError, UsageError

ORDINAL = {"kind": "ordinal", "labels": ["1", "2", "3"]}


def write_csv(tmp_path, text, name="data.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def write_jsonl(tmp_path, *records):
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


FULL = """\
key,prompt,text,label,author,topic,level
a,Why?,Because.,yes,ann,sky,1
b,Why?,"Well,
no.",no,bob,sky,2
c,How?,Slowly.,,ann,,2
"""


def test_every_column_goes_to_its_place(tmp_path):
    columns = {**COLUMNS, "task": "prompt", "id": "key", "cluster": "author", "strata": ["topic", "level"]}
    items, summary = read(write_csv(tmp_path, FULL), columns=columns)
    first, second, third = items
    assert (first.task, first.response, first.labels) == ("Why?", "Because.", ("yes",))
    assert (first.name, first.cluster, first.strata) == ("a", "ann", {"topic": "sky", "level": "1"})
    assert second.response == "Well,\nno."
    # Nothing in the cell: no label, and in no part of the topics.
    assert (third.labels, third.strata) == ((), {"level": "2"})
    assert (summary.source, summary.format, summary.rows, summary.items) == ("data.csv", "csv", 3, 3)
    assert (summary.unlabelled, summary.clusters) == (1, 2)
    assert list(summary.labels.items()) == [("no", 1), ("yes", 1)]
    assert summary.strata == (
        StratumCounts("topic", {"sky": 2}, missing=1),
        StratumCounts("level", {"1": 1, "2": 2}, missing=0),
    )


def test_without_an_id_an_item_is_named_by_file_and_line(tmp_path):
    items, _ = read(write_csv(tmp_path, FULL))
    assert [item.name for item in items] == ["data.csv:2", "data.csv:3", "data.csv:5"]
    assert [(item.task, item.cluster, item.strata) for item in items] == [("", "", {})] * 3


def test_a_task_that_is_the_same_for_all_is_given_once(tmp_path):
    items, _ = read(write_csv(tmp_path, FULL), task_text="Say why.")
    assert {item.task for item in items} == {"Say why."}


def test_the_ids_of_items_do_not_depend_on_where_the_file_lies(tmp_path):
    (tmp_path / "deep").mkdir()
    here, there = write_csv(tmp_path, FULL), write_csv(tmp_path / "deep", FULL)
    by_absolute_path, _ = read_items(described(str(there)), tmp_path)
    assert [item.id for item in read(here)[0]] == [item.id for item in by_absolute_path]


def test_no_label_column_means_no_labels(tmp_path):
    items, summary = read(write_csv(tmp_path, FULL), columns={"response": "text"})
    assert [item.labels for item in items] == [()] * 3
    assert (summary.unlabelled, summary.labels) == (3, {"no": 0, "yes": 0})


def test_empty_responses_and_duplicates_are_kept_and_counted(tmp_path):
    text = "prompt,text,label\np,,yes\nq,,no\np,   ,no\np,same,yes\np,same,no\np,same,yes\nq,same,yes\n"
    items, summary = read(write_csv(tmp_path, text), columns={**COLUMNS, "task": "prompt"})
    assert [item.response for item in items] == ["", "", "   ", "same", "same", "same", "same"]
    assert (summary.empty_responses, summary.duplicates, summary.items) == (3, 2, 7)


def test_the_same_data_gives_the_same_items_in_every_format(tmp_path):
    records = [{"text": 'a\n"b"', "label": "3"}, {"text": "c", "label": "1"}]
    csv_items, _ = read(write_csv(tmp_path, 'text,label\n"a\n""b""",3\nc,1\n'), scale=ORDINAL)
    jsonl_items, _ = read(write_jsonl(tmp_path, *records), scale=ORDINAL)
    typed_items, _ = read(
        write_jsonl(tmp_path, {"text": 'a\n"b"', "label": 3}, {"text": "c", "label": 1.0}), scale=ORDINAL
    )
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "data.parquet")
    parquet_items, summary = read(tmp_path / "data.parquet", scale=ORDINAL)
    expected = [('a\n"b"', ("3",)), ("c", ("1",))]
    for items in (csv_items, jsonl_items, typed_items, parquet_items):
        assert [(item.response, item.labels) for item in items] == expected
    assert summary.format == "parquet"
    assert [item.name for item in parquet_items] == ["data.parquet:row 1", "data.parquet:row 2"]


def test_a_pandas_style_label_column_with_missing_values_is_read(tmp_path):
    """Whole numbers beside missing ones are stored as floats with NaN."""
    pq.write_table(pa.table({"text": ["a", "b"], "label": [2.0, float("nan")]}), tmp_path / "data.parquet")
    items, summary = read(tmp_path / "data.parquet", scale=ORDINAL)
    assert [item.labels for item in items] == [("2",), ()]
    assert summary.unlabelled == 1


def test_a_label_off_the_scale_is_refused_with_its_line(tmp_path):
    error = refusal(write_csv(tmp_path, 'text,label\n"a\nb",yes\nc,perhaps\n'))
    assert str(error) == "data.csv:4: column 'label': the label 'perhaps' is not on the scale (no, yes)"


def test_of_many_problems_the_first_five_are_shown_and_all_are_counted(tmp_path):
    lines = "".join(f"t{number},{'yes' if number % 2 else 'Yes'}\n" for number in range(20))
    error = refusal(write_csv(tmp_path, f"text,label\n{lines}"))
    message = str(error).splitlines()
    assert message[0] == "data.csv: 10 of 20 rows cannot be used:"
    assert message[1].startswith("  data.csv:2: column 'label': the label 'Yes'")
    assert [line.split(":")[1] for line in message[1:6]] == ["2", "4", "6", "8", "10"]
    assert message[6:] == ["  and 5 more"]


@pytest.mark.parametrize(
    ("columns", "message", "fix"),
    [
        ({"response": "txt"}, "no column 'txt'; columns: key, prompt, text, label, author", "did you mean 'text'?"),
        ({"response": "TEXT"}, "no column 'TEXT'", "did you mean 'text'?"),
        ({"response": "text", "label": "lable"}, "no column 'lable'", "did you mean 'label'?"),
        ({"response": "text", "task": "zzz"}, "no column 'zzz'", "use one of these columns"),
        ({"response": "text", "strata": ["level", "topics"]}, "no column 'topics'", "did you mean 'topic'?"),
        ({"response": "text", "cluster": "autor"}, "no column 'autor'", "did you mean 'author'?"),
        ({"response": "text", "id": "keys"}, "no column 'keys'", "did you mean 'key'?"),
    ],
)
def test_a_column_that_is_not_there_is_answered_with_those_that_are(tmp_path, columns, message, fix):
    error = refusal(write_csv(tmp_path, FULL), columns=columns)
    assert isinstance(error, ConfigError)
    assert error.where == "data.csv:1"
    assert message in str(error)
    assert error.fix == fix


def test_a_file_with_semicolons_is_recognised(tmp_path):
    error = refusal(write_csv(tmp_path, "text;label\na;yes\n"))
    assert error.fix == "the file uses ';' as separator: save it with commas"


def test_of_very_many_columns_some_are_listed(tmp_path):
    names = [f"c{number}" for number in range(50)]
    error = refusal(write_csv(tmp_path, f"{','.join(names)}\n{',' * 49}\n"))
    assert str(error).endswith("c28, c29 and 20 more")


def test_a_key_that_no_line_of_json_has_is_a_missing_column(tmp_path):
    path = write_jsonl(tmp_path, {"text": "a", "labels": "yes"}, {"text": "b", "labels": "no"})
    error = refusal(path)
    assert str(error) == "data.jsonl: no column 'label'; columns: text, labels"
    assert error.fix == "did you mean 'labels'?"
    error = refusal(path, columns={"response": "response"})
    assert "no column 'response'" in str(error)


def test_a_key_that_some_lines_of_json_lack_is_missing_there(tmp_path):
    path = write_jsonl(
        tmp_path, {"text": "a"}, {"text": "b", "label": "no", "topic": "sky"}, {"text": "c", "label": None}
    )
    items, summary = read(path, columns={**COLUMNS, "strata": ["topic"]})
    assert [item.labels for item in items] == [(), ("no",), ()]
    assert (summary.unlabelled, summary.strata[0].missing) == (2, 2)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"label": "yes"}, "data.jsonl:2: no column 'text'; columns: label"),
        ({}, "data.jsonl:2: no column 'text'; columns: none"),
        ({"text": None}, "data.jsonl:2: column 'text': expected text, got nothing (null)"),
        ({"text": 1.5}, "data.jsonl:2: column 'text': expected text, got a float"),
        ({"text": True}, "data.jsonl:2: column 'text': expected text, got a bool"),
        ({"text": ["a"]}, "data.jsonl:2: column 'text': expected text, got a list"),
        ({"text": "a", "label": True}, "data.jsonl:2: column 'label': the label is the boolean true"),
        ({"text": "a", "label": {"v": 1}}, "data.jsonl:2: column 'label': expected text, got a dict"),
        ({"text": "a", "topic": ["sky"]}, "data.jsonl:2: column 'topic': expected text, got a list"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_with_its_line(tmp_path, record, message):
    path = write_jsonl(tmp_path, {"text": "fine", "label": "yes", "topic": "sky"}, record)
    assert message in str(refusal(path, columns={**COLUMNS, "strata": ["topic"]}))


def test_whole_numbers_are_read_as_responses_and_ids(tmp_path):
    items, _ = read(write_jsonl(tmp_path, {"text": 42, "label": "yes", "key": 7}), columns={**COLUMNS, "id": "key"})
    assert (items[0].response, items[0].name) == ("42", "7")


def test_an_id_given_twice_is_refused_with_both_lines(tmp_path):
    error = refusal(write_csv(tmp_path, FULL.replace("\nc,", "\na,")), columns={**COLUMNS, "id": "key"})
    assert str(error) == "data.csv:5: column 'key': 'a' is already the id of data.csv:2"


def test_an_id_that_is_empty_is_refused(tmp_path):
    error = refusal(write_csv(tmp_path, FULL.replace("\nc,", "\n,")), columns={**COLUMNS, "id": "key"})
    assert str(error).startswith("data.csv:5: column 'key' is empty: give every row an id")


def test_a_stratum_with_a_value_for_every_row_is_refused(tmp_path):
    lines = "".join(f"t{number},yes\n" for number in range(1_001))
    error = refusal(write_csv(tmp_path, f"text,label\n{lines}"), columns={**COLUMNS, "strata": ["text"]})
    assert "data.csv:1002: column 'text' has more than 1,000 different values" in str(error)


@pytest.mark.parametrize("text", ["text,label\n", "text,label\n\n\n"])
def test_a_file_without_rows_is_refused(tmp_path, text):
    assert str(refusal(write_csv(tmp_path, text))) == "data.csv: the file has no rows"


def test_a_file_that_is_not_there_is_named_with_where_it_was_looked_for(tmp_path):
    error = refusal(tmp_path / "none.csv")
    assert str(error) == "none.csv: no such file"
    assert str(tmp_path / "none.csv") in error.fix


def test_a_file_whose_ending_says_no_format_needs_one(tmp_path):
    path = write_csv(tmp_path, FULL, name="data.txt")
    error = refusal(path)
    assert isinstance(error, UsageError)
    assert "unknown file ending '.txt'" in str(error)
    assert error.fix == "add under dataset:  format: csv or jsonl or parquet or xlsx or huggingface"
    items, summary = read(path, format="csv")
    assert (len(items), summary.format) == (3, "csv")


def test_an_unknown_format_is_met_with_the_right_one(tmp_path):
    error = refusal(write_csv(tmp_path, FULL), format="cvs")
    assert error.fix == "did you mean 'csv'?"


def test_a_sample_is_counted_apart_from_the_whole(tmp_path):
    lines = "".join(f"t{number},{'yes' if number < 20 else 'no'}\n" for number in range(80)) + "u,\n" * 20
    path = write_csv(tmp_path, f"text,label\n{lines}")
    items, summary = read(path, sample={"size": 10, "by": ["label"]})
    assert (summary.rows, summary.items, len(items)) == (100, 10, 10)
    assert (summary.labels, summary.unlabelled) == ({"no": 60, "yes": 20}, 20)
    assert (summary.sampled_labels, summary.sampled_unlabelled) == ({"no": 6, "yes": 2}, 2)


def test_the_studys_seed_draws_the_sample_unless_it_names_one(tmp_path):
    path = write_csv(tmp_path, "text,label\n" + "".join(f"t{number},yes\n" for number in range(50)))

    def names(study_seed, **sample):
        spec = described(path.name, sample={"size": 10, **sample})
        return [item.name for item in read_items(spec, tmp_path, seed=study_seed)[0]]

    assert names(1) == names(1) != names(2)
    assert names(1, seed=2) == names(2) == names(7, seed=2)


def test_a_problem_outside_the_sample_is_a_problem_all_the_same(tmp_path):
    lines = "".join(f"t{number},yes\n" for number in range(50))
    assert "data.csv:52" in str(refusal(write_csv(tmp_path, f"text,label\n{lines}x,ja\n"), sample={"size": 2}))


ABACUS = """
from umpirical.datasets.readers import DatasetReader, ReaderOption, Row, Table

def beads(source):
    text = source.path.read_text() * source.options.get("times", 1)
    return Table(source.name, ("text",), iter([Row("bead 1", {"text": text})]))

READER = DatasetReader("abacus", beads, {"times": ReaderOption("How often.", int)})
"""


def test_a_third_partys_reader_is_found_by_its_entry_point(tmp_path, monkeypatch):
    installed = tmp_path / "installed"
    install_plugin(installed, "umpirical.datasets", "abacus = abacus_reader:READER")
    (installed / "abacus_reader.py").write_text(ABACUS)
    monkeypatch.syspath_prepend(installed)
    path = write_csv(tmp_path, "click", name="beads.txt")
    items, _ = read(path, format="abacus", columns={"response": "text"})
    assert [(item.name, item.response) for item in items] == [("bead 1", "click")]
    items, _ = read(path, format="abacus", columns={"response": "text"}, options={"times": 2})
    assert [item.response for item in items] == ["clickclick"]
    error = refusal(path, format="abacus", columns={"response": "text"}, options={"time": 2})
    assert str(error) == "beads.txt: unknown option 'time' for the format abacus; options: times"
    assert error.fix == "did you mean 'times'?"
    error = refusal(path, format="abacus", columns={"response": "text"}, options={"times": "2"})
    assert str(error) == "beads.txt: the option times of the format abacus must be a whole number, got '2'"
