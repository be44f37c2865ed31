"""Joins a corrected estimate and the datasheet of its judge into one statement, with the digests to check it by."""

from dataclasses import dataclass
from importlib.metadata import version
from math import isclose
from pathlib import Path

from umpirical.claims import assumptions
from umpirical.claims.documents import sha256
from umpirical.claims.record import Claim, Correction, JudgeSummary, MatchRecord, render_correction_json
from umpirical.claims.sentences import figure, system_sentence
from umpirical.domain.errors import StoreError, UsageError
from umpirical.domain.trials import BASELINE
from umpirical.protocols.records import ReadRecord, read_record
from umpirical.reports import numbers
from umpirical.reports.decisions import TITLES
from umpirical.reports.record import EstimateRecord, MeasureRecord
from umpirical.study.run_targets import find_run
from umpirical.study.verification import verify_run

__all__ = ["JudgeRecordFile", "judge_summary", "make_claim", "read_judge", "statement"]

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

EDITED = "was it edited? `umpirical report RUN` writes it again from the responses"


@dataclass(frozen=True, slots=True)
class JudgeRecordFile:
    """A judge's record, and whether its run was there to hold it to."""

    found: ReadRecord
    held: bool


def read_judge(target: str | Path) -> JudgeRecordFile:
    """Reads a datasheet or stress report: from a run, whose responses it is held to, or from a file by itself.

    Raises StoreError if the record does not follow from its responses, if it contradicts itself, or if it is not the
    one whose digest is on the card beside it.
    """
    path = Path(target)
    file = path if path.is_file() else find_run(target)
    found = read_record(file)
    _check_rates(found)
    _check_card(found)
    folder = found.file.parent
    if not (folder / "run.json").is_file():
        return JudgeRecordFile(found, held=False)
    for check in verify_run(folder, record=found.file):
        if not check.holds:
            raise StoreError(f"{check.part}: {check.found}", fix=EDITED)
    return JudgeRecordFile(found, held=True)


def _check_rates(found: ReadRecord) -> None:
    """Raises if a rate is not its numerator over its denominator, or lies outside its own interval."""
    for measure in found.record.measures:
        estimate = measure.result
        if measure.scale != "rate" or not isinstance(estimate, EstimateRecord) or estimate.censoring != "none":
            continue
        limits = estimate.interval
        low, high = (limits.low, limits.high) if limits else (None, None)
        whole = isclose(estimate.value * estimate.denominator, estimate.numerator, abs_tol=1e-6)
        inside = (low is None or low <= estimate.value + 1e-9) and (high is None or estimate.value <= high + 1e-9)
        if not whole or not inside:
            raise StoreError(f"{found.file.name} contradicts itself on {measure.name} {measure.stratum}", fix=EDITED)


def _check_card(found: ReadRecord) -> None:
    """Raises if the card beside a record has another digest than the record."""
    card = found.file.with_suffix(".md")
    if not card.is_file():
        return
    marked = [line for line in card.read_text(encoding="utf-8", errors="replace").splitlines() if "SHA-256" in line]
    if marked and "`" in marked[-1] and f"`{sha256(found.text)}`" not in marked[-1]:
        raise StoreError(f"{found.file.name} is not the record that {card.name} was made from", fix=EDITED)


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
