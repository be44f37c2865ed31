"""How a trial, its outcome and its response look in an Inspect log."""

from collections.abc import Iterator, Mapping
from typing import Any, assert_never

from inspect_ai.scorer import Score

from umpirical.domain.judgments import Abstained, Failed, Outcome, Unparsed, Verdict
from umpirical.domain.measures import Estimate
from umpirical.domain.responses import Response
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import BASELINE, Trial
from umpirical.reports.numbers import measured_value
from umpirical.reports.record import MeasureRecord
from umpirical.runs.run import Run
from umpirical.study.results import FinishedRun


def planned(run: Run) -> Iterator[tuple[Trial, Stimulus]]:
    """Yields every trial of a run's plan with its stimulus; several stimuli may share one trial."""
    for shard in range(run.shards):
        for trial, part in run.store.plan_shard(shard):
            yield trial, run.stimuli.part(part)[trial.stimulus_id]


def trial_metadata(trial: Trial, stimulus: Stimulus) -> dict[str, Any]:
    """Returns what was shown, and how; not what a good judge would say."""
    shown, layout = trial.presentation, trial.presentation.layout
    return {
        "family": str(stimulus.family),
        "stratum": stimulus.stratum,
        "step": stimulus.delta,
        "task": stimulus.cluster,
        "stimulus": stimulus.id,
        "order": str(shown.order),
        "variant": shown.variant,
        "repeat": shown.repeat,
        "layout": None
        if layout is None
        else {"labels": layout.slot_labels, "options_swapped": layout.options_swapped, "tie_place": layout.tie_place},
    }


def score_of(outcome: Outcome, response: Response, *, metadata: Mapping[str, Any]) -> Score:
    """Returns an outcome as a score. What is no verdict is a word of its own, and never a number."""
    value, name, why = _words(outcome)
    about = {"outcome": name, "why": why, "stop_reason": response.finish_reason, **metadata}
    return Score(value=value, answer=response.text, explanation=why or None, metadata=about)


def _words(outcome: Outcome) -> tuple[str | float, str, str]:
    """Returns the value of the score, the name of the outcome, and the reason why it is no verdict."""
    match outcome:
        case Verdict(value=value):
            return (value if isinstance(value, float) else str(value)), "verdict", ""
        case Abstained():
            return "abstained", "abstained", ""
        case Unparsed(why=why):
            return "unparsed", "unparsed", why
        case Failed(kind=kind, detail=detail):
            return "failed", "failed", f"{kind}: {detail}" if detail else str(kind)
        case _:
            assert_never(outcome)


# Measures as metrics of Inspect's, which are bare numbers: what is none is left to the metadata, with the reason.


def metrics(finished: FinishedRun) -> dict[str, float]:
    """Returns the decision, as the exit code of a command that decides, and every headline measure with a value."""
    found = {"decision": float(finished.decision.exit_code)} if finished.decision else {}
    return found | {name: estimate.value for name, estimate in estimates(finished).items()}


def estimates(finished: FinishedRun) -> dict[str, Estimate]:
    """Returns the headline measures that are numbers, by name."""
    return {
        _name(measure): measure.result
        for measure in _headline(finished)
        if isinstance(measure.result, Estimate) and measure.result.censoring == "none"
    }


def undefined(finished: FinishedRun) -> dict[str, str]:
    """Returns the headline measures that are no numbers, each with the reason."""
    return {_name(measure): why for measure in _headline(finished) if (why := _why_not(measure))}


def _why_not(measure: MeasureRecord) -> str:
    if not isinstance(measure.result, Estimate):
        return measure.result.reason
    if measure.result.censoring == "none":
        return ""
    return f"only a bound is known: {measured_value(measure, measure.result)}"


def _headline(finished: FinishedRun) -> list[MeasureRecord]:
    """Returns the measures of the whole design; those of its strata are in the documents."""
    found: list[Any] = finished.record.measures
    return [measure for measure in found if not measure.stratum and not getattr(measure, "group", "")]


def _name(measure: MeasureRecord) -> str:
    return measure.name if measure.variant == BASELINE else f"{measure.name}, {measure.variant}"
