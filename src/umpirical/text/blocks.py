"""What in a text is prose, what is kept to the letter, and the blocks of a text: the basis of every change by program.

Code, formulas, links, tags and names with underscores are kept. They are recognised by characters that no change
touches, so that a text and its changed version are taken apart alike. Every pattern takes time in proportion to the
text, which is what the possessive quantifiers are for.

There are two readings of blocks, and neither can stand for the other:

- `markdown_blocks` reads an answer as Markdown and names the kind of every block. Use it to take an answer apart that
  is looked at once, such as a carrier.
- `line_runs` knows blank lines and fences only, and gives the lines of each run as matches. Use it under a change made
  by program: it goes by characters that no such change touches, so a text and its changed version are taken apart
  alike. It also keeps out text that is data as a whole, and knows every kind of line end.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from umpirical.text.words import LETTER

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


# The blocks of a text: paragraphs, list items, headings, code.

BlockKind = Literal["prose", "item", "other", "code"]
"""`other`: headings, tables, quotations, rules and HTML, which are never taken apart."""

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_ITEM = re.compile(r"([ \t]*)([-*+]|\d{1,3}[.)])[ \t]+(?=\S)")
_OTHER = re.compile(r"[ \t]*(?:#{1,6}\s|\||>|<|(?:[-=*_][ \t]*){3,}$)")
_INDENT = re.compile(r"(?: {4}|\t)")
_BULLET = re.compile(r"^[ \t]*[-*+][ \t]+")

_BREAKS = re.compile(LINE_END)
_LINES = Target(r"[^\r\n]+", kept=FENCED)


class TextSpan(NamedTuple):
    """A stretch of a text."""

    start: int
    end: int

    def overlaps(self, other: "TextSpan") -> bool:
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Block:
    """A part of an answer that consists of whole lines, without the blank lines after it."""

    kind: BlockKind
    span: TextSpan
    """Without the last line break."""
    body: int
    """Where its text begins: after the mark of a list item."""
    indent: int = 0
    number: int | None = None
    """The number of an item in a numbered list."""


def markdown_blocks(text: str) -> list[Block]:
    """The blocks of an answer in Markdown, in order. Only line breaks and blanks stand between them."""
    found: list[Block] = []
    fence, open_block, start = "", False, 0
    for line in text.split("\n"):
        span = TextSpan(start, start + len(line))
        start = span.end + 1
        mark = _FENCE.match(line)
        if fence:
            found[-1] = _longer(found[-1], span)
            if mark and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence, open_block = "", False
        elif mark:
            fence = mark[1]
            found.append(Block("code", span, span.start))
        elif not line.strip():
            open_block = False
        elif open_block and _continues(found[-1], line):
            found[-1] = _longer(found[-1], span)
        else:
            found.append(_block(line, span))
            open_block = True
    return found


def line_runs(text: str) -> list[list[re.Match[str]]]:
    """Runs of lines without a blank line between them, outside fenced code. Empty if the whole text is data."""
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


def without_bullet(piece: str) -> str:
    return _BULLET.sub("", piece)


def _block(line: str, span: TextSpan) -> Block:
    if item := _ITEM.match(line):
        number = int(item[2][:-1]) if item[2][:-1] else None
        return Block("item", span, span.start + item.end(), len(item[1].expandtabs(4)), number)
    if _OTHER.match(line):
        return Block("other", span, span.start)
    return Block("code" if _INDENT.match(line) else "prose", span, span.start)


def _continues(block: Block, line: str) -> bool:
    if _ITEM.match(line) or _OTHER.match(line):
        return False
    if block.kind == "code":
        return _INDENT.match(line) is not None
    return block.kind in ("prose", "item")


def _longer(block: Block, line: TextSpan) -> Block:
    return Block(block.kind, TextSpan(block.span.start, line.end), block.body, block.indent, block.number)


# Headings.

MOST_WORDS, MOST_CHARACTERS, FEWEST_LETTERS = 10, 80, 4
"""Limits of an unmarked line that is taken for a heading."""

_MARKS = re.compile(r"#{1,6}[ \t]+")
_LETTER = re.compile(LETTER)
# A comma more often belongs to a salutation, and an underscore to a placeholder for a name that was removed.
_UNMARKED = re.compile(rf"{LETTER}[^,_|\r\n]*[^\s.!?:;,_|]\Z")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading in a text."""

    start: int
    """Where its words begin, after the marks of a Markdown heading."""
    end: int
    marked: bool
    """Whether it is a Markdown heading."""


def headings(text: str) -> Iterator[Heading]:
    """Markdown headings, and short lines that stand alone above something and do not end like a sentence.

    The case of the letters does not matter, so changing it changes no answer.
    """
    found = line_runs(text)
    for place, run in enumerate(found):
        alone = len(run) == 1 and place < len(found) - 1
        for line in run:
            if marks := _MARKS.match(line[0]):
                yield Heading(line.start() + marks.end(), line.end(), marked=True)
            elif alone and _looks_like_one(line[0]):
                yield Heading(line.start(), line.end(), marked=False)


def _looks_like_one(line: str) -> bool:
    if len(line) > MOST_CHARACTERS or len(line.split()) > MOST_WORDS or not _UNMARKED.match(line):
        return False
    return len(_LETTER.findall(line)) >= FEWEST_LETTERS
