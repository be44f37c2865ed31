"""The adapter for openevals: what `create_llm_as_judge` and its asynchronous twin return, and other evaluators."""

import inspect
from collections.abc import Callable, Mapping
from string import Formatter
from types import FunctionType
from typing import TYPE_CHECKING, Any

from umpirical.domain.trials import Presented
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.adapters.framework import (
    UNIT_SCALE,
    YES_NO,
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
from umpirical.judges.adapters.returned import PARTS, judgment_text
from umpirical.judges.adapters.source import source_digest
from umpirical.judges.arguments import Arguments, arguments_of, named_arguments
from umpirical.judges.failures import READING
from umpirical.judges.telemetry import silence_telemetry
from umpirical.judges.threads import in_thread

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec

MADE_OF = ("prompt", "system", "model", "continuous", "choices", "use_reasoning", "few_shot_examples", "output_schema")


class _OpenEvals:
    """Calls `judge(inputs=, outputs=)`; a judge of pairs by the variables of its prompt.

    A judge is a function, and what it was made with is in the variables around it.
    """

    def describe(self, judge: object) -> Mapping[str, Any]:
        made = _made_of(judge)
        # Every function that is made so has the same name, which tells nothing.
        named = {"name": f"llm-as-{made['feedback_key']}-judge"} if "feedback_key" in made else {}
        names = _variables(made.get("prompt"))
        if names_a_pair(names):
            return {**named, "kind": "compare", **pair_labels(_words(made.get("output_schema")))}
        told: dict[str, Any] = {**named, "kind": "grade"} if names else named
        if made.get("output_schema") is None and names:
            choices = {f"{each:g}": each for each in made.get("choices") or ()}
            told["scale"] = ordered_scale(choices) or (UNIT_SCALE if made.get("continuous") else YES_NO)
        return told

    def adapt(self, judge: object, spec: "JudgeSpec") -> Adapted:
        if not isinstance(judge, FunctionType):
            raise refusal(judge, spec, "name a function that create_llm_as_judge has returned")
        silence_telemetry()
        made, arguments = _made_of(judge), _arguments(judge, spec)
        keep_client(made.get("judge"))

        async def ask(shown: Presented) -> str:
            _, named = arguments.of(shown)
            waits = inspect.iscoroutinefunction(judge)
            answer = await judge(**named) if waits else await in_thread(lambda: judge(**named))
            value, reason = judged(answer)
            return judgment_text(spec.answer_field, on_scale(spec, value, value), reason)

        return Adapted(ask, {**versions_of("openevals"), **_identity(judge, made)}, READING)


ADAPTER = _OpenEvals()


def _made_of(judge: Any) -> dict[str, Any]:  # noqa: ANN401  # any function of the package
    """Returns the variables around a judge and the functions that it uses; those nearest to it count."""
    cells = zip(judge.__code__.co_freevars, judge.__closure__ or (), strict=True) if _is_function(judge) else ()
    near = {name: cell.cell_contents for name, cell in cells}
    inner = near.get("scorer")
    return {**(_made_of(inner) if _is_function(inner) else {}), **near}


def _is_function(part: object) -> bool:
    return isinstance(part, FunctionType)


def _identity(judge: FunctionType, made: Mapping[str, Any]) -> dict[str, Any]:
    if "prompt" not in made:
        return {"evaluator": f"{judge.__module__}.{judge.__qualname__}", "source": source_digest(judge)}
    # Its first call sets `judge` to the client for `model`, and takes the provider off `model`.
    client = None if made.get("model") and hasattr(made.get("judge"), "with_structured_output") else made.get("judge")
    model = str(made["model"]).removeprefix("openai:") if made.get("model") else None
    return {**{name: written(made.get(name)) for name in MADE_OF}, "model": model, "client": written(client)}


def _variables(prompt: Any) -> list[str]:  # noqa: ANN401  # a text, a LangChain prompt or a function
    if isinstance(prompt, str):
        found = [name for _, name, _, _ in Formatter().parse(prompt) if name]
    else:
        found = list(getattr(prompt, "input_variables", ()))
    return list(dict.fromkeys(name for name in found if name != "attachments"))


def _arguments(judge: Callable[..., Any], spec: "JudgeSpec") -> Arguments:
    prompt = _made_of(judge).get("prompt")
    names = _variables(prompt)
    if "reference_outputs" in names and "reference_outputs" not in spec.inputs.values():
        raise without_reference(spec, "reference_outputs")
    if names:
        return named_arguments(names, spec)
    return arguments_of(prompt if _is_function(prompt) else judge, spec)  # type: ignore[arg-type]  # it is one


def _words(schema: Any) -> list[str]:  # noqa: ANN401  # a JSON Schema, one in the form of the OpenAI API, or a type
    """Returns the words that a schema allows for the value."""
    if isinstance(schema, type):
        schema = schema.model_json_schema() if hasattr(schema, "model_json_schema") else {}
    properties = (schema or {}).get("schema", schema or {}).get("properties", {})
    named = [properties[name] for name in PARTS if name in properties]
    return [str(word) for word in named[0].get("enum", ())] if named else []
