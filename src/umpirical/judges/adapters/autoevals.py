"""The adapter for autoevals: `LLMClassifier`, and the judges that are made of it, such as Battle."""

import re
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
    without_reference,
    written,
)
from umpirical.judges.adapters.returned import judgment_text
from umpirical.judges.arguments import named_arguments
from umpirical.judges.failures import READING
from umpirical.judges.telemetry import silence_telemetry
from umpirical.judges.threads import in_thread

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec

BATTLE = {
    "kind": "compare",
    "inputs": {"task": "instructions", "first": "output", "second": "expected"},
    # "No" is that the second is better, or that they are equal: no vote for either.
    "answer": {"labels": {"Yes": "1", "No": "abstain"}},
}

MADE_OF = ("name", "messages", "choice_scores", "render_args", "model", "extra_args", "client")


class _AutoEvals:
    """Calls `eval`, or `eval_async` if the client is asynchronous, with the variables of the prompt."""

    def describe(self, judge: object) -> Mapping[str, Any]:
        if not _is_judge(judge):
            return {}
        choices, names = _choices(judge), _variables(judge)
        named = {"name": getattr(judge, "name", type(judge).__name__)}
        if getattr(judge, "name", "") == "Battle" and set(choices) == {"Yes", "No"}:
            return {**named, **BATTLE}
        if names_a_pair(names):
            return {**named, "kind": "compare", **pair_labels(list(choices))}
        scale = ordered_scale(choices)
        return {**named, "kind": "grade", **({"scale": scale} if scale else {})}

    def adapt(self, judge: Any, spec: "JudgeSpec") -> Adapted:  # noqa: ANN401  # checked first
        if not _is_judge(judge):
            raise refusal(judge, spec, "name an LLMClassifier, or wrap another scorer in a function")
        silence_telemetry()
        keep_client(getattr(judge, "client", None))
        names = _variables(judge)
        if "expected" in names and "expected" not in spec.inputs.values():
            raise without_reference(spec, "what is expected")
        arguments, waits = named_arguments(names, spec), _is_asynchronous(judge)

        async def ask(shown: Presented) -> str:
            given = {"output": shown.first, **arguments.of(shown)[1]}
            score = await judge.eval_async(**given) if waits else await in_thread(lambda: judge.eval(**given))
            said = score.metadata or {}
            return judgment_text(
                spec.answer_field, on_scale(spec, score.score, said.get("choice")), said.get("rationale")
            )

        made = {name: written(getattr(judge, name, None)) for name in MADE_OF}
        # A choice that is a number has no `strip`.
        return Adapted(ask, {**versions_of("autoevals"), **made}, READING | {"AttributeError"})


ADAPTER = _AutoEvals()


def _is_judge(judge: object) -> bool:
    """Whether it is one of the classifiers that choose by a model; a scorer that counts letters is none."""
    return not isinstance(judge, type) and isinstance(getattr(judge, "choice_scores", None), Mapping)


def _choices(judge: object) -> dict[str, Any]:
    return dict(getattr(judge, "choice_scores", {}))


def _variables(judge: object) -> list[str]:
    """Returns the variables of the prompt that a call has to fill."""
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
