"""The workflow of examples/gate: its steps are run as they stand, on a change that is none and on one that is worse."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import xmlschema

from tests.docs.reading import ROOT, blocks
from tests.stimuli.built import lend_stimuli
from umpirical.store.yaml_files import load_yaml

EXAMPLE = ROOT / "examples" / "gate"
WORKFLOW = load_yaml(EXAMPLE / "judge.yml").data
[JOB] = WORKFLOW["jobs"].values()
STEPS = [step for step in JOB["steps"] if "run" in step]
INSTALL, *COMMANDS = STEPS


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A folder with `umpirical` in it, as installing has it."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "umpirical").write_text(f'#!/bin/sh\nexec {sys.executable} -m umpirical "$@"\n')
    (folder / "umpirical").chmod(0o755)
    return folder


def checked_out(folder: Path, *, name: str) -> None:
    judge = folder / "judge"
    judge.mkdir(parents=True)
    shutil.copy(EXAMPLE / "umpirical.yaml", judge)
    text = (judge / "umpirical.yaml").read_text(encoding="utf-8")
    assert "name: careful" in text
    (judge / "umpirical.yaml").write_text(text.replace("name: careful", f"name: {name}"), encoding="utf-8")
    lend_stimuli(judge, size="standard")


@pytest.mark.parametrize(
    ("changed", "code"), [pytest.param("careful", 0, marks=pytest.mark.slow), ("short-sighted", 7)]
)
def test_the_steps_let_the_same_judge_through_and_stop_a_worse_one(tmp_path, program, changed, code):
    checked_out(tmp_path / "before", name="careful")
    checked_out(tmp_path / "now", name=changed)
    runner = {
        **os.environ,
        "PATH": f"{program}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "GITHUB_ACTIONS": "true",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }
    for step in COMMANDS:
        done = subprocess.run(
            ["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=runner, capture_output=True, text=True, check=False
        )
        if done.returncode and step.get("continue-on-error"):
            assert done.returncode in (3, 4), done.stderr
        elif done.returncode:
            break
    assert (step["name"], done.returncode) == ("Gate", code), done.stderr
    xmlschema.XMLSchema(ROOT / "tests" / "reports" / "junit.xsd").validate(tmp_path / "gate.xml")
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert ("**WORSE**" in summary) == ("::error" in done.stderr) == bool(code)


def test_the_page_says_the_commands_of_the_workflow():
    [told] = blocks(EXAMPLE / "README.md", "sh")
    assert told.splitlines() == [step["run"] for step in COMMANDS]


def test_the_workflow_may_read_and_no_more_and_gives_no_secret_to_strangers():
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert list(WORKFLOW["on"]) == ["pull_request"]
    assert [step.get("continue-on-error", False) for step in COMMANDS] == [True, True, False]
    assert INSTALL["run"] == "pip install umpirical"


def test_no_name_from_the_pull_request_reaches_a_shell():
    assert not [step for step in STEPS if "${{" in step["run"]]
