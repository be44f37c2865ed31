"""JSON in what others write: perhaps in a code block, perhaps contradicting itself."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_FENCE = "```"


def unfenced(text: str) -> str:
    """Returns what is in a code block if the text is one; found without a pattern, which could take long."""
    if len(text) <= 2 * len(_FENCE) or not (text.startswith(_FENCE) and text.endswith(_FENCE)):
        return text
    inner = text.removeprefix(_FENCE).removesuffix(_FENCE).removeprefix("json")
    blank = inner[: len(inner) - len(inner.lstrip())]
    if "\n" not in blank:
        return text
    return inner[blank.rindex("\n") + 1 :].removesuffix("\n")


def without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns a JSON object, as `object_pairs_hook`; refuses one with a repeated field, which may contradict itself."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field appears twice")
    return found


def texts_in(part: Any) -> Iterator[str]:  # noqa: ANN401  # JSON
    """Yields every text in a JSON value, except the names of fields."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, Mapping):
        for value in part.values():
            yield from texts_in(value)
    elif isinstance(part, Sequence):
        for value in part:
            yield from texts_in(value)


def object_schema(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the JSON Schema of an object that has exactly these fields."""
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }
