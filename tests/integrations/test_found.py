"""Integrations are found as plugins are, by names that no plugin can take, and are imported only when they are used."""

import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.plugins.installed import install_plugin
from umpirical.domain.errors import UsageError
from umpirical.judges.adapters.catalogue import JUDGE_ADAPTERS
from umpirical.models.spec import ADAPTERS
from umpirical.registry import INTEGRATION, Registry, load_integration
from umpirical.runs.executor import EXECUTORS

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DECLARED = {
    (group.removeprefix("umpirical."), name)
    for group, points in PROJECT["entry-points"].items()
    if group.startswith("umpirical.")
    for name in points
}


def test_the_installed_package_declares_what_the_project_does():
    found = {
        (group, point.name)
        for group in {group for group, _ in DECLARED}
        for point in entry_points(group=f"umpirical.{group}")
        if point.value.startswith(INTEGRATION)
    }
    assert found == DECLARED, "run `uv sync`: the entry points of this environment are old"


def test_every_integration_can_be_loaded_and_every_name_in_a_registry_is_declared():
    for group, name in DECLARED:
        load_integration(name, group)
    registries = {"judges": JUDGE_ADAPTERS, "models": ADAPTERS, "executors": EXECUTORS}
    named = {
        (group, name)
        for group, registry in registries.items()
        for name, path in registry._builtins.items()
        if path == INTEGRATION
    }
    assert named == {each for each in DECLARED if each[0] in registries}


def test_built_in_names_keep_their_order_and_come_first():
    assert EXECUTORS.names()[:3] == ["local", "ray", "batch"]
    assert ADAPTERS.names()[:4] == ["openai-compatible", "inspect", "anthropic", "vllm"]
    assert JUDGE_ADAPTERS.names()[:4] == ["python", "autoevals", "deepeval", "inspect_ai"]


def test_no_plugin_takes_the_name_of_an_integration(tmp_path, monkeypatch):
    (tmp_path / "theirs.py").write_text("raise AssertionError('imported')")
    install_plugin(tmp_path, "umpirical.models", "vllm = theirs:ADAPTER")
    monkeypatch.syspath_prepend(tmp_path)
    assert type(ADAPTERS.get("vllm")).__module__ == "umpirical.integrations.vllm"
    assert ADAPTERS.names().count("vllm") == 1


def test_an_installation_without_its_entry_points_says_what_to_do():
    with pytest.raises(UsageError, match=r"has no 'absent'[\s\S]*reinstall umpirical"):
        Registry("models", {"absent": INTEGRATION}, noun="model adapter").get("absent")


@pytest.mark.parametrize(
    "code",
    [
        "import umpirical",
        "from umpirical.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass",
        "from umpirical.api import *",
        "import umpirical.study.run, umpirical.runs.executor, umpirical.judges.factory, umpirical.study.trust",
    ],
)
def test_nothing_is_imported_before_it_is_used(code):
    code += (
        "\nimport sys; print('IMPORTED', [name for name in sys.modules if name.startswith('umpirical.integrations')])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "IMPORTED []"
