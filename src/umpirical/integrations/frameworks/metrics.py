"""The judges of DeepEval, MLflow, Opik and Ragas."""

import asyncio
import copy
import inspect
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin
from weakref import WeakKeyDictionary

from umpirical.domain.errors import UsageError
from umpirical.domain.trials import Presented
from umpirical.integrations.frameworks.description import (
    UNIT_SCALE,
    YES_NO,
    address_of,
    class_names,
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
from umpirical.judges.adapters.returned import judgment_text
from umpirical.judges.adapters.source import source_digest
from umpirical.judges.arguments import arguments_of, named_arguments
from umpirical.judges.failures import READING, Unreadable
from umpirical.judges.user_code import in_thread, silence_telemetry

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec


# The adapter for DeepEval: GEval, DAGMetric and every other metric of an answer, and ArenaGEval for pairs.


DEEPEVAL_SHOWN = {"input", "actual_output"}
"""The parts of a test case that there are."""

DEEPEVAL_MADE_OF = ("name", "criteria", "evaluation_steps", "rubric", "evaluation_params", "evaluation_model", "model")
DEEPEVAL_SETTINGS = ("strict_mode", "top_logprobs", "include_reason", "eval_mode", "threshold")


class _DeepEval:
    """Calls `a_measure` on a copy for each judgment: a metric holds its last score, reason and success.

    Only what the call returns counts; the attributes may be those of the judgment before.
    """

    def describe(self, judge: object) -> Mapping[str, Any]:
        if not _deepeval_is_judge(judge):
            return {}
        # It refuses an empty answer; what it makes of a blank one is as little known.
        told: dict[str, Any] = {"name": _deepeval_name(judge), "capabilities": {"accepts_empty": False}}
        if _is_arena(judge):
            return {**told, "kind": "compare"}
        strict = {"kind": "binary", "labels": ["0", "1"]}
        return {**told, "kind": "grade", "scale": strict if getattr(judge, "strict_mode", False) else UNIT_SCALE}

    def adapt(self, judge: Any, spec: "JudgeSpec") -> Adapted:  # noqa: ANN401  # checked first
        if not _deepeval_is_judge(judge) or _is_arena(judge) != (spec.kind == "compare"):
            raise refusal(judge, spec, "use a metric such as GEval(...), or ArenaGEval(...) for a compare judge")
        if needed := _deepeval_needs(judge) - DEEPEVAL_SHOWN:
            raise without_reference(spec, f"its {', '.join(sorted(needed))}")
        silence_telemetry()
        compare = _is_arena(judge)
        metric = _Metric(_deepeval_ordered(judge) if compare else judge, judge)

        async def ask(shown: Presented) -> str:
            said, reason = await metric.measured(
                _arena_case(shown) if compare else _deepeval_case(shown.task, shown.first)
            )
            value = said if compare else on_scale(spec, said)
            return judgment_text(spec.answer_field, value, reason)

        return Adapted(ask, {**versions_of("deepeval"), **_deepeval_identity(judge)}, READING)


DEEPEVAL = _DeepEval()

_deepeval_steps: "WeakKeyDictionary[Any, Any]" = WeakKeyDictionary()
"""Evaluation steps that were generated, by the user's metric: one object has one set of them in a process."""


class _Metric:
    """A metric of which every judgment has its own copy. All of them share their steps, as those of one object do."""

    def __init__(self, metric: Any, owner: Any) -> None:  # noqa: ANN401  # of the package
        self._metric, self._owner, self._first = metric, owner, asyncio.Lock()
        takes = inspect.signature(metric.a_measure).parameters.values()
        quiet = any(each.name == "_show_indicator" or each.kind is each.VAR_KEYWORD for each in takes)
        self._quiet = {"_show_indicator": False} if quiet else {}

    async def measured(self, case: object) -> tuple[object, object]:
        if (
            getattr(self._metric, "criteria", None) is None
            or self._metric.evaluation_steps
            or self._owner in _deepeval_steps
        ):
            return await self._measured(case)
        # The first judgment has the steps written.
        async with self._first:
            return await self._measured(case)

    async def _measured(self, case: object) -> tuple[object, object]:
        fresh = copy.copy(self._metric)
        if self._owner in _deepeval_steps:
            fresh.evaluation_steps = _deepeval_steps[self._owner]
        try:
            said = await fresh.a_measure(case, **self._quiet)
        except Exception as error:
            # Its one error class stands for much; this is an answer that is no JSON.
            if type(error).__name__ == "DeepEvalError" and "invalid JSON" in str(error):
                raise Unreadable(str(error)) from error
            raise
        if getattr(fresh, "evaluation_steps", None) and not self._metric.evaluation_steps:
            _deepeval_steps.setdefault(self._owner, fresh.evaluation_steps)
        return said, fresh.reason


def _deepeval_is_judge(judge: object) -> bool:
    return not isinstance(judge, type) and callable(getattr(judge, "a_measure", None))


def _is_arena(judge: object) -> bool:
    return any(base.__name__ == "BaseArenaMetric" for base in type(judge).__mro__)


def _deepeval_name(judge: Any) -> str:  # noqa: ANN401  # a metric
    return str(getattr(judge, "name", None) or getattr(judge, "__name__", None) or type(judge).__name__)


def _deepeval_needs(judge: Any) -> set[str]:  # noqa: ANN401  # a metric
    told = getattr(judge, "evaluation_params", None) or getattr(judge, "_required_params", None)
    return {str(getattr(each, "value", each)) for each in told} if isinstance(told, list | tuple) else set()


def _deepeval_case(task: str, answer: str) -> object:
    from deepeval.test_case import LLMTestCase

    return LLMTestCase(input=task, actual_output=answer)


def _arena_case(shown: Presented) -> object:
    from deepeval.test_case import ArenaTestCase, Contestant

    answers = {"1": shown.first, "2": shown.second or ""}
    return ArenaTestCase(
        [Contestant(name=slot, test_case=_deepeval_case(shown.task, each)) for slot, each in answers.items()]
    )


def _deepeval_ordered(metric: Any) -> Any:  # noqa: ANN401  # an ArenaGEval
    """Returns a copy that shows the contestants in their order, through the metric's own template argument.

    By itself it draws the order anew for each prompt. The names that it gives the contestants are still drawn.
    """
    base, fixed = metric.evaluation_template, copy.copy(metric)

    class Ordered(base):  # type: ignore[misc, valid-type]  # known only here
        @staticmethod
        def generate_arena_winner(**given: Any) -> object:  # noqa: ANN401  # as its base has it
            case = given["test_case_contents"]
            masks = {real: name for name, real in case.dummy_to_real_names.items()}
            shown = {masks[name]: repr(each) for name, each in case.contestants.items()}
            task = {} if case.input is None else {"input": case.input}
            contents = json.dumps({**task, "arena_test_cases": shown}, indent=2)
            told: object = base.generate_arena_winner(**{**given, "test_case_contents": contents})
            return told

    fixed.evaluation_template = Ordered
    return fixed


def _deepeval_identity(judge: Any) -> dict[str, Any]:  # noqa: ANN401  # a metric
    made = {name: written(getattr(judge, name, None)) for name in (*DEEPEVAL_MADE_OF, *DEEPEVAL_SETTINGS)}
    # A node may lead to another metric.
    nodes = written(getattr(getattr(judge, "dag", None), "root_nodes", None), also=DEEPEVAL_MADE_OF)
    parts = [type(judge), getattr(judge, "evaluation_template", None)]
    own = [part for part in parts if isinstance(part, type) and part.__module__.partition(".")[0] != "deepeval"]
    return {"metric": written(type(judge)), **made, "nodes": nodes, "source": [source_digest(part) for part in own]}


# The adapter for MLflow: what `make_judge` returns, Guidelines, and every other scorer of inputs and outputs.


NOT_THERE = {"expectations", "trace", "conversation", "session"}
"""What a scorer may ask for, and controlled stimuli do not have."""

WORST_FIRST = (("no", "yes"), ("fail", "pass"), ("incorrect", "correct"), ("bad", "good"), ("false", "true"))
"""Pairs of words whose order is known."""


class _MLflow:
    """Calls `judge(inputs={"task": ...}, outputs=...)` in a thread; for a pair, the outputs are a mapping of both."""

    def describe(self, judge: object) -> Mapping[str, Any]:
        if not _mlflow_is_judge(judge):
            return {}
        named = {"name": str(getattr(judge, "name", type(judge).__name__))}
        words = _mlflow_words(judge)
        if labels := pair_labels(words):
            return {**named, "kind": "compare", **labels}
        scale = _mlflow_scale(judge, words)
        return {**named, "kind": "grade", **({"scale": scale} if scale else {})}

    def adapt(self, judge: Any, spec: "JudgeSpec") -> Adapted:  # noqa: ANN401  # checked first
        if not _mlflow_is_judge(judge):
            raise refusal(judge, spec, "use what make_judge returns, or a scorer such as Guidelines(...)")
        if missing := NOT_THERE & {*re.findall(r"\{\{\s*(\w+)", _instructions(judge)), *_mlflow_columns(judge)}:
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

        return Adapted(ask, {**versions_of("mlflow"), "judge": _mlflow_identity(judge)}, READING)


MLFLOW = _MLflow()


def _mlflow_is_judge(judge: object) -> bool:
    bases = {f"{base.__module__.partition('.')[0]}.{base.__name__}" for base in type(judge).__mro__}
    return "mlflow.Scorer" in bases and callable(judge)


def _instructions(judge: object) -> str:
    told = getattr(judge, "instructions", "")
    return told if isinstance(told, str) else ""


def _mlflow_columns(judge: object) -> list[str]:
    told = getattr(judge, "required_columns", ())
    return [str(column) for column in told] if isinstance(told, list | set | tuple) else []


def _mlflow_words(judge: object) -> list[str]:
    told = getattr(judge, "feedback_value_type", None)
    return [str(word) for word in get_args(told)] if get_origin(told) is Literal else []


def _mlflow_scale(judge: object, words: list[str]) -> dict[str, Any] | None:
    """Returns the scale if its order is known: truth values, numbers, or two words of which one is worse."""
    if getattr(judge, "feedback_value_type", None) is bool:
        return YES_NO
    known = next((pair for pair in WORST_FIRST if set(pair) == set(words)), None)
    if known is not None:
        return {"kind": "binary", "labels": list(known)}
    if len(words) > 1 and all(re.fullmatch(r"-?\d+(\.\d+)?", word) for word in words):
        return {"kind": "binary" if len(words) == 2 else "ordinal", "labels": sorted(words, key=float)}
    return None


def _mlflow_identity(judge: Any) -> Any:  # noqa: ANN401  # a scorer
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
        "columns": sorted(_mlflow_columns(judge)),
        "address": address,
        "source": None if function is None else source_digest(function),
        **made,
    }


