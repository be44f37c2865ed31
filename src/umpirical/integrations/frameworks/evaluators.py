"""The judges of autoevals, LangChain, LlamaIndex, openevals, Phoenix and pydantic-evals."""

import inspect
import re
from collections.abc import Callable, Mapping
from string import Formatter
from types import FunctionType
from typing import TYPE_CHECKING, Any

from umpirical.domain.errors import UsageError
from umpirical.domain.trials import Presented
from umpirical.integrations.frameworks.description import (
    UNIT_SCALE,
    YES_NO,
    class_names,
    judged,
    keep_client,
    names_a_pair,
    on_scale,
    ordered_scale,
    pair_labels,
    refusal,
    versions_of,
    without_reference,
    written,
)
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.adapters.returned import PARTS, judgment_text
from umpirical.judges.adapters.source import source_digest
from umpirical.judges.arguments import Arguments, arguments_of, named_arguments
from umpirical.judges.failures import READING, Unreadable
from umpirical.judges.user_code import in_thread, silence_telemetry

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec


# The adapter for autoevals: `LLMClassifier`, and the judges that are made of it, such as Battle.


BATTLE = {
    "kind": "compare",
    "inputs": {"task": "instructions", "first": "output", "second": "expected"},
    # "No" is that the second is better, or that they are equal: no vote for either.
    "answer": {"labels": {"Yes": "1", "No": "abstain"}},
}

AUTOEVALS_MADE_OF = ("name", "messages", "choice_scores", "render_args", "model", "extra_args", "client")


class _AutoEvals:
    """Calls `eval`, or `eval_async` if the client is asynchronous, with the variables of the prompt."""

    def describe(self, judge: object) -> Mapping[str, Any]:
        if not _autoevals_is_judge(judge):
            return {}
        choices, names = dict(getattr(judge, "choice_scores", {})), _autoevals_variables(judge)
        named = {"name": getattr(judge, "name", type(judge).__name__)}
        if getattr(judge, "name", "") == "Battle" and set(choices) == {"Yes", "No"}:
            return {**named, **BATTLE}
        if names_a_pair(names):
            return {**named, "kind": "compare", **pair_labels(list(choices))}
        scale = ordered_scale(choices)
        return {**named, "kind": "grade", **({"scale": scale} if scale else {})}

    def adapt(self, judge: Any, spec: "JudgeSpec") -> Adapted:  # noqa: ANN401  # checked first
        if not _autoevals_is_judge(judge):
            raise refusal(judge, spec, "use an LLMClassifier, or wrap another scorer in a function")
        silence_telemetry()
        keep_client(getattr(judge, "client", None))
        names = _autoevals_variables(judge)
        if "expected" in names and "expected" not in spec.inputs.values():
            raise without_reference(spec, "the expected answer")
        arguments, waits = named_arguments(names, spec), _is_asynchronous(judge)

        async def ask(shown: Presented) -> str:
            given = {"output": shown.first, **arguments.of(shown)[1]}
            score = await judge.eval_async(**given) if waits else await in_thread(lambda: judge.eval(**given))
            said = score.metadata or {}
            return judgment_text(
                spec.answer_field, on_scale(spec, score.score, said.get("choice")), said.get("rationale")
            )

        made = {name: written(getattr(judge, name, None)) for name in AUTOEVALS_MADE_OF}
        # A choice that is a number has no `strip`.
        return Adapted(ask, {**versions_of("autoevals"), **made}, READING | {"AttributeError"})


AUTOEVALS = _AutoEvals()


def _autoevals_is_judge(judge: object) -> bool:
    """Whether it is one of the classifiers that choose by a model; a scorer that counts letters is none."""
    return not isinstance(judge, type) and isinstance(getattr(judge, "choice_scores", None), Mapping)


def _autoevals_variables(judge: object) -> list[str]:
    prompt = "\n".join(str(message.get("content", "")) for message in getattr(judge, "messages", ()))
    found = re.findall(r"\{\{[{&#^]?\s*(\w+)", prompt)
    return [name for name in dict.fromkeys(found) if name not in getattr(judge, "render_args", {})]


