"""Carriers, answers that a user brings: what one is, how it is corrupted or cut, and whether that went well."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from umpirical.domain.errors import ConfigError
from umpirical.domain.renamed import now_called
from umpirical.store.yaml_files import YamlDocument
from umpirical.text.blocks import Block, TextSpan, markdown_blocks, without_bullet
from umpirical.text.problems import plain_problem
from umpirical.text.sentences import balanced, locate, spans_past_abbreviations

# Carriers: real answers, and the passages in them that somebody has verified, as a file holds them.


PREFIX = "carrier:"
"""Stands before the id of a carrier where that is used as a task's: no task of tier 1 may begin with it."""

_Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


@dataclass(frozen=True, slots=True)
class Carrier:
    """A real answer, and the passages of it that are known to be right."""

    id: str
    task: str
    """What was asked."""
    answer: str
    facts: tuple[str, ...]
    """Passages of the answer, word for word, that the user has verified."""
    context: str = ""
    """What the answer is grounded in, such as a passage that was retrieved; empty if there is none."""

    @property
    def prompt(self) -> str:
        """The task as the judge reads it: the context, if there is one, and then what was asked."""
        return self.prompt_with(self.context)

    def prompt_with(self, context: str) -> str:
        return f"{context}\n\n{self.task}" if context else self.task

    @property
    def task_id(self) -> str:
        return f"{PREFIX}{self.id}"


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    context: str = ""
    task: _Text
    answer: _Text
    facts: list[_Text]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    answers: list[_Entry]


def read_carriers(document: YamlDocument) -> list[Carrier]:
    """The entries under `answers`. The gate says whether they can be edited."""
    try:
        found = _File.model_validate(document.data)
    except ValidationError as error:
        problem = error.errors()[0]
        path = tuple(problem["loc"])
        place = ".".join(map(str, path))
        fix = "answers: is a list, each entry with id, task, answer and facts, and a context if it has one"
        fix = now_called(path[-1]) if path and problem["type"] == "extra_forbidden" else fix
        raise ConfigError(f"{place}: {plain_problem(problem)}", where=document.where(path), fix=fix) from None
    return [
        Carrier(entry.id, entry.task, entry.answer, tuple(entry.facts), entry.context.strip())
        for entry in found.answers
    ]


# Corruption: one figure, date word or negation of a fact is replaced by another, by a closed table.

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
"""After these, a figure points somewhere and facts nothing."""

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
"""In a fact with one of these, removing a "not" may leave it right, or saying nothing."""


class Site(NamedTuple):
    """A stretch of a fact that can be changed, and what it can be changed into."""

    start: int
    end: int
    options: tuple[str, ...]


def corruptible(fact: str) -> bool:
    return any(True for _ in _sites(fact))


def corrupted(fact: str, rng: np.random.Generator) -> str:
    """The fact with one thing in it changed, so that it is no longer what was verified."""
    sites = list(_sites(fact))
    start, end, options = sites[int(rng.integers(len(sites)))]
    return fact[:start] + options[int(rng.integers(len(options)))] + fact[end:]


def figure_sites(text: str) -> Iterator[Site]:
    """Figures, numbers in words, months and weekdays: what two texts can both say, and both say otherwise."""
    yield from _figures(text)
    for words in (MONTHS, WEEKDAYS, NUMBERS):
        yield from _word_sites(text, words)


def like(old: str, new: str) -> str:
    """The new word with a capital where the old one has one."""
    return new[0].upper() + new[1:] if old[0].isupper() else new


def _sites(fact: str) -> Iterator[Site]:
    yield from figure_sites(fact)
    yield from _word_sites(fact, POLES)
    negations = list(_NOT.finditer(fact))
    if len(negations) == 1 and fact.count("not") == 1 and not _ENTANGLED.search(fact):
        group = 1 if negations[0][1] else 2
        yield Site(*negations[0].span(group), ("",))


