"""The adapter for Inspect: what `model_graded_qa()` returns, and any other scorer that is made by `@scorer`."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from contextvars import Context
from typing import TYPE_CHECKING, Any

from umpirical.domain.trials import Presented
from umpirical.integrations.frameworks.description import on_scale, refusal, versions_of, without_reference, written
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.adapters.returned import judgment_text
from umpirical.judges.adapters.source import source_digest
from umpirical.judges.failures import READING, Unreadable
from umpirical.judges.user_code import silence_telemetry

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec


CRITERION = "The submission does everything the task asks for."
"""The target of every sample. Controlled stimuli have no reference answer, and a grader's prompt wants a criterion."""

OWN = "inspect_ai/"
GRADED = f"{OWN}model_graded_qa"

_COMPARED = ("answer", "choice", "exact", "f1", "includes", "match", "math", "model_graded_fact", "pattern")

REFERENCES = frozenset(f"{OWN}{name}" for name in _COMPARED)
"""Scorers that hold a submission against the right answer."""


class _Inspect:
    """Calls `scorer(state, target)` on a sample made of the task and the response. All judgments share one loop."""

    def describe(self, judge: object) -> Mapping[str, Any]:
        made = _registered(judge)
        if made is None:
            return {}
        name, parameters = made
        told: dict[str, Any] = {"kind": "grade", "name": name.rpartition("/")[2].replace("_", "-")}
        # With instructions or a pattern of its own, it may answer anything.
        if name == GRADED and not parameters.keys() & {"instructions", "grade_pattern"}:
            partial = bool(parameters.get("partial_credit"))
            told["scale"] = {"kind": "ordinal", "labels": ["I", "P", "C"]} if partial else _RIGHT_OR_WRONG
        return told

    def adapt(self, judge: object, spec: "JudgeSpec") -> Adapted:
        made = _registered(judge)
        if made is None or not callable(judge) or spec.kind != "grade":
            raise refusal(
                judge, spec, "use what a scorer returns, such as model_graded_qa(model=...), with kind: grade"
            )
        name, parameters = made
        if name in REFERENCES:
            raise without_reference(spec, "the right answer")
        silence_telemetry()
        scorer: Callable[..., Awaitable[Any]] = judge

        async def ask(shown: Presented) -> str:
            # In the context of the caller, Inspect would keep every call in its transcript for good.
            score = await asyncio.create_task(_scored(scorer, shown), context=Context())
            return _text(score, spec)

        identity = {**versions_of("inspect-ai", "openai"), "scorer": name, "parameters": written(parameters)}
        # What the package itself defines is known by its version.
        own = {} if name.startswith(OWN) else {"source": source_digest(scorer)}
        return Adapted(ask, {**identity, **own, "criterion": CRITERION}, READING)


ADAPTER = _Inspect()

_RIGHT_OR_WRONG = {"kind": "binary", "labels": ["I", "C"]}


def _registered(judge: object) -> tuple[str, dict[str, Any]] | None:
    """Returns the name of a scorer and what it was made with; None for anything else.

    A scorer's factory is registered too, but not made with anything.
    """
    info, made_with = (getattr(judge, name, None) for name in ("__registry_info__", "__registry_params__"))
    if isinstance(judge, type) or getattr(info, "type", None) != "scorer" or made_with is None:
        return None
    return str(getattr(info, "name", "")), dict(made_with)


async def _scored(scorer: Callable[..., Awaitable[Any]], shown: Presented) -> Any:  # noqa: ANN401  # Inspect's
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelName, ModelOutput
    from inspect_ai.scorer import Target
    from inspect_ai.solver import TaskState

    output = ModelOutput.from_content("none", shown.first)
    state = TaskState(
        model=ModelName("none/none"),
        sample_id=1,
        epoch=1,
        input=shown.task,
        messages=[ChatMessageUser(content=shown.task), ChatMessageAssistant(content=shown.first)],
        output=output,
        completed=True,
    )
    return await scorer(state, Target(CRITERION))


def _text(score: Any, spec: "JudgeSpec") -> str:  # noqa: ANN401  # Inspect's
    if score is None:
        raise Unreadable("the scorer returned no score")
    value, why = score.value, score.explanation
    if isinstance(value, float) and math.isnan(value):
        raise Unreadable(f"{score.reason or 'unscored'}: {why or 'no explanation'}")
    return judgment_text(spec.answer_field, on_scale(spec, value, value if isinstance(value, str) else None), why)
