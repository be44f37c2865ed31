"""The adapter for the metrics of Opik: `GEval`, its presets, and others whose arguments are a task and a response."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from umpirical.domain.trials import Presented
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.adapters.framework import UNIT_SCALE, class_names, on_scale, refusal, versions_of, written
from umpirical.judges.adapters.returned import judgment_text
from umpirical.judges.adapters.source import source_digest
from umpirical.judges.arguments import arguments_of
from umpirical.judges.failures import READING, Unreadable
from umpirical.judges.telemetry import silence_telemetry
from umpirical.judges.threads import in_thread

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec

BOTH = "INPUT: {task}\n\nOUTPUT: {response}"
"""What `GEval` is shown: it takes a single text, and a response cannot be graded without its task."""

UNIT = frozenset({"GEval", "AnswerRelevance", "Usefulness"})
"""Metrics, with those that inherit from them, whose scores are from 0 to 1."""

UNREAD = READING | {"MetricComputationError", "JSONParsingError"}
"""Opik wraps these in the class that it also has for a server that is down."""

MODEL = ("model_name", "_completion_kwargs")


class _Opik:
    """Calls `ascore(input=, output=)`, or `score` in a thread where a metric has no asynchronous twin."""

    def describe(self, judge: object) -> Mapping[str, Any]:
        names = class_names(judge)
        if "BaseMetric" not in names:
            return {}
        told: dict[str, Any] = {"kind": "grade", "name": str(getattr(judge, "name", "") or type(judge).__name__)}
        return told | ({"scale": UNIT_SCALE} if names & UNIT else {})

    def adapt(self, judge: object, spec: "JudgeSpec") -> Adapted:
        names = class_names(judge)
        if "BaseMetric" not in names or spec.kind != "grade":
            raise refusal(judge, spec, "name a metric, such as GEval(task_introduction=..., ...), with kind: grade")
        silence_telemetry()
        metric: Any = judge
        arguments = None if "GEval" in names else arguments_of(metric.score, spec)
        waits = any("ascore" in vars(base) for base in type(judge).__mro__ if base.__name__ != "BaseMetric")

        async def ask(shown: Presented) -> str:
            by_position: list[object] = []
            if arguments is None:
                named: dict[str, object] = {"output": BOTH.format(task=shown.task, response=shown.first)}
            else:
                by_position, named = arguments.of(shown)
            if waits:
                said = await metric.ascore(*by_position, **named)
            else:
                # Its own twin would wait for a thread of the loop's pool, which has few.
                said = await in_thread(lambda: metric.score(*by_position, **named))
            return _text(said, spec)

        return Adapted(ask, _identity(metric, geval=arguments is None), UNREAD)


ADAPTER = _Opik()


def _identity(metric: Any, *, geval: bool) -> dict[str, Any]:  # noqa: ANN401  # of Opik
    kind = type(metric)
    held = {name.lstrip("_"): written(value) for name, value in vars(metric).items() if not callable(value)}
    model = getattr(metric, "_model", None)
    held["model"] = [type(model).__qualname__, *(written(getattr(model, name, None)) for name in MODEL)]
    own = {} if kind.__module__.startswith("opik.") else {"source": source_digest(metric)}
    shown = {"shown": BOTH} if geval else {}
    return {
        **versions_of("opik", "litellm"),
        "metric": f"{kind.__module__}.{kind.__qualname__}",
        **held,
        **own,
        **shown,
    }


def _text(said: Any, spec: "JudgeSpec") -> str:  # noqa: ANN401  # a ScoreResult, or several
    results = said if isinstance(said, list) else [said]
    if len(results) != 1:
        raise Unreadable(f"the metric returned {len(results)} results, expected one")
    [result] = results
    if result.scoring_failed:
        raise Unreadable(f"scoring failed: {result.reason}")
    return judgment_text(spec.answer_field, on_scale(spec, result.value, result.category_name), result.reason)