def _word_sites(fact: str, words: tuple[str, ...]) -> Iterator[Site]:
    for match in re.finditer(rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])", fact, _case(words)):
        if words is NUMBERS and _no_claim(fact, match):
            continue
        others = [word for word in words if word != match[0].casefold() and word != match[0]]
        yield Site(*match.span(), tuple(like(match[0], word) for word in others))


def _figures(fact: str) -> Iterator[Site]:
    for match in _FIGURE.finditer(fact):
        if _no_claim(fact, match) or not match[0].strip("0.,"):
            continue
        year = re.fullmatch(r"1\d{3}|20\d{2}", match[0]) is not None
        if not year and (_DAY_BEFORE.search(fact[: match.start()]) or _DAY_AFTER.match(fact, match.end())):
            continue
        # Another century is too easy to see, and another last decimal too hard.
        place = 2 if year else next(n for n, digit in enumerate(match[0]) if digit in "123456789")
        digits = "0123456789" if year else "123456789"
        # The next digit would be a tenth more, where the first is a nine: some would call that right.
        far = [digit for digit in digits if abs(int(digit) - int(match[0][place])) >= 2]
        options = tuple(match[0][:place] + digit + match[0][place + 1 :] for digit in far)
        yield Site(*match.span(), options)


def _no_claim(fact: str, match: re.Match[str]) -> bool:
    """Whether a number bounds something or points somewhere, so that another one need not be wrong."""
    before = fact[: match.start()]
    bounds = _BOUND.search(before) or _BOUND_AFTER.match(fact, match.end())
    return bool(bounds or _REFERENCE.search(before))


def _case(words: tuple[str, ...]) -> re.RegexFlag:
    """Names of months and days are written with a capital; the others need not be."""
    return re.NOFLAG if words in (MONTHS, WEEKDAYS) else re.IGNORECASE


# Deletion: the sentences that hold some of the facts are taken out, and nothing else.


def deletable(text: str, facts: Sequence[str]) -> list[tuple[int, ...]]:
    """The facts that go together, as places in `facts`: those of one sentence, or of sentences that a fact joins.

    A fact in a heading, a table or a quotation is not among them, nor one whose sentence shares brackets or emphasis
    with the next.
    """
    groups: list[tuple[set[int], set[TextSpan]]] = []
    for place, fact in enumerate(facts):
        held = set(_holding(text, fact))
        if not held:
            continue
        own = ({place}, held)
        for group in [group for group in groups if group[1] & held]:
            groups.remove(group)
            own = (own[0] | group[0], own[1] | group[1])
        groups.append(own)
    whole = [(held, spans) for held, spans in groups if all(balanced(text[s.start : s.end]) for s in spans)]
    return sorted(tuple(sorted(held)) for held, _ in whole)


def without(text: str, facts: Sequence[str]) -> str:
    """The answer without the sentences that hold these facts. Later items of a numbered list move up."""
    gone = {span for fact in facts for span in _holding(text, fact)}
    found = markdown_blocks(text)
    out, removed = "", dict[int, int]()
    for place, block in enumerate(found):
        kept = _kept(text, block, gone)
        removed = _renumbering(block, removed, gone=kept is None)
        if kept is None:
            continue
        mark = text[block.span.start : block.body]
        if block.number is not None and removed.get(block.indent):
            mark = mark.replace(str(block.number), str(block.number - removed[block.indent]), 1)
        # The gap before a block goes with the block, so that nothing is left where one was taken out.
        gap = text[found[place - 1].span.end : block.span.start] if out else ""
        out += f"{gap}{mark}{kept}"
    return out


def _holding(text: str, fact: str) -> list[TextSpan]:
    """The sentences that a fact lies in; none if it lies where nothing can be taken out."""
    [where] = locate(text, fact)
    for block in markdown_blocks(text):
        if where.overlaps(block.span):
            spans = spans_past_abbreviations(text, block) if block.kind in ("prose", "item") else []
            return [span for span in spans if span.overlaps(where)]
    return []


