"""Chooses the readout to use, by rule on one half of the tasks, and describes it on the other half."""

from collections.abc import Sequence

from umpirical.protocols.datasheet.readouts.record import (
    FALSE,
    SEEN,
    ReadoutRow,
    Recommendation,
    measure_in,
    shown_measures,
)
from umpirical.reports import numbers
from umpirical.reports.record import EstimateRecord, MeasureRecord

MORE_OFTEN_THAN_NOT = 0.5


def recommend(rows: Sequence[ReadoutRow], *, target: float) -> Recommendation:
    """Returns the acceptable readout with the best sensitivity, all on the tasks for choosing."""
    made = [row for row in rows if not row.why_not]
    fit = [row for row in made if _is_acceptable(row, target) and _largest(row) > MORE_OFTEN_THAN_NOT]
    if not fit:
        return Recommendation(readout=None, sentences=_none(made, target), rule=_rule(target))
    # Of equally good readouts the first is the simplest.
    best = max(fit, key=_sensitivity)
    return Recommendation(readout=best.name, sentences=_said(best, made, target), rule=_rule(target))


def _is_acceptable(row: ReadoutRow, target: float) -> bool:
    return all(rate is not None and rate <= target for rate in (_false(row, name) for name in FALSE))


def _false(row: ReadoutRow, name: str) -> float | None:
    """Returns the rate, counting whatever has no verdict as a false preference."""
    measure = measure_in(row.chosen_on, name, "")
    if measure is None or not isinstance(measure.result, EstimateRecord):
        # If a vacuum pair is one prompt in both orders, such a readout names no winner; an unanswered one is open.
        unanswered = measure is not None and measure.result.left_out
        return 0.0 if row.pairwise and name == "dark-current" and not unanswered else None
    return measure.result.bounds[1] if measure.result.bounds else measure.result.value


def _seen(row: ReadoutRow) -> dict[float, float]:
    """Returns sensitivity by step, counting whatever has no verdict as not seen. Skips a step of a single task."""
    found = {}
    for measure in row.chosen_on:
        result = measure.result
        if measure.name != SEEN:
            continue
        if isinstance(result, EstimateRecord):
            found[float(measure.stratum)] = result.bounds[0] if result.bounds else result.value
        elif result.left_out:
            found[float(measure.stratum)] = 0.0
    return found


def _sensitivity(row: ReadoutRow) -> float:
    seen = _seen(row)
    return sum(seen.values()) / len(seen) if seen else 0.0


def _largest(row: ReadoutRow) -> float:
    seen = _seen(row)
    return seen[max(seen)] if seen else 0.0


def _rule(target: float) -> list[str]:
    return [
        (
            f"Acceptable: raw false preference and dark current are both at most {numbers.rate(target)} on the tasks "
            "for choosing, and the largest difference is seen more often than not."
        ),
        "Best: the highest mean of target sensitivity over the steps, on the same tasks; of equals the simplest.",
        "What has no verdict counts against a readout in both.",
        "What is said of the chosen one is measured on the other tasks only.",
    ]


def _none(made: Sequence[ReadoutRow], target: float) -> list[str]:
    said = [
        (
            "No readout is acceptable on the tasks for choosing: none both keeps false preferences at or below "
            f"{numbers.rate(target)} and sees the largest difference more often than not."
        )
    ]
    rates = {row.name: _false(row, FALSE[0]) for row in made}
    known = [row for row in made if rates[row.name] is not None]
    if known:
        least = min(known, key=lambda row: (rates[row.name] or 0.0, -_sensitivity(row)))
        step = f"{max(_seen(least), default=0.0):g}"
        said.append(
            f"The fewest false preferences on equal pairs there has {least.name}, "
            f"{_words(least.chosen_on, FALSE[0], '')}; its sensitivity at {numbers.part(step)} is "
            f"{_words(least.chosen_on, SEEN, step)}."
        )
    return said


def _said(best: ReadoutRow, made: Sequence[ReadoutRow], target: float) -> list[str]:
    shown = [key for key in shown_measures(made) if key[0] != "tie-rate"]
    parts = "; ".join(_named(best, name, stratum) for name, stratum in shown)
    said = [
        (
            f"Use the readout {best.name}: of those that are acceptable it has the best sensitivity on the tasks for "
            f"choosing, {numbers.rate(_sensitivity(best))} over all steps."
        ),
        f"On the other tasks: {parts}.",
    ]
    measure = measure_in(best.reported_on, FALSE[0], "")
    if measure and isinstance(measure.result, EstimateRecord) and measure.result.interval:
        low, high = measure.result.interval.low or 0.0, measure.result.interval.high
        if low > target:
            said.append(f"There it misses the target of {numbers.rate(target)}: the choice did not hold.")
        elif high is None or high > target:
            said.append(f"That it meets the target of {numbers.rate(target)} there is not settled at this size.")
    return said


def _named(row: ReadoutRow, name: str, stratum: str) -> str:
    measure = measure_in(row.reported_on, name, stratum)
    title = (measure.title if measure else name).lower()
    at = f" at {numbers.part(stratum)}" if stratum else ""
    return f"{title}{at} {_words(row.reported_on, name, stratum)}"


def _words(measures: Sequence[MeasureRecord], name: str, stratum: str) -> str:
    measure = measure_in(measures, name, stratum)
    if measure is None:
        return "not measured"
    if not isinstance(measure.result, EstimateRecord):
        return f"undefined ({measure.result.reason})"
    estimate = measure.result
    return f"{numbers.measured_value(measure, estimate)} {numbers.measured_interval(measure, estimate.interval)}"
