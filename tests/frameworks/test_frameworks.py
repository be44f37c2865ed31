"""Judges of frameworks: three are measured in every gate, and all of them by `just frameworks`."""

import json
import subprocess
import sys

import pytest

from tests.cases import each
from tests.frameworks.matrix import RESULTS, ROOT, examined, frameworks, installed, page
from umpirical.judges.adapters.catalogue import JUDGE_ADAPTERS, PYTHON

SMALL = ["openevals", "autoevals", pytest.param("pydantic_evals", marks=pytest.mark.slow)]
"""Frameworks that are small, and quick to install."""

FRAMEWORKS = list(frameworks())


@pytest.mark.heavy
@pytest.mark.parametrize("name", SMALL)
def test_a_judge_of_a_framework_is_measured_as_true_value(name):
    rows = examined(name, "--examples")
    assert [row for row in rows if "measured" in row]
    assert [row["error"] for row in rows if "error" in row] == []


@pytest.mark.heavy
def test_a_scorer_of_inspect_is_measured_as_planted_with_the_installed_version(tmp_path):
    command = [sys.executable, "-m", "tests.frameworks.examination", "inspect_ai", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    rows = json.loads(done.stdout.strip().rpartition("\n")[2])
    assert [row["error"] for row in rows if "error" in row] == []


@each("name", [name for name in JUDGE_ADAPTERS.names() if name != PYTHON])
def test_an_adapter_is_loaded_without_its_framework(name):
    code = f"""
import sys
from umpirical.judges.adapters.catalogue import JUDGE_ADAPTERS
before = set(sys.modules)
JUDGE_ADAPTERS.get({name!r})
print(sorted(each.partition(".")[0] for each in set(sys.modules) - before))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert name not in done.stdout
    assert set(json.loads(done.stdout.replace("'", '"'))) <= {"umpirical", *sys.stdlib_module_names}


@each("name", FRAMEWORKS)
def test_every_framework_was_measured_at_the_versions_that_are_installed(name):
    found = json.loads(RESULTS.read_text(encoding="utf-8"))[name]
    assert found["installed"] == installed(name)
    assert "error" not in found or frameworks()[name].get("cannot") in found["error"]
    assert [row for row in found.get("judges", ()) if "error" in row] == []


def test_the_table_is_what_was_found():
    known = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert RESULTS.with_suffix(".md").read_text(encoding="utf-8") == page(known)


def test_every_framework_has_a_page_and_a_place_in_the_index():
    index = (RESULTS.parent / "README.md").read_text(encoding="utf-8")
    for name in FRAMEWORKS:
        told = f"{name.replace('_', '-')}.md"
        assert (ROOT / "docs" / "connect" / "frameworks" / told).is_file()
        assert f"({told})" in index
