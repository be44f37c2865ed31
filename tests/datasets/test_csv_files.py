"""Comma-separated values: verbatim, bounded, and every error with its line."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.datasets.described import rows
from umpirical.domain.errors import ConfigError

# All that a UTF-8 file without NUL can hold.
ANY_TEXT = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=30)


@settings(deadline=None)
@given(
    cells=st.lists(st.tuples(ANY_TEXT, ANY_TEXT), min_size=1, max_size=8),
    line_end=st.sampled_from(["\r\n", "\n"]),
    mark=st.booleans(),
)
def test_whatever_text_is_written_is_read_back(tmp_path_factory, cells, line_end, mark):
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator=line_end)
    writer.writerows([("text", "label"), *cells])
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    path.write_bytes((b"\xef\xbb\xbf" if mark else b"") + out.getvalue().encode())
    assert [tuple(row.values.values()) for row in rows(path, "csv")] == cells


@settings(deadline=None)
@given(cells=st.lists(st.tuples(ANY_TEXT, ANY_TEXT), min_size=1, max_size=8))
def test_a_row_is_placed_at_the_line_it_starts_in(tmp_path_factory, cells):
    """As somebody counts who searches for the row in an editor that breaks lines at line feeds."""
    path, line, expected = tmp_path_factory.mktemp("csv") / "data.csv", 2, []
    text = "text,label\n"
    for first, second in cells:
        record = ",".join('"' + cell.replace('"', '""') + '"' for cell in (first, second)) + "\n"
        expected.append(f"data.csv:{line}")
        line += record.count("\n")
        text += record
    path.write_bytes(text.encode())
    assert [row.place for row in rows(path, "csv")] == expected


@pytest.mark.parametrize(
    "cell",
    [
        "=1+1",
        "=cmd|' /C calc'!A0",
        "@SUM(A1)",
        "+1",
        "-1",
        "1",
        "01",
        "1.0",
        "yes",
        "TRUE",
        "null",
        "NaN",
        " padded ",
        "",
    ],
)
def test_a_cell_is_its_text_and_nothing_is_made_of_it(tmp_path, cell):
    path = tmp_path / "data.csv"
    path.write_text(f'text,label\n"{cell}",x\n')
    assert [row.values for row in rows(path, "csv")] == [{"text": cell, "label": "x"}]


def test_blank_lines_are_passed_over_and_counted_as_lines(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text('\ntext,label\n\n"a\n\nb",x\n\n\nc,y')
    assert [(row.place, row.values["text"]) for row in rows(path, "csv")] == [
        ("data.csv:4", "a\n\nb"),
        ("data.csv:9", "c"),
    ]


def test_line_ends_inside_a_field_stay_as_they_are(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b'text,label\r\n"one\r\ntwo\nthree\rfour",x\r\n')
    assert [row.values["text"] for row in rows(path, "csv")] == ["one\r\ntwo\nthree\rfour"]


@pytest.mark.parametrize(
    ("content", "where", "message", "fix"),
    [
        (b"", "data.csv:1", "the file is empty", ""),
        (b"\n\n", "data.csv:1", "the file is empty", ""),
        (b"text,label,text\na,b,c\n", "data.csv:1", "two columns have the name 'text'", "rename one of them"),
        (b"text,,\na,b,c\n", "data.csv:1", "two columns have the name ''", "rename one of them"),
        (b"text,label\na,b\nc\n", "data.csv:3", "1 fields, expected 2", "in quotes"),
        (b"text,label\na,b\nc,d,e\n", "data.csv:3", "3 fields, expected 2", "in quotes"),
        (b'text,label\n"a\nb",c\nd\n', "data.csv:4", "1 fields, expected 2", "in quotes"),
        (b'text,label\na,b\n"c\nd,e\n', "data.csv:3", "the file ends inside a quoted field", "close the quote"),
        (b'text,label\na,b\n"c"d,e\n', "data.csv:3", "not valid CSV", "double each quote"),
        (b"text,label\ra,b\r", "data.csv:1", "a carriage return outside quotes", "Unix or Windows"),
        (b"text,label\na\0b,c\n", "data.csv:2", "a NUL byte", "save the file as UTF-8"),
        ("text,label\na,b\n".encode("utf-16"), "data.csv:1", "UTF-16 mark", "save the file as UTF-8"),
        (b"text,label\na,b\ncaf\xe9,d\n", "data.csv:3", "byte 0xe9 at position 4 of the line is not UTF-8", "UTF-8"),
        (b'text,label\n"a\ncaf\xe9",d\n', "data.csv:3", "byte 0xe9 at position 4 of the line is not UTF-8", "UTF-8"),
        (b"text,label\n\xed\xa0\x80,d\n", "data.csv:2", "byte 0xed at position 1 of the line is not UTF-8", "UTF-8"),
    ],
)
def test_what_is_wrong_is_said_with_its_line_and_what_to_do(tmp_path, content, where, message, fix):
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as refused:
        rows(path, "csv")
    assert refused.value.where == where
    assert message in str(refused.value)
    assert fix in refused.value.fix


@pytest.mark.parametrize(
    ("limits", "where", "message", "key"),
    [
        ({"bytes": 20}, "data.csv", "31 bytes; the limit is 20", "limits.bytes"),
        ({"rows": 2}, "data.csv:4", "more than 2 rows", "limits.rows"),
        ({"field": 5}, "data.csv:3", "column 'text': 6 characters; the limit is 5", "limits.field"),
    ],
)
def test_what_is_above_a_limit_is_refused_with_the_limit_and_its_key(tmp_path, limits, where, message, key):
    path = tmp_path / "data.csv"
    path.write_bytes(b"text,label\naa,b\ncccccc,d\nee,ff\n")
    with pytest.raises(ConfigError) as refused:
        rows(path, "csv", **limits)
    assert refused.value.where == where
    assert message in str(refused.value)
    assert key in refused.value.fix


def test_at_the_limits_all_is_read(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"text,label\naa,b\ncccccc,d\nee,ff\n")
    assert len(rows(path, "csv", bytes=31, rows=3, field=6)) == 3


def test_a_field_longer_than_the_parsers_own_default_is_read(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(f"text,label\n{'x' * 900_000},y\n")
    assert [len(row.values["text"]) for row in rows(path, "csv")] == [900_000]


def test_a_huge_field_is_refused_where_its_record_starts(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(f"text,label\na,b\n{'x' * 1_000_001},y\n")
    with pytest.raises(ConfigError, match=r"data\.csv:3: .*the limit is 1,000,000"):
        rows(path, "csv")


def test_a_quote_that_is_never_closed_does_not_take_in_the_whole_file(tmp_path, monkeypatch):
    path, taken = tmp_path / "data.csv", []
    path.write_text('text,label\na,b\n"c,d\n' + "e,f\n" * 100_000)
    import umpirical.datasets.table_files as module

    def lines(source):
        for number, line in module_lines(source):
            taken.append(number)
            yield number, line

    module_lines = module.numbered_lines
    monkeypatch.setattr(module, "numbered_lines", lines)
    with pytest.raises(ConfigError, match=r"data\.csv:3: a field or record is too long") as refused:
        rows(path, "csv", field=100)
    assert "check for an unclosed quote in this record" in refused.value.fix
    # Sixteen fields of a hundred characters, at four to a line.
    assert max(taken) < 500


def test_a_line_without_end_is_not_read_to_its_end(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"text,label\n" + b"x" * 10_000)
    with pytest.raises(ConfigError, match=r"data\.csv:2: a line of more than 640 bytes"):
        rows(path, "csv", field=10)


def test_a_pipe_is_no_file(tmp_path):
    import os

    os.mkfifo(tmp_path / "data.csv")
    with pytest.raises(ConfigError, match="no such file"):
        rows(tmp_path / "data.csv", "csv")
