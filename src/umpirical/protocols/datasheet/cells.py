"""Which layout each stimulus is shown in, so that slot, label and list can be told apart at no extra call.

The pairs of a task go through the four cells of (label of slot 1) x (option of slot 1), and each task begins with the
next cell. The tie goes through its three places, and the label sets change from task to task. Both orders of a pair,
all its arms and all its repeats share one layout: what distinguishes them is never the layout.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from umpirical.domain.layouts import LABEL_SETS, TIE_PLACES, Layout
from umpirical.domain.stimuli import Stimulus

__all__ = ["VERSION", "cell_layout", "layouts_of"]

VERSION = "crossed/1"
"""Part of a run's id: another rule asks other questions."""


def layouts_of(stimuli: Iterable[Stimulus]) -> Mapping[str, Layout]:
    """Returns the layout of every stimulus, by its id. It depends on the order of the set, and on nothing else."""
    tasks: dict[str, int] = {}
    pairs: Counter[tuple[str, str]] = Counter()
    layouts = {}
    for stimulus in stimuli:
        task = tasks.setdefault(stimulus.task_id, len(tasks))
        family = (stimulus.task_id, stimulus.family)
        layouts[stimulus.id] = cell_layout(task, pairs[family])
        pairs[family] += 1
    return layouts


def cell_layout(task: int, pair: int) -> Layout:
    """Returns the layout of a pair by its number in its task and family, and by the number of the task."""
    # After a round of cells, labels and tie go one further: they would otherwise always meet the same cells.
    cell, turn = (task + pair) % 4, task // 4
    return Layout(
        labels=LABEL_SETS[(task + turn) % len(LABEL_SETS)],
        labels_swapped=cell % 2 == 1,
        options_swapped=cell // 2 == 1,
        tie_place=(pair + turn) % TIE_PLACES,
    )
