"""Proved changes of spacing: blank lines, blanks between words, indentation."""

import re

import numpy as np

from umpirical.stimuli.perturbations.catalogue import ProvedPerturbation
from umpirical.text.blocks import FENCED, LINE_END, LINE_START, Target, drawn, line_runs, spliced
from umpirical.text.sentences import CERTAIN_GAP, ends_as_prose
from umpirical.text.words import LETTER

_SENTENCE_GAP = Target(CERTAIN_GAP)

_BELONGS_ABOVE = re.compile(r" {4}|\t| *+\|")
"""How a line of code or of a table begins, which blank lines would tear from the line before."""

# Each kind of line break is folded by itself, because the same kind is added.
_FOLDED = Target(rf"\r\n(?:\r\n)*|\n\n*|\r(?!\n)(?:\r(?!\n))*|{CERTAIN_GAP}", kept=FENCED)


def _vertical_spacing_change(text: str, rng: np.random.Generator) -> str:
    """Widens the gaps between paragraphs; if there are none, between lines; if there are none, between sentences."""
    found = line_runs(text)
    below = [block[0] for block in found[1:]] or [line for block in found for line in block[1:]]
    if not below:
        return _between_sentences(text, rng)
    edits = []
    for line in below:
        if _BELONGS_ABOVE.match(line[0]):
            continue
        start = line.start()
        line_break = "\r\n" if text[start - 2 : start] == "\r\n" else text[start - 1]
        edits.append((start, start, line_break * int(rng.integers(1, 5))))
    return spliced(text, edits)


def _between_sentences(text: str, rng: np.random.Generator) -> str:
    gaps = drawn(_SENTENCE_GAP.places(text), 0.3, rng)
    return spliced(text, [(gap.start(), gap.end(), "\n" * int(rng.integers(2, 5))) for gap in gaps])


def _vertical_spacing_normal(text: str) -> str:
    """With repeated line breaks, or the blank between two sentences, as one line break; all other blanks stay."""
    return _FOLDED.replaced(text, lambda run: run[0][:2] if run[0][:2] == "\r\n" else run[0][0].replace(" ", "\n"))


VERTICAL_SPACING = ProvedPerturbation(
    name="vertical-spacing",
    title="Vertical spacing",
    about="Blank lines are added between paragraphs, or between lines or sentences where there are no paragraphs.",
    version=1,
    change=_vertical_spacing_change,
    normal=_vertical_spacing_normal,
    alters="format",
)


# Vertical spacing: blank lines are removed.

# Only within a text: what stands before its first line and after its last may be as it likes. A gap is looked for after
# a letter or sign alone: looked for at each of many blank lines, it would be read again from each of them.
_BLANK_LINES_REMOVED_GAP = Target(
    rf"(?=\s)(?<=\S)(?P<first>[ \t]*+(?>{LINE_END}))(?>[ \t]*+(?>{LINE_END}))++(?=[ \t]*+\S)", kept=FENCED
)

_NEEDS_GAP = re.compile(r" {4}|\t| *+(?:\||`{3}|~{3}|[-=*_](?:[ \t]*+[-=*_])*+[ \t]*+(?:[\r\n]|\Z))")
"""How a line begins that would be read otherwise without a blank line above it: code, a table, a line of dashes."""


def _blank_lines_removed_change(text: str, rng: np.random.Generator) -> str:  # noqa: ARG001  # there is nothing to draw
    return _BLANK_LINES_REMOVED_GAP.replaced(
        text, lambda gap: gap[0] if _NEEDS_GAP.match(text, gap.end()) else gap["first"]
    )


def _blank_lines_removed_normal(text: str) -> str:
    """With blank lines removed everywhere but in code; all else stays, the blanks at the start of a line too."""
    return _BLANK_LINES_REMOVED_GAP.replaced(text, lambda gap: gap["first"])


BLANK_LINES_REMOVED = ProvedPerturbation(
    name="blank-lines-removed",
    title="Blank lines removed",
    about="Blank lines between paragraphs are removed, and every line stays as it was.",
    version=1,
    change=_blank_lines_removed_change,
    normal=_blank_lines_removed_normal,
    alters="format",
)


# In-line spacing: clusters of blanks between words.

# Only between letters: a blank after a list mark, beside a number or at the end of a line may mean something.
# The blank comes first in the pattern: the search goes from one to the next.
_INLINE_SPACING_GAP = Target(rf" (?<={LETTER} )(?={LETTER})")
_CLUSTER = Target(rf" (?<={LETTER} ) ++(?={LETTER})")


def _inline_spacing_change(text: str, rng: np.random.Generator) -> str:
    gaps = drawn(_INLINE_SPACING_GAP.places(text), 0.1, rng)
    return spliced(text, [(gap.end(), gap.end(), " " * int(rng.integers(2, 7))) for gap in gaps])


def _inline_spacing_normal(text: str) -> str:
    """With several blanks between two letters as one; indentation and the ends of lines stay."""
    return _CLUSTER.replaced(text, lambda _: " ")


INLINE_SPACING = ProvedPerturbation(
    name="inline-spacing",
    title="In-line spacing",
    about="Two to six extra blanks are put between words, at one gap in ten.",
    version=1,
    change=_inline_spacing_change,
    normal=_inline_spacing_normal,
    alters="format",
)


# Indentation: whole paragraphs are moved to the right.

INDENTS = ("  ", "    ", "        ", "\t", "\t\t")
MARKED_INDENT = "  "
"""The indent of lists, headings, tables and quotations: with a larger one, Markdown would take them for code."""

_INDENT = Target(rf"(?=[ \t]){LINE_START}[ \t]++(?=\S)", kept=FENCED)
_MARK = re.compile(r"[-*+•>|#]|\d+[.)]")

Lines = list[re.Match[str]]


def _indentation_change(text: str, rng: np.random.Generator) -> str:
    """The lines of a block move together. Blocks with marks move alike, or lists would become nested."""
    marked: list[Lines] = []
    plain: list[Lines] = []
    for block in line_runs(text):
        (marked if any(_MARK.match(line[0].lstrip()) for line in block) else plain).append(block)
    flush = [block for block in plain if _flush(block)]
    if len(flush) < len(plain):
        # Some of the text may be code without a fence, and no line of that may move.
        flush = [block for block in flush if ends_as_prose(block[-1][0])]
    moved = [(block, _indent(rng)) for block in drawn(flush, 0.5, rng)]
    if all(_flush(block) for block in marked):
        moved += [(block, MARKED_INDENT) for block in marked]
    edits = sorted((line.start(), line.start(), indent) for block, indent in moved for line in block)
    return spliced(text, edits)


def _flush(block: Lines) -> bool:
    """Whether no line of it is indented: if one is, the difference may mean something, as it does in code."""
    return not any(line[0][0].isspace() for line in block)


def _indent(rng: np.random.Generator) -> str:
    return INDENTS[int(rng.integers(len(INDENTS)))]


def _indentation_normal(text: str) -> str:
    """Without blanks and tabs before the first character of a line; blank lines and all other blanks stay."""
    return _INDENT.replaced(text, lambda _: "")


INDENTATION = ProvedPerturbation(
    name="indentation",
    title="Indentation",
    about="Half of the paragraphs are indented by two to eight blanks or by tabs, lists and headings by two blanks.",
    version=1,
    change=_indentation_change,
    normal=_indentation_normal,
    alters="format",
)
