"""Proved changes: of spacing, and of how a text is written."""

import re
from bisect import bisect
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import numpy as np

from umpirical.stimuli.perturbations.catalogue import ProvedPerturbation
from umpirical.text.blocks import FENCED, INLINE, LINE_END, LINE_START, Target, drawn, headings, line_runs, spliced
from umpirical.text.sentences import CERTAIN_END, CERTAIN_GAP, CERTAIN_START, ends_as_prose
from umpirical.text.words import LETTER, WORD_END, WORD_START

_SENTENCE_GAP = Target(CERTAIN_GAP)

_BELONGS_ABOVE = re.compile(r" {4}|\t| *+\|")
"""How a line of code or of a table begins, which blank lines would tear from the line before."""

# Each kind of line break is folded by itself, because the same kind is added.
_FOLDED = Target(rf"\r\n(?:\r\n)*|\n\n*|\r(?!\n)(?:\r(?!\n))*|{CERTAIN_GAP}", kept=FENCED)


def _vertical_spacing_change(text: str, rng: np.random.Generator) -> str:
    """Widens the gaps between paragraphs; if there are none, between lines; if there are none, between sentences."""
    found = line_runs(text)
    below = [block[0] for block in found[1:]] or [line for block in found for line in block[1:]]
    if not below:
        return _between_sentences(text, rng)
    edits = []
    for line in below:
        if _BELONGS_ABOVE.match(line[0]):
            continue
        start = line.start()
        line_break = "\r\n" if text[start - 2 : start] == "\r\n" else text[start - 1]
        edits.append((start, start, line_break * int(rng.integers(1, 5))))
    return spliced(text, edits)


def _between_sentences(text: str, rng: np.random.Generator) -> str:
    gaps = drawn(_SENTENCE_GAP.places(text), 0.3, rng)
    return spliced(text, [(gap.start(), gap.end(), "\n" * int(rng.integers(2, 5))) for gap in gaps])


def _vertical_spacing_normal(text: str) -> str:
    """With repeated line breaks, or the blank between two sentences, as one line break; all other blanks stay."""
    return _FOLDED.replaced(text, lambda run: run[0][:2] if run[0][:2] == "\r\n" else run[0][0].replace(" ", "\n"))


VERTICAL_SPACING = ProvedPerturbation(
    name="vertical-spacing",
    title="Vertical spacing",
    about="Blank lines are added between paragraphs, or between lines or sentences if there are no paragraphs.",
    version=1,
    change=_vertical_spacing_change,
    normal=_vertical_spacing_normal,
    alters="format",
)


# Vertical spacing: blank lines are removed.

# Only within a text: what stands before its first line and after its last may be as it likes. A gap is looked for after
# a letter or sign alone: looked for at each of many blank lines, it would be read again from each of them.
_BLANK_LINES_REMOVED_GAP = Target(
    rf"(?=\s)(?<=\S)(?P<first>[ \t]*+(?>{LINE_END}))(?>[ \t]*+(?>{LINE_END}))++(?=[ \t]*+\S)", kept=FENCED
)

_NEEDS_GAP = re.compile(r" {4}|\t| *+(?:\||`{3}|~{3}|[-=*_](?:[ \t]*+[-=*_])*+[ \t]*+(?:[\r\n]|\Z))")
"""How a line begins that would be read otherwise without a blank line above it: code, a table, a line of dashes."""


def _blank_lines_removed_change(text: str, rng: np.random.Generator) -> str:  # noqa: ARG001  # there is nothing to draw
    return _BLANK_LINES_REMOVED_GAP.replaced(
        text, lambda gap: gap[0] if _NEEDS_GAP.match(text, gap.end()) else gap["first"]
    )


def _blank_lines_removed_normal(text: str) -> str:
    """With blank lines removed everywhere but in code; all else stays, the blanks at the start of a line too."""
    return _BLANK_LINES_REMOVED_GAP.replaced(text, lambda gap: gap["first"])


BLANK_LINES_REMOVED = ProvedPerturbation(
    name="blank-lines-removed",
    title="Blank lines removed",
    about="Blank lines between paragraphs are removed, and every line is kept.",
    version=1,
    change=_blank_lines_removed_change,
    normal=_blank_lines_removed_normal,
    alters="format",
)


# In-line spacing: clusters of blanks between words.

