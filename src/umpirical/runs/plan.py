"""The plan of a run: every trial, on disk, before anything is asked."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.digests import Json
from umpirical.domain.scales import JudgeKind
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import Order, Presentation, Presented, Trial
from umpirical.judges.judge import Capabilities, Judge, Request, prompt_id, trial_id
from umpirical.store.runs import RunStore
from umpirical.store.stimulus_sets import StimulusSet


class _Level(NamedTuple):
    """Questions in the order of the first half of their ids."""

    first: NDArray[np.uint64]
    second: NDArray[np.uint64]
    shard: NDArray[np.int32]


class FirstAsked:
    """The questions of all shards so far, as sorted arrays, each about twice as long as the next."""

    def __init__(self) -> None:
        self._levels: list[_Level] = []

    def add(self, trial_ids: Iterable[str], shard: int) -> dict[str, int]:
        """Adds the questions of a shard, and returns for each the first shard that has it."""
        ids = list(dict.fromkeys(trial_ids))
        if not ids:
            return {}
        halves = np.frombuffer(bytes.fromhex("".join(ids)), dtype=">u8").astype(np.uint64).reshape(-1, 2)
        first, second = halves[:, 0], halves[:, 1]
        shards = np.full(len(ids), shard, dtype=np.int32)
        for level in self._levels:
            _look_up(level, first, second, shards)
        is_new = shards == shard
        self._keep(_Level(first[is_new], second[is_new], shards[is_new]))
        return dict(zip(ids, shards.tolist(), strict=True))

    def _keep(self, new: _Level) -> None:
        """Joins levels of similar length, so that there are few of them and each question is sorted few times."""
        joined = [new]
        while self._levels and len(self._levels[-1].first) <= 2 * sum(len(level.first) for level in joined):
            joined.append(self._levels.pop())
        first, second, shard = (np.concatenate(column) for column in zip(*joined, strict=True))
        order = np.argsort(first, kind="stable")
        self._levels.append(_Level(first[order], second[order], shard[order]))


def _look_up(level: _Level, first: NDArray[np.uint64], second: NDArray[np.uint64], shards: NDArray[np.int32]) -> None:
    """Writes the shard of every id that a level has. Ids may share their first half: then the next place is tried."""
    at = np.searchsorted(level.first, first)
    left = np.arange(len(first))
    while len(left):
        left = left[at[left] < len(level.first)]
        left = left[level.first[at[left]] == first[left]]
        found = level.second[at[left]] == second[left]
        shards[left[found]] = level.shard[at[left[found]]]
        left = left[~found]
        at[left] += 1


SHARD_SIZE = 2000
"""Trials per shard, the unit that is sealed at once and given to one worker."""

WHOLE = 1_000_000
"""The same for a round, which is one shard: the number of shards is that of the rounds."""


@dataclass(frozen=True, slots=True)
class Design:
    """What is asked about each stimulus: every variant, every repeat, both orders. A protocol may ask differently."""

    repeats: int = 1
    variants: tuple[str, ...] = ("baseline",)

    def as_json(self) -> Json:
        """Returns the part of the design that decides the questions; it is part of the run's id."""
        return {"repeats": self.repeats, "variants": self.variants}

    def over(self, stimuli: Iterable[Stimulus]) -> "Design":  # noqa: ARG002  # most look at no others
        """Returns the design for a whole set; one may show a stimulus by its place among the others."""
        return self

    def asked_first(self, stimuli: Iterable[Stimulus]) -> Collection[str] | None:  # noqa: ARG002  # most ask all
        """Returns the ids of the stimuli of the first round, if the design asks in rounds; None if it asks all."""
        return None

    def most_ways(self) -> int | None:
        """Returns the most ways in which one stimulus is shown; None if that is not known before they are counted."""
        return None

    def presentations(
        self, stimulus: Stimulus, capabilities: Capabilities, kind: JudgeKind = "compare"
    ) -> Iterator[Presentation]:
        """Yields every way a stimulus is shown, with both orders adjacent so that drift between them is small."""
        for variant in self.variants:
            for repeat in range(self.repeats):
                for order in self.orders(stimulus, capabilities, kind):
                    yield Presentation(order, variant, repeat)

    @staticmethod
    def orders(stimulus: Stimulus, capabilities: Capabilities, kind: JudgeKind) -> tuple[Order, ...]:
        """Returns the orders in which the candidates can be shown; none if the judge cannot be shown them at all.

        Two equal candidates have one order: the other would be the same prompt. A `grade` judge is shown one candidate
        at a time, so its order `ab` is content a and `ba` content b.
        """
        if not capabilities.accepts_empty and not all(text.strip() for text in stimulus.candidates):
            return ()
        if (kind == "compare" and not capabilities.order_controllable) or len(set(stimulus.candidates)) == 1:
            return (Order.AB,)
        return (Order.AB, Order.BA)


