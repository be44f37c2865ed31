"""JSON Lines: typed, bounded in depth too, and every error with its line."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.datasets.described import rows
from umpirical.datasets.text_lines import is_deeper
from umpirical.domain.errors import ConfigError

TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None)
@given(
    records=st.lists(st.dictionaries(TEXT, VALUES, max_size=4), min_size=1, max_size=6),
    ascii_only=st.booleans(),
    line_end=st.sampled_from(["\n", "\r\n", "\n\n"]),
)
def test_whatever_is_written_is_read_back_with_its_type(tmp_path_factory, records, ascii_only, line_end):
    path = tmp_path_factory.mktemp("jsonl") / "data.jsonl"
    lines = [json.dumps(record, ensure_ascii=ascii_only) for record in records]
    path.write_bytes("".join(f"{line}{line_end}" for line in lines).encode())
    found = rows(path, "jsonl")
    assert [row.values for row in found] == records
    step = 2 if line_end == "\n\n" else 1
    assert [row.place for row in found] == [f"data.jsonl:{1 + step * place}" for place in range(len(records))]
    kept = [[type(value) for value in row.values.values()] for row in found]
    assert kept == [[type(value) for value in record.values()] for record in records]


def test_a_byte_order_mark_and_separators_of_unicode_are_no_line_ends(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + '{"text": "a\u2028b\u0085c"}\n{"text": "d"}'.encode())
    assert [(row.place, row.values) for row in rows(path, "jsonl")] == [
        ("data.jsonl:1", {"text": "a\u2028b\u0085c"}),
        ("data.jsonl:2", {"text": "d"}),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"[1, 2]", "expected an object"),
        (b'"text"', "expected an object"),
        (b"{", "not valid JSON: Expecting property name"),
        (b'{"a": 1}{"b": 2}', "not valid JSON: Extra data at position 9"),
        (b'{"a": "x\ty"}', "not valid JSON: Invalid control character"),
        (b'{"a": 1, "b": 2, "a": 3}', "the key 'a' appears twice"),
        (b'{"a": {"c": 1, "c": 3}}', "the key 'c' appears twice"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "a number with 5,000 digits; the limit is 1000"),
        (b'{"a": "\\ud800"}', "half of a surrogate pair"),
        (b'{"a": "\xff"}', "byte 0xff at position 8 of the line is not UTF-8"),
        (b'{"a": "\0"}', "a NUL byte"),
        (b'{"a": ' + b"[" * 40 + b"]" * 40 + b"}", "nested more than 32 levels deep"),
        (b'{"a": ' + b"[" * 1_000_000, "nested more than 32 levels deep"),
        (b'{"a":' * 1_000_000, "nested more than 32 levels deep"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, line, message):
    path = tmp_path / "data.jsonl"
    path.write_bytes(b'{"text": "fine"}\n\n' + line + b"\n")
    with pytest.raises(ConfigError) as refused:
        rows(path, "jsonl")
    assert refused.value.where == "data.jsonl:3"
    assert message in str(refused.value)
    assert refused.value.fix


@pytest.mark.parametrize(("levels", "fits"), [(32, True), (33, False)])
def test_the_depth_is_exact(tmp_path, levels, fits):
    path = tmp_path / "data.jsonl"
    path.write_text('{"a": ' + "[" * (levels - 1) + "]" * (levels - 1) + "}\n")
    if fits:
        assert len(rows(path, "jsonl")) == 1
    else:
        with pytest.raises(ConfigError, match="nested more than 32"):
            rows(path, "jsonl")


@pytest.mark.parametrize(
    ("line", "deep"),
    [
        ('{"a": "[[[[[["}', False),
        ('{"a": "\\"[[[[[["}', False),
        ('{"a": "\\\\", "b": [[[[1]]]]}', True),
        ('{"[": 1, "b": [[[]]]}', True),
        ("[[[", False),
        ("[[[[", True),
        ("[] [] [] [] []", False),
        ('"[[[[[[ never closed', False),
        ('"[[[[[[ ends in a backslash\\', False),
    ],
)
def test_brackets_inside_a_text_are_not_nesting(line, deep):
    assert is_deeper(line, 3) is deep


def test_a_text_of_many_quotes_that_is_never_closed_takes_no_quadratic_time():
    line = "[" * 33 + '"' + '\\"' * 200_000
    assert is_deeper(line, 32) is True
    assert is_deeper('"' + '\\"' * 200_000 + "[" * 40, 32) is False


@pytest.mark.parametrize(
    ("limits", "message", "key"),
    [
        ({"bytes": 10}, "data.jsonl: 40 bytes; the limit is 10", "limits.bytes"),
        ({"rows": 1}, "data.jsonl:2: more than 1 rows", "limits.rows"),
        ({"field": 3}, "data.jsonl:2: column 'text': 4 characters; the limit is 3", "limits.field"),
        ({"depth": 1}, "data.jsonl:2: nested more than 1 levels", "limits.depth"),
    ],
)
def test_what_is_above_a_limit_is_refused_with_the_limit_and_its_key(tmp_path, limits, message, key):
    path = tmp_path / "data.jsonl"
    path.write_bytes(b'{"text": "abc"}\n{"text": "abcd", "b":[]}')
    with pytest.raises(ConfigError) as refused:
        rows(path, "jsonl", **limits)
    assert message in str(refused.value)
    assert key in refused.value.fix


def test_nan_is_read_for_what_it_is(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text('{"label": NaN}\n')
    (row,) = rows(path, "jsonl")
    assert math.isnan(row.values["label"])