# Only between letters: a blank after a list mark, beside a number or at the end of a line may mean something.
# The blank comes first in the pattern: the search goes from one to the next.
_INLINE_SPACING_GAP = Target(rf" (?<={LETTER} )(?={LETTER})")
_CLUSTER = Target(rf" (?<={LETTER} ) ++(?={LETTER})")


def _inline_spacing_change(text: str, rng: np.random.Generator) -> str:
    gaps = drawn(_INLINE_SPACING_GAP.places(text), 0.1, rng)
    return spliced(text, [(gap.end(), gap.end(), " " * int(rng.integers(2, 7))) for gap in gaps])


def _inline_spacing_normal(text: str) -> str:
    """With several blanks between two letters as one; indentation and the ends of lines stay."""
    return _CLUSTER.replaced(text, lambda _: " ")


INLINE_SPACING = ProvedPerturbation(
    name="inline-spacing",
    title="In-line spacing",
    about="Two to six extra spaces are put between words, at one gap in ten.",
    version=1,
    change=_inline_spacing_change,
    normal=_inline_spacing_normal,
    alters="format",
)


# Indentation: whole paragraphs are moved to the right.

INDENTS = ("  ", "    ", "        ", "\t", "\t\t")
MARKED_INDENT = "  "
"""The indent of lists, headings, tables and quotations: with a larger one, Markdown would take them for code."""

_INDENT = Target(rf"(?=[ \t]){LINE_START}[ \t]++(?=\S)", kept=FENCED)
_MARK = re.compile(r"[-*+•>|#]|\d+[.)]")

Lines = list[re.Match[str]]


def _indentation_change(text: str, rng: np.random.Generator) -> str:
    """The lines of a block move together. Blocks with marks move alike, or lists would become nested."""
    marked: list[Lines] = []
    plain: list[Lines] = []
    for block in line_runs(text):
        (marked if any(_MARK.match(line[0].lstrip()) for line in block) else plain).append(block)
    flush = [block for block in plain if _flush(block)]
    if len(flush) < len(plain):
        # Some of the text may be code without a fence, and no line of that may move.
        flush = [block for block in flush if ends_as_prose(block[-1][0])]
    moved = [(block, INDENTS[int(rng.integers(len(INDENTS)))]) for block in drawn(flush, 0.5, rng)]
    if all(_flush(block) for block in marked):
        moved += [(block, MARKED_INDENT) for block in marked]
    edits = sorted((line.start(), line.start(), indent) for block, indent in moved for line in block)
    return spliced(text, edits)


def _flush(block: Lines) -> bool:
    """Whether no line of it is indented: if one is, the difference may mean something, as it does in code."""
    return not any(line[0][0].isspace() for line in block)


def _indentation_normal(text: str) -> str:
    """Without blanks and tabs before the first character of a line; blank lines and all other blanks stay."""
    return _INDENT.replaced(text, lambda _: "")


INDENTATION = ProvedPerturbation(
    name="indentation",
    title="Indentation",
    about="Half of the paragraphs are indented by two to eight spaces or by tabs, lists and headings by two spaces.",
    version=1,
    change=_indentation_change,
    normal=_indentation_normal,
    alters="format",
)


# Proved changes of how a text is written down: lists, Markdown, punctuation, headings, typing errors.


FEWEST_SENTENCES = 3
"""The fewest sentences of a paragraph that becomes a list."""

_SENTENCE = re.compile(CERTAIN_START)
_ITEM = re.compile(rf"[-*+•] {CERTAIN_START}")
_CLOSED = re.compile(rf"{CERTAIN_END}\Z")

# What comes first is seen at a glance, so that the rest is looked at only there.
_BULLETS = Target(rf"(?=[-*+•]){LINE_START}(?:[-*+•] )++{CERTAIN_START}", kept=FENCED)
_JOINT = Target(rf"(?=[ \r\n]){CERTAIN_END}(?: |{LINE_END}){CERTAIN_START}", kept=FENCED)

TextEdit = tuple[int, int, str]


def _list_or_prose_change(text: str, rng: np.random.Generator) -> str:
    line_break = "\r\n" if "\r\n" in text else "\n"
    gaps = [gap.start() for gap in _SENTENCE_GAP.places(text)]
    possible = [_as_prose(block) or _as_list(block, gaps, line_break) for block in line_runs(text)]
    return spliced(text, [edit for edits in drawn([edits for edits in possible if edits], 0.5, rng) for edit in edits])


