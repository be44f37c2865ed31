"""A corrected estimate in sentences: the same on the terminal, in Markdown and in a claim."""

from collections.abc import Iterator

from umpirical.claims.record import BoundsRecord, Correction, SystemRecord
from umpirical.reports import numbers
from umpirical.reports.record import EstimateRecord

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
    before = figure(alone) if isinstance(alone, EstimateRecord) else "none"
    found = system.corrected
    if isinstance(found, BoundsRecord):
        if not found.learned:
            return f"{name} by the judge {before}; nothing is learned: the judge's error rates allow almost any value"
        within = numbers.interval(found.low, found.high)
        return f"{name} by the judge {before}; it lies within {within} ({METHODS['bounds']})"
    if not isinstance(found, EstimateRecord):
        return f"{name} by the judge {before}; no corrected estimate: {found.reason}"
    return f"{name} by the judge {before}; corrected {figure(found)} ({METHODS[system.method]}, {_counts(system)})"


def figure(estimate: EstimateRecord) -> str:
    """Returns a value and its interval."""
    limits = estimate.interval
    return f"{numbers.rate(estimate.value)} {numbers.interval(limits.low, limits.high) if limits else ''}".rstrip()


def _counts(system: SystemRecord) -> str:
    if system.labels:
        return f"{numbers.count(system.labels)} {numbers.units('label', system.labels)}"
    return "error rates from elsewhere"