def _is_asynchronous(judge: Any) -> bool:  # noqa: ANN401  # a classifier
    """Whether the client is asynchronous: the judge's own, or the one that was set for all."""
    from autoevals.oai import prepare_openai

    named = {name: judge.extra_args[name] for name in ("api_key", "base_url") if name in judge.extra_args}
    try:
        client = prepare_openai(client=judge.client, **named)
    except Exception:  # noqa: BLE001  # without a key, say: the first call tells
        return False
    return type(client.openai).__name__.startswith("Async")


# The adapter for the evaluators of LangChain: pairs of strings, criteria, scores; those of one's own too.


COMPARES, GRADES = "PairwiseStringEvaluator", "StringEvaluator"
LANGCHAIN_MADE_OF = ("prompt", "llm", "llm_kwargs", "output_parser", "criterion_name", "normalize_by")
LANGCHAIN_PACKAGES = ("langchain-classic", "langchain", "langchain-core", "langchain-openai")
LANGCHAIN_CHOSEN = {"A": "1", "B": "2", None: "tie"}
"""What an evaluator of pairs chooses. The tie is no value, with a score of a half."""


class _LangChain:
    """Calls `aevaluate_string_pairs` or `aevaluate_strings`, which keep the order of what they are given."""

    def describe(self, judge: object) -> Mapping[str, Any]:
        kind = _langchain_kind(judge)
        if kind is None:
            return {}
        told: dict[str, Any] = {"kind": kind, "name": type(judge).__name__}
        return told | ({"scale": scale} if kind == "grade" and (scale := _langchain_scale(judge)) else {})

    def adapt(self, judge: object, spec: "JudgeSpec") -> Adapted:
        kind = _langchain_kind(judge)
        if kind is None:
            raise refusal(judge, spec, "use an evaluator, such as load_evaluator('pairwise_string', llm=...)")
        if kind != spec.kind:
            raise UsageError(f"judge {spec.name} is an evaluator with kind: {kind}", fix=f"set kind: {kind}")
        if getattr(judge, "requires_reference", False):
            raise without_reference(spec, "a reference")
        silence_telemetry()
        evaluator: Any = judge

        async def ask(shown: Presented) -> str:
            if shown.second is None:
                said = await evaluator.aevaluate_strings(prediction=shown.first, input=shown.task)
                value = _langchain_grade(said, spec)
            else:
                said = await evaluator.aevaluate_string_pairs(
                    prediction=shown.first, prediction_b=shown.second, input=shown.task
                )
                value = _langchain_choice(said)
            return judgment_text(spec.answer_field, value, said.get("reasoning"))

        made = {name: written(getattr(judge, name, None)) for name in LANGCHAIN_MADE_OF}
        kind_of = f"{type(judge).__module__}.{type(judge).__qualname__}"
        return Adapted(ask, {**versions_of(*LANGCHAIN_PACKAGES), "evaluator": kind_of, **made}, READING)


LANGCHAIN = _LangChain()


def _langchain_kind(judge: object) -> str | None:
    """Returns what an evaluator does, by the classes that it inherits from; None if it is none."""
    names = class_names(judge)
    return "compare" if COMPARES in names else "grade" if GRADES in names else None


def _langchain_scale(judge: Any) -> dict[str, Any] | None:  # noqa: ANN401  # an evaluator
    names = class_names(judge)
    if "CriteriaEvalChain" in names:
        return {"kind": "binary", "labels": ["N", "Y"]}
    if "ScoreStringEvalChain" not in names:
        return None
    if divisor := judge.normalize_by:
        return {"kind": "interval", "low": 1 / divisor, "high": 10 / divisor}
    return {"kind": "ordinal", "labels": [str(grade) for grade in range(1, 11)]}


def _langchain_choice(said: Mapping[str, Any]) -> object:
    if "value" not in said:
        raise Unreadable(f"the evaluator returned no value: {str(dict(said))[:200]}")
    value = said["value"]
    if value is None and said.get("score") != 0.5:
        return None
    return LANGCHAIN_CHOSEN.get(value, value) if value is None or isinstance(value, str) else value


def _langchain_grade(said: Mapping[str, Any], spec: "JudgeSpec") -> object:
    score = said.get("score")
    # A criterion has the score 1 for Y and 0 for N, and none if its model said neither.
    word = {1: "Y", 0: "N"}.get(score) if said.get("value") is not None and isinstance(score, int) else None
    return on_scale(spec, score, word)


# The adapter for the evaluators of LlamaIndex: pairs, correctness, guidelines, relevancy; those of one's own too.


LLAMA_INDEX_PAIRS = "PairwiseComparisonEvaluator"

