"""Holds a published claim to the files that it rests on, as far as they lie beside it."""

from collections.abc import Callable, Iterator
from math import isclose
from pathlib import Path

from umpirical.claims import assumptions
from umpirical.claims.correction import correct_target
from umpirical.claims.documents import claim_text, read_claim, sha256
from umpirical.claims.judge_records import read_judge
from umpirical.claims.record import Claim, render_correction_json
from umpirical.claims.statement import judge_summary, statement
from umpirical.datasets.verdicts.targets import TargetSpec, read_target
from umpirical.domain.errors import StoreError, UmpiricalError
from umpirical.protocols.catalogue import ReadRecord, read_record
from umpirical.study.verification import Check


def is_claim(path: Path) -> bool:
    """Whether a file looks like a claim: nothing else that Umpirical writes says so in its first lines."""
    if path.suffix != ".json" or not path.is_file():
        return False
    with path.open("rb") as handle:
        return b'"judge-claim/' in handle.read(200)


def absent_files(path: Path) -> list[str]:
    """Returns the files of a claim that do not lie beside it, and are not checked."""
    claim = read_claim(path)
    return [file.name for file in (_source(path, claim), _datasheet(path, claim)) if not file.is_file()]


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
        yield _check(datasheet.name, lambda: _judged(datasheet, claim))


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


def _consistent(claim: Claim) -> str:
    """Raises unless the statement follows from the parts of the claim."""
    if sha256(render_correction_json(claim.correction)) != claim.correction_sha256:
        raise StoreError("its corrected estimate has another digest")
    if statement(claim.correction, claim.judge) != claim.sentences:
        raise StoreError("its sentences do not follow from its figures")
    if claim.assumptions != assumptions.of_claim(held=claim.held_to_responses):
        raise StoreError("it does not say all that it assumes")
    return f"judge {claim.judge.name}, {len(claim.correction.systems)} corrected, its sentences follow from its figures"


def _card(card: Path, claim: Claim) -> str:
    if card.read_text(encoding="utf-8") != claim_text(claim):
        raise StoreError("it does not say what the claim says")
    return "follows from the claim"


def _recomputed(source: Path, path: Path, claim: Claim) -> str:
    """Computes the correction again from the data."""
    published, settings = claim.correction, claim.correction.settings
    spec = TargetSpec(settings.estimate, published.source.columns, settings.low, settings.high)
    target = read_target(source, spec)
    if target.sha256 != published.source.sha256:
        raise StoreError("it is not the file that was corrected: another digest")
    again = correct_target(target, settings, _record(path, claim))
    if not _alike(*(each.model_dump(exclude={"umpirical_version"}) for each in (again, published))):
        raise StoreError("the corrected estimate does not follow from it")
    return f"{target.rows:,} rows, the corrected estimate follows from them"


def _alike(one: object, other: object) -> bool:
    """Whether two records are the same, but for the last digits of a figure: another machine may round otherwise."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return one == other


def _record(path: Path, claim: Claim) -> ReadRecord | None:
    """Returns the record that the correction used, which has to lie beside the claim."""
    return None if claim.correction.settings.record is None else read_record(_datasheet(path, claim))


def _judged(datasheet: Path, claim: Claim) -> str:
    judge = read_judge(datasheet)
    if sha256(judge.found.text) != claim.datasheet.sha256:
        raise StoreError("it is not the record that was published with the claim: another digest")
    if judge_summary(judge.found) != claim.judge:
        raise StoreError("the claim says something else about the judge")
    held = "follows from its responses" if judge.held else "its responses are not here"
    return f"digest {claim.datasheet.sha256[:16]}, {held}"
