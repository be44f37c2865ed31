"""Which layout each stimulus is shown in, so that slot, label and list can be told apart at no extra call.

The pairs of a part of the set (equal pairs, identical ones, the ladder) go through the four cells of (label of slot 1)
x (option of slot 1), in the order of the set. The label set changes with every round of cells, and the place
of the tie twice in a round. Both orders of a pair, both versions of a quad, all arms and all repeats share one layout:
what distinguishes them is never the layout. So a judge that does not read the task gets the same question twice.
"""

from collections.abc import Iterable, Mapping

from umpirical.domain.layouts import LABEL_SETS, TIE_PLACES, Layout
from umpirical.domain.stimuli import Family, Stimulus

__all__ = ["VERSION", "cell_layout", "layouts_of"]

VERSION = "crossed/2"
"""Part of a run's id: another rule asks other questions."""

# In each half of a round both signs are turned round, so that two pairs of one task tell the label and the list from
# whatever the task does to the slots.
_ROUND = (0b00, 0b11, 0b01, 0b10)


def layouts_of(stimuli: Iterable[Stimulus]) -> Mapping[str, Layout]:
    """Returns the layout of every stimulus, by its id. It depends on the order of the set, and on nothing else."""
    numbers: dict[tuple[str, str], dict[str, int]] = {}
    layouts = {}
    for stimulus in stimuli:
        # Each kind of blank pair is looked at by itself. Other strata are many and small, and go together.
        part = (str(stimulus.family), stimulus.stratum if stimulus.family == Family.VACUUM else "")
        seen = numbers.setdefault(part, {})
        layouts[stimulus.id] = cell_layout(seen.setdefault(stimulus.quad or stimulus.id, len(seen)))
    return layouts


def cell_layout(number: int) -> Layout:
    """Returns the layout of a pair, or of a quad, by its number in its part of the set."""
    place, turn = number % 4, number // 4
    # Each round starts with another cell: what comes every second or fourth time would always meet the same cells.
    cell = _ROUND[place] ^ _ROUND[turn % 4]
    return Layout(
        labels=LABEL_SETS[turn % len(LABEL_SETS)],
        labels_swapped=bool(cell & 1),
        options_swapped=bool(cell & 2),
        tie_place=(turn + place // 2) % TIE_PLACES,
    )
