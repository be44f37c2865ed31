"""What is in each column of a file that nobody has explained yet."""

import json

import pytest

from umpirical.datasets.guess import MOST_LABELS, profile_columns
from umpirical.domain.errors import ConfigError, UsageError


def profiled(tmp_path, *records):
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return {profile.name: profile for profile in profile_columns(path)}


def column(tmp_path, *values):
    return profiled(tmp_path, *({"c": value} for value in values))["c"]


def test_values_are_counted_as_a_label_would_spell_them(tmp_path):
    found = column(tmp_path, 1, "1", 1.0, 2.5, True, " x", None, "", float("nan"))
    assert found.values == {"1": 3, "2.5": 1, "true": 1, " x": 1}
    assert (found.rows, found.filled, found.longest, found.mean_length) == (9, 6, 4, 2.0)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((3, "1", 2.5), (1.0, 3.0)),
        (("-1e2", "0"), (-100.0, 0.0)),
        ((1, None, 2), (1.0, 2.0)),
        ((1, "n/a"), None),
        ((1, True), None),
        (("1", " 2"), None),
        (("nan", "1"), None),
        ((None, None), None),
    ],
)
def test_the_range_is_known_where_all_are_numbers(tmp_path, values, expected):
    assert column(tmp_path, *values).range == expected


@pytest.mark.parametrize(("count", "kept"), [(MOST_LABELS, MOST_LABELS), (MOST_LABELS + 1, 0)])
def test_values_are_kept_while_they_could_be_labels(tmp_path, count, kept):
    found = column(tmp_path, *range(count), *range(count))
    assert len(found.values) == kept
    assert found.filled == 2 * count


@pytest.mark.parametrize(
    ("values", "distinct"),
    [
        (("a", "b", "c"), True),
        (("a", "b", "a"), False),
        (("a", "b", None), False),
        (("a", "b", " "), False),
        ((1, 2, "1"), False),
        (("a", "x" * 80), True),
        (("a", "x" * 81), False),
    ],
)
def test_distinct_means_short_everywhere_and_never_twice(tmp_path, values, distinct):
    assert column(tmp_path, *values).distinct is distinct


@pytest.mark.parametrize(("values", "readable"), [(("a", 1, True), True), (("a", ["b"]), False), ((None, ""), False)])
def test_what_holds_lists_or_nothing_cannot_be_read(tmp_path, values, readable):
    assert column(tmp_path, *values).readable is readable


def test_a_key_that_some_lines_lack_is_missing_there(tmp_path):
    found = profiled(tmp_path, {"a": 1}, {"b": 2}, {"a": 3, "b": 4, "c": 5})
    assert {name: (profile.rows, profile.filled) for name, profile in found.items()} == {
        "a": (3, 2),
        "b": (3, 2),
        "c": (3, 1),
    }


def test_columns_come_in_the_order_of_the_file(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("z,a,m\n1,2,3\n")
    assert [profile.name for profile in profile_columns(path)] == ["z", "a", "m"]


def test_a_file_that_says_no_format_or_has_no_rows_is_refused(tmp_path):
    (tmp_path / "data.txt").write_text("text\na\n")
    with pytest.raises(UsageError, match=r"unknown file ending '.txt'"):
        profile_columns(tmp_path / "data.txt")
    (tmp_path / "data.csv").write_text("text\n")
    with pytest.raises(ConfigError, match=r"data\.csv: the file has no rows"):
        profile_columns(tmp_path / "data.csv")
