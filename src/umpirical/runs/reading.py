"""Responses to judgments: every planned trial is read again by the judge's parser, and gets exactly one outcome."""

import hashlib
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from umpirical.domain.judgments import Abstained, Failed, Outcome, Unparsed, Verdict
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice
from umpirical.domain.stimuli import GivenWinner, Stimulus
from umpirical.domain.trials import Trial
from umpirical.store.parquet import write_rows
from umpirical.store.runs import RunStore, responses_digest
from umpirical.store.schemas import judgment_schema
from umpirical.store.stimulus_sets import StimulusSet

__all__ = ["Reading", "read_judgments"]

EXAMPLE_LENGTH = 400

Reader = Callable[[Response], Outcome]
"""A judge's way to read a response."""


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


def read_judgments(store: RunStore, read: Reader, stimuli: StimulusSet) -> Reading:
    """Reads every response of a run, a shard at a time, and writes the judgments for counting."""
    reading = Reading(store.folder / "judgments")
    shutil.rmtree(reading.folder, ignore_errors=True)
    reading.folder.mkdir()
    size = store.plan_size()
    state = hashlib.sha256()
    journal = store.open_journal()
    try:
        for shard in range(size[1] if size else 0):
            responses = store.responses(shard, journal)
            state.update(responses_digest((r.trial_id, r.text, r.failure) for r in responses.values()).encode())
            rows = [
                _row(trial, stimuli.part(part)[trial.stimulus_id], _outcome(trial, responses, read, reading))
                for trial, part in store.plan_shard(shard)
            ]
            write_rows(reading.folder / f"{shard:05d}.parquet", rows, judgment_schema())
    finally:
        journal.close()
    reading.responses_sha256 = state.hexdigest()
    return reading


def _outcome(trial: Trial, responses: Mapping[str, Response], read: Reader, reading: Reading) -> Outcome | None:
    reading.planned += 1
    response = responses.get(trial.id)
    if response is None:
        reading.unasked += 1
        return None
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


def _row(trial: Trial, stimulus: Stimulus, outcome: Outcome | None) -> dict[str, Any]:
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
        "arm": trial.presentation.arm,
        "order": trial.presentation.order.value,
        "repeat": trial.presentation.repeat,
        **_columns(outcome),
    }


def _columns(outcome: Outcome | None) -> dict[str, Any]:
    match outcome:
        case Verdict(value=value, confidence=confidence):
            column = "choice" if isinstance(value, Choice) else "label" if isinstance(value, str) else "value"
            return {"outcome": "verdict", column: value, "confidence": confidence}
        case Abstained():
            return {"outcome": "abstained"}
        case Unparsed(why=why):
            return {"outcome": "unparsed", "why": why}
        case Failed(kind=kind):
            return {"outcome": "failed", "why": kind}
        case None:
            return {"outcome": "unasked"}
