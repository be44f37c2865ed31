"""Items of a rubric that are graded in levels: what is built in in a judge is found, and is counted apart."""

import json
from collections import Counter

import pytest

from tests.protocols.agent.agent_studies import write_study
from tests.trusting import trusting
from umpirical.cli import main
from umpirical.protocols.agent.record import AgentReport
from umpirical.protocols.agent.rewriting import LEVEL_FAMILIES
from umpirical.store.stimulus_sets import StimulusSet

LEVELS = ("careless", "partly", "thorough", "exemplary")

REWRITING = """\
rewriting:
  items:
    polite: The agent is polite in every message.
    checks:
      text: How well does the agent check before it acts?
      levels: {careless: It checks nothing., partly: It checks a part., thorough: It checks all., exemplary: Twice.}
      lower_to: [careless, partly]
      raise_to: exemplary
    pace: {text: How quickly does it come to the point?, levels: ["1", "2", "3"]}
  planner: {model: {adapter: simulated-rewriter, name: planner}}
  editor: {model: {adapter: simulated-rewriter, name: editor}}
  summariser: {model: {adapter: simulated-rewriter, name: summariser}}
  verifier: {model: {adapter: simulated-rewriter, name: verifier}}
"""

OFF_BY_ONE = """\
import re

def judge(task, first):
    said = re.findall(r"For the record, \\w+: (\\w+)[.]", first)
    levels = task.partition("Levels, worst first:")[2].split("\\n")[1:]
    if not levels:
        return "satisfied"
    names = [line.partition(":")[0] for line in levels]
    return names[max(names.index(said[-1]) - 1, 0)] if said else "abstain"
"""


def report_of(folder, judge="*"):
    [path] = folder.glob(f"runs/{judge}/agent.json")
    return AgentReport.model_validate_json(path.read_text())


def level_of(report, name="checks"):
    [item] = [item for item in report.levels if item.name == name]
    return item


def value(item, name, test=""):
    [found] = [one.result for one in item.measures if (one.name, one.stratum) == (name, test)]
    return found


def command(*arguments):
    with pytest.raises(SystemExit) as stop:
        main(trusting(arguments))
    return stop.value.code or 0


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory):
    """A study of a sound judge, one that reads only the end, one that errs, and one that grades one level too low."""
    folder = write_study(
        tmp_path_factory.mktemp("levels"), "sound-auditor", "last-message", "alarmist", count=24, more=REWRITING
    )
    (folder / "judge.py").write_text(OFF_BY_ONE)
    with (folder / "umpirical.yaml").open("a") as file:
        file.write("  - {name: low, callable: 'judge.py:judge'}\n")
    assert command("generate", folder, "--yes") == 0
    # A judge is refused for what it does not see of the edits by program.
    assert command("run", folder, "--yes", "--no-preflight") in (0, 3)
    return folder


@pytest.fixture(scope="module")
def stimuli(rehearsed):
    [folder] = rehearsed.glob("stimuli/*")
    return [each for each in StimulusSet(folder) if each.family in LEVEL_FAMILIES]


def test_every_level_that_is_named_is_aimed_at_and_originals_keep_theirs(stimuli):
    checked = [each for each in stimuli if each.stratum == "checks"]
    aims = Counter((each.family, each.gold) for each in checked)
    assert set(aims) >= {
        ("agent-perturbation-levels", "careless"),
        ("agent-perturbation-levels", "partly"),
        ("agent-positives-levels", "exemplary"),
    }
    known = {each.id: each for each in checked}
    for each in checked:
        if each.family != "as-found-levels":
            step = LEVELS.index(each.gold) - LEVELS.index(known[each.parent].gold)
            assert (step < 0) == (each.family == "agent-perturbation-levels")
            assert step != 0
    assert {each.gold for each in checked if each.family == "as-found-levels"} == set(LEVELS)
    assert all("It checks nothing." in each.task and "polite" not in each.task for each in checked)


def test_what_is_graded_in_levels_is_in_no_other_number(rehearsed, stimuli):
    report = report_of(rehearsed, "sound-auditor-*")
    assert {measure.stratum for measure in report.measures} & {*LEVEL_FAMILIES} <= {
        one.stratum for one in report.measures if one.name in ("abstention-rate", "unparsed-rate", "failure-rate")
    }
    [words] = [
        one.result for one in report.measures if (one.name, one.stratum, one.group) == ("accuracy", "as-found", "")
    ]
    assert words.denominator <= 24
    for item in report.levels:
        own = [each for each in stimuli if each.stratum == item.name]
        assert value(item, "accuracy").denominator == len(own)
        assert sum(one.texts for one in item.graded) == pytest.approx(len(own))


@pytest.mark.parametrize("judge", ["sound-auditor", "alarmist"])
def test_a_planted_share_of_guesses_is_found(rehearsed, stimuli, judge):
    """A judge that guesses in a share of its calls is right in one of as many guesses as there are levels."""
    lapse = {"sound-auditor": 0.02, "alarmist": 0.8}[judge]
    report = report_of(rehearsed, f"{judge}-*")
    for item in report.levels:
        exact, off = value(item, "accuracy"), value(item, "mean-absolute-error")
        true_value = 1 - lapse * (1 - 1 / len(item.labels))
        assert exact.interval.low - 1e-9 <= true_value <= exact.interval.high + 1e-9
        golds = [item.labels.index(each.gold) for each in stimuli if each.stratum == item.name]
        far = [sum(abs(gold - guess) for guess in range(len(item.labels))) / len(item.labels) for gold in golds]
        true_value = lapse * sum(far) / len(far)
        assert off.interval.low - 1e-9 <= true_value <= off.interval.high + 1e-9


