"""Simulates runs that stop as soon as they are decided, of judges whose true rates are known.

Rounds, checks and verdicts are those of the product; only the answers are drawn, family by family.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "reliability"))

from known_judges import KnownJudge, Plan, draw, plan_of

from umpirical.domain.stimuli import Stimulus
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.datasheet.more import names_of, round_after
from umpirical.protocols.datasheet.stimuli import builtin_materials
from umpirical.reports.checks import hold_checks
from umpirical.reports.decision import decide
from umpirical.reports.policy import Policy
from umpirical.reports.record import MeasureRecord, measure_record, part_record
from umpirical.runs.rounds import Place, most_rounds, next_round
from umpirical.stimuli.controlled.datasheet_set import DECIDED, datasheet_stimuli, recipe


@dataclass(frozen=True)
class Run:
    """How a run ended."""

    verdict: str
    calls: int
    rounds: int
    measures: list[MeasureRecord]


@cache
def stimuli() -> tuple[Stimulus, ...]:
    size = recipe(DECIDED)
    return tuple(datasheet_stimuli(builtin_materials("crossed", size.tasks), size, seed=1))


@cache
def whole() -> Plan:
    return plan_of(stimuli())


def simulate(judge: KnownJudge, policy: Policy, *, correlation: float, seed: int) -> Run:
    """Asks a judge until it is decided; each of its task families keeps its own shares over the rounds."""
    known = {one.id: one for one in stimuli()}
    most = sum(calls_of(known.values()))
    looks, rng = most_rounds(most), np.random.default_rng(seed)
    asked, parts, number = set[str](), list[Tallies](), 0
    chosen: Sequence[str] = next_round(stimuli(), Place(seed))
    while True:
        asked |= set(chosen)
        number += 1
        plan = _padded(plan_of(known[one] for one in chosen))
        families = np.random.default_rng([seed, 1])
        parts.append(draw(judge, plan, rng, correlation=correlation, families=families))
        measures = measured(_sum(parts), policy)
        checks = hold_checks(policy, "compare", measures, ["baseline"], looks=looks)
        verdict = decide(policy, checks).verdict
        calls = sum(calls_of(known[one] for one in asked))
        if verdict == "do-not-use" or number >= looks:
            return Run(verdict, calls, number, measures)
        chosen = round_after(checks, measures, stimuli(), asked, Place(seed, number, most - calls))
        if not chosen:
            return Run(verdict, calls, number, measures)


def calls_of(chosen: Iterable[Stimulus]) -> list[int]:
    return [len(set(one.candidates)) for one in chosen]


def measured(tallies: Tallies, policy: Policy) -> list[MeasureRecord]:
    return [
        part_record(spec, measure) if measure.group else measure_record(spec, measure, anytime=True)
        for spec in map(MEASURES.get, sorted(names_of(policy)))
        for measure in spec.compute(tallies, "baseline")
    ]


def _padded(plan: Plan) -> Plan:
    """Every entry of the whole set, if only with 0: shares of families are drawn in the same order in every round."""
    padded = {}
    for field in fields(Plan):
        ours, all_ = getattr(plan, field.name), getattr(whole(), field.name)
        padded[field.name] = Counter({key: ours[key] for key in all_}) if isinstance(all_, Counter) else all_
    return Plan(**padded)


def _sum(parts: Sequence[Tallies]) -> Tallies:
    names = [field.name for field in fields(Tallies) if isinstance(getattr(parts[0], field.name), tuple)]
    return Tallies(**{name: tuple(each for part in parts for each in getattr(part, name)) for name in names})
