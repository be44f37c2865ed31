"""Vertical spacing: blank lines are added."""

import re

import numpy as np

from umpirical.stimuli.perturbations.catalogue import ProvedPerturbation
from umpirical.text.blocks import FENCED, Target, drawn, line_runs, spliced
from umpirical.text.sentences import CERTAIN_GAP

_SENTENCE_GAP = Target(CERTAIN_GAP)

_BELONGS_ABOVE = re.compile(r" {4}|\t| *+\|")
"""How a line of code or of a table begins, which blank lines would tear from the line before."""

# Each kind of line break is folded by itself, because the same kind is added.
_FOLDED = Target(rf"\r\n(?:\r\n)*|\n\n*|\r(?!\n)(?:\r(?!\n))*|{CERTAIN_GAP}", kept=FENCED)


def _change(text: str, rng: np.random.Generator) -> str:
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


def _normal(text: str) -> str:
    """With repeated line breaks, or the blank between two sentences, as one line break; all other blanks stay."""
    return _FOLDED.replaced(text, lambda run: run[0][:2] if run[0][:2] == "\r\n" else run[0][0].replace(" ", "\n"))


PERTURBATION = ProvedPerturbation(
    name="vertical-spacing",
    title="Vertical spacing",
    about="Blank lines are added between paragraphs, or between lines or sentences where there are no paragraphs.",
    version=1,
    change=_change,
    normal=_normal,
    alters="format",
)
