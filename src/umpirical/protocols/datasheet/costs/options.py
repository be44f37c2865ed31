"""What could be taken: each judge as it is, each of its readouts, and juries of the judges.

All of them are heard on the same calls. Pairs of two identical answers are left out: both orders are one prompt, on
which a readout of both orders ties by construction. A readout that settles its tie band on some families speaks for the
others only.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.judgments import Outcome
from umpirical.domain.readouts import READOUTS, TARGET, Readout, Span, calibration_tasks
from umpirical.domain.responses import Response
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import BASELINE, Trial
from umpirical.judges.logprobs.labels import LabelReader, Undecided
from umpirical.protocols.datasheet.costs.record import OptionKind
from umpirical.protocols.datasheet.juries.ballots import Asked, Member, SharedCalls, VoteKeeper, share_calls, vote_of
from umpirical.protocols.datasheet.readouts.rows import band_of, paired
from umpirical.protocols.datasheet.readouts.rules import Heard, rule_of
from umpirical.protocols.datasheet.report import ReadRun
from umpirical.runs.run import Run
from umpirical.stats.juries import NO_VOTE, Votes, majority

MOST_FOR_TRIOS = 5
"""Up to so many judges, every jury of three is shown; of more, the jury of all."""

MOST_JUDGES = 15

MOST_CALLS = 100_000
"""Of one run: more are not held in memory side by side, and the judge has a price alone."""

UNHEARD = Undecided("the answer has no log-probabilities")


@dataclass(slots=True)
class CallKeeper(VoteKeeper):
    """The calls of one run, with what its readouts need."""

    heard: dict[Asked, Heard] = field(default_factory=dict)
    latencies: dict[Asked, float] = field(default_factory=dict)
    labels: LabelReader | None = None
    logprobs: bool = False
    too_many: bool = False

    @classmethod
    def of(cls, run: Run) -> "CallKeeper":
        return cls(labels=LabelReader(run.judge) if run.judge.kind == "compare" else None)

    def see(self, trial: Trial, stimulus: Stimulus, outcome: Outcome | None, response: Response | None) -> None:
        self.too_many = self.too_many or len(self.calls) >= MOST_CALLS
        identical = len(set(stimulus.candidates)) == 1
        key = None if identical or self.too_many else self.keep(trial, stimulus, outcome)
        if key is None:
            return
        odds: Mapping[str, Span] | Undecided = UNHEARD
        if response is not None and response.logprobs and outcome is not None and self.labels is not None:
            self.logprobs, odds = True, self.labels.read(response, outcome, trial.presentation.layout)
        self.heard[key] = Heard(trial, stimulus, None, outcome, odds)
        if response is not None and response.latency_ms:
            self.latencies[key] = response.latency_ms


@dataclass(frozen=True, slots=True)
class Option:
    """Something that gives verdicts on the shared calls."""

    kind: OptionKind
    name: str
    readout: str
    judges: tuple[int, ...]
    """Places among the judges compared."""
    calls_per_verdict: int
    votes: Votes
    speaks: NDArray[np.bool_]
    """The calls that may speak for it."""
    verdicts: float
    """Verdicts that it gave for all shared calls, where each of its judges was asked once."""
    latencies: tuple[float, ...]


def why_not_heard(read: ReadRun, keeper: CallKeeper) -> str:
    """Returns why a judge has no balanced accuracy; empty if it has."""
    if read.run.judge.kind != "compare":
        return "a judge that grades is not right or wrong about a pair"
    if read.reading.unasked:
        return "the run is not complete"
    if keeper.too_many:
        return f"a run of more than {MOST_CALLS:,} calls is not compared call by call"
    return "" if keeper.calls else "it was not asked with its own prompt"


def options_of(
    read: Sequence[ReadRun], kept: Sequence[CallKeeper], *, reference: int | None
) -> tuple[SharedCalls | None, list[Option]]:
    """Returns the calls that all judges which can be heard were asked, and what could be taken."""
    heard = [
        place for place, (one, keeper) in enumerate(zip(read, kept, strict=True)) if not why_not_heard(one, keeper)
    ]
    if not heard:
        return None, []
    members = [Member(read[place].run, read[place].reading) for place in heard]
    shared = share_calls(members, [kept[place] for place in heard])
    if not shared.asked:
        return None, []
    options = [_judge(shared, place, column, read[place]) for column, place in enumerate(heard)]
    for place in heard:
        options += _readouts(shared, place, read[place], kept[place])
    jurors = [(column, place) for column, place in enumerate(heard) if place != reference]
    return shared, [*options, *_juries(shared, jurors, kept)]


def _judge(shared: SharedCalls, place: int, column: int, read: ReadRun) -> Option:
    votes = shared.ballots.votes[:, column]
    everything = np.ones(len(votes), dtype=bool)
    given = float(np.count_nonzero(votes != NO_VOTE))
    times = tuple(read.reading.spent.latencies)
    return Option("judge", shared.members[column].name, "", (place,), 1, votes, everything, given, times)


def _readouts(shared: SharedCalls, place: int, read: ReadRun, keeper: CallKeeper) -> Iterator[Option]:
    tasks = frozenset(tally.cluster for tally in read.tallies.calls)
    chosen_on = calibration_tasks(tasks)
    pairs = list(paired(keeper.heard.values()))
    for readout in READOUTS[1:]:
        if readout.needs_logprobs and not keeper.logprobs:
            continue
        if readout.pairwise and not read.run.judge.capabilities.order_controllable:
            continue
        band: float | str | None = None
        if readout.name == "order-averaged":
            band = band_of(pairs, arm=BASELINE, tasks=chosen_on, target=TARGET)
        if not isinstance(band, str):
            yield _readout(shared, place, keeper, _Reading(read.run.judge.name, readout, band, chosen_on), pairs)


@dataclass(frozen=True, slots=True)
class _Reading:
    """How a readout of a judge reads, and which families settled its tie band."""

    judge: str
    readout: Readout
    band: float | None
    chosen_on: frozenset[str]

    def speaks_of(self, stimulus: Stimulus) -> bool:
        return self.band is None or stimulus.cluster not in self.chosen_on


def _readout(
    shared: SharedCalls, place: int, keeper: CallKeeper, reading: _Reading, pairs: Sequence[Sequence[Heard]]
) -> Option:
    pairwise = reading.readout.pairwise
    rule, said = rule_of(reading.readout.name, band=reading.band), dict[Asked, int]()
    verdicts, latencies = 0.0, list[float]()
    for pair in pairs:
        votes = [vote_of(outcome) for outcome in rule(pair)]
        verdicts += sum(vote != NO_VOTE for vote in votes) / (len(pair) if pairwise else 1)
        keys = [(one.stimulus.id, one.order, one.trial.presentation.repeat) for one in pair]
        said.update(zip(keys, votes, strict=True))
        times = [keeper.latencies[key] for key in keys if key in keeper.latencies]
        # Both orders can be asked at once.
        latencies += [max(times)] if pairwise and times else times
    return Option(
        kind="readout",
        name=f"{reading.judge}, {reading.readout.name}",
        readout=reading.readout.name,
        judges=(place,),
        calls_per_verdict=2 if pairwise else 1,
        votes=np.array([said.get(key, NO_VOTE) for key in shared.asked], dtype=np.int64),
        speaks=np.array([reading.speaks_of(stimulus) for _, stimulus in shared.calls], dtype=bool),
        verdicts=verdicts * len(shared.asked) / sum(len(pair) for pair in pairs),
        latencies=tuple(latencies),
    )


def _juries(shared: SharedCalls, jurors: Sequence[tuple[int, int]], kept: Sequence[CallKeeper]) -> Iterator[Option]:
    """Yields juries by majority, which learn nothing from these calls: of all judges, and of three if they are few."""
    if not 3 <= len(jurors) <= MOST_JUDGES:
        return
    sizes = {len(jurors), 3} if len(jurors) <= MOST_FOR_TRIOS else {len(jurors)}
    fingerprints = [member.run.manifest["fingerprint"] for member in shared.members]
    for size in sorted(sizes):
        for members in combinations(jurors, size):
            columns, places = [column for column, _ in members], tuple(place for _, place in members)
            if len({fingerprints[column] for column in columns}) < size:
                # The same judge twice has one vote.
                continue
            votes = majority(size).verdicts(shared.ballots.of(columns))
            yield Option(
                kind="jury",
                name=f"jury of {', '.join(shared.members[column].name for column in columns)}",
                readout="",
                judges=places,
                calls_per_verdict=size,
                votes=votes,
                speaks=np.ones(len(votes), dtype=bool),
                verdicts=float(np.count_nonzero(votes != NO_VOTE)),
                latencies=_slowest(shared.asked, [kept[place] for place in places]),
            )


def _slowest(asked: Sequence[Asked], kept: Sequence[CallKeeper]) -> tuple[float, ...]:
    """Returns the time of the slowest member in each call, as if all were asked at once."""
    return tuple(max(one.latencies[key] for one in kept) for key in asked if all(key in one.latencies for one in kept))
