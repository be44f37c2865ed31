"""Quads: two texts, each shown under both versions of a task, and each the better one under one of them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.stimuli import Family, GivenWinner, Stimulus
from umpirical.stats.seeds import generator
from umpirical.stimuli.controlled.ladder.balance import Draw
from umpirical.stimuli.controlled.ladder.pairs import Wording, chain, slot_sentences, wording_choices
from umpirical.stimuli.controlled.ladder.requests import MATCHERS
from umpirical.stimuli.controlled.ladder.transforms import TRANSFORMS, transformed
from umpirical.stimuli.controlled.layouts import joined
from umpirical.stimuli.controlled.lengths import equally_long, length_gaps, sentence_lengths
from umpirical.stimuli.controlled.tasks import Task, Twin

__all__ = ["MAKER", "QuadMaker", "RequestBalance"]

MAKER = "quads/1"

DRAWS, MOST_DRAWS = 24, 800
"""How many draws one is chosen from, and from how many these are taken, as those that are most equally long."""

FAMILIES = {"asked": Family.LADDER, "figures": Family.FIGURES}


class RequestBalance:
    """Chooses the draw that best evens out how often matching words with the request has told the better text.

    Minimisation (Pocock and Simon, Biometrics 31, 1975), over the whole ladder and at each step. What matching says of
    a quad is the sum over its versions, as the texts are the same under both.
    """

    def __init__(self) -> None:
        self._leads: defaultdict[object, list[int]] = defaultdict(lambda: [0] * len(MATCHERS))

    def choose(self, twin: Twin, draws: Sequence[Draw], *, step: float) -> Draw:
        a, b = twin.versions
        told = [[judge(a, *draw) - judge(b, *draw) for judge in MATCHERS.values()] for draw in draws]
        kept = [self._leads[twin.kind], self._leads[twin.kind, step]]

        def imbalance(place: int) -> int:
            return sum((now + new) ** 2 for leads in kept for now, new in zip(leads, told[place], strict=True))

        best = min(range(len(draws)), key=imbalance)
        for leads in kept:
            leads[:] = [now + new for now, new in zip(leads, told[best], strict=True)]
        return draws[best]


@dataclass(frozen=True)
class QuadMaker:
    """Makes the quads of one twin."""

    twin: Twin
    index: int
    """The twin's place in the set, which rotates chains, levels and transforms."""
    seed: int
    balance: RequestBalance

    @property
    def top(self) -> int:
        """The largest step."""
        return len(self.twin.versions[0].requirements)

    def quad(self, delta: float, turn: int, *, rank: int) -> Iterator[Stimulus]:
        """The two stimuli of a quad. `rank` is how many quads of this step the set has, and decides where it starts."""
        a, b = self.twin.versions
        base = self._base(a, delta, rank)
        name = f"{self.twin.id} {delta:g} {turn}"
        rng = generator(self.seed, "quad", self.twin.kind, name)
        pair, stratum = self._draw(a, base, delta, rng, rank)
        # The text that is better under the first version is u in half of the quads.
        first = int(rng.integers(2))
        shown = pair if first == 0 else pair[::-1]
        levels = (base, self.top - base - delta)
        for task, winner, level in zip((a, b), (first, 1 - first), levels, strict=True):
            yield Stimulus(
                task_id=task.id,
                task_family=task.family,
                task=task.prompt,
                candidates=shown,
                expectation=GivenWinner(winner),
                maker=MAKER,
                family=FAMILIES[self.twin.kind],
                stratum=stratum,
                delta=float(delta),
                base=float(level),
                quad=name,
                version=task.version,
            )

    def _base(self, task: Task, delta: float, rank: int) -> float:
        """Where a step starts: whole levels for whole steps, low and high ones in turn."""
        grain = 1 if delta == int(delta) else task.grain
        places = int((self.top - delta) * grain) + 1
        return (rank * 2 + rank // places) % places / grain

    def _draw(self, task: Task, base: float, delta: float, rng: np.random.Generator, rank: int) -> tuple[Draw, str]:
        """Two texts worded differently in every slot, the first better under the first version. One is transformed."""
        order = chain(task, self.index)
        more, less = (frozenset(order[: round(level * task.grain)]) for level in (base + delta, base))
        wordings = self._wordings(more, less, rng)
        names = list(TRANSFORMS)
        start = rank + int(2 * delta)
        for place in range(len(names)):
            # A transform that finds nothing to change passes its turn to the next.
            stratum = names[(start + place) % len(names)]
            draws = [pair for pair in (self._pair(more, less, two, stratum, rng) for two in wordings) if pair]
            even = [pair for pair in draws if equally_long(*pair, task.layout)]
            if draws:
                return self.balance.choose(self.twin, even or draws, step=delta), stratum
        raise AssertionError("wording alone always changes something")

    def _wordings(
        self, more: frozenset[int], less: frozenset[int], rng: np.random.Generator
    ) -> list[tuple[Wording, Wording]]:
        """The most equally long of many pairs of wordings that differ in every slot."""
        task = self.twin.versions[0]
        choices = wording_choices(task)
        first = rng.integers(choices, size=(MOST_DRAWS, len(choices)))
        second = (first + rng.integers(1, np.maximum(choices, 2), size=first.shape)) % choices
        lengths = [
            _form_lengths(task, slots)[np.arange(len(choices)), wording]
            for slots, wording in ((more, first), (less, second))
        ]
        gaps = length_gaps(lengths[0].sum(axis=1), lengths[1].sum(axis=1), task.layout)
        kept = np.argsort(gaps, kind="stable")[:DRAWS]
        return [(tuple(first[n].tolist()), tuple(second[n].tolist())) for n in kept]

    def _pair(
        self,
        more: frozenset[int],
        less: frozenset[int],
        wordings: tuple[Wording, Wording],
        stratum: str,
        rng: np.random.Generator,
    ) -> Draw | None:
        """Two texts, one of them transformed. None if there is nothing to transform, or if that hides a fact."""
        task = self.twin.versions[0]
        sides = zip((more, less), wordings, strict=True)
        texts = [slot_sentences(task, self.index, facts, wording) for facts, wording in sides]
        changed = int(rng.integers(2))
        text = transformed(texts[changed], stratum, rng, task.layout)
        if text is None:
            return None
        whole = [text if place == changed else joined(texts[place], task.layout) for place in (0, 1)]
        pair = whole[0], whole[1]
        return pair if self._as_made(pair, more, less) else None

    def _as_made(self, pair: Draw, more: frozenset[int], less: frozenset[int]) -> bool:
        """Whether the checkers find what was meant, under both versions."""
        a, b = self.twin.versions
        slots = frozenset(range(len(a.facts)))
        return [a.stated(text) for text in pair] == [more, less] and [b.stated(text) for text in pair] == [
            slots - more,
            slots - less,
        ]


def _form_lengths(task: Task, present: frozenset[int]) -> NDArray[np.int64]:
    """By slot and wording, the length of the statement in it, by each way to count."""
    most = int(max(wording_choices(task)))
    rows = []
    for number, fact in enumerate(task.facts):
        texts = fact.forms if number in present else fact.fillers
        rows.append([sentence_lengths(texts[which % len(texts)]) for which in range(most)])
    return np.array(rows)
