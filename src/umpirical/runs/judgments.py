"""Responses to judgments: every planned trial is read again by the judge's parser, and gets exactly one outcome."""

import hashlib
import math
import shutil
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from umpirical.domain.judgments import Abstained, Failed, Outcome, Unparsed, Verdict
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice, GradeScale
from umpirical.domain.stimuli import GivenWinner, Stimulus
from umpirical.domain.trials import Order, Trial
from umpirical.runs.failures import Failure, FailureKeeper
from umpirical.store.parquet import write_rows
from umpirical.store.runs import RunStore, responses_digest
from umpirical.store.schemas import judgment_schema
from umpirical.store.stimulus_sets import StimulusSet

__all__ = ["Reading", "read_judgments"]

EXAMPLE_LENGTH = 400

Reader = Callable[[Response], Outcome]
"""A judge's way to read a response."""


@dataclass(slots=True)
class Spent:
    """What the calls of a run took."""

    calls: int = 0
    cost: Decimal = Decimal(0)
    priced: int = 0
    """Calls whose cost is known."""
    price_tables: set[str] = field(default_factory=set)
    input_tokens: int | None = 0
    """None as soon as one call did not say."""
    output_tokens: int | None = 0
    latencies: "array[float]" = field(default_factory=lambda: array("d"))
    """Milliseconds, of the calls that took any."""

    def add(self, response: Response) -> None:
        self.calls += 1
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
    """What came up while reading a run."""

    folder: Path
    """Where the judgments are."""
    planned: int = 0
    unasked: int = 0
    responses_sha256: str = ""
    first_asked: str = ""
    served_by: set[str] = field(default_factory=set)
    trouble: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Answers that are no verdict, by (outcome, why)."""
    examples: dict[tuple[str, str], str] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    spent: Spent = field(default_factory=Spent)


def read_judgments(store: RunStore, read: Reader, stimuli: StimulusSet, *, scale: GradeScale | None) -> Reading:
    """Reads every response of a run, a shard at a time, and writes the judgments for counting.

    `scale` is that of a `grade` judge, and None for a `compare` judge.
    """
    reading = Reading(store.folder / "judgments")
    shutil.rmtree(reading.folder, ignore_errors=True)
    reading.folder.mkdir()
    size = store.plan_size()
    state, failures = hashlib.sha256(), FailureKeeper(scale)
    journal = store.open_journal()
    try:
        for shard in range(size[1] if size else 0):
            responses = store.responses(shard, journal)
            state.update(responses_digest((r.trial_id, r.text, r.failure) for r in responses.values()).encode())
            rows = []
            for trial, part in store.plan_shard(shard):
                stimulus, response = stimuli.part(part)[trial.stimulus_id], responses.get(trial.id)
                outcome = _outcome(response, read, reading)
                failures.see(trial, stimulus, outcome, response)
                rows.append(_row(trial, stimulus, scale) | _columns(outcome, scale))
            write_rows(reading.folder / f"{shard:05d}.parquet", rows, judgment_schema())
    finally:
        journal.close()
    reading.responses_sha256, reading.failures = state.hexdigest(), failures.failures()
    return reading


def _outcome(response: Response | None, read: Reader, reading: Reading) -> Outcome | None:
    reading.planned += 1
    if response is None:
        reading.unasked += 1
        return None
    reading.spent.add(response)
    if response.served_by:
        reading.served_by.add(response.served_by)
    if response.asked_at and (not reading.first_asked or response.asked_at < reading.first_asked):
        reading.first_asked = response.asked_at
    outcome = read(response)
    match outcome:
        case Unparsed(raw=raw, why=why):
            _note(reading, ("unparsed", why), raw)
        case Failed(kind=kind, detail=detail):
            _note(reading, ("failed", kind), detail)
        case Verdict() | Abstained():
            pass
    return outcome


def _note(reading: Reading, key: tuple[str, str], example: str) -> None:
    reading.trouble[key] += 1
    reading.examples.setdefault(key, example[:EXAMPLE_LENGTH])


def _row(trial: Trial, stimulus: Stimulus, scale: GradeScale | None) -> dict[str, Any]:
    u, v = stimulus.candidates[0], stimulus.candidates[-1]
    graded = 0 if trial.presentation.order is Order.UV else -1
    winner = stimulus.expectation.candidate if isinstance(stimulus.expectation, GivenWinner) else None
    return {
        "trial_id": trial.id,
        "prompt_id": trial.prompt_id,
        "stimulus_id": stimulus.id,
        "task_id": stimulus.task_id,
        "family": stimulus.family,
        "stratum": stimulus.stratum,
        "delta": stimulus.delta,
        "winner": winner,
        "base": stimulus.base,
        "log_length": round(math.log(max(1, len(u)) / max(1, len(v))), 2),
        "level": None if scale is None else stimulus.levels[graded],
        "arm": trial.presentation.arm,
        "order": trial.presentation.order.value,
        "repeat": trial.presentation.repeat,
        "seed": trial.presentation.seed,
        "parent": stimulus.parent,
        "expectation": stimulus.expectation.kind,
        "gold": stimulus.gold,
        "gold_score": scale.score(stimulus.gold) if scale is not None and stimulus.gold else None,
        "groups": [f"{name}={value}" for name, value in sorted(stimulus.strata.items())],
    }


def _columns(outcome: Outcome | None, scale: GradeScale | None) -> dict[str, Any]:
    match outcome:
        case Verdict(value=value, confidence=confidence):
            score = None if scale is None or isinstance(value, Choice) else scale.score(value)
            column = "choice" if isinstance(value, Choice) else "label" if isinstance(value, str) else "value"
            return {"outcome": "verdict", column: value, "score": score, "confidence": confidence}
        case Abstained():
            return {"outcome": "abstained"}
        case Unparsed(why=why):
            return {"outcome": "unparsed", "why": why}
        case Failed(kind=kind):
            return {"outcome": "failed", "why": kind}
        case None:
            return {"outcome": "unasked"}
