"""`umpirical datasheet`: one judge, one command."""

import json
from pathlib import Path

import pytest

from tests.stimuli.built import lend_stimuli
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.stimuli.controlled.datasheet_set import RECIPES
from umpirical.stimuli.controlled.family_files import filler_tasks

SCREEN = ("--size", "screen")
CALLS = RECIPES["screen"].calls
REFUSED, OPEN = 3, 4
"""Exit codes: a screen settles that a judge is bad, never that it is sound."""


@pytest.fixture
def folder(tmp_path):
    lend_stimuli(tmp_path)
    return tmp_path


def datasheets(folder: Path):
    """Of every run in a folder, by judge."""
    found = [Datasheet.model_validate_json(path.read_text()) for path in sorted(folder.glob("runs/*/datasheet.json"))]
    return {datasheet.judge.name: datasheet for datasheet in found}


# From nothing to a datasheet.


def test_a_simulated_judge_is_measured_in_one_command_from_an_empty_folder(umpirical, tmp_path):
    code, out, err = umpirical("datasheet", "simulated:careful", *SCREEN, "--folder", tmp_path)
    assert code == OPEN
    assert f"{CALLS}/{CALLS}" in err
    [run] = (tmp_path / "runs").iterdir()
    for name in ("datasheet.json", "datasheet.html", "datasheet.md"):
        assert (run / name).stat().st_size > 1000
    assert str(run / "datasheet.html") in out
    datasheet = datasheets(tmp_path)["careful"]
    assert datasheet.complete
    assert (datasheet.run.trials, len(datasheet.run.tasks), datasheet.run.variants) == (CALLS, 24, ["baseline"])
    assert {gate.name for gate in datasheet.stimuli.gates} >= {"sound-tasks", "trivial-judges", "both-orders"}
    assert all(gate.passed for gate in datasheet.stimuli.gates)


def test_the_result_as_json(umpirical, folder):
    code, out, _ = umpirical("datasheet", "simulated:slot-locked", *SCREEN, "--folder", folder, "--json")
    assert code == REFUSED
    [summary] = json.loads(out)
    assert (summary["judge"], summary["complete"], summary["trials"]) == ("slot-locked", True, CALLS)
    assert Path(summary["datasheet"]).is_file()
    assert Path(summary["html"]).is_file()
    assert any("It follows the first position (position effect" in finding for finding in summary["findings"])


def test_the_same_command_again_asks_nothing(umpirical, folder):
    arguments = ("datasheet", "simulated:coin", *SCREEN, "--folder", folder, "--json")
    first = umpirical(*arguments)
    again = umpirical(*arguments)
    assert first[:2] == again[:2]
    assert f"{CALLS}/{CALLS}" in first[2]
    assert f"{CALLS}/{CALLS}" not in again[2]
    assert len(list((folder / "runs").iterdir())) == 1


def test_repeats_are_asked(umpirical, folder):
    code, out, _ = umpirical("datasheet", "simulated:coin", *SCREEN, "--folder", folder, "--repeats", "2", "--json")
    assert (code, json.loads(out)[0]["trials"]) == (REFUSED, 2 * CALLS)


def test_both_variants_are_asked(umpirical, folder):
    code, _, _ = umpirical("datasheet", "simulated:surface-swayed", *SCREEN, "--folder", folder, "--variant", "strict")
    assert code in {REFUSED, OPEN}
    datasheet = datasheets(folder)["surface-swayed"]
    assert (datasheet.run.variants, datasheet.run.trials) == (["baseline", "strict"], 2 * CALLS)
    ties = {m.variant: m.result.value for m in datasheet.measures if (m.name, m.stratum) == ("tie-rate", "0")}
    assert ties["strict"] > ties["baseline"]


def test_an_variant_named_twice_or_baseline_is_asked_once(umpirical, folder):
    variants = ("--variant", "strict", "--variant", "baseline", "--variant", "strict")
    code, out, _ = umpirical("datasheet", "simulated:careful", *SCREEN, "--folder", folder, *variants, "--json")
    assert (code, json.loads(out)[0]["trials"]) == (OPEN, 2 * CALLS)


# Against another judge.


