"""Markdown or plain: marks of emphasis, headings and lists are taken away, or put into a text that has none."""

import re
from itertools import pairwise

import numpy as np

from umpirical.stimuli.perturbations.catalogue import ProvedPerturbation
from umpirical.text.blocks import LINE_START, Target, drawn, headings, spliced
from umpirical.text.words import LETTER, WORD_END, WORD_START

# Only beside words and their punctuation: without the marks, no code must begin where none was.
_OPENING = rf"""{WORD_START}\*\*(?=[\w"'“‘(])"""
# More marks may follow. Otherwise a mark that does not end a word would do so once those after it are gone.
_CLOSING = r"""(?<=[\w"'”’).,;:!?])\*\*(?!\*)(?=["')”’.,;:!?*]*+(?:\s|\Z))"""
# What comes first is seen at a glance, so that the rest is looked at only there.
_BOLD = Target(rf"(?=\*\*)(?:(?P<opening>{_OPENING})|{_CLOSING})")
_LINE_MARKS = Target(rf"(?=[-#*+]){LINE_START}(?:(?:(?:#{{1,6}}|[-*+]) )++(?={LETTER})|(?:#{{1,6}} )++(?=\d))")
_WORD = Target(rf"{WORD_START}{LETTER}{{4,}}+{WORD_END}")


def _change(text: str, rng: np.random.Generator) -> str:
    plain = _plain(text)
    return plain if plain != text else _marked(text, rng)


def _plain(text: str) -> str:
    """Without the marks of headings and lists, and without those of emphasis that begins and ends in one line."""
    marks, edits = _BOLD.places(text), []
    for one, other in pairwise(marks):
        pair = one["opening"] is not None and other["opening"] is None
        if pair and not re.search(r"[\r\n]", text[one.end() : other.start()]):
            edits += [(one.start(), one.end(), ""), (other.start(), other.end(), "")]
    return _LINE_MARKS.replaced(spliced(text, edits), lambda _: "")


def _marked(text: str, rng: np.random.Generator) -> str:
    """One in twenty of the words with four letters or more is set in bold, and headings are marked as such."""
    starts = [one.start for one in headings(text) if not one.marked]
    edits = [(start, start, "## ") for start in starts]
    for word in drawn(_WORD.places(text), 0.05, rng):
        edits += [(word.start(), word.start(), "**"), (word.end(), word.end(), "**")]
    return spliced(text, sorted(edits, key=lambda edit: edit[0]))


def _normal(text: str) -> str:
    """Without marks that open or close a word in bold, and those of headings and lists at the start of a line."""
    return _LINE_MARKS.replaced(_BOLD.replaced(text, lambda _: ""), lambda _: "")


PERTURBATION = ProvedPerturbation(
    name="markdown-or-plain",
    title="Markdown or plain",
    about="Markdown marks of bold words, headings and lists are removed, or bold words are put where there were none.",
    version=1,
    change=_change,
    normal=_normal,
    alters="format",
)
