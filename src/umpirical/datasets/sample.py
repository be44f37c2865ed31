"""Which items are taken: the same ones for the same seed, whatever their order in the file."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction
from typing import TypeVar

from umpirical.datasets.spec import LABEL, Allocation, SampleSpec
from umpirical.domain.digests import digest
from umpirical.domain.errors import ConfigError
from umpirical.domain.stimuli import Item
from umpirical.stats.seeds import uniform

Cell = TypeVar("Cell", bound=Hashable)


def sample_items(items: Sequence[Item], sample: SampleSpec, *, seed: int) -> list[Item]:
    """The sample of the items, in the order they came in; all of them if there are no more. `seed` is the study's.

    Each cell is put into an order drawn from the seed and from what its items say, and its first ones are taken. So a
    larger sample contains a smaller one if it takes at least as many of every cell, as it always does with `even`.
    """
    if sample.ids:
        return _by_hand(items, sample.ids)
    if sample.size is None or sample.size >= len(items):
        return list(items)
    seed = seed if sample.seed is None else sample.seed
    cells: defaultdict[tuple[str, ...], list[tuple[float, int]]] = defaultdict(list)
    alike: Counter[str] = Counter()
    # In the order of their names, so that each of several equal rows has its own draw, whatever their order.
    for place in sorted(range(len(items)), key=lambda place: items[place].name):
        item = items[place]
        content = digest("sampled item", [item.task, item.response])
        alike[content] += 1
        draw = uniform(seed, "sample", content, str(alike[content]))
        cells[_cell(item, sample.by)].append((draw, place))
    counts = {cell: len(members) for cell, members in cells.items()}
    taken = allocate(counts, size=sample.size, allocation=sample.allocation)
    places = {place for cell, members in cells.items() for _, place in sorted(members)[: taken[cell]]}
    return [item for place, item in enumerate(items) if place in places]


def _by_hand(items: Sequence[Item], ids: Sequence[str]) -> list[Item]:
    """The items of these names. One that is not there is an error: a smaller sample would go unnoticed."""
    names = {item.name for item in items}
    if absent := [name for name in ids if name not in names]:
        near = get_close_matches(absent[0], names, n=1)
        more = f", and {len(absent) - 1:,} more of the {len(ids):,} named" if len(absent) > 1 else ""
        raise ConfigError(
            f"sample.ids: no row has the id {absent[0]!r:.80}{more}",
            where="dataset",
            fix=f"did you mean {near[0]!r:.80}?" if near else "name ids that are in the column of the ids",
        )
    wanted = frozenset(ids)
    return [item for item in items if item.name in wanted]


def _cell(item: Item, by: tuple[str, ...]) -> tuple[str, ...]:
    """The cell that an item belongs to. A missing value counts as a value."""
    label = item.labels[0] if item.labels else ""
    return tuple(label if name == LABEL else item.strata.get(name, "") for name in by)


def allocate(counts: Mapping[Cell, int], *, size: int, allocation: Allocation) -> dict[Cell, int]:
    """How many to take of each cell, `size` in all and never more than a cell has. So `size` is at most their sum.

    `proportional`: each cell's share of all, rounded by largest remainder, and at least one of each if `size` allows
    that. `even`: equally many of each; what a small cell lacks is spread over the others.
    """
    order = sorted(counts, key=lambda name: (-counts[name], repr(name)))
    taken = _even(counts, order, size) if allocation == "even" else _proportional(counts, order, size)
    return {name: taken[name] for name in counts}


def _proportional(counts: Mapping[Cell, int], order: list[Cell], size: int) -> dict[Cell, int]:
    free, left, taken = list(order), size, dict.fromkeys(order, 0)
    # A cell whose share is less than one gets one, and the others share the rest, until none is short.
    while size >= len(order):
        total = sum(counts[name] for name in free)
        if not (small := [name for name in free if counts[name] * left < total]):
            break
        taken.update(dict.fromkeys(small, 1))
        left -= len(small)
        free = [name for name in free if name not in set(small)]
    total = sum(counts[name] for name in free)
    # Fractions, because which of two equal remainders is the larger must not depend on rounding.
    shares = {name: Fraction(counts[name] * left, total) for name in free}
    taken.update({name: int(share) for name, share in shares.items()})
    spare = left - sum(int(share) for share in shares.values())
    for name in sorted(free, key=lambda name: int(shares[name]) - shares[name])[:spare]:
        taken[name] += 1
    return taken


def _even(counts: Mapping[Cell, int], order: list[Cell], size: int) -> dict[Cell, int]:
    taken, left, open_cells = dict.fromkeys(order, 0), size, list(order)
    while left:
        open_cells = [name for name in open_cells if taken[name] < counts[name]]
        step = min(max(left // len(open_cells), 1), *(counts[name] - taken[name] for name in open_cells), left)
        for name in open_cells[: left // step]:
            taken[name] += step
            left -= step
    return taken
