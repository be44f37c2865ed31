"""A release: what is built holds what it should and nothing more, says what it is, and is published by nobody else."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections import Counter
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml
from supply.licences import brought

from tests.stimuli.built import lend_stimuli

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

KINDS = {".css", ".html", ".js", ".json", ".md", ".parquet", ".py", ".txt", ".typed", ".yaml"}
"""What a package of ours is made of; the released test cases are Parquet. Data of others would be large."""

LARGEST = 250_000
"""Bytes of one file. No text of ours is longer, nor a part of a released set; a dataset would be."""

PAGES = {"CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md", "SECURITY.md"}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Wheel and sdist, built from a copy without tags or git, as from an unpacked archive."""
    folder = tmp_path_factory.mktemp("release")
    source = folder / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in (*PAGES, "pyproject.toml"):
        shutil.copy(ROOT / name, source)
    # What must not be in it.
    for name in ("tests", "docs", "examples", "benchmarks"):
        (source / name).mkdir()
        (source / name / "test_x.py").write_text("")
    subprocess.run(["uv", "build", "--quiet", "--out-dir", folder / "dist"], cwd=source, check=True)
    (wheel,), (archive,) = (list((folder / "dist").glob(pattern)) for pattern in ("*.whl", "*.tar.gz"))
    return wheel, archive


@pytest.fixture(scope="module")
def metadata(built):
    with ZipFile(built[0]) as wheel:
        (name,) = [each for each in wheel.namelist() if each.endswith(".dist-info/METADATA")]
        return Parser().parsestr(wheel.read(name).decode())


def test_without_tags_and_without_git_the_version_is_a_development_one(built):
    fallback = PROJECT["tool"]["hatch"]["version"]["fallback-version"]
    assert built[0].name == f"umpirical-{fallback}-py3-none-any.whl"
    assert re.fullmatch(r"\d+\.\d+\.\d+\.dev0", fallback)


def test_the_wheel_holds_the_package_and_its_licence_and_nothing_else(built):
    with ZipFile(built[0]) as wheel:
        files = [each for each in wheel.infolist() if not each.is_dir()]
    tops = Counter(each.filename.split("/")[0].partition("-")[0] for each in files)
    assert set(tops) == {"umpirical"}
    inside = [each for each in files if each.filename.startswith("umpirical/")]
    assert {Path(each.filename).suffix for each in inside} <= KINDS
    assert [each.filename for each in inside if each.file_size > LARGEST] == []
    assert [each.filename for each in inside if "/test_" in each.filename or "/tests/" in each.filename] == []
    assert any(each.filename.endswith(".dist-info/licenses/LICENSE") for each in files)
    ours = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "umpirical").rglob("*") if path.is_file()}
    assert {name for name in ours if "__pycache__" not in name} == {each.filename for each in inside}


def test_the_servers_of_the_tests_are_not_in_the_wheel(built):
    servers = {path.name for path in (ROOT / "tests" / "servers").glob("*.py")}
    assert servers >= {"anthropic_server.py", "batch_server.py", "chat_server.py", "llama_server.py"}
    with ZipFile(built[0]) as wheel:
        names = [name for name in wheel.namelist() if name.endswith(".py")]
        serving = [name for name in names if b"xllamacpp" in wheel.read(name) or b"AppRunner" in wheel.read(name)]
    assert serving == []
    assert [name for name in names if Path(name).name in servers] == []


def test_the_sdist_holds_what_builds_it_and_no_tests_or_data(built):
    with tarfile.open(built[1]) as archive:
        files = {name.partition("/")[2] for name in archive.getnames()}
    beside = {name for name in files if not name.startswith("src/umpirical/")}
    assert beside <= PAGES | {"pyproject.toml", "PKG-INFO", ".gitignore"}
    assert beside >= PAGES | {"pyproject.toml"}


def test_it_says_what_it_is_and_what_it_needs(metadata):
    assert metadata["Name"] == "umpirical"
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Description-Content-Type"] == "text/markdown"
    needed = {re.split(r"[<>=!~\[ ;]", each)[0] for each in metadata.get_all("Requires-Dist") if "extra ==" not in each}
    assert needed == {re.split(r"[<>=!~\[ ;]", each)[0] for each in PROJECT["project"]["dependencies"]}
    assert set(metadata.get_all("Provides-Extra")) == set(PROJECT["project"]["optional-dependencies"])


