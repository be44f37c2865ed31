"""The adapter for the evaluators of LlamaIndex: pairs, correctness, guidelines, relevancy; those of one's own too."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from umpirical.domain.errors import UsageError
from umpirical.domain.trials import Presented
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.adapters.framework import (
    UNIT_SCALE,
    YES_NO,
    class_names,
    on_scale,
    refusal,
    versions_of,
    without_reference,
    written,
)
from umpirical.judges.adapters.returned import judgment_text
from umpirical.judges.adapters.source import source_digest
from umpirical.judges.failures import READING, Unreadable
from umpirical.judges.telemetry import silence_telemetry

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec

PAIRS = "PairwiseComparisonEvaluator"

CONTEXTS = frozenset({"FaithfulnessEvaluator", "RelevancyEvaluator", "ContextRelevancyEvaluator"})
REFERENCES = frozenset({"SemanticSimilarityEvaluator"})

SCALES: Mapping[str, dict[str, Any]] = {
    "CorrectnessEvaluator": {"kind": "interval", "low": 1.0, "high": 5.0},
    "AnswerRelevancyEvaluator": UNIT_SCALE,
    "GuidelineEvaluator": YES_NO,
}

SCORES = {1.0: "1", 0.0: "2", 0.5: "tie"}


class _LlamaIndex:
    """Calls `aevaluate(query=, response=)`, for pairs with `second_response=`.

    An evaluator of pairs asks in both orders by itself, unless `enforce_consensus=False`, and calls what differs a
    tie. Then nothing about the order can be measured, because no order is the judge's own.
    """

    def describe(self, judge: object) -> Mapping[str, Any]:
        names = class_names(judge)
        if "BaseEvaluator" not in names:
            return {}
        told: dict[str, Any] = {"name": type(judge).__name__, "kind": "compare" if PAIRS in names else "grade"}
        if PAIRS in names and getattr(judge, "_enforce_consensus", True):
            told["capabilities"] = {"order_controllable": False}
        return told | next(({"scale": SCALES[name]} for name in names if name in SCALES), {})

    def adapt(self, judge: object, spec: "JudgeSpec") -> Adapted:
        names = class_names(judge)
        if "BaseEvaluator" not in names:
            raise refusal(judge, spec, "name an evaluator, such as CorrectnessEvaluator(llm=...)")
        if (kind := "compare" if PAIRS in names else "grade") != spec.kind:
            raise UsageError(f"judge {spec.name} is an evaluator of kind {kind}", fix=f"kind: {kind}")
        for missing, what in ((CONTEXTS, "contexts"), (REFERENCES, "a reference")):
            if names & missing:
                raise without_reference(spec, what)
        silence_telemetry()
        evaluator: Any = judge

        async def ask(shown: Presented) -> str:
            if shown.second is None:
                said = await evaluator.aevaluate(query=shown.task, response=shown.first)
            else:
                said = await evaluator.aevaluate(query=shown.task, response=shown.first, second_response=shown.second)
            return _text(said, spec)

        return Adapted(ask, _identity(evaluator), READING)


ADAPTER = _LlamaIndex()


def _identity(evaluator: Any) -> dict[str, Any]:  # noqa: ANN401  # of LlamaIndex
    """Returns what an evaluator holds: templates, its model, its threshold, the source of a parser of one's own."""
    kind = type(evaluator)
    held = {name.lstrip("_"): written(value) for name, value in vars(evaluator).items()}
    own = {} if kind.__module__.startswith("llama_index.") else {"source": source_digest(evaluator)}
    versions = versions_of("llama-index-core", "llama-index-llms-openai")
    return {**versions, "evaluator": f"{kind.__module__}.{kind.__qualname__}", "held": held, **own}


def _text(said: Any, spec: "JudgeSpec") -> str:  # noqa: ANN401  # an EvaluationResult
    if said.invalid_result:
        raise Unreadable(str(said.invalid_reason or "an invalid result"))
    if spec.kind == "compare":
        score = said.score
        # Where it asked in both orders it may return the result of the second, in which 0 is a vote for the first.
        if score is not None and said.pairwise_source == "flipped":
            score = 1 - score
        return judgment_text(spec.answer_field, SCORES.get(score, score), said.feedback)
    truth = spec.scale is not None and spec.scale.labels == tuple(YES_NO["labels"])
    value = said.passing if truth and said.passing is not None else said.score
    return judgment_text(spec.answer_field, on_scale(spec, value), said.feedback)
