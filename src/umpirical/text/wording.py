"""What a program can see in a text without knowing what it means: words, figures, names, an added passage."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import LCSseq

from umpirical.text.layout import ABBREVIATIONS

__all__ = [
    "Edit",
    "Passage",
    "added_passage",
    "edit_of",
    "figures",
    "names",
    "number_words",
    "placeholder_names",
    "sentences",
    "shorter_than",
    "word_count",
    "words",
]

# Scripts that put no blanks between words: there a character is the unit.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+(?:['’](?:(?![{_UNSPACED}])\w)+)*")

_FIGURE = re.compile(r"\d+(?:[.,'’\u00a0\u202f]\d+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,'’\u00a0\u202f]\d{3})+")
_ITEM_NUMBER = re.compile(r"^[ \t]*\d{1,3}[.)](?=\s)", re.MULTILINE)

_NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve"

_LETTERS = re.compile(r"[^\W\d_]+")
# A word of at least two letters that begins no line and comes after no full stop.
_INSIDE = re.compile(r"(?<=[\w,;:)\]\"”’'-] )[^\W\d_]{2,}(?!\w)")
_PLACEHOLDER_NAME = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")

_LIKE_MARKS = str.maketrans("“”„«»‘’‚‹›–—‐‑−", "\"\"\"\"\"'''''-----")
_SENTENCE_ENDS, _CLOSERS = ".!?…。！？", "\"'”’)]*_»"


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Without case and marks. In scripts without blanks between words, each character is one."""
    return tuple(_WORD.findall(text.casefold().replace("’", "'")))


# A text is held against the same thousands of others again and again, whose words would take too much room to keep.
@lru_cache(maxsize=1 << 16)
def word_count(text: str) -> int:
    return len(words(text))


def shorter_than(least: int) -> Callable[[str], str]:
    """What is wrong with a text that has fewer words, in words; for others nothing."""
    return lambda text: f"the response has fewer than {least} words" if len(words(text)) < least else ""


@dataclass(frozen=True, slots=True)
class Edit:
    """How far a text is from its original, in words, by their longest common subsequence."""

    original: int
    """Words of the original."""
    lost: int
    """Words of the original that are gone, or stand in another order."""
    added: int

    def share(self, count: int) -> float | None:
        """Of the original's words; None if it has none."""
        return count / self.original if self.original else None


def edit_of(original: str, changed: str) -> Edit:
    before, after = words(original), words(changed)
    kept = int(LCSseq.similarity(before, after))
    return Edit(len(before), len(before) - kept, len(after) - kept)


@dataclass(frozen=True, slots=True)
class Passage:
    """What was put into a text in one piece."""

    text: str
    place: str
    """`at the beginning`, `at the end`, `between two sentences`."""


def added_passage(original: str, changed: str) -> Passage | None:
    """The one passage whose removal gives the original again, letter for letter; None if there is no such passage.

    It stands between whole sentences or lines, and does not run into the sentence after it: a `not` put into a
    sentence is no passage. Amount of blank space and the shape of quotation marks and dashes do not count.
    """
    before, after = _plain(original), _plain(changed)
    extra = len(after) - len(before)
    if extra <= 0 or not before:
        return None
    start, end = _common(before, after), _common(before[::-1], after[::-1])
    # Where the texts repeat themselves, the same passage can be cut out in several places; one that is sound will do.
    for cut in range(max(0, len(before) - end), min(start, len(before)) + 1):
        if _begins_apart(before, after, cut) and _ends_apart(after, cut, extra):
            place = "at the beginning" if cut == 0 else "at the end" if cut == len(before) else "between two sentences"
            return Passage(after[cut : cut + extra].strip(), place)
    return None


def sentences(text: str) -> list[str]:
    """Cut after full stops and line breaks. A piece of one or two words, or an abbreviation, goes with the next."""
    pieces = [""]
    for piece in re.split(rf"(?<=[{_SENTENCE_ENDS}])[{re.escape(_CLOSERS)}]*\s+|\n+|(?<=[。！？])", text):
        last = pieces[-1].casefold()
        if len(words(last)) < 3 or last.endswith(tuple(f" {short}" for short in ABBREVIATIONS)):
            pieces[-1] = f"{pieces[-1]} {piece}".strip()
        else:
            pieces.append(piece.strip())
    return [piece for piece in pieces if words(piece)]


def figures(text: str) -> Counter[str]:
    """Numbers in figures, without those of list items; `1,000` is `1.000`, and `3,5` is `3.5`."""
    return Counter(_number(found) for found in _FIGURE.findall(_ITEM_NUMBER.sub("", text)))


def number_words(text: str) -> Counter[str]:
    """Numbers up to twelve that stand in English words, as figures."""
    values = {word: str(value) for value, word in enumerate(_NUMBER_WORDS.split())}
    return Counter(values[word] for word in words(text) if word in values)


def names(text: str) -> frozenset[str]:
    """Words with a capital that begin no sentence, without case.

    A word that the text has with a small letter as well is no name: people put capitals where they like. A text that
    is mostly in capitals shows no names.
    """
    if 2 * sum(map(str.isupper, text)) > sum(map(str.isalpha, text)):
        return frozenset()
    small = {word for word in _LETTERS.findall(text) if word[0].islower()}
    found = (word for word in _INSIDE.findall(text) if word[0].isupper())
    return frozenset(word.casefold() for word in found) - frozenset(word.casefold() for word in small)


def placeholder_names(text: str) -> frozenset[str]:
    """Names that were taken out, such as PROPER_NAME or LOCATION_1."""
    return frozenset(_PLACEHOLDER_NAME.findall(text))


def _number(found: str) -> str:
    if _THOUSANDS.fullmatch(found):
        return re.sub(r"\D", "", found).lstrip("0") or "0"
    whole, _, rest = re.sub(r"[^\d.,]", "", found).replace(",", ".").rpartition(".")
    return f"{whole.replace('.', '')}.{rest}" if whole else rest.lstrip("0") or "0"


def _plain(text: str) -> str:
    return "".join(_pieces(text.strip().translate(_LIKE_MARKS)))


def _pieces(text: str) -> Iterator[str]:
    """Each run of blanks as one blank, or as one line break if it has any."""
    for piece in re.split(r"(\s+)", text):
        yield piece if not piece.isspace() else "\n" if "\n" in piece else " "


def _common(one: str, other: str) -> int:
    """Length of the common beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def _begins_apart(before: str, after: str, cut: int) -> bool:
    """Whether what was put in at `cut` comes after a whole sentence or line."""
    if cut == 0 or after[cut] == "\n":
        return True
    return _closed(before[max(0, cut - 8) : cut]) and (after[cut].isspace() or _may_follow(before[cut - 1]))


def _ends_apart(after: str, cut: int, extra: int) -> bool:
    """Whether it ends with a sentence or a line."""
    end = cut + extra
    if end == len(after) or after[end] == "\n":
        return True
    return _closed(after[max(cut, end - 8) : end]) and (after[end].isspace() or _may_follow(after[end - 1]))


def _may_follow(mark: str) -> bool:
    """Whether the next sentence may begin right after: no blank is needed in scripts that have none."""
    return mark.isspace() or mark in "。！？"


def _closed(end: str) -> bool:
    """Whether a text that ends so ends with a sentence or a line."""
    return end.rstrip(" ").endswith("\n") or end.rstrip().rstrip(_CLOSERS).endswith(tuple(_SENTENCE_ENDS))
