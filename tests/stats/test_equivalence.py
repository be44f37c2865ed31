"""Items for an equivalence claim: published numbers, and a simulation of the tests they are for."""

import numpy as np
import pytest

from umpirical.stats.equivalence import items_for_equivalence
from umpirical.stats.shifts import signed_mean


@pytest.mark.parametrize(
    ("margin", "discordance", "items"), [(0.05, 0.05, 217), (0.05, 0.10, 433), (0.05, 0.20, 866), (0.02, 0.05, 1353)]
)
def test_the_planning_table(margin, discordance, items):
    assert items_for_equivalence(margin, discordance=discordance) == items


def test_ten_items_cannot_show_invariance():
    """With one verdict in ten changing, ten items show no more than that the shift is below a third of a step."""
    assert items_for_equivalence(0.32, discordance=0.10) > 10
    assert items_for_equivalence(0.33, discordance=0.10) == 10


def test_more_power_a_stricter_level_and_dependence_take_more_items():
    base = items_for_equivalence(0.05, discordance=0.10)
    assert items_for_equivalence(0.05, discordance=0.10, power=0.8) < base
    assert items_for_equivalence(0.05, discordance=0.10, level=0.025) > base
    assert items_for_equivalence(0.05, discordance=0.10, design_effect=2.0) == pytest.approx(2 * base, abs=1)


def test_a_judge_that_never_changes_still_needs_two():
    assert items_for_equivalence(0.05, discordance=0.0) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"margin": 0.0, "discordance": 0.1},
        {"margin": 0.1, "discordance": -0.1},
        {"margin": 0.1, "discordance": 0.1, "power": 1.0},
        {"margin": 0.1, "discordance": 0.1, "level": 0.5},
        {"margin": 0.1, "discordance": 0.1, "design_effect": 0.0},
    ],
)
def test_what_makes_no_sense_is_refused(wrong):
    margin = wrong.pop("margin")
    with pytest.raises(ValueError, match=r"expected .* got"):
        items_for_equivalence(margin, **wrong)


def moved(rng, items: int, up: float, down: float) -> tuple[np.ndarray, np.ndarray]:
    draw = rng.random(items)
    return (draw < up).astype(float), (draw > 1 - down).astype(float)


def test_so_many_items_have_the_power_that_was_asked_for():
    rng, items = np.random.default_rng(1), items_for_equivalence(0.05, discordance=0.10)
    inside = []
    for _ in range(400):
        found = signed_mean(*moved(rng, items, 0.05, 0.05), np.ones(items), level=0.90)
        inside.append(max(-found.low, found.high) < 0.05)
    assert np.mean(inside) == pytest.approx(0.9, abs=0.05)


def test_a_shift_as_large_as_the_margin_passes_in_no_more_than_one_of_twenty():
    rng, items = np.random.default_rng(2), items_for_equivalence(0.05, discordance=0.10)
    inside = []
    for _ in range(400):
        found = signed_mean(*moved(rng, items, 0.075, 0.025), np.ones(items), level=0.90)
        inside.append(max(-found.low, found.high) < 0.05)
    assert np.mean(inside) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
