"""How large a datasheet is: which stimuli are made of each task."""

from dataclasses import dataclass

from umpirical.domain.errors import UsageError

STEPS = (1.0, 5.0, 0.5, 1.0, 5.0, 2.0, 1.0, 5.0, 3.0, 1.0, 5.0, 4.0)
"""One requirement and five come four times as often as any other step, since limits are set there."""

PAPER_STEPS = (1.0,) * 5 + (2.0,) * 4 + (3.0,) * 3 + (4.0,) * 2 + (5.0,)
"""Every pair of whole levels."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How much is made of each task. A share of one means: of every second, third, fourth task."""

    about: str
    tasks: int
    """How many built-in tasks are used, spread over the families. The user's own tasks are all used."""
    vacuum: int
    """Distinct vacuum prompts."""
    delta0: int
    """Pairs of equal quality."""
    quads: float
    """Quads on the ladder, whose steps take turns: two pairs each."""
    steps: tuple[float, ...] = STEPS
    figures: float = 0
    """Quads whose versions differ in the figures given."""
    subset: float = 0
    """Pairs of equal quality that meet different requirements."""
    length: float = 0
    """Pairs of equal quality, one of them longer."""
    conflict: float = 0
    """Pairs whose better answer is the shorter one."""

    @property
    def calls(self) -> int:
        """How often a `compare` judge is called, with one arm and no repeats."""
        pairs = self.delta0 + 2 * (self.quads + self.figures) + self.subset + self.length + self.conflict
        return round(self.tasks * (self.vacuum + 2 * pairs))


RECIPES = {
    "screen": Recipe("a first look", tasks=24, vacuum=2, delta0=1, quads=2, figures=0.25, conflict=0.5),
    "paper": Recipe(
        "the protocol of the Dark Current paper, controls included",
        tasks=10,
        vacuum=12,
        delta0=6,
        quads=7.5,
        steps=PAPER_STEPS,
        subset=2,
        length=2,
    ),
    "standard": Recipe(
        "enough to tell a sound judge in most cases",
        tasks=48,
        vacuum=4,
        delta0=2,
        quads=3,
        figures=0.75,
        subset=0.25,
        length=0.25,
        conflict=1,
    ),
    "full": Recipe(
        "enough to tell a sound judge nearly always",
        tasks=96,
        vacuum=4,
        delta0=2,
        quads=3,
        figures=0.5,
        subset=0.5,
        length=0.5,
        conflict=1,
    ),
}


def recipe(name: str) -> Recipe:
    if name not in RECIPES:
        raise UsageError(f"no size {name!r}", fix=f"known: {', '.join(RECIPES)}")
    return RECIPES[name]
