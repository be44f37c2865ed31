"""Counts from elsewhere, such as a paper's table. A count that is not given is unknown, and never 0."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError

from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Estimate, Measure, Undefined
from umpirical.domain.scales import JudgeKind
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec, measure_all
from umpirical.reports.record import first_problem

Found = list[tuple[MeasureSpec, Measure]]
Key = tuple[str, str, str, str]

BESIDE = frozenset({"incomplete", "lost", "abstained_pairs"})
"""Counts of what is left out: they are in no value, and most papers give none."""


def measure_counts(counts: Mapping[str, Any], *, kind: JudgeKind, protocol: str) -> Found:
    """Measures counts that were written down; a measure that depends on one which was not is undefined.

    What a measure depends on is found by counting one more of it: a measure that changes has used it.
    """
    tallies = _tallies(counts)
    found = measure_all(tallies, kind=kind, protocol=protocol)
    needed: dict[Key, list[str]] = {}
    for part, name in _absent(counts):
        changed = _figures(measure_all(_one_more(tallies, counts, part, name), kind=kind, protocol=protocol))
        for key, figures in _figures(found).items():
            if changed.get(key) != figures:
                needed.setdefault(key, []).append(name)
    return [(spec, _without(measure, needed.get(_key(measure), ()))) for spec, measure in found]


def _one_more(tallies: Tallies, counts: Mapping[str, Any], part: str, name: str) -> Tallies:
    """The tallies with one more of a count, in the rows that were not given it."""
    rows = zip(counts[part], getattr(tallies, part), strict=True)
    more: Any = tuple(
        replace(row, **{name: getattr(row, name) + 1}) if _lacks(given, name) else row for given, row in rows
    )
    return replace(tallies, **{part: more})


def _without(measure: Measure, missing: Sequence[str]) -> Measure:
    if not missing:
        return measure
    return replace(measure, result=Undefined(f"it depends on counts that were not given: {', '.join(missing)}"))


def _key(measure: Measure) -> Key:
    return measure.name, measure.arm, measure.stratum, measure.group


def _figures(found: Found) -> dict[Key, object]:
    """What each measure says, apart from what was left out of it."""
    results = ((_key(measure), measure.result) for _, measure in found)
    return {
        key: (result.value, result.numerator, result.denominator) if isinstance(result, Estimate) else None
        for key, result in results
    }


def _absent(counts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the counts that a row of some part does not have, though it could: (part, name)."""
    for part, rows in counts.items():
        kind = _row_type(part)
        if kind is None:
            continue
        for count in fields(kind):
            optional = count.default is not MISSING and isinstance(count.default, int | float)
            if optional and count.name not in BESIDE and any(_lacks(row, count.name) for row in rows):
                yield part, count.name


def _lacks(row: object, name: str) -> bool:
    """Whether a row leaves a count open. A tally that was made in Python has them all."""
    return isinstance(row, Mapping) and name not in row


def _row_type(part: str) -> Any:  # noqa: ANN401  # one of the tallies
    """Returns the tally that the rows of a part are, or None if it has no rows."""
    kind = next(iter(get_args(get_type_hints(Tallies)[part])), None)
    return kind if is_dataclass(kind) else None


def _tallies(counts: Mapping[str, Any]) -> Tallies:
    """Raises UsageError for an unknown count: if it were ignored, the count that was meant would silently be 0."""
    _refuse_unknown(counts, [field.name for field in fields(Tallies)], "counts")
    for name, rows in counts.items():
        kind = _row_type(name)
        if kind is not None and isinstance(rows, Sequence):
            for row in (each for each in rows if isinstance(each, Mapping)):
                _refuse_unknown(row, [field.name for field in fields(kind)], name)
    try:
        return TypeAdapter(Tallies).validate_python(dict(counts))
    except ValidationError as error:
        raise UsageError(first_problem(error), fix="see umpirical.domain.tallies for what is counted") from None


def _refuse_unknown(given: Iterable[str], known: Collection[str], where: str) -> None:
    unknown = [name for name in given if name not in known]
    if unknown:
        raise UsageError(f"{where}: nothing is counted as {unknown[0]!r}", fix=f"one of {', '.join(known)}")
