"""The latent rule of grading: its formulas by hand, against brute-force simulation, and their identities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from tests.cases import each
from tests.recovery.grade_sampling import sample_grades
from umpirical.stats.simulation.grader import (
    LatentGrader,
    centre,
    concordance,
    cut_points,
    dark_current,
    grade_rates,
    grade_slope,
    grade_spread,
    pair_order,
)

JUDGES = {
    "steady": LatentGrader(gain=0.2, noise=0.05, surface=0.03, lapse=0.005, blank=-0.3),
    "compressed": LatentGrader(gain=0.06, noise=0.08),
    "noisy": LatentGrader(gain=0.2, noise=0.2, surface=0.15, lapse=0.05, blank=0.2),
    "severe": LatentGrader(gain=0.15, noise=0.1, leniency=-0.25, lapse=0.02, blank=-0.1, middle=3.0),
    "random": LatentGrader(gain=0.0, noise=0.0, lapse=1.0),
}

LEVELS = np.arange(6.0)

graders = st.builds(
    LatentGrader,
    gain=st.floats(-0.3, 0.5),
    noise=st.floats(0, 0.5),
    leniency=st.floats(-0.5, 0.5),
    surface=st.floats(0, 0.5),
    lapse=st.floats(0, 1),
    blank=st.floats(-1, 1),
)
scales = st.integers(2, 12)


# By hand.


def test_cuts_lie_halfway_between_grades():
    assert cut_points(2).tolist() == [0.5]
    assert cut_points(5).tolist() == [0.125, 0.375, 0.625, 0.875]
    with pytest.raises(ValueError, match="at least two grades"):
        cut_points(1)


def test_a_grade_by_hand():
    judge = LatentGrader(gain=0.2, noise=0.3, leniency=0.1, surface=0.4, lapse=0.1, middle=2.5)
    # 1/2 + 0.1 + 0.2 (4 - 2.5) = 0.9; spread sqrt(0.09 + 0.16) = 0.5; binary, so cut at 0.5.
    assert float(centre(judge, 4.0)) == pytest.approx(0.9)
    yes = 0.1 / 2 + 0.9 * norm.sf((0.5 - 0.9) / 0.5)
    assert grade_rates(judge, 4.0, grades=2)[0] == pytest.approx([1 - yes, yes])


def test_a_blank_has_a_place_of_its_own_and_no_wording():
    judge = LatentGrader(gain=5.0, noise=0.1, leniency=3.0, surface=9.0, blank=0.125)
    # The first of four cuts is at 0.125 as well: a coin flip.
    assert dark_current(judge, grades=5) == pytest.approx(0.5)


def test_without_noise_every_quality_has_one_grade():
    judge = LatentGrader(gain=0.2, noise=0.0)
    assert grade_rates(judge, LEVELS, grades=5).argmax(axis=1).tolist() == [0, 1, 2, 2, 3, 4]
    assert grade_spread(judge, LEVELS, grades=5) == 0
    # Levels 2 and 3 have the same grade: of five single steps four show.
    order = pair_order(judge, LEVELS[:5], 1.0, grades=5)
    assert order.higher.tolist() == [1, 1, 0, 1, 1]
    assert order.equal.tolist() == [0, 0, 1, 0, 0]
    assert concordance(judge, LEVELS[:5], 1.0, grades=5) == 1


def test_a_random_grader_by_hand():
    judge = JUDGES["random"]
    # Of 25 pairs of grades 1 to 5, 5 are equal; distances 1, 2, 3, 4 come up 8, 6, 4, 2 times.
    assert pair_order(judge, 0.0, 3.0, grades=5).equal == pytest.approx(1 / 5)
    assert grade_spread(judge, LEVELS, grades=5) == pytest.approx((8 + 12 + 12 + 8) / 25)
    assert concordance(judge, LEVELS[:5], 1.0, grades=5) == pytest.approx(1 / 2)
    assert grade_slope(judge, LEVELS, np.zeros(6), grades=5) == pytest.approx(0, abs=1e-12)


def test_a_fine_scale_has_the_slope_of_the_gain():
    """Away from the ends and with many grades, rounding does not matter: gain · (grades - 1) steps per requirement."""
    judge = LatentGrader(gain=0.05, noise=0.02)
    assert grade_slope(judge, LEVELS, np.zeros(6), grades=101) == pytest.approx(0.05 * 100, rel=1e-6)


def test_the_slope_is_within_tasks():
    judge = LatentGrader(gain=0.1, noise=0.05)
    alone = grade_slope(judge, [1.0, 2.0], [0, 0], grades=5)
    # A task with answers of one quality tells nothing, and moves nothing.
    assert grade_slope(judge, [1.0, 2.0, 5.0, 5.0], [0, 0, 1, 1], grades=5) == pytest.approx(alone)


# Identities.


@given(graders, scales)
def test_grades_are_everything_and_so_are_the_three_orders(judge, grades):
    rates = grade_rates(judge, LEVELS, grades=grades)
    assert rates.sum(axis=1) == pytest.approx(np.ones(6))
    assert (rates >= -1e-12).all()
    order = pair_order(judge, LEVELS, 1.5, grades=grades)
    assert order.higher + order.equal + order.lower == pytest.approx(np.ones(6))
    turned = pair_order(judge, LEVELS + 1.5, -1.5, grades=grades)
    assert turned.higher == pytest.approx(order.lower, abs=1e-9)
    assert turned.equal == pytest.approx(order.equal)


@given(graders, scales)
def test_at_equal_quality_neither_is_higher_more_often(judge, grades):
    order = pair_order(judge, LEVELS, 0.0, grades=grades)
    assert order.higher == pytest.approx(order.lower, abs=1e-9)
    assert 0 <= grade_spread(judge, LEVELS, grades=grades) <= grades - 1


# Against simulation.


@each("grades", [2, 5, 11])
@each("name", JUDGES)
def test_formulas_agree_with_simulation(name, grades):
    judge, count = JUDGES[name], 60_000
    rng = np.random.default_rng(12)
    drawn = {level: sample_grades(judge, np.full(2 * count, level), rng, grades=grades) for level in (1.0, 3.0)}
    rates = grade_rates(judge, [1.0, 3.0], grades=grades)
    near = 4.5 * 0.5 / np.sqrt(count)
    for row, level in zip(rates, (1.0, 3.0), strict=True):
        assert np.bincount(drawn[level], minlength=grades) / (2 * count) == pytest.approx(row, abs=near)
    better, lesser = drawn[3.0][:count], drawn[1.0][:count]
    order = pair_order(judge, 1.0, 2.0, grades=grades)
    assert np.mean(better > lesser) == pytest.approx(order.higher[0], abs=near)
    assert np.mean(better == lesser) == pytest.approx(order.equal[0], abs=near)
    distance = np.abs(drawn[1.0][:count] - drawn[1.0][count:]).mean()
    assert distance == pytest.approx(grade_spread(judge, 1.0, grades=grades), abs=(grades - 1) * near)
    slope = (drawn[3.0].mean() - drawn[1.0].mean()) / 2
    assert slope == pytest.approx(grade_slope(judge, [1.0, 3.0], [0, 0], grades=grades), abs=(grades - 1) * near)
    blanks = sample_grades(judge, np.zeros(count), rng, grades=grades, blank=True)
    assert np.mean(blanks > 0) == pytest.approx(dark_current(judge, grades=grades), abs=near)
