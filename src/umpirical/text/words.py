"""The words of a text, what a program can tell from them without knowing what they mean, and their language."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

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


# The language of a text, as far as its commonest words or its script tell it.

Language = str
"""The English name of a language that is known here; for a script other than Latin, the name of that: `Cyrillic`; or
`unknown`."""

UNKNOWN = "unknown"

Known = Literal["English", "German", "French", "Spanish", "Italian", "Portuguese", "Dutch"]

LEAST_WORDS = 12
"""Words that a text in Latin script needs: fewer hold too few common words to go by."""

LEAST_SHARE, LEAD = 0.28, 1.5
"""The share of a text's words that must be among the commonest of its language, and how many times that of the next
language it must be. With a lower share, Catalan and Romanian would pass for Spanish."""

SAMPLE = 20_000
"""Characters that are looked at."""

_LISTS: dict[Known, str] = {
    "English": """
        the of and to a in is that it was for on are as with his they i at be this have from or had by but not what
        all were we when your can said there an which she do how their if will up about out many then them these so
        some her would make like him into has more you my he who because should than could people our its been also
    """,
    "German": """
        der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er
        hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur
        bis mehr durch man sein wurde wenn ich wir ihr mich uns kann diese dieser ihre seine weil sehr was
    """,
    "French": """
        le de un et être il avoir ne je son que se qui ce dans en du elle au pour pas vous par sur faire plus dire
        me on mon lui nous comme mais avec tout y aller voir bien où sans tu ou leur si deux la les des une est à
        sont cette ces ses aux peut été fait ont c'est qu'il d'un d'une très parce était même
    """,
    "Spanish": """
        de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ha me si sin
        sobre este ya entre cuando todo esta ser son dos también fue había era muy años hasta desde está mi porque
        qué sólo han yo hay vez puede todos así nos ni parte tiene él uno donde bien tiempo ese eso eran
    """,
    "Italian": """
        di che è e la il un a per in una mi sono ho non ma lo ha le si ti i con cosa se io come da ci questo qui hai
        del della dei delle nel nella al alla gli più anche dal sul era stato suo sua essere molto perché quando
        loro questa tutti ogni quello dalla degli alle ai fu sia tra cui noi solo hanno
    """,
    "Portuguese": """
        de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi ao ele das tem à seu
        sua ou ser quando muito há nos já está eu também só pelo pela até isso ela entre era depois sem mesmo aos
        ter seus quem nas me esse eles estão você tinha foram essa num nem suas meu às minha têm numa são porque
    """,
    "Dutch": """
        de en van ik te dat die in een hij het niet zijn is was op aan met als voor had er maar om hem dan zou of
        wat mijn men dit zo door over ze zich bij ook tot je mij uit der daar haar naar heb hoe heeft hebben deze u
        want nog zal me zij nu geen worden werd omdat veel meer kan wordt onze wij waar hun mensen
    """,
}

_COMMON = {language: frozenset(listed.split()) for language, listed in _LISTS.items()}
"""The commonest words of each language."""

_LATIN_WORD = re.compile(rf"{LETTER}+(?:['’]{LETTER}+)*")

_SCRIPTS = {
    "CYRILLIC": "Cyrillic",
    "GREEK": "Greek",
    "HEBREW": "Hebrew",
    "ARABIC": "Arabic",
    "DEVANAGARI": "Devanagari",
    "BENGALI": "Bengali",
    "TAMIL": "Tamil",
    "THAI": "Thai",
    "GEORGIAN": "Georgian",
    "ARMENIAN": "Armenian",
    "HANGUL": "Korean",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "CJK": "Chinese",
}
"""Names of scripts, by the first word of a letter's Unicode name."""


@lru_cache(maxsize=4096)
def language_of(text: str) -> Language:
    """The language, or `unknown` if the text is too short, mixed, code, or in a language that is not known here."""
    script = _script(text[:SAMPLE])
    if script != "Latin":
        return script
    words = _words(text)
    if len(words) < LEAST_WORDS:
        return UNKNOWN
    counts = Counter(words)
    hits = {language: sum(counts[word] for word in common) for language, common in _COMMON.items()}
    (best, most), (_, next_most) = Counter(hits).most_common(2)
    return best if most >= LEAST_SHARE * len(words) and most >= LEAD * next_most else UNKNOWN


def common_share(text: str, language: Known) -> float:
    """Share of a text's words that are among the commonest of a language; 0 if it has no words."""
    words = _words(text)
    return sum(word in _COMMON[language] for word in words) / len(words) if words else 0.0


def tellable(text: str) -> bool:
    """Whether a text is long enough for its language to be told, if that is one that is known here."""
    return _script(text[:SAMPLE]) not in ("Latin", UNKNOWN) or len(_words(text)) >= LEAST_WORDS


def _words(text: str) -> list[str]:
    return [word.casefold().replace("’", "'") for word in _LATIN_WORD.findall(text[:SAMPLE])]


def _script(text: str) -> str:
    """The script of most letters. If any of them is Japanese, Chinese ones count as Japanese."""
    counts = Counter(_letter_script(letter) for letter in text if letter.isalpha())
    if not counts:
        return UNKNOWN
    if counts["Japanese"]:
        counts["Japanese"] += counts.pop("Chinese", 0)
    [(script, letters)] = counts.most_common(1)
    return script if 2 * letters > counts.total() else UNKNOWN


@lru_cache(maxsize=1 << 14)
def _letter_script(letter: str) -> str:
    first = unicodedata.name(letter, "").partition(" ")[0]
    # The names of some letters have another word before the script: FULLWIDTH LATIN, HALFWIDTH KATAKANA.
    return "Latin" if first in ("LATIN", "FULLWIDTH") else _SCRIPTS.get(first, UNKNOWN)
