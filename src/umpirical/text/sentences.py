"""The sentences of a text.

There are four ways to find them, each with its own promise:

- for certain: the patterns `CERTAIN_END` and `CERTAIN_START` match only where one sentence is sure to end and the next
  to begin, and miss many such places. Use them to change a text there: the changed text shows the same places.
- with abbreviations: `spans_past_abbreviations` cuts a block of English prose, and not after `Dr.` or `e.g.`. Use it
  to take a whole sentence out of a text or to lay sentences out anew: its spans leave out no word.
- in any script: `sentences_in_any_script` knows the stops of scripts without blanks, and would rather join two
  sentences than cut one in half. Use it to look at each sentence of a text that a model wrote.
- at every stop: `sentences_at_every_stop` knows no exceptions. Use it for answers made of sentences of which it is
  known that each has one stop, at its end.

On a plain paragraph they agree; tests/text/test_sentences.py shows where each goes its own way. None can replace
another, because the digests of stimuli depend on what each returns.
"""

import re
from functools import lru_cache

from umpirical.text.blocks import Block, TextSpan
from umpirical.text.words import LETTER, words

_STOPS = ".!?"
_UNSPACED_STOPS = "。！？"
_ALL_STOPS = f"{_STOPS}…{_UNSPACED_STOPS}"

_CLOSERS = "\"'”’)"
"""What may close a sentence after its stop."""
_MARKDOWN_CLOSERS = f"{_CLOSERS}]*_"
_ALL_CLOSERS = f"{_MARKDOWN_CLOSERS}»"

_ABBREVIATED = """
approx. ca. cf. co. corp. dr. e.g. etc. fig. gen. i.e. inc. jr. ltd. mr. mrs. ms. no. nos. p. pp. prof. resp. rev. sec.
sr. st. vol. vs. u.s. u.k. a.m. p.m.
"""
_ABBREVIATIONS = frozenset(_ABBREVIATED.split())
"""After these, a capital or a figure need not begin a sentence."""


# For certain.

_LAST_LETTERS = r"[^\W\d_A-Z]" * 3


def _certain_end(gap: str = "") -> str:
    long_titles = "".join(rf"(?<!{title}\.{gap})" for title in ("Prof", "Capt", "Corp"))
    return (
        rf"{long_titles}(?:(?<={_LAST_LETTERS}[{_STOPS}]{gap})"
        rf"|(?<={_LAST_LETTERS}[{_STOPS}][{_CLOSERS}]{gap})|(?<={_LAST_LETTERS}[{_CLOSERS}][{_STOPS}]{gap}))"
    )


CERTAIN_END = _certain_end()
"""Pattern after a sentence. The three small letters before the stop rule out `Mr.`, `U.S.` and `e.g.`."""
CERTAIN_START = rf"(?=[\"“'‘(]?(?![a-z]){LETTER})"
"""Pattern before a sentence."""
# The blank comes first, and what is before it is looked at second: the search goes from one blank to the next.
CERTAIN_GAP = f" {_certain_end(' ')}{CERTAIN_START}"
"""Pattern of the one blank between two sentences in a line."""

_PROSE_END = re.compile(rf"[{_STOPS}][{_CLOSERS}]?\s*\Z")


def ends_as_prose(line: str) -> bool:
    """Whether a line ends in a stop, perhaps with one closing mark after it."""
    return _PROSE_END.search(line) is not None


# With abbreviations.

# A stop with what may close a sentence after it, and the blanks before the next one; or a line that ends one.
_STOP = re.compile(
    rf"[{_STOPS}][{re.escape(_MARKDOWN_CLOSERS)}]*(\s+)(?=[\"'“‘(\[*_]*[A-Z0-9])|[{_STOPS}:](\n)|( {{2,}}\n)"
)
_LAST_WORD = re.compile(r"[\w.]+$")


def spans_past_abbreviations(text: str, block: Block) -> list[TextSpan]:
    """The sentences of a paragraph or a list item, where each stands in `text`. Any other block is one piece."""
    if block.kind in ("code", "other"):
        return [block.span]
    cuts = [block.body]
    ends = []
    for stop in _STOP.finditer(text, block.body, block.span.end):
        gap = next(TextSpan(*stop.span(group)) for group in (1, 2, 3) if stop[group])
        if not _abbreviated(text[block.body : gap.start]):
            ends.append(gap.start)
            cuts.append(gap.end)
    pieces = (TextSpan(start, end) for start, end in zip(cuts, [*ends, block.span.end], strict=True))
    return [span for piece in pieces if (span := _stripped(text, piece)).start < span.end]


def _abbreviated(before: str) -> bool:
    """Whether the full stop that a text ends in belongs to a word: e.g., Dr., an initial."""
    word = _LAST_WORD.search(before)
    if word is None:
        return False
    return word[0].casefold() in _ABBREVIATIONS or re.fullmatch(r"[A-Z]\.", word[0]) is not None


def _stripped(text: str, span: TextSpan) -> TextSpan:
    piece = text[span.start : span.end]
    return TextSpan(span.start + len(piece) - len(piece.lstrip()), span.end - len(piece) + len(piece.rstrip()))


# In any script.

_CUT = re.compile(rf"(?<=[{_ALL_STOPS}])[{re.escape(_ALL_CLOSERS)}]*\s+|\n+|(?<=[{_UNSPACED_STOPS}])")
_LAST_ABBREVIATIONS = tuple(f" {short}" for short in _ABBREVIATIONS)


def sentences_in_any_script(text: str) -> list[str]:
    """Cut after stops and line breaks. A piece of one or two words, or that ends in an abbreviation, joins the next.

    Closing marks after a stop are left out, and so are pieces without words.
    """
    pieces = [""]
    for piece in _CUT.split(text):
        last = pieces[-1].casefold()
        if len(words(last)) < 3 or last.endswith(_LAST_ABBREVIATIONS):
            pieces[-1] = f"{pieces[-1]} {piece}".strip()
        else:
            pieces.append(piece.strip())
    return [piece for piece in pieces if words(piece)]


def ends_whole(text: str) -> bool:
    """Whether a text ends with a whole sentence or line."""
    return text.rstrip(" ").endswith("\n") or text.rstrip().rstrip(_ALL_CLOSERS).endswith(tuple(_ALL_STOPS))


def needs_no_blank(mark: str) -> bool:
    """Whether a sentence may begin right after this character: a blank, or the stop of a script without blanks."""
    return mark.isspace() or mark in _UNSPACED_STOPS


# At every stop.

# Blanks after a stop, or line breaks. A blank comes first in the pattern, and what is before it is looked at second:
# blanks are few, and the search goes from one to the next.
_EVERY_STOP = re.compile(rf"\s(?:(?<=[{_STOPS}]\s)\s*|(?<=\n)\n*)")


@lru_cache(maxsize=1 << 12)
def sentences_at_every_stop(text: str) -> tuple[str, ...]:
    """Cut at every stop before a blank and at every line break. Cached, since several checks look at each answer."""
    return tuple(filter(str.strip, _EVERY_STOP.split(text)))