def _kept(text: str, block: Block, gone: Collection[TextSpan]) -> str | None:
    """What is left of a block's text; None if nothing is left."""
    spans = spans_past_abbreviations(text, block) if block.kind in ("prose", "item") else []
    if not any(span in gone for span in spans):
        return text[block.body : block.span.end]
    kept, end = "", block.body
    for span in spans:
        if span not in gone:
            kept += (text[end : span.start] if kept else "") + text[span.start : span.end]
        end = span.end
    return kept or None


def _renumbering(block: Block, removed: dict[int, int], *, gone: bool) -> dict[int, int]:
    """By how much the items of a numbered list move up, by their indentation."""
    if block.kind in ("prose", "other") and not block.indent:
        return {}
    if block.number is None:
        return removed
    outer = {indent: count for indent, count in removed.items() if indent <= block.indent}
    if block.number == 1:
        outer[block.indent] = 0
    return {**outer, block.indent: outer.get(block.indent, 0) + gone}


# Checks that an edited answer is what it should be, by comparing it with its original alone.

LONGER = 20
"""More characters than any word of a table has over another."""

_TABLES = [frozenset(word.casefold() for word in words) for words in (MONTHS, WEEKDAYS, NUMBERS, POLES)]


def check_carriers(carriers: Sequence[Carrier]) -> Iterator[str]:
    """What is wrong with the carriers, in words."""
    if not carriers:
        yield "the file has no answers"
    for what, values in (("id", [c.id for c in carriers]), ("answer", [_plain(c.answer) for c in carriers])):
        for value, times in Counter(values).items():
            if times > 1:
                yield f"{times} answers have the {what} {value[:40]!r}"
    for carrier in carriers:
        yield from (f"answer {carrier.id}: {problem}" for problem in _check(carrier))


def _check(carrier: Carrier) -> Iterator[str]:
    found, sound = markdown_blocks(carrier.answer), True
    spans: list[TextSpan] = []
    for fact in carrier.facts:
        where = locate(carrier.answer, fact)
        problem = _misplaced(where, found)
        if problem:
            sound = False
            yield f"the fact {_short(fact)} {problem}"
        spans += where
    if any(one.overlaps(other) for one, other in combinations(spans, 2)):
        sound = False
        yield "two of its facts overlap"
    if not sound:
        return
    if not carrier.facts:
        yield "it has no fact"
    elif not deletable(carrier.answer, carrier.facts) and not any(map(corruptible, carrier.facts)):
        yield "none of its facts can be deleted or corrupted"


def _misplaced(where: list[TextSpan], found: list[Block]) -> str:
    if len(where) != 1:
        return f"occurs {len(where)} times in the answer, not once"
    held = [block for block in found if block.span.overlaps(where[0])]
    if len(held) > 1:
        return "goes over more than one paragraph or list item"
    if held[0].kind == "code":
        return "lies in code"
    return "begins with the mark of a list item: leave the mark out" if where[0].start < held[0].body else ""


def lost_facts(carrier: Carrier, text: str) -> list[str]:
    """The facts that a text does not hold word for word."""
    return [fact for fact in carrier.facts if not locate(text, fact)]


def deletion_problem(carrier: Carrier, text: str) -> str:
    """Why a text is not the answer less the sentences that held the facts it lacks; empty if it is."""
    gone = [span for fact in lost_facts(carrier, text) for span in locate(carrier.answer, fact)]
    kept = [
        _unmarked(carrier.answer[span.start : span.end])
        for block in markdown_blocks(carrier.answer)
        for span in spans_past_abbreviations(carrier.answer, block)
        if not any(span.overlaps(lost) for lost in gone)
    ]
    if [_unmarked(piece) for piece in _pieces(text)] != kept:
        return "more than the sentences of the missing facts differs"
    return _doubled(carrier, text) or ("" if kept else "nothing is left")


def corruption_problem(carrier: Carrier, text: str) -> str:
    """Why a text is not the answer with one word changed by the table in each fact it lacks; empty if it is."""
    spans = sorted(locate(carrier.answer, fact)[0] for fact in lost_facts(carrier, text))
    if not _fits(carrier.answer, spans, text):
        return "it differs by more than one word of the table in each fact it lacks"
    return _doubled(carrier, text)


