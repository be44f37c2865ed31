"""The adapter for the evaluators of LangChain: pairs of strings, criteria, scores; those of one's own too."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from umpirical.domain.errors import UsageError
from umpirical.domain.trials import Presented
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.adapters.framework import class_names, on_scale, refusal, versions_of, without_reference, written
from umpirical.judges.adapters.returned import judgment_text
from umpirical.judges.failures import READING, Unreadable
from umpirical.judges.telemetry import silence_telemetry

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec

COMPARES, GRADES = "PairwiseStringEvaluator", "StringEvaluator"
MADE_OF = ("prompt", "llm", "llm_kwargs", "output_parser", "criterion_name", "normalize_by")
PACKAGES = ("langchain-classic", "langchain", "langchain-core", "langchain-openai")
CHOSEN = {"A": "1", "B": "2", None: "tie"}
"""What an evaluator of pairs chooses. The tie is no value, with a score of a half."""


class _LangChain:
    """Calls `aevaluate_string_pairs` or `aevaluate_strings`, which keep the order of what they are given."""

    def describe(self, judge: object) -> Mapping[str, Any]:
        kind = _kind(judge)
        if kind is None:
            return {}
        told: dict[str, Any] = {"kind": kind, "name": type(judge).__name__}
        return told | ({"scale": scale} if kind == "grade" and (scale := _scale(judge)) else {})

    def adapt(self, judge: object, spec: "JudgeSpec") -> Adapted:
        kind = _kind(judge)
        if kind is None:
            raise refusal(judge, spec, "name an evaluator, such as load_evaluator('pairwise_string', llm=...)")
        if kind != spec.kind:
            raise UsageError(f"judge {spec.name} is an evaluator of kind {kind}", fix=f"kind: {kind}")
        if getattr(judge, "requires_reference", False):
            raise without_reference(spec, "a reference")
        silence_telemetry()
        evaluator: Any = judge

        async def ask(shown: Presented) -> str:
            if shown.second is None:
                said = await evaluator.aevaluate_strings(prediction=shown.first, input=shown.task)
                value = _grade(said, spec)
            else:
                said = await evaluator.aevaluate_string_pairs(
                    prediction=shown.first, prediction_b=shown.second, input=shown.task
                )
                value = _choice(said)
            return judgment_text(spec.answer_field, value, said.get("reasoning"))

        made = {name: written(getattr(judge, name, None)) for name in MADE_OF}
        kind_of = f"{type(judge).__module__}.{type(judge).__qualname__}"
        return Adapted(ask, {**versions_of(*PACKAGES), "evaluator": kind_of, **made}, READING)


ADAPTER = _LangChain()


def _kind(judge: object) -> str | None:
    """Returns what an evaluator does, by the classes that it inherits from; None if it is none."""
    names = class_names(judge)
    return "compare" if COMPARES in names else "grade" if GRADES in names else None


def _scale(judge: Any) -> dict[str, Any] | None:  # noqa: ANN401  # an evaluator
    names = class_names(judge)
    if "CriteriaEvalChain" in names:
        return {"kind": "binary", "labels": ["N", "Y"]}
    if "ScoreStringEvalChain" not in names:
        return None
    if divisor := judge.normalize_by:
        return {"kind": "interval", "low": 1 / divisor, "high": 10 / divisor}
    return {"kind": "ordinal", "labels": [str(grade) for grade in range(1, 11)]}


def _choice(said: Mapping[str, Any]) -> object:
    if "value" not in said:
        raise Unreadable(f"the evaluator returned no value: {str(dict(said))[:200]}")
    value = said["value"]
    if value is None and said.get("score") != 0.5:
        return None
    return CHOSEN.get(value, value) if value is None or isinstance(value, str) else value


def _grade(said: Mapping[str, Any], spec: "JudgeSpec") -> object:
    score = said.get("score")
    # A criterion has the score 1 for Y and 0 for N, and none if its model said neither.
    word = {1: "Y", 0: "N"}.get(score) if said.get("value") is not None and isinstance(score, int) else None
    return on_scale(spec, score, word)
