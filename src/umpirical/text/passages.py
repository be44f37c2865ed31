"""Passages: where one stands in a text, whether it can be taken out, and which one was put in."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from umpirical.text.blocks import TextSpan
from umpirical.text.sentences import ends_whole, needs_no_blank

_LIKE_MARKS = str.maketrans("“”„«»‘’‚‹›–—‐‑−", "\"\"\"\"\"'''''-----")


def locate(text: str, passage: str) -> list[TextSpan]:
    """Where a passage stands, word for word; blanks and line breaks between words may differ."""
    words = r"\s+".join(map(re.escape, passage.split()))
    return [TextSpan(*match.span()) for match in re.finditer(rf"(?<!\w)(?:{words})(?!\w)", text)]


def balanced(piece: str) -> bool:
    """Whether a piece can be taken out without separating marks that belong together."""
    even = all(piece.count(mark) % 2 == 0 for mark in ("**", "__", "`", '"'))
    return even and all(piece.count(left) == piece.count(right) for left, right in ("()", "[]", "{}", "“”"))


@dataclass(frozen=True, slots=True)
class Passage:
    """What was put into a text in one piece."""

    text: str
    place: str
    """`at the beginning`, `at the end`, `between two sentences`."""


def added_passage(original: str, changed: str) -> Passage | None:
    """The one passage whose removal restores the original, letter for letter; None if there is no such passage.

    It stands between whole sentences or lines, and does not run into the sentence after it: a `not` put into a
    sentence is not a passage. The amount of blank space and the shape of quotation marks and dashes do not count.
    """
    before, after = _plain(original), _plain(changed)
    extra = len(after) - len(before)
    if extra <= 0 or not before:
        return None
    start, end = _common(before, after), _common(before[::-1], after[::-1])
    # Where the texts repeat themselves, the same passage can be cut out in several places; any sound one will do.
    for cut in range(max(0, len(before) - end), min(start, len(before)) + 1):
        if _begins_apart(before, after, cut) and _ends_apart(after, cut, extra):
            place = "at the beginning" if cut == 0 else "at the end" if cut == len(before) else "between two sentences"
            return Passage(after[cut : cut + extra].strip(), place)
    return None


def _plain(text: str) -> str:
    return "".join(_pieces(text.strip().translate(_LIKE_MARKS)))


def _pieces(text: str) -> Iterator[str]:
    """Each run of blanks as one blank, or as one line break if it has any."""
    for piece in re.split(r"(\s+)", text):
        yield piece if not piece.isspace() else "\n" if "\n" in piece else " "


def _common(one: str, other: str) -> int:
    """Length of the common beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def _begins_apart(before: str, after: str, cut: int) -> bool:
    """Whether what was put in at `cut` comes after a whole sentence or line."""
    if cut == 0 or after[cut] == "\n":
        return True
    return ends_whole(before[max(0, cut - 8) : cut]) and (after[cut].isspace() or needs_no_blank(before[cut - 1]))


def _ends_apart(after: str, cut: int, extra: int) -> bool:
    """Whether it ends with a sentence or a line."""
    end = cut + extra
    if end == len(after) or after[end] == "\n":
        return True
    return ends_whole(after[max(cut, end - 8) : end]) and (after[end].isspace() or needs_no_blank(after[end - 1]))
