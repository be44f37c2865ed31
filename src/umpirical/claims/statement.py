"""Claims: join a corrected estimate and the datasheet of its judge into one statement, and verify a published one."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from math import isclose
from pathlib import Path
from typing import Any

from umpirical.claims.correction import correct_target, find_record
from umpirical.claims.documents import ASSUMED, claim_text, read_claim, sha256, system_sentence
from umpirical.claims.record import Claim, Correction, JudgeSummary, MatchRecord
from umpirical.datasets.verdicts.targets import TargetSpec, read_target
from umpirical.domain.errors import StoreError, UmpiricalError, UsageError
from umpirical.domain.measures import Estimate
from umpirical.domain.trials import BASELINE
from umpirical.protocols.catalogue import ReadRecord, read_record
from umpirical.protocols.protocol import DecidesByPolicy, HoldsToChecks, Protocol
from umpirical.reports import numbers
from umpirical.reports.decision import TITLES
from umpirical.reports.record import JudgeRecord, MeasureRecord, Record, record_json
from umpirical.study.verification import Check, verify_run

EDITED = "if the file was edited, write it again from the responses with `umpirical report RUN`"


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
    found = find_record(target)
    _check_rates(found)
    _check_card(found)
    if found.run is None:
        _check_decision(found)
        return JudgeRecordFile(found, held=False)
    for check in verify_run(found.run, record=found.file):
        if not check.holds:
            raise StoreError(f"{check.part}: {check.found}", fix=EDITED)
    return JudgeRecordFile(found, held=True)


def _check_rates(found: ReadRecord) -> None:
    """Raises if a rate is not its numerator over its denominator, or lies outside its own interval."""
    for measure in found.record.measures:
        estimate = measure.result
        if measure.scale != "rate" or not isinstance(estimate, Estimate) or estimate.censoring != "none":
            continue
        limits = estimate.interval
        low, high = (limits.low, limits.high) if limits else (None, None)
        whole = isclose(estimate.value * estimate.denominator, estimate.numerator, abs_tol=1e-6)
        inside = (low is None or low <= estimate.value + 1e-9) and (high is None or estimate.value <= high + 1e-9)
        if not whole or not inside:
            raise StoreError(f"{found.file.name} contradicts itself on {measure.name} {measure.stratum}", fix=EDITED)


def _check_card(found: ReadRecord) -> None:
    card = found.file.with_suffix(".md")
    if not card.is_file():
        return
    marked = [line for line in card.read_text(encoding="utf-8", errors="replace").splitlines() if "SHA-256" in line]
    if marked and "`" in marked[-1] and f"`{sha256(found.text)}`" not in marked[-1]:
        raise StoreError(f"{found.file.name} is not the record that {card.name} was written from", fix=EDITED)


def _check_decision(found: ReadRecord) -> None:
    """Raises if a record's policy is not the one that its name says, or its decision does not follow from it."""
    protocol, record = found.protocol, found.record
    if not isinstance(protocol, DecidesByPolicy):
        return
    protocol.refuse_forged(record)
    if _decided(protocol, protocol.as_published(record, record)) != _decided(protocol, record):
        raise StoreError(f"the decision in {found.file.name} does not follow from its measures", fix=EDITED)


def _decided(protocol: Protocol[Any, Any], record: Record) -> object:
    decision = protocol.decision(record)
    limits = protocol.held_checks(record) if isinstance(protocol, HoldsToChecks) else []
    return decision and decision.verdict, [(one.measure, one.stratum, one.verdict, one.effect) for one in limits]


# The statement, with the digests to check it by.


SHOWN = (
    ("dark-current", ""),
    ("raw-false-preference", ""),
    ("target-sensitivity", "1"),
    ("task-following", ""),
    ("accuracy", "original"),
    ("false-positive-rate", "original"),
    ("false-negative-rate", "original"),
    ("flip-rate", ""),
    ("both-orders-accuracy", ""),
)
"""The measures that a statement names, by stratum, where the record has them."""

NATURAL = (
    ("pair-agreement", ""),
    ("weighted-kappa", "original"),
    ("agreement-ccc", "original"),
    ("krippendorff-alpha", "original"),
    ("policy-agreement", "original"),
)
"""Agreement with labels on texts that nobody constructed, beyond chance. The first that a record has is its evidence.

The built-in set is public, and looks like a test. A judge may know its answers, or answer better where it notices that
it is tested. Both are seen only on other texts.
"""


NO_POLICY: dict[str, Any] = {"policy": "", "policy_digest": "", "policy_shipped": True}


