"""The latent rule of examining: its formulas by hand, against brute-force simulation, and their identities."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm

from tests.cases import each
from tests.recovery.examiner_sampling import draw
from umpirical.stats.simulation.examiner import (
    NOTICED,
    LatentExaminer,
    Pull,
    centre,
    grade_rates,
    joint_rates,
    length_pull,
    place_cuts,
    pull,
    repeat_rates,
)

EXAMINERS = {
    "sharp": LatentExaminer(noise=0.0),
    "frozen": LatentExaminer(noise=0.4, frozen=1.0),
    "fresh": LatentExaminer(noise=0.4, frozen=0.0),
    "half": LatentExaminer(noise=0.6, frozen=0.5, severity=-0.3, compression=0.7),
    "lapsing": LatentExaminer(noise=0.3, frozen=0.9, lapse=0.2),
    "swayed": LatentExaminer(noise=0.3, frozen=0.95, format_shift=-0.6, format_scatter=0.7, severity=0.2),
    "guessing": LatentExaminer(noise=0.0, lapse=1.0),
}

examiners = st.builds(
    LatentExaminer,
    noise=st.floats(0, 2),
    frozen=st.floats(0, 1),
    severity=st.floats(-2, 2),
    compression=st.floats(-0.5, 1.5),
    lapse=st.floats(0, 1),
)
scales = st.integers(2, 12)


def levels(grades):
    return np.arange(float(grades))


def places(judge, grades, shift=0.0):
    return centre(judge, levels(grades), grades=grades) + shift


def differ(joint):
    return 1 - np.trace(joint, axis1=1, axis2=2)


# By hand.


def test_cuts_lie_halfway_between_grades():
    assert place_cuts(2).tolist() == [0.5]
    assert place_cuts(6).tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    with pytest.raises(ValueError, match="at least two grades, got 1"):
        place_cuts(1)


def test_a_place_by_hand():
    judge = LatentExaminer(noise=0.3, severity=-0.4, compression=0.5)
    # Six grades, 0 to 5, have their middle at 2.5: 2.5 - 0.4 + 0.5 (4 - 2.5) = 2.85.
    assert float(centre(judge, 4.0, grades=6)) == pytest.approx(2.85)
    # Severity is what the middle of the scale is shifted by, whatever the compression.
    assert float(centre(judge, 2.5, grades=6)) == pytest.approx(2.5 - 0.4)


def test_a_grade_by_hand():
    judge = LatentExaminer(noise=0.3, lapse=0.1)
    # A place of 1.2 gets grade 1 between the cuts 0.5 and 1.5; noise 0.3 and scatter 0.4 make a spread of 0.5.
    within = norm.cdf((1.5 - 1.2) / 0.5) - norm.cdf((0.5 - 1.2) / 0.5)
    assert grade_rates(judge, 1.2, grades=3, scatter=0.4)[0, 1] == pytest.approx(0.1 / 3 + 0.9 * within)


def test_binary_grades_are_cut_at_one_half():
    judge = LatentExaminer(noise=0.25)
    assert grade_rates(judge, [0.0, 1.0], grades=2) == pytest.approx(
        np.array([[norm.cdf(2), norm.sf(2)], [norm.sf(2), norm.cdf(2)]])
    )


def test_without_noise_every_text_gets_its_grade_and_a_place_on_a_cut_goes_up():
    judge = EXAMINERS["sharp"]
    assert grade_rates(judge, levels(6), grades=6).tolist() == np.eye(6).tolist()
    assert grade_rates(judge, 2.5, grades=6)[0].argmax() == 3
    assert differ(joint_rates(judge, levels(6), levels(6), grades=6)).tolist() == [0] * 6


def test_severity_of_one_grade_costs_one_grade_and_the_least_cannot_sink():
    judge = LatentExaminer(noise=0.0, severity=-1.0)
    assert grade_rates(judge, places(judge, 6), grades=6).argmax(axis=1).tolist() == [0, 0, 1, 2, 3, 4]


def test_compression_keeps_to_the_middle():
    judge = LatentExaminer(noise=0.0, compression=0.5)
    # 2.5 + (y - 2.5)/2 = 1.25, 1.75, 2.25, 2.75, 3.25, 3.75.
    assert grade_rates(judge, places(judge, 6), grades=6).argmax(axis=1).tolist() == [1, 2, 2, 3, 3, 4]


def test_fresh_noise_makes_two_calls_independent():
    judge = EXAMINERS["fresh"]
    rates = grade_rates(judge, 1.3, grades=4)[0]
    assert joint_rates(judge, 1.3, 1.3, grades=4)[0] == pytest.approx(np.outer(rates, rates))
    assert differ(joint_rates(judge, 1.3, 1.3, grades=4))[0] == pytest.approx(1 - (rates**2).sum())


def test_frozen_noise_makes_them_the_same():
    judge = EXAMINERS["frozen"]
    rates = grade_rates(judge, 1.3, grades=4)[0]
    assert joint_rates(judge, 1.3, 1.3, grades=4)[0] == pytest.approx(np.diag(rates))
    # A changed text that lies 0.3 higher crosses the cut at 1.5 iff the item's noise puts the original in [1.2, 1.5).
    joint = joint_rates(judge, 1.3, 1.6, grades=4)[0]
    assert joint[1, 2] == pytest.approx(norm.cdf(0.2 / 0.4) - norm.cdf(-0.1 / 0.4))
    assert joint[2, 1] == pytest.approx(0, abs=1e-12)


def test_scatter_is_the_changed_texts_alone():
    judge = LatentExaminer(noise=0.5, frozen=0.6)
    joint = joint_rates(judge, 2.0, 2.3, grades=5, scatter=1.2)[0]
    assert joint.sum(axis=1) == pytest.approx(grade_rates(judge, 2.0, grades=5)[0])
    assert joint.sum(axis=0) == pytest.approx(grade_rates(judge, 2.3, grades=5, scatter=1.2)[0])


def test_scatter_without_noise_moves_the_changed_text_off_a_fixed_original():
    joint = joint_rates(EXAMINERS["sharp"], 2.0, 2.0, grades=5, scatter=0.5)[0]
    assert joint[2, 2] == pytest.approx(norm.cdf(1) - norm.cdf(-1))
    assert joint[[0, 1, 3, 4]].sum() == 0


def test_a_cell_is_a_rectangle_of_the_bivariate_normal():
    """Against scipy's own integral, which is of another kind."""
    judge = LatentExaminer(noise=0.8, frozen=0.7)
    spread = math.hypot(0.8, 0.5)
    rho = 0.7 * 0.8**2 / (0.8 * spread)
    law = multivariate_normal([0, 0], [[1, rho], [rho, 1]])

    def below(grade, other):
        return law.cdf([(grade + 0.5 - 1.7) / 0.8, (other + 0.5 - 2.4) / spread])

    joint = joint_rates(judge, 1.7, 2.4, grades=5, scatter=0.5)[0]
    for grade in (1, 2, 3):
        for other in (1, 2, 3):
            corner = below(grade, other) - below(grade - 1, other) - below(grade, other - 1)
            assert joint[grade, other] == pytest.approx(corner + below(grade - 1, other - 1), abs=1e-5)


