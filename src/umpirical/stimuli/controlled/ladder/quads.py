"""Quads: two texts, each shown under both versions of a task, and each the better one under one of them.

One quad from start to end: the twin jam-batch.plums, a step of 2, rank 1. Both versions ask for 5 requirements, each of
2 facts, so a text has 10 slots. A slot states a fact of version A or, in its place, the fact of version B:

    slot 4    A asks when to sweeten: "At 09:25, tip the sugar into the pan with the plums."
              B asks how often to stir: "Stir the sweetened plums six times before they are quite done."

1. `_base`: the step starts at level 2, so the texts meet 4 and 2 requirements of A.
2. `_draw`: by the order of the chain, the first text states A's facts in slots 0 to 7 (`more`), the second in slots 0
   to 3 (`less`). Their other slots state B's facts: 2 slots and 6 slots, which are 1 and 3 requirements of B.
3. `_wordings` draws 800 pairs of wordings that differ in every slot, and keeps the most equally long.
   `RequestBalance` ranks those: whoever only matches words with the request is to win nothing over the whole set.
4. `_first_even` takes the first of them that is still equally long after the transform `register` of one text, and in
   which the checkers find just these facts.
5. `quad`: a coin shows the first text as v. Two stimuli come out, with the same texts:

    version A    v wins, 4 to 2    base 2, delta 2
    version B    u wins, 3 to 1    base 1, delta 2
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.stimuli import Family, GivenWinner, Stimulus
from umpirical.stats.seeds import generator
from umpirical.stimuli.controlled.ladder.pairs import Wording, chain, slot_sentences
from umpirical.stimuli.controlled.ladder.requests import MATCHERS, MatchTable
from umpirical.stimuli.controlled.ladder.transforms import (
    PLAIN,
    TRANSFORMS,
    equally_long,
    length_gaps,
    sentence_lengths,
    transformed,
)
from umpirical.stimuli.controlled.tasks import PROSE, Kind, Task, Twin, joined, member
from umpirical.stimuli.controlled.trivial import Draw

MAKER = "quads/1"

MOST_DRAWS = 800
"""How many pairs of wordings are drawn."""

FEW, MANY = 24, 200
"""How many of them one is chosen from: all that are equally long, up to the larger number, and the most equally long
up to the smaller one."""

FAMILIES = {"asked": Family.GRADED, "figures": Family.FIGURES}


class RequestBalance:
    """Chooses the draw that best evens out how often matching words with the request has told the better text.

    Minimisation (Pocock and Simon, Biometrics 31, 1975), over the whole ladder and at each step. What matching says of
    a quad is the sum over its versions, as the texts are the same under both.
    """

    def __init__(self) -> None:
        self._leads: defaultdict[object, list[int]] = defaultdict(lambda: [0] * len(MATCHERS))

    def ranked(self, kind: Kind, step: float, told: NDArray[np.int64]) -> list[int]:
        """The places of draws, best first. `told` is what each matcher says of each, summed over the versions."""
        leads = [np.array(self._leads[key]) for key in _parts(kind, step)]
        imbalance = sum(((lead + told) ** 2).sum(axis=1) for lead in leads)
        return list(map(int, np.argsort(imbalance, kind="stable")))

    def add(self, kind: Kind, step: float, told: Sequence[int]) -> None:
        """Takes a draw into the count."""
        for key in _parts(kind, step):
            self._leads[key] = [now + new for now, new in zip(self._leads[key], told, strict=True)]


def _parts(kind: Kind, step: float) -> tuple[object, object]:
    return kind, (kind, step)


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
                crossed_pair=name,
                version=task.version,
                parts=task.parts,
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
        first, second = self._wordings(more, less, rng)
        told = self._told(more, less, first, second)
        ranked = self.balance.ranked(self.twin.kind, delta, told)
        names = list(TRANSFORMS)
        start = rank + int(2 * delta)
        for place in range(len(names)):
            # A transform that finds nothing to change passes its turn to the next.
            stratum = names[(start + place) % len(names)]
            wordings = ((tuple(first[n].tolist()), tuple(second[n].tolist())) for n in ranked)
            if chosen := self._first_even(more, less, wordings, stratum, rng):
                self._count(chosen, delta)
                return chosen, stratum
        # The checkers find in none of them what was meant: the task is not sound, and the gates say so.
        texts = self._texts(more, less, (tuple(first[ranked[0]].tolist()), tuple(second[ranked[0]].tolist())))
        return (joined(texts[0], task.layout), joined(texts[1], task.layout)), PLAIN

    def _first_even(
        self,
        more: frozenset[int],
        less: frozenset[int],
        wordings: Iterable[tuple[Wording, Wording]],
        stratum: str,
        rng: np.random.Generator,
    ) -> Draw | None:
        """The first pair that can be made and is equally long; the first that can be made, if none is.

        A transform that changes none of the first few pairs is given up, as it is where equal pairs are made.
        """
        first: Draw | None = None
        for tried, two in enumerate(wordings):
            if first is None and tried == FEW:
                return None
            if pair := self._pair(more, less, two, stratum, rng):
                if equally_long(*pair, self._first.layout):
                    return pair
                first = first or pair
        return first

    def _told(self, more: frozenset[int], less: frozenset[int], *wordings: NDArray[np.int64]) -> NDArray[np.int64]:
        """What each matcher says of each pair of wordings: under the first version, less what it says under the other.

        The texts are taken as they are before a transform, which seldom matters to a matcher.
        """
        slots, choices = np.arange(len(self._first.facts)), int(max(self._first.wordings))
        first, second = (
            (2 * slots + np.array([slot not in present for slot in slots])) * choices + worded
            for present, worded in zip((more, less), wordings, strict=True)
        )
        a, b = self._table.told(self.twin.versions, first, second)
        return a - b

    @cached_property
    def _table(self) -> MatchTable:
        """Statements are numbered by slot, then by whether they state its fact, then by wording."""
        rows = [text for slot in self._statements for texts in slot for text in texts]
        return MatchTable(rows if self._first.layout == PROSE else list(map(member, rows)))

    @cached_property
    def _lengths(self) -> NDArray[np.int64]:
        """By slot, by whether its fact is absent, and by wording: the length of the statement, by each way to count."""
        return np.array([[[*map(sentence_lengths, texts)] for texts in slot] for slot in self._statements])

    @property
    def _statements(self) -> Iterator[tuple[list[str], list[str]]]:
        """For each slot, the statements of its fact and those that stand in for it, as many for every slot."""
        choices = range(int(max(self._first.wordings)))
        for fact in self._first.facts:
            forms, fillers = ([texts[n % len(texts)] for n in choices] for texts in (fact.forms, fact.fillers))
            yield forms, fillers

    def _count(self, pair: Draw, delta: float) -> None:
        a, b = self.twin.versions
        told = [matcher(a, *pair) - matcher(b, *pair) for matcher in MATCHERS.values()]
        self.balance.add(self.twin.kind, delta, told)

    @property
    def _first(self) -> Task:
        return self.twin.versions[0]

    def _wordings(
        self, more: frozenset[int], less: frozenset[int], rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The most equally long of many pairs of wordings that differ in every slot: the ones, and the others."""
        choices = self._first.wordings
        first = rng.integers(choices, size=(MOST_DRAWS, len(choices)))
        second = (first + rng.integers(1, np.maximum(choices, 2), size=first.shape)) % choices
        slots = np.arange(len(choices))
        lengths = [
            self._lengths[slots, [int(slot not in present) for slot in slots], worded].sum(axis=1)
            for present, worded in ((more, first), (less, second))
        ]
        gaps = length_gaps(lengths[0], lengths[1], self._first.layout)
        count = max(FEW, min(MANY, int((gaps == 0).sum())))
        kept = np.argsort(gaps, kind="stable")[:count]
        return first[kept], second[kept]

    def _pair(
        self,
        more: frozenset[int],
        less: frozenset[int],
        wordings: tuple[Wording, Wording],
        stratum: str,
        rng: np.random.Generator,
    ) -> Draw | None:
        """Two texts, one of them transformed. None if there is nothing to transform, or if that hides a fact."""
        task, texts = self._first, self._texts(more, less, wordings)
        changed = int(rng.integers(2))
        text = transformed(texts[changed], stratum, rng, task.layout)
        if text is None:
            return None
        whole = [text if place == changed else joined(texts[place], task.layout) for place in (0, 1)]
        pair = whole[0], whole[1]
        return pair if self._as_made(pair, more, less) else None

    def _texts(self, more: frozenset[int], less: frozenset[int], wordings: tuple[Wording, Wording]) -> list[list[str]]:
        """The statements of the two texts."""
        sides = zip((more, less), wordings, strict=True)
        return [slot_sentences(self._first, self.index, facts, wording) for facts, wording in sides]

    def _as_made(self, pair: Draw, more: frozenset[int], less: frozenset[int]) -> bool:
        """Whether the checkers find what was meant, under both versions."""
        a, b = self.twin.versions
        slots = frozenset(range(len(a.facts)))
        return [a.stated(text) for text in pair] == [more, less] and [b.stated(text) for text in pair] == [
            slots - more,
            slots - less,
        ]
