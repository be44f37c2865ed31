"""What judge objects return, as text for the answer reader."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from enum import Enum
from typing import Any

from umpirical.judges.failures import Unreadable

PARTS = ("verdict", "winner", "grade", "score", "value", "label", "choice", "confidence")
"""Attributes of a result that may hold what was judged."""

REASONS = ("reasoning", "reason", "rationale", "explanation", "comment")
"""Attributes of a result that may hold why."""


def judgment_text(field: str, value: object, reason: object = None) -> str:
    """Returns a judgment as JSON with its value in `field`, and why in `reasoning`.

    Only a value on the scale will be read as a verdict, so any may be given: None, NaN and what is off the scale too.
    """
    *outer, last = field.split(".")
    whole: dict[str, object] = {last: value}
    for name in reversed(outer):
        whole = {name: whole}
    return json.dumps({"reasoning": reason, **whole} if isinstance(reason, str) and reason else whole, default=_part)


def returned_text(answer: object, field: str) -> str:
    """Returns what a function returned, as text. `field` is what the answer reader looks for.

    A text stays as it is. A pair is a value and why. An object is its attributes that may hold a value or a reason.
    """
    if type(answer) not in (str, int, float, bool, dict, tuple, type(None)):
        answer = _plain(answer)
    if isinstance(answer, str):
        return answer
    if answer is None:
        raise Unreadable("the judge returned None")
    if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], str):
        return judgment_text(field, answer[0], answer[1])
    if isinstance(answer, dict | int | float):
        return json.dumps(answer, default=_part)
    raise TypeError(f"the judge returned {type(answer).__name__}, expected text, a number, true or false, or a mapping")


def _plain(answer: Any) -> Any:  # noqa: ANN401  # whatever a judge returns
    """Returns what an object holds as a plain value, or the object itself."""
    for is_one, plain in FORMS:
        if is_one(answer):
            return plain(answer)
    held = {name: getattr(answer, name) for name in (*PARTS, *REASONS) if hasattr(answer, name)}
    return held if held.keys() & set(PARTS) else answer


def _part(held: Any) -> Any:  # noqa: ANN401  # whatever a judge returns
    """Returns a part of an answer as JSON has it. Raises TypeError if there is no such thing."""
    plain = _plain(held)
    if plain is held:
        raise TypeError(f"the judge returned a {type(held).__name__} within its answer")
    return plain


def _has(method: str) -> Callable[[Any], bool]:
    return lambda answer: callable(getattr(answer, method, None)) and not isinstance(answer, type)


FORMS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Any]], ...] = (
    (lambda answer: isinstance(answer, Enum), lambda answer: answer.value),
    (lambda answer: isinstance(answer, str), str),
    (_has("model_dump"), lambda answer: answer.model_dump(mode="json")),
    (_has("_asdict"), lambda answer: answer._asdict()),
    (lambda answer: is_dataclass(answer) and not isinstance(answer, type), asdict),
    (lambda answer: isinstance(answer, Mapping), dict),
    # numpy's numbers
    (_has("item"), lambda answer: answer.item()),
)
"""Objects that hold plain values, and how these are had: enumerations, Pydantic models, named tuples, dataclasses."""