def make_claim(correction: Correction, judge: JudgeRecordFile, evidence: JudgeRecordFile | None = None) -> Claim:
    """Joins a corrected estimate, a judge's record, and the record of the same judge on natural text.

    Without `evidence`, the judge's record has to be on natural text itself. Raises if the estimate rests on another
    record, or if nothing shows that the judge agrees with labels on natural text.
    """
    digest = sha256(judge.found.text)
    used = correction.settings.record
    if used is not None and used.sha256 != digest:
        fix = f"use the record {used.name} with digest {used.sha256[:16]}, or run umpirical correct again"
        raise UsageError("the corrected estimate was made with another record of the judge", fix=fix)
    evidence = evidence or judge
    _check_evidence(judge.found, evidence.found)
    summary, shown = judge_summary(judge.found), judge_summary(evidence.found)
    return Claim(
        umpirical_version=version("umpirical"),
        correction=correction,
        correction_sha256=sha256(record_json(correction)),
        datasheet=MatchRecord(name=judge.found.file.name, sha256=digest),
        judge=summary,
        evidence_file=MatchRecord(name=evidence.found.file.name, sha256=sha256(evidence.found.text)),
        evidence=shown,
        sentences=statement(correction, summary, shown),
        assumptions=ASSUMED,
    )


def _check_evidence(judge: ReadRecord, evidence: ReadRecord) -> None:
    """Raises unless a record shows that the judge agrees with labels on natural text, beyond chance."""
    name = evidence.file.name
    _check_agreement(name, evidence.record.measures)
    if not _same_judge(judge.record.judge, evidence.record.judge):
        raise UsageError(
            f"{name} describes a different judge", fix="use the same model, settings, prompt and code for both runs"
        )
    if not evidence.record.complete:
        raise UsageError(
            f"{name} comes from an incomplete run", fix="finish the run: umpirical run  in the study's folder"
        )


def _check_agreement(name: str, measures: Sequence[MeasureRecord]) -> None:
    found = _agreement(measures)
    if found is None:
        raise UsageError(
            f"{name} has no labels on natural text, which a claim needs. The built-in test cases cannot show whether a "
            "judge has memorized them, or judges differently because it notices a test",
            fix="start a study of labeled pairs or responses with  umpirical init FOLDER --from DATA, and pass its run "
            "with --evidence",
        )
    result = found.result
    low = result.interval.low if isinstance(result, Estimate) and result.interval else None
    if low is None or low <= 0:
        shown = numbers.measured(found, result) if isinstance(result, Estimate) else f"undefined ({result.reason})"
        raise UsageError(
            f"{name} does not show that the judge agrees with the labels beyond chance: {found.title.lower()} {shown}",
            fix="use more labeled data if the interval is wide. Otherwise do not base a claim on this judge",
        )


def _agreement(measures: Sequence[MeasureRecord]) -> MeasureRecord | None:
    """Returns the agreement with labels on natural text; None without labels."""
    whole = [one for one in measures if one.variant == BASELINE and not getattr(one, "group", "")]
    by_key = {(measure.name, measure.stratum): measure for measure in whole}
    known = [by_key[key] for key in NATURAL if key in by_key]
    defined = [measure for measure in known if isinstance(measure.result, Estimate)]
    return next(iter(defined or known), None)


def _same_judge(one: JudgeRecord, other: JudgeRecord) -> bool:
    """Whether two records are about one judge. The rubric is in a grader's prompt, so that differs with the data."""
    if one.fingerprint == other.fingerprint:
        return True
    same = all(
        getattr(one, part) == getattr(other, part) for part in ("kind", "model", "decoding", "scale", "capabilities")
    )
    prompts = one.prompts.get(BASELINE), other.prompts.get(BASELINE)
    # The user's own code has no prompt here: it is known by its fingerprint alone.
    return same and all(prompts) and (one.kind == "grade" or prompts[0] == prompts[1])


def judge_summary(found: ReadRecord) -> JudgeSummary:
    record, judge = found.record, found.record.judge
    decision, protocol = getattr(record, "decision", None), found.protocol
    measures = []
    agreement = _agreement(record.measures)
    for name, stratum in (*SHOWN, *([(agreement.name, agreement.stratum)] if agreement else [])):
        for measure in record.measures:
            key = (measure.name, measure.variant, measure.stratum, getattr(measure, "group", ""))
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
        **(protocol.policy_marks(record) if isinstance(protocol, DecidesByPolicy) else NO_POLICY),
        measures=measures,
    )


def statement(correction: Correction, judge: JudgeSummary, evidence: JudgeSummary) -> list[str]:
    """Returns the statement: one sentence for each system, one about the judge, and one about it on natural text."""
    found = [
        f"{f'{system.system}: ' if system.system else ''}{system_sentence(correction, system)}."
        for system in correction.systems
    ]
    about = f"Judge {judge.name} ({judge.model}): {_about(judge)}"
    return [*found, about, f"On natural text with labels ({evidence.protocol}): {_about(evidence)}"]


def _about(judge: JudgeSummary) -> str:
    policy = (
        f" (policy {judge.policy}{'' if judge.policy_shipped else ', not a shipped policy'})" if judge.policy else ""
    )
    decision = f"{TITLES[judge.decision]}{policy}" if judge.decision else "no decision"
    parts = [decision, *(_measured(measure) for measure in judge.measures)]
    incomplete = "" if judge.complete else " The run is incomplete."
    return f"{'; '.join(parts)}.{incomplete}"


def _measured(measure: MeasureRecord) -> str:
    part = f" at {numbers.part(measure.stratum)}" if measure.stratum not in {"", "original"} else ""
    result = measure.result
    said = numbers.measured(measure, result) if isinstance(result, Estimate) else f"undefined ({result.reason})"
    return f"{measure.title[:1].lower()}{measure.title[1:]}{part} {said}"


