"""The cells of the layouts: balanced within the sizes that ship, and the same again."""

from collections import Counter
from itertools import product

import pytest

from umpirical.domain.layouts import LABEL_SETS, Layout
from umpirical.domain.stimuli import NoPreference, Stimulus
from umpirical.protocols.datasheet.cells import cell_layout, layouts_of
from umpirical.stimuli.controlled.recipes import RECIPES


def pair(task, number, family="delta0"):
    return Stimulus(task, f"do {task}", (f"u{number}", f"v{number}"), NoPreference(), "test/1", family)


def test_cells_by_hand():
    assert cell_layout(0, 0) == Layout("1/2", labels_swapped=False, options_swapped=False, tie_place=0)
    assert cell_layout(0, 1) == Layout("1/2", labels_swapped=True, options_swapped=False, tie_place=1)
    assert cell_layout(1, 1) == Layout("A/B", labels_swapped=False, options_swapped=True, tie_place=1)
    assert cell_layout(4, 3) == Layout("A/B", labels_swapped=True, options_swapped=True, tie_place=1)


def test_pairs_are_numbered_within_their_task_and_family():
    stimuli = [pair("a", 0), pair("a", 1, "ladder"), pair("a", 2), pair("b", 0)]
    layouts = layouts_of(stimuli)
    assert [layouts[s.id] for s in stimuli] == [
        cell_layout(0, 0),
        cell_layout(0, 0),
        cell_layout(0, 1),
        cell_layout(1, 0),
    ]


@pytest.mark.parametrize("size", RECIPES)
def test_label_and_list_are_balanced_and_independent_in_every_size(size):
    made = RECIPES[size]
    layouts = [cell_layout(task, number) for task, number in product(range(made.tasks), range(made.delta0))]
    for factors in (
        lambda one: (one.labels_swapped, one.options_swapped),
        lambda one: one.tie_place,
        lambda one: (one.labels_swapped, one.tie_place),
        lambda one: (one.options_swapped, one.tie_place),
    ):
        counts = Counter(map(factors, layouts))
        assert max(counts.values()) <= 1.2 * min(counts.values()) + 1, counts
    assert set(Counter(one.labels for one in layouts)) == set(LABEL_SETS)


def test_a_label_set_comes_in_every_cell_even_with_one_pair_in_a_task():
    seen = {(one.labels, one.labels_swapped, one.options_swapped) for one in (cell_layout(t, 0) for t in range(16))}
    assert len(seen) == 16
