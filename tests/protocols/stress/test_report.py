"""From measures, stimuli and a run's facts to the record, and the record as text."""

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from umpirical.domain.measures import Measure
from umpirical.domain.scales import GradeScale
from umpirical.domain.tallies import CallTally
from umpirical.protocols.stress.record import CellVerdict, StressReport, WorstItem
from umpirical.protocols.stress.rendering import render_stress_pages
from umpirical.protocols.stress.report import LONGEST_TEXT, LONGEST_WORDS, MOST_WORST, NON_CLAIMS, scale_record
from umpirical.reports.record import record_json, schema_text

from .samples import BINARY, NOMINAL, SAMPLES, SIX, SPECS, judge, rate, report, spend, stress_test, worst


@pytest.fixture(params=sorted(SAMPLES))
def reports(request):
    return SAMPLES[request.param]()


def test_the_record_survives_the_way_to_disk_and_back(reports):
    for one in reports:
        text = record_json(one)
        assert StressReport.model_validate_json(text) == one
        assert record_json(StressReport.model_validate_json(text)) == text


def test_the_record_keeps_to_its_schema(reports):
    schema = json.loads(schema_text(StressReport))
    jsonschema.Draft202012Validator.check_schema(schema)
    for one in reports:
        jsonschema.Draft202012Validator(schema).validate(json.loads(record_json(one)))
    assert schema["properties"]["format"]["const"] == "judge-stress/2"
    assert schema["additionalProperties"] is False


def test_the_record_is_frozen_and_takes_no_field_nobody_agreed_on():
    one = report()
    with pytest.raises(ValidationError):
        one.margin = 0.5
    with pytest.raises(ValidationError):
        StressReport.model_validate(one.model_dump() | {"surprise": 1})


@pytest.mark.parametrize("margin", [0, 1, -0.1, 1.5])
def test_a_margin_is_a_share(margin):
    with pytest.raises(ValidationError):
        report(margin=margin)


def test_there_is_one_verdict_for_each_test():
    one = report()
    assert [cell.test for cell in one.verdicts] == [test.name for test in one.tests]
    tree = one.model_dump()
    for broken in (
        tree | {"verdicts": tree["verdicts"][1:]},
        tree | {"verdicts": [*tree["verdicts"], CellVerdict(test="x", verdict="PASS", why="").model_dump()]},
        tree | {"tests": [tree["tests"][0]] * 2, "verdicts": [tree["verdicts"][0]] * 2},
    ):
        with pytest.raises(ValidationError, match="one verdict for each test"):
            StressReport.model_validate(broken)


def test_measures_keep_their_test_and_their_group():
    one = report()
    found = [m for m in one.measures if (m.name, m.stratum) == ("change-rate", "paraphrase")]
    assert [m.group for m in found] == ["", "grade_level=6", "grade_level=8", "grade_level=10"]
    assert {m.scale for m in one.measures if m.name == "verdict-entropy"} == {"bits"}


def test_a_stratum_never_decides():
    """The same numbers in one stratum alone give no verdict."""
    measured = [(SPECS["flip-rate"], Measure("flip-rate", rate(50, 60), stratum="stability", group="x=1"))]
    one = report(measured=measured, tests=[stress_test("stability")])
    assert one.verdicts[0].verdict == "N/A"
    assert "not measured" in one.verdicts[0].why


def test_another_prompt_never_decides():
    measured = [(SPECS["flip-rate"], Measure("flip-rate", rate(50, 60), variant="strict", stratum="stability"))]
    one = report(measured=measured, tests=[stress_test("stability")])
    assert one.verdicts[0].verdict == "N/A"
    assert len(one.measures) == 1


def test_planted_values_are_those_of_all_items():
    one = SAMPLES["true_value"]()[0]
    found = [m for m in one.measures if (m.name, m.stratum) == ("change-rate", "verbosity-long")]
    assert [m.true_value for m in found] == [0.6, None, None, None]


def test_trials_are_added_up_by_test():
    calls = [
        CallTally("e1", "baseline", "original", "", None, planned=3, graded=2, failed=1),
        CallTally("e2", "baseline", "original", "", None, planned=3, graded=2, unasked=1),
        CallTally("e1", "baseline", "paraphrase", "", None, planned=1, unparsed=1),
    ]
    one = report(calls=calls)
    rows = [(row.family, row.planned, row.graded, row.unparsed, row.failed, row.unasked) for row in one.audit]
    assert rows == [("original", 6, 4, 0, 1, 1), ("paraphrase", 1, 0, 1, 0, 0)]
    assert not one.complete
    assert report(calls=calls[2:]).complete


def test_checks_on_answers_are_those_of_the_datasheet():
    held = {check.measure: check for check in report().answered}
    assert {name: check.verdict for name, check in held.items()} == {"unparsed-rate": "PASS", "failure-rate": "PASS"}
    assert {check.verdict for check in report(measured=[]).answered} == {"N/A"}


def test_the_worst_are_few_and_the_furthest_come_first():
    items = [worst(item=f"e{n}", distance=n / 10) for n in range(30)] + [worst(item="unknown", distance=None)]
    one = report(worst=[*items, worst(test="never-run")])
    assert len(one.worst) == MOST_WORST
    assert [item.item for item in one.worst[:3]] == ["e29", "e28", "e27"]
    assert [item.item for item in report(worst=items[-2:]).worst] == ["e29", "unknown"]
    assert {item.test for item in one.worst} == {"verbosity-long"}


def test_texts_are_cut_and_that_is_said():
    long = "word " * LONGEST_TEXT
    (item,) = report(worst=[worst(original=long, words_changed=long, evidence={"x" * 999: long},
                                  verdicts_original=["3"] * 999)]).worst  # fmt: skip
    assert len(item.original) == LONGEST_TEXT
    assert len(item.words_changed) == LONGEST_WORDS
    assert [(len(kind), len(found)) for kind, found in item.evidence.items()] == [(200, LONGEST_WORDS)]
    assert len(item.verdicts_original) == 50
    assert item.cut
    assert not report(worst=[worst()]).worst[0].cut


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_can_be_written(text):
    """Halves of surrogate pairs too, which no JSON file can hold as they are."""
    (item,) = report(worst=[worst(original=text, changed=text, why=text, words_original=text)]).worst
    WorstItem.model_validate_json(item.model_dump_json().encode())


@pytest.mark.parametrize(
    ("scale", "span"),
    [(SIX, 5.0), (BINARY, 1.0), (NOMINAL, None), (GradeScale("interval", low=-1.0, high=9.0), 10.0)],
)
def test_the_range_of_a_scale(scale, span):
    record = scale_record(scale)
    assert (record.kind, record.range) == (scale.kind, span)


def test_an_interval_scale_goes_all_the_way():
    one = report(scale=GradeScale("interval", low=0.0, high=10.0))
    shift = next(part for part in one.verdicts[1].parts if part.measure == "shift-equivalence")
    assert (shift.least, shift.most) == (-0.5, 0.5)
    assert render_stress_pages([one])


def test_what_is_not_claimed_is_said():
    assert len(NON_CLAIMS) == 5
    assert all(claim.endswith(".") and "\n" not in claim for claim in NON_CLAIMS)
    assert report().non_claims == NON_CLAIMS


def test_money_is_kept_as_decimal_text():
    text = record_json(report(judge=judge("x")))
    assert '"cost": "0.812345"' in text
    assert StressReport.model_validate_json(text).spend == spend()
