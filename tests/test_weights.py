"""The table of heavy tests is about tests that there are, and groups are what it says."""

import ast
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.weights import GROUPS, HEAVY, group_of, is_heavy, longest_first

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", [*HEAVY, *GROUPS])
def test_what_is_called_heavy_is_there(name):
    path, _, function = name.partition("::")
    assert (ROOT / path).exists()
    if function:
        defined = ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))
        assert function in {node.name for node in defined if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def item(nodeid: str, *marks: str, parameter: str = "") -> SimpleNamespace:
    return SimpleNamespace(
        nodeid=nodeid,
        callspec=SimpleNamespace(params={"url": parameter}),
        get_closest_marker=lambda name: name if name in marks else None,
    )


@pytest.mark.parametrize(
    ("test", "heavy"),
    [
        (item("tests/stats/test_wilson.py::test_a"), False),
        (item("tests/stats/test_wilson.py::test_a", "browser"), True),
        (item("tests/stats/test_wilson.py::test_a", "llm"), True),
        (item("tests/review/test_desk.py::test_a[sqlite]", parameter="sqlite"), False),
        (item("tests/review/test_desk.py::test_a[postgresql]", parameter="postgresql"), True),
        (item("tests/runs/test_kill.py::test_a[b]"), True),
        (item("tests/runs/test_kill_nothing.py::test_a"), False),
        (item("tests/review/end_to_end/test_any.py::test_a"), True),
    ],
)
def test_heavy_is_what_needs_more_than_python_or_takes_long(test, heavy):
    assert is_heavy(test) == heavy


def test_a_file_is_a_group_and_the_real_model_is_one():
    assert group_of("tests/stats/test_wilson.py::test_a[b::c]") == "tests/stats/test_wilson.py"
    assert group_of("tests/llm/test_paths.py::test_a") == group_of("tests/llm/test_smollm2.py::test_b")


def test_the_longest_group_comes_first_and_the_rest_keeps_its_order(monkeypatch):
    monkeypatch.setitem(HEAVY, "tests/c.py", 20)
    monkeypatch.setitem(HEAVY, "tests/b.py::test_one", 15)
    monkeypatch.setitem(HEAVY, "tests/b.py::test_two", 15)
    collected = [f"tests/{name}::test_{which}" for name in ("d.py", "a.py", "c.py", "b.py") for which in ("one", "two")]
    found = [item.nodeid for item in longest_first([SimpleNamespace(nodeid=nodeid) for nodeid in collected])]
    assert found == collected[6:] + collected[4:6] + collected[:4]