WITHOUT_EXTRAS = """
import atexit
import sys
from importlib.metadata import packages_distributions

core = set(sys.argv[1].split(","))
foreign = {
    name
    for name, brought in packages_distributions().items()
    if name != "umpirical" and not core & {each.lower().replace("_", "-").replace(".", "-") for each in brought}
}

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in foreign:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

@atexit.register
def tell():
    print("INTEGRATIONS", [each for each in sys.modules if each.startswith("umpirical.integrations")], file=sys.stderr)

sys.meta_path.insert(0, Absent())
from umpirical.cli import main
main(sys.argv[2:])
"""
"""Runs a command as in an environment that has only what `pip install umpirical` brings."""


def test_a_datasheet_and_its_report_need_no_extra_and_import_no_integration(built, tmp_path):
    site = tmp_path / "site"
    with ZipFile(built[0]) as wheel:
        wheel.extractall(site)  # noqa: S202  # our own
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    core = ",".join(name for name, by in brought(lock).items() if by == ["umpirical"])
    lend_stimuli(tmp_path)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", WITHOUT_EXTRAS, core, *words]
        environment = os.environ | {"PYTHONPATH": str(site)}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    done = run("--help")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "INTEGRATIONS []")
    done = run("datasheet", "simulated:careful", "--size", "screen")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (4, "INTEGRATIONS []"), done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    (folder / "datasheet.html").unlink()
    done = run("report", str(folder))
    assert (done.returncode, (folder / "datasheet.html").is_file()) == (4, True), done.stderr
    assert done.stderr.splitlines()[-1] == "INTEGRATIONS []"
    # The view needs no extra either: it is loaded, and refuses an address that others can reach.
    done = run("view", str(tmp_path), "--host", "192.0.2.7")
    assert (done.returncode, "will not expose the view" in done.stderr) == (2, True), done.stderr
    # The absence is real: what needs an extra says which, and it is the integration in the wheel that says so.
    done = run("datasheet", "openai/gpt-4o", "--yes", "--trust")
    assert "umpirical[inspect]" in done.stderr
    assert "umpirical.integrations.inspect.model" in done.stderr.splitlines()[-1]


# The workflows.

each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


def steps(path: Path) -> list[dict]:
    return [step for job in yaml.safe_load(path.read_text())["jobs"].values() for step in job["steps"]]


@each_workflow
def test_an_action_is_pinned_by_its_commit(path):
    used = [step["uses"] for step in steps(path) if "uses" in step]
    assert [each for each in used if not re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", each)] == []


@each_workflow
def test_a_workflow_may_read_and_a_job_no_more_than_it_needs(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    wanted = {name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job}
    allowed = {"docs": {"pages": "write", "id-token": "write"}, "publish": {"id-token": "write"}}
    assert wanted == ({"publish": allowed[path.stem]} if path.stem in allowed else {})


@each_workflow
def test_nothing_from_outside_reaches_a_shell_and_no_secret_is_named(path):
    assert [step["run"] for step in steps(path) if "${{" in step.get("run", "")] == []
    assert "secrets." not in path.read_text()
    assert "pull_request_target" not in path.read_text()


def test_only_a_tag_publishes():
    # YAML 1.1 reads the key `on` as true.
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "publish.yml").read_text())
    assert workflow[True] == {"push": {"tags": ["v*"]}}


def test_the_fast_tests_run_on_every_python_that_is_supported():
    matrix = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())["jobs"]["fast"]["strategy"][
        "matrix"
    ]
    said = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["project"]["classifiers"]))
    assert matrix["python"] == said


def test_the_citation_names_both_papers():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["cff-version"], citation["license"]) == ("1.2.0", "MIT")
    assert [each["title"].partition(":")[0] for each in citation["references"]] == [
        "LLM Judges Have Dark Current",
        "Judge Reliability Harness",
    ]