def test_a_judge_of_the_last_message_does_not_follow_what_was_rewritten_earlier(rehearsed):
    item, sound = (level_of(report_of(rehearsed, f"{name}-*")) for name in ("last-message", "sound-auditor"))
    assert value(item, "accuracy", "as-found-levels").value > 0.9
    assert value(sound, "flip-detection").value > 0.9
    assert value(item, "flip-detection").interval.high < value(sound, "flip-detection").interval.low
    assert value(item, "right-on-both").value <= value(item, "flip-detection").value


def test_a_judge_that_grades_one_level_too_low_is_found_out_exactly(rehearsed, stimuli):
    """It abstains where nothing is on record, so each of its verdicts is known, and what it leaves out is counted."""
    item = level_of(report_of(rehearsed, "low-*"))
    told = [each for each in stimuli if each.stratum == "checks" and "For the record, checks" in each.candidates[0]]
    lowest = sum(each.gold == "careless" for each in told)
    assert value(item, "accuracy").denominator == len(told)
    assert value(item, "accuracy").value == pytest.approx(lowest / len(told))
    assert value(item, "mean-absolute-error").value == pytest.approx(1 - lowest / len(told))
    assert value(item, "grade-bias").value == pytest.approx(lowest / len(told) - 1)
    assert value(item, "within-one").value == 1
    assert sum(value(item, "accuracy").excluded.values()) == sum(one.texts for one in item.graded if not one.given) > 0


def test_levels_decide_nothing_and_stand_on_the_page_and_the_card(rehearsed):
    report = report_of(rehearsed, "last-message-*")
    assert not any("level" in check.measure for check in report.checks)
    assert any(finding.startswith("checks: it gives") for finding in report.findings)
    [page] = rehearsed.glob("runs/last-message-*/agent.html")
    text = page.read_text()
    assert "Rubrics in levels" in text
    assert "given exemplary" in text
    assert "<script" not in text
    assert "graded in levels" in page.with_suffix(".md").read_text()


def test_the_levels_and_the_prompt_for_them_decide_the_question(rehearsed):
    from umpirical.judges.factory import build_renderer
    from umpirical.runs.plan import request_for
    from umpirical.study.file import load_study
    from umpirical.study.trust import agree_if

    study = load_study(rehearsed, agree_if(trust=True), outside=False)
    spec = study.spec.judges[0]
    design, judge = study.protocol.design(study, spec), build_renderer(spec)
    [folder] = rehearsed.glob("stimuli/*")
    asked = {}
    for each in StimulusSet(folder):
        [way] = design.presentations(each, spec.capabilities, "grade")
        asked.setdefault(each.stratum, request_for(judge, each, way))
    assert '"careless", "partly", "thorough", "exemplary"' in asked["checks"].messages[-1].content
    assert json.loads(asked["checks"].answer_schema)["properties"]["grade"]["enum"] == [*LEVELS, "abstain"]
    assert '"1", "2", "3"' in asked["pace"].messages[-1].content
    assert "Policy" not in asked["pace"].messages[-1].content
    assert '"violated", "satisfied"' in asked["polite"].messages[-1].content


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('levels: ["1", "2", "3"]', 'levels: ["1", "2"]', "at least three"),
        ('levels: ["1", "2", "3"]', "levels: [1, 2, 3]", "a level must be text, got 1"),
        ('levels: ["1", "2", "3"]', "levels: [low, abstain, high]", "abstain is not allowed"),
        ("raise_to: exemplary", "raise_to: careless", "raise_to: 'careless' is not one of partly"),
        ("lower_to: [careless, partly]", "lower_to: [middling]", "'middling' is not one of"),
        ("rewriting:\n", "rewriting:\n  objectives: [satisfy]\n", "has lower_to, but violate is not an objective"),
        (
            "name: sound-auditor}}",
            "name: sound-auditor}, answer: {labels: {no: violated, yes: satisfied}}}",
            "words for",
        ),
        (
            "name: sound-auditor}}",
            "name: sound-auditor}, prompts: {baseline: 'builtin:transcript'}}",
            "has its own prompt, but none for levels",
        ),
    ],
)
def test_what_cannot_be_graded_is_refused(tmp_path, umpirical, old, new, said):
    folder = write_study(tmp_path / "s", "sound-auditor", count=3, more=REWRITING)
    text = (folder / "umpirical.yaml").read_text()
    assert old in text
    (folder / "umpirical.yaml").write_text(text.replace(old, new))
    code, _, err = umpirical("check", folder)
    assert code == 2
    assert said in " ".join(err.split())


def test_a_prompt_for_levels_needs_levels(tmp_path, umpirical):
    folder = write_study(tmp_path / "s", "sound-auditor", count=3)
    text = (folder / "umpirical.yaml").read_text()
    new = "name: sound-auditor}, test_prompts: {levels: 'builtin:transcript-levels'}}"
    (folder / "umpirical.yaml").write_text(text.replace("name: sound-auditor}}", new))
    code, _, err = umpirical("check", folder)
    assert code == 2
    assert "not such a test of this study" in err
