"""The adapter for Arize Phoenix: what `create_classifier` returns, and other evaluators that ask a model."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from umpirical.domain.trials import Presented
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.adapters.framework import (
    keep_client,
    names_a_pair,
    on_scale,
    ordered_scale,
    pair_labels,
    refusal,
    versions_of,
    written,
)
from umpirical.judges.adapters.returned import judgment_text
from umpirical.judges.arguments import named_arguments
from umpirical.judges.failures import READING, Unreadable
from umpirical.judges.telemetry import silence_telemetry

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec

MADE_OF = ("name", "direction", "labels", "label_score_map", "include_explanation", "schema", "invocation_parameters")


class _Phoenix:
    """Calls `async_evaluate` with the fields that the prompt asks for. One score comes back."""

    def describe(self, judge: object) -> Mapping[str, Any]:
        if not _is_judge(judge):
            return {}
        named, labels = {"name": getattr(judge, "name", "evaluator")}, list(getattr(judge, "labels", ()))
        if names_a_pair(_fields(judge)):
            return {**named, "kind": "compare", **pair_labels(labels)}
        scale = ordered_scale(getattr(judge, "label_score_map", None) or {})
        if scale is not None and getattr(judge, "direction", "") == "minimize":
            scale = {**scale, "labels": scale["labels"][::-1]}
        return {**named, "kind": "grade", **({"scale": scale} if scale else {})}

    def adapt(self, judge: Any, spec: "JudgeSpec") -> Adapted:  # noqa: ANN401  # checked first
        if not _is_judge(judge):
            raise refusal(judge, spec, "name what create_classifier returns, or another evaluator")
        silence_telemetry()
        keep_client(getattr(judge.llm, "_async_client", None))
        arguments = named_arguments(_fields(judge), spec)

        async def ask(shown: Presented) -> str:
            _, given = arguments.of(shown)
            # What the evaluator is bound to are columns of the user's data, and not what is shown here.
            scores = await judge.async_evaluate(given, input_mapping={name: name for name in given})
            if len(scores) != 1:
                raise Unreadable(f"the evaluator returned {len(scores)} scores, expected one")
            [score] = scores
            value = score.label if score.score is None else score.score
            return judgment_text(spec.answer_field, on_scale(spec, value, score.label), score.explanation)

        return Adapted(ask, {**versions_of("arize-phoenix-evals"), **_identity(judge)}, READING)


ADAPTER = _Phoenix()


def _is_judge(judge: object) -> bool:
    """Whether it is an evaluator that asks a model; one that only counts words is none."""
    return callable(getattr(judge, "async_evaluate", None)) and hasattr(judge, "llm")


def _fields(judge: object) -> list[str]:
    schema = getattr(judge, "input_schema", None)
    return list(schema.model_fields) if schema is not None else []


def _identity(judge: Any) -> dict[str, Any]:  # noqa: ANN401  # an evaluator
    prompt = getattr(getattr(judge, "prompt_template", None), "template", None)
    # The address is known to the client alone, which the LLM keeps to itself.
    client = written(getattr(judge.llm, "_async_client", None))
    made = {name: written(getattr(judge, name, None)) for name in MADE_OF}
    return {"prompt": written(prompt), "llm": written(judge.llm), "client": client, **made}
