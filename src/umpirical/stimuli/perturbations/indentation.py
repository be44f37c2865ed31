"""Indentation: whole paragraphs are moved to the right."""

import re

import numpy as np

from umpirical.stimuli.perturbations.catalogue import ProvedPerturbation
from umpirical.text.blocks import FENCED, LINE_START, Target, drawn, line_runs, spliced
from umpirical.text.sentences import ends_as_prose

INDENTS = ("  ", "    ", "        ", "\t", "\t\t")
MARKED_INDENT = "  "
"""The indent of lists, headings, tables and quotations: with a larger one, Markdown would take them for code."""

_INDENT = Target(rf"(?=[ \t]){LINE_START}[ \t]++(?=\S)", kept=FENCED)
_MARK = re.compile(r"[-*+•>|#]|\d+[.)]")

Lines = list[re.Match[str]]


def _change(text: str, rng: np.random.Generator) -> str:
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


def _normal(text: str) -> str:
    """Without blanks and tabs before the first character of a line; blank lines and all other blanks stay."""
    return _INDENT.replaced(text, lambda _: "")


PERTURBATION = ProvedPerturbation(
    name="indentation",
    title="Indentation",
    about="Half of the paragraphs are indented by two to eight blanks or by tabs, lists and headings by two blanks.",
    version=1,
    change=_change,
    normal=_normal,
    alters="format",
)
