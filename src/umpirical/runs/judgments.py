"""Turns responses into judgments: the judge's parser reads every planned trial again, and gives it one outcome."""

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from umpirical.domain.judgments import Abstained, Failed, Outcome, ReasoningFinding, Unparsed, Verdict
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice, GradeScale
from umpirical.domain.stimuli import TIER_2, Stimulus
from umpirical.domain.trials import Presentation, Trial
from umpirical.judges.answers import read_response
from umpirical.judges.factory import build_reader
from umpirical.judges.reasoning import Reasoned, ReasoningCheck
from umpirical.judges.spec import JudgeSpec
from umpirical.runs.run import Run
from umpirical.store.files import building
from umpirical.store.parquet import row_writer
from umpirical.store.runs import responses_digest
from umpirical.store.schemas import factor_row, judgment_schema
from umpirical.store.snapshots import RunSnapshot, snapshot

MOST_CONTRADICTIONS = 10
"""How many verdicts that contradict their reasoning are kept as examples."""

LONGEST = 400
"""Characters of a reasoning that are kept, from its end."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A verdict other than the one that its own reasoning states."""

    trial_id: str
    variant: str
    family: str
    said: str
    """The verdict that was read."""
    stated: str
    """The one that the reasoning states."""
    words: str
    """The end of the reasoning; empty if it may quote an answer that must not be disclosed."""


@dataclass(slots=True)
class Reasons:
    """The reasonings of a run, counted."""

    reasoned: int = 0
    stated: int = 0
    contradictions: list[Contradiction] = field(default_factory=list)
    """The first few, in the order of the plan."""
    contradicted: int = 0

    def add(self, trial: Trial, stimulus: Stimulus, verdict: Verdict, reasoned: Reasoned) -> None:
        self.reasoned += 1
        self.stated += reasoned.finding != "states-none"
        if reasoned.finding != "contradicts":
            return
        self.contradicted += 1
        if len(self.contradictions) < MOST_CONTRADICTIONS:
            words = "" if stimulus.family in TIER_2 else reasoned.text[-LONGEST:]
            said, stated = str(verdict.value), str(reasoned.stated)
            variant = trial.presentation.variant
            self.contradictions.append(Contradiction(trial.id, variant, stimulus.family, said, stated, words))


EXAMPLE_LENGTH = 400

Reader = Callable[[Response, Presentation], Outcome]
"""How a judge reads a response, given how the trial was presented."""

Seen = Callable[[Trial, Stimulus, Outcome | None, Response | None], None]
"""Is called for every trial in the order of the plan, in which the presentations of a stimulus are adjacent."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a protocol knows about a trial and counts by: columns of its judgments, besides those that all have."""

    columns: Mapping[str, str]
    """Maps a name to its type, as in `judgment_schema`."""
    row: Callable[[Trial, Stimulus, GradeScale | None], dict[str, Any]]


@dataclass(slots=True)
class Spent:
    """What the calls of a run took. An answer to several trials was paid for once, and is counted once."""

    calls: int = 0
    cost: Decimal = Decimal(0)
    priced: int = 0
    """Calls whose cost is known."""
    reused: int = 0
    """Answers taken over from other runs, among the calls: they cost nothing here, and something there."""
    verdicts: int = 0
    """Calls that gave a verdict, reused answers left out."""
    price_tables: set[str] = field(default_factory=set)
    input_tokens: int | None = 0
    """None if any call did not report it."""
    output_tokens: int | None = 0
    latencies: "array[float]" = field(default_factory=lambda: array("d"))
    """In milliseconds, for the calls that took any time."""

    @property
    def asked(self) -> int:
        """Calls that were made here."""
        return self.calls - self.reused

    def add(self, response: Response, *, verdict: bool) -> None:
        self.calls += 1
        self.reused += response.reused
        self.verdicts += verdict and not response.reused
        if response.cost is not None:
            self.cost += response.cost
            self.priced += 1
            self.price_tables.add(response.price_table)
        self.input_tokens = _known_sum(self.input_tokens, response.usage.input_tokens)
        self.output_tokens = _known_sum(self.output_tokens, response.usage.output_tokens)
        if response.latency_ms:
            self.latencies.append(response.latency_ms)


