"""Corrected estimates and claims as Markdown, pure functions of their records. Foreign text in them is inert."""

from collections.abc import Iterable, Iterator

from umpirical.claims.record import BoundsRecord, Claim, Correction, SystemRecord
from umpirical.claims.sentences import METHODS, correction_lines, figure
from umpirical.reports import numbers
from umpirical.reports.card import plain, quoted
from umpirical.reports.record import EstimateRecord


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
        alone = figure(system.uncorrected) if isinstance(system.uncorrected, EstimateRecord) else "none"
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
    if isinstance(found, EstimateRecord):
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
    yield from ("## What it rests on", "", "| file | SHA-256 |", "| --- | --- |")
    rests = [
        (claim.correction.source.name, claim.correction.source.sha256),
        ("the corrected estimate", claim.correction_sha256),
        (claim.datasheet.name, claim.datasheet.sha256),
        ("this claim, as JSON", digest),
    ]
    yield from (f"| {plain(name)} | `{sha}` |" for name, sha in rests)
    yield from ("", "To check it, put the JSON of the claim beside the other files:  `umpirical verify CLAIM.json`")