# The adapter for the metrics of Opik: `GEval`, its presets, and others whose arguments are a task and a response.


OPIK_BOTH = "INPUT: {task}\n\nOUTPUT: {response}"
"""What `GEval` is shown: it takes a single text, and a response cannot be graded without its task."""

OPIK_UNIT = frozenset({"GEval", "AnswerRelevance", "Usefulness"})
"""Metrics, with those that inherit from them, whose scores are from 0 to 1."""

OPIK_UNREAD = READING | {"MetricComputationError", "JSONParsingError"}
"""Opik wraps these in the class that it also has for a server that is down."""

OPIK_MODEL = ("model_name", "_completion_kwargs")


class _Opik:
    """Calls `ascore(input=, output=)`, or `score` in a thread where a metric has no asynchronous twin."""

    def describe(self, judge: object) -> Mapping[str, Any]:
        names = class_names(judge)
        if "BaseMetric" not in names:
            return {}
        told: dict[str, Any] = {"kind": "grade", "name": str(getattr(judge, "name", "") or type(judge).__name__)}
        return told | ({"scale": UNIT_SCALE} if names & OPIK_UNIT else {})

    def adapt(self, judge: object, spec: "JudgeSpec") -> Adapted:
        names = class_names(judge)
        if "BaseMetric" not in names or spec.kind != "grade":
            raise refusal(judge, spec, "use a metric, such as GEval(task_introduction=..., ...), with kind: grade")
        silence_telemetry()
        metric: Any = judge
        arguments = None if "GEval" in names else arguments_of(metric.score, spec)
        waits = any("ascore" in vars(base) for base in type(judge).__mro__ if base.__name__ != "BaseMetric")

        async def ask(shown: Presented) -> str:
            by_position: list[object] = []
            if arguments is None:
                named: dict[str, object] = {"output": OPIK_BOTH.format(task=shown.task, response=shown.first)}
            else:
                by_position, named = arguments.of(shown)
            if waits:
                said = await metric.ascore(*by_position, **named)
            else:
                # Its own twin would wait for a thread of the loop's pool, which has few.
                said = await in_thread(lambda: metric.score(*by_position, **named))
            return _opik_text(said, spec)

        return Adapted(ask, _opik_identity(metric, geval=arguments is None), OPIK_UNREAD)


