"""Measures: a number with everything needed to believe it, or the reason why there is none."""

from dataclasses import dataclass, field
from typing import Literal

Unit = Literal["call", "prompt", "pair", "crossed-pair", "item", "task"]

Censoring = Literal["none", "left", "right"]

AS_RECORD = {"extra": "forbid", "revalidate_instances": "always", "use_attribute_docstrings": True}
"""How pydantic reads and writes a dataclass that is a part of records."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The interval for the true value, at a stated level, by a stated method."""

    low: float | None
    """None if open below, as for a threshold under the smallest step."""
    high: float | None
    """None if open above."""
    level: float = field(default=0.95, kw_only=True)
    method: str = field(kw_only=True)
    __pydantic_config__ = AS_RECORD


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measured value."""

    value: float
    numerator: float
    denominator: int
    unit: Unit
    """What the denominator counts."""
    interval: Interval | None
    """None only for a censored value that the data bounds on neither side, and for a p-value, which is a test."""
    clusters: int
    """Number of tasks behind it."""
    design_effect: float | None = None
    """Variance relative to that of independent units. None if it cannot be estimated: at 0, at 1, for a threshold."""
    planning_interval: Interval | None = None
    """At 0 or 1, where the design effect cannot be estimated: the interval under an assumed intra-task correlation."""
    planning_effect: float | None = None
    """The design effect of a rate under that correlation; None for anything but a rate."""
    joint: float | None = None
    """How many units may be wrong together, as the pairs of a crossed pair are: at 0 and 1 so many count as one. None
    if each is its own."""
    heavy_hits: tuple[tuple[float, float], ...] = ()
    """Parts of the hits, with their design effects, that bound a rate further out than all of them; mostly empty."""
    heavy_misses: tuple[tuple[float, float], ...] = ()
    """The same of the misses."""
    per_task: tuple[tuple[float, float, int], ...] = ()
    """Hits and units of a task, and how many tasks have these. Only where a run stops as soon as it is decided: bounds
    that hold at every look are worked out from them."""
    censoring: Censoring = "none"
    """`left`: the true value is at most `value`; `right`: it is more than `value`."""
    excluded: dict[str, int] = field(default_factory=dict)
    """Units that are not in the denominator, by reason."""
    bounds: tuple[float, float] | None = None
    """The value with every left-out unit counted one way and the other; None if nothing was left out."""
    kind: Literal["estimate"] = "estimate"
    __pydantic_config__ = AS_RECORD


@dataclass(frozen=True, slots=True)
class Undefined:
    """There is no value, for a stated reason."""

    reason: str
    excluded: dict[str, int] = field(default_factory=dict)
    kind: Literal["undefined"] = "undefined"
    __pydantic_config__ = AS_RECORD


Result = Estimate | Undefined


def result_columns(result: Result) -> dict[str, str | float | None]:
    """Returns a result as columns of a table. An undefined one has a reason and no value."""
    found = result if isinstance(result, Estimate) else None
    ends = found.interval if found else None
    return {
        "value": found.value if found else None,
        "low": ends.low if ends else None,
        "high": ends.high if ends else None,
        "interval_level": ends.level if ends else None,
        "method": ends.method if ends else None,
        "numerator": found.numerator if found else None,
        "denominator": found.denominator if found else None,
        "unit": found.unit if found else None,
        "clusters": found.clusters if found else None,
        "undefined": result.reason if isinstance(result, Undefined) else None,
    }


@dataclass(frozen=True, slots=True)
class Measure:
    """One named property of a judge, as measured."""

    name: str
    """For example `dark-current` or `target-sensitivity`."""
    result: Result
    variant: str = "baseline"
    stratum: str = ""
    """The part of the design that it is about: a vacuum class, a ladder step, a stress test; empty for the whole."""
    group: str = ""
    """A stratum of the user's data, such as `grade_level=8`; empty for all items."""
