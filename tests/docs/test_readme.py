"""The README does what it says: its commands are run, its examples are measured, its tables are compared."""

import json
import shlex

import pytest

from tests.docs.reading import ROOT, blocks, table
from tests.stimuli.built import lend_stimuli
from tests.trusting import trusting
from umpirical.cli import main
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.datasheet.report import NON_CLAIMS
from umpirical.stimuli.controlled.datasheet_set import RECIPES

README, CONTRIBUTING = ROOT / "README.md", ROOT / "CONTRIBUTING.md"
TEXT = README.read_text(encoding="utf-8")
INSTALL, START = blocks(README, "sh")
(FRONT_DOOR,) = blocks(README, "python")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs a line of the README in an empty folder, and holds it to its exit code; returns standard output."""
    monkeypatch.chdir(tmp_path)

    def run_line(line: str, code: int = 0) -> str:
        program, *arguments = shlex.split(line)
        assert program == "umpirical"
        with pytest.raises(SystemExit) as stop:
            main(trusting(arguments))
        shown = capsys.readouterr()
        assert (stop.value.code or 0) == code, shown.err
        return shown.out

    return run_line


def test_it_is_short():
    assert len(TEXT.splitlines()) < 110


def test_its_commands_lead_to_verdicts(run, tmp_path, run_demo):
    demo, one_judge, view = START.splitlines()
    assert (demo, view) == ("umpirical demo", "umpirical view")
    assert "MISSED" not in run_demo[1]
    lend_stimuli(tmp_path, size="decided")
    run(one_judge)
    (path,) = tmp_path.glob("runs/*/datasheet.json")
    assert json.loads(path.read_text(encoding="utf-8"))["decision"]["verdict"] == "use"


@pytest.mark.parametrize("line", ["run --help", "extend --help", "measure --help", "correct --help", "gate --help"])
def test_the_commands_it_names_are_there(run, line):
    command = line.partition(" ")[0]
    assert command == "run" or f"`umpirical {command}" in TEXT
    assert "Usage:" in run(f"umpirical {line}")


def test_the_front_door_opens(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(FRONT_DOOR, {"__name__": "__main__"})  # noqa: S102  # it is ours
    printed = capsys.readouterr().out.strip()
    assert f"print(report.decision)  # {printed}\n" in FRONT_DOOR


def test_the_sizes_are_those_there_are():
    sizes = [(name.strip("`"), calls) for name, calls, _ in table(README, "size")]
    assert sizes == [(name, f"{size.calls:,}") for name, size in RECIPES.items()]


BUILT_IN = [spec for spec in MEASURES if spec.compute.__module__.startswith("umpirical.")]


def test_the_table_of_measures_is_the_registry():
    assert table(ROOT / "docs" / "reference" / "measures.md", "measure") == [
        [f"`{spec.name}`", spec.about, spec.worse, spec.scale, ", ".join(spec.kinds)] for spec in BUILT_IN
    ]


@pytest.mark.parametrize("claim", NON_CLAIMS)
def test_what_a_datasheet_does_not_claim_the_readme_does_not_either(claim):
    # The README may take two sentences where the datasheet has a semicolon.
    assert claim.replace("; it is", ". It is") in TEXT


def test_the_folders_it_names_are_there():
    for cell, _ in table(CONTRIBUTING, "folder"):
        first, *rest = [part.strip("[]`").partition("]")[0].strip("`") for part in cell.partition("(")[0].split(", ")]
        parent = (ROOT / first).parent
        assert all((parent / name).exists() for name in (first.rpartition("/")[2], *rest)), cell


def test_the_picture_is_small():
    assert (ROOT / "docs" / "images" / "card.png").stat().st_size < 300_000
