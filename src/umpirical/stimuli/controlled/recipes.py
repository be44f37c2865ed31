"""How large a datasheet is: which stimuli are made of each task."""

from dataclasses import dataclass

from umpirical.domain.errors import UsageError

__all__ = ["RECIPES", "Recipe", "recipe"]

QUARTER_STEPS = (0.25, 1.0, 2.0, 0.5, 1.0, 3.0, 0.75, 4.0, 1.0, 5.0)
"""Below one requirement, the steps are quarters: a threshold there would be censored on a ladder of whole steps. One
requirement comes three times as often as any other step, since a limit is set there."""

PAPER_STEPS = (1.0,) * 5 + (2.0,) * 4 + (3.0,) * 3 + (4.0,) * 2 + (5.0,)
"""Every pair of whole levels."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How much is made of each task."""

    about: str
    tasks: int
    """How many built-in tasks are used, spread over the families. The user's own tasks are all used."""
    vacuum: int
    """Distinct vacuum prompts."""
    delta0: int
    """Pairs of equal quality."""
    ladder: int
    """Pairs on the ladder, whose steps take turns."""
    steps: tuple[float, ...] = QUARTER_STEPS
    subset: int = 0
    """Pairs of equal quality that meet different requirements."""
    length: int = 0
    """Pairs that differ in length: in turn of equal quality, and with the better answer the shorter one."""

    @property
    def calls(self) -> int:
        """How often a `compare` judge is called, with one arm and no repeats."""
        return self.tasks * (self.vacuum + 2 * (self.delta0 + self.ladder + self.subset + self.length))


RECIPES = {
    "screen": Recipe("a first look", tasks=20, vacuum=3, delta0=3, ladder=3),
    "paper": Recipe(
        "the design of the Dark Current paper", tasks=10, vacuum=12, delta0=6, ladder=15, steps=PAPER_STEPS
    ),
    "standard": Recipe("rates to about .05 where they are low", tasks=40, vacuum=2, delta0=5, ladder=3),
    "full": Recipe(
        "everything, length and requirement weights included",
        tasks=100,
        vacuum=2,
        delta0=3,
        ladder=4,
        subset=1,
        length=1,
    ),
}


def recipe(name: str) -> Recipe:
    if name not in RECIPES:
        raise UsageError(f"no size {name!r}", fix=f"known: {', '.join(RECIPES)}")
    return RECIPES[name]
