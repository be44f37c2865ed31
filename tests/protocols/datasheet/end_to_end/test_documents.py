"""The record, and what is made of it."""

import json

import jsonschema
import pytest

from tests.protocols.datasheet.end_to_end.conftest import Silent
from tests.stimuli.built import lend_stimuli
from umpirical.protocols.datasheet.page import render_html, render_markdown
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.protocols.datasheet.record import Datasheet, datasheet_schema, generated_schema
from umpirical.protocols.datasheet.spec import preset
from umpirical.reports.checks import hold_checks
from umpirical.reports.decision import decide
from umpirical.reports.record import record_json
from umpirical.runs.run import open_run
from umpirical.study.file import parse_study
from umpirical.study.prepare import prepare_run
from umpirical.study.run import complete_run


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("s")
    lend_stimuli(folder, size="standard")
    study = parse_study(
        "study: s\ndesign: {size: standard}\njudges:\n  - {name: j, model: {adapter: simulated, name: mumbling}}\n",
        folder,
    )
    run = prepare_run(study, study.spec.judges[0])
    return run, complete_run(run, 8, lambda *_: Silent())


def test_the_shipped_schema_is_the_one_the_code_follows():
    assert datasheet_schema() == generated_schema()


def test_a_datasheet_meets_the_shipped_schema(finished):
    record = json.loads(finished[1].documents.json.read_text())
    jsonschema.Draft202012Validator(json.loads(datasheet_schema())).validate(record)


def test_a_wrong_record_does_not(finished):
    record = json.loads(finished[1].documents.json.read_text())
    record["measures"][0]["result"]["value"] = "high"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(json.loads(datasheet_schema())).validate(record)


def test_page_and_card_follow_from_the_json_alone(finished):
    documents = finished[1].documents
    datasheet = Datasheet.model_validate_json(documents.json.read_text())
    assert record_json(datasheet) == documents.json.read_text()
    assert render_html(datasheet) == documents.html.read_text()
    assert render_markdown(datasheet) == documents.markdown.read_text()


def test_reporting_again_gives_the_same_bytes(finished, tmp_path):
    run, result = finished
    again = DATASHEET.write(DATASHEET.report(open_run(run.folder)), tmp_path)
    for one, other in zip(
        (again.json, again.html, again.markdown),
        (result.documents.json, result.documents.html, result.documents.markdown),
        strict=True,
    ):
        assert one.read_bytes() == other.read_bytes()


def test_every_estimate_has_numerator_denominator_interval_and_method(finished):
    datasheet = finished[1].record
    estimates = [m for m in datasheet.measures if m.result.kind == "estimate"]
    assert len(estimates) >= 20
    for measure in estimates:
        result = measure.result
        assert result.denominator > 0
        assert result.clusters >= 2
        if result.censoring == "none" and measure.scale != "p-value":
            assert result.interval is not None
        if result.interval:
            assert result.interval.method
            assert result.interval.low is None or result.interval.low <= result.value
            assert result.interval.high is None or result.value <= result.interval.high
        if measure.scale == "rate":
            assert result.value == pytest.approx(result.numerator / result.denominator)


def test_the_decision_follows_from_the_checks_and_these_from_the_measures(finished):
    datasheet = finished[1].record
    policy = preset()
    assert datasheet.policy == policy
    measures = [*datasheet.measures, *datasheet.parts]
    assert hold_checks(policy, "compare", measures, datasheet.run.variants) == datasheet.checks
    gates = datasheet.stimuli.gates if datasheet.stimuli else ()
    assert datasheet.complete
    again = decide(policy, datasheet.checks, gates=gates)
    assert datasheet.decision.verdict == again.verdict
    assert datasheet.decision.sentences == again.sentences


def test_the_audit_columns_add_up(finished):
    outcomes = ("position_1", "position_2", "tie", "graded", "abstained", "unparsed", "failed", "unasked")
    for row in finished[1].record.audit:
        assert row.planned == sum(getattr(row, outcome) for outcome in outcomes)


def test_page_and_card_keep_their_size(finished):
    documents = finished[1].documents
    assert documents.html.stat().st_size < 300_000
    assert len(documents.markdown.read_text().splitlines()) <= 60


def test_a_moved_study_can_still_be_reported(finished, tmp_path):
    import shutil

    run, result = finished
    moved = shutil.copytree(run.store.folder.parents[1], tmp_path / "moved")
    assert (
        record_json(DATASHEET.report(open_run(moved / "runs" / run.store.folder.name)))
        == result.documents.json.read_text()
    )


def test_an_incomplete_run_says_so(finished, tmp_path):
    import shutil

    run, _ = finished
    moved = shutil.copytree(run.store.folder.parents[1], tmp_path / "cut")
    folder = moved / "runs" / run.store.folder.name
    for sealed in (folder / "responses").glob("*"):
        sealed.unlink()
    datasheet = DATASHEET.report(open_run(folder))
    assert not datasheet.complete
    assert sum(row.unasked for row in datasheet.audit) == datasheet.run.trials
    assert all(measure.result.kind == "undefined" for measure in datasheet.measures)
    assert "incomplete" in render_html(datasheet).lower()