def crossing_problem(carrier: Carrier, context: str, text: str) -> str:
    """Why a context and a text are not the carrier's with one figure changed in both, alike; empty if they are."""
    if len(lost_facts(carrier, text)) != 1 or corruption_problem(carrier, text):
        return "the answer differs by more than a figure in one fact"
    changes = [_one_change(carrier.context, context), _one_change(carrier.answer, text)]
    if None in changes:
        return "the context does not differ in exactly one word"
    return "" if changes[0] == changes[1] else "the context and the answer do not change alike"


def _one_change(before: str, after: str) -> tuple[str, str] | None:
    """What a text says in place of what, if they are the same, blanks included, but for one word of a table."""
    pieces = [re.split(r"(\W+)", text) for text in (before, after)]
    changed = [(a, b) for a, b in zip(*pieces, strict=False) if a != b]
    if len(pieces[0]) != len(pieces[1]) or len(changed) != 1 or not _other_word(*changed[0]):
        return None
    # A unit may be joined to the figure in one text and stand apart in the other.
    one, other = (re.sub(r"\D", "", word) or word.casefold() for word in changed[0])
    return one, other


def layout_problem(one: str, other: str) -> str:
    """Why two texts are not the same words and the same code; empty if they are."""
    if one == other:
        return "nothing differs"
    if _codes(one) != _codes(other):
        return "the code differs"
    return "" if _words(one) == _words(other) else "the words differ"


def _fits(original: str, spans: Sequence[TextSpan], text: str, start: int = 0) -> bool:
    """Whether `text` is `original` from `start` on, but for what stands in place of each of `spans`."""
    if not spans:
        return text == original[start:]
    span, *rest = spans
    before, fact = original[start : span.start], original[span.start : span.end]
    after = original[span.end : rest[0].start if rest else None]
    if not text.startswith(before):
        return False
    text = text[len(before) :]
    # There is only one place where the fact can end, unless what follows it is short.
    ends = [match.start() for match in re.finditer(f"(?={re.escape(after)})", text[: len(fact) + LONGER + len(after)])]
    return any(_contradicts(fact, text[:end]) and _fits(original, rest, text[end:], span.end) for end in ends)


def _contradicts(fact: str, now: str) -> bool:
    """Exactly one word is another one of its table, or a negation is gone."""
    before, after = fact.split(), now.split()
    if len(after) == len(before) - 1:
        return any(word == "not" and before[:n] + before[n + 1 :] == after for n, word in enumerate(before))
    changed = [(a, b) for a, b in zip(before, after, strict=False) if a != b]
    return len(before) == len(after) and len(changed) == 1 and _other_word(*changed[0])


def _other_word(before: str, after: str) -> bool:
    one, other = (re.sub(r"^\W+|\W+$", "", word).casefold() for word in (before, after))
    if re.search(r"\d", one):
        return re.sub(r"\d", "0", before) == re.sub(r"\d", "0", after)
    return (one, other) == ("cannot", "can") or any(one in table and other in table for table in _TABLES)


def _doubled(carrier: Carrier, text: str) -> str:
    doubled = [fact for fact in carrier.facts if len(locate(text, fact)) > 1]
    return f"the fact {_short(doubled[0])} occurs twice" if doubled else ""


def _pieces(text: str) -> list[str]:
    spans = (span for block in markdown_blocks(text) for span in spans_past_abbreviations(text, block))
    return [text[span.start : span.end] for span in spans]


def _unmarked(piece: str) -> str:
    return _plain(without_bullet(piece))


def _words(text: str) -> list[str]:
    """Outside code, without the marks of lists that have no numbers."""
    prose = [block for block in markdown_blocks(text) if block.kind != "code"]
    return [word for block in prose for word in without_bullet(text[block.span.start : block.span.end]).split()]


def _codes(text: str) -> list[str]:
    return [text[block.span.start : block.span.end] for block in markdown_blocks(text) if block.kind == "code"]


def _plain(text: str) -> str:
    return " ".join(text.split())


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
