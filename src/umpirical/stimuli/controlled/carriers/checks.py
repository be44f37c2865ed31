"""Checks that an edited answer is what it should be, by comparing it with its original alone."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from umpirical.stimuli.controlled.carriers.carrier import Carrier
from umpirical.stimuli.controlled.carriers.corruption import MONTHS, NUMBERS, POLES, WEEKDAYS, corruptible
from umpirical.stimuli.controlled.carriers.deletion import deletable
from umpirical.text.blocks import Block, TextSpan, markdown_blocks, without_bullet
from umpirical.text.sentences import locate, spans_past_abbreviations

LONGER = 20
"""More characters than any word of a table has over another."""

_TABLES = [frozenset(word.casefold() for word in words) for words in (MONTHS, WEEKDAYS, NUMBERS, POLES)]


def check_carriers(carriers: Sequence[Carrier]) -> Iterator[str]:
    """What is wrong with the carriers, in words."""
    if not carriers:
        yield "there is no carrier"
    for what, values in (("id", [c.id for c in carriers]), ("answer", [_plain(c.answer) for c in carriers])):
        for value, times in Counter(values).items():
            if times > 1:
                yield f"{times} carriers have the {what} {value[:40]!r}"
    for carrier in carriers:
        yield from (f"carrier {carrier.id}: {problem}" for problem in _check(carrier))


def _check(carrier: Carrier) -> Iterator[str]:
    found, sound = markdown_blocks(carrier.answer), True
    spans: list[TextSpan] = []
    for claim in carrier.claims:
        where = locate(carrier.answer, claim)
        problem = _misplaced(where, found)
        if problem:
            sound = False
            yield f"the claim {_short(claim)} {problem}"
        spans += where
    if any(one.overlaps(other) for one, other in combinations(spans, 2)):
        sound = False
        yield "two of its claims overlap"
    if not sound:
        return
    if not carrier.claims:
        yield "it has no claim"
    elif not deletable(carrier.answer, carrier.claims) and not any(map(corruptible, carrier.claims)):
        yield "none of its claims can be deleted or corrupted"


def _misplaced(where: list[TextSpan], found: list[Block]) -> str:
    if len(where) != 1:
        return f"occurs {len(where)} times in the answer, not once"
    held = [block for block in found if block.span.overlaps(where[0])]
    if len(held) > 1:
        return "goes over more than one paragraph or list item"
    if held[0].kind == "code":
        return "lies in code"
    return "begins with the mark of a list item: leave the mark out" if where[0].start < held[0].body else ""


def lost_claims(carrier: Carrier, text: str) -> list[str]:
    """The claims that a text does not hold word for word."""
    return [claim for claim in carrier.claims if not locate(text, claim)]


def deletion_problem(carrier: Carrier, text: str) -> str:
    """Why a text is not the answer less the sentences that held the claims it lacks; empty if it is."""
    gone = [span for claim in lost_claims(carrier, text) for span in locate(carrier.answer, claim)]
    kept = [
        _unmarked(carrier.answer[span.start : span.end])
        for block in markdown_blocks(carrier.answer)
        for span in spans_past_abbreviations(carrier.answer, block)
        if not any(span.overlaps(lost) for lost in gone)
    ]
    if [_unmarked(piece) for piece in _pieces(text)] != kept:
        return "more than the sentences of the missing claims differs"
    return _doubled(carrier, text) or ("" if kept else "nothing is left")


def corruption_problem(carrier: Carrier, text: str) -> str:
    """Why a text is not the answer with one word changed by the table in each claim it lacks; empty if it is."""
    spans = sorted(locate(carrier.answer, claim)[0] for claim in lost_claims(carrier, text))
    if not _fits(carrier.answer, spans, text):
        return "it differs by more than one word of the table in each claim it lacks"
    return _doubled(carrier, text)


def crossing_problem(carrier: Carrier, context: str, text: str) -> str:
    """Why a context and a text are not the carrier's with one figure changed in both, alike; empty if they are."""
    if len(lost_claims(carrier, text)) != 1 or corruption_problem(carrier, text):
        return "the answer differs by more than a figure in one claim"
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
    before, claim = original[start : span.start], original[span.start : span.end]
    after = original[span.end : rest[0].start if rest else None]
    if not text.startswith(before):
        return False
    text = text[len(before) :]
    # There is only one place where the claim can end, unless what follows it is short.
    ends = [match.start() for match in re.finditer(f"(?={re.escape(after)})", text[: len(claim) + LONGER + len(after)])]
    return any(_contradicts(claim, text[:end]) and _fits(original, rest, text[end:], span.end) for end in ends)


def _contradicts(claim: str, now: str) -> bool:
    """Exactly one word is another one of its table, or a negation is gone."""
    before, after = claim.split(), now.split()
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
    doubled = [claim for claim in carrier.claims if len(locate(text, claim)) > 1]
    return f"the claim {_short(doubled[0])} occurs twice" if doubled else ""


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
