"""What a measure is, how a family makes one from a function, and the list of all measures.

A module of `FAMILIES` has a family of measures: what they share first, then a decorated function for each.
"""

import inspect
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from typing import Any, Generic, Literal, NamedTuple, TypedDict, TypeVar, Unpack

from umpirical.domain.measures import Measure, Result
from umpirical.domain.scales import JudgeKind
from umpirical.domain.tallies import Tallies
from umpirical.registry import Registry

EVERY_PROTOCOL = "*"
"""In place of a protocol's name: for those that exist, and those that plugins bring."""

Scale = Literal["rate", "difference", "requirements", "latent", "steps", "p-value", "ratio", "bits", "coefficient"]
"""A share from 0 to 1; a difference of shares; a number of requirements; a number of standard deviations of the
judge's noise; a number of grades; a probability under a null hypothesis; a ratio of weights or of steps; bits of
entropy; a coefficient of agreement or correlation, 1 at best."""

Direction = Literal["higher", "lower", "depends"]


@dataclass(frozen=True, slots=True)
class MeasureSpec:
    """One kind of measure: its name, what it says, and how it is computed."""

    name: str
    title: str
    about: str
    """What it measures, in one sentence for the datasheet."""
    worse: Direction
    compute: Callable[[Tallies, str], Sequence[Measure]]
    """Takes a run's tallies and the name of a variant; gives one measure for each part of the design it is about."""
    scale: Scale = "rate"
    """What kind of number it is, which decides how reports write it."""
    kinds: tuple[JudgeKind, ...] = ("compare",)
    """The kinds of judges it says something about; for others it is not computed."""
    protocols: tuple[str, ...] = ("datasheet",)
    """Names of the protocols whose runs it measures: `datasheet` (controlled stimuli), `stress` (tests on the user's
    own data), `agent` (transcripts), `pairs` (labelled pairs), that of a plugin, or EVERY_PROTOCOL."""
    between_variants: bool = False
    """It compares a variant with the baseline, so the baseline itself has none."""
    symbol: str = ""
    """What the Dark Current paper calls it; empty for a measure that the paper does not have."""
    symbol_above_0: str = ""
    """What the paper calls it on a ladder step, where that has a name of its own."""

    def symbol_at(self, stratum: str) -> str:
        return self.symbol_above_0 if self.symbol_above_0 and stratum not in ("", "0") else self.symbol

    def is_for(self, kind: JudgeKind, protocol: str) -> bool:
        """Whether it says something about judges of that kind under that protocol."""
        return kind in self.kinds and (protocol in self.protocols or EVERY_PROTOCOL in self.protocols)


# Families.


class Part(NamedTuple):
    """The result for one part of the design: a stratum of it, a group of the user's data, or all of it."""

    result: Result
    stratum: str = ""
    group: str = ""


Function = TypeVar("Function", bound=Callable[..., Any])


class Options(TypedDict, total=False):
    """Fields of a MeasureSpec that a measure may have besides those of its family, or instead of them."""

    scale: Scale
    kinds: tuple[JudgeKind, ...]
    protocols: tuple[str, ...]
    between_variants: bool
    symbol: str
    symbol_above_0: str


@dataclass(frozen=True, slots=True)
class MeasureFamily(Generic[Function]):
    """What several measures share, and how the function that tells them apart becomes a measure."""

    estimate: Callable[[Tallies, str, Function], Iterable[Part]]
    """Takes tallies, the name of a variant, and the function that a measure is written as."""
    kinds: tuple[JudgeKind, ...] = ("compare",)
    protocols: tuple[str, ...] = ("datasheet",)
    scale: Scale = "rate"
    contract: str = ""
    """What the docstrings of all members would say: level, bounds, when it is undefined, interval. `{worse}` stands
    for the direction of a member."""

    def measure(
        self, title: str, about: str, *, worse: Direction, **options: Unpack[Options]
    ) -> Callable[[Function], MeasureSpec]:
        """Makes a measure of the decorated function, and names it after the function: `tie-rate` for `tie_rate`.

        The function's docstring has the formula, and the contract is added to it.
        """
        card: Options = {"kinds": self.kinds, "protocols": self.protocols, "scale": self.scale}
        card.update(options)

        def made(function: Function) -> MeasureSpec:
            name = function.__name__.replace("_", "-")

            @wraps(function)
            def compute(tallies: Tallies, variant: str) -> list[Measure]:
                return [
                    Measure(name, part.result, variant, part.stratum, part.group)
                    for part in self.estimate(tallies, variant, function)
                ]

            compute.__doc__ = whole_contract(inspect.getdoc(function) or "", self.contract, worse)
            return MeasureSpec(name, title, about, worse, compute, **card)

        return made


def by_itself(tallies: Tallies, variant: str, function: Callable[[Tallies, str], Iterable[Part]]) -> Iterable[Part]:
    """The estimate of measures that share none: the function takes tallies and a variant, and gives the parts."""
    return function(tallies, variant)


def as_a_whole(tallies: Tallies, variant: str, function: Callable[[Tallies, str], Result]) -> Iterable[Part]:
    """The estimate of measures with a single result for a variant, which the function gives."""
    return [Part(function(tallies, variant))]


BY_PART = MeasureFamily(by_itself)
"""For a measure of the datasheet with an estimator of its own, by part of the design."""

WHOLE_VARIANT = MeasureFamily(as_a_whole)
"""For one with a single result."""


def whole_contract(formula: str, shared: str, worse: Direction) -> str:
    """A measure's docstring: its own with what its family shares, before the reference if there is one."""
    direction = "neither direction is bad in itself" if worse == "depends" else f"{worse} is worse"
    own, reference, source = formula.partition("Reference:")
    parts = (own.rstrip(), shared.replace("{worse}", direction), reference + source)
    return " ".join(part for part in parts if part)


# The list.

FAMILIES = (
    "preferences",
    "consistency",
    "layout",
    "chance",
    "sensitivity",
    "quads",
    "signal",
    "shifts",
    "length",
    "requirements",
    "parts",
    "carriers",
    "retest",
    "grades",
    "changes",
    "policies",
    "natural",
    "repeats",
    "gold",
    "calls",
)
"""Modules of this package, in the order in which a record has their measures."""


def measures_in(module: str) -> list[MeasureSpec]:
    """The measures that a module defines, in the order of their functions."""
    found = [each for each in vars(import_module(module)).values() if isinstance(each, MeasureSpec)]
    return [spec for spec in found if spec.compute.__module__ == module]


def _built_in() -> dict[str, str]:
    """Every measure of the families, by name: where it is defined."""
    modules = [f"{__package__}.{family}" for family in FAMILIES]
    return {spec.name: f"{module}:{spec.compute.__name__}" for module in modules for spec in measures_in(module)}


MEASURES: Registry[MeasureSpec] = Registry("measures", _built_in, noun="measure")


def measure_all(
    tallies: Tallies, *, kind: JudgeKind, protocol: str, only: Collection[str] | None = None
) -> list[tuple[MeasureSpec, Measure]]:
    """Every measure for this kind of judge under this protocol, variant by variant, in the order of the registry.

    `only` are the names of those to compute, for whoever needs but a few: to fit the signal model takes seconds.
    """
    specs = [spec for spec in MEASURES if spec.is_for(kind, protocol) and (only is None or spec.name in only)]
    return [
        (spec, measure)
        for variant in tallies.variants()
        for spec in specs
        for measure in spec.compute(tallies, variant)
    ]
