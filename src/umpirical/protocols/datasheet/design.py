"""How controlled stimuli are presented, and what their plan will count."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from umpirical.domain.digests import Json
from umpirical.domain.errors import UsageError
from umpirical.domain.scales import JudgeKind
from umpirical.domain.stimuli import TIER_2, Family, Stimulus
from umpirical.domain.tallies import CallTally, GradePairTally, PairTally, QuadTally, Tallies, VacuumTally
from umpirical.domain.trials import Layout, Order, Presentation, Trial
from umpirical.judges.judge import Capabilities
from umpirical.protocols.datasheet.cells import VERSION as CELLS
from umpirical.protocols.datasheet.cells import layouts_of
from umpirical.protocols.protocol import PlannedCounts
from umpirical.runs.plan import Design

PROBED = (Family.DELTA0, Family.LADDER)
"""The families whose steps a probe can choose: equal pairs, which are step 0, and the ladder."""


@dataclass(frozen=True)
class DatasheetDesign(Design):
    """Every stimulus in every arm and repeat, in both orders, each in a layout where the prompt leaves it open."""

    crossed: tuple[str, ...] = ()
    """The arms whose layout is varied."""
    steps: Mapping[str, tuple[float, ...]] = field(default_factory=dict, hash=False)
    """Maps a probe to the steps at which it is asked; every other arm is asked about everything."""
    layouts: Mapping[str, Layout] = field(default_factory=dict, repr=False, hash=False)
    """The layout of each stimulus, by its id; a stimulus without one is shown as the prompt has it."""

    def as_json(self) -> Json:
        # Left out where nothing is varied, so that such a design keeps its id.
        steps: dict[str, Json] = {arm: sorted(steps) for arm, steps in self.steps.items()}
        crossed: dict[str, Json] = {"crossed": self.crossed, "cells": CELLS} if self.crossed else {}
        probes: dict[str, Json] = {"steps": steps} if steps else {}
        return {"repeats": self.repeats, "arms": self.arms, **crossed, **probes}

    def over(self, stimuli: Iterable[Stimulus]) -> "DatasheetDesign":
        chosen = list(stimuli) if self.steps else stimuli
        for arm, steps in self.steps.items():
            there = {stimulus.delta or 0.0 for stimulus in chosen if stimulus.family in PROBED}
            if missing := set(steps) - there:
                known = ", ".join(f"{step:g}" for step in sorted(there))
                raise UsageError(f"arm {arm}: no pair has step {min(missing):g}", fix=f"steps of this size: {known}")
        return replace(self, layouts=layouts_of(chosen)) if self.crossed else self

    def most_ways(self) -> int:
        return len(self.arms) * self.repeats * len(Order)

    def presentations(
        self, stimulus: Stimulus, capabilities: Capabilities, kind: JudgeKind = "compare"
    ) -> Iterator[Presentation]:
        # A pair of identical answers is pointless for a judge that sees one answer at a time.
        if kind == "grade" and stimulus.family == "vacuum" and stimulus.stratum == "identical":
            return iter(())
        layout = self.layouts.get(stimulus.id)
        ways = super().presentations(stimulus, capabilities, kind)
        asked = (way for way in ways if way.arm not in self.steps or _is_of(stimulus, self.steps[way.arm]))
        return (replace(way, layout=layout if way.arm in self.crossed else None) for way in asked)


def _is_of(stimulus: Stimulus, steps: Collection[float]) -> bool:
    return stimulus.family in PROBED and (stimulus.delta or 0.0) in steps


@dataclass(slots=True)
class PlannedTallies(PlannedCounts):
    """The trials of a whole plan, counted as if each had been answered by a judge that ties on everything."""

    kind: JudgeKind
    calls: Counter[tuple[str, str, str, str, float | None]] = field(default_factory=Counter)
    vacuum: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    pairs: dict[tuple[str, str, str, float, str], dict[str, set[Order]]] = field(default_factory=dict)
    """The orders of each stimulus: a pair counts once, however often it is repeated. Without strata, which would make a
    long table, except for the edits of tier 2, which share no measure."""
    quads: dict[tuple[str, str, str, str, float], dict[str, set[tuple[str, Order]]]] = field(default_factory=dict)
    """The versions and orders of each quad."""
    prompts: set[str] = field(default_factory=set)
    """Vacuum prompts seen: each counts once, however often it is repeated."""

    def add(self, trial: Trial, stimulus: Stimulus) -> None:
        task, arm, family = stimulus.cluster, trial.presentation.arm, stimulus.family
        self.calls[task, arm, family, stimulus.stratum, stimulus.delta] += 1
        if family != "vacuum":
            order, delta = trial.presentation.order, stimulus.delta or 0.0
            stratum = stimulus.stratum if family in TIER_2 or family == Family.CONFLICT else ""
            pairs = self.pairs.setdefault((task, arm, family, delta, stratum), {})
            pairs.setdefault(trial.stimulus_id, set()).add(order)
            if stimulus.quad:
                quads = self.quads.setdefault((task, arm, family, stratum, delta), {})
                quads.setdefault(stimulus.quad, set()).add((stimulus.version, order))
        elif trial.prompt_id not in self.prompts:
            self.prompts.add(trial.prompt_id)
            self.vacuum[task, arm, stimulus.stratum] += 1

    def tallies(self) -> Tallies:
        vacuum = tuple(VacuumTally(*key, count, 0.0, 0) for key, count in self.vacuum.items())
        if self.kind == "grade":
            return Tallies(
                vacuum=vacuum,
                calls=tuple(CallTally(*key, planned=count, graded=count) for key, count in self.calls.items()),
                grade_pairs=tuple(
                    GradePairTally(task, arm, family, stratum, delta, both, equal=both, incomplete=lost)
                    for task, arm, family, delta, stratum, both, lost in self._pairs()
                ),
            )
        return Tallies(
            vacuum=vacuum,
            calls=tuple(CallTally(*key, planned=count, tie=count) for key, count in self.calls.items()),
            pairs=tuple(
                PairTally(
                    task,
                    arm,
                    family,
                    delta,
                    both,
                    no_preference=both,
                    tie_calls=2 * both,
                    incomplete=lost,
                    stratum=stratum,
                )
                for task, arm, family, delta, stratum, both, lost in self._pairs()
            ),
            quads=tuple(self._quads()),
        )

    def _pairs(self) -> Iterator[tuple[str, str, str, float, str, int, int]]:
        """Yields the key of each tally, how many of its pairs are asked in both orders, and how many in one only."""
        for key, stimuli in self.pairs.items():
            both = sum(len(orders) == 2 for orders in stimuli.values())
            yield *key, both, len(stimuli) - both

    def _quads(self) -> Iterator[QuadTally]:
        for key, quads in self.quads.items():
            whole = sum(len(shown) == 4 for shown in quads.values())
            yield QuadTally(*key, whole, neither=whole, incomplete=len(quads) - whole)
