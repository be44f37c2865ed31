"""One trial, from the record: what was asked, what came back, how it is read; and its twins.

A twin is the same question in the other order of the candidates, or about the other version: of the task, for texts
that are shown under two, or the original, for a text that was changed.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import assert_never

from umpirical.domain.judgments import Abstained, Failed, Outcome, Unparsed, Verdict
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice
from umpirical.domain.stimuli import (
    Expectation,
    FlippedVerdict,
    GivenLabel,
    GivenWinner,
    NoPreference,
    SameVerdict,
    Stimulus,
)
from umpirical.domain.trials import Order, Trial
from umpirical.judges.factory import build_renderer
from umpirical.judges.judge import prompt_id
from umpirical.models.requests import ChatRequest
from umpirical.runs.judgments import reader_of
from umpirical.runs.plan import request_for, shown
from umpirical.runs.run import Run
from umpirical.store.snapshots import RunSnapshot, snapshot
from umpirical.view.reading import shard_size
from umpirical.view.table import TrialTable

LIKELY_TWINS = 64
"""Trials of the other version that are looked through for the twin."""


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of a prompt, or of what the judge was shown."""

    title: str
    words: str


@dataclass(frozen=True, slots=True)
class ShownTrial:
    """Everything about one trial."""

    position: int
    trial: Trial
    stimulus: Stimulus
    response: Response | None
    """None if it has not been asked yet."""
    outcome: Outcome | None

    @property
    def kind(self) -> str:
        """The name of the outcome."""
        match self.outcome:
            case None:
                return "unasked"
            case Verdict():
                return "verdict"
            case Abstained():
                return "abstained"
            case Unparsed():
                return "unparsed"
            case Failed():
                return "failed"
            case _:
                assert_never(self.outcome)

    @property
    def said(self) -> str:  # noqa: PLR0911  # one for each kind
        """The outcome in a few words: the slot or the grade, or why there is none."""
        match self.outcome:
            case None:
                return "not asked yet"
            case Verdict(value=Choice.TIE):
                return "tie"
            case Verdict(value=Choice() as slot):
                return f"slot {slot}, which holds {self.content(slot)}"
            case Verdict(value=grade):
                return f"grade {grade:g}" if isinstance(grade, float) else f"grade {grade}"
            case Abstained():
                return "abstained"
            case Unparsed(why=why):
                return f"not a verdict: {why}"
            case Failed(kind=kind, detail=detail):
                return f"no answer: {kind}. {detail}".rstrip()
            case _:
                assert_never(self.outcome)

    def content(self, slot: Choice) -> str:
        """The name of the content that was in a slot."""
        first = self.trial.presentation.order is Order.UV
        return "u" if (slot == Choice.SLOT_1) == first else "v"

    @property
    def expected(self) -> str:
        return _expected(self.stimulus.expectation)


class Trials:
    """The trials of a run at one moment, by their place in the plan."""

    def __init__(self, run: Run, now: RunSnapshot) -> None:
        self.run = run
        self._size = shard_size(run)
        self._read = reader_of(run.judge)
        self._plan: Callable[[int], list[tuple[Trial, int]]] = lru_cache(maxsize=4)(
            lambda shard: list(run.store.plan_shard(shard))
        )
        self._responses = lru_cache(maxsize=4)(now.responses)

    def at(self, position: int) -> ShownTrial | None:
        """Returns the trial at a place in the plan; None if there is none."""
        shard, place = divmod(position, self._size)
        if not 0 <= shard < self.run.shards or place >= len(self._plan(shard)):
            return None
        trial, part = self._plan(shard)[place]
        response = self._responses(shard).get(trial.id)
        outcome = None if response is None else self._read(response, trial.presentation)
        return ShownTrial(position, trial, self.run.stimuli.part(part)[trial.stimulus_id], response, outcome)

    def prompt(self, one: ShownTrial) -> tuple[list[Text], bool]:
        """Returns the messages that were sent, and whether they are the very ones: their digest is in the plan.

        For the user's own judge, which renders its prompt itself, the texts that it was shown; none of its code runs.
        """
        judge = build_renderer(self.run.judge)
        if judge is not None:
            request = request_for(judge, one.stimulus, one.trial.presentation)
            if isinstance(request, ChatRequest):
                texts = [Text(message.role, message.content) for message in request.messages]
                return texts, prompt_id(request) == one.trial.prompt_id
        seen = shown(one.stimulus, one.trial.presentation.order, self.run.judge.kind)
        texts = [Text("task", seen.task), Text("slot 1" if seen.second is not None else "answer", seen.first)]
        return texts + ([] if seen.second is None else [Text("slot 2", seen.second)]), True

    def other_order(self, one: ShownTrial) -> ShownTrial | None:
        """Returns the same pair in the other order. A plan has both close to each other."""
        shard = one.position // self._size
        for near in (shard, shard + 1, shard - 1):
            if not 0 <= near < self.run.shards:
                continue
            for place, (trial, _) in enumerate(self._plan(near)):
                if _is_turned(trial, one.trial):
                    return self.at(near * self._size + place)
        return None

    def other_version(self, one: ShownTrial, table: TrialTable) -> ShownTrial | None:
        """Returns the same question about the other version, in the same order."""
        way = one.trial.presentation
        shared, values = 'arm = ? and "order" = ?', [way.arm, way.order.value]
        if one.stimulus.quad and {"quad", "version"} <= table.columns:
            found = table.positions(
                f"quad = ? and version <> ? and {shared} and repeat = ?",
                [one.stimulus.quad, one.stimulus.version, *values, way.repeat],
                most=LIKELY_TWINS,
            )
        elif one.stimulus.parent:
            found = table.positions(f"stimulus_id = ? and {shared}", [one.stimulus.parent, *values], most=LIKELY_TWINS)
        else:
            return None
        twins = [twin for position in found if (twin := self.at(position)) is not None]
        alike = [twin for twin in twins if twin.trial.presentation == way] or twins
        return alike[0] if alike else None


@contextmanager
def looking(run: Run) -> Iterator[Trials]:
    """Opens the trials of a run as they are now."""
    with snapshot(run.store) as now:
        yield Trials(run, now)


def _is_turned(trial: Trial, one: Trial) -> bool:
    ways = trial.presentation, one.presentation
    return trial.stimulus_id == one.stimulus_id and ways[0].order != ways[1].order and ways[0].pair == ways[1].pair


def _expected(expectation: Expectation) -> str:
    match expectation:
        case GivenWinner(candidate=candidate):
            return f"content {'uv'[candidate] if candidate in (0, 1) else candidate} is better"
        case NoPreference():
            return "no preference"
        case GivenLabel(label=label):
            return f"grade {label}"
        case SameVerdict():
            return "the same verdict as on the original"
        case FlippedVerdict():
            return "another verdict than on the original"
        case _:
            assert_never(expectation)
