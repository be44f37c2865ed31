"""How a real answer is laid out: paragraphs, list items, code and the rest, and the sentences in them."""

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["Block", "Span", "balanced", "blocks", "locate", "sentence_spans"]

Kind = Literal["prose", "item", "other", "code"]
"""`other`: headings, tables, quotations, rules and HTML, which are never taken apart."""

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_ITEM = re.compile(r"([ \t]*)([-*+]|\d{1,3}[.)])[ \t]+(?=\S)")
_OTHER = re.compile(r"[ \t]*(?:#{1,6}\s|\||>|<|(?:[-=*_][ \t]*){3,}$)")
_INDENTED = re.compile(r"(?: {4}|\t)")

# A full stop with what may close a sentence after it, and the blanks between it and the next.
_STOP = re.compile(r"[.!?][\"'”’)\]*_]*(\s+)(?=[\"'“‘(\[*_]*[A-Z0-9])|[.!?:](\n)|( {2,}\n)")

_LAST_WORD = re.compile(r"[\w.]+$")

_ABBREVIATED = """
approx. ca. cf. co. corp. dr. e.g. etc. fig. gen. i.e. inc. jr. ltd. mr. mrs. ms. no. nos. p. pp. prof. resp. rev. sec.
sr. st. vol. vs. u.s. u.k. a.m. p.m.
"""

ABBREVIATIONS = frozenset(_ABBREVIATED.split())
"""After these a capital or a figure need not begin a sentence."""


class Span(NamedTuple):
    """A stretch of a text."""

    start: int
    end: int

    def overlaps(self, other: "Span") -> bool:
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Block:
    """A part of an answer with nothing but whole lines in it, and no blank line after it."""

    kind: Kind
    span: Span
    """Without the last line break."""
    body: int
    """Where its text begins: after the mark of a list item."""
    indent: int = 0
    number: int | None = None
    """Of an item in a numbered list."""


def blocks(text: str) -> list[Block]:
    """The blocks of an answer in order. Between them are line breaks and blanks only."""
    found: list[Block] = []
    fence, open_block, start = "", False, 0
    for line in text.split("\n"):
        span = Span(start, start + len(line))
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


def sentence_spans(text: str, block: Block) -> list[Span]:
    """The sentences of a paragraph or of a list item; anything else is one piece."""
    if block.kind in ("code", "other"):
        return [block.span]
    cuts = [block.body]
    ends = []
    for stop in _STOP.finditer(text, block.body, block.span.end):
        gap = next(Span(*stop.span(group)) for group in (1, 2, 3) if stop[group])
        if not _abbreviated(text[block.body : gap.start]):
            ends.append(gap.start)
            cuts.append(gap.end)
    pieces = (Span(start, end) for start, end in zip(cuts, [*ends, block.span.end], strict=True))
    return [span for piece in pieces if (span := _stripped(text, piece)).start < span.end]


def locate(text: str, claim: str) -> list[Span]:
    """Where a passage stands, word for word; blanks and line breaks between words may differ."""
    words = r"\s+".join(map(re.escape, claim.split()))
    return [Span(*match.span()) for match in re.finditer(rf"(?<!\w)(?:{words})(?!\w)", text)]


def balanced(piece: str) -> bool:
    """Whether a piece can be taken out without tearing marks apart that belong together."""
    even = all(piece.count(mark) % 2 == 0 for mark in ("**", "__", "`", '"'))
    return even and all(piece.count(left) == piece.count(right) for left, right in ("()", "[]", "{}", "“”"))


def _block(line: str, span: Span) -> Block:
    if item := _ITEM.match(line):
        number = int(item[2][:-1]) if item[2][:-1] else None
        return Block("item", span, span.start + item.end(), len(item[1].expandtabs(4)), number)
    if _OTHER.match(line):
        return Block("other", span, span.start)
    return Block("code" if _INDENTED.match(line) else "prose", span, span.start)


def _continues(block: Block, line: str) -> bool:
    """Whether a line goes on with the block above it."""
    if _ITEM.match(line) or _OTHER.match(line):
        return False
    if block.kind == "code":
        return _INDENTED.match(line) is not None
    return block.kind in ("prose", "item")


def _longer(block: Block, line: Span) -> Block:
    return Block(block.kind, Span(block.span.start, line.end), block.body, block.indent, block.number)


def _abbreviated(before: str) -> bool:
    """Whether the full stop that a text ends in belongs to a word: e.g., Dr., an initial."""
    word = _LAST_WORD.search(before)
    if word is None:
        return False
    return word[0].casefold() in ABBREVIATIONS or re.fullmatch(r"[A-Z]\.", word[0]) is not None


def _stripped(text: str, span: Span) -> Span:
    piece = text[span.start : span.end]
    return Span(span.start + len(piece) - len(piece.lstrip()), span.end - len(piece) + len(piece.rstrip()))
