"""The plan of a run: every trial, on disk, before anything is asked."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from umpirical.domain.digests import Json
from umpirical.domain.scales import JudgeKind
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import Order, Presentation, Presented, Trial
from umpirical.judges.judge import Capabilities, Judge, Request, prompt_id, trial_id
from umpirical.runs.first_asked import FirstAsked
from umpirical.store.runs import RunStore
from umpirical.store.stimulus_sets import StimulusSet

SHARD_SIZE = 2000
"""Trials per shard, the unit that is sealed at once and given to one worker."""


@dataclass(frozen=True, slots=True)
class Design:
    """What is asked about each stimulus: every arm, every repeat, in both orders. A protocol may ask differently."""

    repeats: int = 1
    arms: tuple[str, ...] = ("baseline",)

    def as_json(self) -> Json:
        """Returns the part of the design that decides the questions; it is part of the run's id."""
        return {"repeats": self.repeats, "arms": self.arms}

    def over(self, stimuli: Iterable[Stimulus]) -> "Design":  # noqa: ARG002  # most look at no others
        """Returns the design for a whole set; one may show a stimulus by its place among the others."""
        return self

    def most_ways(self) -> int | None:
        """Returns the most ways in which one stimulus is shown; None if that is not known before they are counted."""
        return None

    def presentations(
        self, stimulus: Stimulus, capabilities: Capabilities, kind: JudgeKind = "compare"
    ) -> Iterator[Presentation]:
        """Yields every way a stimulus is shown, with both orders adjacent so that drift between them is small."""
        for arm in self.arms:
            for repeat in range(self.repeats):
                for order in self.orders(stimulus, capabilities, kind):
                    yield Presentation(order, arm, repeat)

    @staticmethod
    def orders(stimulus: Stimulus, capabilities: Capabilities, kind: JudgeKind) -> tuple[Order, ...]:
        """Returns the orders in which the candidates can be shown; none if the judge cannot be shown them at all.

        Two equal candidates have one order: the other would be the same prompt. A `grade` judge is shown one candidate
        at a time, so its order `uv` is content u and `vu` content v.
        """
        if not capabilities.accepts_empty and not all(text.strip() for text in stimulus.candidates):
            return ()
        if (kind == "compare" and not capabilities.order_controllable) or len(set(stimulus.candidates)) == 1:
            return (Order.UV,)
        return (Order.UV, Order.VU)


def shown(stimulus: Stimulus, order: Order, kind: JudgeKind = "compare", columns: Collection[str] = ()) -> Presented:
    """Returns what the judge sees: the candidates in their slots, or the one to grade, without their origin.

    Of the columns of the user's data it sees those that it names.
    """
    u, v = stimulus.candidates[0], stimulus.candidates[-1]
    first, second = (u, v) if order is Order.UV else (v, u)
    named = {name: stimulus.columns[name] for name in columns}
    return Presented(stimulus.task, first, second if kind == "compare" else None, named)


def request_for(judge: Judge, stimulus: Stimulus, presentation: Presentation) -> Request:
    """Returns what a judge is sent for one trial. Planning, pricing and asking all render it here, so they agree."""
    return judge.request(shown(stimulus, presentation.order, judge.kind, judge.columns), presentation)


def write_plan(
    store: RunStore, judge: Judge, stimuli: StimulusSet, design: Design, *, shard_size: int = SHARD_SIZE
) -> int:
    """Writes the plan of a run and returns its number of trials. It holds no prompts: they are rendered again."""
    trials, count, digests, asked = _trials(judge, stimuli, design), 0, list[str](), list[int]()
    first_asked = FirstAsked()
    while chunk := list(islice(trials, shard_size)):
        shard = len(digests)
        found = first_asked.add((trial.id for trial, _ in chunk), shard)
        elsewhere = {trial_id: first for trial_id, first in found.items() if first != shard}
        digests.append(store.write_plan_shard(shard, chunk, elsewhere))
        asked.append(len(found) - len(elsewhere))
        count += len(chunk)
    store.finish_plan(count, digests, asked)
    return count


def _trials(judge: Judge, stimuli: StimulusSet, design: Design) -> Iterator[tuple[Trial, int]]:
    """Yields trials, each with the part of the stimulus set that its stimulus is in."""
    for part in stimuli.parts():
        for stimulus in stimuli.part(part).values():
            prompts: dict[Presentation, str] = {}
            for way in design.presentations(stimulus, judge.capabilities, judge.kind):
                # Repeats are the same question, so it is rendered once.
                question = way.question
                if (prompt := prompts.get(question)) is None:
                    prompt = prompts[question] = prompt_id(request_for(judge, stimulus, way))
                yield Trial(trial_id(prompt, repeat=way.repeat), prompt, stimulus.id, way), part
