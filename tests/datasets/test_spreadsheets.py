"""XLSX: values as a person sees them, one sheet of several, and workbooks that are none."""

import zipfile
from datetime import date

import pytest

from tests.datasets.described import rows
from tests.datasets.workbooks import MAIN, write_table, write_workbook
from umpirical.datasets.readers import Source
from umpirical.datasets.spreadsheets import XLSX
from umpirical.domain.errors import ConfigError, UsageError


def test_numbers_are_the_numbers_that_a_person_sees(tmp_path):
    path = tmp_path / "data.xlsx"
    write_table(path, [{"id": 7, "score": 3.0, "part": 2.5, "ok": True, "text": "3.0"}, {"id": 8, "score": None}])
    first, second = rows(path, "xlsx")
    assert first.values == {"id": 7, "score": 3, "part": 2.5, "ok": True, "text": "3.0"}
    assert [type(value) for value in first.values.values()] == [int, int, float, bool, str]
    assert second.values["score"] == ""
    assert second.place == "data.xlsx:row 3"


def test_empty_rows_are_passed_over_and_the_others_keep_their_numbers(tmp_path):
    path = tmp_path / "data.xlsx"
    write_workbook(path, {"one": [["text", "label"], ["a", "yes"], ["", ""], ["b", "no"]]})
    assert [(row.place, row.values["text"]) for row in rows(path, "xlsx")] == [
        ("data.xlsx:row 2", "a"),
        ("data.xlsx:row 4", "b"),
    ]


def test_the_first_sheet_is_read_unless_another_is_named(tmp_path):
    path = tmp_path / "data.xlsx"
    write_workbook(path, {"one": [["text"], ["a"]], "two & more": [["text"], ["b"]]})
    assert [row.values["text"] for row in rows(path, "xlsx")] == ["a"]
    named = Source(path, path.name, options={"sheet": "two & more"})
    assert [row.values["text"] for row in XLSX.open(named).rows] == ["b"]
    with pytest.raises(ConfigError, match="no sheet 'three'; sheets: one, two & more"):
        XLSX.open(Source(path, path.name, options={"sheet": "three"}))


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([[]], "the sheet is empty"),
        ([["text", "text"], ["a", "b"]], "two columns have the name 'text'"),
        ([["text", ""], ["a", "b"]], "a cell in a column without a name"),
    ],
)
def test_a_sheet_that_is_no_table_is_refused(tmp_path, cells, said):
    path = tmp_path / "data.xlsx"
    write_workbook(path, {"one": cells})
    with pytest.raises(ConfigError, match=said) as caught:
        rows(path, "xlsx")
    assert caught.value.where.startswith("data.xlsx:row")


def test_what_unpacks_to_far_more_than_it_should_is_refused_unread(tmp_path):
    path = tmp_path / "data.xlsx"
    write_workbook(
        path, {"one": [["text"], ["a"]]}, sheet_xml=f'<worksheet xmlns="{MAIN}">{" " * 80_000_000}</worksheet>'
    )
    assert path.stat().st_size < 200_000
    with pytest.raises(ConfigError, match="times"):
        rows(path, "xlsx")


def test_entities_are_not_expanded(tmp_path):
    path = tmp_path / "data.xlsx"
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    entity = f'<!DOCTYPE x [<!ENTITY a SYSTEM "file://{secret}">]>'
    cell = '<row r="1"><c r="A1" t="inlineStr"><is><t>&a;</t></is></c></row>'
    write_workbook(
        path,
        {"one": []},
        sheet_xml=f'{entity}<worksheet xmlns="{MAIN}"><sheetData>{cell}</sheetData></worksheet>',
    )
    with pytest.raises(ConfigError):
        rows(path, "xlsx")


def test_another_archive_is_no_workbook(tmp_path):
    path = tmp_path / "data.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hello.txt", str(date(2024, 1, 1)))
    with pytest.raises(ConfigError, match="not a valid XLSX file"):
        rows(path, "xlsx")


def test_without_the_extra_it_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "data.xlsx"
    write_table(path, [{"text": "a"}])
    monkeypatch.setitem(__import__("sys").modules, "python_calamine", None)
    with pytest.raises(UsageError, match="require the `xlsx` extra") as caught:
        rows(path, "xlsx")
    assert "umpirical[xlsx]" in caught.value.fix
