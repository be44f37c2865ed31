"""The cells of the layouts: balanced in the sizes that ship, tied to nothing that a stimulus is, and the same again."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, product

import pytest

from tests.stimuli.built import built
from umpirical.domain.stimuli import NoPreference, Stimulus
from umpirical.domain.trials import LABEL_SETS, TIE_PLACES, Layout
from umpirical.protocols.datasheet.spec import LAYOUTS, layouts_of
from umpirical.stimuli.controlled.datasheet_set import RECIPES

FACTORS: Mapping[str, tuple[Callable[[Layout], Hashable], int]] = {
    "label": (lambda one: one.labels_swapped, 2),
    "list": (lambda one: one.options_swapped, 2),
    "place of the tie": (lambda one: one.tie_place, TIE_PLACES),
    "label set": (lambda one: one.labels, len(LABEL_SETS)),
}
"""What varies from layout to layout, and in how many ways."""


def pair(task, number, family="equal"):
    return Stimulus(task, f"do {task}", (f"u{number}", f"v{number}"), NoPreference(), "test/1", family)


def crossed_pair(number, version, step=1.0):
    made = pair("a", f"{number}{version}", "graded")
    return replace(made, task_id=f"a.{version}", crossed_pair=f"q{number}", version=version, delta=step)


def shown(stimuli: Sequence[Stimulus]) -> list[Layout]:
    layouts = layouts_of(stimuli)
    return [layouts[stimulus.id] for stimulus in stimuli]


def parts_of(stimuli: Iterable[Stimulus]) -> dict[tuple[Hashable, ...], list[Stimulus]]:
    """The pairs, and one for each crossed pair, of what is measured: kinds of blanks, equal pairs, steps of ladders."""
    parts: dict[tuple[Hashable, ...], dict[str, Stimulus]] = defaultdict(dict)
    for one in stimuli:
        part = (str(one.family), one.stratum if one.family == "blank" else one.delta)
        parts[part].setdefault(one.crossed_pair or one.id, one)
    return {part: list(found.values()) for part, found in parts.items()}


def spread(counts: Counter[Hashable], kinds: int) -> int:
    """How much more often the most frequent of so many kinds comes than the rarest."""
    return max(counts.values()) - (min(counts.values()) if len(counts) == kinds else 0)


def test_every_layout_comes_once_in_48_pairs_and_in_rounds():
    """Of one task, with nothing to tell the pairs apart: the rounds, and what is balanced within them."""
    seen = shown([pair("a", number) for number in range(96)])
    assert len(set(LAYOUTS)) == 48
    for start in range(0, 96, 12):
        cells = Counter((one.labels_swapped, one.options_swapped, one.tie_place) for one in seen[start : start + 12])
        assert cells == Counter(product((False, True), (False, True), range(TIE_PLACES)))
    for start in range(0, 96, 4):
        assert {one.labels for one in seen[start : start + 4]} == set(LABEL_SETS)
    assert {(one.labels, one.labels_swapped, one.options_swapped) for one in seen} == set(
        product(LABEL_SETS, (False, True), (False, True))
    )


def test_two_pairs_in_a_row_are_opposites():
    seen = shown([pair(str(number // 3), number) for number in range(96)])
    for one, other in [*pairwise(seen)][::2]:
        assert one.labels_swapped != other.labels_swapped
        assert one.options_swapped != other.options_swapped


def test_parts_have_rounds_of_their_own():
    stimuli = [pair("a", number, family) for number in range(24) for family in ("equal", "length")]
    for family in ("equal", "length"):
        seen = [one for stimulus, one in zip(stimuli, shown(stimuli), strict=True) if stimulus.family == family]
        assert Counter(one.tie_place for one in seen) == {0: 8, 1: 8, 2: 8}
    # What comes first in one part does not come first in the next.
    assert shown(stimuli)[0] != shown(stimuli)[1]


def test_a_layout_depends_on_what_came_before_and_on_nothing_else():
    stimuli = [crossed_pair(number, version, float(number % 3)) for number in range(24) for version in "AB"]
    assert shown(stimuli[:20]) == shown(stimuli)[:20]
    assert shown(stimuli) == shown(stimuli)


def test_both_versions_of_a_quad_share_a_layout():
    stimuli = [crossed_pair(number, version) for number in range(5) for version in "AB"]
    seen = shown(stimuli)
    assert seen[::2] == seen[1::2]
    assert len(set(seen)) == 5


@pytest.mark.parametrize("period", [2, 3, 4, 5, 6, 8, 12, 18, 24])
def test_no_layout_goes_with_what_comes_in_a_rhythm(period):
    """Steps, transforms and versions all take turns: whatever the period, each of them meets all of a factor."""
    stimuli = [replace(pair("a", number), stratum=str(number % period)) for number in range(12 * period)]
    steps = [crossed_pair(number, "A", float(number % period)) for number in range(12 * period)]
    for chosen, turn in ((stimuli, lambda one: one.stratum), (steps, lambda one: one.delta)):
        seen = defaultdict(list)
        for stimulus, layout in zip(chosen, shown(chosen), strict=True):
            seen[turn(stimulus)].append(layout)
        for name, (level, kinds) in FACTORS.items():
            for turns, layouts in seen.items():
                counts = Counter(map(level, layouts))
                assert len(counts) == kinds, (name, turns, counts)
                assert spread(counts, kinds) <= 6, (name, turns, counts)


SETS = [
    pytest.param(size, seed, ladder, marks=marks)
    for size in RECIPES
    for ladder, seed, marks in (
        ("crossed", 1, []),
        ("crossed", 2, pytest.mark.slow),
        ("crossed", 3, pytest.mark.slow),
        ("filler", 1, pytest.mark.heavy),
    )
]


@pytest.mark.parametrize(("size", "seed", "ladder"), SETS)
def test_every_factor_is_balanced_in_every_part_that_ships(size, seed, ladder):
    """At each step of each ladder too: a step that always lists the tie first has its tie rate for that reason."""
    stimuli = built(size, seed, ladder)
    layouts = layouts_of(stimuli)
    for part, chosen in parts_of(stimuli).items():
        seen = [layouts[one.id] for one in chosen]
        for name, (level, kinds) in FACTORS.items():
            counts = Counter(map(level, seen))
            assert spread(counts, kinds) <= 1, (part, name, counts)


@pytest.mark.parametrize(("size", "seed", "ladder"), SETS)
def test_no_two_factors_go_together_in_any_part_that_ships(size, seed, ladder):
    """A cross table has no empty cell, once there are twice as many pairs as cells."""
    stimuli = built(size, seed, ladder)
    layouts = layouts_of(stimuli)
    for part, chosen in parts_of(stimuli).items():
        seen = [layouts[one.id] for one in chosen]
        for (one, (first, ones)), (other, (second, others)) in combinations(FACTORS.items(), 2):
            counts = Counter((first(layout), second(layout)) for layout in seen)
            if len(seen) >= 2 * ones * others:
                assert len(counts) == ones * others, (part, one, other, counts)
            assert spread(counts, ones * others) <= 4, (part, one, other, counts)


@pytest.mark.parametrize(("size", "seed", "ladder"), SETS)
def test_no_factor_goes_with_what_a_pair_is_made_of(size, seed, ladder):
    """Nor with the task families in even places: none of these meets some of the levels only."""
    stimuli = built(size, seed, ladder)
    layouts = layouts_of(stimuli)
    families = {name: place for place, name in enumerate(dict.fromkeys(one.cluster for one in stimuli))}
    kinds_of_pairs = {
        "stratum": lambda one: one.stratum,
        "version": lambda one: "" if one.crossed_pair else one.version,
        "level": lambda one: one.base,
        "parity of the task family": lambda one: families[one.cluster] % 2,
    }
    for part, chosen in parts_of(stimuli).items():
        for kind, value in kinds_of_pairs.items():
            groups = defaultdict(list)
            for stimulus in chosen:
                groups[value(stimulus)].append(layouts[stimulus.id])
            for (name, (level, kinds)), (which, seen) in product(FACTORS.items(), groups.items()):
                counts = Counter(map(level, seen))
                where = (part, kind, which, name, counts)
                if len(seen) >= 6 * kinds:
                    assert len(counts) == kinds, where
                # Chance alone would go further than this now and then; an alias goes as far as the number.
                assert spread(counts, kinds) <= 4 + 1.5 * len(seen) ** 0.5, where


PARTS = {"equal": "", "blank": "identical"}


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
        if stimulus.crossed_pair:
            of_quad.setdefault(stimulus.crossed_pair, []).append(layouts[stimulus.id])
    assert len(of_quad) > 100
    assert all(len(shown) == 2 and len(set(shown)) == 1 for shown in of_quad.values())
