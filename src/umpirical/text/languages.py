"""The language of a text, as far as its commonest words or its script tell it."""

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import Literal

from umpirical.text.words import LETTER

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

_WORD = re.compile(rf"{LETTER}+(?:['’]{LETTER}+)*")

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
    return [word.casefold().replace("’", "'") for word in _WORD.findall(text[:SAMPLE])]


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
