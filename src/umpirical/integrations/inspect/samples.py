"""How a trial, its outcome and its response look in an Inspect log."""

from collections.abc import Iterator, Mapping
from typing import Any, assert_never

from inspect_ai.scorer import Score

from umpirical.domain.judgments import Abstained, Failed, Outcome, Unparsed, Verdict
from umpirical.domain.responses import Response
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import Trial
from umpirical.runs.run import Run


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
        "arm": shown.arm,
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