def shown(stimulus: Stimulus, order: Order, kind: JudgeKind = "compare", columns: Collection[str] = ()) -> Presented:
    """Returns what the judge sees: the candidates in their slots, or the one to grade, without their origin.

    Of the columns of the user's data it sees those that it names.
    """
    u, v = stimulus.candidates[0], stimulus.candidates[-1]
    first, second = (u, v) if order is Order.AB else (v, u)
    named = {name: stimulus.columns[name] for name in columns}
    return Presented(stimulus.task, first, second if kind == "compare" else None, named)


def request_for(judge: Judge, stimulus: Stimulus, presentation: Presentation) -> Request:
    """Returns what a judge is sent for one trial. Planning, pricing and asking all render it here, so they agree."""
    return judge.request(shown(stimulus, presentation.order, judge.kind, judge.columns), presentation)


def write_plan(
    store: RunStore, judge: Judge, stimuli: StimulusSet, design: Design, *, shard_size: int = SHARD_SIZE
) -> int:
    """Writes the plan of a run and returns its number of trials. It holds no prompts: they are rendered again."""
    first = design.asked_first(stimuli)
    trials = trials_of(judge, stimuli, design, first)
    return _write(store, trials, FirstAsked(), [], [], shard_size=shard_size if first is None else WHOLE)


def extend_plan(store: RunStore, judge: Judge, stimuli: StimulusSet, design: Design, chosen: Collection[str]) -> range:
    """Adds a round to the plan of a run: every trial of the chosen stimuli. Returns its shard, in a range.

    The plan names its shards only once they are all on disk, so a run that is killed here is as it was before.
    """
    first_asked, digests, asked = FirstAsked(), store.plan_files(), list[int]()
    for shard in range(len(digests)):
        first_asked.add((trial.id for trial, _ in store.plan_shard(shard)), shard)
        asked.append(store.asked(shard))
    before = len(digests)
    _write(store, trials_of(judge, stimuli, design, chosen), first_asked, digests, asked, shard_size=WHOLE)
    return range(before, len(digests))


def _write(
    store: RunStore,
    trials: Iterator[tuple[Trial, int]],
    first_asked: FirstAsked,
    digests: list[str],
    asked: list[int],
    *,
    shard_size: int,
) -> int:
    """Writes trials as further shards of a plan, which it completes; returns how many trials the plan has now."""
    count = (store.plan_size() or (0, 0))[0] if digests else 0
    while chunk := list(islice(trials, shard_size)):
        shard = len(digests)
        found = first_asked.add((trial.id for trial, _ in chunk), shard)
        elsewhere = {trial_id: first for trial_id, first in found.items() if first != shard}
        digests.append(store.write_plan_shard(shard, chunk, elsewhere))
        asked.append(len(found) - len(elsewhere))
        count += len(chunk)
    store.finish_plan(count, digests, asked)
    return count


def trials_of(
    judge: Judge, stimuli: StimulusSet, design: Design, chosen: Collection[str] | None = None
) -> Iterator[tuple[Trial, int]]:
    """Yields trials, each with the part of the stimulus set that its stimulus is in; of chosen stimuli, or of all."""
    for part in stimuli.parts():
        for stimulus in stimuli.part(part).values():
            if chosen is not None and stimulus.id not in chosen:
                continue
            prompts: dict[Presentation, str] = {}
            for way in design.presentations(stimulus, judge.capabilities, judge.kind):
                # Repeats are the same question, so it is rendered once.
                question = way.question
                if (prompt := prompts.get(question)) is None:
                    prompt = prompts[question] = prompt_id(request_for(judge, stimulus, way))
                yield Trial(trial_id(prompt, repeat=way.repeat), prompt, stimulus.id, way), part
