"""Files that are either whole or not there."""

import pytest

from umpirical.store.files import building, drafted, sweep_drafts, write_text
from umpirical.store.parquet import read_rows, write_rows
from umpirical.store.schemas import response_schema


def test_a_written_file_holds_the_text_and_leaves_no_draft(tmp_path):
    path = tmp_path / "a.json"
    write_text(path, "old")
    write_text(path, "new, naïve")
    assert path.read_text(encoding="utf-8") == "new, naïve"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failing_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    write_text(path, "old")

    def full_disk(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_text(path, "new")
    assert path.read_text(encoding="utf-8") == "old"


def test_a_lone_surrogate_becomes_a_visible_mark(tmp_path):
    write_text(tmp_path / "a", "x\ud800")
    assert (tmp_path / "a").read_text(encoding="utf-8") == "x\\ud800"


def test_rows_that_do_not_fit_their_schema_leave_the_old_file(tmp_path):
    path = tmp_path / "a.parquet"
    write_rows(path, [{"trial_id": "1", "attempts": 1}], response_schema())
    with pytest.raises(ValueError, match=r"Could not convert|tried to convert"):
        write_rows(path, [{"trial_id": "2", "attempts": "many"}], response_schema())
    assert [row["trial_id"] for row in read_rows(path)] == ["1"]


def test_a_sweep_takes_what_killed_processes_left_and_nothing_that_is_being_written(tmp_path):
    (tmp_path / ".left.json.0.tmp").write_text("half")
    (tmp_path / ".building-left").mkdir()
    (tmp_path / ".building-left" / "rows").write_text("half")
    with drafted(tmp_path / "a.json") as draft, building(tmp_path / "b.json") as built:
        draft.write_text("whole")
        built.write_text("whole")
        sweep_drafts(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "b.json"]
    assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text() == "whole"


def test_a_draft_that_fails_leaves_what_was_there_before(tmp_path):
    write_text(tmp_path / "a", "before")
    with pytest.raises(UnicodeEncodeError), drafted(tmp_path / "a") as draft:
        draft.write_text("half, then \ud800", encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "before"
