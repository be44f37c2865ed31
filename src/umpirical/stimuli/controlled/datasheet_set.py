"""The stimulus set of a datasheet: how many of what (the recipes), and the building of it."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

from umpirical.domain.errors import UsageError
from umpirical.domain.stimuli import NoPreference, Stimulus
from umpirical.stimuli.controlled import fine
from umpirical.stimuli.controlled.ladder import pairs, quads
from umpirical.stimuli.controlled.ladder.pairs import FAR, PairMaker
from umpirical.stimuli.controlled.ladder.quads import QuadMaker, RequestBalance
from umpirical.stimuli.controlled.materials import Materials
from umpirical.stimuli.controlled.tasks import Task
from umpirical.stimuli.controlled.trivial import Balancer

# How large a datasheet is: which stimuli are made of each task.


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
    largest_figures: float = 0
    """Quads of figures at the largest step alone, where limits are set."""
    subset: float = 0
    """Pairs of equal quality that meet different requirements."""
    length: float = 0
    """Pairs of equal quality, one of them longer."""
    conflict: float = 0
    """Pairs whose better answer is the shorter one."""
    far: float = 0
    """The same with an answer of two or three times the length."""
    far_lengths: tuple[str, ...] = ("+200%", "+100%", "+200%")
    """How much longer that answer is, by turns."""
    fine: int = 0
    """Crossed pairs of long answers with fine differences, of the whole set."""
    unshown: tuple[float, ...] = ()
    """Steps whose quads are made and not shown beside fine differences: so all others keep their texts."""

    @property
    def calls(self) -> int:
        """How often a `compare` judge is called, with one variant and no repeats."""
        quads = self.quads + self.figures + self.largest_figures
        quads -= self.quads * sum(step in self.unshown for step in self.steps) / len(self.steps)
        pairs = self.delta0 + 2 * quads + self.subset + self.length + self.conflict + self.far
        return round(self.tasks * (self.vacuum + 2 * pairs)) + 4 * self.fine


RECIPES = {
    "screen": Recipe(
        "a first look", tasks=24, vacuum=2, delta0=1, quads=2, figures=0.25, far=0.5, far_lengths=("+200%",)
    ),
    "paper": Recipe(
        "the design of the paper, controls included",
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
        largest_figures=0.25,
        subset=0.25,
        length=0.25,
        conflict=1,
        far=0.75,
        fine=36,
        unshown=(0.5, 2.0, 4.0),
    ),
    "full": Recipe(
        "enough to tell a sound judge nearly always",
        tasks=96,
        vacuum=4,
        delta0=2,
        quads=3,
        figures=0.5,
        largest_figures=0.125,
        subset=0.5,
        length=0.5,
        conflict=1,
        far=0.5,
        fine=72,
        unshown=(0.5, 2.0, 4.0),
    ),
}

STANDARD, LARGEST = "standard", "full"

DECIDED = "decided"
"""The name of the size for runs that stop as soon as they are decided. Few judges take all of it."""

_DECIDED = Recipe(
    "as much as a run that stops when it is decided may take",
    tasks=96,
    vacuum=8,
    delta0=3,
    quads=5,
    steps=(5.0, 1.0, 5.0, 0.5, 5.0, 1.0, 5.0, 2.0, 5.0, 1.0, 5.0, 3.0, 5.0, 1.0, 5.0, 4.0),
    figures=0.75,
    largest_figures=0.5,
    subset=0.5,
    length=0.5,
    conflict=1.5,
    far=0.75,
    fine=48,
)


def recipe(name: str) -> Recipe:
    if name == DECIDED:
        return _DECIDED
    if name not in RECIPES:
        raise UsageError(f"invalid size {name!r}", fix=f"choose {', '.join(RECIPES)}")
    return RECIPES[name]


# The stimulus set of the datasheet: vacuum, equal quality, and the ladder, task by task.

ROUNDING = 1e-9

VACUUM_MAKER = "vacuum/3"

MAKERS = [pairs.MAKER, quads.MAKER, VACUUM_MAKER, fine.MAKER]
"""What makes the stimuli, with versions: another version makes another set of the same tasks."""

COSTS = {"whitespace": 2, "empty": 1, "identical": 1}
"""The vacuum classes, and how many distinct prompts a stimulus of each makes."""

WHITESPACE = (("   ", "\n\n"), (" \n ", "\t\t"), ("\n", "      "), ("\t", " \n\n "))


def datasheet_stimuli(materials: Materials, recipe: Recipe, *, seed: int) -> Iterator[Stimulus]:
    """Every stimulus of the set. The same materials, recipe and seed give the same bytes."""
    if materials.twins:
        yield from _crossed_stimuli(materials, recipe, seed)
    if materials.tasks:
        yield from _filler_stimuli(materials.tasks, recipe, seed)


def _crossed_stimuli(materials: Materials, recipe: Recipe, seed: int) -> Iterator[Stimulus]:
    """Quads show both versions of a task. Whatever else is made of it shows one, and the versions take turns."""
    balancer, balance, made = Balancer(), RequestBalance(), Counter[str]()
    # Fine differences take the place of some steps. Your own tasks have none, and keep their steps.
    unshown = recipe.unshown if materials.worked else ()
    families = len({twin.family for twin in materials.twins})
    for index, twin in enumerate(materials.twins):
        makers = [PairMaker(task, index, seed, balancer) for task in twin.versions]
        yield from vacuum_stimuli(makers[index % 2], prompts=recipe.vacuum)
        for turn in range(recipe.delta0):
            yield makers[(index + turn) % 2].equal(turn)
        quads = QuadMaker(twin, index, seed, balance)
        start = math.floor(index * recipe.quads + ROUNDING)
        yield from _quads(quads, _due(recipe.quads, index), recipe.steps, start, made, unshown)
        # A family that had its turn in the first round of tasks lets another have it in the second.
        yield from _controls(makers, recipe, index % families + index // families, made)
    yield from _figures(materials, recipe, seed, balance, made)
    # What a size has more than an earlier one stands last: the stimuli before it, and their layouts, stay as they were.
    for index, twin in enumerate(materials.twins):
        makers = [PairMaker(task, index, seed, balancer) for task in twin.versions]
        yield from _far(makers, recipe, index % families + index // families, made)
    yield from fine.fine_stimuli(materials.worked, recipe.fine, seed=seed)


def _figures(
    materials: Materials, recipe: Recipe, seed: int, balance: RequestBalance, made: Counter[str]
) -> Iterator[Stimulus]:
    """Steps in rotation over the twins, and then the largest, of twins that have not shown it as long as there are."""
    makers = [QuadMaker(twin, place, seed, balance) for place, twin in enumerate(materials.figures)]
    asked, more = (
        round(share * len(materials.twins)) if makers else 0 for share in (recipe.figures, recipe.largest_figures)
    )
    shown = Counter[QuadMaker]()
    for turn in range(asked):
        again, place = divmod(turn, len(makers))
        for stimulus in _quads(makers[place], 1, recipe.steps, turn + again, made):
            shown[makers[place]] += stimulus.delta == makers[place].top
            yield stimulus
    following = [*makers[asked % len(makers) :], *makers[: asked % len(makers)]] if makers else []
    following.sort(key=lambda maker: (-maker.top, shown[maker]))
    for turn in range(more):
        # No turn of the rotation above is numbered as high, so no quad is drawn twice.
        yield from _quads(following[turn % len(makers)], 1, [max(recipe.steps)], 2 * asked + turn, made)


def _quads(  # a turn of a rotation, each of its parts by name
    maker: QuadMaker,
    count: int,
    steps: Sequence[float],
    start: int,
    made: Counter[str],
    unshown: Collection[float] = (),
) -> Iterator[Stimulus]:
    """Steps in rotation over the twins; one that a twin has no room for becomes its largest."""
    for place in range(count):
        step = steps[(start + place) % len(steps)]
        delta = min(step, float(maker.top))
        name = f"{maker.twin.kind} {delta:g}"
        quad = list(maker.quad(delta, start + place, rank=made[name]))
        yield from () if step in unshown else quad
        made[name] += 1


def _controls(makers: Sequence[PairMaker], recipe: Recipe, place: int, made: Counter[str]) -> Iterator[Stimulus]:
    """Pairs that set requirements against each other, or length against nothing, or against quality."""
    for _ in range(_due(recipe.subset, place)):
        yield makers[made["subset"] % 2].subset(made["subset"])
        made["subset"] += 1
    for turn in range(_due(recipe.length, place)):
        yield makers[made["length"] % 2].length(turn, rank=made["length"])
        made["length"] += 1
    for turn in range(_due(recipe.conflict, place + 1)):
        yield makers[made["conflict"] % 2].conflict(turn, rank=made["conflict"])
        made["conflict"] += 1


def _far(makers: Sequence[PairMaker], recipe: Recipe, place: int, made: Counter[str]) -> Iterator[Stimulus]:
    """Pairs whose lesser answer is two or three times as long. A task without room for that has one twice as long."""
    for turn in range(_due(recipe.far, place)):
        maker, due = makers[made["far"] % 2], recipe.far_lengths[made["far"] % len(recipe.far_lengths)]
        amount = due if maker.has_room(due) else min(FAR)
        yield maker.far(amount, turn, rank=made[amount])
        made.update(("far", amount))


def _due(share: float, index: int) -> int:
    """How many are made of the task at this place, if `share` of one is made of each."""
    return math.floor((index + 1) * share + ROUNDING) - math.floor(index * share + ROUNDING)


def _filler_stimuli(tasks: Sequence[Task], recipe: Recipe, seed: int) -> Iterator[Stimulus]:
    """The ladder of fillers, of as many pairs as the quads have."""
    balancer, made = Balancer(), Counter[str]()
    for index, task in enumerate(tasks):
        maker = PairMaker(task, index, seed, balancer)
        yield from vacuum_stimuli(maker, prompts=recipe.vacuum)
        for turn in range(recipe.delta0):
            yield maker.equal(turn)
        yield from _ladder(maker, recipe, made)
        yield from _controls([maker, maker], recipe, index, made)
    for index, task in enumerate(tasks):
        maker = PairMaker(task, index, seed, balancer)
        yield from _far([maker, maker], recipe, index, made)


def _ladder(maker: PairMaker, recipe: Recipe, made: Counter[str]) -> Iterator[Stimulus]:
    """Steps in rotation over the tasks, as far as a task's grain allows them. `made` counts them over the whole set."""
    top, grain = len(maker.task.requirements), maker.task.grain
    steps = [step for step in recipe.steps if step <= top and (step * grain).is_integer()]
    seen, count = Counter[float](), _due(2 * recipe.quads, maker.index)
    for place in range(count):
        delta = steps[(maker.index * count + place) % len(steps)]
        yield maker.step(delta, seen[delta], rank=made[f"{delta:g}"])
        seen[delta] += 1
        made[f"{delta:g}"] += 1


