"""Vertical spacing: blank lines are removed."""

import re

import numpy as np

from umpirical.stimuli.perturbations.catalogue import ProvedPerturbation
from umpirical.text.blocks import FENCED, LINE_END, Target

# Only within a text: what stands before its first line and after its last may be as it likes. A gap is looked for after
# a letter or sign alone: looked for at each of many blank lines, it would be read again from each of them.
_GAP = Target(rf"(?=\s)(?<=\S)(?P<first>[ \t]*+(?>{LINE_END}))(?>[ \t]*+(?>{LINE_END}))++(?=[ \t]*+\S)", kept=FENCED)

_NEEDS_GAP = re.compile(r" {4}|\t| *+(?:\||`{3}|~{3}|[-=*_](?:[ \t]*+[-=*_])*+[ \t]*+(?:[\r\n]|\Z))")
"""How a line begins that would be read otherwise without a blank line above it: code, a table, a line of dashes."""


def _change(text: str, rng: np.random.Generator) -> str:  # noqa: ARG001  # there is nothing to draw
    return _GAP.replaced(text, lambda gap: gap[0] if _NEEDS_GAP.match(text, gap.end()) else gap["first"])


def _normal(text: str) -> str:
    """With blank lines removed everywhere but in code; all else stays, the blanks at the start of a line too."""
    return _GAP.replaced(text, lambda gap: gap["first"])


PERTURBATION = ProvedPerturbation(
    name="blank-lines-removed",
    title="Blank lines removed",
    about="Blank lines between paragraphs are removed, and every line stays as it was.",
    version=1,
    change=_change,
    normal=_normal,
    alters="format",
)
