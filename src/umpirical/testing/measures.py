"""The conformance kit for measures: one call in a test checks everything that a measure promises.

Its card:

- a name in kebab case that no other measure has; a title; an `about` of whole sentences, and no placeholder in either;
- a scale, a direction, kinds of judges and protocols that exist;
- a docstring that says formula, level, bounds, when it is undefined, and interval.

Its results, on runs with gaps, with groups and with two variants:

- they have the measure's own name and the variant asked for, and each part of the design has one;
- an estimate has finite numbers, a numerator, a denominator, a unit and clusters; a rate is their ratio;
- an estimate has an interval with a method, a level and a width, which contains the value; a p-value has none, and a
  censored value may have none; values and bounds stay on their scale;
- what is left out is counted, by reason; there is at least one estimate.

What it does with other counts:

- it never raises, leaves the tallies unchanged, and gives the same results again;
- the order of tallies changes nothing; doubling every tally changes no rate and no difference of rates;
- if nothing was counted or answered, or for another variant, it is undefined with a reason, and never a number;
- a single task is undefined, or an estimate that says one cluster;
- it gives no estimate on the tallies of a kind of judge that it is not for.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from math import inf, isclose, isfinite
from typing import Literal, NamedTuple, NoReturn, get_args

from umpirical.domain.measures import Censoring, Estimate, Interval, Measure, Result, Undefined, Unit
from umpirical.domain.scales import GradeScale, JudgeKind
from umpirical.domain.tallies import PARTS, Tallies
from umpirical.measures.catalogue import MEASURES, MeasureSpec, Scale
from umpirical.registry import KEBAB_CASE
from umpirical.testing.sample_tallies import (
    agent_pair_tallies,
    agent_tallies,
    backwards,
    clusters,
    compare_tallies,
    copied,
    doubled,
    grade_tallies,
    labelled_tallies,
    of_task,
    stress_tallies,
    unanswered,
)

Promise = Literal[
    "name", "title", "about", "worse", "scale", "kinds", "protocols", "docstring",
    "never raises", "results", "own name", "own variant", "one result per part", "reason",
    "numbers", "counts", "unit", "clusters", "censoring", "rate", "interval", "on its scale", "bounds", "left out",
    "says something", "input unchanged", "same again", "order", "duplicates", "nothing counted", "nothing answered",
    "one task", "another variant", "another kind",
]  # fmt: skip
"""What the message of a failed check can name."""

PLACEHOLDER = re.compile(r"\b(todo|tbd|fixme|xxx|lorem|placeholder)\b|\.\.\.|…|[{}<>]|\?\?", re.IGNORECASE)

CONTRACT = ("Formula:", "Level:", "Bounds:", "Undefined", "Interval:")

BOUNDS: dict[Scale, tuple[float, float]] = {
    "rate": (0, 1),
    "difference": (-1, 1),
    "requirements": (0, inf),
    "p-value": (0, 1),
    "coefficient": (-1, 1),
    "bits": (0, inf),
}

FITTED: tuple[Scale, ...] = ("latent", "requirements", "p-value")
"""Scales of numbers that may come from an iterative fit, whose last digits depend on the order of sums."""

Parts = dict[tuple[str, str], Result]
"""Results by stratum and group, in order."""


class _Sample(NamedTuple):
    """Tallies, and the kind of run they come from."""

    tallies: Tallies
    kind: JudgeKind
    protocol: str


@dataclass(frozen=True, slots=True)
class _Case:
    """A measure on one run: what it gave, variant by variant."""

    spec: MeasureSpec
    tallies: Tallies
    found: dict[str, Parts]

    def results(self) -> Iterator[tuple[str, Result]]:
        """Yields each result, preceded by words that say where it was found."""
        for variant, parts in self.found.items():
            for part, result in parts.items():
                yield _where(variant, part), result

    def again(self, change: Callable[[Tallies], Tallies]) -> Iterator[tuple[str, Parts, Parts]]:
        """Yields, variant by variant, what it gave before and what it gives for other tallies."""
        tallies = change(self.tallies)
        for variant, parts in self.found.items():
            yield variant, parts, _computed(self.spec, tallies, variant)


def check_measure(spec: MeasureSpec, tallies: Iterable[Tallies] = ()) -> None:
    """Raises AssertionError with the broken promise and what breaks it.

    `tallies` are your own complete runs, with gaps, that are tried besides the built-in ones: a measure for a plugin's
    protocol needs some.
    """
    _check_card(spec)
    samples = [sample._replace(tallies=copied(sample.tallies)) for sample in _samples()]
    ours = [sample.tallies for sample in samples if spec.is_for(sample.kind, sample.protocol)]
    cases = [_case(spec, run) for run in (*ours, *tallies)]
    for case in cases:
        _check_estimates(case)
    _check_says_something(spec, cases)
    _check_nothing_counted(spec)
    for case in cases:
        _check_same_again(case)
        _check_order(case)
        _check_duplicates(case)
        _check_nothing_answered(case)
        _check_one_task(case)
        _check_another_variant(case)
    for sample in samples:
        _check_other_runs(spec, sample)


@cache
def _samples() -> tuple[_Sample, ...]:
    return (
        _Sample(compare_tallies(), "compare", "datasheet"),
        _Sample(grade_tallies(), "grade", "datasheet"),
        _Sample(stress_tallies(), "grade", "stress"),
        _Sample(agent_tallies(), "grade", "agent"),
        _Sample(agent_pair_tallies(), "compare", "agent"),
        _Sample(labelled_tallies(), "compare", "pairs"),
    )


# The card.


def _check_card(spec: MeasureSpec) -> None:
    if not isinstance(spec, MeasureSpec):
        # Not a TypeError: as with every other promise, the test should fail and not end in an error.
        raise AssertionError(f"expected a MeasureSpec, got {type(spec).__name__}")  # noqa: TRY004
    if not KEBAB_CASE.fullmatch(spec.name):
        _broken(spec, "name", f"expected kebab case such as `dark-current`, got {spec.name!r}")
    if spec.name in MEASURES.names() and MEASURES.get(spec.name) != spec:
        _broken(spec, "name", f"a different measure is registered as {spec.name!r}")
    if not re.fullmatch(r"\w.*[^\s.]", spec.title) or PLACEHOLDER.search(spec.title):
        _broken(spec, "title", f"expected a title for the report, without a full stop, got {spec.title!r}")
    if not re.fullmatch(r"[^\Wa-z_].+[.]", spec.about) or PLACEHOLDER.search(spec.about):
        _broken(spec, "about", f"expected full sentences for the reader of a report, got {spec.about!r}")
    if spec.worse not in ("higher", "lower", "depends"):
        _broken(spec, "worse", f"expected higher, lower or depends, got {spec.worse!r}")
    if spec.scale not in get_args(Scale):
        _broken(spec, "scale", f"expected one of {', '.join(get_args(Scale))}, got {spec.scale!r}")
    _check_names(spec, "kinds", spec.kinds)
    if unknown := [kind for kind in spec.kinds if kind not in get_args(JudgeKind)]:
        _broken(spec, "kinds", f"expected some of {', '.join(get_args(JudgeKind))}, got {unknown[0]!r}")
    _check_names(spec, "protocols", spec.protocols)
    text = inspect.getdoc(spec.compute) or ""
    if missing := [part for part in CONTRACT if part not in text]:
        _broken(spec, "docstring", f"the docstring of the function lacks {', '.join(missing)}")


def _check_names(spec: MeasureSpec, promise: Literal["kinds", "protocols"], names: object) -> None:
    """Refuses a bare string too, since `in` would find any part of it."""
    if not (isinstance(names, tuple) and names and all(isinstance(name, str) and name.strip() for name in names)):
        _broken(spec, promise, f"expected a tuple of names, got {names!r}")


# What a measure gives.


def _case(spec: MeasureSpec, tallies: Tallies) -> _Case:
    given = copied(tallies)
    found = {variant: _computed(spec, given, variant) for variant in given.variants()}
    if given != tallies:
        changed = [part for part in PARTS if getattr(given, part) != getattr(tallies, part)]
        _broken(spec, "input unchanged", f"computing it changes the tallies: {', '.join(changed)}")
    return _Case(spec, tallies, found)


def _computed(spec: MeasureSpec, tallies: Tallies, variant: str) -> Parts:
    try:
        measures = spec.compute(tallies, variant)
    except Exception as error:  # noqa: BLE001  # whatever it is, it would end a report
        _broken(spec, "never raises", f"raised {type(error).__name__}: {error} for prompt variant {variant!r}")
    if not isinstance(measures, list | tuple) or not all(isinstance(measure, Measure) for measure in measures):
        _broken(spec, "results", f"expected a sequence of Measure, got {_short(measures)}")
    found: Parts = {}
    for measure in measures:
        part = (measure.stratum, measure.group)
        where = _where(variant, part)
        if measure.name != spec.name:
            _broken(spec, "own name", f"a result has the name {measure.name!r}, {where}")
        if measure.variant != variant:
            _broken(spec, "own variant", f"a result is for prompt variant {measure.variant!r}, {where}")
        if part in found:
            _broken(spec, "one result per part", f"two results, {where}")
        if not isinstance(measure.result, Estimate | Undefined):
            _broken(spec, "results", f"expected Estimate or Undefined, got {_short(measure.result)}, {where}")
        if isinstance(measure.result, Undefined) and not measure.result.reason.strip():
            _broken(spec, "reason", f"Undefined without a reason, {where}")
        found[part] = measure.result
    return found


def _check_estimates(case: _Case) -> None:
    for where, result in case.results():
        if isinstance(result, Estimate):
            _check_numbers(case.spec, result, where)
            _check_interval(case.spec, result, where)
        _check_excluded(case.spec, result.excluded, where)


def _check_numbers(spec: MeasureSpec, found: Estimate, where: str) -> None:
    for what, number in (("value", found.value), ("numerator", found.numerator)):
        if not isinstance(number, int | float) or not isfinite(number):
            _broken(spec, "numbers", f"expected a finite number as {what}, got {number!r}, {where}")
    if type(found.denominator) is not int or found.denominator < 1:
        _broken(spec, "counts", f"expected a whole number from 1 as denominator, got {found.denominator!r}, {where}")
    if found.unit not in get_args(Unit):
        _broken(spec, "unit", f"expected one of {', '.join(get_args(Unit))}, got {found.unit!r}, {where}")
    if type(found.clusters) is not int or found.clusters < 1:
        _broken(spec, "clusters", f"expected a whole number from 1, got {found.clusters!r}, {where}")
    if found.censoring not in get_args(Censoring):
        _broken(
            spec, "censoring", f"expected one of {', '.join(get_args(Censoring))}, got {found.censoring!r}, {where}"
        )
    if spec.scale == "rate" and not isclose(found.value, found.numerator / found.denominator, abs_tol=1e-9):
        counts = f"{found.numerator:g} / {found.denominator}"
        _broken(spec, "rate", f"the value {found.value:g} is not its counts, {counts}, {where}")


def _check_interval(spec: MeasureSpec, found: Estimate, where: str) -> None:
    low, high = _ends(found.interval)
    value, rounding = found.value, 1e-9 * max(1.0, abs(found.value))
    if found.interval is None:
        if spec.scale != "p-value" and found.censoring == "none":
            _broken(spec, "interval", f"expected one for a value that is neither censored nor a p-value, {where}")
    elif spec.scale == "p-value":
        _broken(spec, "interval", f"expected none for a p-value, which is a test and not an estimate, {where}")
    elif not found.interval.method.strip() or not 0 < found.interval.level < 1:
        level = found.interval.level
        _broken(spec, "interval", f"expected a method and a level, got {found.interval.method!r} at {level}, {where}")
    elif low == -inf and high == inf:
        _broken(spec, "interval", f"it is open on both sides, {where}")
    if not low - rounding <= value <= high + rounding:
        _broken(spec, "interval", f"it does not contain the value: {value:g} and {low:g} to {high:g}, {where}")
    if not low < high:
        _broken(spec, "interval", f"it has zero width at {value:g}, {where}")
    least, most = BOUNDS.get(spec.scale, (-inf, inf))
    ends = [end for end in (value, low, high) if isfinite(end)]
    if not all(least - rounding <= end <= most + rounding for end in ends):
        numbers = ", ".join(f"{end:g}" for end in ends)
        _broken(spec, "on its scale", f"a {spec.scale} from {least:g} to {most:g} has {numbers}, {where}")
    if found.bounds and not found.bounds[0] - rounding <= value <= found.bounds[1] + rounding:
        _broken(spec, "bounds", f"they do not contain the value: {value:g} and {found.bounds}, {where}")


def _ends(limits: Interval | None) -> tuple[float, float]:
    if limits is None:
        return -inf, inf
    return -inf if limits.low is None else limits.low, inf if limits.high is None else limits.high


def _check_excluded(spec: MeasureSpec, excluded: Mapping[str, int], where: str) -> None:
    for reason, count in excluded.items():
        if not reason.strip() or type(count) is not int or count < 1:
            _broken(
                spec, "left out", f"expected a reason and a whole number from 1, got {reason!r}: {count!r}, {where}"
            )


def _check_says_something(spec: MeasureSpec, cases: list[_Case]) -> None:
    if not cases:
        kinds, protocols = " and ".join(spec.kinds), " and ".join(spec.protocols)
        _broken(spec, "says something", f"the kit has no run of {protocols} for {kinds}: pass your own tallies")
    results = [result for case in cases for _, result in case.results()]
    if not any(isinstance(result, Estimate) for result in results):
        _broken(spec, "says something", f"no estimate among {len(results)} results on {len(cases)} runs")
    if not any(result.excluded for result in results):
        _broken(spec, "left out", "no result reports missing answers, although the sample runs have gaps in every part")


# The same run, counted in another way.


def _check_same_again(case: _Case) -> None:
    for variant, parts, other in case.again(lambda tallies: tallies):
        if other != parts:
            _broken(
                case.spec, "same again", f"computing it again gives different results for prompt variant {variant!r}"
            )


def _check_order(case: _Case) -> None:
    for variant, parts, other in case.again(backwards):
        if list(other) != list(parts):
            _broken(
                case.spec, "order", f"the order of tallies changes the order of parts, for prompt variant {variant!r}"
            )
        for part, result in parts.items():
            if not _alike(case.spec, result, other[part]):
                got = f"{_short(result)} and {_short(other[part])}"
                _broken(case.spec, "order", f"the order of tallies changes the result: {got}, {_where(variant, part)}")


def _check_duplicates(case: _Case) -> None:
    if case.spec.scale not in ("rate", "difference"):
        return
    for variant, parts, other in case.again(doubled):
        for part, result in parts.items():
            twice = other.get(part)
            if isinstance(result, Estimate) and not (
                isinstance(twice, Estimate) and isclose(result.value, twice.value, rel_tol=1e-6, abs_tol=1e-9)
            ):
                got = f"{_short(result)} and {_short(twice)}"
                _broken(
                    case.spec, "duplicates", f"doubling every count changes the value: {got}, {_where(variant, part)}"
                )


def _alike(spec: MeasureSpec, one: Result, other: Result) -> bool:
    if isinstance(one, Undefined) or isinstance(other, Undefined):
        return one == other
    counts = [(found.denominator, found.clusters, found.censoring, found.excluded) for found in (one, other)]
    numbers = [(found.value, found.numerator, *_ends(found.interval)) for found in (one, other)]
    tolerance = 1e-4 if spec.scale in FITTED else 1e-6
    return counts[0] == counts[1] and all(
        isclose(a, b, rel_tol=tolerance, abs_tol=tolerance / 100) for a, b in zip(*numbers, strict=True)
    )


# Runs with less in them.


def _check_nothing_counted(spec: MeasureSpec) -> None:
    for tallies in (Tallies(), Tallies(scale=GradeScale("ordinal", ("low", "mid", "high")), positive=("high",))):
        for part, result in _computed(spec, tallies, "baseline").items():
            if isinstance(result, Estimate):
                _broken(spec, "nothing counted", f"a number from empty tallies, {_short(result)}, part {part}")


def _check_nothing_answered(case: _Case) -> None:
    for variant, parts, other in case.again(unanswered):
        if parts and not other:
            _broken(
                case.spec,
                "nothing answered",
                f"expected Undefined and a reason, got nothing, for prompt variant {variant!r}",
            )
        for part, result in other.items():
            where = _where(variant, part)
            if isinstance(result, Estimate):
                _broken(
                    case.spec, "nothing answered", f"a number, although nothing was answered, {_short(result)}, {where}"
                )
            if not result.excluded:
                _broken(case.spec, "nothing answered", f"it does not report how much is missing, {where}")


def _check_one_task(case: _Case) -> None:
    for task in clusters(case.tallies):
        for variant, _, other in case.again(partial(of_task, task=task)):
            for part, result in other.items():
                if isinstance(result, Estimate) and result.clusters != 1:
                    got = f"got {_short(result)} from {result.clusters}"
                    _broken(case.spec, "one task", f"expected Undefined or one cluster, {got}, {_where(variant, part)}")


def _check_another_variant(case: _Case) -> None:
    for part, result in _computed(case.spec, case.tallies, "no such variant").items():
        if isinstance(result, Estimate):
            _broken(case.spec, "another variant", f"a number from other prompt variants, {_short(result)}, part {part}")


def _check_other_runs(spec: MeasureSpec, sample: _Sample) -> None:
    for variant in sample.tallies.variants():
        for part, result in _computed(spec, sample.tallies, variant).items():
            if isinstance(result, Estimate) and sample.kind not in spec.kinds:
                where = f"{_short(result)}, {_where(variant, part)}"
                _broken(
                    spec,
                    "another kind",
                    f"a number for a {sample.kind} judge, which the measure does not support: {where}",
                )


# Messages.


def _broken(spec: MeasureSpec, promise: Promise, message: str) -> NoReturn:
    raise AssertionError(f"{spec.name}, promise {promise!r}: {message}")


def _where(variant: str, part: tuple[str, str]) -> str:
    stratum, group = part
    return f"prompt variant {variant!r}, stratum {stratum!r}" + (f", group {group!r}" if group else "")


def _short(shown: object) -> str:
    if isinstance(shown, Estimate):
        low, high = _ends(shown.interval)
        return f"{shown.value:g} ({low:g} to {high:g})"
    if isinstance(shown, Undefined):
        return f"Undefined ({shown.reason})"
    text = repr(shown)
    return text if len(text) <= 60 else f"{text[:57]}..."