CONTEXTS = frozenset({"FaithfulnessEvaluator", "RelevancyEvaluator", "ContextRelevancyEvaluator"})
REFERENCES = frozenset({"SemanticSimilarityEvaluator"})

LLAMA_INDEX_SCALES: Mapping[str, dict[str, Any]] = {
    "CorrectnessEvaluator": {"kind": "interval", "low": 1.0, "high": 5.0},
    "AnswerRelevancyEvaluator": UNIT_SCALE,
    "GuidelineEvaluator": YES_NO,
}

LLAMA_INDEX_SCORES = {1.0: "1", 0.0: "2", 0.5: "tie"}


class _LlamaIndex:
    """Calls `aevaluate(query=, response=)`, for pairs with `second_response=`.

    An evaluator of pairs asks in both orders by itself, unless `enforce_consensus=False`, and calls what differs a
    tie. Then nothing about the order can be measured, because no order is the judge's own.
    """

    def describe(self, judge: object) -> Mapping[str, Any]:
        names = class_names(judge)
        if "BaseEvaluator" not in names:
            return {}
        told: dict[str, Any] = {
            "name": type(judge).__name__,
            "kind": "compare" if LLAMA_INDEX_PAIRS in names else "grade",
        }
        if LLAMA_INDEX_PAIRS in names and getattr(judge, "_enforce_consensus", True):
            told["capabilities"] = {"order_controllable": False}
        return told | next(({"scale": LLAMA_INDEX_SCALES[name]} for name in names if name in LLAMA_INDEX_SCALES), {})

    def adapt(self, judge: object, spec: "JudgeSpec") -> Adapted:
        names = class_names(judge)
        if "BaseEvaluator" not in names:
            raise refusal(judge, spec, "use an evaluator, such as CorrectnessEvaluator(llm=...)")
        if (kind := "compare" if LLAMA_INDEX_PAIRS in names else "grade") != spec.kind:
            raise UsageError(f"judge {spec.name} is an evaluator with kind: {kind}", fix=f"set kind: {kind}")
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
            return _llama_index_text(said, spec)

        return Adapted(ask, _llama_index_identity(evaluator), READING)


LLAMA_INDEX = _LlamaIndex()


def _llama_index_identity(evaluator: Any) -> dict[str, Any]:  # noqa: ANN401  # of LlamaIndex
    """Returns what an evaluator holds: templates, its model, its threshold, the source of a parser of one's own."""
    kind = type(evaluator)
    held = {name.lstrip("_"): written(value) for name, value in vars(evaluator).items()}
    own = {} if kind.__module__.startswith("llama_index.") else {"source": source_digest(evaluator)}
    versions = versions_of("llama-index-core", "llama-index-llms-openai")
    return {**versions, "evaluator": f"{kind.__module__}.{kind.__qualname__}", "held": held, **own}


def _llama_index_text(said: Any, spec: "JudgeSpec") -> str:  # noqa: ANN401  # an EvaluationResult
    if said.invalid_result:
        raise Unreadable(str(said.invalid_reason or "an invalid result"))
    if spec.kind == "compare":
        score = said.score
        # Where it asked in both orders it may return the result of the second, in which 0 is a vote for the first.
        if score is not None and said.pairwise_source == "flipped":
            score = 1 - score
        return judgment_text(spec.answer_field, LLAMA_INDEX_SCORES.get(score, score), said.feedback)
    truth = spec.scale is not None and spec.scale.labels == tuple(YES_NO["labels"])
    value = said.passing if truth and said.passing is not None else said.score
    return judgment_text(spec.answer_field, on_scale(spec, value), said.feedback)


# The adapter for openevals: what `create_llm_as_judge` and its asynchronous twin return, and other evaluators.


OPENEVALS_MADE_OF = (
    "prompt",
    "system",
    "model",
    "continuous",
    "choices",
    "use_reasoning",
    "few_shot_examples",
    "output_schema",
)


