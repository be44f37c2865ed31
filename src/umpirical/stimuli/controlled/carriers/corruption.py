"""Corruption: one figure, date word or negation of a claim is replaced by another, by a closed table."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

MONTHS = ("January", "February", "April", "June", "July", "August", "September", "October", "November", "December")
"""Without March and May, which are words of other kinds too."""

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
"""Without one, which is a pronoun too."""

POLES = ("always", "never")

_UNITS = r"(?:mg|kg|g|km|cm|mm|m|ml|l|kB|MB|GB|TB|ms|s|min|h|px|k|K|M|bn|x|%|°C|°F)?"
_FIGURE = re.compile(rf"(?<![\w.,:/\[^#–-])\d+(?:,\d{{3}})*(?:\.\d+)?(?={_UNITS}(?!\w|[:/–-]|[.,]\d))")

_BOUND = re.compile(
    r"\b(?:at least|at most|more than|less than|fewer than|greater than|no more than|up to|over|under|above|below"
    r"|exceeds?|exceeding|within|minimum(?: of)?|maximum(?: of)?|between|\d\S*\s+(?:to|and|or)|than|[<>≤≥])\s*[$€£~]?$",
    re.IGNORECASE,
)
"""After these, another figure might be right as well: whoever has five has more than three."""

_BOUND_AFTER = re.compile(
    r"\S*\s+(?:(?:or|and) (?:more|less|fewer|above|below|older|younger|higher|lower|over|under)\b|(?:to|and|or)\s+\d)"
)

_REFERENCE = re.compile(
    r"\b(?:steps?|figures?|fig\.|tables?|sections?|chapters?|pages?|items?|points?|parts?|notes?|equations?)\s+$",
    re.IGNORECASE,
)
"""After these, a figure points somewhere and claims nothing."""

_NAMED_MONTHS = "|".join((*MONTHS, "March", "May"))
_DAY_BEFORE = re.compile(rf"\b(?:{_NAMED_MONTHS})\s+$")
_DAY_AFTER = re.compile(rf"\S*\s+(?:of\s+)?(?:{_NAMED_MONTHS}|a\.?m\b|p\.?m\b|o['’]clock)", re.IGNORECASE)
"""Beside a month, a.m. or p.m., a figure is a day or an hour, which not every number can be."""

_NOT = re.compile(r"\b(?:is|are|was|were|do|does|did|should|must|will|has|have|can)( not)\b|\bcan(not)\b")
_ENTANGLED = re.compile(
    r"n['’]t\b|\b(?:never|no|none|nor|neither|nothing|nobody|without|hardly|unless|but|until|only|just|necessarily"
    r"|always|all|every|any|yet|also)\b",
    re.IGNORECASE,
)
"""In a claim with one of these, removing a "not" may leave it right, or saying nothing."""


class Site(NamedTuple):
    """A stretch of a claim that can be changed, and what it can be changed into."""

    start: int
    end: int
    options: tuple[str, ...]


def corruptible(claim: str) -> bool:
    return any(True for _ in _sites(claim))


def corrupted(claim: str, rng: np.random.Generator) -> str:
    """The claim with one thing in it changed, so that it is no longer what was verified."""
    sites = list(_sites(claim))
    start, end, options = sites[int(rng.integers(len(sites)))]
    return claim[:start] + options[int(rng.integers(len(options)))] + claim[end:]


def figure_sites(text: str) -> Iterator[Site]:
    """Figures, numbers in words, months and weekdays: what two texts can both say, and both say otherwise."""
    yield from _figures(text)
    for words in (MONTHS, WEEKDAYS, NUMBERS):
        yield from _word_sites(text, words)


def like(old: str, new: str) -> str:
    """The new word with a capital where the old one has one."""
    return new[0].upper() + new[1:] if old[0].isupper() else new


def _sites(claim: str) -> Iterator[Site]:
    yield from figure_sites(claim)
    yield from _word_sites(claim, POLES)
    negations = list(_NOT.finditer(claim))
    if len(negations) == 1 and claim.count("not") == 1 and not _ENTANGLED.search(claim):
        group = 1 if negations[0][1] else 2
        yield Site(*negations[0].span(group), ("",))


def _word_sites(claim: str, words: tuple[str, ...]) -> Iterator[Site]:
    for match in re.finditer(rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])", claim, _case(words)):
        if words is NUMBERS and _no_claim(claim, match):
            continue
        others = [word for word in words if word != match[0].casefold() and word != match[0]]
        yield Site(*match.span(), tuple(like(match[0], word) for word in others))


def _figures(claim: str) -> Iterator[Site]:
    for match in _FIGURE.finditer(claim):
        if _no_claim(claim, match) or not match[0].strip("0.,"):
            continue
        year = re.fullmatch(r"1\d{3}|20\d{2}", match[0]) is not None
        if not year and (_DAY_BEFORE.search(claim[: match.start()]) or _DAY_AFTER.match(claim, match.end())):
            continue
        # Another century is too easy to see, and another last decimal too hard.
        place = 2 if year else next(n for n, digit in enumerate(match[0]) if digit in "123456789")
        digits = "0123456789" if year else "123456789"
        # The next digit would be a tenth more, where the first is a nine: some would call that right.
        far = [digit for digit in digits if abs(int(digit) - int(match[0][place])) >= 2]
        options = tuple(match[0][:place] + digit + match[0][place + 1 :] for digit in far)
        yield Site(*match.span(), options)


def _no_claim(claim: str, match: re.Match[str]) -> bool:
    """Whether a number bounds something or points somewhere, so that another one need not be wrong."""
    before = claim[: match.start()]
    bounds = _BOUND.search(before) or _BOUND_AFTER.match(claim, match.end())
    return bool(bounds or _REFERENCE.search(before))


def _case(words: tuple[str, ...]) -> re.RegexFlag:
    """Names of months and days are written with a capital; the others need not be."""
    return re.NOFLAG if words in (MONTHS, WEEKDAYS) else re.IGNORECASE
