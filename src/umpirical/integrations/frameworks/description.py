"""What the adapters of frameworks share: what a judge is made of, the scale that it tells, and what it has said."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from types import FunctionType
from typing import TYPE_CHECKING, Any

from umpirical.domain.digests import Json
from umpirical.domain.errors import UsageError
from umpirical.judges.adapters.returned import PARTS, REASONS
from umpirical.judges.adapters.source import source_digest
from umpirical.judges.arguments import NAMES
from umpirical.judges.failures import Unreadable
from umpirical.text.inert import plain_address

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec


UNIT_SCALE = {"kind": "interval", "low": 0.0, "high": 1.0}

YES_NO = {"kind": "binary", "labels": ["false", "true"]}
"""The scale of a judge that answers with a truth value."""

SLOTS = {
    "1": ("1", "a", "first", "answer a", "response a", "assistant a", "model a"),
    "2": ("2", "b", "second", "answer b", "response b", "assistant b", "model b"),
    "tie": ("tie", "c", "equal", "both", "neither", "draw", "same"),
}
"""Words that judges of pairs use, by what they mean. C is the tie of prompts with A and B."""

SECRET = re.compile(r"api_?key|secret|password|credential|header|auth|token$", re.IGNORECASE)
"""Names of what is never written down. `max_tokens` is no secret."""

MODEL_PARTS = (
    "model",
    "model_name",
    "model_id",
    "name",
    "deployment_name",
    "temperature",
    "max_tokens",
    "top_p",
    "seed",
)
"""Attributes that tell one client of a model from another."""

DEPTH = 8
"""How deep objects are written down; what lies deeper is named by its type."""

_kept: list[object] = []


def refusal(judge: object, spec: "JudgeSpec", wanted: str) -> UsageError:
    """Returns the error for an object that is no judge of the framework; `wanted` says what to name instead."""
    found = f"the class {judge.__qualname__}" if isinstance(judge, type) else f"a {type(judge).__qualname__}"
    return UsageError(f"judge {spec.name} is {found}, which cannot be used as a judge", fix=wanted)


def without_reference(spec: "JudgeSpec", what: str) -> UsageError:
    """Returns the error for a judge that compares with a right answer: controlled stimuli have none."""
    return UsageError(
        f"judge {spec.name} requires {what}, but there is none",
        fix="use the judge without it, or wrap the judge in a function that supplies it",
    )


def versions_of(*packages: str) -> dict[str, Json]:
    """Returns the installed versions: a framework's templates and its parser are part of its judges."""
    found: dict[str, Json] = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


def ordered_scale(scores: Mapping[str, Any]) -> dict[str, Any] | None:
    """Returns the scale of a judge that chooses among words with scores, lowest first; None if these give no order.

    Words of one score are one grade, so the scores themselves are its labels then.
    """
    if not all(isinstance(score, int | float) for score in scores.values()) or len(set(scores.values())) < 2:
        return None
    by_score = sorted(scores, key=lambda word: scores[word])
    shared = len(set(scores.values())) < len(scores)
    labels = [f"{score:g}" for score in sorted(set(scores.values()))] if shared else by_score
    return {"kind": "binary" if len(labels) == 2 else "ordinal", "labels": labels}


def pair_labels(words: Sequence[str]) -> dict[str, Any]:
    """Returns what the words of a judge of pairs mean, as in a study file; empty if one of them is not known."""
    meant = {word: slot for word in words for slot, known in SLOTS.items() if word.casefold() in known}
    told = len(meant) == len(words) and len(set(meant.values())) == len(words) > 1
    return {"answer": {"labels": meant}} if told and set(meant) != set(meant.values()) else {}


def judged(answer: Any) -> tuple[object, object]:  # noqa: ANN401  # a mapping, or an object with such attributes
    """Returns the value and the reason in what a judge has returned. Raises Unreadable if it holds no value."""
    held = (
        answer
        if isinstance(answer, Mapping)
        else {n: getattr(answer, n) for n in PARTS + REASONS if hasattr(answer, n)}
    )
    named = [name for name in PARTS if name in held]
    if not named:
        raise Unreadable(f"the judge returned a {type(answer).__name__} without a value: {str(answer)[:200]}")
    return held[named[0]], next((held[name] for name in REASONS if held.get(name)), None)


def on_scale(spec: "JudgeSpec", value: object, word: object = None) -> object:
    """Returns what a judge has said in the terms of its scale: a number on an interval, else a label.

    `word` is what it chose, and `value` the score of it. Nothing is made to fit: what is off the scale stays so.
    """
    if spec.scale is not None and spec.scale.kind == "interval":
        return value
    labels = spec.answer.labels or (spec.scale.labels if spec.scale is not None else ("1", "2", "tie"))
    said = word if isinstance(word, str) and (word in labels or value is None) else value
    if isinstance(said, bool):
        return "true" if said else "false"
    return f"{said:g}" if isinstance(said, int | float) else said


def written(value: Any, *, also: Sequence[str] = (), depth: int = DEPTH) -> Json:  # noqa: ANN401, PLR0911
    """Returns what a part of a judge is, as JSON that is the same in every process and holds nothing secret.

    A client is its type, its model and its address; `also` names other attributes that tell objects apart. What cannot
    be written down is its type.
    """
    if isinstance(value, Enum):
        return written(value.value, also=also, depth=depth)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, FunctionType):
        return source_digest(value)
    kind = type(value).__qualname__
    if depth == 0:
        return kind
    if isinstance(value, Mapping):
        return _without_secrets(value, also, depth)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [written(each, also=also, depth=depth - 1) for each in value]
    if isinstance(value, set | frozenset):
        return sorted(str(written(each, also=also, depth=depth - 1)) for each in value)
    names = [each.name for each in fields(value)] if is_dataclass(value) else list(getattr(value, "model_fields", ()))
    held = {name: getattr(value, name, None) for name in (*names, *MODEL_PARTS, *also) if not name.startswith("_")}
    return {"type": kind, **_without_secrets(held, also, depth), **_address(value)}


def _without_secrets(held: Mapping[Any, Any], also: Sequence[str], depth: int) -> dict[str, Json]:
    named = {str(name): each for name, each in held.items() if each is not None and not SECRET.search(str(name))}
    return {name: written(each, also=also, depth=depth - 1) for name, each in named.items()}


def _address(client: Any) -> dict[str, Json]:  # noqa: ANN401  # of any package
    told = address_of(getattr(client, "base_url", None))
    return {"address": told} if told else {}


def address_of(url: object) -> str | None:
    """Returns where a client sends to, without what may be a key; None if it does not say."""
    return plain_address(str(url)) if url else None


def keep_client(client: object) -> None:
    """Keeps the client of a judge for as long as the process lives, so that it is never collected as garbage.

    An asynchronous client of openai's that is collected closes its connections a second time, by their numbers, which
    other connections may have by then: these wait for an answer that has long come. Its makers want such clients closed
    by whoever made them (github.com/openai/openai-python/issues/2440), and a judge's client is the user's.
    """
    if client is not None and all(client is not each for each in _kept):
        _kept.append(client)


def class_names(judge: object) -> set[str]:
    return set() if isinstance(judge, type) else {base.__name__ for base in type(judge).__mro__}


def names_a_pair(names: Sequence[str]) -> bool:
    """Whether the variables of a prompt have a place for each of two candidates."""
    return all(any(name.lower() in NAMES[role] for name in names) for role in ("first", "second"))
