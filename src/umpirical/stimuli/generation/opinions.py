"""What validators are asked, and how their answer is read."""

import json
from typing import Any, Literal

from umpirical.domain.digests import canonical_json, digest
from umpirical.domain.scales import GradeScale
from umpirical.stimuli.generation.commissions import Commission
from umpirical.text.json_texts import unfenced, without_doubles
from umpirical.text.templates import fill, shipped_template

Validation = Literal["same-grade", "target-grade", "none"]

SAME, DIFFERENT = "same", "different"

UNREAD, REFUSED = "unread", "refused"
"""What stands for an opinion that could not be read, and for one that was refused. They agree with nothing."""

FALLBACK = f"{REFUSED}, fallback: "
"""Stands before an opinion of the fallback validator, who was asked because the validator refused."""

# A longer answer is not an opinion, and not worth parsing.
LONGEST_OPINION = 20_000


def validator_prompt(commission: Commission, text: str, *, swapped: bool = False) -> str:
    """Shows the judge's own instruction and rubric, and never which grade is hoped for or which text is the user's.

    `swapped` shows the new text before its original, so that a validator's preference for either place evens out.
    """
    source, terms = commission.source, commission.terms
    shown = (text, source.candidates[0]) if swapped else (source.candidates[0], text)
    values = {
        "instruction": terms.instruction,
        "rubric": commission.rubric,
        "task": source.task,
        "first": shown[0],
        "second": shown[1],
        "response": text,
        "scale": _scale_words(terms.scale),
        "fence": _fence(commission, text),
    }
    name = "validate-same" if commission.perturbation.validation == "same-grade" else "validate-grade"
    return fill(shipped_template("umpirical.stimuli.generation", name), values)


def opinion_schema(kind: Validation, scale: GradeScale) -> str:
    """JSON Schema of an opinion."""
    answer: dict[str, Any] = {"type": "string", "enum": [SAME, DIFFERENT]}
    if kind == "target-grade":
        answer = {"type": "string", "enum": list(scale.labels)}
    field = _field(kind)
    return canonical_json(
        {"type": "object", "properties": {field: answer}, "required": [field], "additionalProperties": False}
    )


def read_opinion(kind: Validation, scale: GradeScale, text: str) -> str:
    """`same` or `different`, or a label of the scale; `unread` for anything else.

    An answer is JSON of the schema, perhaps in a code block and with a reason beside it, or the bare word. A label of
    figures may be a JSON number.
    """
    allowed = (SAME, DIFFERENT) if kind == "same-grade" else scale.labels
    stripped = text[:LONGEST_OPINION].strip()
    inner = unfenced(stripped)
    try:
        found = json.loads(inner, object_pairs_hook=without_doubles)
    except (ValueError, RecursionError):
        found = stripped.removesuffix(".").strip("\"'")
    if isinstance(found, dict):
        said = _as_text(found.get(_field(kind))) if found.keys() <= {_field(kind), "reason", "reasoning"} else None
    else:
        # A bare `3` is read by JSON as a number.
        said = stripped if isinstance(found, int) and inner == stripped else found
    if not isinstance(said, str) or said in allowed:
        return said if isinstance(said, str) else UNREAD
    alike = [label for label in allowed if label.casefold() == said.casefold()]
    return alike[0] if len(alike) == 1 else UNREAD


def _as_text(found: object) -> str | None:
    """A label that was given as text, or as a number spelled like it; None for anything else. 3.0 is not `3`."""
    if isinstance(found, int | float) and not isinstance(found, bool) and str(found)[-1].isdigit():
        return str(found)
    return found if isinstance(found, str) else None


def _fence(commission: Commission, text: str) -> str:
    """A mark that none of the texts could have foreseen; it is the same in both orders and for every target."""
    shown = sorted([commission.source.candidates[0], text])
    return digest("fence", [commission.terms.instruction, commission.rubric, commission.source.task, *shown])[:8]


def _field(kind: Validation) -> str:
    return "verdict" if kind == "same-grade" else "grade"


def _scale_words(scale: GradeScale) -> str:
    if scale.kind == "interval":
        return f"a number from {scale.low:g} to {scale.high:g}"
    return ", ".join(f'"{label}"' for label in scale.labels)
