import os
import shutil
import tomllib

# A session within the session forgets what it imported, and this extension aborts if it is imported twice.
import duckdb  # noqa: F401
import pytest

import umpirical
from tests.docs.reading import ROOT
from tests.plugins.installed import install_plugin
from tests.sharing import locked, shared_folder
from tests.stimuli.built import lend_stimuli

ENTRY_POINTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]

INI = """\
[pytest]
addopts = --strict-markers --strict-config -p no:cacheprovider -p no:asyncio -p no:anyio -p no:hypothesispytest
umpirical_size = screen
"""

JUDGES = ("steady-grader", "lenient-on-nothing", "compressed-grader")


@pytest.fixture
def suite(pytester, monkeypatch, tmp_path_factory):
    """A folder of somebody's tests, in an environment that has the plugin as pip would leave it behind."""
    [(name, module)] = ENTRY_POINTS["pytest11"].items()
    installed = install_plugin(tmp_path_factory.mktemp("installed"), "pytest11", f"{name} = {module}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(installed), str(ROOT / "src"), str(ROOT)]))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    lend_stimuli(pytester.path / ".umpirical")
    pytester.makeini(INI)
    return pytester


@pytest.fixture
def answered(suite):
    """The same, with the answers of some simulated judges, which came from elsewhere."""
    folder = shared_folder() / "answered"
    with locked(folder.with_suffix(".lock")):
        for judge in JUDGES:
            if not any((folder / "runs").glob(f"{judge}-*/datasheet.json")):
                lend_stimuli(folder)
                umpirical.datasheet(f"simulated:{judge}", size="screen", folder=folder, progress=False)
    shutil.copytree(folder / "runs", suite.path / ".umpirical" / "runs")
    suite.makeini(f"{INI}umpirical_trust = true\n")
    return suite
