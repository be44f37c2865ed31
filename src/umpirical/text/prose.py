"""What in a text is prose, and what is kept to the letter: the ground under every change made by program.

Code, formulas, links, tags and names with underscores are kept. They are told by characters that no change touches, so
that a text and its changed version are taken apart alike. Every pattern takes time in proportion to the text, which is
what the possessive quantifiers are for.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

__all__ = [
    "FENCED",
    "INLINE",
    "LETTER",
    "LINE_END",
    "LINE_START",
    "SENTENCE_END",
    "SENTENCE_START",
    "VERBATIM",
    "WORD_END",
    "WORD_START",
    "Target",
    "blocks",
    "drawn",
    "spliced",
]

T = TypeVar("T")

LETTER = r"[^\W\d_]"
LINE_START = r"(?<![^\r\n])"
LINE_END = r"(?:\r\n|\n|\r)"

WORD_START = r"""(?<![^\s"'(“‘])"""
"""Before a word that no digit, slash or dot is part of, together with WORD_END."""
WORD_END = r"""(?=["')”’.,;:!?]*+(?:\s|\Z))"""

_LAST_LETTERS = r"[^\W\d_A-Z]" * 3
_CLOSERS = r"[\"'”’)]"
SENTENCE_END = (
    rf"(?<!Prof\.)(?<!Capt\.)(?<!Corp\.)(?:(?<={_LAST_LETTERS}[.!?])"
    rf"|(?<={_LAST_LETTERS}[.!?]{_CLOSERS})|(?<={_LAST_LETTERS}{_CLOSERS}[.!?]))"
)
"""After a sentence, for certain: three small letters before the stop leave out `Mr.`, `U.S.` and `e.g.`."""
SENTENCE_START = rf"(?=[\"“'‘(]?(?![a-z]){LETTER})"

FENCED = (
    rf"{LINE_START}[ \t]*+(?P<fence>`{{3,}}+(?![^`\r\n]*+`)|~{{3,}}+)(?s:.*?)"
    rf"(?:(?<=[\r\n])[ \t]*+(?P=fence)[`~]*+[ \t]*+(?=[\r\n]|\Z)|\Z)"
)
"""A fenced block of code, to its end or that of the text."""

_BLANKS = r"[^\S\r\n]*+"
_INDENTED = (
    rf"{LINE_START}(?:[ ]{{4}}|\t)"
    rf"(?:(?:{_BLANKS}\S++){{0,7}}+{_BLANKS}(?=[\r\n]|\Z)|[^\r\n{{}}=;<>|\\]*+[{{}}=;<>|\\][^\r\n]*+)"
)
"""An indented line of code. One of eight words or more that has no sign of code is an indented paragraph."""

_SIGN = r"(?:://|(?i:www)\.\w|[@\\_])"
INLINE = rf"`++[^`\r\n]++`++|\$[^$\r\n]++\$|</?[A-Za-z][^<>\r\n]*+>|(?<!\S)(?:(?!{_SIGN})\S)*+(?={_SIGN})\S++"
"""Code in a line, a formula, a tag, and whatever stands between blanks with a sign of a link or an identifier."""

VERBATIM = f"{FENCED}|{_INDENTED}|{INLINE}"


@dataclass(frozen=True)
class Target:
    """What a perturbation looks for in prose."""

    wanted: str
    """Pattern of what may be changed."""
    kept: str = VERBATIM
    """Pattern of what is passed over."""

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(f"(?P<kept>{self.kept})|(?:{self.wanted})")

    def places(self, text: str) -> list[re.Match[str]]:
        """Where it stands, from first to last."""
        return [] if _is_data(text) else [match for match in self._pattern.finditer(text) if match["kept"] is None]

    def replaced(self, text: str, new: Callable[[re.Match[str]], str]) -> str:
        """The text with `new` in all these places."""
        if _is_data(text):
            return text
        return self._pattern.sub(lambda match: new(match) if match["kept"] is None else match[0], text)


def blocks(text: str) -> list[list[re.Match[str]]]:
    """Runs of lines without a blank line between them, outside fenced code."""
    found: list[list[re.Match[str]]] = []
    end = 0
    for line in _LINES.places(text):
        if not line[0].strip():
            continue
        if found and len(_BREAKS.findall(text, end, line.start())) == 1:
            found[-1].append(line)
        else:
            found.append([line])
        end = line.end()
    return found


def drawn(places: Sequence[T], share: float, rng: np.random.Generator) -> list[T]:
    """About that share of the places, at least one where there are any, in their order."""
    if not places:
        return []
    taken = rng.random(len(places)) < share
    if not taken.any():
        taken[rng.integers(len(places))] = True
    return [place for place, chosen in zip(places, taken, strict=True) if chosen]


def spliced(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """The text with each (start, end, new) put in. Edits come in order and do not overlap."""
    parts, position = [], 0
    for start, end, new in edits:
        parts += [text[position:start], new]
        position = end
    return "".join([*parts, text[position:]])


_BREAKS = re.compile(LINE_END)
_LINES = Target(r"[^\r\n]+", kept=FENCED)

_DATA = {("{", "}"), ("[", "]"), ("<", ">")}


def _is_data(text: str) -> bool:
    """Whether the whole text is JSON or markup, by its first and last character."""
    content = text.strip()
    return len(content) > 1 and (content[0], content[-1]) in _DATA
