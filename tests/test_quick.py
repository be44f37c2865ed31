"""`just quick` finds what changed and the tests that concern it."""

import subprocess
from pathlib import Path

import pytest

from tests.quick import CORE, OUTSIDE, ROOT, changed_files, concerned_tests, within
from tests.weights import Record, Weight

IMPORTS = {
    "stats/test_wilson.py": "stats.wilson",
    "stats/test_other.py": "stats.other",
    "recovery/test_recovery.py": "stats.wilson",
    "cli/test_plan.py": "cli.commands.plan",
    "cli/test_other.py": "domain.errors",
    "review/web/test_pages.py": "review.web.pages",
    "runs/test_loop.py": "runs.loop",
    "docs/test_readme.py": "api",
    "domain/test_errors.py": "domain.errors",
}
"""The files of a small project's tests, and what each imports."""


@pytest.fixture
def project(tmp_path):
    for name, imported in IMPORTS.items():
        file = tmp_path / "tests" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"from umpirical.{imported} import thing\n")
    (tmp_path / "tests" / "runs" / "loopback.py").touch()
    (tmp_path / "tests" / "cli" / "test_plan.py").write_text("from tests.runs.loopback import study\n")
    return tmp_path


def concerned(root: Path, *changed: str) -> list[str]:
    return [str(path) for path in concerned_tests(map(Path, changed), root)]


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("src/umpirical/stats/wilson.py", ["tests/stats/test_wilson.py", "tests/recovery/test_recovery.py"]),
        ("src/umpirical/cli/commands/plan.py", ["tests/cli/test_plan.py"]),
        ("src/umpirical/cli/commands/runs.py", ["tests/cli/test_other.py", "tests/cli/test_plan.py"]),
        ("src/umpirical/review/web/app.py", ["tests/review/web/test_pages.py"]),
        ("src/umpirical/review/web/words/one.yaml", ["tests/review/web/test_pages.py"]),
        ("tests/stats/test_wilson.py", ["tests/stats/test_wilson.py"]),
        ("tests/runs/loopback.py", ["tests/runs/test_loop.py", "tests/cli/test_plan.py"]),
        ("tests/review/conftest.py", ["tests/review/web/test_pages.py"]),
        ("tests/stats/test_that_is_gone.py", []),
        ("README.md", ["tests/docs/test_readme.py"]),
        ("docs/decisions/0005-intervals.md", ["tests/docs/test_readme.py"]),
        ("justfile", []),
    ],
)
def test_a_change_concerns_the_tests_of_its_name_its_folder_and_its_importers_in_this_order(project, changed, tests):
    assert concerned(project, changed) == tests


def test_a_module_whose_name_begins_like_another_is_not_taken_for_it(tmp_path):
    (tmp_path / "tests").mkdir()
    for name, imported in {
        "one": "umpirical.runs.plan import thing",
        "two": "umpirical.runs.plan_design import thing",
        "three": "umpirical.runs.plan.deeper import thing",
        "four": "umpirical.runs import loop, plan",
        "five": "umpirical.runs import (\n    loop,\n    plan,\n)",
        "six": "umpirical.runs import plan_design",
    }.items():
        (tmp_path / "tests" / f"test_{name}.py").write_text(f"from {imported}\n")
    found = concerned(tmp_path, "src/umpirical/runs/plan.py")
    assert found == ["tests/test_five.py", "tests/test_four.py", "tests/test_one.py"]


def test_what_nearly_every_test_imports_is_left_to_the_whole_gate(project, monkeypatch):
    assert concerned(project, "src/umpirical/domain/errors.py") == [
        "tests/domain/test_errors.py",
        "tests/cli/test_other.py",
    ]
    monkeypatch.setattr("tests.quick.MOST_IMPORTERS", 1)
    assert concerned(project, "src/umpirical/domain/errors.py") == ["tests/domain/test_errors.py"]


def test_what_takes_long_together_is_excluded_from_the_end_and_heavy_tests_do_not_count():
    record = Record({"a": Weight(30, {"test_heavy": 26, "test_long": 1.5}), "b": Weight(7), "c": Weight(1)})
    chosen, rest = within(map(Path, "abcd"), record, most=6)
    assert (chosen, rest) == ([Path("a"), Path("c"), Path("d")], [Path("b")])


def test_what_it_names_is_there():
    named = {*CORE, *(name for names in OUTSIDE.values() for name in names)}
    there = {name for name in named if (ROOT / name).exists()}
    # One that has moved is not missed at once; most of them are.
    assert len(there) >= len(named) - 2


def git(root: Path, *arguments: str) -> None:
    who = ["-c", "user.name=tests", "-c", "user.email=tests@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


def test_changed_is_whatever_the_main_branch_has_not(tmp_path):
    git(tmp_path, "init", "--initial-branch=main")
    for name in ("kept", "committed", "staged", "unstaged"):
        (tmp_path / name).write_text("before")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--message=first")
    assert changed_files(tmp_path) == set()
    git(tmp_path, "switch", "--create=work")
    (tmp_path / "committed").write_text("after")
    git(tmp_path, "commit", "--all", "--message=second")
    (tmp_path / "staged").write_text("after")
    git(tmp_path, "add", "staged")
    (tmp_path / "unstaged").write_text("after")
    (tmp_path / "new").write_text("after")
    assert changed_files(tmp_path) == {Path(name) for name in ("committed", "staged", "unstaged", "new")}
