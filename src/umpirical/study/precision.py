"""How precise every measure of a plan will be, before anything is asked."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from umpirical.domain.measures import Estimate
from umpirical.domain.scales import JudgeKind
from umpirical.domain.stimuli import TIER_2, Stimulus
from umpirical.domain.tallies import CallTally, PairTally, Tallies, VacuumTally
from umpirical.domain.trials import Order, Trial
from umpirical.measures.catalogue import measure_all
from umpirical.measures.estimates.rates import PLANNING_CORRELATION
from umpirical.stats.precision import half_width

__all__ = ["RATES", "PlannedTallies", "Precision", "expected_precision"]

RATES = (0.1, 0.5)
"""A judge that is rarely wrong, and the widest an interval gets."""


@dataclass(frozen=True, slots=True)
class Precision:
    """How precise a measure will be if everything is answered."""

    measure: str
    title: str
    arm: str
    stratum: str
    unit: str
    units: int
    tasks: int
    half_widths: tuple[float, ...]
    """Of the 95 % interval at each of `RATES`."""


@dataclass(slots=True)
class PlannedTallies:
    """The trials of a whole plan, counted as if each had been answered."""

    calls: Counter[tuple[str, str, str, str, float | None]] = field(default_factory=Counter)
    vacuum: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str, str, float, str, Order]] = field(default_factory=Counter)
    """Without strata, which would make a long table, but for the edits of tier 2, which have no measure in common."""
    prompts: set[str] = field(default_factory=set)
    """Vacuum prompts seen: one counts once, however often it is repeated."""

    def add(self, trial: Trial, stimulus: Stimulus) -> None:
        task, arm, family = stimulus.task_id, trial.presentation.arm, stimulus.family
        self.calls[task, arm, family, stimulus.stratum, stimulus.delta] += 1
        if family != "vacuum":
            stratum = stimulus.stratum if family in TIER_2 else ""
            self.pairs[task, arm, family, stimulus.delta or 0.0, stratum, trial.presentation.order] += 1
        elif trial.prompt_id not in self.prompts:
            self.prompts.add(trial.prompt_id)
            self.vacuum[task, arm, stimulus.stratum] += 1

    def tallies(self) -> Tallies:
        """Of a judge that ties on everything."""
        return Tallies(
            vacuum=tuple(VacuumTally(*key, count, 0.0, 0) for key, count in self.vacuum.items()),
            pairs=tuple(self._pairs()),
            calls=tuple(CallTally(*key, planned=count, tie=count) for key, count in self.calls.items()),
        )

    def _pairs(self) -> Iterator[PairTally]:
        for (task, arm, family, delta, stratum, order), count in self.pairs.items():
            if order is Order.UV:
                both = self.pairs[task, arm, family, delta, stratum, Order.VU]
                yield PairTally(
                    task,
                    arm,
                    family,
                    delta,
                    both,
                    no_preference=both,
                    tie_calls=2 * both,
                    incomplete=count - both,
                    stratum=stratum,
                )


def expected_precision(tallies: Tallies) -> Iterator[Precision]:
    """Of every rate: the denominators are those that the measures themselves count."""
    # A plan of controlled stimuli counts pairs as if they were compared, whichever kind of judge it is for.
    own_data = tallies.scale is not None
    kind: JudgeKind = "grade" if own_data else "compare"
    for spec, measure in measure_all(tallies, kind=kind, protocol="stress" if own_data else "datasheet"):
        result = measure.result
        if spec.scale != "rate" or not isinstance(result, Estimate) or result.censoring != "none":
            continue
        tasks, each = result.clusters, result.denominator / result.clusters
        yield Precision(
            measure.name,
            spec.title,
            measure.arm,
            measure.stratum,
            result.unit,
            result.denominator,
            tasks,
            tuple(half_width(p, clusters=tasks, per_cluster=each, correlation=PLANNING_CORRELATION) for p in RATES),
        )