# Holds a published claim to the files that it rests on, as far as they lie beside it.


def is_claim(path: Path) -> bool:
    """Whether a file looks like a claim: nothing else that Umpirical writes says so in its first lines."""
    if path.suffix != ".json" or not path.is_file():
        return False
    with path.open("rb") as handle:
        return b'"judge-claim/' in handle.read(200)


def absent_files(path: Path) -> list[str]:
    """Returns the files of a claim that do not lie beside it, and are not checked."""
    claim = read_claim(path)
    files = dict.fromkeys([_source(path, claim), _datasheet(path, claim), _evidence(path, claim)])
    return [file.name for file in files if not file.is_file()]


def verify_claim(path: Path) -> Iterator[Check]:
    """Yields one check after another: the claim itself, its card, the data and the judge's record beside it."""
    try:
        claim = read_claim(path)
    except UmpiricalError as error:
        yield Check(path.name, holds=False, found=str(error).partition("\n")[0])
        return
    yield _check(path.name, lambda: _consistent(claim))
    if (card := path.with_suffix(".md")).is_file():
        yield _check(card.name, lambda: _card(card, claim))
    if (source := _source(path, claim)).is_file():
        yield _check(source.name, lambda: _recomputed(source, path, claim))
    if (datasheet := _datasheet(path, claim)).is_file():
        yield _check(datasheet.name, lambda: _judged(datasheet, claim.datasheet, claim.judge))
    if (evidence := _evidence(path, claim)).is_file():
        yield _check(evidence.name, lambda: _natural(datasheet, evidence, claim))


def _check(part: str, work: Callable[[], str]) -> Check:
    try:
        return Check(part, holds=True, found=work())
    except (UmpiricalError, OSError, ValueError, LookupError) as error:
        return Check(part, holds=False, found=str(error).partition("\n")[0])


def _source(path: Path, claim: Claim) -> Path:
    # Only its last part: a claim from elsewhere does not say which of our files are read.
    return path.parent / Path(claim.correction.source.name).name


def _datasheet(path: Path, claim: Claim) -> Path:
    return path.parent / Path(claim.datasheet.name).name


def _evidence(path: Path, claim: Claim) -> Path:
    return path.parent / Path(claim.evidence_file.name).name


def _consistent(claim: Claim) -> str:
    """Raises unless the statement follows from the parts of the claim."""
    if sha256(record_json(claim.correction)) != claim.correction_sha256:
        raise StoreError("the digest of its corrected estimate is wrong")
    if statement(claim.correction, claim.judge, claim.evidence) != claim.sentences:
        raise StoreError("its sentences do not match its numbers")
    _check_agreement("its evidence", claim.evidence.measures)
    if claim.evidence.model != claim.judge.model:
        raise StoreError("its evidence is about a different judge")
    if claim.assumptions != ASSUMED:
        raise StoreError("its list of assumptions is incomplete")
    return f"judge {claim.judge.name}, {len(claim.correction.systems)} corrected, its sentences match its numbers"


def _card(card: Path, claim: Claim) -> str:
    if card.read_text(encoding="utf-8") != claim_text(claim):
        raise StoreError("it does not match the claim")
    return "matches the claim"


def _recomputed(source: Path, path: Path, claim: Claim) -> str:
    published, settings = claim.correction, claim.correction.settings
    spec = TargetSpec(settings.estimate, published.source.columns, settings.low, settings.high)
    target = read_target(source, spec)
    if target.sha256 != published.source.sha256:
        raise StoreError("it is not the file that was corrected: its digest is different")
    # The record that the correction used has to lie beside the claim.
    record = None if settings.record is None else read_record(_datasheet(path, claim))
    again = correct_target(target, settings, record)
    if not alike(*(each.model_dump(exclude={"umpirical_version"}) for each in (again, published))):
        raise StoreError("the corrected estimate does not follow from this file")
    return f"{target.rows:,} rows, the corrected estimate follows from them"


def alike(one: object, other: object) -> bool:
    """Whether two records are the same, but for the last digits of a figure: another machine may round otherwise."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return one == other


def _judged(file: Path, published: MatchRecord, summary: JudgeSummary) -> str:
    judge = read_judge(file)
    if sha256(judge.found.text) != published.sha256:
        raise StoreError("it is not the record that was published with the claim: its digest is different")
    if judge_summary(judge.found) != summary:
        raise StoreError("the claim describes the judge differently")
    held = (
        "follows from its responses" if judge.held else "NOT CHECKED against its responses because the run is not here"
    )
    return f"digest {published.sha256[:16]}, {held}"


def _natural(datasheet: Path, evidence: Path, claim: Claim) -> str:
    said = _judged(evidence, claim.evidence_file, claim.evidence)
    # Without the datasheet nobody can tell whose evidence it is: what is asked of evidence by itself is checked.
    _check_evidence(read_record(datasheet if datasheet.is_file() else evidence), read_record(evidence))
    return said
