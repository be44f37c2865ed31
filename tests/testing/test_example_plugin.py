"""The example plugin is installed as a third party would install it, and is found, used and checked."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples" / "perturbation-plugin"

REPORT = """
import json
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS
import numpy as np
found = PERTURBATIONS.get("line-endings")
print(json.dumps({
    "names": PERTURBATIONS.names(),
    "maker": found.maker,
    "changed": found.change("a\\nb", np.random.default_rng(1)),
}))
"""


def installer() -> list[str]:
    """What installs packages here: uv, which runs CI; else pip, of this Python or of the one it was made from."""
    tools = ROOT / ".ci" / "tools" / "bin" / "uv"
    uv = os.environ.get("UV") or shutil.which("uv") or (str(tools) if tools.exists() else None)
    if uv:
        return [uv, "pip", "install", "--python", sys.executable]
    for python in (sys.executable, str(Path(sys.base_prefix) / "bin" / "python3")):
        pip = [python, "-m", "pip"]
        if Path(python).exists() and subprocess.run(pip, check=False, capture_output=True).returncode == 0:
            return [*pip, "install", "--disable-pip-version-check"]
    pytest.skip("needs uv or pip")


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The environment of a process in which the plugin is installed, and no other is."""
    scratch = tmp_path_factory.mktemp("plugin")
    # From a copy: building leaves files behind.
    source = shutil.copytree(PLUGIN, scratch / "source", ignore=shutil.ignore_patterns("__pycache__"))
    command = [*installer(), "--quiet", "--no-deps", "--target", str(scratch / "site"), str(source)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return os.environ | {"PYTHONPATH": str(scratch / "site")}, source


def run(environment, *arguments):
    variables, source = environment
    command = [sys.executable, *arguments]
    return subprocess.run(command, check=False, env=variables, cwd=source.parent, capture_output=True, text=True)


def test_the_registry_lists_it_after_the_built_in_ones_and_loads_it(environment):
    done = run(environment, "-c", REPORT)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["names"][0] == "vertical-spacing"
    assert report["names"][-1] == "line-endings"
    assert report["maker"] == "line-endings/1"
    assert report["changed"] == "a\r\nb"


def test_its_own_test_calls_the_kit_and_passes(environment):
    _, source = environment
    arguments = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib")
    # The module that was installed, not the one beside the test.
    (source / "umpirical_line_endings.py").unlink()
    done = run(environment, *arguments, "--rootdir", str(source), str(source / "test_line_endings.py"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_without_it_nobody_knows_the_name():
    code = "from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS; print(PERTURBATIONS.names())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "line-endings" not in done.stdout


def test_it_is_one_module_one_registration_line_and_one_test():
    assert sorted(path.name for path in PLUGIN.glob("*.py")) == ["test_line_endings.py", "umpirical_line_endings.py"]
    lines = (PLUGIN / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    place = lines.index('[project.entry-points."umpirical.perturbations"]')
    assert lines[place + 1 : place + 3] == ['line-endings = "umpirical_line_endings:PERTURBATION"', ""]
