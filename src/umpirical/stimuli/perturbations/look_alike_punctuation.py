"""Look-alike punctuation: typographic signs in place of those on the keyboard."""

import re

import numpy as np

from umpirical.stimuli.perturbations.catalogue import ProvedPerturbation
from umpirical.text.blocks import Target, drawn, spliced
from umpirical.text.words import LETTER

HYPHEN, DASH, ELLIPSIS, HARD_BLANK = "\u2010", "\u2013", "\u2026", "\u00a0"

# What comes first in each is seen at a glance, so that the rest is looked at only there.
# Nothing beside a digit: in 5' 10", 1-5 and 3 - 2 the signs are more than punctuation.
_SIGN = Target(
    rf"(?=[\"'\-. ])(?:(?<!\d)[\"']|(?<={LETTER})-(?={LETTER})|(?<={LETTER} )-(?= {LETTER})"
    rf"|(?<![.\d])\.{{3}}(?![.\d])|(?<={LETTER}) (?={LETTER}))"
)
_LOOK_ALIKE = Target(
    rf"(?=[“”‘’{HYPHEN}{DASH}{ELLIPSIS}{HARD_BLANK}])(?:(?<!\d)[“”‘’]|(?<={LETTER}){HYPHEN}(?={LETTER})"
    rf"|(?<={LETTER} ){DASH}(?= {LETTER})|(?<!\d){ELLIPSIS}(?!\d)|(?<={LETTER}){HARD_BLANK}(?={LETTER}))"
)
_KEYBOARD = {"“": '"', "”": '"', "‘": "'", "’": "'", HYPHEN: "-", DASH: "-", ELLIPSIS: "...", HARD_BLANK: " "}


def _change(text: str, rng: np.random.Generator) -> str:
    """All quotation marks, hyphens, dashes and dots, and one blank in twenty."""
    places = _SIGN.places(text)
    blanks = {place.start() for place in drawn([place for place in places if place[0] == " "], 0.05, rng)}
    changing = [place for place in places if place[0] != " " or place.start() in blanks]
    return spliced(text, [(place.start(), place.end(), _look_alike(text, place)) for place in changing])


def _look_alike(text: str, place: re.Match[str]) -> str:
    before = text[place.start() - 1] if place.start() else " "
    match place[0]:
        case '"':
            return "“" if _opens(before) else "”"
        case "'":
            return "‘" if _opens(before) else "’"
        case "-":
            return DASH if before == " " else HYPHEN
        case "...":
            return ELLIPSIS
        case _:
            return HARD_BLANK


def _opens(before: str) -> bool:
    return before.isspace() or before in "([{"


def _normal(text: str) -> str:
    """With each look-alike as the sign on the keyboard, in the places where one is put; letters and digits stay."""
    return _LOOK_ALIKE.replaced(text, lambda sign: _KEYBOARD[sign[0]])


PERTURBATION = ProvedPerturbation(
    name="look-alike-punctuation",
    title="Look-alike punctuation",
    about="Straight quotation marks, hyphens and dots become typographic ones, and one blank in twenty does not break.",
    version=1,
    change=_change,
    normal=_normal,
    alters="format",
)
