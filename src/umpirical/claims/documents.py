"""Writes corrected estimates and claims as JSON and Markdown, and reads them back."""

import hashlib
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from umpirical.claims.pages import render_claim_markdown, render_correction_markdown
from umpirical.claims.record import Claim, Correction, render_claim_json, render_correction_json
from umpirical.domain.errors import UsageError
from umpirical.protocols.catalogue import LARGEST
from umpirical.reports.record import Strict, first_problem
from umpirical.store.files import write_text

Document = TypeVar("Document", bound=Strict)


def sha256(text: str) -> str:
    """Returns the digest of a text as it stands in a file."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def write_correction(correction: Correction, folder: Path, stem: str) -> tuple[Path, Path]:
    """Writes `STEM.corrected.json` and `STEM.corrected.md`."""
    return _write(
        folder, f"{stem}.corrected", render_correction_json(correction), render_correction_markdown(correction)
    )


def write_claim(claim: Claim, folder: Path, stem: str) -> tuple[Path, Path]:
    """Writes `STEM.claim.json` and `STEM.claim.md`."""
    text = render_claim_json(claim)
    return _write(folder, f"{stem}.claim", text, claim_text(claim))


def claim_text(claim: Claim) -> str:
    """Returns a claim as Markdown, with the digest of its JSON."""
    return render_claim_markdown(claim, sha256(render_claim_json(claim)))


def read_correction(path: Path) -> Correction:
    return _read(path, Correction, "a corrected estimate: umpirical correct writes one")


def read_claim(path: Path) -> Claim:
    return _read(path, Claim, "a claim: umpirical claim writes one")


def _write(folder: Path, stem: str, text: str, markdown: str) -> tuple[Path, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / f"{stem}.json", folder / f"{stem}.md"
    for path, content in zip(paths, (text, markdown), strict=True):
        write_text(path, content)
    return paths


def _read(path: Path, kind: type[Document], what: str) -> Document:
    if not path.is_file() or path.stat().st_size > LARGEST:
        raise UsageError(f"{path} is no file, or too large to read", fix=f"name {what}")
    try:
        return kind.model_validate_json(path.read_text(encoding="utf-8"))
    except ValidationError as error:
        raise UsageError(f"{path.name} is not whole: {first_problem(error)}", fix=f"name {what}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path.name} is not UTF-8 text", fix=f"name {what}") from None
