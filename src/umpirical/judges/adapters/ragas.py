"""The adapter for the metrics of Ragas: `DiscreteMetric`, `NumericMetric`, others that grade without a reference."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from umpirical.domain.errors import UsageError
from umpirical.domain.trials import Presented
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.adapters.framework import (
    names_a_pair,
    on_scale,
    ordered_scale,
    pair_labels,
    refusal,
    versions_of,
    written,
)
from umpirical.judges.adapters.returned import judgment_text
from umpirical.judges.arguments import arguments_of, named_arguments
from umpirical.judges.failures import READING
from umpirical.judges.telemetry import silence_telemetry
from umpirical.judges.threads import in_thread

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec

UNREAD = READING | {"InstructorRetryException"}
"""Raised after the model was asked to repair its answer, and did not."""

MADE_OF = ("name", "allowed_values", "prompt", "rubrics")


class _Ragas:
    """Calls `ascore(...)` with the variables of the metric's prompt, or `score` in a thread if its client is not async.

    A metric that takes its model with each call is given it once, as its attribute `llm`.
    """

    def describe(self, judge: object) -> Mapping[str, Any]:
        if not _is_metric(judge):
            return {}
        names, allowed = _variables(judge), getattr(judge, "allowed_values", None)
        told: dict[str, Any] = {"name": str(getattr(judge, "name", "") or type(judge).__name__)}
        if names and names_a_pair(names):
            return {**told, "kind": "compare", **pair_labels(allowed if isinstance(allowed, list) else [])}
        scale = _scale(allowed)
        return {**told, "kind": "grade", **({"scale": scale} if scale else {})}

    def adapt(self, judge: object, spec: "JudgeSpec") -> Adapted:
        if not _is_metric(judge):
            raise refusal(judge, spec, "name a metric with ascore(), such as DiscreteMetric(...)")
        silence_telemetry()
        metric, llm = judge, _llm(judge, spec)
        names = _variables(metric)
        arguments = arguments_of(metric.ascore, spec) if names is None else named_arguments(names, spec)  # type: ignore[attr-defined]
        with_each_call = {} if names is None else {"llm": llm}

        async def ask(shown: Presented) -> str:
            said: Any
            by_position, named = arguments.of(shown)
            named |= with_each_call
            if getattr(llm, "is_async", True):
                said = await metric.ascore(*by_position, **named)  # type: ignore[attr-defined]
            else:
                said = await in_thread(lambda: metric.score(*by_position, **named))  # type: ignore[attr-defined]
            return judgment_text(spec.answer_field, on_scale(spec, said.value, said.value), said.reason)

        return Adapted(ask, _identity(metric, llm), UNREAD)


ADAPTER = _Ragas()


def _is_metric(judge: object) -> bool:
    return not isinstance(judge, type) and callable(getattr(judge, "ascore", None))


def _variables(judge: Any) -> list[str] | None:  # noqa: ANN401  # a metric
    """Returns the variables of a metric's prompt; None if it takes arguments of its own."""
    return list(judge.get_variables()) if callable(getattr(judge, "get_variables", None)) else None


def _llm(judge: Any, spec: "JudgeSpec") -> Any:  # noqa: ANN401  # of Ragas, or of the user's
    llm = getattr(judge, "llm", None)
    if llm is None:
        raise UsageError(
            f"judge {spec.name} does not say which model it is asked with", fix="set it: metric.llm = llm_factory(...)"
        )
    if getattr(llm, "cache", None) is not None:
        raise UsageError(
            f"judge {spec.name}: its model has a cache, and repeats would be copies", fix="make the model without cache"
        )
    return llm


def _scale(allowed: Any) -> dict[str, Any] | None:  # noqa: ANN401  # a list, a pair, a range or a number
    if isinstance(allowed, range):
        return {"kind": "interval", "low": float(allowed.start), "high": float(allowed.stop)}
    if isinstance(allowed, tuple) and len(allowed) == 2:
        return {"kind": "interval", "low": float(allowed[0]), "high": float(allowed[1])}
    # Words come in any order, and which is the better one is not said.
    numbers = {str(value): float(value) for value in allowed or () if str(value).lstrip("-").isdigit()}
    return ordered_scale(numbers) if isinstance(allowed, list) and len(numbers) == len(allowed) else None


def _identity(metric: Any, llm: Any) -> dict[str, Any]:  # noqa: ANN401  # of Ragas
    made = {name: written(getattr(metric, name, None)) for name in MADE_OF}
    prompt = getattr(metric, "prompt", None)
    if not isinstance(prompt, str) and prompt is not None:
        made["prompt"] = [written(getattr(prompt, "instruction", None)), written(getattr(prompt, "examples", None))]
    client = getattr(llm, "client", None)
    model = {
        "model": written(getattr(llm, "model", None)),
        "arguments": written(getattr(llm, "model_args", None)),
        "system": written(getattr(llm, "system_prompt", None)),
        "client": written(getattr(client, "client", client)),
    }
    kind = f"{type(metric).__module__}.{type(metric).__qualname__}"
    return {**versions_of("ragas", "instructor", "openai"), "metric": kind, **made, "llm": model}
