"""The record of a judge that an estimate or a claim rests on: found, and held to whatever lies beside it."""

from dataclasses import dataclass
from math import isclose
from pathlib import Path

from umpirical.claims.documents import sha256
from umpirical.domain.errors import StoreError
from umpirical.protocols.catalogue import ReadRecord, read_record
from umpirical.reports.record import EstimateRecord
from umpirical.study.run_targets import find_run
from umpirical.study.verification import verify_run

EDITED = "was it edited? `umpirical report RUN` writes it again from the responses"


@dataclass(frozen=True, slots=True)
class JudgeRecordFile:
    """A judge's record, and whether its run was there to hold it to."""

    found: ReadRecord
    held: bool


def find_record(target: str | Path) -> ReadRecord:
    """Reads the record that a person means: a JSON file, the folder of a run, or the name of a run or a judge."""
    path = Path(target)
    return read_record(path if path.is_file() else find_run(target))


def read_judge(target: str | Path) -> JudgeRecordFile:
    """Reads a datasheet or stress report: from a run, whose responses it is held to, or from a file by itself.

    Raises StoreError if the record does not follow from its responses, if it contradicts itself, or if it is not the
    one whose digest is on the card beside it.
    """
    found = find_record(target)
    _check_rates(found)
    _check_card(found)
    if found.run is None:
        return JudgeRecordFile(found, held=False)
    for check in verify_run(found.run, record=found.file):
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
