"""`umpirical compare`: any number of judges, and what is refused."""

import json
import shutil
from pathlib import Path

import pytest

from tests.stimuli.built import lend_stimuli
from umpirical.protocols.datasheet.comparison import Comparison
from umpirical.protocols.datasheet.record import Datasheet

JUDGES = ("careful", "slot-locked", "coin")

HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m"


def study(folder: Path, *, names=JUDGES, size="screen", profiles=JUDGES):
    judges = [
        {"name": name, "model": {"adapter": "simulated", "name": profile}}
        for name, profile in zip(names, profiles, strict=True)
    ]
    text = json.dumps({"study": "three", "judges": judges, "design": {"size": size}})
    (folder / "umpirical.yaml").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Three judges on the same stimuli, measured once; whoever changes them takes a copy."""
    from umpirical import run

    folder = tmp_path_factory.mktemp("measured")
    lend_stimuli(folder)
    study(folder)
    run(folder, trust=True, progress=False)
    return folder


@pytest.fixture
def folder(measured, tmp_path):
    shutil.copytree(measured, tmp_path / "study")
    return tmp_path / "study"


def record(folder):
    [path] = folder.glob("comparisons/*/comparison.json")
    return Comparison.model_validate_json(path.read_text(encoding="utf-8"))


def test_all_judges_of_a_study_are_compared(umpirical, folder):
    code, out, _ = umpirical("compare", folder)
    assert code == 0
    found = record(folder)
    assert [side.judge.name for side in found.judges] == sorted(JUDGES)
    assert {(one.first, one.second) for one in found.differences} == {(0, 1), (0, 2), (1, 2)}
    assert "ranking: No judge. Do not use: coin, slot-locked. Not enough data: careful." in out
    assert "comparison.html" in out
    # What costs nothing is called free wherever the page names its price.
    page = next(folder.glob("comparisons/*/comparison.html")).read_text(encoding="utf-8")
    assert "<td>not known</td></tr>" not in page.partition("Cost and accuracy")[0]
    assert "<td>free</td></tr>" in page.partition("Cost and accuracy")[0]
    told = {
        (one.measure, found.judges[one.first].judge.name, one.words)
        for one in found.differences
        if one.second == 2 and one.stratum == ""
    }
    assert ("dark-current", "careful", "first better") in told
    assert ("positional-false-preference", "careful", "first better") in told


def test_every_limited_share_is_tested_for_each_pair(umpirical, folder):
    umpirical("compare", folder)
    primary = {(one.measure, one.stratum) for one in record(folder).differences if one.family == "primary"}
    assert primary >= {
        ("dark-current", ""),
        ("raw-false-preference", ""),
        ("stable-cross-sensitivity", ""),
        ("positional-false-preference", ""),
        ("target-sensitivity", "1"),
        ("target-sensitivity", "5"),
        ("task-following", "5"),
        ("task-blind-preference", ""),
        ("abstention-rate", ""),
        ("unparsed-rate", ""),
        ("failure-rate", ""),
    }


def test_the_decisions_are_those_of_the_datasheets(umpirical, folder):
    """A comparison takes fewer measures, and has to come to the same."""
    umpirical("compare", folder)
    own = {
        sheet.judge.name: sheet.decision.verdict
        for path in folder.glob("runs/*/datasheet.json")
        for sheet in [Datasheet.model_validate_json(path.read_text(encoding="utf-8"))]
    }
    found = record(folder)
    assert {side.judge.name: side.decision.verdict for side in found.judges} == own
    [pick] = [pick for pick in found.picks if pick.own]
    assert dict(zip(sorted(JUDGES), pick.verdicts, strict=True)) == own
    sheet = Datasheet.model_validate_json(next(folder.glob("runs/coin-*/datasheet.json")).read_text(encoding="utf-8"))
    assert found.judges[1].profile == sheet.profile


def test_runs_are_named_in_any_way_and_stand_in_the_order_of_the_command(umpirical, folder):
    run = next(folder.glob("runs/slot-locked-*"))
    code, out, _ = umpirical("compare", run, folder / "careful", "--out", folder / "here", "--json")
    assert code == 0
    assert [side["judge"]["name"] for side in json.loads(out)["judges"]] == ["slot-locked", "careful"]
    assert {path.name for path in (folder / "here").iterdir()} == {
        f"comparison.{end}" for end in ("json", "html", "md")
    }


def test_the_same_runs_give_the_same_bytes(umpirical, folder):
    texts = []
    for place in ("one", "two"):
        umpirical("compare", folder, "--out", folder / place)
        texts.append({path.name: path.read_bytes() for path in (folder / place).iterdir()})
    assert texts[0] == texts[1]


def test_a_reference_a_policy_and_a_margin_may_be_named(umpirical, folder):
    code, out, _ = umpirical(
        "compare", folder, "--reference", "careful", "--policy", "ci-smoke", "--margin", "0.3", "--json"
    )
    found = json.loads(out)
    assert code == 0
    assert [side["reference"] for side in found["judges"]] == [True, False, False]
    assert found["policy"] == "ci-smoke"
    assert {one["margin"] for one in found["differences"]} == {0.3}
    assert found["picks"][0]["picked"] == []
    assert "It is not ground truth" in found["findings"][0]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["careful"], "a comparison needs at least two runs"),
        (["careful", "careful"], "a comparison needs at least two runs"),
        (["careful", "nobody"], "unknown run or judge"),
        (["careful", "coin", "--reference", "slot-locked"], "is not one of the compared judges"),
        (["careful", "coin", "--policy", "none"], "unknown policy 'none'"),
        (["careful", "coin", "--margin", "1.5"], "not in the range"),
    ],
)
def test_what_makes_no_sense_is_refused(umpirical, folder, arguments, problem):
    named = [folder / one if one in (*JUDGES, "nobody") and place < 2 else one for place, one in enumerate(arguments)]
    code, _, err = umpirical("compare", *named)
    assert code == 2
    assert problem in err
    assert not (folder / "comparisons").exists()


def test_runs_on_other_stimuli_are_refused_with_the_remedy(umpirical, folder):
    code, _, _ = umpirical("datasheet", "simulated:short-sighted", "--size", "paper", "--folder", folder / "other")
    assert code in {3, 4}
    code, _, err = umpirical("compare", folder, folder / "other")
    assert code == 2
    assert "the runs have different test cases" in err
    assert "short-sighted" in err
    assert "with the same tasks, size and seed" in err


def test_runs_for_different_policies_need_one_to_be_named(umpirical, folder):
    umpirical("datasheet", "simulated:short-sighted", "--size", "screen", "--policy", "claim", "--folder", folder)
    code, _, err = umpirical("compare", folder)
    assert code == 2
    assert "the runs have different policies" in err
    assert "--policy" in err
    assert umpirical("compare", folder, "--policy", "claim")[0] == 0


@pytest.mark.parametrize("part", ["responses", "stimuli", "plan"])
def test_a_run_edited_on_disk_is_refused(umpirical, folder, part):
    run = next(folder.glob("runs/careful-*"))
    files = {
        "responses": sorted(run.rglob("responses/**/*.parquet")),
        "stimuli": sorted((folder / "stimuli").rglob("*.parquet")) or sorted((folder / "stimuli").rglob("*.jsonl*")),
        "plan": sorted(run.rglob("plan/*.parquet")),
    }[part]
    damaged = bytearray(files[0].read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    files[0].write_bytes(damaged)
    code, _, err = umpirical("compare", folder)
    assert code == 1
    assert "has been changed" in err
    assert "umpirical verify" in err
    assert not (folder / "comparisons").exists()


def without_answers(folder, judge):
    run = next(folder.glob(f"runs/{judge}-*"))
    for path in run.glob("responses/*"):
        path.unlink()
    return run


def test_a_run_that_is_not_complete_is_said(umpirical, folder):
    run = without_answers(folder, "careful")
    code, out, _ = umpirical("compare", run, folder / "coin")
    assert code == 0
    assert "Not enough data: careful." in out
    found = record(folder)
    assert [side.complete for side in found.judges] == [False, True]
    assert {one.words for one in found.differences} == {"not comparable"}
    assert all(0 not in pick.picked for pick in found.picks)
    page = next(folder.glob("comparisons/*/comparison.html")).read_text(encoding="utf-8")
    assert "Incomplete runs: careful." in page


def test_a_run_of_a_study_that_has_not_begun_is_excluded_aloud(umpirical, folder):
    run = without_answers(folder, "careful")
    code, _, err = umpirical("compare", folder)
    assert code == 0
    assert f"{run.name} is excluded: it has no replies yet" in err
    assert [side.judge.name for side in record(folder).judges] == ["coin", "slot-locked"]


def test_from_python_the_reports_themselves_are_compared(measured):
    import umpirical

    reports = [umpirical.load(path) for path in sorted(measured.glob("runs/*"))]
    found = umpirical.compare(*reports, reference="careful")
    assert found.judges == sorted(JUDGES)
    assert found.picks["ranking"] == []
    assert "careful" in repr(found)
    assert "<iframe sandbox" in found._repr_html_()
    assert json.loads(found.json())["format"] == "judge-comparison/3"
    assert not found.folder.exists()


def test_a_judge_renamed_on_disk_is_refused_and_its_name_does_nothing_to_the_terminal(umpirical, folder):
    for path in folder.glob("runs/coin-*/run.json"):
        text = json.loads(path.read_text(encoding="utf-8"))
        text["judge"]["name"] = HOSTILE
        path.write_text(json.dumps(text), encoding="utf-8")
    code, out, err = umpirical("compare", folder)
    assert code == 1
    assert "has been changed" in err
    assert "\x1b" not in out + err
    assert not (folder / "comparisons").exists()


def test_cost_and_accuracy_are_said_of_judges_scoring_methods_and_juries(umpirical, folder):
    _, out, _ = umpirical("compare", folder)
    costs = record(folder).costs
    options = {one.sign: one for one in costs.options}
    # Log-probabilities were not recorded: of the scoring methods there is the one of both orders.
    assert list(options) == [
        *sorted(JUDGES),
        *(f"{name} both-orders" for name in sorted(JUDGES)),
        " + ".join(sorted(JUDGES)),
    ]
    assert {one.price.basis for one in costs.options} == {"free"}
    assert {one.accuracy.denominator for one in costs.options} == {304}
    assert len(costs.differences) == 21
    careful, coin = options["careful"], options["coin"]
    assert (careful.name, coin.name, coin.standing) == ("careful", "coin", "dominated")
    assert careful.accuracy.interval.low > coin.accuracy.interval.high
    assert "is significantly more accurate than: coin, slot-locked." in out


def test_a_judge_that_is_the_ceiling_sits_on_no_jury(umpirical, folder):
    umpirical("compare", folder, "--reference", "careful")
    assert [one.sign for one in record(folder).costs.options if one.kind == "jury"] == []


def test_what_a_run_could_have_seen_is_said_on_the_terminal_and_in_its_documents(umpirical, folder):
    [run] = [run for run in (folder / "runs").iterdir() if run.name.startswith("careful")]
    sheet = Datasheet.model_validate_json((run / "datasheet.json").read_text(encoding="utf-8"))
    [seen] = [one for one in sheet.smallest_differences if one.measure == "dark-current"]
    [dark] = [one for one in sheet.measures if (one.name, one.stratum, one.variant) == ("dark-current", "", "baseline")]
    assert (seen.units, seen.clusters) == (dark.result.denominator, dark.result.clusters)
    assert seen.above > 0
    said = "At this size, a judge must beat a threshold by "
    assert said in (run / "datasheet.md").read_text(encoding="utf-8")
    assert "Statistical power" in (run / "datasheet.html").read_text(encoding="utf-8")
    _, out, _ = umpirical("run", folder, "--judge", "careful")
    assert said in out
