"""Corrected estimates and claims in words: assumptions, sentences, Markdown, and the files they are kept in."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from umpirical.claims.record import BoundsRecord, Claim, Correction, Method, SettingsRecord, SystemRecord
from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Estimate
from umpirical.protocols.catalogue import LARGEST
from umpirical.reports import numbers
from umpirical.reports.pages import plain, quoted
from umpirical.reports.record import Strict, first_problem, record_json
from umpirical.store.files import write_text

TRUTH = "The labels are the truth: where people err, the corrected estimate errs with them."


def correction_assumptions(
    method: Method, settings: SettingsRecord, columns: Mapping[str, str], *, systems: int
) -> list[str]:
    """Returns what a correction assumes."""
    said = [*_of_method(method, settings), _of_rows(columns)]
    if settings.estimate == "win-rate":
        said.append("A tie counts one half. Verdicts and labels name the same side: a win is one in both.")
    if "item" not in columns:
        said.append("No column names the items: that no item is there twice could not be checked.")
    if systems > 1:
        said.append(
            "The judge's limits are held against every system. Nobody has tested that it errs alike on all."
            if method == "bounds"
            else "Every system is corrected by its own labels. No calibration is shared between systems."
        )
    return said


def _of_method(method: Method, settings: SettingsRecord) -> list[str]:
    if method == "labels":
        return [
            "The labelled rows are a random sample of the rows that have a verdict.",
            "A choice of rows by what the judge said is looked for; any other choice goes unseen.",
            TRUTH,
            "The interval is about the population that the rows were drawn from.",
        ]
    if method == "bounds":
        step = f"{numbers.step(settings.step)} {numbers.units('requirement', settings.step)}"
        return [
            "The judge errs on these rows as on the built-in stimuli, within the limits. Nothing here tests that.",
            f"Two answers are equal, or one is better by at least {step} of the built-in ladder.",
            "Each pair was shown in an order that was drawn by chance, or in both orders.",
            "If all of that is so, the bounds hold the truth in at least 95 % of samples.",
            "They are no interval around an estimate: nothing between them can be ruled out.",
        ]
    origin = (
        "Labels were given to so many rows of each label, and rows of one label are a random sample of the target's "
        "rows of that label. Rows with a label are not part of the target."
        if settings.labels == "by-label"
        else "Sensitivity and specificity carry over to these rows from elsewhere. Nothing here tests that."
    )
    positive = "What counts as positive in the record is what passes here." if settings.record else ""
    return [origin, "The judge errs alike on all rows of one truth.", *([positive] if positive else []), TRUTH]


def _of_rows(columns: Mapping[str, str]) -> str:
    if "cluster" in columns:
        return "Rows of different clusters are independent of each other."
    return "Every row is independent of the others: no column of clusters was named."


ASSUMED = [
    "The verdicts were given by the judge of the datasheet, as it was measured. The file does not say by whom.",
    "The datasheet follows from the judge's responses. `umpirical verify` checks that where the run is at hand.",
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
            yield f"  with those rows at any value: {numbers.interval(*system.with_missing)}"
        for rate in system.error_rates:
            limit = "" if rate.limit is None else f", limit used {numbers.rate(rate.limit)}"
            counts = f"{numbers.count(rate.numerator)}/{numbers.count(rate.denominator)}"
            yield f"  {rate.name}: {numbers.rate(rate.value)} ({counts}{limit}; {rate.origin})"
        for warning in system.warnings:
            yield f"  warning: {warning}"
    if correction.systems_differ is not None:
        p = numbers.p_value(correction.systems_differ)
        verdict = "differ" if correction.systems_differ < DIFFER else "are not shown to differ"
        yield f"The judge's errors {verdict} between systems ({p}); each is corrected by its own labels all the same."


def system_sentence(correction: Correction, system: SystemRecord) -> str:
    """Returns what the judge says and what is left of it: `win rate 0.620, corrected 0.580 [0.510, 0.650] (...)`."""
    name = correction.settings.estimate.replace("-", " ")
    alone = system.uncorrected
    before = figure(alone) if isinstance(alone, Estimate) else "none"
    found = system.corrected
    if isinstance(found, BoundsRecord):
        if not found.learned:
            return f"{name} by the judge {before}; nothing is learned: the judge's error rates allow almost any value"
        within = numbers.interval(found.low, found.high)
        return f"{name} by the judge {before}; it lies within {within} ({METHODS['bounds']})"
    if not isinstance(found, Estimate):
        return f"{name} by the judge {before}; no corrected estimate: {found.reason}"
    return f"{name} by the judge {before}; corrected {figure(found)} ({METHODS[system.method]}, {_counts(system)})"


def figure(estimate: Estimate) -> str:
    """Returns a value and its interval."""
    limits = estimate.interval
    return f"{numbers.rate(estimate.value)} {numbers.interval(limits.low, limits.high) if limits else ''}".rstrip()


def _counts(system: SystemRecord) -> str:
    if system.labels:
        return f"{numbers.count(system.labels)} {numbers.units('label', system.labels)}"
    return "error rates from elsewhere"


# Corrected estimates and claims as Markdown, pure functions of their records. Foreign text in them is inert.


def render_correction_markdown(correction: Correction) -> str:
    """Renders a corrected estimate."""
    return "\n".join(_correction(correction)) + "\n"


def render_claim_markdown(claim: Claim, digest: str) -> str:
    """Renders a claim; `digest` is that of its JSON."""
    return "\n".join(_claim(claim, digest)) + "\n"


def _correction(correction: Correction) -> Iterator[str]:
    name = correction.settings.estimate.replace("-", " ")
    yield from ("---", f"format: {quoted(correction.format)}", f"data: {quoted(correction.source.name)}", "---", "")
    yield from (f"# Corrected {name}: {plain(correction.source.name)}", "")
    yield from (f"- {plain(line)}" for line in correction_lines(correction))
    yield from ("", *_table(correction.systems), "")
    yield from _assumed(correction.assumptions)
    yield f"SHA-256 of the data: `{correction.source.sha256}`"


def _table(systems: Iterable[SystemRecord]) -> Iterator[str]:
    yield "| system | rows | labels | by the judge | corrected | method |"
    yield "| --- | ---: | ---: | --- | --- | --- |"
    for system in systems:
        alone = figure(system.uncorrected) if isinstance(system.uncorrected, Estimate) else "none"
        cells = [
            plain(system.system) or "all",
            numbers.count(system.rows),
            numbers.count(system.labels),
            alone,
            _corrected(system),
            METHODS[system.method],
        ]
        yield f"| {' | '.join(cells)} |"


def _corrected(system: SystemRecord) -> str:
    found = system.corrected
    if isinstance(found, Estimate):
        return figure(found)
    if isinstance(found, BoundsRecord):
        return f"within {numbers.interval(found.low, found.high)}" if found.learned else "nothing is learned"
    return "none"


def _assumed(sentences: Iterable[str]) -> Iterator[str]:
    yield from ("## What is assumed", "")
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
    yield from ("", *_table(claim.correction.systems), "")
    yield from _assumed([*claim.correction.assumptions, *claim.assumptions])
    yield from ("## What it rests on", "", "| what | digest |", "| --- | --- |")
    rests = [
        (claim.correction.source.name, claim.correction.source.sha256),
        ("the corrected estimate", claim.correction_sha256),
        (claim.datasheet.name, claim.datasheet.sha256),
        (f"{claim.evidence_file.name}, run {claim.evidence.run}, on natural text", claim.evidence_file.sha256),
        *([(f"policy {claim.judge.policy}", claim.judge.policy_digest)] if claim.judge.policy else []),
        ("this claim, as JSON", digest),
    ]
    yield from (f"| {plain(name)} | `{sha}` |" for name, sha in rests)
    yield from ("", "To check it, put the JSON of the claim beside the other files:  `umpirical verify CLAIM.json`")


# Writes corrected estimates and claims as JSON and Markdown, and reads them back.


Document = TypeVar("Document", bound=Strict)


def sha256(text: str) -> str:
    """Returns the digest of a text as it stands in a file."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def write_correction(correction: Correction, folder: Path, stem: str) -> tuple[Path, Path]:
    """Writes `STEM.corrected.json` and `STEM.corrected.md`."""
    return _write(folder, f"{stem}.corrected", record_json(correction), render_correction_markdown(correction))


def write_claim(claim: Claim, folder: Path, stem: str) -> tuple[Path, Path]:
    """Writes `STEM.claim.json` and `STEM.claim.md`."""
    text = record_json(claim)
    return _write(folder, f"{stem}.claim", text, claim_text(claim))


def claim_text(claim: Claim) -> str:
    """Returns a claim as Markdown, with the digest of its JSON."""
    return render_claim_markdown(claim, sha256(record_json(claim)))


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
