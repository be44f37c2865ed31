"""Slot, label, list and place of the tie: counts by hand, and what is undefined."""

from dataclasses import replace
from itertools import product

import pytest

from umpirical.domain.measures import Estimate, Undefined
from umpirical.domain.tallies import LayoutTally, Tallies
from umpirical.measures.catalogue import MEASURES
from umpirical.stats.intervals import student

NAMES = ("slot-effect", "label-effect", "list-effect")


def cells(slot=0.0, label=0.0, listed=0.0, both=0.0, *, tasks=4, family="equal", ties=(0.5, 0.5, 0.5)):
    """Each task has one pair in each of the twelve kinds of layout; `both` pulls where label and list agree."""
    return Tallies(
        layouts=tuple(
            LayoutTally(
                f"t{task}",
                "baseline",
                family,
                a,
                q,
                place,
                1,
                slot + label * a + listed * q + both * a * q,
                ties[place],
            )
            for task, a, q, place in product(range(tasks), (1, -1), (1, -1), range(3))
        )
    )


def result(name, tallies, stratum=""):
    [found] = [m.result for m in MEASURES.get(name).compute(tallies, "baseline") if m.stratum == stratum]
    return found


@pytest.mark.parametrize(
    ("pulls", "expected"),
    [
        ((1.0,), (1, 0, 0)),
        ((-1.0,), (-1, 0, 0)),
        ((0.0, 1.0), (0, 1, 0)),
        ((0.0, 0.0, 1.0), (0, 0, 1)),
        ((0.25, 0.5, -0.25), (0.25, 0.5, -0.25)),
        ((0.0, 0.0, 0.0, 0.5), (0, 0, 0)),
    ],
)
def test_the_three_pulls_are_told_apart(pulls, expected):
    found = [result(name, cells(*pulls)) for name in NAMES]
    assert [one.value for one in found] == pytest.approx(expected)
    assert {(one.denominator, one.unit, one.clusters) for one in found} == {(48, "pair", 4)}


def test_tasks_that_all_agree_are_no_certainty():
    """The least error is that of one pair of 48 that went from one end to the other: 2/48."""
    found = result("label-effect", cells(0.0))
    half = student(4, 0.95) * 2 / 48
    assert (found.interval.low, found.interval.high) == pytest.approx((-half, half))


def test_no_interval_goes_beyond_the_scale():
    found = result("slot-effect", cells(1.0))
    assert found.interval.high == 1
    assert found.interval.low < 1


def test_the_place_of_the_tie_by_hand():
    tallies = cells(0.0, ties=(0.75, 0.1, 0.5))
    found = result("tie-place-effect", tallies)
    assert (found.value, found.denominator) == (pytest.approx(0.25), 32)


def test_identical_answers_are_a_part_of_their_own():
    equal, identical = cells(0.5), cells(label=1.0, family="blank")
    both = Tallies(layouts=equal.layouts + identical.layouts)
    assert result("slot-effect", both).value == pytest.approx(0.5)
    assert result("slot-effect", both, "identical").value == pytest.approx(0)
    assert result("label-effect", both, "identical").value == pytest.approx(1)


def test_what_is_excluded_is_counted():
    tallies = cells(0.0)
    gappy = Tallies(layouts=(replace(tallies.layouts[0], pairs=0, incomplete=1), *tallies.layouts[1:]))
    found = result("list-effect", gappy)
    assert isinstance(found, Estimate)
    assert (found.excluded, found.denominator) == ({"incomplete": 1}, 47)


@pytest.mark.parametrize("name", [*NAMES, "tie-place-effect"])
def test_a_layout_that_was_not_varied_has_no_effect_to_measure(name):
    found = result(name, Tallies())
    assert isinstance(found, Undefined)
    assert "not varied" in found.reason
    assert "one task" in result(name, cells(0.0, tasks=1)).reason


def test_labels_that_always_go_with_the_list_are_not_told_apart():
    tallies = cells(0.5)
    together = Tallies(layouts=tuple(one for one in tallies.layouts if one.label_sign == one.list_sign))
    assert "do not distinguish" in result("label-effect", together).reason


def test_without_a_tie_its_place_shows_nothing():
    assert "no verdict was a tie" in result("tie-place-effect", cells(1.0, ties=(0.0, 0.0, 0.0))).reason