def test_a_place_right_on_a_cut_is_no_special_case():
    judge = LatentExaminer(noise=0.5, frozen=0.5)
    on_cuts = joint_rates(judge, 1.5, 2.5, grades=5)
    near = joint_rates(judge, 1.5 + 1e-9, 2.5 - 1e-9, grades=5)
    assert on_cuts == pytest.approx(near, abs=1e-7)
    # P(both below their centres) of two normal numbers of correlation 1/2 is 1/4 + asin(1/2) / 2π = 1/3.
    assert on_cuts[0, :2, :3].sum() == pytest.approx(1 / 3)


def test_two_lapses_are_two_guesses():
    assert joint_rates(EXAMINERS["guessing"], 1.0, 3.0, grades=4)[0] == pytest.approx(np.full((4, 4), 1 / 16))


# What pulls.


def test_each_kind_of_change_pulls_by_what_is_planted_for_it():
    judge = LatentExaminer(noise=0.1, format_shift=-0.4, format_scatter=0.5, paraphrase=0.6, cue=1.1)
    assert pull(judge, ["format"]) == Pull(-0.4, 0.5)
    assert pull(judge, ["paraphrase"]) == Pull(0.0, 0.6)
    assert pull(judge, ["cue"]) == Pull(1.1, 0.0)
    assert pull(judge, ["none"]) == pull(judge, []) == Pull(0.0, 0.0)


def test_length_pulls_by_the_logarithm_of_the_ratio_and_the_same_both_ways():
    judge = LatentExaminer(noise=0.1, verbosity=1.5)
    lifted = length_pull(judge, [2.0, 0.5, 4.0])
    assert lifted == pytest.approx(1.5 * np.log([2.0, 0.5, 4.0]))
    assert lifted[0] == -lifted[1]


@pytest.mark.parametrize("ratio", [1.0, 0.9, 1.2, 0.81, 1.24])
def test_a_little_longer_or_shorter_is_not_heeded(ratio):
    assert length_pull(LatentExaminer(noise=0.1, verbosity=9.0), ratio) == 0


@pytest.mark.parametrize("ratio", [NOTICED, 1 / NOTICED, 1.5, 0.75])
def test_what_the_verbosity_tests_ask_for_is_heeded(ratio):
    assert abs(length_pull(LatentExaminer(noise=0.1, verbosity=1.0), ratio)) > 0.2