def _known_sum(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + more


@dataclass(slots=True)
class Reading:
    """What was found while reading a run."""

    judgments: Path
    """The file that they were written to. It is moved to its place once they have been counted."""
    planned: int = 0
    unasked: int = 0
    responses_sha256: str = ""
    first_asked: str = ""
    served_by: set[str] = field(default_factory=set)
    trouble: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Answers that are no verdict, by (outcome, reason)."""
    examples: dict[tuple[str, str], str] = field(default_factory=dict)
    reasons: Reasons = field(default_factory=Reasons)
    spent: Spent = field(default_factory=Spent)

    def add(self, outcome: Outcome | None) -> None:
        """Counts a planned trial by its outcome."""
        self.planned += 1
        self.unasked += outcome is None
        if found := trouble_of(outcome):
            key, example = found
            self.trouble[key] += 1
            self.examples.setdefault(key, example[:EXAMPLE_LENGTH])


def reader_of(judge: JudgeSpec) -> Reader:
    """Returns how a judge's responses are read: this needs no key, no server and none of the user's functions."""
    reader = build_reader(judge)
    return lambda response, presentation: read_response(reader, response, presentation)


@contextmanager
def read_judgments(
    run: Run,
    facts: Facts,
    *,
    seen: Seen = lambda *_: None,
    now: RunSnapshot | None = None,
    only: Collection[str] | None = None,
    keep: bool = True,
) -> Iterator[Reading]:
    """Reads every response of a run, a shard at a time, and lends the judgments for counting.

    Everything comes from one snapshot, `now` or a new one, and is counted from a file of this process's own: another
    process that reads the same run, or asks it, changes nothing here. Afterwards the file is put in place of
    `judgments.parquet`, unless the caller does not `keep` it.
    `only` are the ids of the stimuli to read, if not all.
    """
    opened = snapshot(run.store) if now is None else nullcontext(now)
    with opened as responses_now, building(run.folder / "judgments.parquet", keep=keep) as path:
        reading, read = Reading(path), reader_of(run.judge)
        reasoning = ReasoningCheck(build_reader(run.judge))
        state = hashlib.sha256()
        with row_writer(path, judgment_schema(facts.columns)) as write:
            for shard, responses in responses_now.walk():
                state.update(responses_digest((r.trial_id, r.text, r.failure) for r in responses.values()).encode())
                rows, paid = [], set(run.store.asked_elsewhere(shard))
                for trial, part in run.store.plan_shard(shard):
                    if only is not None and trial.stimulus_id not in only:
                        continue
                    stimulus, response = run.stimuli.part(part)[trial.stimulus_id], responses.get(trial.id)
                    outcome = None if response is None else read(response, trial.presentation)
                    reading.add(outcome)
                    reasoned = None
                    if response is not None:
                        if trial.id not in paid:
                            paid.add(trial.id)
                            reading.spent.add(response, verdict=isinstance(outcome, Verdict))
                        _note(reading, response)
                        reasoned = reasoning.check(response, trial.presentation, outcome)
                    if reasoned is not None and isinstance(outcome, Verdict):
                        reading.reasons.add(trial, stimulus, outcome, reasoned)
                    seen(trial, stimulus, outcome, response)
                    found = None if reasoned is None else reasoned.finding
                    scale = trial.presentation.scale(run.judge.scale)
                    rows.append(judgment_row(trial, stimulus, outcome, scale, facts, reasoning=found))
                write(rows)
        reading.responses_sha256 = state.hexdigest()
        yield reading


def judgment_row(
    trial: Trial,
    stimulus: Stimulus,
    outcome: Outcome | None,
    scale: GradeScale | None,
    facts: Facts,
    *,
    reasoning: ReasoningFinding | None = None,
) -> dict[str, Any]:
    """Returns the row of one trial, as it is counted."""
    asked = {
        "trial_id": trial.id,
        "prompt_id": trial.prompt_id,
        "stimulus_id": stimulus.id,
        "cluster": stimulus.cluster,
        "family": stimulus.family,
        "stratum": stimulus.stratum,
        "delta": stimulus.delta,
        **factor_row(trial.presentation),
    }
    said = outcome_columns(outcome, scale) | {"reasoning": reasoning}
    return asked | said | facts.row(trial, stimulus, scale)


def trouble_of(outcome: Outcome | None) -> tuple[tuple[str, str], str] | None:
    """Returns the kind, reason and words of an answer that is no verdict."""
    match outcome:
        case Unparsed(raw=raw, why=why):
            return ("unparsed", why), raw
        case Failed(kind=kind, detail=detail):
            return ("failed", kind), detail
        case Verdict() | Abstained() | None:
            return None


def outcome_columns(outcome: Outcome | None, scale: GradeScale | None) -> dict[str, Any]:
    """Returns all columns about a trial's outcome: every one is set, so that nothing of an earlier reading stays."""
    said: dict[str, Any] = dict.fromkeys(("choice", "label", "value", "score", "confidence", "why"))
    match outcome:
        case Verdict(value=value, confidence=confidence):
            score = None if scale is None or isinstance(value, Choice) else scale.score(value)
            column = "choice" if isinstance(value, Choice) else "label" if isinstance(value, str) else "value"
            return said | {"outcome": "verdict", column: value, "score": score, "confidence": confidence}
        case Abstained():
            return said | {"outcome": "abstained"}
        case Unparsed(why=why):
            return said | {"outcome": "unparsed", "why": why}
        case Failed(kind=kind):
            return said | {"outcome": "failed", "why": kind}
        case None:
            return said | {"outcome": "unasked"}


def _note(reading: Reading, response: Response) -> None:
    if response.served_by:
        reading.served_by.add(response.served_by)
    if response.asked_at and (not reading.first_asked or response.asked_at < reading.first_asked):
        reading.first_asked = response.asked_at
