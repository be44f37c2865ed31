"""Pairs of answers: on the ladder, of equal quality, and with length or requirements set against each other."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import gcd

import numpy as np

from umpirical.domain.stimuli import Expectation, GivenWinner, NoPreference, Stimulus
from umpirical.stats.seeds import generator
from umpirical.stimuli.controlled.ladder.transforms import PLAIN, REWRITING, TRANSFORMS, equally_long, transformed
from umpirical.stimuli.controlled.tasks import Task, joined
from umpirical.stimuli.controlled.trivial import Balancer, Draw

MAKER = "ladder/3"

DRAWS = 10
"""How many wordings that make a pair equally long are drawn; one of them is used."""

FEW, MOST_DRAWS = 40, 400
"""After FEW draws any number of such wordings will do, and a transform that has changed none is given up; after
MOST_DRAWS without one that is equally long, the gate on lengths refuses."""

LENGTHS = {"+25%": 0.25, "+50%": 0.50, "+100%": 1.00}
"""Extra length by statements that nobody asked for, as a share of the statements of an answer."""

CONFLICTS = ("+25%", "+50%")
"""A lesser answer has no room for more beside a whole one: what is added is what the other version asks for, and is not
stated yet. Beside one that states what is asked and nothing else, it has room for FAR."""

FAR = {"+100%": 1, "+200%": 2}
"""How much longer the lesser answer is than one that states what is asked and nothing else, in statements."""

Wording = tuple[int, ...]
"""For each sentence slot, which of its forms (or fillers) is used."""


def bases(task: Task, delta: float) -> list[float]:
    """The levels a step can start from: whole ones for whole steps, so that whole requirements make the difference."""
    grain = 1 if delta == int(delta) else task.grain
    return [place / grain for place in range(int((len(task.requirements) - delta) * grain) + 1)]


def _stride(places: int) -> int:
    """A step that visits every place, low and high ones early: near the golden section, coprime to their number."""
    return next(size for size in range(max(1, round(0.618 * places)), places + 1) if gcd(size, places) == 1)


@dataclass(frozen=True)
class PairMaker:
    """Makes the pairs of one task."""

    task: Task
    index: int
    """The task's place in the set, which rotates chains, levels and transforms."""
    seed: int
    balancer: Balancer

    def equal(self, turn: int) -> Stimulus:
        """The same facts in other words, and under a transform: what differs is surface alone."""
        # Whole levels, all of which come up over the tasks: the pace is coprime to their number.
        level = (self.index + 5 * turn) % (len(self.task.requirements) + 1)
        present = facts_at(self.task, self.index, level)
        rng = generator(self.seed, "delta0", self.task.id, str(turn))
        pair, stratum = self._draw((present, present), rng, turn=turn, family="equal", step=0.0)
        return self._stimulus(pair, NoPreference(), "equal", stratum, delta=0.0, base=level)

    def step(self, delta: float, turn: int, *, rank: int) -> Stimulus:
        """A step of the ladder: the better answer states all that the lesser one states, and more.

        `rank` is how many pairs of this step the set has already. It decides where the step starts: the task's place
        would not do, as a step may come up in every second task only.
        """
        levels = bases(self.task, delta)
        base = levels[(rank * _stride(len(levels)) + rank // len(levels)) % len(levels)]
        lesser, better = (facts_at(self.task, self.index, level) for level in (base, base + delta))
        name = f"{delta:g} {turn}"
        rng = generator(self.seed, "ladder", self.task.id, name)
        pair, stratum = self._draw((better, lesser), rng, turn=turn + int(4 * delta), family="graded", step=delta)
        # The better content is u in half of the pairs, so that canonical order tells nothing either.
        winner = int(rng.integers(2))
        shown = pair if winner == 0 else pair[::-1]
        return self._stimulus(shown, GivenWinner(winner), "graded", stratum, delta=delta, base=base)

    def subset(self, turn: int) -> Stimulus:
        """Equal numbers of requirements are met, but not the same ones: u meets one of a pair of them, v the other."""
        places = list(combinations(range(len(self.task.requirements)), 2))
        one, other = places[(self.index + turn) % len(places)]
        rng = generator(self.seed, "subset", self.task.id, str(turn))
        facts = self._facts_of(one), self._facts_of(other)
        pair, _ = self._draw(facts, rng, turn=0, family="equal-subset", step=0.0, only=PLAIN)
        return self._stimulus(pair, NoPreference(), "equal-subset", f"{one + 1}-{other + 1}", delta=0.0, base=1)

    def length(self, turn: int, *, rank: int) -> Stimulus:
        """The same facts, and statements that nobody asked for added to u. `rank`: such pairs the set has already."""
        stratum = list(LENGTHS)[rank % len(LENGTHS)]
        level = self._roomy(LENGTHS[stratum], rank, len(self.task.requirements))
        present = facts_at(self.task, self.index, level)
        rng = generator(self.seed, "length", self.task.id, str(turn))
        pair = self._padded(present, present, LENGTHS[stratum], rng)
        return self._stimulus(pair, NoPreference(), "length", stratum, delta=0.0, base=level)

    def conflict(self, turn: int, *, rank: int) -> Stimulus:
        """Better against longer: a states one requirement more, b is padded. `rank` as in `length`."""
        stratum = CONFLICTS[rank % len(CONFLICTS)]
        base = self._roomy(LENGTHS[stratum], rank // len(CONFLICTS), len(self.task.requirements) - 1)
        lesser, better = (facts_at(self.task, self.index, level) for level in (base, base + 1))
        rng = generator(self.seed, "conflict", self.task.id, str(turn))
        longer, shorter = self._padded(lesser, better, LENGTHS[stratum], rng)
        return self._stimulus((shorter, longer), GivenWinner(0), "conflict", stratum, delta=1.0, base=base)

    def far(self, amount: str, turn: int, *, rank: int) -> Stimulus:
        """Better against much longer: a states what is asked and nothing else, b less of that and much besides."""
        levels = self._far_levels(amount)
        # A lesser answer that meets nothing at all is for tasks that have no room for another.
        base = levels[1:][rank % (len(levels) - 1)] if len(levels) > 1 else levels[0]
        lesser, better = (facts_at(self.task, self.index, level) for level in (base, base + 1))
        rng = generator(self.seed, "far", self.task.id, f"{amount} {turn}")
        wording = random_wording(self.task, rng)
        longer, shorter = self._stated(lesser, wording), self._stated(better, reworded(self.task, wording, rng))
        added = (1 + FAR[amount]) * len(shorter) - len(longer)
        longer = self._with_fillers(longer, rng.permutation(len(self.task.facts))[:added], rng)
        shown = self._joined(shorter), self._joined(longer)
        return self._stimulus(shown, GivenWinner(0), "conflict", amount, delta=1.0, base=base)

    def has_room(self, amount: str) -> bool:
        """Whether the task has enough statements for an answer of that length."""
        return bool(self._far_levels(amount))

    def _far_levels(self, amount: str) -> list[int]:
        """The levels that the lesser answer can have: every filler is used at most once."""
        size, extra = len(self.task.requirements), FAR[amount]
        return [level for level in range(size) if (1 + extra) * (level + 1) - level <= size]

    def _roomy(self, extra: float, rank: int, top: int) -> int:
        """A level from which an answer can be padded: a slot that states a fact has room for its filler too."""
        least = min(top, -(-self._extra(extra) // self.task.grain))
        return least + rank % (top - least + 1)

    def _extra(self, extra: float) -> int:
        return round(extra * len(self.task.facts))

    def answer(self, level: float, turn: int) -> str:
        """One answer alone."""
        rng = generator(self.seed, "answer", self.task.id, str(turn))
        return self._joined(self._sentences(facts_at(self.task, self.index, level), random_wording(self.task, rng)))

    def _draw(
        self,
        facts: tuple[Collection[int], Collection[int]],
        rng: np.random.Generator,
        *,
        turn: int,
        family: str,
        step: float,
        only: str | None = None,
    ) -> tuple[Draw, str]:
        """Two answers with these facts. They differ in wording in every sentence, whatever they state.

        The surface comes from one distribution at every step, equal quality included, so that "anything differs" tells
        nothing about quality. One of the two, by a coin, is transformed besides.
        """
        names = list(TRANSFORMS)
        stratum = only or names[(self.index + turn) % len(names)]
        even: list[Draw] = []
        uneven: list[Draw] = []
        drawn = 0
        while len(even) < DRAWS and drawn < (FEW if even else MOST_DRAWS):
            if drawn >= FEW and not (even or uneven):
                # A transform that finds nothing to change passes its turn to the next.
                stratum, drawn = names[(names.index(stratum) + 1) % len(names)], 0
            drawn += 1
            wording = random_wording(self.task, rng)
            wordings = (wording, reworded(self.task, wording, rng))
            texts = [self._sentences(*side) for side in zip(facts, wordings, strict=True)]
            changed = int(rng.integers(2))
            text = self._transformed(texts[changed], facts[changed], stratum, rng)
            if text is not None:
                whole = [text if place == changed else self._joined(texts[place]) for place in (0, 1)]
                (even if equally_long(whole[0], whole[1], self.task.layout) else uneven).append((whole[0], whole[1]))
        draws = even or uneven
        return draws[self.balancer.choose(self.task.prompt, draws, family=family, step=step)], stratum

    def _transformed(
        self, sentences: list[str], present: Collection[int], stratum: str, rng: np.random.Generator
    ) -> str | None:
        """The answer under a transform, unless that changes nothing, or something that a checker looks for."""
        text = transformed(sentences, stratum, rng, self.task.layout)
        if text is None or (stratum in REWRITING and self.task.level(text) != len(present) / self.task.grain):
            return None
        return text

    def _padded(
        self, long: Collection[int], short: Collection[int], extra: float, rng: np.random.Generator
    ) -> tuple[str, str]:
        """Two answers, the first with fillers put in between: of facts that it states, so that none comes twice."""
        wording = random_wording(self.task, rng)
        sentences, other = self._sentences(long, wording), self._sentences(short, reworded(self.task, wording, rng))
        slots = rng.permutation(sorted(long))[: self._extra(extra)]
        return self._joined(self._with_fillers(sentences, slots, rng)), self._joined(other)

    def _with_fillers(self, sentences: list[str], slots: Iterable[int], rng: np.random.Generator) -> list[str]:
        """The same with a filler of each slot put in between."""
        padded = list(sentences)
        for slot in slots:
            fillers = self.task.facts[slot].fillers
            padded.insert(int(rng.integers(len(padded) + 1)), fillers[int(rng.integers(len(fillers)))])
        return padded

    def _stated(self, present: Collection[int], wording: Sequence[int]) -> list[str]:
        """The facts of an answer in the order they stand in it, and no fillers."""
        forms = {fact.forms[wording[slot]] for slot, fact in enumerate(self.task.facts) if slot in present}
        return [text for text in self._sentences(present, wording) if text in forms]

    def _joined(self, sentences: list[str]) -> str:
        return joined(sentences, self.task.layout)

    def _sentences(self, present: Collection[int], wording: Sequence[int]) -> list[str]:
        return slot_sentences(self.task, self.index, present, tuple(wording))

    def _facts_of(self, requirement: int) -> frozenset[int]:
        grain = self.task.grain
        return frozenset(range(requirement * grain, (requirement + 1) * grain))

    def _stimulus(
        self,
        pair: tuple[str, str],
        expectation: Expectation,
        family: str,
        stratum: str,
        *,
        delta: float,
        base: float,
    ) -> Stimulus:
        return Stimulus(
            task_id=self.task.id,
            task_family=self.task.family,
            version=self.task.version,
            task=self.task.prompt,
            candidates=pair,
            expectation=expectation,
            maker=MAKER,
            family=family,
            stratum=stratum,
            delta=float(delta),
            base=float(base),
            parts=self.task.parts,
        )


# Answers: every answer has the same sentence slots, filled with facts or with fillers.


def chain(task: Task, index: int) -> list[int]:
    """The order in which facts come in as the level rises, requirement by requirement.

    Requirements follow a row of a cyclic Latin square, chosen by the task's index, and the facts of each are rotated
    too, so that over the tasks nothing is always the one thing that makes the difference.
    """
    grain, size = task.grain, len(task.requirements)
    requirements = [(index + step) % size for step in range(size)]
    return [number * grain + (index + step) % grain for number in requirements for step in range(grain)]


def facts_at(task: Task, index: int, level: float) -> frozenset[int]:
    """The facts of an answer that meets the first `level` requirements of the chain."""
    return frozenset(chain(task, index)[: round(level * task.grain)])


def random_wording(task: Task, rng: np.random.Generator) -> Wording:
    return tuple(rng.integers(task.wordings).tolist())


def reworded(task: Task, wording: Wording, rng: np.random.Generator) -> Wording:
    """Another wording in every slot that has another. The gate on tasks makes sure that each has."""
    return tuple(((np.array(wording) + rng.integers(1, np.maximum(task.wordings, 2))) % task.wordings).tolist())


def slot_sentences(task: Task, index: int, present: Collection[int], wording: Wording) -> list[str]:
    """The sentences of an answer that states the facts `present`, in the order they stand in it."""
    chosen = [
        (fact.forms if number in present else fact.fillers)[which]
        for number, (fact, which) in enumerate(zip(task.facts, wording, strict=True))
    ]
    # Positions of sentences are rotated at another pace than the chain, so that position does not stand for rank.
    turn = (7 * index + index // len(task.requirements)) % len(chosen)
    return chosen[turn:] + chosen[:turn]
