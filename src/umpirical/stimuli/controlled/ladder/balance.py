"""The choice among several drawn pairs: the one that keeps trivial judges at a coin's level.

What a pair states is fixed by the design; how it is worded is drawn. Among some draws, the one is used that best evens
out how often each surface feature has favoured the better answer so far: minimisation, as Pocock and Simon (Biometrics
31, 1975) balance covariates in trials. It works the same way at every step and at equal quality.
"""

from collections import defaultdict
from collections.abc import Sequence

from umpirical.stimuli.controlled.trivial import REPORTED, TRIVIAL

Draw = tuple[str, str]
"""Two texts, the better one first, or content u if neither is better."""

# `shorter` is `longer` turned round, and `first-slot` cannot see a content.
CUES = [judge for name, judge in (TRIVIAL | REPORTED).items() if name not in ("shorter", "first-slot")]

POINTS = {"1": 1, "2": -1, "tie": 0}


CHARACTERS = 8.0
"""A gap of this many characters weighs as much as one pair that a cue favours."""


class Balancer:
    """Keeps count of what each cue has favoured, over a whole stimulus set and in each part of it."""

    def __init__(self) -> None:
        self._leads: defaultdict[object, list[float]] = defaultdict(lambda: [0.0] * (len(CUES) + 1))

    def choose(self, task: str, draws: Sequence[Draw], *, family: str, step: float) -> int:
        """The place of the draw to be used."""
        points = [_points(task, draw) for draw in draws]
        leads = [self._leads[family], self._leads[family, step]]

        def imbalance(place: int) -> float:
            return sum((now + new) ** 2 for lead in leads for now, new in zip(lead, points[place], strict=True))

        best = min(range(len(draws)), key=imbalance)
        for lead in leads:
            lead[:] = [now + new for now, new in zip(lead, points[best], strict=True)]
        return best


def _points(task: str, draw: Draw) -> list[float]:
    """What each cue says, and by how much the better text is longer, which must not grow with the step either."""
    gap = (len(draw[0]) - len(draw[1])) / CHARACTERS
    return [*(POINTS[cue(task, *draw)] for cue in CUES), gap]
