"""The adapter for MLflow: what `make_judge` returns, Guidelines, and every other scorer of inputs and outputs."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from umpirical.domain.trials import Presented
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.adapters.framework import (
    YES_NO,
    address_of,
    on_scale,
    pair_labels,
    refusal,
    versions_of,
    without_reference,
    written,
)
from umpirical.judges.adapters.returned import judgment_text
from umpirical.judges.adapters.source import source_digest
from umpirical.judges.failures import READING
from umpirical.judges.telemetry import silence_telemetry
from umpirical.judges.threads import in_thread

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec

NOT_THERE = {"expectations", "trace", "conversation", "session"}
"""What a scorer may ask for, and controlled stimuli do not have."""

WORST_FIRST = (("no", "yes"), ("fail", "pass"), ("incorrect", "correct"), ("bad", "good"), ("false", "true"))
"""Pairs of words whose order is known."""


class _MLflow:
    """Calls `judge(inputs={"task": ...}, outputs=...)` in a thread; for a pair, the outputs are a mapping of both."""

    def describe(self, judge: object) -> Mapping[str, Any]:
        if not _is_judge(judge):
            return {}
        named = {"name": str(getattr(judge, "name", type(judge).__name__))}
        words = _words(judge)
        if labels := pair_labels(words):
            return {**named, "kind": "compare", **labels}
        scale = _scale(judge, words)
        return {**named, "kind": "grade", **({"scale": scale} if scale else {})}

    def adapt(self, judge: Any, spec: "JudgeSpec") -> Adapted:  # noqa: ANN401  # checked first
        if not _is_judge(judge):
            raise refusal(judge, spec, "name what make_judge returns, or a scorer such as Guidelines(...)")
        if missing := NOT_THERE & {*re.findall(r"\{\{\s*(\w+)", _instructions(judge)), *_columns(judge)}:
            raise without_reference(spec, ", ".join(sorted(missing)))
        silence_telemetry()
        names = {role: spec.inputs.get(role, role) for role in ("task", "first", "second")}

        async def ask(shown: Presented) -> str:
            outputs: Any = shown.first
            if shown.second is not None:
                outputs = {names["first"]: shown.first, names["second"]: shown.second}
            said = await in_thread(lambda: judge(inputs={names["task"]: shown.task}, outputs=outputs))
            if getattr(said, "error", None) is not None:
                raise RuntimeError(f"the scorer failed: {said.error}")
            value = getattr(said, "value", said)
            value = getattr(value, "value", value)
            return judgment_text(spec.answer_field, on_scale(spec, value, value), getattr(said, "rationale", None))

        return Adapted(ask, {**versions_of("mlflow"), "judge": _identity(judge)}, READING)


ADAPTER = _MLflow()


def _is_judge(judge: object) -> bool:
    bases = {f"{base.__module__.partition('.')[0]}.{base.__name__}" for base in type(judge).__mro__}
    return "mlflow.Scorer" in bases and callable(judge)


def _instructions(judge: object) -> str:
    told = getattr(judge, "instructions", "")
    return told if isinstance(told, str) else ""


def _columns(judge: object) -> list[str]:
    told = getattr(judge, "required_columns", ())
    return [str(column) for column in told] if isinstance(told, list | set | tuple) else []


def _words(judge: object) -> list[str]:
    told = getattr(judge, "feedback_value_type", None)
    return [str(word) for word in get_args(told)] if get_origin(told) is Literal else []


def _scale(judge: object, words: list[str]) -> dict[str, Any] | None:
    """Returns the scale if its order is known: truth values, numbers, or two words of which one is worse."""
    if getattr(judge, "feedback_value_type", None) is bool:
        return YES_NO
    known = next((pair for pair in WORST_FIRST if set(pair) == set(words)), None)
    if known is not None:
        return {"kind": "binary", "labels": list(known)}
    if len(words) > 1 and all(re.fullmatch(r"-?\d+(\.\d+)?", word) for word in words):
        return {"kind": "binary" if len(words) == 2 else "ordinal", "labels": sorted(words, key=float)}
    return None


def _identity(judge: Any) -> Any:  # noqa: ANN401  # a scorer
    """Returns everything that the scorer writes of itself: instructions, model, guidelines, type of the feedback."""
    parts = ("name", "guidelines", "model", "description", "inference_params", "feedback_value_type")
    made = {name: written(getattr(judge, name, None)) for name in parts}
    made["feedback_value_type"] = str(getattr(judge, "feedback_value_type", None))
    # The address is known to the judge alone, which keeps it to itself.
    address = address_of(getattr(judge, "_base_url", None))
    own = type(judge).__module__.partition(".")[0] != "mlflow"
    function = type(judge) if own else getattr(judge, "_original_func", None)
    return {
        "type": written(type(judge)),
        "instructions": _instructions(judge),
        "columns": sorted(_columns(judge)),
        "address": address,
        "source": None if function is None else source_digest(function),
        **made,
    }
