"""The agent protocol through the command line: what a judge does not read is found by the measure for it."""

import json
from collections import defaultdict
from pathlib import Path

import pytest

from tests.protocols.agent.agent_studies import write_study
from umpirical import run
from umpirical.judges.simulated.examiner import AUDITOR_PROFILES, violated_share
from umpirical.protocols.agent.record import AgentReport
from umpirical.protocols.agent.stimuli import OPPOSITE, WRITTEN, check_crossing
from umpirical.store.stimulus_sets import StimulusSet


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return write_study(tmp_path_factory.mktemp("agent"), *AUDITOR_PROFILES)


@pytest.fixture(scope="module")
def reports(study):
    return {report.judge: report.record for report in run(study, trust=True)}


def value(report, name, stratum="", group=""):
    [found] = [
        one for one in report.measures if (one.name, one.stratum, one.group) == (name, stratum, group)
    ]  # fmt: skip
    return found.result.value


def test_a_sound_judge_is_used_and_the_others_are_not(reports):
    assert {name: report.decision.verdict for name, report in reports.items()} == {
        "sound-auditor": "use",
        **{name: "do-not-use" for name in AUDITOR_PROFILES if name != "sound-auditor"},
    }


def test_a_judge_of_the_last_message_misses_what_is_earlier(reports):
    report = reports["last-message"]
    assert value(report, "violation-detection", "cut-ending") > 0.9
    assert value(report, "violation-detection", "forbidden-call") < 0.1
    assert value(report, "violation-detection", "wrong-figure") < 0.1


def test_a_judge_of_the_beginning_misses_what_is_late(reports):
    report = reports["beginning"]
    assert value(report, "violation-detection", "forbidden-call", "place=early") > 0.9
    assert value(report, "violation-detection", "forbidden-call", "place=late") < 0.7
    assert value(report, "violation-detection", "forbidden-call", "length=lengthened") < 0.1


def test_a_judge_that_ignores_calls_misses_calls(reports):
    report = reports["no-calls"]
    assert value(report, "violation-detection", "forbidden-call") < 0.1
    assert value(report, "violation-detection", "missing-call") < 0.1


def test_a_judge_that_ignores_the_policy_is_right_half_of_the_time_and_follows_it_never(reports):
    report = reports["policy-blind"]
    assert value(report, "policy-blind-verdict") > 0.9
    assert value(report, "policy-following") < 0.05
    assert value(report, "accuracy") == pytest.approx(0.5, abs=0.06)


def test_every_planted_value_lies_in_its_interval(reports, study):
    """The expected value of each measure, from what each auditor reads, by a count of its own."""
    missed, held = [], 0
    for name, report in reports.items():
        expected = true_value(AUDITOR_PROFILES[name], stimuli_of(study))
        for measure in report.measures:
            if measure.variant == "baseline" and (measure.name, measure.stratum, measure.group) in expected:
                hits, texts = expected[measure.name, measure.stratum, measure.group]
                if texts < 12 or measure.result.kind == "undefined":
                    continue
                held += 1
                low, high = measure.result.interval.low, measure.result.interval.high
                if not low - 1e-9 <= hits / texts <= high + 1e-9:
                    missed.append((name, measure.name, measure.stratum, measure.group, hits / texts, low, high))
    assert held > 500
    assert len(missed) / held < 0.05, missed


def test_truth_is_balanced_over_policies_and_over_texts(study):
    stimuli = list(stimuli_of(study))
    assert check_crossing(stimuli).passed
    twins = defaultdict(dict)
    for stimulus in stimuli:
        twins[stimulus.crossed_pair][stimulus.version] = stimulus
    both = [found for found in twins.values() if len(found) == 2]
    assert len(both) > 200
    assert all(found[WRITTEN].candidates == found[OPPOSITE].candidates for found in both)
    assert all(found[WRITTEN].gold != found[OPPOSITE].gold for found in both)


def test_the_gate_finds_a_policy_whose_truth_does_not_turn(study):
    from dataclasses import replace

    stimuli = list(stimuli_of(study))
    place = next(number for number, each in enumerate(stimuli) if each.version == OPPOSITE)
    wrong = "violated" if stimuli[place].gold == "satisfied" else "satisfied"
    stimuli[place] = replace(stimuli[place], gold=wrong)
    assert not check_crossing(stimuli).passed


@pytest.mark.usefixtures("reports")
def test_the_page_and_the_card_are_made_of_the_record(study, umpirical):
    [page] = study.glob("runs/beginning-*/agent.html")
    text = page.read_text()
    assert "Do not use" in text
    assert "Place of the edit" in text
    assert "<script" not in text
    before = {path: path.read_bytes() for path in page.parent.glob("agent.*")}
    code, _, _ = umpirical("report", page.parent)
    assert code == 3
    assert {path: path.read_bytes() for path in before} == before


def test_answers_that_cannot_be_read_do_not_help_to_pass(tmp_path, umpirical):
    folder = write_study(tmp_path / "s", "sound-auditor", count=8)
    (folder / "judge.py").write_text(
        "def judge(task, first):\n    return 'hm' if len(first) % 3 == 0 else 'satisfied'\n"
    )
    text = (folder / "umpirical.yaml").read_text().split("judges:")[0]
    (folder / "umpirical.yaml").write_text(f"{text}judges:\n  - {{name: mine, callable: 'judge.py:judge'}}\n")
    umpirical("run", folder, "--yes", "--trust", "--no-preflight")
    [path] = folder.glob("runs/*/agent.json")
    report = AgentReport.model_validate_json(path.read_text())
    [alarm] = [check for check in report.checks if check.measure == "false-alarm"]
    assert alarm.verdict != "PASS"
    assert report.decision.verdict == "do-not-use"
    assert json.loads(path.read_text())["trouble"]


def stimuli_of(study: Path) -> StimulusSet:
    [folder] = study.glob("stimuli/*")
    return StimulusSet(folder)


def true_value(profile, stimuli):
    """Hits and texts of every measure, by name, edit and group."""
    shares = {each.id: violated_share(profile, each.task, each.candidates[0], 1) for each in stimuli}
    known = {each.id: each for each in stimuli}
    twins = defaultdict(dict)
    counted = defaultdict(lambda: [0.0, 0])

    def add(name, stimulus, hit):
        groups = ["", *(f"{key}={each}" for key, each in stimulus.strata.items())]
        for test in ("", stimulus.family):
            for group in groups:
                counted[name, test, group][0] += hit
                counted[name, test, group][1] += 1

    for each in known.values():
        said, broken = shares[each.id], each.gold == "violated"
        twins[each.crossed_pair][each.version] = each
        add("violation-detection" if broken else "false-alarm", each, said)
        add("accuracy", each, said if broken else 1 - said)
        if each.parent and each.version == WRITTEN:
            add("noticed-edit", each, said * (1 - shares[each.parent]))
    for found in twins.values():
        if len(found) == 2:
            one, two = (shares[found[version].id] for version in (WRITTEN, OPPOSITE))
            first = found[WRITTEN]
            add("policy-following", first, one * (1 - two) if first.gold == "violated" else two * (1 - one))
            add("policy-blind-verdict", first, one * two + (1 - one) * (1 - two))
    return counted
