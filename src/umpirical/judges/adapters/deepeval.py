"""The adapter for DeepEval: GEval, DAGMetric and every other metric of an answer, and ArenaGEval for pairs."""

import asyncio
import copy
import inspect
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from umpirical.domain.trials import Presented
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.adapters.framework import (
    UNIT_SCALE,
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

SHOWN = {"input", "actual_output"}
"""The parts of a test case that there are."""

MADE_OF = ("name", "criteria", "evaluation_steps", "rubric", "evaluation_params", "evaluation_model", "model")
SETTINGS = ("strict_mode", "top_logprobs", "include_reason", "eval_mode", "threshold")


class _DeepEval:
    """Calls `a_measure` on a copy for each judgment: a metric holds its last score, reason and success.

    Only what the call returns counts; the attributes may be those of the judgment before.
    """

    def describe(self, judge: object) -> Mapping[str, Any]:
        if not _is_judge(judge):
            return {}
        # It refuses an empty answer; what it makes of a blank one is as little known.
        told: dict[str, Any] = {"name": _name(judge), "capabilities": {"accepts_empty": False}}
        if _is_arena(judge):
            return {**told, "kind": "compare"}
        strict = {"kind": "binary", "labels": ["0", "1"]}
        return {**told, "kind": "grade", "scale": strict if getattr(judge, "strict_mode", False) else UNIT_SCALE}

    def adapt(self, judge: Any, spec: "JudgeSpec") -> Adapted:  # noqa: ANN401  # checked first
        if not _is_judge(judge) or _is_arena(judge) != (spec.kind == "compare"):
            raise refusal(judge, spec, "name a metric such as GEval(...), or ArenaGEval(...) for a judge that compares")
        if needed := _needs(judge) - SHOWN:
            raise without_reference(spec, f"its {', '.join(sorted(needed))}")
        silence_telemetry()
        compare = _is_arena(judge)
        metric = _Metric(_ordered(judge) if compare else judge, judge)

        async def ask(shown: Presented) -> str:
            said, reason = await metric.measured(_arena_case(shown) if compare else _case(shown.task, shown.first))
            value = said if compare else on_scale(spec, said)
            return judgment_text(spec.answer_field, value, reason)

        return Adapted(ask, {**versions_of("deepeval"), **_identity(judge)}, READING)


ADAPTER = _DeepEval()

_steps: "WeakKeyDictionary[Any, Any]" = WeakKeyDictionary()
"""Evaluation steps that were generated, by the user's metric: one object has one set of them in a process."""


class _Metric:
    """A metric of which every judgment has its own copy. All of them share their steps, as those of one object do."""

    def __init__(self, metric: Any, owner: Any) -> None:  # noqa: ANN401  # of the package
        self._metric, self._owner, self._first = metric, owner, asyncio.Lock()
        takes = inspect.signature(metric.a_measure).parameters.values()
        quiet = any(each.name == "_show_indicator" or each.kind is each.VAR_KEYWORD for each in takes)
        self._quiet = {"_show_indicator": False} if quiet else {}

    async def measured(self, case: object) -> tuple[object, object]:
        """Returns what the metric returns, and why."""
        if getattr(self._metric, "criteria", None) is None or self._metric.evaluation_steps or self._owner in _steps:
            return await self._measured(case)
        # The first judgment has the steps written.
        async with self._first:
            return await self._measured(case)

    async def _measured(self, case: object) -> tuple[object, object]:
        fresh = copy.copy(self._metric)
        if self._owner in _steps:
            fresh.evaluation_steps = _steps[self._owner]
        try:
            said = await fresh.a_measure(case, **self._quiet)
        except Exception as error:
            # Its one error class stands for much; this is an answer that is no JSON.
            if type(error).__name__ == "DeepEvalError" and "invalid JSON" in str(error):
                raise Unreadable(str(error)) from error
            raise
        if getattr(fresh, "evaluation_steps", None) and not self._metric.evaluation_steps:
            _steps.setdefault(self._owner, fresh.evaluation_steps)
        return said, fresh.reason


def _is_judge(judge: object) -> bool:
    return not isinstance(judge, type) and callable(getattr(judge, "a_measure", None))


def _is_arena(judge: object) -> bool:
    return any(base.__name__ == "BaseArenaMetric" for base in type(judge).__mro__)


def _name(judge: Any) -> str:  # noqa: ANN401  # a metric
    return str(getattr(judge, "name", None) or getattr(judge, "__name__", None) or type(judge).__name__)


def _needs(judge: Any) -> set[str]:  # noqa: ANN401  # a metric
    """Returns the parts of a test case that a metric asks for."""
    told = getattr(judge, "evaluation_params", None) or getattr(judge, "_required_params", None)
    return {str(getattr(each, "value", each)) for each in told} if isinstance(told, list | tuple) else set()


def _case(task: str, answer: str) -> object:
    from deepeval.test_case import LLMTestCase

    return LLMTestCase(input=task, actual_output=answer)


def _arena_case(shown: Presented) -> object:
    from deepeval.test_case import ArenaTestCase, Contestant

    answers = {"1": shown.first, "2": shown.second or ""}
    return ArenaTestCase([Contestant(name=slot, test_case=_case(shown.task, each)) for slot, each in answers.items()])


def _ordered(metric: Any) -> Any:  # noqa: ANN401  # an ArenaGEval
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


def _identity(judge: Any) -> dict[str, Any]:  # noqa: ANN401  # a metric
    made = {name: written(getattr(judge, name, None)) for name in (*MADE_OF, *SETTINGS)}
    # A node may lead to another metric.
    nodes = written(getattr(getattr(judge, "dag", None), "root_nodes", None), also=MADE_OF)
    parts = [type(judge), getattr(judge, "evaluation_template", None)]
    own = [part for part in parts if isinstance(part, type) and part.__module__.partition(".")[0] != "deepeval"]
    return {"metric": written(type(judge)), **made, "nodes": nodes, "source": [source_digest(part) for part in own]}
