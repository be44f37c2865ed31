"""The cells of the layouts: balanced within the sizes that ship, and the same again."""

from collections import Counter
from dataclasses import replace

import pytest

from tests.stimuli.built import built
from umpirical.domain.layouts import LABEL_SETS, Layout
from umpirical.domain.stimuli import NoPreference, Stimulus
from umpirical.protocols.datasheet.cells import cell_layout, layouts_of
from umpirical.stimuli.controlled.recipes import RECIPES


def pair(task, number, family="delta0"):
    return Stimulus(task, f"do {task}", (f"u{number}", f"v{number}"), NoPreference(), "test/1", family)


def quad(number, version):
    made = pair("a", f"{number}{version}", "ladder")
    return replace(made, task_id=f"a.{version}", quad=f"q{number}", version=version)


def test_cells_by_hand():
    assert cell_layout(0) == Layout("1/2", labels_swapped=False, options_swapped=False, tie_place=0)
    assert cell_layout(1) == Layout("1/2", labels_swapped=True, options_swapped=True, tie_place=0)
    assert cell_layout(2) == Layout("1/2", labels_swapped=True, options_swapped=False, tie_place=1)
    assert cell_layout(4) == Layout("A/B", labels_swapped=True, options_swapped=True, tie_place=1)
    # The last of the fifth round: the label set is the first again, and the tie has gone on by 4 and 1.
    assert cell_layout(19) == Layout("1/2", labels_swapped=False, options_swapped=True, tie_place=2)


def test_pairs_are_numbered_within_their_part_of_the_set():
    stimuli = [pair("a", 0), pair("a", 1, "length"), pair("a", 2), pair("b", 3)]
    layouts = layouts_of(stimuli)
    assert [layouts[s.id] for s in stimuli] == [cell_layout(number) for number in (0, 0, 1, 2)]


def test_both_versions_of_a_quad_share_a_layout():
    stimuli = [quad(number, version) for number in range(5) for version in "AB"]
    layouts = layouts_of(stimuli)
    assert [layouts[s.id] for s in stimuli] == [cell_layout(number) for number in range(5) for _ in "AB"]


PARTS = {"delta0": "", "vacuum": "identical"}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("size", RECIPES)
def test_label_and_list_are_balanced_and_independent_in_every_size(size, part):
    """In the sets that ship: a rule that is balanced by itself may meet only some of its cells."""
    stimuli = built(size)
    chosen = [s for s in stimuli if s.family == part and (not PARTS[part] or s.stratum == PARTS[part])]
    by_stimulus = layouts_of(stimuli)
    layouts = [by_stimulus[s.id] for s in chosen]
    for factors, kinds in (
        (lambda one: (one.labels_swapped, one.options_swapped), 4),
        (lambda one: one.tie_place, 3),
        (lambda one: (one.labels_swapped, one.tie_place), 6),
        (lambda one: (one.options_swapped, one.tie_place), 6),
    ):
        counts = Counter(map(factors, layouts))
        assert len(counts) == kinds
        assert max(counts.values()) <= 1.1 * min(counts.values()) + 2, counts
    assert {one.labels for one in layouts} == set(LABEL_SETS)


def test_the_versions_of_every_quad_that_ships_are_asked_alike():
    layouts = layouts_of(built("standard"))
    of_quad = {}
    for stimulus in built("standard"):
        if stimulus.quad:
            of_quad.setdefault(stimulus.quad, []).append(layouts[stimulus.id])
    assert len(of_quad) > 100
    assert all(len(shown) == 2 and len(set(shown)) == 1 for shown in of_quad.values())


def test_a_label_set_comes_in_every_cell():
    seen = {(one.labels, one.labels_swapped, one.options_swapped) for one in map(cell_layout, range(16))}
    assert len(seen) == 16


def test_two_pairs_in_a_row_are_opposites():
    for number in range(0, 48, 2):
        one, other = cell_layout(number), cell_layout(number + 1)
        assert one.labels_swapped != other.labels_swapped
        assert one.options_swapped != other.options_swapped
