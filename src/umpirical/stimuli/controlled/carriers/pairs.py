"""Pairs made of carriers: an answer and itself with claims edited, or in another layout.

Every carrier is used, with at most nine pairs: up to three in which one, two or three claims are deleted, up to three
in which one, two or three are corrupted, and one for each layout. An answer that does not allow for them has fewer.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from umpirical.domain.stimuli import Expectation, GivenWinner, NoPreference, Stimulus
from umpirical.stats.seeds import generator
from umpirical.stimuli.controlled.carriers.carrier import Carrier
from umpirical.stimuli.controlled.carriers.checks import (
    check_carriers,
    corruption_problem,
    deletion_problem,
    layout_problem,
    lost_claims,
)
from umpirical.stimuli.controlled.carriers.corruption import corrupted, corruptible
from umpirical.stimuli.controlled.carriers.deletion import deletable, without
from umpirical.stimuli.controlled.carriers.layouts import LAYOUTS, laid_out
from umpirical.text.sentences import locate

MAKER = "carriers/1"

EDITS = ("deleted", "corrupted")

MOST_EDITED = 3
"""The most claims that are edited: a judge that misses three would miss more."""


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
        for claims in _growing(carrier, edit, rng):
            text = _deleted(carrier, claims) if edit == "deleted" else _corrupted(carrier, claims, rng)
            winner = int(rng.integers(2))
            if text is not None:
                yield _stimulus(carrier, text, edit, GivenWinner(winner), turned=winner == 1, lost=len(claims))


def _layout_pairs(carrier: Carrier, seed: int) -> Iterator[Stimulus]:
    for name in LAYOUTS:
        rng = generator(seed, "carrier", carrier.id, name)
        text = laid_out(carrier.answer, name, rng)
        # A layout that a program cannot confirm as one, as in odd Markdown, is not used.
        if text is not None and not layout_problem(carrier.answer, text) and not lost_claims(carrier, text):
            yield _stimulus(carrier, text, name, NoPreference(), turned=bool(rng.integers(2)))


def _growing(carrier: Carrier, edit: str, rng: np.random.Generator) -> Iterator[tuple[int, ...]]:
    """One claim, then that and another, and so on; claims of one sentence are deleted together."""
    if edit == "deleted":
        groups = deletable(carrier.answer, carrier.claims)
    else:
        groups = [(place,) for place, claim in enumerate(carrier.claims) if corruptible(claim)]
    chosen: tuple[int, ...] = ()
    for place in rng.permutation(len(groups)):
        if len(chosen) + len(groups[place]) <= MOST_EDITED:
            chosen += groups[place]
            yield chosen


def _deleted(carrier: Carrier, claims: Sequence[int]) -> str | None:
    text = without(carrier.answer, [carrier.claims[place] for place in claims])
    return None if deletion_problem(carrier, text) or len(lost_claims(carrier, text)) != len(claims) else text


def _corrupted(carrier: Carrier, claims: Sequence[int], rng: np.random.Generator) -> str | None:
    text = carrier.answer
    for place in claims:
        [span] = locate(text, carrier.claims[place])
        text = text[: span.start] + corrupted(text[span.start : span.end], rng) + text[span.end :]
    return None if corruption_problem(carrier, text) or len(lost_claims(carrier, text)) != len(claims) else text


def _stimulus(  # the fields of a stimulus
    carrier: Carrier, text: str, stratum: str, expectation: Expectation, *, turned: bool, lost: int = 0
) -> Stimulus:
    pair = (text, carrier.answer) if turned else (carrier.answer, text)
    return Stimulus(
        task_id=carrier.task_id,
        task=carrier.prompt,
        candidates=pair,
        expectation=expectation,
        maker=MAKER,
        family="carrier-ladder" if lost else "carrier-delta0",
        stratum=stratum,
        delta=float(lost),
        base=float(len(carrier.claims) - lost),
    )