OPIK = _Opik()


def _opik_identity(metric: Any, *, geval: bool) -> dict[str, Any]:  # noqa: ANN401  # of Opik
    kind = type(metric)
    held = {name.lstrip("_"): written(value) for name, value in vars(metric).items() if not callable(value)}
    model = getattr(metric, "_model", None)
    held["model"] = [type(model).__qualname__, *(written(getattr(model, name, None)) for name in OPIK_MODEL)]
    own = {} if kind.__module__.startswith("opik.") else {"source": source_digest(metric)}
    shown = {"shown": OPIK_BOTH} if geval else {}
    return {
        **versions_of("opik", "litellm"),
        "metric": f"{kind.__module__}.{kind.__qualname__}",
        **held,
        **own,
        **shown,
    }


def _opik_text(said: Any, spec: "JudgeSpec") -> str:  # noqa: ANN401  # a ScoreResult, or several
    results = said if isinstance(said, list) else [said]
    if len(results) != 1:
        raise Unreadable(f"the metric returned {len(results)} results, expected one")
    [result] = results
    if result.scoring_failed:
        raise Unreadable(f"scoring failed: {result.reason}")
    return judgment_text(spec.answer_field, on_scale(spec, result.value, result.category_name), result.reason)


# The adapter for the metrics of Ragas: `DiscreteMetric`, `NumericMetric`, others that grade without a reference.


