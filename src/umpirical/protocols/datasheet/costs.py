"""What the judges of a datasheet cost: also with their scoring methods, on the calls that all of them were asked.

Pairs of two identical answers are left out: both orders are one prompt, on which a scoring method of both orders ties
by construction. A scoring method that settles its tie band on some families speaks for the others only.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from umpirical.domain.judgments import Outcome
from umpirical.domain.responses import Response
from umpirical.domain.scoring_methods import SCORING_METHODS, TARGET, ScoringMethod, Span, calibration_tasks
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import BASELINE, Trial
from umpirical.judges.label_logprobs import LabelReader, Undecided
from umpirical.protocols.costs import (
    MOST_CALLS,
    Costs,
    Option,
    TimedKeeper,
    assemble_costs,
    judge_option,
    juries_of,
    price_of_run,
    unheard_option,
)
from umpirical.protocols.datasheet.report import ReadRun
from umpirical.protocols.datasheet.scoring_method_rules import Heard, band_of, paired, rule_of
from umpirical.protocols.datasheet.spec import JURY
from umpirical.protocols.jury import Asked, Member, SharedCalls, asked_of, share_calls, vote_of
from umpirical.protocols.protocol import JuryTerms
from umpirical.reports.comparison import OF_RUN, labels
from umpirical.runs.run import Run
from umpirical.stats.juries import NO_VOTE, Ballots

UNHEARD = Undecided("the reply has no log-probabilities")


@dataclass(slots=True)
class CallKeeper(TimedKeeper):
    """The calls of one run, with what its scoring methods need."""

    terms: JuryTerms = JURY
    heard: dict[Asked, Heard] = field(default_factory=dict)
    labels: LabelReader | None = None
    logprobs: bool = False

    @classmethod
    def of(cls, run: Run) -> "CallKeeper":
        return cls(labels=LabelReader(run.judge) if run.judge.kind == "compare" else None)

    def see(self, trial: Trial, stimulus: Stimulus, outcome: Outcome | None, response: Response | None) -> None:
        key = None if len(set(stimulus.candidates)) == 1 else self.keep(trial, stimulus, outcome)
        if key is None:
            return
        odds: Mapping[str, Span] | Undecided = UNHEARD
        if response is not None and response.logprobs and outcome is not None and self.labels is not None:
            self.logprobs, odds = True, self.labels.read(response, outcome, trial.presentation.layout)
        self.heard[key] = Heard(trial, stimulus, None, outcome, odds)
        if response is not None and response.latency_ms:
            self.latencies[key] = response.latency_ms


def why_not_heard(read: ReadRun, keeper: CallKeeper) -> str:
    """Returns why a judge has no balanced accuracy; empty if it has."""
    if read.run.judge.kind != "compare":
        return "a grading judge has no right or wrong verdict on a pair"
    if read.reading.unasked:
        return "the run is not complete"
    if keeper.too_many:
        return f"the run has more than {MOST_CALLS:,} calls, which cannot be compared call by call"
    return "" if keeper.calls else "the judge was not run with its own prompt"


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
    options = [judge_option(shared, place, column) for column, place in enumerate(heard)]
    for place in heard:
        options += _scoring_methods(shared, place, read[place], kept[place])
    jurors = [(column, place) for column, place in enumerate(heard) if place != reference]
    return shared, [*options, *juries_of(shared, jurors, kept)]


def _scoring_methods(shared: SharedCalls, place: int, read: ReadRun, keeper: CallKeeper) -> Iterator[Option]:
    tasks = frozenset(tally.cluster for tally in read.tallies.calls)
    chosen_on = calibration_tasks(tasks)
    pairs = list(paired(keeper.heard.values()))
    for scoring_method in SCORING_METHODS[1:]:
        if scoring_method.needs_logprobs and not keeper.logprobs:
            continue
        if scoring_method.pairwise and not read.run.judge.capabilities.order_controllable:
            continue
        band: float | str | None = None
        if scoring_method.name == "order-averaged":
            band = band_of(pairs, variant=BASELINE, tasks=chosen_on, target=TARGET)
        if not isinstance(band, str):
            yield _scoring_method(
                shared, place, keeper, _Reading(read.run.judge.name, scoring_method, band, chosen_on), pairs
            )


@dataclass(frozen=True, slots=True)
class _Reading:
    """How a scoring method of a judge reads, and which families settled its tie band."""

    judge: str
    scoring_method: ScoringMethod
    band: float | None
    chosen_on: frozenset[str]

    def speaks_of(self, stimulus: Stimulus) -> bool:
        return self.band is None or stimulus.cluster not in self.chosen_on


def _scoring_method(
    shared: SharedCalls, place: int, keeper: CallKeeper, reading: _Reading, pairs: Sequence[Sequence[Heard]]
) -> Option:
    pairwise = reading.scoring_method.pairwise
    rule, said = rule_of(reading.scoring_method.name, band=reading.band), dict[Asked, float]()
    verdicts, latencies = 0.0, list[float]()
    for pair in pairs:
        votes = [vote_of(outcome) for outcome in rule(pair)]
        verdicts += sum(vote != NO_VOTE for vote in votes) / (len(pair) if pairwise else 1)
        keys = [asked_of(one.trial) for one in pair]
        said.update(zip(keys, votes, strict=True))
        times = [keeper.latencies[key] for key in keys if key in keeper.latencies]
        # Both orders can be asked at once.
        latencies += [max(times)] if pairwise and times else times
    return Option(
        kind="scoring_method",
        name=f"{reading.judge}, {reading.scoring_method.name}",
        scoring_method=reading.scoring_method.name,
        judges=(place,),
        calls_per_verdict=2 if pairwise else 1,
        votes=np.array([said.get(key, NO_VOTE) for key in shared.asked], dtype=np.int64),
        speaks=np.array([reading.speaks_of(stimulus) for _, stimulus in shared.calls], dtype=bool),
        verdicts=verdicts * len(shared.asked) / sum(len(pair) for pair in pairs),
        latencies=tuple(latencies),
    )


NOTHING = Ballots(np.zeros((0, 0)), np.zeros(0), np.zeros(0, dtype=np.int64))

STIMULI = "A program makes the test cases, so writing and validating them costs nothing. All judges have the same ones."


def costs_of(read: Sequence[ReadRun], kept: Sequence[CallKeeper], *, reference: int | None) -> Costs:
    """Returns cost and accuracy of the judges, their scoring methods, and juries without the reference."""
    prices, names = (
        [price_of_run(Member(one.run, one.reading)) for one in read],
        labels((one.run.judge.name, one.run.manifest["id"][:OF_RUN]) for one in read),
    )
    shared, options = options_of(read, kept, reference=reference)
    heard = {option.judges[0] for option in options if option.kind == "judge"}
    unheard = [
        unheard_option(
            place,
            names[place],
            Member(read[place].run, read[place].reading),
            prices[place],
            why_not_heard(read[place], kept[place]),
        )
        for place in range(len(read))
        if place not in heard
    ]
    ballots = shared.ballots if shared else NOTHING
    return assemble_costs(
        options, ballots, prices, [one.reading.planned for one in read], names, unheard, stimuli=STIMULI
    )
