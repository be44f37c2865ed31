"""Changes of the wording of an answer that leave its requirements alone, and of its length."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from umpirical.stimuli.controlled.tasks import JSON_LAYOUT, PROSE, Layout, joined
from umpirical.text.sentences import sentences_at_every_stop

# Surface transforms, a closed grammar: each changes how an answer looks, and nothing of what it states.


PLAIN = "wording"
"""The stratum of pairs that differ in wording alone."""

Transform = Callable[[list[str], np.random.Generator], str]
"""From the sentences of an answer to its text."""

LIST_MARK = "- "
"""Stands before each sentence that was made a list item. It is layout, and not part of the sentence."""

MOST_WORDS = 6
"""The most words that a transform replaces: enough to be seen, too few to change the length of an answer."""

MOST_CONTRACTIONS = 3
"""Fewer, because each contraction makes an answer one word shorter."""

SPELLINGS = {
    "colour": "color",
    "colours": "colors",
    "centre": "center",
    "favourite": "favorite",
    "towards": "toward",
    "afterwards": "afterward",
    "metre": "meter",
    "metres": "meters",
    "litre": "liter",
    "litres": "liters",
    "organise": "organize",
    "organised": "organized",
    "recognise": "recognize",
    "recognised": "recognized",
    "realise": "realize",
    "neighbour": "neighbor",
    "neighbours": "neighbors",
    "neighbouring": "neighboring",
    "grey": "gray",
    "labelled": "labeled",
    "behaviour": "behavior",
    "flavour": "flavor",
    "honour": "honor",
    "harbour": "harbor",
    "labour": "labor",
    "theatre": "theater",
    "fibre": "fiber",
    "travelling": "traveling",
    "cancelled": "canceled",
    "apologise": "apologize",
    "summarise": "summarize",
    "emphasise": "emphasize",
    "judgement": "judgment",
    "cosy": "cozy",
    "mould": "mold",
}

# "It is" and "there is" are left alone, which may end a clause ("as it is, you fill eight jars"), and so is "we have",
# which may mean "must".
CONTRACTIONS = {
    "do not": "don't",
    "does not": "doesn't",
    "did not": "didn't",
    "is not": "isn't",
    "are not": "aren't",
    "was not": "wasn't",
    "cannot": "can't",
    "will not": "won't",
    "should not": "shouldn't",
    "you will": "you'll",
    "you are": "you're",
    "they are": "they're",
    "we are": "we're",
}


def plain(sentences: list[str], _: np.random.Generator) -> str:
    return " ".join(sentences)


def _whitespace(sentences: list[str], rng: np.random.Generator) -> str:
    """Paragraphs of two to five sentences, with blank lines between them and double blanks after some sentences."""
    text = sentences[0]
    left = int(rng.integers(2, 6))
    for sentence in sentences[1:]:
        left -= 1
        if not left:
            text, left = f"{text}\n\n", int(rng.integers(2, 6))
        else:
            text += "  " if rng.random() < 0.5 else " "  # a fair coin
        text += sentence
    return text


def _sentence_order(sentences: list[str], rng: np.random.Generator) -> str:
    return " ".join(sentences[place] for place in rng.permutation(len(sentences)))


def _list(sentences: list[str], _: np.random.Generator) -> str:
    return "\n".join(f"{LIST_MARK}{sentence}" for sentence in sentences)


def _replacing(table: Mapping[str, str], most: int = MOST_WORDS, *, both_ways: bool = True) -> Transform:
    """Replaces words by their partners. A text without any comes out as it was."""
    partners = {**table, **({new: old for old, new in table.items()} if both_ways else {})}
    words = sorted(partners, key=len, reverse=True)
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b", re.IGNORECASE)

    def replaced(match: re.Match[str]) -> str:
        new = partners[match[0].casefold()]
        return new.capitalize() if match[0][0].isupper() else new

    @lru_cache(maxsize=1 << 14)
    def has_any(sentence: str) -> bool:
        return pattern.search(sentence) is not None

    def rewritten(sentences: list[str], _: np.random.Generator) -> str:
        text = " ".join(sentences)
        return pattern.sub(replaced, text, count=most) if any(map(has_any, sentences)) else text

    return rewritten


TRANSFORMS: dict[str, Transform] = {
    PLAIN: plain,
    "whitespace": _whitespace,
    "sentence-order": _sentence_order,
    "list": _list,
    "spelling": _replacing(SPELLINGS),
    "register": _replacing(CONTRACTIONS, MOST_CONTRACTIONS, both_ways=False),
}


def _respaced(members: list[str], rng: np.random.Generator) -> str:
    """On one line, or indented by four, by a fair coin."""
    return f"{{{', '.join(members)}}}" if rng.random() < 0.5 else "{\n    " + ",\n    ".join(members) + "\n}"


def _reordered(members: list[str], rng: np.random.Generator) -> str:
    return joined([members[place] for place in rng.permutation(len(members))], JSON_LAYOUT)


JSON_TRANSFORMS: dict[str, Transform] = {
    PLAIN: lambda members, _: joined(members, JSON_LAYOUT),
    "whitespace": _respaced,
    "sentence-order": _reordered,
}
"""Those that an object has room for: its members are no sentences."""


REWRITING = {"spelling", "register"}
"""Transforms that replace words, and so might replace one that a checker looks for."""

_NEWER = {**SPELLINGS, **CONTRACTIONS}
_OLDER = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(_NEWER, key=len, reverse=True)))})\b")


@lru_cache(maxsize=1 << 14)
def canonical(sentence: str) -> str:
    """The same for a sentence and for whatever a transform makes of it."""
    return _OLDER.sub(lambda match: _NEWER[match[0]], sentence.removeprefix(LIST_MARK).casefold())


def transformed(parts: list[str], name: str, rng: np.random.Generator, layout: Layout = PROSE) -> str | None:
    """The text of an answer under a transform, or None if there is nothing in it to transform."""
    known = TRANSFORMS if layout == PROSE else JSON_TRANSFORMS
    if name not in known:
        return None
    text = known[name](parts, rng)
    return None if name != PLAIN and text == joined(parts, layout) else text


# The length of a candidate, by two ways to count tokens, and whether two candidates are equally long.

TOKENIZERS = {"words and marks": re.compile(r"\w+|[^\w\s]"), "pieces": re.compile(r"\w{1,5}|[^\w\s]")}
"""Whole words, and pieces of up to five letters as subword tokenizers cut them. List marks are layout, not length."""

MOST_TOKENS = 2

MOST_SHARE: dict[Layout, float] = {PROSE: 0.02, JSON_LAYOUT: 0.10}
"""Two candidates are equally long if they differ by at most two tokens, or by this share: names of members are short,
and a joined one counts as one word or as four pieces."""


def length_gap(first: str, second: str, layout: Layout = PROSE) -> int:
    """By how many tokens two candidates differ beyond what is allowed, in the worse of the two counts."""
    share = MOST_SHARE[layout]
    return max(
        max(0, abs(one - other) - max(MOST_TOKENS, int(share * max(one, other))))
        for one, other in zip(_lengths(first), _lengths(second), strict=True)
    )


def length_gaps(first: NDArray[np.int64], second: NDArray[np.int64], layout: Layout) -> NDArray[np.int64]:
    """The same for many pairs at once, in arrays: the last axis is the way to count."""
    allowed = np.maximum(MOST_TOKENS, (MOST_SHARE[layout] * np.maximum(first, second)).astype(np.int64))
    gaps: NDArray[np.int64] = np.maximum(0, np.abs(first - second) - allowed).max(axis=-1)
    return gaps


def equally_long(first: str, second: str, layout: Layout = PROSE) -> bool:
    return length_gap(first, second, layout) == 0


def _lengths(text: str) -> list[int]:
    counted = map(sentence_lengths, sentences_at_every_stop(text))
    return [sum(counts) for counts in zip(*counted, strict=True)] or [0, 0]


@lru_cache(maxsize=1 << 16)
def sentence_lengths(sentence: str) -> tuple[int, ...]:
    """The length of a sentence, by each way to count. Cached: answers are made of the same ones again and again."""
    plain = sentence.removeprefix(LIST_MARK)
    return tuple(len(pattern.findall(plain)) for pattern in TOKENIZERS.values())
