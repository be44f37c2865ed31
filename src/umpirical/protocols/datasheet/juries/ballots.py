"""The votes of judges that were asked about the same stimuli."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from umpirical.domain.errors import UsageError
from umpirical.domain.judgments import Outcome, Verdict
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice
from umpirical.domain.stimuli import TIER_2, GivenWinner, Stimulus
from umpirical.domain.trials import BASELINE, Order, Trial
from umpirical.protocols.datasheet.facts import FACTS
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.runs.judgments import Reading, read_judgments
from umpirical.runs.run import Run, open_run
from umpirical.stats.juries import NO_VOTE, TIE, Ballots

CHOICES = (Choice.SLOT_1, Choice.SLOT_2, Choice.TIE)
"""The classes of a vote, by number."""

Asked = tuple[str, Order, int]
"""What was asked: stimulus, order and repeat. It is the same for all judges."""


@dataclass(frozen=True, slots=True)
class Member:
    """A judge that has been measured, and what it cost."""

    run: Run
    reading: Reading

    @property
    def name(self) -> str:
        return self.run.judge.name


@dataclass(frozen=True, slots=True)
class SharedCalls:
    """What all members were asked, with their votes and what is right by construction."""

    members: tuple[Member, ...]
    asked: tuple[Asked, ...]
    calls: tuple[tuple[Trial, Stimulus], ...]
    """As the first member was asked."""
    families: tuple[str, ...]
    """The cluster of every statistic, by number."""
    ballots: Ballots
    left_out: int
    """Calls that not all of them were asked."""

    def numbers_of(self, families: Sequence[str] | frozenset[str]) -> list[int]:
        return [number for number, family in enumerate(self.families) if family in families]


@dataclass(slots=True)
class VoteKeeper:
    """The calls of one run with the judge's own prompt, as they are read."""

    votes: dict[Asked, int] = field(default_factory=dict)
    calls: dict[Asked, tuple[Trial, Stimulus]] = field(default_factory=dict)

    def see(self, trial: Trial, stimulus: Stimulus, outcome: Outcome | None, response: Response | None) -> None:  # noqa: ARG002
        self.keep(trial, stimulus, outcome)

    def keep(self, trial: Trial, stimulus: Stimulus, outcome: Outcome | None) -> Asked | None:
        """Keeps a vote, and returns what was asked; None for a call that a jury does not hear."""
        if trial.presentation.arm != BASELINE or stimulus.family in TIER_2:
            return None
        key = stimulus.id, trial.presentation.order, trial.presentation.repeat
        self.calls[key] = trial, stimulus
        self.votes[key] = vote_of(outcome)
        return key


def read_members(runs: Sequence[Path]) -> SharedCalls:
    """Reads the runs of a jury's members. Raises UsageError if they cannot vote on the same questions."""
    opened = [open_run(run) for run in runs]
    refuse_no_jury(opened)
    kept, members = [], []
    for run in opened:
        one = VoteKeeper()
        with read_judgments(run, FACTS, seen=one.see) as reading:
            members.append(Member(run, reading))
        kept.append(one)
    return share_calls(members, kept)


def share_calls(members: Sequence[Member], kept: Sequence[VoteKeeper]) -> SharedCalls:
    """Returns the calls that all members were asked, with the votes that were kept of each."""
    shared = [key for key in kept[0].calls if all(key in one.calls for one in kept)]
    calls = tuple(kept[0].calls[key] for key in shared)
    families = tuple(sorted({stimulus.cluster for _, stimulus in calls}))
    number = {family: place for place, family in enumerate(families)}
    everything = set().union(*(one.calls for one in kept))
    return SharedCalls(
        members=tuple(members),
        asked=tuple(shared),
        calls=calls,
        families=families,
        ballots=Ballots(
            np.array([[one.votes[key] for one in kept] for key in shared], dtype=np.int64).reshape(-1, len(kept)),
            np.array([_right(*call) for call in calls], dtype=np.int64),
            np.array([number[stimulus.cluster] for _, stimulus in calls], dtype=np.int64),
        ),
        left_out=len(everything) - len(shared),
    )


def vote_of(outcome: Outcome | None) -> int:
    """Returns the class of a verdict; whatever is no verdict on two candidates is no vote."""
    said = outcome.value if isinstance(outcome, Verdict) else None
    return CHOICES.index(said) if isinstance(said, Choice) else NO_VOTE


def refuse_no_jury(runs: Sequence[Run]) -> None:
    """Raises if these judges are no jury."""
    same = "measure all of them with one study, or with the same size and seed"
    if other := [run.name for run in runs if run.manifest["protocol"] != DATASHEET.version]:
        raise UsageError(f"{', '.join(other)}: not on controlled stimuli", fix="name runs that have a datasheet")
    if len({run.folder.resolve() for run in runs}) < len(runs):
        raise UsageError("a run is named twice, and a judge has one vote", fix="name each run once")
    if len({run.manifest["fingerprint"] for run in runs}) < len(runs):
        message = "two runs are of the same judge, and a judge has one vote"
        raise UsageError(message, fix=f"name one run of each: {', '.join(run.name for run in runs)}")
    if other := [run.name for run in runs if run.judge.kind != "compare"]:
        message = f"{', '.join(other)}: the judge does not compare two answers"
        raise UsageError(message, fix="name runs of judges that compare")
    if len({run.stimuli.digest for run in runs}) > 1:
        raise UsageError("the judges were asked about different stimuli", fix=same)
    if not all(BASELINE in run.manifest["arms"] for run in runs):
        raise UsageError("a judge was not asked with its own prompt", fix=same)


def _right(trial: Trial, stimulus: Stimulus) -> int:
    """Returns the right answer, as a slot: the candidate that is better by construction, or a tie."""
    if not isinstance(stimulus.expectation, GivenWinner):
        return TIE
    first = 0 if trial.presentation.order is Order.UV else 1
    return 0 if stimulus.expectation.candidate == first else 1
