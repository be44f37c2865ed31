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
from collections.abc import Iterator
from dataclasses import dataclass
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


# Passages: where one stands in a text, whether it can be taken out, and which one was put in.

_LIKE_MARKS = str.maketrans("“”„«»‘’‚‹›–—‐‑−", "\"\"\"\"\"'''''-----")


def locate(text: str, passage: str) -> list[TextSpan]:
    """Where a passage stands, word for word; blanks and line breaks between words may differ."""
    words = r"\s+".join(map(re.escape, passage.split()))
    return [TextSpan(*match.span()) for match in re.finditer(rf"(?<!\w)(?:{words})(?!\w)", text)]


def balanced(piece: str) -> bool:
    """Whether a piece can be taken out without separating marks that belong together."""
    even = all(piece.count(mark) % 2 == 0 for mark in ("**", "__", "`", '"'))
    return even and all(piece.count(left) == piece.count(right) for left, right in ("()", "[]", "{}", "“”"))


@dataclass(frozen=True, slots=True)
class Passage:
    """What was put into a text in one piece."""

    text: str
    place: str
    """`at the beginning`, `at the end`, `between two sentences`."""


def added_passage(original: str, changed: str) -> Passage | None:
    """The one passage whose removal restores the original, letter for letter; None if there is no such passage.

    It stands between whole sentences or lines, and does not run into the sentence after it: a `not` put into a
    sentence is not a passage. The amount of blank space and the shape of quotation marks and dashes do not count.
    """
    before, after = _plain(original), _plain(changed)
    extra = len(after) - len(before)
    if extra <= 0 or not before:
        return None
    start, end = _common(before, after), _common(before[::-1], after[::-1])
    # Where the texts repeat themselves, the same passage can be cut out in several places; any sound one will do.
    for cut in range(max(0, len(before) - end), min(start, len(before)) + 1):
        if _begins_apart(before, after, cut) and _ends_apart(after, cut, extra):
            place = "at the beginning" if cut == 0 else "at the end" if cut == len(before) else "between two sentences"
            return Passage(after[cut : cut + extra].strip(), place)
    return None


def _plain(text: str) -> str:
    return "".join(_pieces(text.strip().translate(_LIKE_MARKS)))


def _pieces(text: str) -> Iterator[str]:
    """Each run of blanks as one blank, or as one line break if it has any."""
    for piece in re.split(r"(\s+)", text):
        yield piece if not piece.isspace() else "\n" if "\n" in piece else " "


def _common(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def _begins_apart(before: str, after: str, cut: int) -> bool:
    """Whether what was put in at `cut` comes after a whole sentence or line."""
    if cut == 0 or after[cut] == "\n":
        return True
    return ends_whole(before[max(0, cut - 8) : cut]) and (after[cut].isspace() or needs_no_blank(before[cut - 1]))


def _ends_apart(after: str, cut: int, extra: int) -> bool:
    end = cut + extra
    if end == len(after) or after[end] == "\n":
        return True
    return ends_whole(after[max(cut, end - 8) : end]) and (after[end].isspace() or needs_no_blank(after[end - 1]))
