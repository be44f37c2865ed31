"""What tests take is recorded, read back, and decides what is heavy and what comes first."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.weights import (
    GROUPS,
    Record,
    Weight,
    group_of,
    is_heavy,
    longest_first,
    read_record,
    recorded,
    take_over,
    write_record,
)

ROOT = Path(__file__).parents[1]

RECORD = Record(
    {
        "tests/runs/test_kill.py": Weight(19, {"test_a": 17, "test_b": 1.5}),
        "tests/stats/test_wilson.py": Weight(0.7),
        "tests/stats/test_long.py": Weight(9, {"test_a": 5}),
    }
)


def item(nodeid: str, *marks: str, parameter: str = "") -> SimpleNamespace:
    return SimpleNamespace(
        nodeid=nodeid,
        callspec=SimpleNamespace(params={"url": parameter}),
        get_closest_marker=lambda name: name if name in marks else None,
    )


def test_the_committed_record_is_about_tests_that_there_are():
    files = read_record().files
    there = sum(weight.cpu for path, weight in files.items() if (ROOT / path).exists())
    assert there > 0.75 * sum(weight.cpu for weight in files.values()) > 0, "`just test`, then `just weights`"
    assert all((ROOT / path).exists() for path in GROUPS)


@pytest.mark.parametrize(
    ("test", "heavy"),
    [
        (item("tests/stats/test_wilson.py::test_a"), False),
        (item("tests/stats/test_wilson.py::test_a", "browser"), True),
        (item("tests/stats/test_wilson.py::test_a", "llm"), True),
        (item("tests/review/test_desk.py::test_a[sqlite]", parameter="sqlite"), False),
        (item("tests/review/test_desk.py::test_a[postgresql]", parameter="postgresql"), True),
        (item("tests/runs/test_kill.py::test_a[b]"), True),
        (item("tests/runs/test_kill.py::test_b"), False),
        (item("tests/runs/test_kill.py::test_a_and_more"), False),
        (item("tests/runs/test_nobody_has_run.py::test_a"), False),
    ],
)
def test_heavy_is_what_needs_more_than_python_or_takes_long(test, heavy):
    assert is_heavy(test, RECORD) == heavy


def test_a_file_is_a_group_and_the_real_model_is_one():
    assert group_of("tests/stats/test_wilson.py::test_a[b::c]", RECORD) == "tests/stats/test_wilson.py"
    assert group_of("tests/llm/test_one.py::test_a", RECORD) == group_of("tests/llm/test_two.py::test_b", RECORD)


def test_a_file_that_would_keep_one_worker_busy_is_split_and_a_group_of_many_is_not():
    record = Record(
        {"tests/a.py": Weight(60), "tests/llm/b.py": Weight(60)} | {f"tests/{n}.py": Weight(10) for n in range(20)}
    )
    assert group_of("tests/a.py::test_a[b]", record) == "tests/a.py::test_a"
    assert group_of("tests/1.py::test_a[b]", record) == "tests/1.py"
    assert group_of("tests/llm/b.py::test_a", record) == "the real model"


def test_the_longest_group_comes_first_and_the_rest_keeps_its_order():
    record = Record({"tests/b.py": Weight(30), "tests/c.py": Weight(20), **{f"{n}": Weight(100) for n in range(9)}})
    collected = [f"tests/{name}::test_{which}" for name in ("d.py", "a.py", "c.py", "b.py") for which in ("one", "two")]
    found = [item.nodeid for item in longest_first([SimpleNamespace(nodeid=nodeid) for nodeid in collected], record)]
    assert found == collected[6:] + collected[4:6] + collected[:4]


def test_the_parts_of_a_file_that_is_split_come_in_their_own_places():
    others = {f"{n}": Weight(25) for n in range(9)}
    record = Record({"tests/a.py": Weight(90, {"test_two": 80}), "tests/b.py": Weight(30), **others})
    collected = ["tests/a.py::test_one", "tests/b.py::test_one", "tests/a.py::test_two[c]"]
    found = [item.nodeid for item in longest_first([SimpleNamespace(nodeid=nodeid) for nodeid in collected], record)]
    assert found == ["tests/a.py::test_two[c]", "tests/b.py::test_one", "tests/a.py::test_one"]


def test_a_record_comes_back_as_it_was_written(tmp_path):
    write_record(RECORD, tmp_path / "out" / "weights.json")
    assert read_record(tmp_path / "out" / "weights.json").files == RECORD.files
    assert read_record(tmp_path / "none.json").files == {}


TESTS = """
import time
import pytest

def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

@pytest.fixture(scope="module")
def shared():
    work(0.2)

def test_first(shared):
    work(0.1)

@pytest.mark.parametrize("n", range(2))
def test_second(shared, n):
    work(0.1)

def test_child():
    import subprocess, sys
    subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.2: pass"], check=True)

def test_nothing():
    pass
"""


RECORDING = """
from pathlib import Path
from tests.weights import Recorder

def pytest_configure(config):
    config.pluginmanager.register(Recorder(Path("weights")))
"""


def test_what_tests_take_is_their_own_their_fixtures_and_their_childrens(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.weights.LISTED", 0.05)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text(RECORDING)
    alone = ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:umpirical", "-p", "no:hypothesispytest"]
    command = [sys.executable, "-m", "pytest", "-q", *alone, str(tmp_path)]
    subprocess.run(command, check=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True)
    (weight,) = recorded(tmp_path / "weights").files.values()
    assert weight.cpu == pytest.approx(0.7, abs=0.15)
    expected = {"test_first": 0.3, "test_second": 0.4, "test_child": 0.2}
    assert weight.tests == {name: pytest.approx(seconds, abs=0.11) for name, seconds in expected.items()}


def test_small_differences_are_not_taken_over_and_neither_is_what_is_gone(tmp_path):
    for name in ("near.py", "far.py", "new.py", "small.py"):
        (tmp_path / name).touch()
    before = Record({"near.py": Weight(20, {"test_a": 1.5}), "far.py": Weight(20), "gone.py": Weight(20)})
    after = Record(
        {
            "near.py": Weight(23.4, {"test_a": 1.2}),
            "far.py": Weight(30.4, {"test_b": 1.24}),
            "new.py": Weight(3.14),
            "small.py": Weight(0.1),
            "gone.py": Weight(20),
        }
    )
    assert take_over(before, after, tmp_path).files == {
        "near.py": before.files["near.py"],
        "far.py": Weight(30, {"test_b": 1.2}),
        "new.py": Weight(3.1),
    }
