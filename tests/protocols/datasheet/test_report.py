"""From measures and a run's facts to the record."""

from umpirical.domain.measures import Estimate, Interval, Measure, Undefined
from umpirical.domain.tallies import CallTally, GradeTally
from umpirical.measures.catalogue import MeasureSpec
from umpirical.protocols.datasheet.page import render_html
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.datasheet.report import LONGEST_TEXT, MOST_EXAMPLES, assemble
from umpirical.protocols.datasheet.spec import preset
from umpirical.reports.record import GateRecord, record_json

from .samples import datasheet, example, judge, run, spend, stimuli

SPEC = MeasureSpec("dark-current", "Dark current", "About it.", "higher", lambda *_: [])
LATENT = MeasureSpec("resolution", "Resolution", "About it.", "lower", lambda *_: [], scale="latent")
RATE = Estimate(
    0.0, 0, 120, "prompt", Interval(0.0, 0.031, method="cluster-Wilson over tasks"), 10, planning_effect=1.5
)


def assembled(**more):
    calls = [CallTally("t", "baseline", "blank", "empty", None, planned=120, tie=120)]
    measured = [(SPEC, Measure("dark-current", RATE)), (LATENT, Measure("resolution", Undefined("no fit")))]
    return assemble(judge(), run(), measured, calls, [], true_value={}, **more)


def test_older_callers_get_a_decision_too():
    sheet = assembled()
    assert sheet.decision.verdict == "not-enough-data"
    assert [check.verdict for check in sheet.checks] == ["PASS", *["N/A"] * (len(sheet.checks) - 1)]
    assert sheet.policy == preset()
    assert sheet.profile.name == "not sketched"
    assert (sheet.stimuli, sheet.spend, sheet.examples, sheet.grades) == (None, None, [], [])
    assert [measure.scale for measure in sheet.measures] == ["rate", "latent"]
    assert "Repeatability: each question was asked only once." in sheet.decision.not_measured
    assert "Effect of the prompt: only one prompt variant was used." in sheet.decision.not_measured
    assert "Cost: the price is unknown." in sheet.decision.not_measured
    for said in ("Memorization: ", "Evaluation awareness: "):
        assert any(line.startswith(said) for line in sheet.decision.not_measured)
    render_html(sheet)


def test_what_was_measured_is_not_called_unmeasured():
    sheet = assembled(spend=spend())
    assert not any("Cost" in said for said in sheet.decision.not_measured)


def test_a_failed_gate_reaches_the_decision():
    gate = GateRecord(name="superset", passed=False, found=0, allowed=1, blocks=True)
    assert "superset" in assembled(stimuli=stimuli(gates=[gate])).decision.sentences[0]


def test_examples_are_few_and_short():
    long = example(task="x" * 10_000)
    sheet = assembled(examples=[long] * 50)
    assert len(sheet.examples) == MOST_EXAMPLES
    assert len(sheet.examples[0].task) < LONGEST_TEXT + 10


def test_grades_of_all_tasks_are_added_up():
    tallies = [GradeTally(task, "baseline", "graded", 1.0, 2.0, 3) for task in ("a", "b")]
    (row,) = assembled(grades=tallies).grades
    assert (row.level, row.score, row.answers) == (1.0, 2.0, 6)


def test_a_record_from_before_these_parts_is_still_read():
    new = {"checks", "decision", "profile", "stimuli", "spend", "examples", "grades"}
    tree = datasheet().model_dump(mode="json", exclude=new)
    for part, fields in (("judge", ("prompts", "scale")), ("run", ("python", "packages", "revisions"))):
        for name in fields:
            del tree[part][name]
    for measure in tree["measures"]:
        del measure["scale"]
    for row in tree["audit"]:
        del row["graded"]
    sheet = Datasheet.model_validate(tree)
    assert next(m for m in sheet.measures if m.name == "detection-threshold").scale == "requirements"
    assert render_html(Datasheet.model_validate_json(record_json(sheet))) == render_html(sheet)


def test_money_is_kept_as_decimal_text():
    text = record_json(assembled(spend=spend()))
    assert '"cost": "0.412345"' in text
    assert Datasheet.model_validate_json(text).spend == spend()
