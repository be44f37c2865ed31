"""The words of a text, and what a program can tell from them without knowing what they mean."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import LCSseq

LETTER = r"[^\W\d_]"
"""Pattern of one letter, in any script."""

WORD_START = r"""(?<![^\s"'(“‘])"""
"""Pattern before a word. Together with WORD_END it leaves out what a digit, a slash or a dot is part of."""
WORD_END = r"""(?=["')”’.,;:!?]*+(?:\s|\Z))"""

# Scripts that put no blanks between words: there a character is the unit.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+(?:['’](?:(?![{_UNSPACED}])\w)+)*")

_FIGURE = re.compile(r"\d+(?:[.,'’\u00a0\u202f]\d+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,'’\u00a0\u202f]\d{3})+")
_ITEM_NUMBER = re.compile(r"^[ \t]*\d{1,3}[.)](?=\s)", re.MULTILINE)

_NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve"

_LETTERS = re.compile(f"{LETTER}+")
# A word of at least two letters that neither begins a line nor follows a full stop.
_INSIDE = re.compile(rf"(?<=[\w,;:)\]\"”’'-] ){LETTER}{{2,}}(?!\w)")
_PLACEHOLDER_NAME = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")

Triples = frozenset[tuple[str, ...]]
"""The runs of three words that occur in a text."""


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """The words, without case and punctuation. In scripts without blanks between words, each character is one."""
    return tuple(_WORD.findall(text.casefold().replace("’", "'")))


# A text is compared with the same thousands of others again and again, whose words would take too much memory to keep.
@lru_cache(maxsize=1 << 16)
def word_count(text: str) -> int:
    return len(words(text))


def shorter_than(least: int) -> Callable[[str], str]:
    """A function that says what is wrong with a text of fewer words, and nothing about any other text."""
    return lambda text: f"the response has fewer than {least} words" if len(words(text)) < least else ""


@dataclass(frozen=True, slots=True)
class EditDistance:
    """How far a text is from its original, counted in words by their longest common subsequence."""

    original: int
    """Words of the original."""
    lost: int
    """Words of the original that are gone, or stand in another order."""
    added: int

    def share(self, count: int) -> float | None:
        """`count` as a share of the original's words; None if it has none."""
        return count / self.original if self.original else None


def edit_distance(original: str, changed: str) -> EditDistance:
    before, after = words(original), words(changed)
    kept = int(LCSseq.similarity(before, after))
    return EditDistance(len(before), len(before) - kept, len(after) - kept)


def word_triples(text: str) -> Triples:
    """Every run of three words, as they stand between blanks, without case."""
    found = text.casefold().split()
    return frozenset(zip(found, found[1:], found[2:], strict=False))


def shared_triples(first: Triples, second: Triples) -> float:
    """The Jaccard similarity of two sets of triples; 0 if both are empty."""
    return len(first & second) / len(first | second) if first or second else 0.0


def figures(text: str) -> Counter[str]:
    """Numbers in figures, except those that number list items; `1,000` is `1.000`, and `3,5` is `3.5`."""
    return Counter(_number(found) for found in _FIGURE.findall(_ITEM_NUMBER.sub("", text)))


def number_words(text: str) -> Counter[str]:
    """Numbers up to twelve that are spelled out in English, as figures."""
    values = {word: str(value) for value, word in enumerate(_NUMBER_WORDS.split())}
    return Counter(values[word] for word in words(text) if word in values)


def names(text: str) -> frozenset[str]:
    """Capitalised words that do not begin a sentence, without case.

    A word that the text also has in small letters is not a name, because people capitalise as they like. A text that
    is mostly in capitals shows no names.
    """
    if 2 * sum(map(str.isupper, text)) > sum(map(str.isalpha, text)):
        return frozenset()
    small = {word for word in _LETTERS.findall(text) if word[0].islower()}
    found = (word for word in _INSIDE.findall(text) if word[0].isupper())
    return frozenset(word.casefold() for word in found) - frozenset(word.casefold() for word in small)


def placeholder_names(text: str) -> frozenset[str]:
    """Placeholders for names that were removed from the text, such as PROPER_NAME or LOCATION_1."""
    return frozenset(_PLACEHOLDER_NAME.findall(text))


def _number(found: str) -> str:
    if _THOUSANDS.fullmatch(found):
        return re.sub(r"\D", "", found).lstrip("0") or "0"
    whole, _, rest = re.sub(r"[^\d.,]", "", found).replace(",", ".").rpartition(".")
    return f"{whole.replace('.', '')}.{rest}" if whole else rest.lstrip("0") or "0"
