"""`just quick` finds what changed and the tests that concern it."""

import subprocess
from pathlib import Path

import pytest

from tests.quick import CORE, OUTSIDE, ROOT, changed_files, concerned_tests


def concerned(*changed: str, root: Path = ROOT) -> set[str]:
    return {str(path) for path in concerned_tests(map(Path, changed), root)}


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("src/umpirical/stats/isotonic.py", {"tests/stats/test_isotonic.py", "tests/golden/test_dark_current.py"}),
        ("src/umpirical/cli/plan.py", {"tests/cli/test_plan.py"}),
        ("src/umpirical/cli/results.py", {"tests/cli"}),
        ("src/umpirical/review/desk.py", {"tests/review/test_desk.py"}),
        ("src/umpirical/review/web/app.py", {"tests/review/web"}),
        ("src/umpirical/protocols/datasheet/counting.py", {"tests/protocols/datasheet/test_counting.py"}),
        ("src/umpirical/stimuli/controlled/ladder/families/jam-batch.yaml", {"tests/stimuli/controlled/ladder"}),
        ("tests/stats/test_wilson.py", {"tests/stats/test_wilson.py"}),
        ("tests/runs/loopback.py", {"tests/runs", "tests/cli/test_plan.py"}),
        ("tests/llm/conftest.py", {"tests/llm"}),
        ("README.md", {"tests/docs"}),
        ("docs/decisions/0005-intervals.md", {"tests/docs"}),
        ("justfile", set()),
    ],
)
def test_a_change_concerns_the_tests_of_its_name_its_folder_and_its_importers(changed, tests):
    assert concerned(changed) >= tests


def test_a_file_with_a_test_of_its_name_does_not_take_the_whole_folder():
    assert "tests/stats" not in concerned("src/umpirical/stats/isotonic.py")


def test_a_module_whose_name_begins_like_another_is_not_taken_for_it(tmp_path):
    (tmp_path / "tests").mkdir()
    for name, imported in {"one": "plan", "two": "plan_design", "three": "plan.deeper"}.items():
        (tmp_path / "tests" / f"test_{name}.py").write_text(f"from umpirical.runs.{imported} import thing\n")
    assert concerned("src/umpirical/runs/plan.py", root=tmp_path) == {"tests/test_one.py"}


def test_what_nearly_every_test_imports_is_left_to_the_whole_gate():
    assert concerned("src/umpirical/domain/errors.py") == {"tests/domain"}


def test_what_was_deleted_is_not_asked_for():
    assert concerned("tests/stats/test_that_is_gone.py") == set()


@pytest.mark.parametrize("path", [*CORE, *(name for names in OUTSIDE.values() for name in names)])
def test_what_it_names_is_there(path):
    assert (ROOT / path).exists()


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
