"""What stimuli are made of: twins of tasks with their figures exchanged, or tasks with fillers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, TypeVar

from umpirical.stimuli.controlled.family_files import Family, builtin_families, filler_tasks
from umpirical.stimuli.controlled.fine import Worked, worked_families
from umpirical.stimuli.controlled.tasks import Task, Twin

T = TypeVar("T")

Ladder = Literal["crossed", "filler"]
"""Which ladder is built: the two are never pooled."""


@dataclass(frozen=True)
class Materials:
    """The twins of a crossed ladder, or the tasks of a ladder of fillers."""

    twins: tuple[Twin, ...] = ()
    figures: tuple[Twin, ...] = ()
    """Twins whose versions differ in the figures given."""
    tasks: tuple[Task, ...] = ()
    worked: tuple[Worked, ...] = ()
    """Families whose answers have to be worked out."""

    @property
    def all_tasks(self) -> tuple[Task, ...]:
        """Every task that a stimulus may show: each version of a twin is one."""
        return self.tasks + tuple(task for twin in self.twins + self.figures for task in twin.versions)

    @property
    def ids(self) -> list[str]:
        """The tasks by name, a twin being one task."""
        return [task.id for task in self.twins + self.tasks]

    def of_each(self) -> Sequence[Twin | Task]:
        return self.twins + self.tasks


@lru_cache(maxsize=8)
def builtin_materials(ladder: Ladder, count: int) -> Materials:
    """`count` of the tasks that ship, from as many domains and families as possible."""
    if ladder == "filler":
        return Materials(tasks=tuple(spread(filler_tasks(), count)))
    places = [(family, place) for family in builtin_families() for place in range(len(family.sets))]
    domains: dict[str, dict[str, list[tuple[Family, int]]]] = {}
    for family, place in places:
        domains.setdefault(family.domain, {}).setdefault(family.id, []).append((family, place))
    return replace(crossed_materials(_over_families(domains)[:count]), worked=worked_families())


def crossed_materials(places: Sequence[tuple[Family, int]]) -> Materials:
    """The twins of some families, each at a set of parameters."""
    twins = tuple(family.asked(place, turn) for turn, (family, place) in enumerate(places))
    figures = (
        family.figures(place, (place + 1) % len(family.sets), turn)
        for turn, (family, place) in enumerate(places)
        if len(family.sets) > 1
    )
    return Materials(twins=twins, figures=tuple(twin for twin in figures if twin is not None))


def spread(tasks: Sequence[Task], count: int) -> list[Task]:
    """`count` of the tasks, from as many domains and families as possible."""
    domains: dict[str, dict[str, list[Task]]] = {}
    for task in tasks:
        domains.setdefault(task.domain, {}).setdefault(task.family, []).append(task)
    return _over_families(domains)[:count]


def _over_families(domains: dict[str, dict[str, list[T]]]) -> list[T]:
    """The first of each family, then the second of each; among families, the first of each domain, then the second."""
    return _in_turn(_in_turn([list(families.values()) for families in domains.values()]))


def _in_turn(rows: Sequence[Sequence[T]]) -> list[T]:
    """The first of each row, then the second of each, and so on."""
    return [row[place] for place in range(max(map(len, rows), default=0)) for row in rows if place < len(row)]
