"""Case of headings: capitals throughout, or at the beginning of each word."""

from collections.abc import Callable

import numpy as np

from umpirical.stimuli.perturbations.catalogue import ProvedPerturbation
from umpirical.text.blocks import INLINE, Target, headings, spliced
from umpirical.text.words import LETTER

_WORD = Target(rf"{LETTER}++(?:['’]{LETTER}++)*+", kept=INLINE)


def _change(text: str, rng: np.random.Generator) -> str:
    """One style for all headings of a text; the other one if they have it already."""
    styles = (_capitals, _title) if rng.integers(2) else (_title, _capitals)
    changed = _restyled(text, styles[0])
    return changed if changed != text else _restyled(text, styles[1])


def _capitals(words: str) -> str:
    return _WORD.replaced(words, lambda word: "".join(map(_upper, word[0])))


def _title(words: str) -> str:
    # Small letters only if all are capitals: otherwise the capitals of a name would be lost.
    rest = _lower if words.isupper() else str
    return _WORD.replaced(words, lambda word: _upper(word[0][0]) + "".join(map(rest, word[0][1:])))


def _upper(letter: str) -> str:
    return _same_letter(letter.upper(), letter)


def _lower(letter: str) -> str:
    return _same_letter(letter.lower(), letter)


def _same_letter(other: str, letter: str) -> str:
    """The other case of a letter, if that is one letter and the way back is certain: not for ß and dotless i."""
    return other if len(other) == 1 and other.casefold() == letter.casefold() else letter


def _normal(text: str) -> str:
    """With headings in one case, except for code and links in them; all else stays."""
    return _restyled(text, lambda words: _WORD.replaced(words, lambda word: word[0].casefold()))


def _restyled(text: str, style: Callable[[str], str]) -> str:
    found = headings(text)
    return spliced(text, [(one.start, one.end, style(text[one.start : one.end])) for one in found])


PERTURBATION = ProvedPerturbation(
    name="heading-case",
    title="Case of headings",
    about="Headings are written in capitals, or with a capital at the beginning of each word.",
    version=1,
    change=_change,
    normal=_normal,
    alters="format",
)
