"""Layouts of a whole real answer: its words and its code stay, and how they are set out changes."""

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from umpirical.domain.stimuli import Expectation, GivenWinner, NoPreference, Stimulus
from umpirical.stats.seeds import generator
from umpirical.stimuli.controlled.carriers.carrier import (
    Carrier,
    check_carriers,
    corrupted,
    corruptible,
    corruption_problem,
    deletable,
    deletion_problem,
    layout_problem,
    lost_facts,
    without,
)
from umpirical.stimuli.controlled.ladder.transforms import TRANSFORMS
from umpirical.text.blocks import Block, markdown_blocks
from umpirical.text.sentences import balanced, locate, spans_past_abbreviations

Layout = Callable[[str, np.random.Generator], str]

LISTED = 3
"""Sentences that a paragraph needs to be made a list."""

_BULLET = re.compile(r"([ \t]*)([-*+])")


def laid_out(text: str, name: str, rng: np.random.Generator) -> str | None:
    """The answer in another layout, or None if it has nothing that the layout could change."""
    changed = LAYOUTS[name](text, rng)
    return None if changed == text else changed


def _whitespace(text: str, rng: np.random.Generator) -> str:
    """Paragraphs broken up and blanks doubled, as on the ladder; blank lines between the items of a list."""

    def change(block: Block) -> str:
        sentences = _sentences(text, block)
        if block.kind != "prose" or len(sentences) < 2:
            return text[block.span.start : block.span.end]
        return TRANSFORMS["whitespace"](sentences, rng)

    return _rebuilt(text, change, loose=True)


def _list(text: str, rng: np.random.Generator) -> str:
    """Paragraphs of several sentences become lists."""

    def change(block: Block) -> str:
        sentences = [" ".join(sentence.split()) for sentence in _sentences(text, block)]
        own = text[block.span.start : block.span.end]
        leads_on = own.rstrip().endswith(":")
        if block.kind != "prose" or len(sentences) < LISTED or leads_on or not all(map(balanced, sentences)):
            return own
        return TRANSFORMS["list"](sentences, rng)

    return _rebuilt(text, change)


def _bullets(text: str, _: np.random.Generator) -> str:
    """The marks of lists change: a dash becomes an asterisk, anything else a dash."""

    def change(block: Block) -> str:
        own = text[block.span.start : block.span.end]
        if block.kind != "item" or block.number is not None:
            return own
        return _BULLET.sub(lambda match: f"{match[1]}{'*' if match[2] == '-' else '-'}", own, count=1)

    return _rebuilt(text, change)


LAYOUTS: dict[str, Layout] = {"whitespace": _whitespace, "list": _list, "bullets": _bullets}


def _sentences(text: str, block: Block) -> list[str]:
    return [text[span.start : span.end] for span in spans_past_abbreviations(text, block)]


def _rebuilt(text: str, change: Callable[[Block], str], *, loose: bool = False) -> str:
    """The answer with each block changed; if `loose`, with a blank line between items that have none."""
    out, before = "", None
    for block in markdown_blocks(text):
        gap = text[before.span.end if before else 0 : block.span.start]
        if loose and before and gap == "\n" and before.kind == block.kind == "item":
            gap = "\n\n"
        out += gap + change(block)
        before = block
    return out + text[before.span.end if before else 0 :]


# Pairs made of carriers: an answer and itself with facts edited, or in another layout.
#
# Every carrier is used, with at most thirteen pairs: up to five in which one to five facts are deleted, up to five in
# which one to five are corrupted, and one for each layout. An answer that does not allow for them has fewer.

MAKER = "carriers/1"

EDITS = ("deleted", "corrupted")

MOST_EDITED = 5
"""The most facts that are edited: as many as the ladder of the built-in tasks has steps."""


def carrier_stimuli(carriers: Sequence[Carrier], *, seed: int) -> Iterator[Stimulus]:
    """Every pair. The same carriers and seed give the same bytes. Nothing is made while a carrier is not sound."""
    if any(check_carriers(carriers)):
        return
    for carrier in carriers:
        yield from _edited_pairs(carrier, seed)
        yield from _layout_pairs(carrier, seed)


def _edited_pairs(carrier: Carrier, seed: int) -> Iterator[Stimulus]:
    for edit in EDITS:
        rng = generator(seed, "carrier", carrier.id, edit)
        for facts in _growing(carrier, edit, rng):
            text = _deleted(carrier, facts) if edit == "deleted" else _corrupted(carrier, facts, rng)
            winner = int(rng.integers(2))
            if text is not None:
                yield _stimulus(carrier, text, edit, GivenWinner(winner), turned=winner == 1, lost=len(facts))


def _layout_pairs(carrier: Carrier, seed: int) -> Iterator[Stimulus]:
    for name in LAYOUTS:
        rng = generator(seed, "carrier", carrier.id, name)
        text = laid_out(carrier.answer, name, rng)
        # A layout that a program cannot confirm as one, as in odd Markdown, is not used.
        if text is not None and not layout_problem(carrier.answer, text) and not lost_facts(carrier, text):
            yield _stimulus(carrier, text, name, NoPreference(), turned=bool(rng.integers(2)))


def _growing(carrier: Carrier, edit: str, rng: np.random.Generator) -> Iterator[tuple[int, ...]]:
    """One fact, then that and another, and so on; facts of one sentence are deleted together."""
    if edit == "deleted":
        groups = deletable(carrier.answer, carrier.facts)
    else:
        groups = [(place,) for place, fact in enumerate(carrier.facts) if corruptible(fact)]
    chosen: tuple[int, ...] = ()
    for place in rng.permutation(len(groups)):
        if len(chosen) + len(groups[place]) <= MOST_EDITED:
            chosen += groups[place]
            yield chosen


def _deleted(carrier: Carrier, facts: Sequence[int]) -> str | None:
    text = without(carrier.answer, [carrier.facts[place] for place in facts])
    return None if deletion_problem(carrier, text) or len(lost_facts(carrier, text)) != len(facts) else text


def _corrupted(carrier: Carrier, facts: Sequence[int], rng: np.random.Generator) -> str | None:
    text = carrier.answer
    for place in facts:
        [span] = locate(text, carrier.facts[place])
        text = text[: span.start] + corrupted(text[span.start : span.end], rng) + text[span.end :]
    return None if corruption_problem(carrier, text) or len(lost_facts(carrier, text)) != len(facts) else text


def _stimulus(
    carrier: Carrier, text: str, stratum: str, expectation: Expectation, *, turned: bool, lost: int = 0
) -> Stimulus:
    pair = (text, carrier.answer) if turned else (carrier.answer, text)
    return Stimulus(
        task_id=carrier.task_id,
        task=carrier.prompt,
        candidates=pair,
        expectation=expectation,
        maker=MAKER,
        family="own-graded" if lost else "own-equal",
        stratum=stratum,
        delta=float(lost),
        base=float(len(carrier.facts) - lost),
    )