def vacuum_stimuli(maker: PairMaker, *, prompts: int) -> Iterator[Stimulus]:
    """Stimuli that make `prompts` distinct prompts for one task, of three classes that take turns over the tasks.

    Two empty answers, and two identical ones, are one prompt; two blank ones that differ in blanks are two, one in
    each order.
    """
    index, left, turns = maker.index, prompts, Counter[str]()
    start = index % len(COSTS)
    classes = [*COSTS][start:] + [*COSTS][:start] + ["whitespace"]
    for stratum in chain(classes, repeat("identical")):
        if left <= 0:
            return
        if COSTS[stratum] <= left:
            yield _vacuum_stimulus(maker, stratum, turns[stratum])
            left -= COSTS[stratum]
            turns[stratum] += 1


def _vacuum_stimulus(maker: PairMaker, stratum: str, turn: int) -> Stimulus:
    task, index, level = maker.task, maker.index, None
    match stratum:
        case "empty":
            candidates = ("", "")
        case "whitespace":
            candidates = WHITESPACE[(index // len(COSTS) + turn) % len(WHITESPACE)]
        case _:
            # All levels come up over the tasks, though not every task shows two identical answers.
            level = (index + index // len(COSTS) + 2 * turn) % (len(task.requirements) + 1)
            candidates = (maker.answer(level, turn),) * 2
    return Stimulus(
        task_id=task.id,
        task_family=task.family,
        version=task.version,
        task=task.prompt,
        candidates=candidates,
        expectation=NoPreference(),
        maker=VACUUM_MAKER,
        family="blank",
        stratum=stratum,
        base=level,
        parts=task.parts,
    )
