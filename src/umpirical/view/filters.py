"""Filters on the trials of a run: each by one column, and by a value that occurs there."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf, isfinite
from urllib.parse import urlencode

COLUMNS: dict[str, str] = {
    "family": "family",
    "part": "coalesce(stratum, '')",
    "step": "delta",
    "arm": "arm",
    "order": '"order"',
    "outcome": "outcome",
    "slot": "coalesce(choice, label, value::varchar)",
}
"""The filters, and the SQL of the column of each. Values never become part of a query: they are bound to it."""

_PLACES = {name: place for place, name in enumerate(COLUMNS)}

TITLES = {
    "family": "Family",
    "part": "Part",
    "step": "Step",
    "arm": "Prompt",
    "order": "Order",
    "outcome": "Outcome",
    "slot": "Answer",
}

LONGEST = 500
"""Characters of a value in an address."""

Value = str | float | None


class UnknownValue(ValueError):
    """A filter by a value that no trial of the run has."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a person chose: a value for some of the columns."""

    chosen: tuple[tuple[str, Value], ...] = ()

    @property
    def where(self) -> str:
        """The condition in SQL, with a place for each value."""
        return " and ".join(["true", *(f"{COLUMNS[name]} = ?" for name, _ in self.chosen)])

    @property
    def values(self) -> list[Value]:
        return [value for _, value in self.chosen]

    def value(self, name: str) -> Value:
        return dict(self.chosen).get(name)

    def places(self) -> list[tuple[int, Value]]:
        """The values, each with the place of its column."""
        return [(_PLACES[name], value) for name, value in self.chosen]

    def without(self, name: str) -> "Filters":
        return Filters(tuple((each, value) for each, value in self.chosen if each != name))

    def with_value(self, name: str, value: Value) -> "Filters":
        return Filters((*self.without(name).chosen, (name, value)))

    def query(self, **more: int) -> str:
        """The part of an address that says them."""
        return urlencode([(name, _written(value)) for name, value in self.chosen] + list(more.items()))


@dataclass(frozen=True, slots=True)
class Option:
    """One value of a filter, and how many trials there would be with it."""

    value: Value
    text: str
    count: int
    is_chosen: bool


class Shares:
    """How many trials a run has of every combination of values."""

    def __init__(self, counts: Mapping[tuple[Value, ...], int]) -> None:
        self._counts = counts
        self._known = {
            name: {_written(key[place]): key[place] for key in counts if key[place] is not None}
            for name, place in _PLACES.items()
        }
        self._totals: dict[Filters, int] = {}

    def total(self, filters: Filters = Filters()) -> int:  # noqa: B008  # it cannot be changed
        """Returns how many trials there are by these filters."""
        if filters not in self._totals:
            self._totals[filters] = sum(count for _, count in self._chosen(filters))
        return self._totals[filters]

    def read(self, query: Iterable[tuple[str, str]]) -> Filters:
        """Reads filters from an address. Raises UnknownValue for a value that no trial has."""
        found = Filters()
        for name, text in query:
            if name in COLUMNS and text:
                if text not in self._known[name]:
                    raise UnknownValue(f"No trial of this run has {TITLES[name].lower()} “{text[:LONGEST]}”.")
                found = found.with_value(name, self._known[name][text])
        return found

    def options(self, name: str, filters: Filters) -> list[Option]:
        """Returns the values of one filter, each with its count under all the others."""
        place, counts = _PLACES[name], Counter[Value]()
        for key, count in self._chosen(filters.without(name)):
            if key[place] is not None:
                counts[key[place]] += count
        chosen = filters.value(name)
        if chosen is not None:
            counts.setdefault(chosen, 0)
        return [
            Option(value, _written(value), counts[value], is_chosen=value == chosen)
            for value in sorted(counts, key=_order)
        ]

    def _chosen(self, filters: Filters) -> Iterator[tuple[tuple[Value, ...], int]]:
        wanted = filters.places()
        for key, count in self._counts.items():
            if all(key[place] == value for place, value in wanted):
                yield key, count


def _order(value: Value) -> tuple[float, str]:
    """Numbers by size, then texts by name."""
    return (inf, value) if isinstance(value, str) else (value or 0.0, "")


def _written(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:g}" if isfinite(value) else "not finite"
    return value or ""
