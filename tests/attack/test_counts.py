"""What is left to ask is counted from receipts: a receipt or a plan that lies is refused, and never believed."""

import json
from dataclasses import replace

import pytest

from tests.attack.runs import copy_study
from umpirical.domain.responses import Response
from umpirical.models.money import FREE
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.runs.run import open_run
from umpirical.store.manifests import Damaged, file_sha256, read_manifest, write_manifest
from umpirical.store.parquet import read_rows, write_rows
from umpirical.store.runs import RunStore
from umpirical.store.schemas import response_schema, stimulus_schema
from umpirical.study.estimate import estimate_run
from umpirical.study.verification import verify_run

CALLS = 336


@pytest.fixture
def run(sound, tmp_path):
    """A copy of a finished run, to lie about."""
    return copy_study(sound, tmp_path / "study")


def estimated(run):
    opened = open_run(run)
    call = replace(opened.call, answer_key=DATASHEET.answer_key)
    return estimate_run(replace(opened, call=call), FREE, concurrency=8)


def rewrite(run, name, **said):
    """Edits a manifest on purpose: with a digest that fits."""
    write_manifest(run / name, read_manifest(run / name) | said)


def broken(run):
    """The parts of a run that do not hold, with what was found."""
    return {check.part: check.found for check in verify_run(run) if not check.holds}


def unread(monkeypatch):
    def refuse(*_):
        raise AssertionError("it was read")

    monkeypatch.setattr(RunStore, "rows", refuse)
    monkeypatch.setattr(RunStore, "plan_shard", refuse)


def test_a_finished_run_is_counted_without_reading_an_answer_or_a_trial(run, monkeypatch):
    before = estimated(run)
    assert (before.answered, before.calls) == (CALLS, 0)
    assert before.precision
    unread(monkeypatch)
    assert open_run(run).calls_left() == 0
    assert estimated(run) == before


def test_a_run_in_progress_is_counted_as_before(run):
    store = RunStore(run)
    answers = list(store.rows(store.receipt(0, 0)))
    for path in (run / "responses").iterdir():
        path.unlink()
    store.seal(0, 0, [Response(row["trial_id"], row["text"]) for row in answers[:300]])
    assert open_run(run).calls_left() == CALLS - 300
    found = estimated(run)
    assert (found.answered, found.calls) == (300, CALLS - 300)
    store.seal(0, 1, [Response(row["trial_id"], None, "timeout") for row in answers[300:]])
    assert open_run(run).calls_left() == CALLS - 300
    store.seal(0, 2, [Response(row["trial_id"], row["text"]) for row in answers[300:]])
    assert open_run(run).calls_left() == 0


def test_a_run_of_before_is_counted_by_reading_it(run):
    plan = read_manifest(run / "plan" / "plan.json")
    assert plan.pop("asked") == [CALLS]
    write_manifest(run / "plan" / "plan.json", plan)
    assert open_run(run).calls_left() == 0
    assert (estimated(run).answered, broken(run)) == (CALLS, {})


@pytest.mark.parametrize("answered", [CALLS + 1, CALLS - 1, 0])
def test_a_receipt_that_counts_other_answers_is_not_believed_and_is_named(run, answered):
    rewrite(run, "responses/00000-0.json", answered=answered)
    if answered > CALLS:
        with pytest.raises(Damaged, match="337 answers to 336 questions"):
            open_run(run).calls_left()
    else:
        # It says too little to be complete, so the answers themselves are counted.
        assert open_run(run).calls_left() == 0
    assert "receipt of shard 0 does not match" in broken(run)["responses"]


def with_a_failure(run, **metadata):
    """Makes the first answer a failure, and has the receipt say that it is an answer."""
    path = run / "responses" / "00000-0.parquet"
    rows = list(read_rows(path))
    rows[0] |= {"text": None, "failure": "timeout"}
    write_rows(path, rows, response_schema(), metadata={"rows": str(CALLS), **metadata})
    rewrite(run, "responses/00000-0.json", file_sha256=file_sha256(path))


def test_a_receipt_that_calls_a_failure_an_answer_is_refused_by_what_its_file_says(run):
    with_a_failure(run, failed="1")
    with pytest.raises(Damaged, match="the receipt of shard 0 does not match the answers in its file"):
        open_run(run).calls_left()
    assert "does not match" in broken(run)["responses"]


def test_a_file_that_lies_together_with_its_receipt_is_named_by_whoever_reads_it(run):
    with_a_failure(run, failed="0")
    assert "receipt of shard 0 does not match" in broken(run)["responses"]


@pytest.mark.parametrize("name", ["responses/00000-0.json", "plan/plan.json", "plan/precision.json"])
def test_a_count_that_was_edited_is_refused(run, name):
    estimated(run)
    text = (run / name).read_text()
    (run / name).write_text(text.replace("336", "335", 1).replace('"units": ', '"units": 1', 1))
    assert (run / name).read_text() != text
    with pytest.raises(Damaged, match=f"{name} has been changed"):
        estimated(run)


@pytest.mark.parametrize("asked", [CALLS + 1, CALLS - 1])
def test_a_plan_that_counts_other_questions_is_named(run, asked):
    rewrite(run, "plan/plan.json", asked=[asked])
    assert f"shard 0 has 336 questions, but its manifest lists {asked}" in broken(run)["plan"]
    if asked > CALLS:
        assert open_run(run).calls_left() == 0
    else:
        with pytest.raises(Damaged, match="336 answers to 335 questions"):
            open_run(run).calls_left()


@pytest.mark.parametrize("asked", [[], [-1], ["many"], 336, [336, 0]])
def test_what_is_no_count_is_no_plan(run, asked):
    rewrite(run, "plan/plan.json", asked=asked)
    with pytest.raises(Damaged, match=r"plan.json is not a valid plan"):
        open_run(run).calls_left()


def test_a_sealed_file_that_has_changed_is_not_counted(run):
    path = run / "responses" / "00000-0.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    with pytest.raises(Damaged, match=r"00000-0\.parquet has been changed"):
        open_run(run).calls_left()


def test_a_precision_that_does_not_follow_from_the_plan_is_named(run):
    estimated(run)
    assert broken(run) == {}
    kept = read_manifest(run / "plan" / "precision.json")
    rewrite(run, "plan/precision.json", measures=[{**kept["measures"][0], "units": 10**6}, *kept["measures"][1:]])
    assert broken(run) == {"precision.json": "it does not follow from the plan"}
    rewrite(run, "plan/precision.json", measures=[{"units": 3}])
    with pytest.raises(Damaged, match="cannot read"):
        estimated(run)


def test_a_precision_of_another_version_is_worked_out_again(run):
    before = estimated(run)
    rewrite(run, "plan/precision.json", follows_from="another", measures=[])
    assert estimated(run) == before
    assert len(json.loads((run / "plan" / "precision.json").read_text())["measures"]) == len(before.precision)


def test_a_stimulus_that_was_changed_under_its_own_id_is_named(run):
    folder = open_run(run).stimuli.folder
    path = folder / "00000.parquet"
    rows = list(read_rows(path))
    rows[0] |= {"task": "another task"}
    write_rows(path, rows, stimulus_schema())
    manifest = read_manifest(folder / "manifest.json")
    write_manifest(folder / "manifest.json", manifest | {"files": [file_sha256(path), *manifest["files"][1:]]})
    assert "do not match their manifest" in broken(run)["stimuli"]
