"""Typos: neighbouring letters inside a word change places."""

from functools import lru_cache

import numpy as np

from umpirical.stimuli.perturbations.catalogue import ProvedPerturbation
from umpirical.text.blocks import Target, spliced
from umpirical.text.words import LETTER, WORD_END, WORD_START

RATE = 0.02
"""Typos per word of the text."""

_WORD = Target(rf"{WORD_START}{LETTER}{{4,}}+{WORD_END}")

LONGEST = 40
"""The most letters of a word that are searched for a typo: anything longer is not a word."""

_REAL_WORDS = """
angels angles barely barking barley barn bars blot bolt braking bran bras brunt bugle bulge burnt calm calms carb
carbs carp carve carved carves carving casual causal clam clams clot clots colt colts compiled compiles complaint
compliant complied complies corny corps crab crabs crap crave craved craves craving crony crops dairy diary ears eras
farmed farming field fiend filed files fined fired fires flies form forth framed framing fried fries from froth gaol
garb goal grab infarction infraction lair liar lion lions loin loins marital martial perfect ploy poly prefect rogue
rouge sacred salt salted salts salve sang satin scared signing signs silt silver singing sings slat slated slats slave
slit sliver snag snug spilt split stain sung tarp there three tiers tilted tired tires titled tort trail trails trap
trial trials tried tries trot united untied viola voila warp wrap
"""
REAL_WORDS = frozenset(_REAL_WORDS.split())
"""Words that no typo may produce, or the text would say something else. Each is one swap from another English word."""


def _change(text: str, rng: np.random.Generator) -> str:
    possible = [word for word in _WORD.places(text) if _may_change(word[0])]
    wanted = max(1, round(RATE * len(text.split())))
    taken = sorted(int(place) for place in rng.permutation(len(possible))[:wanted])
    words = [possible[place] for place in taken]
    return spliced(text, [(word.start(), word.end(), _typo(word[0], rng)) for word in words])


# Most words stand in a text again and again.
@lru_cache(maxsize=1 << 14)
def _may_change(word: str) -> bool:
    """Names begin with a capital, and scripts without small letters are not read letter by letter."""
    return _all_small(word) and bool(_typos(word))


def _typo(word: str, rng: np.random.Generator) -> str:
    typos = _typos(word)
    return typos[int(rng.integers(len(typos)))]


def _typos(word: str) -> list[str]:
    swaps = (
        word[:place] + word[place + 1] + word[place] + word[place + 2 :]
        for place in range(1, min(len(word), LONGEST) - 2)
        if word[place] != word[place + 1]
    )
    return [swap for swap in swaps if swap not in REAL_WORDS]


def _normal(text: str) -> str:
    """With the inner letters of each word in small letters sorted; its first and last letter and all else stay."""
    return _WORD.replaced(text, lambda word: _sorted_inside(word[0]))


@lru_cache(maxsize=1 << 14)
def _sorted_inside(word: str) -> str:
    return word[0] + "".join(sorted(word[1:-1])) + word[-1] if _all_small(word) else word


def _all_small(word: str) -> bool:
    # A letter that is neither small nor a capital does not count for the whole word, but would for itself.
    return word.islower() if word.isascii() else all(map(str.islower, word))


PERTURBATION = ProvedPerturbation(
    name="typos",
    title="Typos",
    about="In 2 % of the words, at least in one, two neighbouring letters inside the word change places.",
    version=1,
    change=_change,
    normal=_normal,
    alters="format",
)
