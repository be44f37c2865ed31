"""The README does what it says: its commands are run, its examples are measured, its tables are compared."""

import json
import shlex

import pytest

from tests.docs.reading import ROOT, blocks, table
from tests.runs.loopback import swayed_answer
from tests.servers.chat_server import ChatServer
from tests.stimuli.built import lend_stimuli
from tests.trusting import trusting
from umpirical.cli import main
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.datasheet.report import NON_CLAIMS
from umpirical.stimuli.controlled.datasheet_set import RECIPES
from umpirical.stimuli.controlled.family_files import builtin_families
from umpirical.study.file import parse_study

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
DEMO, ONE_JUDGE, STUDY = blocks(README, "sh")
MODEL_STUDY, CALLABLE_STUDY, GRADE_STUDY = blocks(README, "yaml")
FRONT_DOOR, JUDGE = blocks(README, "python")
REFUSED, OPEN = 3, 4
"""Exit codes: a judge is not to be used, or there is not enough data on one."""


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


def one_datasheet(folder, judge: str = "") -> dict:
    (path,) = folder.glob(f"runs/{judge}*/datasheet.json")
    return json.loads(path.read_text(encoding="utf-8"))


def test_it_is_short():
    assert len(TEXT.splitlines()) < 180


def test_the_demo_prints_what_the_readme_shows(run_demo):
    assert DEMO.strip() == "umpirical demo"
    _, out = run_demo
    (shown,) = blocks(README, "text")
    assert shown in out
    assert "MISSED" not in out


def test_the_quick_start_leads_to_a_datasheet(run, tmp_path):
    start, check, measure = STUDY.splitlines()
    run(start)
    lend_stimuli(tmp_path / "my-study", size="standard")
    run(check)
    run(measure, REFUSED)
    found = {judge: one_datasheet(tmp_path / "my-study", judge) for judge in ("sound", "locked")}
    assert all(datasheet["complete"] for datasheet in found.values())
    assert found["sound"]["decision"]["verdict"] == "use"
    assert found["locked"]["decision"]["verdict"] == "do-not-use"


def test_one_judge_in_one_command_leads_to_a_datasheet_and_two_to_a_comparison(run, tmp_path):
    lend_stimuli(tmp_path)
    for line in ONE_JUDGE.splitlines():
        run(line, OPEN)
    assert len(list(tmp_path.glob("runs/*/datasheet.html"))) == 2
    assert len(list(tmp_path.glob("comparisons/*/comparison.html"))) == 1


def test_the_grade_example_is_measured(run, tmp_path):
    lend_stimuli(tmp_path, size="standard")
    (tmp_path / "umpirical.yaml").write_text(GRADE_STUDY)
    run("umpirical run .")
    assert one_datasheet(tmp_path)["judge"]["kind"] == "grade"


def test_the_model_example_measures_a_model_on_a_server(run, tmp_path, monkeypatch):
    assert parse_study(MODEL_STUDY, tmp_path).spec.judges[0].model.adapter == "openai-compatible"
    monkeypatch.setenv("MY_API_KEY", "any")
    with ChatServer(swayed_answer) as server:
        lend_stimuli(tmp_path, size="standard")
        text = MODEL_STUDY.replace("http://127.0.0.1:8000/v1", server.base_url)
        (tmp_path / "umpirical.yaml").write_text(text)
        run("umpirical run . --yes", REFUSED)
        assert server.asked.total() == RECIPES["standard"].calls
    assert server.bodies[0]["model"] == "the-name-on-the-server"
    assert one_datasheet(tmp_path)["complete"]


def test_the_front_door_opens(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(FRONT_DOOR, {"__name__": "__main__"})  # noqa: S102  # it is ours
    printed = capsys.readouterr().out.strip()
    assert f"print(report.decision)  # {printed}\n" in FRONT_DOOR


def test_the_callable_example_is_measured_and_found_out(run, tmp_path):
    assert parse_study(CALLABLE_STUDY, tmp_path).spec.judges[0].callable == "my_judge:judge"
    lend_stimuli(tmp_path, size="standard")
    (tmp_path / "my_judge.py").write_text(JUDGE)
    (tmp_path / "umpirical.yaml").write_text(CALLABLE_STUDY)
    run("umpirical run . --yes", REFUSED)
    found = [finding for finding in one_datasheet(tmp_path)["findings"] if finding in TEXT]
    assert len(found) == 1


def test_the_sizes_and_the_families_are_as_many_as_it_says():
    families = builtin_families()
    tasks, domains = sum(len(family.sets) for family in families), len({family.domain for family in families})
    assert f"{len(families)} task families ship, {tasks} tasks in {domains} domains." in TEXT
    sizes = {name: f"{size.calls:,}" for name, size in RECIPES.items()}
    assert f"`screen` ({sizes['screen']} calls), `paper` ({sizes['paper']})" in TEXT
    assert f"`standard` ({sizes['standard']}, the default) and\n`full` ({sizes['full']})" in TEXT


BUILT_IN = [spec for spec in MEASURES if spec.compute.__module__.startswith("umpirical.")]


def test_the_table_of_measures_is_the_registry():
    assert table(ROOT / "docs" / "reference" / "measures.md", "measure") == [
        [f"`{spec.name}`", spec.about, spec.worse, spec.scale, ", ".join(spec.kinds)] for spec in BUILT_IN
    ]


def test_the_measures_that_the_readme_names_are_in_the_registry():
    rows = [[f"`{spec.name}`", spec.about, spec.worse] for spec in BUILT_IN]
    shown = table(README, "measure")
    assert len(shown) >= 8
    assert [row for row in rows if row in shown] == shown


@pytest.mark.parametrize("claim", NON_CLAIMS)
def test_what_a_datasheet_does_not_claim_the_readme_does_not_either(claim):
    # The README may take two sentences where the datasheet has a semicolon.
    assert claim.replace("; it is", ". It is") in TEXT


def test_the_folders_it_names_are_there():
    for cell, _ in table(README, "folder"):
        first, *rest = [part.strip("[]`").partition("]")[0].strip("`") for part in cell.partition("(")[0].split(", ")]
        parent = (ROOT / first).parent
        assert all((parent / name).exists() for name in (first.rpartition("/")[2], *rest)), cell


def test_the_picture_is_small():
    assert (ROOT / "docs" / "images" / "datasheet.png").stat().st_size < 300_000
