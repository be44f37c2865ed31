"""Any bytes at all: rows, or an error that says where. Never a crash, and never a hang."""

import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.datasets.described import described, rows
from umpirical.datasets.guess import profile_columns
from umpirical.datasets.items import read_items
from umpirical.domain.errors import ConfigError

# Bytes that mean something to one format or another come up more often than they would by chance.
PIECES = [b",", b'"', b"\n", b"\r", b"\r\n", b"\0", b"{", b"}", b"[", b"]", b":", b"\\", b"\\ud800", b"text", b"label"]
BYTES = st.lists(st.sampled_from(PIECES) | st.binary(max_size=4), max_size=40).map(b"".join)
TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=8)
SMALL = {"bytes": 2_000, "rows": 20, "field": 50, "depth": 4}


def attempted(read):
    """What came of it: the result, or the error."""
    try:
        return read(), None
    except ConfigError as error:
        return None, error


def read_or_refused(path, kind):
    """The rows, or None if it was said what is wrong and where."""
    found, error = attempted(lambda: rows(path, kind, **SMALL))
    assert error is None or (error.where.startswith(path.name) and str(error) != f"{error.where}: ")
    return found


@settings(deadline=None, max_examples=300)
@given(content=BYTES)
@example(b'"' * 999)
@example(b"\xef\xbb\xbf")
@example(b"text,label\n" * 30)
@example(b"\xff\xfe\x00\n")
def test_any_bytes_as_csv_are_rows_of_one_width_or_an_error_with_its_place(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("hostile") / "data.csv"
    path.write_bytes(content)
    found = read_or_refused(path, "csv")
    if found:
        assert len({tuple(row.values) for row in found}) == 1
        assert all(isinstance(value, str) for row in found for value in row.values.values())
        lines = [int(row.place.partition(":")[2]) for row in found]
        assert lines == sorted(set(lines))
        assert lines[0] >= 2
        # What the standard library makes of the same text, with nothing lost on the way.
        records = [record for record in csv.reader(content.decode("utf-8-sig").split("\n")) if record]
        assert len(found) <= len(records)


@settings(deadline=None, max_examples=300)
@given(content=BYTES)
@example(b'{"a":' * 200)
@example(b'{"a": 1e999}\n{"a": -Infinity}')
@example(b'{"a": "\\u0000"}')
def test_any_bytes_as_json_lines_are_objects_or_an_error_with_its_line(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("hostile") / "data.jsonl"
    path.write_bytes(content)
    found = read_or_refused(path, "jsonl")
    if found:
        lines = content.decode("utf-8-sig").split("\n")
        for row in found:
            assert repr(json.loads(lines[int(row.place.partition(":")[2]) - 1])) == repr(dict(row.values))


@pytest.fixture(scope="module")
def sound_parquet(tmp_path_factory):
    path = tmp_path_factory.mktemp("sound") / "data.parquet"
    pq.write_table(pa.table({"text": ["a", "b", None], "label": [1.0, 2.0, 3.0]}), path)
    return path.read_bytes()


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_a_parquet_file_with_any_bytes_changed_is_rows_or_an_error(tmp_path_factory, sound_parquet, data):
    content = bytearray(sound_parquet)
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=4)):
        content[place] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("hostile") / "data.parquet"
    path.write_bytes(content)
    found = read_or_refused(path, "parquet")
    assert found is None or len(found) <= SMALL["rows"]


@settings(deadline=None, max_examples=150)
@given(content=BYTES)
def test_whatever_can_be_profiled_was_read_whole(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("hostile") / "data.csv"
    path.write_bytes(b"text,label\n" + content)
    profiles, error = attempted(lambda: profile_columns(path))
    if error is not None:
        assert error.where.startswith("data.csv")
        return
    found = rows(path, "csv")
    assert {profile.rows for profile in profiles} == {len(found)}
    filled = {profile.name: profile.filled for profile in profiles}
    assert filled == {
        name: sum(bool(row.values[name].strip()) for row in found) for name in (profile.name for profile in profiles)
    }


@settings(deadline=None, max_examples=150)
@given(cells=st.lists(st.tuples(TEXT, st.sampled_from(["yes", "no", "", "Yes", "=yes"])), max_size=12))
def test_every_row_is_an_item_or_one_of_the_problems(tmp_path_factory, cells):
    folder = tmp_path_factory.mktemp("hostile")
    lines = [json.dumps({"text": text, "label": label}) for text, label in cells]
    (folder / "data.jsonl").write_text("".join(f"{line}\n" for line in lines))
    off = [place for place, (_, label) in enumerate(cells) if label in ("Yes", "=yes")]
    found, error = attempted(lambda: read_items(described("data.jsonl"), folder))
    if error is not None:
        assert off or not cells
        assert not off[1:] or f"{len(off)} of {len(cells)} rows cannot be used" in str(error)
        assert len(off) != 1 or error.where == f"data.jsonl:{off[0] + 1}"
        return
    items, summary = found
    assert not off
    assert [(item.response, *item.labels) for item in items] == [
        (text, label) if label else (text,) for text, label in cells
    ]
    assert summary.unlabelled + sum(summary.labels.values()) == summary.rows == len(cells)
