"""The judgments of a readout: the rows of a run, with other outcomes. Nothing is asked again."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from math import isfinite
from pathlib import Path
from typing import Any

from umpirical.domain.readouts import Span, tie_band
from umpirical.domain.trials import Presentation
from umpirical.judges.logprobs.labels import LabelReader, Undecided
from umpirical.protocols.datasheet.examples import FailureKeeper
from umpirical.protocols.datasheet.facts import FACTS
from umpirical.protocols.datasheet.readouts.rules import Heard, Rule, pair_odds
from umpirical.protocols.datasheet.report import ReadRun
from umpirical.runs.judgments import judgment_row, reader_of
from umpirical.store.parquet import row_writer
from umpirical.store.schemas import judgment_schema
from umpirical.store.snapshots import RunSnapshot

ROWS_AT_A_TIME = 2000

NOT_ASKED = Undecided("it was not asked")


@dataclass(frozen=True, slots=True)
class HeardRun:
    """A run that was read by its parser, and whose responses can be read again."""

    text: ReadRun
    """As the parser reads it."""
    now: RunSnapshot
    """Of the responses that it has read."""

    def pairs(self) -> Iterator[list[Heard]]:
        """Yields the presentations of each pair."""
        return paired(self._heard())

    def _heard(self) -> Iterator[Heard]:
        run, labels, read = self.text.run, LabelReader(self.text.run.judge), reader_of(self.text.run.judge)
        for shard, responses in self.now.walk():
            for trial, part in run.store.plan_shard(shard):
                response = responses.get(trial.id)
                outcome = read(response, trial.presentation) if response else None
                odds = labels.read(response, outcome, trial.presentation.layout) if response and outcome else NOT_ASKED
                yield Heard(trial, run.stimuli.part(part)[trial.stimulus_id], response, outcome, odds)


def paired(heard: Iterable[Heard]) -> Iterator[list[Heard]]:
    """Yields the presentations of each pair, from all of them in the order of the plan."""
    # The presentations of a stimulus are adjacent in the plan, though perhaps in two shards.
    for _, group in groupby(heard, key=lambda one: one.stimulus.id):
        pairs: dict[Presentation, list[Heard]] = {}
        for one in group:
            pairs.setdefault(one.trial.presentation.pair, []).append(one)
        yield from pairs.values()


def rewrite_judgments(heard: HeardRun, rule: Rule, path: Path, *, tasks: Collection[str]) -> ReadRun:
    """Writes the judgments of `tasks` as a readout reads them, in the same form; returns them as a run.

    They are not counted yet: the tallies are still those of the readout `text`.
    """
    failures = FailureKeeper(None)
    reading = replace(heard.text.reading, judgments=path, planned=0, unasked=0, trouble=Counter(), examples={})

    def rewritten() -> Iterator[dict[str, Any]]:
        for pair in heard.pairs():
            if pair[0].stimulus.cluster not in tasks:
                continue
            for one, outcome in zip(pair, rule(pair), strict=True):
                reading.add(outcome)
                failures.see(one.trial, one.stimulus, outcome, one.response)
                yield judgment_row(one.trial, one.stimulus, outcome, None, FACTS)

    rows = rewritten()
    with row_writer(path, judgment_schema(FACTS.columns)) as write:
        while chunk := list(islice(rows, ROWS_AT_A_TIME)):
            write(chunk)
    return replace(heard.text, reading=reading, failures=failures.failures())


def band_of(pairs: Iterable[Sequence[Heard]], *, arm: str, tasks: Collection[str], target: float) -> float | str:
    """Returns the narrowest tie band that meets the target both on equal pairs and on vacuum, or why there is none."""
    odds = equal_pair_odds(pairs, arm=arm, tasks=tasks)
    if not odds["delta0"]:
        return "no equal pair of the tasks for choosing has log-odds in both orders, so no tie band can be set"
    # A value of which only a bound is known may be as large as that bound.
    band = max(tie_band([one.largest for one in found], target=target) for found in odds.values() if found)
    return band if isfinite(band) else "too many log-odds have no bound for a tie band: record more top_logprobs"


def equal_pair_odds(pairs: Iterable[Sequence[Heard]], *, arm: str, tasks: Collection[str]) -> dict[str, list[Span]]:
    """Returns the log-odds of pairs with nothing to prefer, by family: `delta0`, and `vacuum` in two orders.

    Pairs whose log-odds are unknown are left out.
    """
    found: dict[str, list[Span]] = {"delta0": [], "vacuum": []}
    for heard in pairs:
        stimulus = heard[0].stimulus
        if stimulus.family not in found or stimulus.cluster not in tasks or heard[0].trial.presentation.arm != arm:
            continue
        if (odds := pair_odds(heard)) is not None:
            found[stimulus.family].append(odds)
    return found
