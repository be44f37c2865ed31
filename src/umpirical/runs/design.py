"""What to ask: which presentations of a stimulus a judge is shown."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from umpirical.domain.digests import Json
from umpirical.domain.scales import JudgeKind
from umpirical.domain.stimuli import ORIGINAL, Stimulus
from umpirical.domain.trials import Order, Presentation, Presented
from umpirical.judges.judge import Capabilities

__all__ = ["Design", "presentations", "shown"]


@dataclass(frozen=True, slots=True)
class Design:
    """How often and in which arms everything is asked."""

    repeats: int = 1
    arms: tuple[str, ...] = ("baseline",)
    original_repeats: int = 1
    """How often an original of the user's own data is asked: its noise is what every change is held against."""
    seeds: int = 0
    """How many times an original is asked once more, each time with a seed of its own."""
    first_seed: int = 1
    """The first of these seeds; none of them is the judge's own, which would be the same request again."""

    def as_json(self) -> Json:
        return {name: value for name, value in asdict(self).items() if value != _PLAIN.get(name, ...)}


_PLAIN = {"original_repeats": 1, "seeds": 0, "first_seed": 1}
"""Values that say nothing, so that a run without originals keeps its id."""


def presentations(
    stimulus: Stimulus, design: Design, capabilities: Capabilities, kind: JudgeKind = "compare"
) -> Iterator[Presentation]:
    """Every way a stimulus is shown, both orders next to each other so that drift between them is small.

    Two equal candidates have one order: the other would be the same prompt. A `grade` judge is shown one candidate at
    a time, so its order `uv` is content u and `vu` content v; two identical answers are nothing to it.
    """
    if kind == "grade" and stimulus.family == "vacuum" and stimulus.stratum == "identical":
        return
    if not capabilities.accepts_empty and not all(text.strip() for text in stimulus.candidates):
        return
    orders: tuple[Order, ...] = (Order.UV, Order.VU)
    if (kind == "compare" and not capabilities.order_controllable) or len(set(stimulus.candidates)) == 1:
        orders = (Order.UV,)
    original = stimulus.family == ORIGINAL
    for arm in design.arms:
        for repeat in range(design.original_repeats if original else design.repeats):
            for order in orders:
                yield Presentation(order, arm, repeat)
        for repeat in range(design.seeds if original else 0):
            yield Presentation(Order.UV, arm, repeat, seed=design.first_seed + repeat)


def shown(stimulus: Stimulus, order: Order, kind: JudgeKind = "compare") -> Presented:
    """What the judge sees: the candidates in their slots, or the one to grade, and nothing of where they come from."""
    u, v = stimulus.candidates[0], stimulus.candidates[-1]
    first, second = (u, v) if order is Order.UV else (v, u)
    return Presented(stimulus.task, first, second if kind == "compare" else None)
