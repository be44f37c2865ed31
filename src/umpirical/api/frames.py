"""Calls and test cases as data frames, for an analysis of your own."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from umpirical.domain.judgments import Abstained, Failed, Outcome, Unparsed, Verdict
from umpirical.domain.responses import Response
from umpirical.domain.stimuli import GivenWinner, Stimulus
from umpirical.domain.trials import Trial, position_of
from umpirical.measures.counting.correctness import result_column
from umpirical.measures.counting.judgments import counting
from umpirical.protocols.catalogue import protocol_of_run
from umpirical.runs.judgments import read_judgments
from umpirical.runs.plan import shown
from umpirical.runs.run import Run, open_run
from umpirical.store.schemas import judgment_schema
from umpirical.text.words import word_count

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Kind = Literal["text", "count", "number", "flag"]
"""Types of a column. All of them allow missing values: an unknown number is missing, and not NaN."""

Rows = Iterable[Mapping[str, Any]]


Columns = Mapping[str, tuple[Kind, str]]
"""Columns of a table: type and meaning."""


def pandas_frame(rows: Rows, columns: Columns) -> "pd.DataFrame":
    """Returns rows as a pandas data frame."""
    import pandas as pd

    types = {"text": "string", "count": "Int64", "number": "Float64", "flag": "boolean"}
    frame = pd.DataFrame(list(rows), columns=list(columns), dtype=object)
    return frame.astype({name: types[kind] for name, (kind, _) in columns.items()})


def polars_frame(rows: Rows, columns: Columns) -> "pl.DataFrame":
    """Returns rows as a Polars data frame."""
    import polars as pl

    types = {"text": pl.String, "count": pl.Int64, "number": pl.Float64, "flag": pl.Boolean}
    return pl.DataFrame(list(rows), schema={name: types[kind] for name, (kind, _) in columns.items()})


WORDS: Columns = {
    "trial_id": ("text", "The call."),
    "stimulus_id": ("text", "The test case, as in `stimuli()`."),
    "task_id": ("text", "The task of the test case."),
    "cluster": ("text", "Calls of one cluster are not independent: a task family, or what your study names."),
    "family": ("text", "The family of test cases, or the stress test."),
    "stratum": ("text", "The part of the design: of a family, a step, a stress test or an edit. Empty for the whole."),
    "group": ("text", "A part of your own data, such as `subset=math`. Empty for all of it."),
    "step": ("number", "Quality difference between the two answers, in requirements."),
    "variant": ("text", "The judge's prompt variant."),
    "repeat": ("count", "Number of the repetition, from 0."),
    "order": ("text", "`ab`, or `ba` if the answers were swapped."),
    "better": ("text", "The better answer, `a` or `b`. Missing if neither is better."),
    "better_position": ("count", "Position of the better answer, 1 or 2. Missing if neither is better."),
    "outcome": ("text", "`verdict`, `abstained`, `unparsed`, `failed` or `unasked`."),
    "answer": ("text", "The verdict: 1, 2 or tie, or the grade. Missing without a verdict."),
    "correct": (
        "flag",
        "Whether the verdict is right. Missing if the reply is unusable, or if no single verdict is right.",
    ),
    "confidence": ("number", "The judge's confidence, if it states one."),
    "gold": ("text", "The right label."),
    "expectation": ("text", "The verdict of a reliable judge: which answer wins, or that the verdict stays."),
    "parent": ("text", "The test case or text that it was made from, or is compared with."),
    "task": ("text", "The task."),
    "text_1": ("text", "The answer in position 1, or the one to grade."),
    "text_2": ("text", "The answer in position 2."),
    "words_1": ("count", "Words of the answer in position 1."),
    "words_2": ("count", "Words of the answer in position 2."),
    "text_a": ("text", "The first answer, before orders are swapped, or the one to grade."),
    "text_b": ("text", "The second answer."),
    "reply": ("text", "The judge's reply."),
    "trouble": ("text", "The reason for a missing verdict."),
    "maker": ("text", "The maker of the test case, with its version."),
    "measure": ("text", "The name of the measure."),
    "value": ("number", "The value of the measure. Missing if it is undefined."),
    "low": ("number", "Lower end of the interval."),
    "high": ("number", "Upper end of the interval."),
    "interval_level": ("number", "Confidence level of the interval, such as 0.95."),
    "method": ("text", "How the interval was computed."),
    "numerator": ("number", "The units that the measure counts."),
    "denominator": ("count", "The units that it counts among."),
    "unit": ("text", "The unit of the denominator: call, pair, crossed-pair, item and so on."),
    "clusters": ("count", "Number of clusters behind the value."),
    "censoring": ("text", "On which side a threshold lies beyond the tested range."),
    "undefined": ("text", "The reason for a missing value."),
    "data": ("text", "The name of your data."),
    "first": ("text", "The first judge."),
    "second": ("text", "The second judge."),
    "difference": ("number", "The second judge's value minus the first's, on the same test cases."),
    "margin": ("number", "The largest difference that does not matter."),
    "role": (
        "text",
        "`primary` if a check decides by it, or `exploratory`: the rows that p-values are corrected with.",
    ),
    "p_value": ("number", "Of no difference, for this row alone."),
    "adjusted_p": ("number", "Corrected over all rows of the same role and all pairs of judges."),
    "conclusion": ("text", "`first better`, `equivalent`, `undecided` and so on."),
}
"""Every column of every data frame: a word has one meaning wherever it stands."""


def _columns(*names: str) -> Columns:
    return {name: WORDS[name] for name in names}


CALLS = _columns(
    *("trial_id", "stimulus_id", "cluster", "family", "stratum", "step", "variant", "repeat", "order"),
    *("better_position", "outcome", "answer", "correct", "confidence", "gold", "task", "text_1", "text_2"),
    *("words_1", "words_2", "reply", "trouble"),
)
"""Columns of `judgments()`."""

CASES = _columns(
    *("stimulus_id", "task_id", "cluster", "family", "stratum", "step", "expectation", "better", "gold", "parent"),
    *("task", "text_a", "text_b", "maker"),
)
"""Columns of `stimuli()`."""

_RESULT = ("low", "high", "interval_level", "method", "numerator", "denominator", "unit", "clusters")

MEASURES = _columns("measure", "variant", "stratum", "group", "value", *_RESULT, "censoring", "undefined")
"""Columns of measures."""

DIFFERENCES = _columns(
    *("data", "first", "second", "measure", "variant", "stratum", "difference", "low", "high", "method"),
    *("denominator", "unit", "clusters", "margin", "role", "p_value", "adjusted_p", "conclusion", "undefined"),
)
"""Columns of differences between judges."""


def judgments_frame(folder: Path) -> "pd.DataFrame":
    """Returns a row for each planned call of a run, read again from its responses."""
    run, rows = open_run(folder), list[dict[str, Any]]()
    facts = protocol_of_run(run.store).early().facts
    result = result_column(judgment_schema(facts.columns).names, run.judge.kind)

    def see(trial: Trial, stimulus: Stimulus, outcome: Outcome | None, response: Response | None) -> None:
        rows.append(_call(run, trial, stimulus, outcome, response))

    with (
        read_judgments(run, facts, seen=see, keep=False) as reading,
        counting(reading.judgments, run.judge.kind) as judgments,
    ):
        found = judgments.each(f"select trial_id, {result} as result from judgment")  # noqa: S608  # ours
        results = {row["trial_id"]: row["result"] for row in found}
    for row in rows:
        row["correct"] = {"right": True, "wrong": False}.get(results[row["trial_id"]])
    return pandas_frame(rows, CALLS)


def stimuli_frame(folder: Path) -> "pd.DataFrame":
    """Returns a row for each test case of a run."""
    return pandas_frame(_cases(open_run(folder)), CASES)


def _call(
    run: Run, trial: Trial, stimulus: Stimulus, outcome: Outcome | None, response: Response | None
) -> dict[str, Any]:
    how, seen = trial.presentation, shown(stimulus, trial.presentation.order, run.judge.kind)
    better = stimulus.expectation.candidate if isinstance(stimulus.expectation, GivenWinner) else None
    return {
        "trial_id": trial.id,
        "stimulus_id": stimulus.id,
        "cluster": stimulus.cluster,
        "family": stimulus.family,
        "stratum": stimulus.stratum,
        "step": stimulus.delta,
        "variant": how.variant,
        "repeat": how.repeat,
        "order": how.order.value,
        "better_position": None if better is None else position_of(better, how.order),
        "outcome": "unasked" if outcome is None else type(outcome).__name__.lower(),
        "answer": str(outcome.value) if isinstance(outcome, Verdict) else None,
        "confidence": outcome.confidence if isinstance(outcome, Verdict) else None,
        "gold": stimulus.gold or None,
        "task": seen.task,
        "text_1": seen.first,
        "text_2": seen.second,
        "words_1": word_count(seen.first),
        "words_2": None if seen.second is None else word_count(seen.second),
        "reply": None if response is None else response.text,
        "trouble": _trouble(outcome),
    }


def _trouble(outcome: Outcome | None) -> str | None:
    match outcome:
        case None:
            return "not asked yet"
        case Verdict():
            return None
        case Abstained():
            return "the judge abstained"
        case Unparsed(why=why):
            return why
        case Failed(kind=kind, detail=detail):
            return f"{kind}: {detail}" if detail else kind


def _cases(run: Run) -> Iterator[dict[str, Any]]:
    for stimulus in run.stimuli:
        winner = stimulus.expectation.candidate if isinstance(stimulus.expectation, GivenWinner) else None
        yield {
            "stimulus_id": stimulus.id,
            "task_id": stimulus.task_id,
            "cluster": stimulus.cluster,
            "family": stimulus.family,
            "stratum": stimulus.stratum,
            "step": stimulus.delta,
            "expectation": stimulus.expectation.kind,
            "better": None if winner is None else "ab"[winner],
            "gold": stimulus.gold or None,
            "parent": stimulus.parent or None,
            "task": stimulus.task,
            "text_a": stimulus.candidates[0],
            "text_b": stimulus.candidates[1] if len(stimulus.candidates) > 1 else None,
            "maker": stimulus.maker,
        }