def test_two_judges_on_one_page(umpirical, folder):
    arguments = ("datasheet", "simulated:careful", "--against", "simulated:coin", *SCREEN, "--folder", folder)
    code, out, _ = umpirical(*arguments)
    assert code == REFUSED
    [place] = (folder / "comparisons").iterdir()
    assert str(place / "comparison.html") in out
    for name in ("comparison.json", "comparison.html", "comparison.md"):
        assert (place / name).stat().st_size > 1000
    assert set(datasheets(folder)) == {"careful", "coin"}
    comparison = json.loads((place / "comparison.json").read_text())
    assert "careful" in json.dumps(comparison)
    code, out, _ = umpirical(*arguments, "--json")
    one, other, page = json.loads(out)
    assert (one["judge"], other["judge"]) == ("careful", "coin")
    assert Path(page["comparison"]) == place / "comparison.html"


PAPER = """\
study: papers
tasks: [TASKS]
judges:
  - {name: llama-8b, model: {adapter: simulated, name: llama-8b}}
  - {name: qwen-32b, model: {adapter: simulated, name: qwen-32b}}
"""


@pytest.mark.heavy
def test_the_papers_study_in_one_command(umpirical, tmp_path):
    """Of two tasks; `tests/golden/test_paper_replication.py` has the counts of all ten."""
    tasks = ", ".join(task.id for task in filler_tasks()[:10:5])
    (tmp_path / "umpirical.yaml").write_text(PAPER.replace("TASKS", tasks))
    arguments = ("datasheet", "llama-8b", "qwen-32b", "--as", "paper", "--folder", tmp_path)
    code, out, _ = umpirical(*arguments, "--dry-run")
    calls = (620 + 240) * 2 // 10
    assert (code, f"{2 * calls:,} calls" in out) == (0, True)
    code, out, _ = umpirical(*arguments)
    assert code in {REFUSED, OPEN}
    for name, sheet in datasheets(tmp_path).items():
        assert (sheet.complete, sheet.run.trials, sheet.run.steps) == (True, calls, {"strict": [0, 1, 5]})
        assert sheet.run.command == f"umpirical datasheet {name} --as paper"
        manifest = json.loads((next((tmp_path / "runs").glob(f"{name}-*")) / "run.json").read_text())
        assert (manifest["graded"], manifest["layout"]) == ("filler", "fixed")
    [page] = tmp_path.glob("comparisons/*/comparison.html")
    assert str(page) in out
    text = page.read_text()
    for figure in ("axes", "ladders", "bars", "moves", "orders"):
        assert f'aria-labelledby="{figure}-t {figure}-d"' in text
    assert "As in the Dark Current paper" in text


# Which judge.


STUDY = """\
study: mine
seed: 1
judges:
  - name: house
    model: {adapter: simulated, name: short-sighted}
  - name: other
    model: {adapter: simulated, name: coin}
design: {size: full, repeats: 3}
"""


def test_a_judge_of_the_study_file_by_its_name(umpirical, folder):
    (folder / "umpirical.yaml").write_text(STUDY)
    code, out, _ = umpirical("datasheet", "house", *SCREEN, "--folder", folder, "--variant", "strict", "--json")
    assert code == OPEN
    [summary] = json.loads(out)
    assert (summary["judge"], summary["trials"]) == ("house", 2 * CALLS)
    datasheet = datasheets(folder)["house"]
    assert "short-sighted" in datasheet.judge.model
    assert "other" not in datasheets(folder)


def test_the_seed_and_the_tasks_of_the_study_file_hold(umpirical, tmp_path):
    (tmp_path / "umpirical.yaml").write_text(STUDY.replace("seed: 1", "seed: 9\ntasks: [jam-batch, thunder-gap]"))
    code, _, err = umpirical("datasheet", "house", *SCREEN, "--folder", tmp_path)
    assert code == OPEN, err
    run = datasheets(tmp_path)["house"].run
    assert run.seed == 9
    assert {task.partition(".")[0] for task in run.tasks} == {"jam-batch", "thunder-gap"}


def test_a_judge_in_a_file_of_its_own(umpirical, folder):
    (folder / "terse.yaml").write_text("model: {adapter: simulated, name: coin}\ndecoding: {temperature: 0.7}\n")
    code, out, _ = umpirical("datasheet", "terse.yaml", *SCREEN, "--folder", folder, "--json")
    assert (code, json.loads(out)[0]["judge"]) == (REFUSED, "terse")
    assert datasheets(folder)["terse"].judge.decoding["temperature"] == 0.7


