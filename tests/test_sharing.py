"""What one process of a session makes, the others find; and they wait for each other."""

import fcntl
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sharing import locked, shared_folder
from tests.stimuli.built import remembered

ROOT = Path(__file__).parents[1]


def test_a_process_that_a_test_starts_has_the_same_folder():
    code = "from tests.sharing import shared_folder; print(shared_folder())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(shared_folder())


def test_outside_a_session_a_process_has_a_folder_of_its_own(monkeypatch):
    session = shared_folder()
    monkeypatch.delenv("UMPIRICAL_TESTS_SHARED")
    assert shared_folder() == shared_folder() != session
    assert shared_folder().is_dir()


def test_one_at_a_time(tmp_path):
    with locked(tmp_path / "lock"), (tmp_path / "lock").open("w") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with (tmp_path / "lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_what_one_process_has_built_no_other_builds_again(monkeypatch, tmp_path):
    monkeypatch.setenv("UMPIRICAL_TESTS_SHARED", str(tmp_path))
    made = []

    def build(*arguments):
        made.append(arguments)
        return (len(made), *arguments)

    assert [remembered(build)(*arguments) for arguments in (("a",), ("b",), ("a",))] == [(1, "a"), (2, "b"), (1, "a")]
    assert made == [("a",), ("b",)]
