"""How a value of foreign data is read: as the text that stands there, or as missing. Nothing is guessed or rounded."""

import math
import re
from difflib import get_close_matches

from umpirical.domain.scales import GradeScale

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def is_missing(value: object) -> bool:
    """Whether a value is null, NaN, or text of nothing but blanks."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and math.isnan(value))


def number_of(text: str) -> float | None:
    """The number that a text spells in plain digits, or None. Neither `nan` nor `1_000` nor a blank is one."""
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None


def written_text(value: object) -> str:
    """A response or a task: text as it stands, blanks and all, or a whole number in decimal digits.

    Any other number has more than one spelling, and it is not for us to choose which one the judge should read.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    kind = "nothing (null)" if value is None else f"a {type(value).__name__}"
    raise ValueError(f"expected text, got {kind}: write it as text")


def plain_text(value: object) -> str:
    """An id, a cluster or a stratum: text as it stands, a number in its shortest spelling, or `true` and `false`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value)
    return written_text(value)


def listed_text(value: object) -> str:
    """A text that a judge is shown; a list of texts, such as the questions of a rubric, as numbered lines."""
    if not isinstance(value, list | tuple):
        return plain_text(value)
    return "\n".join(f"{number}. {plain_text(each)}" for number, each in enumerate(value, start=1))


def label_text(value: object, scale: GradeScale) -> str | None:
    """The label a value stands for, or None where it is missing. Raises ValueError for what is not on the scale.

    Text is compared as it is: `yes` is not `Yes`, and `3.0` is not `3`. A whole number is its decimal digits. A number
    with a fraction part of zero, which is how several programs store whole numbers beside missing ones, is `3` where
    the scale has `3` and not `3.0`. A boolean is `true` or `false` where the scale has these labels.
    """
    if is_missing(value):
        return None
    if isinstance(value, bool):
        return _boolean(value, scale)
    if scale.kind == "interval":
        return _number(value, scale)
    text = _decimal(value, scale) if isinstance(value, float) else written_text(value)
    if text in scale.labels:
        return text
    near = get_close_matches(text.strip(), scale.labels, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"the label {_short(text)} is not on the scale ({', '.join(scale.labels)}){hint}")


def _boolean(value: bool, scale: GradeScale) -> str:  # noqa: FBT001  # it is the value
    text = str(value).lower()
    if text not in scale.labels:
        labels = f"({', '.join(scale.labels)})" if scale.labels else "of numbers"
        raise ValueError(
            f"the label is the boolean {text}, but the scale {labels} has no label {text!r}: write labels as text, or "
            "use true and false as the labels of the scale"
        )
    return text


def _decimal(value: float, scale: GradeScale) -> str:
    whole, exact = f"{value:.0f}", repr(value)
    if not value.is_integer():
        return exact
    if whole in scale.labels and exact in scale.labels:
        raise ValueError(
            f"the number {exact} could mean {whole!r} or {exact!r}, which are both on the scale: write labels as text"
        )
    return whole if whole in scale.labels else exact


def _number(value: object, scale: GradeScale) -> str:
    text = repr(value) if isinstance(value, float) else written_text(value).strip()
    if (number := number_of(text)) is None:
        raise ValueError(f"the label {_short(text)} is not a number")
    if not scale.holds(number):
        raise ValueError(f"the label {_short(text)} is not between {scale.low:g} and {scale.high:g}")
    return text


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}...")
