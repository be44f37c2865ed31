"""What a measure is to the rest of the house, and which there are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.registry import Registry

__all__ = ["MEASURES", "MeasureSpec", "measure_all"]


@dataclass(frozen=True, slots=True)
class MeasureSpec:
    """One kind of measure: how it is called, and how it is computed."""

    name: str
    title: str
    about: str
    """What it measures, in one sentence for the datasheet."""
    worse: Literal["higher", "lower", "depends"]
    compute: Callable[[Tallies, str], Sequence[Measure]]
    """From a run's tallies and the name of an arm, one measure per part of the design it speaks of."""


MEASURES: Registry[MeasureSpec] = Registry(
    "measures",
    {
        "dark-current": "umpirical.measures.dark_current:SPEC",
        "raw-false-preference": "umpirical.measures.raw_false_preference:SPEC",
        "stable-cross-sensitivity": "umpirical.measures.stable_cross_sensitivity:SPEC",
        "positional-false-preference": "umpirical.measures.positional_false_preference:SPEC",
        "one-sided-commit": "umpirical.measures.one_sided_commit:SPEC",
        "no-preference": "umpirical.measures.no_preference:SPEC",
        "target-sensitivity": "umpirical.measures.target_sensitivity:SPEC",
        "tie-rate": "umpirical.measures.tie_rate:SPEC",
        "detection-threshold": "umpirical.measures.detection_threshold:SPEC",
        "unparsed-rate": "umpirical.measures.unparsed_rate:SPEC",
        "failure-rate": "umpirical.measures.failure_rate:SPEC",
    },
)


def measure_all(tallies: Tallies) -> list[tuple[MeasureSpec, Measure]]:
    """Every registered measure on every arm, in the order of the registry."""
    return [(spec, measure) for arm in tallies.arms() for spec in MEASURES for measure in spec.compute(tallies, arm)]