class _OpenEvals:
    """Calls `judge(inputs=, outputs=)`; a judge of pairs by the variables of its prompt.

    A judge is a function, and what it was made with is in the variables around it.
    """

    def describe(self, judge: object) -> Mapping[str, Any]:
        made = _made_of(judge)
        # Every function that is made so has the same name, which tells nothing.
        named = {"name": f"llm-as-{made['feedback_key']}-judge"} if "feedback_key" in made else {}
        names = _openevals_variables(made.get("prompt"))
        if names_a_pair(names):
            return {**named, "kind": "compare", **pair_labels(_openevals_words(made.get("output_schema")))}
        told: dict[str, Any] = {**named, "kind": "grade"} if names else named
        if made.get("output_schema") is None and names:
            choices = {f"{each:g}": each for each in made.get("choices") or ()}
            told["scale"] = ordered_scale(choices) or (UNIT_SCALE if made.get("continuous") else YES_NO)
        return told

    def adapt(self, judge: object, spec: "JudgeSpec") -> Adapted:
        if not isinstance(judge, FunctionType):
            raise refusal(judge, spec, "use a function returned by create_llm_as_judge")
        silence_telemetry()
        made, arguments = _made_of(judge), _arguments(judge, spec)
        keep_client(made.get("judge"))

        async def ask(shown: Presented) -> str:
            _, named = arguments.of(shown)
            waits = inspect.iscoroutinefunction(judge)
            answer = await judge(**named) if waits else await in_thread(lambda: judge(**named))
            value, reason = judged(answer)
            return judgment_text(spec.answer_field, on_scale(spec, value, value), reason)

        return Adapted(ask, {**versions_of("openevals"), **_openevals_identity(judge, made)}, READING)


OPENEVALS = _OpenEvals()


def _made_of(judge: Any) -> dict[str, Any]:  # noqa: ANN401  # any function of the package
    """Returns the variables around a judge and the functions that it uses; those nearest to it count."""
    cells = zip(judge.__code__.co_freevars, judge.__closure__ or (), strict=True) if _is_function(judge) else ()
    near = {name: cell.cell_contents for name, cell in cells}
    inner = near.get("scorer")
    return {**(_made_of(inner) if _is_function(inner) else {}), **near}


def _is_function(part: object) -> bool:
    return isinstance(part, FunctionType)


def _openevals_identity(judge: FunctionType, made: Mapping[str, Any]) -> dict[str, Any]:
    if "prompt" not in made:
        return {"evaluator": f"{judge.__module__}.{judge.__qualname__}", "source": source_digest(judge)}
    # Its first call sets `judge` to the client for `model`, and takes the provider off `model`.
    client = None if made.get("model") and hasattr(made.get("judge"), "with_structured_output") else made.get("judge")
    model = str(made["model"]).removeprefix("openai:") if made.get("model") else None
    return {**{name: written(made.get(name)) for name in OPENEVALS_MADE_OF}, "model": model, "client": written(client)}


def _openevals_variables(prompt: Any) -> list[str]:  # noqa: ANN401  # a text, a LangChain prompt or a function
    if isinstance(prompt, str):
        found = [name for _, name, _, _ in Formatter().parse(prompt) if name]
    else:
        found = list(getattr(prompt, "input_variables", ()))
    return list(dict.fromkeys(name for name in found if name != "attachments"))


def _arguments(judge: Callable[..., Any], spec: "JudgeSpec") -> Arguments:
    prompt = _made_of(judge).get("prompt")
    names = _openevals_variables(prompt)
    if "reference_outputs" in names and "reference_outputs" not in spec.inputs.values():
        raise without_reference(spec, "reference_outputs")
    if names:
        return named_arguments(names, spec)
    return arguments_of(prompt if _is_function(prompt) else judge, spec)  # type: ignore[arg-type]  # it is one


def _openevals_words(schema: Any) -> list[str]:  # noqa: ANN401  # a JSON Schema, one in the form of the OpenAI API, or a type
    if isinstance(schema, type):
        schema = schema.model_json_schema() if hasattr(schema, "model_json_schema") else {}
    properties = (schema or {}).get("schema", schema or {}).get("properties", {})
    named = [properties[name] for name in PARTS if name in properties]
    return [str(word) for word in named[0].get("enum", ())] if named else []


# The adapter for Arize Phoenix: what `create_classifier` returns, and other evaluators that ask a model.


PHOENIX_MADE_OF = (
    "name",
    "direction",
    "labels",
    "label_score_map",
    "include_explanation",
    "schema",
    "invocation_parameters",
)


