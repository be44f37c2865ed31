"""Quads made of carriers: a figure is changed in the context and in the answer, and either answer is right under one.

A judge that does not read the context names the same text under both, and is right exactly as often as a coin. A figure
is used only where it can be nothing but the same thing in both places: it stands once in the context, once in the
answer and not in the task, and the two sentences share a word.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from umpirical.domain.stimuli import Family, GateResult, GivenWinner, NoPreference, Stimulus
from umpirical.stats.seeds import generator
from umpirical.stimuli.controlled.carriers.carrier import (
    NUMBERS,
    Carrier,
    check_carriers,
    corruption_problem,
    crossing_problem,
    deletion_problem,
    figure_sites,
    layout_problem,
    like,
    lost_facts,
)
from umpirical.stimuli.controlled.gates import quads_of, result
from umpirical.text.blocks import TextSpan, markdown_blocks
from umpirical.text.sentences import locate, spans_past_abbreviations
from umpirical.text.words import words

MAKER = "carrier-quads/1"

MOST_CROSSED = 3
"""The most facts of a carrier that are crossed, each in a quad of its own, so that no carrier outweighs the others."""

VERSIONS = ("P", "Q")
"""The context as it is, and the context with the figure changed."""

TELLING, STEM = 4, 5
"""Words of fewer letters tell nothing of what a sentence is about; of longer ones the beginning does."""

SMALLEST = 2
"""The first of the numbers in words."""


class Crossing(NamedTuple):
    """A figure that the context and a fact have in common, and what it can be changed into in both."""

    fact: int
    """The place of the fact among those of the carrier."""
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
            by_claim.setdefault(crossing.fact, []).append(crossing)
        chosen = [*by_claim.values()]
        for place in rng.permutation(len(chosen))[:MOST_CROSSED]:
            yield from _quad(carrier, chosen[place][int(rng.integers(len(chosen[place])))], rng)


def crossings(carrier: Carrier) -> Iterator[Crossing]:
    """The figures of its facts that can be changed in the context too."""
    for place, fact in enumerate(carrier.facts):
        [span] = locate(carrier.answer, fact)
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
    name = f"{carrier.task_id}:{crossing.fact + 1}"
    for version, context, winner in zip(VERSIONS, contexts, (first, 1 - first), strict=True):
        yield Stimulus(
            task_id=f"{name}.{version}",
            task_family=carrier.task_id,
            task=carrier.prompt_with(context),
            candidates=pair,
            expectation=GivenWinner(winner),
            maker=MAKER,
            family=Family.OWN_FIGURES,
            delta=1.0,
            base=float(len(carrier.facts) - 1),
            crossed_pair=name,
            version=version,
        )


def _changed(text: str, where: TextSpan, new: str) -> str:
    return text[: where.start] + like(text[where.start : where.end], new) + text[where.end :]


# The gate on carriers: the facts are where they should be, and every edit is what it says.


ALLOWED = (
    "each fact once in its answer; each edit changes its facts and nothing else; each layout keeps the words; "
    "each crossed pair shows the same texts under two contexts, with one figure changed in both"
)


def carriers_checked(carriers: Sequence[Carrier], stimuli: Sequence[Stimulus], again: Iterable[Stimulus]) -> GateResult:
    """Every fact occurs once, every edited answer lacks or contradicts exactly its facts, every layout keeps all.

    In a quad, either text is the better one under one of two contexts. `again` builds everything a second time, which
    must give the same.
    """
    by_id = {carrier.task_id: carrier for carrier in carriers}
    pairs = [stimulus for stimulus in stimuli if stimulus.family != Family.OWN_FIGURES]
    quads = dict(quads_of([stimulus for stimulus in stimuli if stimulus.family == Family.OWN_FIGURES]))
    problems = [*check_carriers(carriers), *_check_stimuli(by_id, pairs), *_check_quads(by_id, quads)]
    if len(pairs) + sum(map(len, quads.values())) != len(stimuli):
        problems.append("a test case does not name its crossed pair")
    if [stimulus.id for stimulus in again] != [stimulus.id for stimulus in stimuli]:
        problems.append("building the pairs again gives other pairs")
    facts = sum(len(carrier.facts) for carrier in carriers)
    looked_at = f"{len(carriers)} answers, {facts} facts, {len(pairs)} pairs, {len(quads)} crossed pairs"
    return result("carriers-checked", problems, looked_at, ALLOWED)


def _check_stimuli(carriers: Mapping[str, Carrier], stimuli: Iterable[Stimulus]) -> Iterator[str]:
    for stimulus in stimuli:
        carrier = carriers.get(stimulus.task_id)
        problem = _problem(carrier, stimulus) if carrier else "its answer is missing"
        if problem:
            yield f"test case {stimulus.id} ({stimulus.task_id}, {stimulus.stratum}): {problem}"


def _problem(carrier: Carrier, stimulus: Stimulus) -> str:
    if stimulus.task != carrier.prompt or carrier.answer not in stimulus.candidates:
        return "it does not show its answer"
    own = stimulus.candidates.index(carrier.answer)
    text = stimulus.candidates[1 - own]
    lost = len(lost_facts(carrier, text))
    if (stimulus.delta, stimulus.base) != (lost, len(carrier.facts) - lost):
        return f"it lacks {lost} facts, not {stimulus.delta:g}"
    match stimulus.family, stimulus.expectation:
        case "own-equal", NoPreference():
            return layout_problem(carrier.answer, text)
        case "own-graded", GivenWinner(candidate=winner) if winner == own and lost:
            check = deletion_problem if stimulus.stratum == "deleted" else corruption_problem
            return check(carrier, text)
        case _:
            return "its expected verdict does not fit its family"


def _check_quads(carriers: Mapping[str, Carrier], quads: Mapping[str, Sequence[Stimulus]]) -> Iterator[str]:
    for name, members in quads.items():
        carrier = carriers.get(members[0].task_family)
        problem = _quad_problem(carrier, members) if carrier else "its answer is missing"
        if problem:
            yield f"crossed pair {name}: {problem}"


def _quad_problem(carrier: Carrier, members: Sequence[Stimulus]) -> str:
    if tuple(stimulus.version for stimulus in members) != VERSIONS:
        return "it does not show two versions"
    one, other = members
    if one.candidates != other.candidates:
        return "the texts differ between the versions"
    if one.task != carrier.prompt or carrier.answer not in one.candidates or not other.task.endswith(carrier.task):
        return "it does not show its answer"
    own = one.candidates.index(carrier.answer)
    if [one.expectation, other.expectation] != [GivenWinner(own), GivenWinner(1 - own)]:
        return "the winner is not the text that agrees with the context"
    if {(s.delta, s.base, s.task_family) for s in members} != {(1.0, len(carrier.facts) - 1.0, carrier.task_id)}:
        return "it is not one fact that differs"
    return crossing_problem(carrier, other.task.removesuffix(f"\n\n{carrier.task}"), one.candidates[1 - own])
