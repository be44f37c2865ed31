"""Quads made of carriers: a figure is changed in the context and in the answer, and either answer is right under one.

A judge that does not read the context names the same text under both, and is right exactly as often as a coin. A figure
is used only where it can be nothing but the same thing in both places: it stands once in the context, once in the
answer and not in the task, and the two sentences share a word.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from umpirical.domain.stimuli import Family, GivenWinner, Stimulus
from umpirical.stats.seeds import generator
from umpirical.stimuli.controlled.carriers.carrier import NUMBERS, Carrier, check_carriers, figure_sites, like
from umpirical.text.blocks import TextSpan, markdown_blocks
from umpirical.text.sentences import locate, spans_past_abbreviations
from umpirical.text.words import words

MAKER = "carrier-quads/1"

MOST_CROSSED = 3
"""The most claims of a carrier that are crossed, each in a quad of its own, so that no carrier outweighs the others."""

VERSIONS = ("P", "Q")
"""The context as it is, and the context with the figure changed."""

TELLING, STEM = 4, 5
"""Words of fewer letters tell nothing of what a sentence is about; of longer ones the beginning does."""

SMALLEST = 2
"""The first of the numbers in words."""


class Crossing(NamedTuple):
    """A figure that the context and a claim have in common, and what it can be changed into in both."""

    claim: int
    """The place of the claim among those of the carrier."""
    in_context: TextSpan
    in_answer: TextSpan
    options: tuple[str, ...]


def carrier_quads(carriers: Sequence[Carrier], *, seed: int) -> Iterator[Stimulus]:
    """Every quad. The same carriers and seed give the same bytes. Nothing is made while a carrier is not sound."""
    if any(check_carriers(carriers)):
        return
    for carrier in carriers:
        rng = generator(seed, "carrier", carrier.id, "crossed")
        by_claim: dict[int, list[Crossing]] = {}
        for crossing in crossings(carrier):
            by_claim.setdefault(crossing.claim, []).append(crossing)
        chosen = [*by_claim.values()]
        for place in rng.permutation(len(chosen))[:MOST_CROSSED]:
            yield from _quad(carrier, chosen[place][int(rng.integers(len(chosen[place])))], rng)


def crossings(carrier: Carrier) -> Iterator[Crossing]:
    """The figures of its claims that can be changed in the context too."""
    for place, claim in enumerate(carrier.claims):
        [span] = locate(carrier.answer, claim)
        for site in figure_sites(carrier.answer[span.start : span.end]):
            in_answer = TextSpan(span.start + site.start, span.start + site.end)
            figure = carrier.answer[in_answer.start : in_answer.end]
            in_context = _same_figure(carrier, figure, in_answer)
            options = tuple(option for option in site.options if not _anywhere(carrier, option))
            if in_context and options:
                yield Crossing(place, in_context, in_answer, options)


def _same_figure(carrier: Carrier, figure: str, in_answer: TextSpan) -> TextSpan | None:
    """Where the context has a figure of the answer; None if it may be another one there, or here."""
    found = _whole(figure, carrier.context)
    if len(found) != 1 or len(_whole(figure, carrier.answer)) != 1 or _whole(figure, carrier.task):
        return None
    [where] = found
    if not any((site.start, site.end) == (where.start, where.end) for site in figure_sites(carrier.context)):
        return None
    shared = _about(carrier.context, where) & _about(carrier.answer, in_answer)
    return where if shared else None


def _whole(figure: str, text: str) -> list[TextSpan]:
    """Where a text has a figure, in digits or in words, whatever it is beside: 45 stands in 45kg and in 10:45 too."""
    pattern = "|".join(
        rf"(?<!\d)(?<!\d[.,]){re.escape(spelt)}(?!\d|[.,]\d)" if spelt[0].isdigit() else rf"(?<!\w){spelt}(?!\w)"
        for spelt in _spellings(figure)
    )
    return [TextSpan(*match.span()) for match in re.finditer(pattern, text, re.IGNORECASE)]


def _spellings(figure: str) -> tuple[str, ...]:
    """A small number in words and in digits: where a text has both, one may repeat the other."""
    plain = figure.casefold()
    if plain in NUMBERS:
        return plain, str(NUMBERS.index(plain) + SMALLEST)
    in_words = {str(number): word for number, word in enumerate(NUMBERS, SMALLEST)}
    return (plain, in_words[plain]) if plain in in_words else (plain,)


def _anywhere(carrier: Carrier, figure: str) -> bool:
    return any(_whole(figure, text) for text in (carrier.context, carrier.answer, carrier.task))


def _about(text: str, where: TextSpan) -> frozenset[str]:
    """How the telling words of the sentences at a place begin."""
    spans = [span for block in markdown_blocks(text) for span in spans_past_abbreviations(text, block)]
    held = (text[span.start : span.end] for span in spans if span.overlaps(where))
    return frozenset(word[:STEM] for piece in held for word in words(piece) if len(word) >= TELLING)


def _quad(carrier: Carrier, crossing: Crossing, rng: np.random.Generator) -> Iterator[Stimulus]:
    new = crossing.options[int(rng.integers(len(crossing.options)))]
    changed = _changed(carrier.answer, crossing.in_answer, new)
    contexts = carrier.context, _changed(carrier.context, crossing.in_context, new)
    first = int(rng.integers(2))
    pair = (carrier.answer, changed) if first == 0 else (changed, carrier.answer)
    name = f"{carrier.task_id}:{crossing.claim + 1}"
    for version, context, winner in zip(VERSIONS, contexts, (first, 1 - first), strict=True):
        yield Stimulus(
            task_id=f"{name}.{version}",
            task_family=carrier.task_id,
            task=carrier.prompt_with(context),
            candidates=pair,
            expectation=GivenWinner(winner),
            maker=MAKER,
            family=Family.CARRIER_FIGURES,
            delta=1.0,
            base=float(len(carrier.claims) - 1),
            quad=name,
            version=version,
        )


def _changed(text: str, where: TextSpan, new: str) -> str:
    return text[: where.start] + like(text[where.start : where.end], new) + text[where.end :]