def test_a_judge_that_grades_in_a_file_of_its_own(umpirical, folder):
    (folder / "grader.yaml").write_text(
        "kind: grade\nmodel: {adapter: simulated, name: steady-grader}\n"
        "scale: {kind: ordinal, labels: ['1', '2', '3', '4', '5']}\n"
    )
    code, _, err = umpirical("datasheet", "grader.yaml", *SCREEN, "--folder", folder)
    assert code == OPEN, err
    datasheet = datasheets(folder)["grader"]
    assert (datasheet.judge.kind, datasheet.complete) == ("grade", True)


def test_a_function_is_named_by_module_and_needs_no_price(umpirical, folder):
    (folder / "one_liner.py").write_text("def judge(task, first, second):\n    return 'tie'\n")
    arguments = ("datasheet", "one_liner:judge", *SCREEN, "--folder", folder)
    code, _, err = umpirical(*arguments)
    assert code == REFUSED, err
    assert "own costs are not visible" in err
    assert list(datasheets(folder)) == ["one_liner-judge"]


# What cannot be done as written.


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["simulated:careful", "--size", "huge"], ["invalid size 'huge'", "screen, paper, standard, full"]),
        (["simulated:nobody"], ["unknown simulated judge 'nobody'", "careful"]),
        (["nobody"], ["unknown judge 'nobody'", "judge.yaml", "module:function", "provider/model", "simulated:NAME"]),
        (["simulated:careful", "--against", "nobody"], ["unknown judge 'nobody'"]),
        (["nobody.yaml"], ["nobody.yaml", "no such file", "fix: name a judge in umpirical.yaml"]),
        (["no_such_module:judge", "--yes"], ["cannot import the judge no_such_module:judge"]),
        (["beside", "--yes"], ["unknown judge 'beside'", "in that file: beside.py:judge or beside.py:other"]),
        (["beside.py", "--yes"], ["unknown judge 'beside.py'", "beside.py:judge or beside.py:other"]),
        (["beside.py:jugde", "--yes"], ["no 'jugde' in beside.py", "fix: choose one of: judge, other"]),
        (["simulated:careful", "--policy", "release"], ["the policy 'release' is called 'adjudication' now"]),
        (["simulated:careful", "--policy", "rankin"], ["rankin", "did you mean ranking?"]),
        (["simulated:careful", "--policy", "house"], ["one of ranking, adjudication, ci-smoke, claim"]),
        (["simulated:careful", "--variant", "lenient"], ["lenient", "compare-strict"]),
        (["simulated:careful", "--against", "simulated:careful"], ["two judges are named"]),
        (["simulated:no such"], ["unknown simulated judge 'no such'"]),
        (
            ["umpirical.stimuli.controlled.trivial:longer", "--variant", "strict"],
            ["no prompt for prompt variant strict"],
        ),
        (["simulated:careful", "--repeats", "0"], ["--repeats"]),
        (["simulated:careful", "--as", "paper", "--size", "full"], ["the design paper has its own size", "omit size"]),
    ],
)
def test_what_is_not_known_is_answered_with_what_is(umpirical, folder, arguments, words):
    (folder / "beside.py").write_text("def judge(task, first, second): ...\nasync def other(): ...\ndef _own(): ...\n")
    size = [] if "--size" in arguments else SCREEN
    code, _, err = umpirical("datasheet", *arguments, *size, "--folder", folder)
    assert code == 2, err
    assert all(word in err for word in words), err
    assert "Traceback" not in err
    assert not list(folder.glob("runs/*/datasheet.json"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- 1\n", "mapping"),
        ("kind: rank\nmodel: {adapter: simulated, name: coin}\n", "kind"),
        ("modle: {adapter: simulated, name: coin}\n", "modle"),
        ("callable: 'sk-abcdefghijklmnopqrstuvwx'\n", "API key"),
    ],
)
def test_a_judge_file_that_is_wrong_is_answered_with_its_name(umpirical, folder, text, words):
    (folder / "judge.yaml").write_text(text)
    code, _, err = umpirical("datasheet", "judge.yaml", *SCREEN, "--folder", folder)
    assert code == 2, err
    assert "judge.yaml" in err
    assert words in err
