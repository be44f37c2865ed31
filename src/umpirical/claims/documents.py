"""Corrected estimates and claims in words: assumptions, sentences, Markdown, and the files they are kept in."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from umpirical.claims.record import BoundsRecord, Claim, Correction, Method, SettingsRecord, SystemRecord
from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Estimate
from umpirical.measures.catalogue import Scale
from umpirical.protocols.catalogue import LARGEST
from umpirical.reports import numbers
from umpirical.reports.pages import plain, quoted
from umpirical.reports.record import Strict, record_json
from umpirical.store.files import write_text
from umpirical.text.problems import first_problem

TRUTH = "The labels are correct. If people make errors, the corrected estimate contains the same errors."


def correction_assumptions(
    method: Method, settings: SettingsRecord, columns: Mapping[str, str], *, systems: int
) -> list[str]:
    said = [*_of_method(method, settings), _of_rows(columns)]
    if settings.estimate == "win-rate":
        said.append("A tie counts as half a win. Verdicts and labels both name the side that wins.")
    if "item" not in columns:
        said.append("No item appears twice. This could not be checked because no column names the items.")
    if systems > 1:
        said.append(
            "The same thresholds for the judge's errors apply to every system. This was not tested."
            if method == "bounds"
            else "Each system is corrected with its own labels. Systems share no calibration."
        )
    return said


def _of_method(method: Method, settings: SettingsRecord) -> list[str]:
    if method == "labels":
        return [
            "The labeled rows are a random sample of the rows with a verdict.",
            "Umpirical checks whether rows were chosen by verdict. It cannot detect any other selection.",
            TRUTH,
            "The interval describes the population from which the rows were drawn.",
        ]
    if method == "bounds":
        step = f"{numbers.step(settings.step)} {numbers.units('requirement', settings.step)}"
        return [
            "The judge errs on these rows as on the built-in test cases, within the limits. This was not tested.",
            f"Two answers are equal, or one is better by at least {step} as the built-in test cases count it.",
            "Each pair was shown in random order, or in both orders.",
            "If all these assumptions hold, the bounds contain the true value in at least 95% of samples.",
            "They are not an interval around an estimate: every value between them remains possible.",
        ]
    origin = (
        "You chose how many rows of each label to label. Rows of one label are a random sample of the target's rows "
        "with that label. The labeled rows are not part of the target."
        if settings.labels == "by-label"
        else "Sensitivity and specificity measured elsewhere also apply to these rows. This was not tested."
    )
    positive = "A positive label in the record means the same as a pass here." if settings.record else ""
    return [
        origin,
        "The judge errs equally often on all rows with the same true label.",
        *([positive] if positive else []),
        TRUTH,
    ]


def _of_rows(columns: Mapping[str, str]) -> str:
    if "cluster" in columns:
        return "Rows in different clusters are independent of each other."
    return "All rows are independent of each other: you named no cluster column."


ASSUMED = [
    "The verdicts come from the judge described in the datasheet. The file does not name its judge.",
    "The datasheet follows from the judge's responses. `umpirical verify` checks this if the run is available.",
]
"""What a claim assumes beside the correction and the datasheet."""


# A corrected estimate in sentences: the same on the terminal, in Markdown and in a claim.


METHODS = {
    "labels": "PPI++",
    "rogan-gladen": "Rogan-Gladen",
    "confusion": "confusion matrix inverted",
    "bounds": "bounds",
}

DIFFER = 0.05


def correction_lines(correction: Correction) -> Iterator[str]:
    """Yields one sentence for each system and what there is to say about it."""
    for system in correction.systems:
        yield f"{f'{system.system}: ' if system.system else ''}{system_sentence(correction, system)}"
        if system.without:
            counts = ", ".join(f"{numbers.count(count)} {reason}" for reason, count in system.without.items())
            missing = numbers.count(sum(system.without.values()))
            yield f"  {missing} of {numbers.count(system.rows)} rows have no verdict ({counts})"
        if system.with_missing:
            within = numbers.scaled_interval(*system.with_missing, scale_of(correction))
            yield f"  with those rows at every possible value: {within}"
        for rate in system.error_rates:
            limit = "" if rate.limit is None else f", limit used {numbers.rate(rate.limit)}"
            counts = f"{numbers.count(rate.numerator)}/{numbers.count(rate.denominator)}"
            yield f"  {rate.name}: {numbers.rate(rate.value)} ({counts}{limit}; {rate.origin})"
        for warning in system.warnings:
            yield f"  warning: {warning}"
    if correction.systems_differ is not None:
        p = numbers.p_value(correction.systems_differ)
        verdict = "differ" if correction.systems_differ < DIFFER else "do not differ significantly"
        yield f"The judge's errors {verdict} between systems ({p}). Each system is corrected with its own labels."


def system_sentence(correction: Correction, system: SystemRecord) -> str:
    """Returns what the judge says and what is left of it: `win rate 0.620, corrected 0.580 [0.510, 0.650] (...)`."""
    name = correction.settings.estimate.replace("-", " ")
    alone = system.uncorrected
    scale = scale_of(correction)
    before = figure(alone, scale) if isinstance(alone, Estimate) else "none"
    found = system.corrected
    if isinstance(found, BoundsRecord):
        if not found.learned:
            return f"{name} by the judge {before}; almost any value is possible with the judge's error rates"
        within = numbers.scaled_interval(found.low, found.high, scale)
        return f"{name} by the judge {before}; true value within {within} ({METHODS['bounds']})"
    if not isinstance(found, Estimate):
        return f"{name} by the judge {before}; no corrected estimate: {found.reason}"
    return (
        f"{name} by the judge {before}; corrected {figure(found, scale)} ({METHODS[system.method]}, {_counts(system)})"
    )


def scale_of(correction: Correction) -> Scale:
    """Returns the scale of the corrected values: a mean score is in grades, everything else is a rate."""
    return "steps" if correction.settings.estimate == "mean-score" else "rate"


def figure(estimate: Estimate, scale: Scale) -> str:
    limits = estimate.interval
    written = numbers.scaled_interval(limits.low, limits.high, scale) if limits else ""
    return f"{numbers.scaled(estimate.value, scale)} {written}".rstrip()


def _counts(system: SystemRecord) -> str:
    if system.labels:
        return f"{numbers.count(system.labels)} {numbers.units('label', system.labels)}"
    return "error rates from another source"


# Corrected estimates and claims as Markdown, pure functions of their records. Foreign text in them is inert.


def render_correction_markdown(correction: Correction) -> str:
    return "\n".join(_correction(correction)) + "\n"


def render_claim_markdown(claim: Claim, digest: str) -> str:
    return "\n".join(_claim(claim, digest)) + "\n"


def _correction(correction: Correction) -> Iterator[str]:
    name = correction.settings.estimate.replace("-", " ")
    yield from ("---", f"format: {quoted(correction.format)}", f"data: {quoted(correction.source.name)}", "---", "")
    yield from (f"# Corrected {name}: {plain(correction.source.name)}", "")
    yield from (f"- {plain(line)}" for line in correction_lines(correction))
    yield from ("", *_table(correction.systems, scale_of(correction)), "")
    yield from _assumed(correction.assumptions)
    yield f"SHA-256 of the data: `{correction.source.sha256}`"


def _table(systems: Iterable[SystemRecord], scale: Scale) -> Iterator[str]:
    yield "| system | rows | labels | by the judge | corrected | method |"
    yield "| --- | ---: | ---: | --- | --- | --- |"
    for system in systems:
        alone = figure(system.uncorrected, scale) if isinstance(system.uncorrected, Estimate) else "none"
        cells = [
            plain(system.system) or "all",
            numbers.count(system.rows),
            numbers.count(system.labels),
            alone,
            _corrected(system, scale),
            METHODS[system.method],
        ]
        yield f"| {' | '.join(cells)} |"


def _corrected(system: SystemRecord, scale: Scale) -> str:
    found = system.corrected
    if isinstance(found, Estimate):
        return figure(found, scale)
    if isinstance(found, BoundsRecord):
        return f"within {numbers.scaled_interval(found.low, found.high, scale)}" if found.learned else "no information"
    return "none"


def _assumed(sentences: Iterable[str]) -> Iterator[str]:
    yield from ("## Assumptions", "")
    yield from (f"- {plain(sentence)}" for sentence in sentences)
    yield ""


def _claim(claim: Claim, digest: str) -> Iterator[str]:
    fields = {
        "format": claim.format,
        "judge": claim.judge.name,
        "model": claim.judge.model,
        "datasheet_sha256": claim.datasheet.sha256,
    }
    yield from ("---", *(f"{name}: {quoted(value)}" for name, value in fields.items()), "---", "")
    yield from (f"# Claim: {claim.correction.settings.estimate.replace('-', ' ')} by {plain(claim.judge.name)}", "")
    yield from (f"- {plain(sentence)}" for sentence in claim.sentences)
    yield from ("", *_table(claim.correction.systems, scale_of(claim.correction)), "")
    yield from _assumed([*claim.correction.assumptions, *claim.assumptions])
    yield from ("## Evidence", "", "| file | digest |", "| --- | --- |")
    rests = [
        (claim.correction.source.name, claim.correction.source.sha256),
        ("the corrected estimate", claim.correction_sha256),
        (claim.datasheet.name, claim.datasheet.sha256),
        (f"{claim.evidence_file.name}, run {claim.evidence.run}, on natural text", claim.evidence_file.sha256),
        *([(f"policy {claim.judge.policy}", claim.judge.policy_digest)] if claim.judge.policy else []),
        ("this claim, as JSON", digest),
    ]
    yield from (f"| {plain(name)} | `{sha}` |" for name, sha in rests)
    yield from (
        "",
        "To check this claim, save its JSON next to the other files and run `umpirical verify CLAIM.json`.",
    )


# Writes corrected estimates and claims as JSON and Markdown, and reads them back.


Document = TypeVar("Document", bound=Strict)


def sha256(text: str) -> str:
    """Returns the digest of a text as it stands in a file."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def write_correction(correction: Correction, folder: Path, stem: str) -> tuple[Path, Path]:
    return _write(folder, f"{stem}.corrected", record_json(correction), render_correction_markdown(correction))


