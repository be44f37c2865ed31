"""Layouts of a whole real answer: its words and its code stay, and how they are set out changes."""

import re
from collections.abc import Callable

import numpy as np

from umpirical.stimuli.controlled.ladder.transforms import TRANSFORMS
from umpirical.text.blocks import Block, markdown_blocks
from umpirical.text.sentences import balanced, spans_past_abbreviations

Layout = Callable[[str, np.random.Generator], str]

LISTED = 3
"""Sentences that a paragraph needs to be made a list."""

_BULLET = re.compile(r"([ \t]*)([-*+])")


def laid_out(text: str, name: str, rng: np.random.Generator) -> str | None:
    """The answer in another layout, or None if it has nothing that the layout could change."""
    changed = LAYOUTS[name](text, rng)
    return None if changed == text else changed


def _whitespace(text: str, rng: np.random.Generator) -> str:
    """Paragraphs broken up and blanks doubled, as on the ladder; blank lines between the items of a list."""

    def change(block: Block) -> str:
        sentences = _sentences(text, block)
        if block.kind != "prose" or len(sentences) < 2:
            return text[block.span.start : block.span.end]
        return TRANSFORMS["whitespace"](sentences, rng)

    return _rebuilt(text, change, loose=True)


def _list(text: str, rng: np.random.Generator) -> str:
    """Paragraphs of several sentences become lists."""

    def change(block: Block) -> str:
        sentences = [" ".join(sentence.split()) for sentence in _sentences(text, block)]
        own = text[block.span.start : block.span.end]
        leads_on = own.rstrip().endswith(":")
        if block.kind != "prose" or len(sentences) < LISTED or leads_on or not all(map(balanced, sentences)):
            return own
        return TRANSFORMS["list"](sentences, rng)

    return _rebuilt(text, change)


def _bullets(text: str, _: np.random.Generator) -> str:
    """The marks of lists change: a dash becomes an asterisk, anything else a dash."""

    def change(block: Block) -> str:
        own = text[block.span.start : block.span.end]
        if block.kind != "item" or block.number is not None:
            return own
        return _BULLET.sub(lambda match: f"{match[1]}{'*' if match[2] == '-' else '-'}", own, count=1)

    return _rebuilt(text, change)


LAYOUTS: dict[str, Layout] = {"whitespace": _whitespace, "list": _list, "bullets": _bullets}


def _sentences(text: str, block: Block) -> list[str]:
    return [text[span.start : span.end] for span in spans_past_abbreviations(text, block)]


def _rebuilt(text: str, change: Callable[[Block], str], *, loose: bool = False) -> str:
    """The answer with each block changed; if `loose`, with a blank line between items that have none."""
    out, before = "", None
    for block in markdown_blocks(text):
        gap = text[before.span.end if before else 0 : block.span.start]
        if loose and before and gap == "\n" and before.kind == block.kind == "item":
            gap = "\n\n"
        out += gap + change(block)
        before = block
    return out + text[before.span.end if before else 0 :]
