"""How a Python judge is called: which of its parameters receives the task, which the candidates."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from umpirical.domain.errors import UsageError
from umpirical.domain.trials import Presented
from umpirical.judges.placeholders import ROW

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec

MESSAGES = frozenset({"messages", "conversation", "chat"})
"""Parameters that receive a conversation: the task as the user's turn, the response as the assistant's."""

_THINGS = ("answer", "response", "output", "candidate", "completion")

NAMES: Mapping[str, tuple[str, ...]] = {
    "task": ("task", "question", "prompt", "input", "inputs", "query", "instruction", "user_input", "request"),
    "first": ("first", "a", *(f"{thing}_{end}" for thing in _THINGS for end in "a1")),
    "second": ("second", "b", *(f"{thing}_{end}" for thing in _THINGS for end in "b2")),
    "response": (*_THINGS, "outputs", "prediction", "actual_output", "submission", "text", "first"),
}
"""What parameters are called in judges that people write, by what they are meant for."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """How one judgment becomes a call."""

    roles: tuple[tuple[str, str], ...]
    """(parameter, role) in the order of the parameters."""
    positional: int = 0
    """How many of them, from the first, are passed by position; the others are passed by name."""

    def of(self, shown: Presented) -> tuple[list[object], dict[str, object]]:
        values = shown_values(shown)
        given = [(name, values[role]) for name, role in self.roles]
        return [value for _, value in given[: self.positional]], dict(given[self.positional :])


def roles_of(spec: "JudgeSpec") -> tuple[str, ...]:
    return ("task", "first", "second") if spec.kind == "compare" else ("task", "response")


def shown_values(shown: Presented) -> dict[str, object]:
    columns = {f"{ROW}{name}": text for name, text in shown.columns.items()}
    if shown.second is None:
        return {"task": shown.task, "response": shown.first, "messages": shown_as_messages(shown), **columns}
    return {"task": shown.task, "first": shown.first, "second": shown.second, **columns}


def shown_as_messages(shown: Presented) -> list[dict[str, str]]:
    return [{"role": "user", "content": shown.task}, {"role": "assistant", "content": shown.first}]


def question_of(spec: "JudgeSpec") -> Callable[[Presented], dict[str, object]]:
    """Returns what makes a mapping of what is shown, under the names that `inputs` of the spec gives.

    Raises UsageError if `inputs` names what there is not, or gives two things one name.
    """
    _check_roles(spec)
    names = {role: spec.inputs.get(role, role) for role in (*roles_of(spec), *spec.inputs)}
    if len(set(names.values())) < len(names):
        raise UsageError(
            f"judge {spec.name}: `inputs` maps two fields to the same name", fix="use a different name for each"
        )

    def question(shown: Presented) -> dict[str, object]:
        values = shown_values(shown)
        return {name: values[role] for role, name in names.items()}

    return question


def _check_roles(spec: "JudgeSpec") -> None:
    allowed = {*roles_of(spec), *(["messages"] if spec.kind == "grade" else [])}
    if unknown := [role for role in spec.inputs if role not in allowed and not role.startswith(ROW)]:
        raise UsageError(
            f"judge {spec.name}: inputs: a {spec.kind} judge has no field {unknown[0]}",
            fix=f"choose one of: {', '.join(sorted(allowed))}, or a column of the data as {ROW}NAME",
        )


def arguments_of(judge: Callable[..., object], spec: "JudgeSpec") -> Arguments:
    """Finds out how a judge is to be called, by `inputs` of the spec or by its parameters. Calls nothing.

    Raises UsageError if it cannot be called with what there is to show.
    """
    try:
        parameters = list(inspect.signature(judge).parameters.values())
    except (TypeError, ValueError):
        # Something compiled, whose parameters nobody knows.
        return _in_order(spec)
    return _arguments(parameters, spec)


def named_arguments(names: Iterable[str], spec: "JudgeSpec") -> Arguments:
    """Finds out what each variable of a prompt is to be filled with, as for the parameters of a function."""
    return _arguments([inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names], spec)


def _arguments(parameters: list[inspect.Parameter], spec: "JudgeSpec") -> Arguments:
    needed = [each for each in parameters if each.default is each.empty and each.kind in _PLAIN]
    names = [each.name for each in parameters]
    open_ended = any(each.kind is each.VAR_KEYWORD for each in parameters)
    if spec.inputs:
        return _told(spec, names, needed, open_ended=open_ended)
    if spec.kind == "grade" and len(needed) == 1 and needed[0].name in MESSAGES:
        return Arguments(((needed[0].name, "messages"),), _positional(needed))
    by_name = _recognised(spec, parameters)
    if by_name is not None and all(each.name in dict(by_name) for each in needed):
        return Arguments(by_name, _positional(parameters))
    roles = roles_of(spec)
    taken = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    many = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    strict = [each for each in needed if each.kind is each.KEYWORD_ONLY]
    few = len([each for each in needed if each in taken])
    if not strict and few <= len(roles) and (many or len(taken) >= len(roles)):
        return _in_order(spec)
    raise UsageError(
        f"judge {spec.name} is called with {', '.join(roles)}, but its parameters are ({', '.join(names)})",
        fix=f"map them, such as inputs: {{{', '.join(f'{role}: NAME' for role in roles)}}}",
    )


_PLAIN = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


def _in_order(spec: "JudgeSpec") -> Arguments:
    roles = roles_of(spec)
    return Arguments(tuple((role, role) for role in roles), len(roles))


def _positional(parameters: list[Any]) -> int:
    return sum(each.kind is each.POSITIONAL_ONLY for each in parameters)


def _told(spec: "JudgeSpec", names: list[str], needed: list[Any], *, open_ended: bool) -> Arguments:
    """Returns the arguments as `inputs` says. Raises UsageError for a parameter that there is not, or is left out."""
    chosen = {name: role for role, name in spec.inputs.items()}
    _check_roles(spec)
    if missing := [name for name in chosen if name not in names and not open_ended]:
        raise UsageError(
            f"judge {spec.name}: inputs contains {missing[0]}, but its parameters are ({', '.join(names)})",
            fix="use the name of a parameter",
        )
    if left := [each.name for each in needed if each.name not in chosen]:
        raise UsageError(
            f"judge {spec.name}: its parameter {left[0]} has no value",
            fix=f"add it to inputs, give it a default, or wrap the judge in a function of {', '.join(roles_of(spec))}",
        )
    return Arguments(tuple(chosen.items()))


def _recognised(spec: "JudgeSpec", parameters: list[Any]) -> tuple[tuple[str, str], ...] | None:
    """Returns (parameter, role) if the names of the parameters tell all candidates apart, else None."""
    found: dict[str, str] = {}
    for role in roles_of(spec):
        named = [each.name for each in parameters if each.kind in _PLAIN and each.name.lower() in NAMES[role]]
        if len(named) > 1 or (not named and role != "task"):
            return None
        if named:
            found[named[0]] = role
    ordered = [each.name for each in parameters if each.name in found]
    return tuple((name, found[name]) for name in ordered)