@pytest.mark.parametrize("ratio", [0.0, -1.0, math.nan])
def test_a_ratio_of_words_is_positive(ratio):
    with pytest.raises(ValueError, match="a ratio of words must be positive"):
        length_pull(LatentExaminer(noise=0.1), ratio)


# Identities.


@given(examiners, scales, st.floats(-3, 3), st.floats(0, 2))
def test_all_rates_are_rates_and_the_joint_ones_have_the_others_for_margins(judge, grades, shift, scatter):
    original, changed = places(judge, grades), places(judge, grades, shift)
    joint = joint_rates(judge, original, changed, grades=grades, scatter=scatter)
    assert (joint >= 0).all()
    assert joint.sum(axis=(1, 2)) == pytest.approx(np.ones(grades))
    assert joint.sum(axis=2) == pytest.approx(grade_rates(judge, original, grades=grades), abs=1e-9)
    assert joint.sum(axis=1) == pytest.approx(grade_rates(judge, changed, grades=grades, scatter=scatter), abs=1e-9)


@given(examiners, scales)
def test_two_repeats_are_exchangeable(judge, grades):
    joint = joint_rates(judge, places(judge, grades), places(judge, grades), grades=grades)
    assert joint == pytest.approx(joint.transpose(0, 2, 1), abs=1e-9)


@given(examiners, scales, st.floats(0, 2))
def test_repeats_of_a_text_have_the_rates_of_one_call_for_margins(judge, grades, scatter):
    joint = repeat_rates(judge, places(judge, grades), grades=grades, scatter=scatter)
    assert joint == pytest.approx(joint.transpose(0, 2, 1), abs=1e-9)
    rates = grade_rates(judge, places(judge, grades), grades=grades, scatter=scatter)
    assert joint.sum(axis=2) == pytest.approx(rates, abs=1e-9)
    if not scatter:
        same = joint_rates(judge, places(judge, grades), places(judge, grades), grades=grades)
        assert joint == pytest.approx(same, abs=1e-9)


@given(st.floats(0.05, 1.5), st.floats(0, 0.98), st.floats(0.01, 0.02), scales)
def test_the_more_is_frozen_the_fewer_repeats_differ(noise, frozen, more, grades):
    less, least = (
        differ(joint_rates(judge, places(judge, grades), places(judge, grades), grades=grades))
        for judge in (LatentExaminer(noise, frozen), LatentExaminer(noise, frozen + more))
    )
    assert (least <= less + 1e-9).all()


@given(st.floats(0, 1.5), st.floats(0, 1), scales)
def test_a_sound_judge_mirrors_the_scale(noise, frozen, grades):
    judge = LatentExaminer(noise, frozen)
    rates = grade_rates(judge, places(judge, grades), grades=grades)
    if noise:
        assert rates == pytest.approx(rates[::-1, ::-1], abs=1e-9)
    assert (rates.argmax(axis=1) == levels(grades)).all() or noise > 0.5


# Against simulation.


@each("grades", [2, 6])
@each("name", EXAMINERS)
def test_formulas_agree_with_simulation(name, grades):
    judge, count, level = EXAMINERS[name], 60_000, 1
    run = draw(
        judge,
        np.random.default_rng(3),
        items=count,
        grades=grades,
        repeats=2,
        tests=("vertical-spacing", "label-flip"),
        level=np.full(count, level),
    )
    near = 4.5 * 0.5 / math.sqrt(count)
    place = centre(judge, float(level), grades=grades)
    repeats = joint_rates(judge, place, place, grades=grades)[0]
    assert _shares(run.originals[:, 0], run.originals[:, 1], grades) == pytest.approx(repeats, abs=near)
    shift, scatter = pull(judge, ["format"])
    other = joint_rates(judge, place, place + shift, grades=grades, scatter=scatter)[0]
    first, second = run.changed["vertical-spacing"].T
    assert _shares(run.originals[:, 0], first, grades) == pytest.approx(other, abs=near)
    # What another format does to a text, it does in every call.
    again = repeat_rates(judge, place + shift, grades=grades, scatter=scatter)[0]
    assert _shares(first, second, grades) == pytest.approx(again, abs=near)
    mirrored = centre(judge, float(grades - 1 - level), grades=grades)
    flipped = joint_rates(judge, place, mirrored, grades=grades)[0]
    assert _shares(run.originals[:, 0], run.changed["label-flip"][:, 0], grades) == pytest.approx(flipped, abs=near)


def _shares(first, second, grades):
    return np.histogram2d(first, second, bins=grades, range=[[-0.5, grades - 0.5]] * 2)[0] / len(first)