RAGAS_UNREAD = READING | {"InstructorRetryException"}
"""Raised after the model was asked to repair its answer, and did not."""

RAGAS_MADE_OF = ("name", "allowed_values", "prompt", "rubrics")


class _Ragas:
    """Calls `ascore(...)` with the variables of the metric's prompt, or `score` in a thread if its client is not async.

    A metric that takes its model with each call is given it once, as its attribute `llm`.
    """

    def describe(self, judge: object) -> Mapping[str, Any]:
        if not _is_metric(judge):
            return {}
        names, allowed = _ragas_variables(judge), getattr(judge, "allowed_values", None)
        told: dict[str, Any] = {"name": str(getattr(judge, "name", "") or type(judge).__name__)}
        if names and names_a_pair(names):
            return {**told, "kind": "compare", **pair_labels(allowed if isinstance(allowed, list) else [])}
        scale = _ragas_scale(allowed)
        return {**told, "kind": "grade", **({"scale": scale} if scale else {})}

    def adapt(self, judge: object, spec: "JudgeSpec") -> Adapted:
        if not _is_metric(judge):
            raise refusal(judge, spec, "use a metric with ascore(), such as DiscreteMetric(...)")
        silence_telemetry()
        metric, llm = judge, _ragas_llm(judge, spec)
        names = _ragas_variables(metric)
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

        return Adapted(ask, _ragas_identity(metric, llm), RAGAS_UNREAD)


RAGAS = _Ragas()


def _is_metric(judge: object) -> bool:
    return not isinstance(judge, type) and callable(getattr(judge, "ascore", None))


def _ragas_variables(judge: Any) -> list[str] | None:  # noqa: ANN401  # a metric
    """Returns the variables of a metric's prompt; None if it takes arguments of its own."""
    return list(judge.get_variables()) if callable(getattr(judge, "get_variables", None)) else None


def _ragas_llm(judge: Any, spec: "JudgeSpec") -> Any:  # noqa: ANN401  # of Ragas, or of the user's
    llm = getattr(judge, "llm", None)
    if llm is None:
        raise UsageError(f"judge {spec.name} has no model", fix="set it: metric.llm = llm_factory(...)")
    if getattr(llm, "cache", None) is not None:
        raise UsageError(
            f"judge {spec.name}: its model has a cache, so repeats would be copies",
            fix="create the model without a cache",
        )
    return llm


def _ragas_scale(allowed: Any) -> dict[str, Any] | None:  # noqa: ANN401  # a list, a pair, a range or a number
    if isinstance(allowed, range):
        return {"kind": "interval", "low": float(allowed.start), "high": float(allowed.stop)}
    if isinstance(allowed, tuple) and len(allowed) == 2:
        return {"kind": "interval", "low": float(allowed[0]), "high": float(allowed[1])}
    # Words come in any order, and which is the better one is not said.
    numbers = {str(value): float(value) for value in allowed or () if str(value).lstrip("-").isdigit()}
    return ordered_scale(numbers) if isinstance(allowed, list) and len(numbers) == len(allowed) else None


def _ragas_identity(metric: Any, llm: Any) -> dict[str, Any]:  # noqa: ANN401  # of Ragas
    made = {name: written(getattr(metric, name, None)) for name in RAGAS_MADE_OF}
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