class _Phoenix:
    """Calls `async_evaluate` with the fields that the prompt asks for. One score comes back."""

    def describe(self, judge: object) -> Mapping[str, Any]:
        if not _phoenix_is_judge(judge):
            return {}
        named, labels = {"name": getattr(judge, "name", "evaluator")}, list(getattr(judge, "labels", ()))
        if names_a_pair(_phoenix_fields(judge)):
            return {**named, "kind": "compare", **pair_labels(labels)}
        scale = ordered_scale(getattr(judge, "label_score_map", None) or {})
        if scale is not None and getattr(judge, "direction", "") == "minimize":
            scale = {**scale, "labels": scale["labels"][::-1]}
        return {**named, "kind": "grade", **({"scale": scale} if scale else {})}

    def adapt(self, judge: Any, spec: "JudgeSpec") -> Adapted:  # noqa: ANN401  # checked first
        if not _phoenix_is_judge(judge):
            raise refusal(judge, spec, "use what create_classifier returns, or another evaluator")
        silence_telemetry()
        keep_client(getattr(judge.llm, "_async_client", None))
        arguments = named_arguments(_phoenix_fields(judge), spec)

        async def ask(shown: Presented) -> str:
            _, given = arguments.of(shown)
            # What the evaluator is bound to are columns of the user's data, and not what is shown here.
            scores = await judge.async_evaluate(given, input_mapping={name: name for name in given})
            if len(scores) != 1:
                raise Unreadable(f"the evaluator returned {len(scores)} scores, expected one")
            [score] = scores
            value = score.label if score.score is None else score.score
            return judgment_text(spec.answer_field, on_scale(spec, value, score.label), score.explanation)

        return Adapted(ask, {**versions_of("arize-phoenix-evals"), **_phoenix_identity(judge)}, READING)


PHOENIX = _Phoenix()


def _phoenix_is_judge(judge: object) -> bool:
    """Whether it is an evaluator that asks a model; one that only counts words is none."""
    return callable(getattr(judge, "async_evaluate", None)) and hasattr(judge, "llm")


def _phoenix_fields(judge: object) -> list[str]:
    schema = getattr(judge, "input_schema", None)
    return list(schema.model_fields) if schema is not None else []


def _phoenix_identity(judge: Any) -> dict[str, Any]:  # noqa: ANN401  # an evaluator
    prompt = getattr(getattr(judge, "prompt_template", None), "template", None)
    # The address is known to the client alone, which the LLM keeps to itself.
    client = written(getattr(judge.llm, "_async_client", None))
    made = {name: written(getattr(judge, name, None)) for name in PHOENIX_MADE_OF}
    return {"prompt": written(prompt), "llm": written(judge.llm), "client": client, **made}


# The adapter for pydantic-evals: `LLMJudge`, `GEval` and other evaluators of an output.


class _PydanticEvals:
    """Calls `evaluate_async` with a context that has the task as inputs and the answer as output.

    Of an LLMJudge with a score and an assertion, a scale of labels has the assertion, and an interval the score.
    """

    def describe(self, judge: object) -> Mapping[str, Any]:
        if not _pydantic_evals_is_judge(judge):
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
        if not _pydantic_evals_is_judge(judge) or spec.kind != "grade":
            raise refusal(judge, spec, "use an evaluator that grades one answer, such as LLMJudge(rubric=...)")
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
            value, reason = _pydantic_evals_said(await judge.evaluate_async(context), spec)
            return judgment_text(spec.answer_field, on_scale(spec, value), reason)

        default = getattr(llm_as_a_judge, "_default_model", None) if getattr(judge, "model", "") is None else None
        made = {"evaluator": written(judge), "default_model": written(default)}
        versions = versions_of("pydantic-evals", "pydantic-ai-slim")
        return Adapted(ask, {**versions, **made}, READING | {"UnexpectedModelBehavior"})


PYDANTIC_EVALS = _PydanticEvals()


def _pydantic_evals_is_judge(judge: object) -> bool:
    return not isinstance(judge, type) and callable(getattr(judge, "evaluate_async", None))


def _pydantic_evals_said(output: Any, spec: "JudgeSpec") -> tuple[object, object]:  # noqa: ANN401  # a value, one with its reason, or several
    parts = list(output.values()) if isinstance(output, Mapping) else [output]
    said = [(getattr(part, "value", part), getattr(part, "reason", None)) for part in parts]
    wants_number = spec.scale is not None and spec.scale.kind == "interval"
    fitting = [each for each in said if isinstance(each[0], bool) != wants_number]
    return (fitting or said or [(None, None)])[0]