def write_claim(claim: Claim, folder: Path, stem: str) -> tuple[Path, Path]:
    text = record_json(claim)
    return _write(folder, f"{stem}.claim", text, claim_text(claim))


def claim_text(claim: Claim) -> str:
    """Returns a claim as Markdown, with the digest of its JSON."""
    return render_claim_markdown(claim, sha256(record_json(claim)))


def read_correction(path: Path) -> Correction:
    return _read(path, Correction, "a corrected estimate, as written by `umpirical correct`")


def read_claim(path: Path) -> Claim:
    return _read(path, Claim, "a claim, as written by `umpirical claim`")


def _write(folder: Path, stem: str, text: str, markdown: str) -> tuple[Path, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / f"{stem}.json", folder / f"{stem}.md"
    for path, content in zip(paths, (text, markdown), strict=True):
        write_text(path, content)
    return paths


def _read(path: Path, kind: type[Document], what: str) -> Document:
    if not path.is_file() or path.stat().st_size > LARGEST:
        raise UsageError(f"{path} does not exist, is not a file or is too large", fix=f"name {what}")
    try:
        return kind.model_validate_json(path.read_text(encoding="utf-8"))
    except ValidationError as error:
        raise UsageError(f"{path.name} is incomplete or damaged: {first_problem(error)}", fix=f"name {what}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path.name} is not UTF-8 text", fix=f"name {what}") from None
