"""From what a person types to runs: the same names for every command that reads them."""

import json
import re
from pathlib import Path

import click
import pytest

from tests.stimuli.built import lend_stimuli
from umpirical.cli import cli
from umpirical.domain.errors import UsageError
from umpirical.store.runs import RunStore
from umpirical.study.results import find_run, find_runs, shared_study

RUNS = {"house-1": "house", "house-1.2": "house", "other-2": "other"}


@pytest.fixture
def study(tmp_path):
    folder = tmp_path / "study"
    for name, judge in RUNS.items():
        RunStore(folder / "runs" / name).write_manifest({"judge": {"name": judge}})
    (folder / "umpirical.yaml").write_text("study: s\n")
    return folder


@pytest.mark.parametrize(
    ("target", "runs", "whole"),
    [
        ("", list(RUNS), True),
        ("umpirical.yaml", list(RUNS), True),
        ("runs/other-2", ["other-2"], False),
        ("other-2", ["other-2"], False),
        ("other", ["other-2"], False),
        ("house", ["house-1", "house-1.2"], False),
        ("house-1.2", ["house-1.2"], False),
    ],
)
def test_a_study_a_run_or_a_judge(study, monkeypatch, target, runs, whole):
    found = find_runs(study / target)
    assert ([run.name for run in found.runs], found.whole) == (runs, whole)
    assert found.study.resolve() == study
    # Beside the study file, its folder may be left out.
    monkeypatch.chdir(study)
    assert find_runs(target).runs == tuple(Path("runs") / name for name in runs)


def test_a_name_is_looked_up_even_if_some_folder_is_called_so(study, monkeypatch):
    (study / "house").mkdir()
    monkeypatch.chdir(study)
    assert [run.name for run in find_runs("house").runs] == ["house-1", "house-1.2"]


def test_a_folder_without_runs_has_none(tmp_path):
    assert find_runs(tmp_path) == find_runs(str(tmp_path))
    assert (find_runs(tmp_path).runs, find_runs(tmp_path).whole) == ((), True)


@pytest.mark.parametrize(
    ("target", "fix"),
    [("hose", "did you mean house?"), ("nobody", "judges with runs in .*: house, other"), ("no/such", "no runs in no")],
)
def test_what_is_not_there_is_said_with_what_there_is(study, monkeypatch, target, fix):
    monkeypatch.chdir(study)
    with pytest.raises(UsageError, match="unknown run or judge") as raised:
        find_runs(target)
    assert re.search(fix, raised.value.fix)


@pytest.mark.parametrize("name", ["verdicts.csv", "verdicts.corrected.json", "runs/other-2/datasheet.json"])
def test_a_file_that_is_no_studys_stands_for_no_run(study, monkeypatch, name):
    """Who would cheat: a table beside good runs, for which `umpirical verify` would say ok."""
    (study / name).write_text("{}")
    monkeypatch.chdir(study)
    with pytest.raises(UsageError, match=rf"{name} is not a study file") as raised:
        find_runs(name)
    assert ("use its folder, runs/other-2" if "/" in name else "a study folder or file") in raised.value.fix


def test_a_study_that_all_runs_are_of(study, tmp_path):
    assert shared_study(find_runs(study).runs) == study
    RunStore(tmp_path / "second" / "runs" / "x").write_manifest({"judge": {"name": "x"}})
    assert shared_study([*find_runs(study).runs, tmp_path / "second" / "runs" / "x"]) == Path()


def test_where_one_is_needed_several_are_named(study):
    assert find_run(study / "other").name == "other-2"
    with pytest.raises(UsageError, match="house contains 2 runs; only one can be used") as raised:
        find_run(study / "house")
    assert str(study / "runs" / "house-1.2") in raised.value.fix
    with pytest.raises(UsageError, match="there are no runs yet"):
        find_run(study.parent)


def test_a_damaged_run_does_not_hide_the_others(study):
    (study / "runs" / "house-1" / "run.json").write_text("{")
    assert [run.name for run in find_runs(study / "house").runs] == ["house-1.2"]
    assert [run.name for run in find_runs(study / "house-1").runs] == ["house-1"]
    assert len(find_runs(study).runs) == 3


READERS = ("list", "report", "rescore", "verify", "extend", "export")


def test_every_command_that_reads_runs_takes_the_same_names():
    with click.Context(cli) as context:
        for name in READERS:
            command = cli.get_command(context, name)
            [target] = [each for each in command.params if isinstance(each, click.Argument)]
            assert target.name == "target", name
            for way in ("run folder", "name of a run or a judge", "study"):
                assert way in " ".join(command.help.split()), name


def test_they_read_what_is_named(umpirical, tmp_path, monkeypatch):
    lend_stimuli(tmp_path)
    judges = "".join(
        f"- {{name: {name}, model: {{adapter: simulated, name: {name}}}}}\n" for name in ("coin", "slot-locked")
    )
    (tmp_path / "umpirical.yaml").write_text(f"study: s\ndesign: {{size: screen}}\njudges:\n{judges}")
    assert umpirical("run", tmp_path)[0] == 3
    monkeypatch.chdir(tmp_path)
    [run] = [run.name for run in Path("runs").iterdir() if run.name.startswith("coin-")]
    for target in ("coin", run, f"runs/{run}"):
        assert [state["name"] for state in json.loads(umpirical("list", target, "--json")[1])] == [run]
        assert {check["run"] for check in json.loads(umpirical("verify", target, "--json")[1])} == {run}
        code, out, _ = umpirical("report", target)
        assert (code, f"runs/{run}/datasheet.html" in out) == (3, True)
        assert umpirical("rescore", target)[0] == 0
    for target in (".", "umpirical.yaml"):
        assert len(json.loads(umpirical("list", target, "--json")[1])) == 2
        assert len({check["run"] for check in json.loads(umpirical("verify", target, "--json")[1])}) == 2
        code, out, _ = umpirical("report", target)
        assert (code, out.count("coin-"), out.count("slot-locked-")) == (3, 2, 2)
        assert f"  runs/{run}/datasheet.html\n" in out
        code, _, err = umpirical("rescore", target)
        assert code == 2
        assert "contains 2 runs; only one can be used" in err
    code, _, err = umpirical("list", "con")
    assert (code, "did you mean coin?" in err) == (2, True)
