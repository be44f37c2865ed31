"""The adapter for pydantic-evals: `LLMJudge`, `GEval` and other evaluators of an output."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from umpirical.domain.trials import Presented
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.adapters.framework import (
    UNIT_SCALE,
    YES_NO,
    on_scale,
    refusal,
    versions_of,
    without_reference,
    written,
)
from umpirical.judges.adapters.returned import judgment_text
from umpirical.judges.failures import READING
from umpirical.judges.telemetry import silence_telemetry

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec


class _PydanticEvals:
    """Calls `evaluate_async` with a context that has the task as inputs and the answer as output.

    Of an LLMJudge with a score and an assertion, a scale of labels has the assertion, and an interval the score.
    """

    def describe(self, judge: object) -> Mapping[str, Any]:
        if not _is_judge(judge):
            return {}
        told: dict[str, Any] = {
            "name": getattr(judge, "evaluation_name", None) or type(judge).__name__,
            "kind": "grade",
        }
        if (ends := getattr(judge, "score_range", None)) is not None:
            return {**told, "scale": {"kind": "interval", "low": float(ends[0]), "high": float(ends[1])}}
        if hasattr(judge, "rubric"):
            told["scale"] = UNIT_SCALE if getattr(judge, "assertion", None) is False else YES_NO
        return told

    def adapt(self, judge: Any, spec: "JudgeSpec") -> Adapted:  # noqa: ANN401  # checked first
        if not _is_judge(judge) or spec.kind != "grade":
            raise refusal(judge, spec, "name an evaluator such as LLMJudge(rubric=...), which grades one answer")
        if getattr(judge, "include_expected_output", False):
            raise without_reference(spec, "an expected output")
        silence_telemetry()
        from pydantic_evals.evaluators import EvaluatorContext, llm_as_a_judge

        async def ask(shown: Presented) -> str:
            context = EvaluatorContext(
                name=None,
                inputs=shown.task,
                metadata=None,
                expected_output=None,
                output=shown.first,
                duration=0.0,
                _span_tree=None,
                attributes={},
                metrics={},
            )
            value, reason = _said(await judge.evaluate_async(context), spec)
            return judgment_text(spec.answer_field, on_scale(spec, value), reason)

        default = getattr(llm_as_a_judge, "_default_model", None) if getattr(judge, "model", "") is None else None
        made = {"evaluator": written(judge), "default_model": written(default)}
        versions = versions_of("pydantic-evals", "pydantic-ai-slim")
        return Adapted(ask, {**versions, **made}, READING | {"UnexpectedModelBehavior"})


ADAPTER = _PydanticEvals()


def _is_judge(judge: object) -> bool:
    return not isinstance(judge, type) and callable(getattr(judge, "evaluate_async", None))


def _said(output: Any, spec: "JudgeSpec") -> tuple[object, object]:  # noqa: ANN401  # a value, one with its reason, or several
    """Returns the value that belongs on the scale, and the reason."""
    parts = list(output.values()) if isinstance(output, Mapping) else [output]
    said = [(getattr(part, "value", part), getattr(part, "reason", None)) for part in parts]
    wants_number = spec.scale is not None and spec.scale.kind == "interval"
    fitting = [each for each in said if isinstance(each[0], bool) != wants_number]
    return (fitting or said or [(None, None)])[0]
