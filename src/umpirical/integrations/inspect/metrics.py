"""Measures as metrics of Inspect's, which are bare numbers: what is none is left to the metadata, with the reason."""

from typing import Any

from umpirical.domain.trials import BASELINE
from umpirical.reports.numbers import measured_value
from umpirical.reports.record import EstimateRecord, MeasureRecord
from umpirical.study.results import FinishedRun


def metrics(finished: FinishedRun) -> dict[str, float]:
    """Returns the decision, as the exit code of a command that decides, and every headline measure with a value."""
    found = {"decision": float(finished.decision.exit_code)} if finished.decision else {}
    return found | {name: estimate.value for name, estimate in estimates(finished).items()}


def estimates(finished: FinishedRun) -> dict[str, EstimateRecord]:
    """Returns the headline measures that are numbers, by name."""
    return {
        _name(measure): measure.result
        for measure in _headline(finished)
        if isinstance(measure.result, EstimateRecord) and measure.result.censoring == "none"
    }


def undefined(finished: FinishedRun) -> dict[str, str]:
    """Returns the headline measures that are no numbers, each with the reason."""
    return {_name(measure): why for measure in _headline(finished) if (why := _why_not(measure))}


def _why_not(measure: MeasureRecord) -> str:
    if not isinstance(measure.result, EstimateRecord):
        return measure.result.reason
    if measure.result.censoring == "none":
        return ""
    return f"only a bound is known: {measured_value(measure, measure.result)}"


def _headline(finished: FinishedRun) -> list[MeasureRecord]:
    """Returns the measures of the whole design; those of its strata are in the documents."""
    found: list[Any] = finished.record.measures
    return [measure for measure in found if not measure.stratum and not getattr(measure, "group", "")]


def _name(measure: MeasureRecord) -> str:
    return measure.name if measure.arm == BASELINE else f"{measure.name}, {measure.arm}"