def _as_prose(block: list[re.Match[str]]) -> list[TextEdit]:
    """Edits that join a list of whole sentences, which a line may introduce; none if it is not such a list."""
    items = block[0 if _ITEM.match(block[0][0]) else 1 :]
    if len(items) < 2 or not all(_ITEM.match(item[0]) for item in items):
        return []
    if not all(_CLOSED.search(item[0]) for item in items[:-1]):
        return []
    first = (items[0].start(), items[0].start() + 2, "")
    joints = [(one.end(), other.start() + 2, " ") for one, other in pairwise(items)]
    return [first, *joints]


def _as_list(block: list[re.Match[str]], gaps: list[int], line_break: str) -> list[TextEdit]:
    """Edits that make each sentence of a paragraph an item; none if it has few sentences or several lines."""
    line = block[0]
    inside = gaps[bisect(gaps, line.start()) : bisect(gaps, line.end())]
    if len(block) > 1 or len(inside) < FEWEST_SENTENCES - 1 or not _SENTENCE.match(line[0]):
        return []
    return [(line.start(), line.start(), "- "), *((gap, gap + 1, f"{line_break}- ") for gap in inside)]


def _list_or_prose_normal(text: str) -> str:
    """Without bullets before a sentence, and with each sentence on a line of its own; all else stays."""
    return _JOINT.replaced(_BULLETS.replaced(text, lambda _: ""), lambda _: "\n")


LIST_OR_PROSE = ProvedPerturbation(
    name="list-or-prose",
    title="List or prose",
    about="Half of the paragraphs of three sentences or more become bullet lists, and bullet lists become paragraphs.",
    version=1,
    change=_list_or_prose_change,
    normal=_list_or_prose_normal,
    alters="format",
)


# Markdown or plain: marks of emphasis, headings and lists are taken away, or put into a text that has none.

# Only beside words and their punctuation: without the marks, no code must begin where none was.
_OPENING = rf"""{WORD_START}\*\*(?=[\w"'“‘(])"""
# More marks may follow. Otherwise a mark that does not end a word would do so once those after it are gone.
_CLOSING = r"""(?<=[\w"'”’).,;:!?])\*\*(?!\*)(?=["')”’.,;:!?*]*+(?:\s|\Z))"""
# What comes first is seen at a glance, so that the rest is looked at only there.
_BOLD = Target(rf"(?=\*\*)(?:(?P<opening>{_OPENING})|{_CLOSING})")
_LINE_MARKS = Target(rf"(?=[-#*+]){LINE_START}(?:(?:(?:#{{1,6}}|[-*+]) )++(?={LETTER})|(?:#{{1,6}} )++(?=\d))")
_MARKDOWN_OR_PLAIN_WORD = Target(rf"{WORD_START}{LETTER}{{4,}}+{WORD_END}")


def _markdown_or_plain_change(text: str, rng: np.random.Generator) -> str:
    plain = _plain(text)
    return plain if plain != text else _marked(text, rng)


def _plain(text: str) -> str:
    """Without the marks of headings and lists, and without those of emphasis that begins and ends in one line."""
    marks, edits = _BOLD.places(text), []
    for one, other in pairwise(marks):
        pair = one["opening"] is not None and other["opening"] is None
        if pair and not re.search(r"[\r\n]", text[one.end() : other.start()]):
            edits += [(one.start(), one.end(), ""), (other.start(), other.end(), "")]
    return _LINE_MARKS.replaced(spliced(text, edits), lambda _: "")


def _marked(text: str, rng: np.random.Generator) -> str:
    """One in twenty of the words with four letters or more is set in bold, and headings are marked as such."""
    starts = [one.start for one in headings(text) if not one.marked]
    edits = [(start, start, "## ") for start in starts]
    for word in drawn(_MARKDOWN_OR_PLAIN_WORD.places(text), 0.05, rng):
        edits += [(word.start(), word.start(), "**"), (word.end(), word.end(), "**")]
    return spliced(text, sorted(edits, key=lambda edit: edit[0]))


def _markdown_or_plain_normal(text: str) -> str:
    """Without marks that open or close a word in bold, and those of headings and lists at the start of a line."""
    return _LINE_MARKS.replaced(_BOLD.replaced(text, lambda _: ""), lambda _: "")


