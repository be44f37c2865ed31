"""What in a text is prose, and what is kept to the letter: the basis of every change made by program.

Code, formulas, links, tags and names with underscores are kept. They are recognised by characters that no change
touches, so that a text and its changed version are taken apart alike. Every pattern takes time in proportion to the
text, which is what the possessive quantifiers are for.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import numpy as np

T = TypeVar("T")

LINE_START = r"(?<![^\r\n])"
LINE_END = r"(?:\r\n|\n|\r)"

_FENCED = (
    rf"{LINE_START}[ \t]*+(?P<fence>`{{3,}}+(?![^`\r\n]*+`)|~{{3,}}+)(?s:.*?)"
    rf"(?:(?<=[\r\n])[ \t]*+(?P=fence)[`~]*+[ \t]*+(?=[\r\n]|\Z)|\Z)"
)
"""Pattern of a fenced block of code, up to its end or the end of the text."""

_BLANKS = r"[^\S\r\n]*+"
_INDENTED = (
    rf"{LINE_START}(?:[ ]{{4}}|\t)"
    rf"(?:(?:{_BLANKS}\S++){{0,7}}+{_BLANKS}(?=[\r\n]|\Z)|[^\r\n{{}}=;<>|\\]*+[{{}}=;<>|\\][^\r\n]*+)"
)
"""Pattern of an indented line of code. A line of eight words or more without a sign of code is indented prose."""

_SIGN = r"(?:://|(?i:www)\.\w|[@\\_])"
_SIGNED = rf"(?<!\S)(?:(?!{_SIGN})\S)*+(?={_SIGN})\S++"
"""Pattern of a word that has a sign of a link or an identifier in it."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Something that is kept to the letter."""

    pattern: str
    needs: tuple[str, ...]
    """One of these, in small letters, stands in every text in which the pattern is found."""


FENCED = (Kept(_FENCED, ("```", "~~~")),)
"""Blocks of code between fences."""

INLINE = (
    Kept(r"`++[^`\r\n]++`++", ("`",)),
    Kept(r"\$[^$\r\n]++\$", ("$",)),
    Kept(r"</?[A-Za-z][^<>\r\n]*+>", ("<",)),
    Kept(_SIGNED, ("://", "www.", "@", "\\", "_")),
)
"""Code in a line, a formula, a tag, and a word that has a sign of a link or an identifier in it."""

VERBATIM = (*FENCED, Kept(_INDENTED, ("    ", "\t")), *INLINE)


@dataclass(frozen=True)
class Target:
    """What a perturbation looks for in prose."""

    wanted: str
    """Pattern of what may be changed."""
    kept: tuple[Kept, ...] = VERBATIM
    """What is skipped. Where several begin at one place, the first."""

    def places(self, text: str) -> list[re.Match[str]]:
        """Where it stands, from first to last; nowhere in a text that is data as a whole."""
        if _is_data(text):
            return []
        pattern = self._pattern(text)
        if "kept" not in pattern.groupindex:
            return list(pattern.finditer(text))
        return [match for match in pattern.finditer(text) if match["kept"] is None]

    def replaced(self, text: str, new: Callable[[re.Match[str]], str]) -> str:
        """The text with `new` put in all these places."""
        if _is_data(text):
            return text
        pattern = self._pattern(text)
        if "kept" not in pattern.groupindex:
            return pattern.sub(new, text)
        return pattern.sub(lambda match: new(match) if match["kept"] is None else match[0], text)

    def _pattern(self, text: str) -> re.Pattern[str]:
        """The pattern without what this text has none of: to look for it at every character takes most of the time."""
        small = text.lower()
        return _compiled(
            self.wanted, tuple(one.pattern for one in self.kept if any(map(small.__contains__, one.needs)))
        )


@cache
def _compiled(wanted: str, kept: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f"(?P<kept>{'|'.join(kept)})|(?:{wanted})" if kept else wanted)


def drawn(places: Sequence[T], share: float, rng: np.random.Generator) -> list[T]:
    """About that share of the places, but at least one if there are any, in their order."""
    if not places:
        return []
    taken = rng.random(len(places)) < share
    if not taken.any():
        taken[rng.integers(len(places))] = True
    return [place for place, chosen in zip(places, taken, strict=True) if chosen]


def spliced(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """The text with each edit (start, end, new) made. Edits come in order and do not overlap."""
    parts, position = [], 0
    for start, end, new in edits:
        parts += [text[position:start], new]
        position = end
    return "".join([*parts, text[position:]])


_DATA = {("{", "}"), ("[", "]"), ("<", ">")}


def _is_data(text: str) -> bool:
    """Whether the whole text is JSON or markup, by its first and last character."""
    content = text.strip()
    return len(content) > 1 and (content[0], content[-1]) in _DATA
