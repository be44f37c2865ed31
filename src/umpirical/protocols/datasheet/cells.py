"""Which layout each stimulus is shown in, so that slot, label and list can be told apart at no extra call.

A part of the set is what a measure is taken of: a kind of blank pairs, the equal pairs, one step of a ladder. Its pairs
go through the label sets and through the four cells of (label of slot 1) x (option of slot 1) in rounds, and three
rounds of cells have the tie in every place in every cell. Which of the layouts that a round has left comes next is
settled by minimisation: the one that has been used least with pairs of the same transform, version, level, task family
and so on. So no layout goes with any of these, whatever rhythm they come in; a fixed rotation always shares its period
with one of them.

Both orders of a pair, both versions of a quad, all arms and all repeats share one layout: what distinguishes them is
never the layout. So a judge that does not read the task gets the same question twice.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.stimuli import Family, Stimulus
from umpirical.domain.trials import LABEL_SETS, TIE_PLACES, Layout

VERSION = "crossed/3"
"""Part of a run's id: another rule asks other questions."""

LAYOUTS = tuple(
    Layout(labels=labels, labels_swapped=first, options_swapped=second, tie_place=place)
    for place, labels, first, second in product(range(TIE_PLACES), LABEL_SETS, (False, True), (False, True))
)
"""Every layout there is."""

_CELL = ("labels_swapped", "options_swapped")
_SINGLE = (*((name,) for name in _CELL), ("labels",), _CELL, ("tie_place",))
_CROSSED = ((*_CELL, "tie_place"), *(two for two in combinations(("labels", *_CELL, "tie_place"), 2) if two != _CELL))

_TIE = len(_SINGLE) - 1
# Both signs of a cell are turned round from one pair to the next, so that two pairs of one task tell the label and the
# list from whatever the task does to the slots.
_IN_ROUNDS = [*range(_TIE), len(_SINGLE)]

_OWN_WEIGHT = 4
"""How much more the balance of a part counts than that of each group of like pairs."""


def _numbered(factors: Iterable[tuple[str, ...]]) -> NDArray[np.int64]:
    """Returns a row for each layout and a column for each factor: the levels of all columns, numbered through."""
    numbers: dict[object, int] = {}
    return np.array(
        [
            [numbers.setdefault((names, *(getattr(one, name) for name in names)), len(numbers)) for names in factors]
            for one in LAYOUTS
        ]
    )


_LEVELS = _numbered((*_SINGLE, *_CROSSED))


def layouts_of(stimuli: Iterable[Stimulus]) -> Mapping[str, Layout]:
    """Returns the layout of every stimulus, by its id. It depends on the order of the set, and on nothing else."""
    balance, chosen, layouts = _Balance(), dict[tuple[str, str], Layout](), dict[str, Layout]()
    for stimulus in stimuli:
        shown = stimulus.family, stimulus.quad or stimulus.id
        if shown not in chosen:
            chosen[shown] = balance.next(stimulus)
        layouts[stimulus.id] = chosen[shown]
    return layouts


_Group = tuple[object, ...]


def _part(stimulus: Stimulus) -> _Group:
    # Each kind of blank pair is looked at by itself. Other strata are many and small, and go together.
    return stimulus.family, stimulus.stratum if stimulus.family == Family.VACUUM else stimulus.delta


class _Balance:
    """Chooses among the layouts that are due in a part, by minimisation (Pocock and Simon, Biometrics 31, 1975)."""

    def __init__(self) -> None:
        self._numbers = Counter[_Group]()
        self._used: defaultdict[_Group, NDArray[np.int64]] = defaultdict(
            lambda: np.zeros(_LEVELS.max() + 1, dtype=np.int64)
        )

    def next(self, stimulus: Stimulus) -> Layout:
        """Returns the layout of the next pair or quad of the set."""
        own, others = self._used[_part(stimulus)], [self._used[group] for group in self._like(stimulus)]
        rounds, ties = own[_LEVELS[:, _IN_ROUNDS]], own[_LEVELS[:, _TIE]]
        due = (rounds == rounds.min(axis=0)).all(axis=1)
        due &= ties == ties[due].min()
        cost = _OWN_WEIGHT * own[_LEVELS].sum(axis=1)
        for used in others:
            cost += used[_LEVELS[:, : len(_SINGLE)]].sum(axis=1)
        place = int(np.flatnonzero(due)[cost[due].argmin()])
        for used in (own, *others):
            used[_LEVELS[place]] += 1
        return LAYOUTS[place]

    def _like(self, stimulus: Stimulus) -> Iterator[_Group]:
        """Yields what a pair is, besides of its part: what no layout is to go with."""
        part = _part(stimulus)
        number = self._numbers[part]
        self._numbers[part] += 1
        # Over the whole set, so that parts do not all begin with the same layout.
        yield ("set",)
        yield "task", stimulus.family, stimulus.cluster
        yield "stratum", *part, stimulus.stratum
        yield "level", *part, stimulus.base
        # Families, domains and languages that come in every second task have no name here.
        yield "turn", *part, number % 2
        if not stimulus.quad:
            yield "version", *part, stimulus.version
