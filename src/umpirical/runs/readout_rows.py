"""Judgments of a readout: the rows of a run that was read, with other outcomes. Nothing is asked again."""

import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from umpirical.domain.judgments import Abstained, Failed, Outcome, Unparsed, Verdict
from umpirical.domain.readouts import Span
from umpirical.domain.responses import Response
from umpirical.judges.logprobs.labels import Undecided
from umpirical.runs.failures import FailureKeeper
from umpirical.runs.judgments import EXAMPLE_LENGTH, Reader, Reading
from umpirical.runs.readout_rules import Heard, Rule, pair_odds
from umpirical.store.parquet import read_rows, write_rows
from umpirical.store.runs import RunStore
from umpirical.store.schemas import judgment_schema
from umpirical.store.stimulus_sets import StimulusSet

__all__ = ["HeardRun", "OddsOf", "equal_pair_odds", "rewrite_judgments"]

ROWS_PER_FILE = 2000

OddsOf = Callable[[Response, Outcome], Mapping[str, Span] | Undecided]
"""From a response and what the parser made of it to the log-probabilities of its labels."""

NOT_ASKED = Undecided("it was not asked")


@dataclass(frozen=True, slots=True)
class HeardRun:
    """A run that was read by its parser, and whose responses can be gone through again."""

    store: RunStore
    reading: Reading
    """Of the text."""
    stimuli: StimulusSet
    read: Reader
    odds_of: OddsOf

    def pairs(self) -> Iterator[list[tuple[Heard, dict[str, Any]]]]:
        """The presentations of each pair, each with its row; a pair is a stimulus in one arm, repeat and seed."""
        # The presentations of a stimulus stand together in the plan, though perhaps in two shards.
        for _, group in groupby(self._heard(), key=lambda entry: entry[0].stimulus.id):
            pairs: dict[tuple[str, int, int | None], list[tuple[Heard, dict[str, Any]]]] = {}
            for heard, row in group:
                way = heard.trial.presentation
                pairs.setdefault((way.arm, way.repeat, way.seed), []).append((heard, row))
            yield from pairs.values()

    def _heard(self) -> Iterator[tuple[Heard, dict[str, Any]]]:
        size = self.store.plan_size()
        journal = self.store.open_journal()
        try:
            for shard in range(size[1] if size else 0):
                responses = self.store.responses(shard, journal)
                rows = read_rows(self.reading.folder / f"{shard:05d}.parquet")
                for (trial, part), row in zip(self.store.plan_shard(shard), rows, strict=True):
                    response = responses.get(trial.id)
                    outcome = self.read(response) if response else None
                    labels = self.odds_of(response, outcome) if response and outcome else NOT_ASKED
                    yield Heard(trial, self.stimuli.part(part)[trial.stimulus_id], response, outcome, labels), row
        finally:
            journal.close()


def rewrite_judgments(run: HeardRun, rule: Rule, folder: Path, *, tasks: Collection[str]) -> Reading:
    """Writes the judgments of `tasks` as a readout reads them, in the same form, and what came up in doing so."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    failures, trouble, examples = FailureKeeper(None), Counter[tuple[str, str]](), dict[tuple[str, str], str]()
    planned = unasked = 0

    def rewritten() -> Iterator[dict[str, Any]]:
        nonlocal planned, unasked
        for pair in run.pairs():
            if pair[0][0].stimulus.task_id not in tasks:
                continue
            outcomes = rule([heard for heard, _ in pair])
            for (heard, row), outcome in zip(pair, outcomes, strict=True):
                planned, unasked = planned + 1, unasked + (outcome is None)
                failures.see(heard.trial, heard.stimulus, outcome, heard.response)
                if key := _trouble(outcome):
                    trouble[key] += 1
                    examples.setdefault(key, _words(outcome)[:EXAMPLE_LENGTH])
                yield row | _columns(outcome)

    rows = rewritten()
    for number, first in enumerate(rows):
        chunk = [first, *islice(rows, ROWS_PER_FILE - 1)]
        write_rows(folder / f"{number:05d}.parquet", chunk, judgment_schema())
    return replace(
        run.reading, folder=folder, planned=planned, unasked=unasked,
        trouble=trouble, examples=examples, failures=failures.failures(),
    )  # fmt: skip


def equal_pair_odds(run: HeardRun, *, arm: str, tasks: Collection[str]) -> dict[str, list[Span]]:
    """Log-odds of pairs between which there is nothing to prefer, by family: `delta0`, and `vacuum` in two orders.

    Pairs whose log-odds are not known are not in it.
    """
    found: dict[str, list[Span]] = {"delta0": [], "vacuum": []}
    for pair in run.pairs():
        heard = [heard for heard, _ in pair]
        stimulus = heard[0].stimulus
        if stimulus.family not in found or stimulus.task_id not in tasks or heard[0].trial.presentation.arm != arm:
            continue
        if (odds := pair_odds(heard)) is not None:
            found[stimulus.family].append(odds)
    return found


def _trouble(outcome: Outcome | None) -> tuple[str, str] | None:
    match outcome:
        case Unparsed(why=why):
            return "unparsed", why
        case Failed(kind=kind):
            return "failed", kind
        case Verdict() | Abstained() | None:
            return None


def _words(outcome: Outcome | None) -> str:
    return outcome.raw if isinstance(outcome, Unparsed) else outcome.detail if isinstance(outcome, Failed) else ""


def _columns(outcome: Outcome | None) -> dict[str, Any]:
    """All columns that say what a trial came to: what another readout said must not stay."""
    said: dict[str, Any] = dict.fromkeys(("choice", "label", "value", "score", "confidence", "why"))
    match outcome:
        case Verdict(value=value, confidence=confidence):
            return said | {"outcome": "verdict", "choice": value, "confidence": confidence}
        case Abstained():
            return said | {"outcome": "abstained"}
        case Unparsed(why=why):
            return said | {"outcome": "unparsed", "why": why}
        case Failed(kind=kind):
            return said | {"outcome": "failed", "why": kind}
        case None:
            return said | {"outcome": "unasked"}
