"""Rounds: which test cases come next, if a run stops as soon as it is decided.

A round is drawn from the seed and from what is still open, and from nothing else, so a run that was killed goes on as
it would have. In every part of the design the task families take turns: a run that stops has some of each.

The first rounds are small, and show what gives a broken judge away: blank answers, equal ones, and the largest
difference. Later ones ask about whatever is open, in proportion to what the whole set has of it.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf
from typing import Protocol

from umpirical.domain.digests import digest
from umpirical.domain.stimuli import Family, Stimulus

FIRST = (16, 32, 64, 128)
"""Calls of the first rounds."""

LATER = 256
"""Calls of every later round: enough to keep a server busy."""

COARSE = 2
"""Rounds that show only what gives a broken judge away."""

Group = tuple[Stimulus, ...]
"""What is asked together: a single stimulus, or the two versions of a crossed pair."""

Part = tuple[str, float, str]
"""A family, with its step or its stratum: what a check is about."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which round of which run it is."""

    seed: int
    number: int = 0
    calls: float = inf
    """How many there may be at most."""


class Wanted(Protocol):
    """What a round is to show."""

    def worth(self, group: Group) -> float:
        """Returns how much is wanted of a group now; 0 if nothing is."""
        ...

    def take(self, group: Group) -> None: ...


class Anything:
    """Wants everything alike."""

    def worth(self, group: Group) -> float:  # noqa: ARG002  # alike
        return 1.0

    def take(self, group: Group) -> None: ...


def most_rounds(calls: int) -> int:
    """Returns the most rounds that so many calls make."""
    rounds = 0
    while calls > 0:
        calls -= _size(rounds)
        rounds += 1
    return rounds


def next_round(
    stimuli: Iterable[Stimulus],
    place: Place,
    *,
    asked: Collection[str] = (),
    wanted: Wanted | None = None,
) -> list[str]:
    """Returns the ids of the stimuli of a round, given those that were asked before; none if nothing wanted is left.

    It asks what is wanted, or everything alike.
    """
    wanted = wanted or Anything()
    waiting: dict[Part, list[Group]] = defaultdict(list)
    whole, done = Counter[Part](), Counter[Part]()
    groups = [tuple(each) for _, each in groupby(stimuli, key=lambda one: one.crossed_pair or one.id)]
    for part, group in _in_turn(groups, place.seed):
        whole[part] += _cost(group)
        if group[0].id in asked:
            done[part] += _cost(group)
        else:
            waiting[part].append(group)
    if place.number < COARSE:
        waiting = _coarse(waiting) or waiting
    chosen, left, room = list[str](), _size(place.number), place.calls
    while left > 0 and waiting:
        # What most is wanted of; of equals, the part of which the smallest share was asked; then the largest part. The
        # first rounds ask everything alike: what is wrong with a judge is not known yet.
        worth = {part: wanted.worth(groups[0]) for part, groups in waiting.items()}
        if place.number < COARSE:
            worth = {part: float(each > 0) for part, each in worth.items()}
        part = min(waiting, key=lambda one: (-worth[one], done[one] / whole[one], -whole[one], one))
        if not worth[part] or _cost(waiting[part][0]) > room:
            break
        group = waiting[part].pop(0)
        if not waiting[part]:
            del waiting[part]
        wanted.take(group)
        done[part] += _cost(group)
        left -= _cost(group)
        room -= _cost(group)
        chosen += [stimulus.id for stimulus in group]
    return chosen


def _size(number: int) -> int:
    return FIRST[number] if number < len(FIRST) else LATER


def _part(group: Group) -> Part:
    first = group[0]
    if first.crossed_pair:
        return first.family, first.delta or 0.0, ""
    # Equal pairs of every kind are one part; blanks and longer answers are not.
    return first.family, 0.0, "" if first.family == Family.EQUAL else first.stratum


def _cost(group: Group) -> int:
    """Returns how many calls a group takes, with one variant and no repeats."""
    return sum(len(set(stimulus.candidates)) for stimulus in group)


def _in_turn(groups: Sequence[Group], seed: int) -> list[tuple[Part, Group]]:
    """Returns the groups of each part in an order drawn from the seed, in which the task families take turns."""
    drawn = sorted(groups, key=lambda group: digest("round", [seed, group[0].id]))
    turns, placed = Counter[tuple[Part, str]](), list[tuple[int, int, Part, Group]]()
    for place, group in enumerate(drawn):
        part = _part(group)
        placed.append((turns[part, group[0].cluster], place, part, group))
        turns[part, group[0].cluster] += 1
    return [(part, group) for _, _, part, group in sorted(placed, key=lambda one: one[:2])]


def _coarse(waiting: Mapping[Part, list[Group]]) -> dict[Part, list[Group]]:
    """Returns what gives a broken judge away: blanks, equal answers, and the largest steps."""
    largest = max((step for family, step, _ in waiting if family == Family.GRADED), default=None)
    return {
        part: groups
        for part, groups in waiting.items()
        if part[0] in {Family.BLANK, Family.EQUAL} or part[:2] == (Family.GRADED, largest)
    }
