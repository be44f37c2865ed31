"""Joins a corrected estimate and the datasheet of its judge into one statement, with the digests to check it by."""

from importlib.metadata import version

from umpirical.claims import assumptions
from umpirical.claims.documents import sha256
from umpirical.claims.judge_records import JudgeRecordFile
from umpirical.claims.record import Claim, Correction, JudgeSummary, MatchRecord, render_correction_json
from umpirical.claims.sentences import figure, system_sentence
from umpirical.domain.errors import UsageError
from umpirical.domain.trials import BASELINE
from umpirical.protocols.catalogue import ReadRecord
from umpirical.reports import numbers
from umpirical.reports.decisions import TITLES
from umpirical.reports.record import EstimateRecord, MeasureRecord

SHOWN = (
    ("dark-current", ""),
    ("raw-false-preference", ""),
    ("target-sensitivity", "1"),
    ("task-following", ""),
    ("accuracy", "original"),
    ("false-positive-rate", "original"),
    ("false-negative-rate", "original"),
    ("flip-rate", ""),
)
"""The measures that a statement names, by stratum, where the record has them."""


def make_claim(correction: Correction, judge: JudgeRecordFile) -> Claim:
    """Joins a corrected estimate and a judge's record. Raises if the estimate rests on another record."""
    digest = sha256(judge.found.text)
    used = correction.settings.record
    if used is not None and used.sha256 != digest:
        fix = f"name the record {used.name} whose digest is {used.sha256[:16]}, or correct the estimate again"
        raise UsageError("the corrected estimate rests on another record of the judge", fix=fix)
    summary = judge_summary(judge.found)
    return Claim(
        umpirical_version=version("umpirical"),
        correction=correction,
        correction_sha256=sha256(render_correction_json(correction)),
        datasheet=MatchRecord(name=judge.found.file.name, sha256=digest),
        held_to_responses=judge.held,
        judge=summary,
        sentences=statement(correction, summary),
        assumptions=assumptions.of_claim(held=judge.held),
    )


def judge_summary(found: ReadRecord) -> JudgeSummary:
    """Returns what a claim says about the judge."""
    record, judge = found.record, found.record.judge
    decision = getattr(record, "decision", None)
    measures = []
    for name, stratum in SHOWN:
        for measure in record.measures:
            key = (measure.name, measure.arm, measure.stratum, getattr(measure, "group", ""))
            if key == (name, BASELINE, stratum, "") and isinstance(measure, MeasureRecord):
                kept = {field: getattr(measure, field) for field in MeasureRecord.model_fields}
                measures.append(MeasureRecord(**kept))
    return JudgeSummary(
        name=judge.name,
        model=judge.model,
        fingerprint=judge.fingerprint,
        run=record.run.id,
        protocol=found.protocol.name,
        complete=record.complete,
        decision=None if decision is None else decision.verdict,
        policy="" if decision is None else decision.policy_name,
        measures=measures,
    )


def statement(correction: Correction, judge: JudgeSummary) -> list[str]:
    """Returns the statement: one sentence for each system, and one about the judge."""
    found = [
        f"{f'{system.system}: ' if system.system else ''}{system_sentence(correction, system)}."
        for system in correction.systems
    ]
    return [*found, _about(judge)]


def _about(judge: JudgeSummary) -> str:
    policy = f" (policy {judge.policy})" if judge.policy else ""
    decision = f"{TITLES[judge.decision]}{policy}" if judge.decision else "no decision"
    parts = [decision, *(_measured(measure) for measure in judge.measures)]
    incomplete = "" if judge.complete else " The run is incomplete."
    return f"Judge {judge.name} ({judge.model}): {'; '.join(parts)}.{incomplete}"


def _measured(measure: MeasureRecord) -> str:
    part = f" at {numbers.part(measure.stratum)}" if measure.stratum not in {"", "original"} else ""
    result = measure.result
    said = figure(result) if isinstance(result, EstimateRecord) else f"undefined ({result.reason})"
    return f"{measure.title[:1].lower()}{measure.title[1:]}{part} {said}"