MARKDOWN_OR_PLAIN = ProvedPerturbation(
    name="markdown-or-plain",
    title="Markdown or plain",
    about="Markdown marks of bold words, headings and lists are removed, or bold words are added if there are none.",
    version=1,
    change=_markdown_or_plain_change,
    normal=_markdown_or_plain_normal,
    alters="format",
)


# Look-alike punctuation: typographic signs in place of those on the keyboard.

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


def _look_alike_punctuation_change(text: str, rng: np.random.Generator) -> str:
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


def _look_alike_punctuation_normal(text: str) -> str:
    """With each look-alike as the sign on the keyboard, in the places where one is put; letters and digits stay."""
    return _LOOK_ALIKE.replaced(text, lambda sign: _KEYBOARD[sign[0]])


LOOK_ALIKE_PUNCTUATION = ProvedPerturbation(
    name="look-alike-punctuation",
    title="Look-alike punctuation",
    about="Straight quotation marks, hyphens and dots become typographic ones, and one space in twenty becomes "
    "non-breaking.",
    version=1,
    change=_look_alike_punctuation_change,
    normal=_look_alike_punctuation_normal,
    alters="format",
)


# Case of headings: capitals throughout, or at the beginning of each word.

_HEADING_CASE_WORD = Target(rf"{LETTER}++(?:['’]{LETTER}++)*+", kept=INLINE)


def _heading_case_change(text: str, rng: np.random.Generator) -> str:
    """One style for all headings of a text; the other one if they have it already."""
    styles = (_capitals, _title) if rng.integers(2) else (_title, _capitals)
    changed = _restyled(text, styles[0])
    return changed if changed != text else _restyled(text, styles[1])


def _capitals(words: str) -> str:
    return _HEADING_CASE_WORD.replaced(words, lambda word: "".join(map(_upper, word[0])))


def _title(words: str) -> str:
    # Small letters only if all are capitals: otherwise the capitals of a name would be lost.
    rest = _lower if words.isupper() else str
    return _HEADING_CASE_WORD.replaced(words, lambda word: _upper(word[0][0]) + "".join(map(rest, word[0][1:])))


def _upper(letter: str) -> str:
    return _same_letter(letter.upper(), letter)


def _lower(letter: str) -> str:
    return _same_letter(letter.lower(), letter)


def _same_letter(other: str, letter: str) -> str:
    """The other case of a letter, if that is one letter and the way back is certain: not for ß and dotless i."""
    return other if len(other) == 1 and other.casefold() == letter.casefold() else letter


def _heading_case_normal(text: str) -> str:
    """With headings in one case, except for code and links in them; all else stays."""
    return _restyled(text, lambda words: _HEADING_CASE_WORD.replaced(words, lambda word: word[0].casefold()))


def _restyled(text: str, style: Callable[[str], str]) -> str:
    found = headings(text)
    return spliced(text, [(one.start, one.end, style(text[one.start : one.end])) for one in found])


HEADING_CASE = ProvedPerturbation(
    name="heading-case",
    title="Case of headings",
    about="Headings are written in capitals, or with a capital at the beginning of each word.",
    version=1,
    change=_heading_case_change,
    normal=_heading_case_normal,
    alters="format",
)


# Typos: neighbouring letters inside a word change places.

RATE = 0.02
"""Typos per word of the text."""

_TYPOS_WORD = Target(rf"{WORD_START}{LETTER}{{4,}}+{WORD_END}")

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


def _typos_change(text: str, rng: np.random.Generator) -> str:
    possible = [word for word in _TYPOS_WORD.places(text) if _may_change(word[0])]
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


def _typos_normal(text: str) -> str:
    """With the inner letters of each word in small letters sorted; its first and last letter and all else stay."""
    return _TYPOS_WORD.replaced(text, lambda word: _sorted_inside(word[0]))


@lru_cache(maxsize=1 << 14)
def _sorted_inside(word: str) -> str:
    return word[0] + "".join(sorted(word[1:-1])) + word[-1] if _all_small(word) else word


def _all_small(word: str) -> bool:
    # A letter that is neither small nor a capital does not count for the whole word, but would for itself.
    return word.islower() if word.isascii() else all(map(str.islower, word))


TYPOS = ProvedPerturbation(
    name="typos",
    title="Typos",
    about="In 2% of the words, at least one, two neighboring letters inside the word change places.",
    version=1,
    change=_typos_change,
    normal=_typos_normal,
    alters="format",
)
