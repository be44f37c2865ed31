"""Parquet: typed, by row, and a small file that stands for very much text."""

import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.datasets.described import rows
from umpirical.domain.errors import ConfigError

TEXT = st.none() | st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)


@settings(deadline=None)
@given(
    texts=st.lists(TEXT, min_size=1, max_size=20),
    row_group=st.integers(1, 7),
    categorical=st.booleans(),
    large=st.booleans(),
)
def test_whatever_is_written_is_read_back_in_order(tmp_path_factory, texts, row_group, categorical, large):
    path = tmp_path_factory.mktemp("parquet") / "data.parquet"
    column = pa.array(texts, pa.large_string() if large else pa.string())
    table = pa.table({"text": column.dictionary_encode() if categorical else column, "number": list(range(len(texts)))})
    pq.write_table(table, path, row_group_size=row_group)
    found = rows(path, "parquet")
    assert [row.values["text"] for row in found] == texts
    assert [row.values["number"] for row in found] == list(range(len(texts)))
    assert [row.place for row in found] == [f"data.parquet:row {number + 1}" for number in range(len(texts))]


def test_values_keep_their_types(tmp_path):
    path = tmp_path / "data.parquet"
    table = {"i": [3, None], "f": [3.0, math.nan], "b": [True, None], "s": ["3", ""], "nested": [[1], [2]]}
    pq.write_table(pa.table(table), path)
    first, second = (row.values for row in rows(path, "parquet"))
    # What holds no single values is left out where nobody has asked for it.
    assert first == {"i": 3, "f": 3.0, "b": True, "s": "3"}
    assert [type(value) for value in first.values()] == [int, float, bool, str]
    assert (second["i"], second["b"], second["s"]) == (None, None, "")


def test_only_the_columns_that_are_wanted_are_read(tmp_path):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"a": ["x"], "b": ["y"], "c.d": ["z"]}), path)
    assert [row.values for row in rows(path, "parquet", columns=("c.d", "a", "missing"))] == [{"c.d": "z", "a": "x"}]


def test_a_column_of_lists_is_refused_with_what_it_holds(tmp_path):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"text": [["a", "b"]]}), path)
    with pytest.raises(ConfigError, match=r"column 'text' contains list<.*>, expected single values"):
        rows(path, "parquet", columns=("text",))


def test_what_is_no_parquet_file_is_refused(tmp_path):
    path = tmp_path / "data.parquet"
    path.write_bytes(b"PAR1 not really PAR1")
    with pytest.raises(ConfigError, match=r"data\.parquet: not a valid Parquet file"):
        rows(path, "parquet")
    with pytest.raises(ConfigError, match="no such file"):
        rows(tmp_path / "none.parquet", "parquet")


def test_a_damaged_file_is_said_to_be_so(tmp_path):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"text": [f"text {number}" for number in range(2_000)]}), path, compression="zstd")
    content = bytearray(path.read_bytes())
    content[len(content) // 4 : len(content) // 2] = b"\xff" * (len(content) // 2 - len(content) // 4)
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"data\.parquet: cannot read past row 0"):
        rows(path, "parquet")


def test_two_columns_of_one_name_are_refused(tmp_path):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"]), path)
    with pytest.raises(ConfigError, match="two columns have the same name"):
        rows(path, "parquet")


@pytest.mark.parametrize(
    ("limits", "message", "key"),
    [
        ({"rows": 99}, "100 rows; the limit is 99", "limits.rows"),
        ({"bytes": 100}, "bytes; the limit is 100", "limits.bytes"),
        ({"field": 1_999}, "column 'text': 2,000 characters; the limit is 1,999", "limits.field"),
        ({"field": 400}, "a text of 2,000 bytes; the limit is 400 characters", "limits.field"),
    ],
)
def test_what_is_above_a_limit_is_refused_with_the_limit_and_its_key(tmp_path, limits, message, key):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"text": ["x" * 2_000] * 100}), path)
    with pytest.raises(ConfigError) as refused:
        rows(path, "parquet", **limits)
    assert message in str(refused.value)
    assert key in refused.value.fix


def test_a_file_that_unpacks_to_more_than_is_allowed_is_refused_before_it_is(tmp_path):
    path = tmp_path / "data.parquet"
    text = "".join(chr(97 + number % 26) for number in range(100_000))
    pq.write_table(pa.table({"text": [text, text + "a"]}), path, compression="zstd", use_dictionary=False)
    size = path.stat().st_size
    assert size < 10_000
    with pytest.raises(ConfigError, match=r"200,0\d\d bytes when unpacked; the limit is 10,000"):
        rows(path, "parquet", bytes=10_000)


def test_text_that_rows_share_is_counted_for_each_of_them_and_held_once(tmp_path):
    """650 kB on disk, 90 GB if every row had its own copy."""
    path = tmp_path / "data.parquet"
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), ["x" * 900_000])
    pq.write_table(pa.table({"text": column}), path)
    assert path.stat().st_size < 2_000_000
    before = pa.total_allocated_bytes()
    with pytest.raises(ConfigError, match=r"data\.parquet:row 1194: more than 1,073,741,824 characters so far"):
        rows(path, "parquet")
    assert pa.total_allocated_bytes() - before < 100_000_000
