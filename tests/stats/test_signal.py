"""The tie-aware signal-detection model: second implementations, exact recovery, symmetries, and its edges."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import logit, ndtr
from scipy.stats import norm
from statsmodels.miscmodels.ordinal_model import OrderedModel

from tests.recovery.sampling import sample_choices
from umpirical.stats.intervals import jackknife
from umpirical.stats.signal_estimates import detection_threshold, estimate_signal, fit_signal, most_likely, prepare
from umpirical.stats.signal_model import (
    Neighbourhood,
    PairCounts,
    call_rates,
    kind_likelihoods,
    log_prior,
    search,
    sort_kinds,
)
from umpirical.stats.signal_tests import goodness_of_fit, parameter_difference
from umpirical.stats.simulation.judge import LatentJudge, correct_rate, decomposition, tie_rate

RUNGS = (0.0, 0.25, 0.5, 0.75, 1, 2, 3, 4, 5)
JUDGES = {
    "clean": LatentJudge(2.7, 1.13, 0.35, 0.15, 0.005),
    "cross-sensitive": LatentJudge(1.5, 0.6, 0.2, 2.0, 0.01),
    "short-sighted": LatentJudge(0.55, 0.8, 0.1, 0.4, 0.02),
    "backward": LatentJudge(-1.0, 0.5, -0.3, 0.5, 0.01),
}
NAMES = ("resolution", "criterion", "slot_bias", "surface", "length_weight", "lapse")

judges = st.builds(
    LatentJudge,
    resolution=st.floats(-3, 6),
    criterion=st.floats(0, 3),
    slot_bias=st.floats(-2, 2),
    surface=st.floats(0, 3),
    lapse=st.floats(1e-4, 0.3),
    length_weight=st.floats(-2, 2),
)


def working(judge: LatentJudge) -> np.ndarray:
    variance = max(judge.surface**2, 1e-6)
    k, c, b, w = judge.resolution, judge.criterion, judge.slot_bias, judge.length_weight
    return np.array([k, c, b, variance, w, logit(judge.lapse)])


def every_kind(deltas=RUNGS, lengths=(0.0,), *, tasks: int = 1) -> PairCounts:
    """One row for each of the nine answers to both orders of each stimulus, in each task."""
    rows = [
        (task, delta, length, np.concatenate([np.eye(3)[one], np.eye(3)[two]]))
        for task in range(tasks)
        for delta in deltas
        for length in lengths
        for one in range(3)
        for two in range(3)
    ]
    task, delta, length, counts = zip(*rows, strict=True)
    return PairCounts.of(task, delta, counts, log_length=length)


def expected_pairs(judge: LatentJudge, pairs_each: float, **design) -> PairCounts:
    """Answers exactly as often as the judge gives them: nothing but the truth to fit."""
    pairs = every_kind(**design)
    kinds = sort_kinds(pairs)
    shares = np.exp(kind_likelihoods(working(judge), kinds)[0])[kinds.kind]
    return replace(pairs, weight=pairs_each * shares)


def sampled_pairs(judge: LatentJudge, seed: int, *, tasks: int = 30, deltas=RUNGS, lengths=None) -> PairCounts:
    rng = np.random.default_rng(seed)
    delta = np.tile(np.array(deltas, dtype=float), tasks)
    length = np.zeros(len(delta)) if lengths is None else rng.choice(lengths, len(delta))
    # A pull towards length is a difference in quality to the judge, so it can be drawn as one.
    signal = delta * judge.resolution + judge.length_weight * length
    choices = sample_choices(replace(judge, resolution=1.0), signal, rng)
    counts = np.column_stack([choice == answer for choice in choices for answer in (1, -1, 0)])
    return PairCounts.of(np.repeat(np.arange(tasks), len(deltas)), delta, counts, log_length=length)


def plain_likelihood(judge: LatentJudge, delta: float, length: float, counts) -> float:
    """The definition, integrated by adaptive quadrature."""

    def density(z: float) -> float:
        value = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
        for order, sign in ((0, 1), (1, -1)):
            x = sign * (judge.resolution * delta + judge.length_weight * length + judge.surface * z) + judge.slot_bias
            first, second = ndtr(x - judge.criterion), ndtr(-judge.criterion - x)
            for rate, count in zip((first, second, 1 - first - second), counts[3 * order : 3 * order + 3], strict=True):
                value *= (judge.lapse / 3 + (1 - judge.lapse) * rate) ** count
        return value

    return float(np.log(quad(density, -12, 12, points=(-3, -1, 0, 1, 3), limit=400, epsabs=1e-13)[0]))


class TestLikelihood:
    @pytest.mark.parametrize("name", JUDGES)
    def test_it_agrees_with_adaptive_quadrature(self, name):
        judge = replace(JUDGES[name], length_weight=0.7)
        pairs = every_kind((0, 0.5, 3), (0.4,))
        kinds = sort_kinds(pairs)
        values = kind_likelihoods(working(judge), kinds)[0][kinds.kind]
        for row, value in enumerate(values):
            reference = plain_likelihood(judge, pairs.delta[row], pairs.log_length[row], pairs.counts[row])
            assert value == pytest.approx(reference, abs=1e-6)

    @pytest.mark.parametrize("surface", [0.3, 1.0, 2.0, 3.0])
    def test_repeated_calls_of_a_pair_share_its_surface(self, surface):
        judge = LatentJudge(1.2, 0.7, 0.3, surface, 0.02)
        counts = [[3, 0, 0, 0, 3, 0], [1, 1, 1, 0, 2, 1], [0, 3, 0, 2, 0, 1]]
        kinds = sort_kinds(PairCounts.of([0, 0, 0], [1.0, 1.0, 0.0], counts))
        values = kind_likelihoods(working(judge), kinds)[0][kinds.kind]
        reference = [plain_likelihood(judge, d, 0.0, row) for d, row in zip((1, 1, 0), counts, strict=True)]
        assert values == pytest.approx(reference, abs=0.01 if surface == 3 else 1e-4)

    @pytest.mark.parametrize("name", JUDGES)
    def test_the_gradient_is_that_of_the_values(self, name):
        theta = working(replace(JUDGES[name], length_weight=-0.4))
        kinds = sort_kinds(every_kind((0, 0.5, 2), (0.0, 0.3)))
        _, gradient = kind_likelihoods(theta, kinds)
        for parameter, step in enumerate(np.eye(6) * 1e-6):
            ends = [kind_likelihoods(theta + side * step, kinds)[0] for side in (1, -1)]
            assert gradient[:, parameter] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-6)

    def test_the_priors_gradient_and_curvature_are_those_of_its_value(self):
        theta, step = working(JUDGES["clean"]), 1e-4
        _, gradient, curved = log_prior(theta)
        for parameter, side in enumerate(np.eye(6) * step):
            (above, *_), (here, *_), (below, *_) = (log_prior(theta + shift) for shift in (side, 0, -side))
            assert gradient[parameter] == pytest.approx((above - below) / (2 * step), abs=1e-6)
            assert curved[parameter] == pytest.approx((2 * here - above - below) / step**2, abs=1e-5)

    @given(judges)
    @settings(max_examples=50)
    def test_the_nine_answers_to_a_pair_are_everything(self, judge):
        kinds = sort_kinds(every_kind((0, 1, 4), (0.0, -0.2)))
        shares = np.exp(kind_likelihoods(working(judge), kinds)[0])
        assert np.bincount(kinds.stimulus, weights=shares) == pytest.approx(np.ones(6), abs=1e-9)

    @pytest.mark.parametrize("name", JUDGES)
    def test_its_margins_are_the_rates_of_the_latent_rule(self, name):
        judge = JUDGES[name]
        rates = call_rates(working(judge), RUNGS, np.zeros(len(RUNGS)))
        assert (rates[:, 0] + rates[:, 4]) / 2 == pytest.approx(correct_rate(judge, RUNGS))
        assert (rates[:, 2] + rates[:, 5]) / 2 == pytest.approx(tie_rate(judge, RUNGS))
        kinds = sort_kinds(every_kind((0.0,)))
        shares = np.exp(kind_likelihoods(working(judge), kinds)[0])
        both_ties = kinds.counts[:, 2] * kinds.counts[:, 5] == 1
        assert shares[both_ties].sum() == pytest.approx(decomposition(judge).no_preference, abs=1e-6)


class TestFit:
    @pytest.mark.parametrize("name", JUDGES)
    def test_what_the_judge_does_is_recovered_exactly_from_expected_counts(self, name):
        judge = JUDGES[name]
        fit = fit_signal(expected_pairs(judge, 1e6))
        for parameter in NAMES:
            assert getattr(fit, parameter) == pytest.approx(getattr(judge, parameter), abs=2e-3), parameter
        assert fit.held == {"length_weight"}
        assert fit.at_bound == frozenset()
        assert fit.threshold == (
            pytest.approx(detection_threshold(judge, largest=5), abs=2e-3) if name != "backward" else None
        )

    def test_a_pull_towards_length_is_told_from_quality(self):
        judge = replace(JUDGES["clean"], length_weight=0.8)
        fit = fit_signal(expected_pairs(judge, 1e6, lengths=(-0.4, 0.0, 0.4)))
        assert fit.length_weight == pytest.approx(0.8, abs=2e-3)
        assert fit.resolution == pytest.approx(2.7, abs=5e-3)
        assert "length_weight" not in fit.held

    def test_without_surface_and_lapse_it_is_an_ordered_probit(self):
        pairs = sampled_pairs(LatentJudge(0.8, 0.9, 0.3), 4, tasks=40)
        fit = fit_signal(pairs, fixed={"surface": 0.0, "lapse": 0.0})
        side = np.concatenate([pairs.delta, -pairs.delta])
        answer = np.concatenate([pairs.counts[:, :3] @ [1, -1, 0], pairs.counts[:, 3:] @ [1, -1, 0]])
        reference = OrderedModel(answer, side[:, None], distr="probit").fit(method="bfgs", disp=False, gtol=1e-8)
        k, low, gap = reference.params
        high = low + np.exp(gap)
        assert (fit.resolution, fit.criterion, fit.slot_bias) == pytest.approx(
            (k, (high - low) / 2, -(high + low) / 2), abs=1e-3
        )
        assert fit.log_likelihood == pytest.approx(reference.llf, abs=0.01)
        assert fit.held == {"surface", "lapse", "length_weight"}

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("name", JUDGES)
    def test_a_general_optimiser_from_the_truth_climbs_no_higher(self, name, seed):
        pairs = sampled_pairs(JUDGES[name], seed)
        space, weights = prepare(pairs, {})
        theta, value = most_likely(space, weights)
        bounds = [
            (low, high) if free else (held, held)
            for low, high, free, held in zip(space.low, space.high, space.free, space.held, strict=True)
        ]
        reference = minimize(
            lambda x: tuple(-part for part in space.objective(x, weights)),
            working(JUDGES[name]),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"ftol": 1e-14, "gtol": 1e-8},
        )
        assert value == pytest.approx(-reference.fun, abs=1e-4)
        assert theta == pytest.approx(reference.x, abs=0.02)

    def test_no_neighbour_is_likelier(self):
        space, weights = prepare(sampled_pairs(JUDGES["cross-sensitive"], 2), {})
        theta, value = most_likely(space, weights)
        rng = np.random.default_rng(0)
        for size in (0.3, 0.03, 0.003):
            for _ in range(50):
                moved = theta + np.where(space.free, size * rng.standard_normal(6), 0)
                assert space.objective(np.clip(moved, space.low, space.high), weights)[0] <= value + 1e-9

    def test_weights_are_repeated_rows(self):
        pairs = sampled_pairs(JUDGES["clean"], 5)
        twice = replace(pairs, weight=2 * pairs.weight)
        doubled = PairCounts.of(np.tile(pairs.task, 2), np.tile(pairs.delta, 2), np.tile(pairs.counts, (2, 1)))
        assert fit_signal(twice).theta == pytest.approx(fit_signal(doubled).theta, abs=1e-5)

    def test_which_content_is_called_u_does_not_matter(self):
        pairs = sampled_pairs(replace(JUDGES["clean"], length_weight=0.5), 6, lengths=(-0.3, 0.0, 0.3))
        renamed = replace(
            pairs, delta=-pairs.delta, log_length=-pairs.log_length, counts=np.roll(pairs.counts, 3, axis=1)
        )
        assert fit_signal(renamed).theta == pytest.approx(fit_signal(pairs).theta, abs=1e-4)

    def test_swapping_the_slots_turns_resolution_and_slot_bias_round(self):
        pairs = sampled_pairs(JUDGES["clean"], 7)
        swapped = fit_signal(replace(pairs, counts=pairs.counts[:, [1, 0, 2, 4, 3, 5]]))
        fit = fit_signal(pairs)
        assert (swapped.resolution, swapped.slot_bias) == pytest.approx((-fit.resolution, -fit.slot_bias), abs=1e-4)
        assert (swapped.criterion, swapped.surface) == pytest.approx((fit.criterion, fit.surface), abs=1e-4)
        assert swapped.threshold is None

    def test_parameters_can_be_held(self):
        fit = fit_signal(sampled_pairs(JUDGES["clean"], 8), fixed={"slot_bias": 0.0, "surface": 0.5, "lapse": 0.02})
        assert (fit.slot_bias, fit.surface, fit.lapse) == pytest.approx((0.0, 0.5, 0.02))
        assert fit.held == {"slot_bias", "surface", "lapse", "length_weight"}

    @pytest.mark.parametrize(("name", "value"), [("criterion", -0.1), ("surface", -1.0), ("lapse", 0.6)])
    def test_but_not_at_what_they_cannot_be(self, name, value):
        with pytest.raises(ValueError, match=f"{name} cannot be fixed"):
            fit_signal(sampled_pairs(JUDGES["clean"], 8), fixed={name: value})

    def test_taste_is_not_told_from_noise_by_single_calls(self):
        pairs = sampled_pairs(JUDGES["clean"], 9)
        single = replace(pairs, counts=pairs.counts * np.array([1, 1, 1, 0, 0, 0]))
        assert "surface" in fit_signal(single).held

    def test_without_ties_the_criterion_is_0(self):
        fit = fit_signal(sampled_pairs(LatentJudge(1.0, 0.0, 0.2, 0.8), 10))
        assert fit.criterion == 0
        assert "criterion" in fit.at_bound

    def test_a_judge_that_is_always_right_has_a_resolution_without_limit(self):
        fit = fit_signal(sampled_pairs(LatentJudge(80.0, 1.0), 11))
        assert "resolution" in fit.at_bound
        assert fit.resolution == pytest.approx(15 / 0.25)
        assert fit.threshold < 0.25

    def test_a_judge_that_is_always_wrong_has_none_downwards(self):
        fit = fit_signal(sampled_pairs(LatentJudge(-80.0, 1.0), 12))
        assert "resolution" in fit.at_bound
        assert fit.resolution < 0
        assert fit.threshold is None


class TestRefusal:
    counts = ((1, 0, 0, 0, 1, 0), (0, 0, 1, 1, 0, 0), (0, 1, 0, 0, 0, 1))

    @pytest.mark.parametrize(
        ("pairs", "message"),
        [
            (([], [], []), "no pairs"),
            (([0, 0, 0], [1, 1, -1], counts), "only one size of quality difference"),
            (([0, 0], [0, 1], np.tile([0, 0, 1, 0, 0, 1], (2, 1))), "every call was answered with tie"),
            (([0, 0], [0, 1], np.tile([1, 0, 0, 1, 0, 0], (2, 1))), "every call was answered with the first position"),
            (([0, 0], [0, 1], np.zeros((2, 6))), "no answers"),
            (([0, 0, 0], [0, 1], counts), "same number of rows"),
            (([0, -1, 0], [0, 1, 2], counts), "cannot be negative"),
            (([0, 0, 0], [0, 1, np.inf], counts), "must be finite"),
        ],
    )
    def test_what_is_undefined_is_said(self, pairs, message):
        with pytest.raises(ValueError, match=message):
            fit_signal(PairCounts.of(*pairs))

    def test_length_in_step_with_quality(self):
        pairs = sampled_pairs(JUDGES["clean"], 1)
        with pytest.raises(ValueError, match="cannot be separated"):
            fit_signal(replace(pairs, log_length=0.1 * pairs.delta))

    def test_one_task_has_no_jackknife(self):
        with pytest.raises(ValueError, match="at least two clusters"):
            estimate_signal(sampled_pairs(JUDGES["clean"], 1, tasks=1, deltas=RUNGS * 6))


class TestThreshold:
    def test_without_slot_bias_and_lapse_there_is_a_formula(self):
        judge = LatentJudge(1.3, 0.9, 0.0, 0.7)
        assert detection_threshold(judge, largest=5) == pytest.approx(
            (0.9 + norm.ppf(0.75) * np.sqrt(1 + 0.7**2)) / 1.3
        )

    @pytest.mark.parametrize("k", [0.0, -1.0, 0.01])
    def test_none_where_it_is_not_reached(self, k):
        assert detection_threshold(LatentJudge(k, 0.9), largest=5) is None

    def test_none_where_lapses_make_it_impossible(self):
        assert detection_threshold(LatentJudge(2.0, 0.5, lapse=0.4), largest=5) is None


class TestEstimates:
    @pytest.mark.parametrize("name", ["clean", "cross-sensitive", "short-sighted"])
    def test_refits_without_a_task_are_as_good_as_fits_from_nothing(self, name):
        pairs = sampled_pairs(JUDGES[name], 3)
        space, weights = prepare(pairs, {})
        theta, _ = most_likely(space, weights)
        near = Neighbourhood.of(space, weights, theta)
        for task in range(30):
            kept = space.kinds.weights(pairs.weight * (pairs.task != task))
            quick = near.refit(kept)
            thorough, height = most_likely(space, kept)
            assert space.objective(quick, kept)[0] == pytest.approx(height, abs=1e-6)
            assert quick[:3] == pytest.approx(thorough[:3], abs=1e-3)

    def test_the_interval_is_that_of_fits_from_nothing(self):
        pairs = sampled_pairs(JUDGES["cross-sensitive"], 3, tasks=12)

        def estimate(kept: np.ndarray) -> list[float]:
            fit = fit_signal(replace(pairs, weight=pairs.weight * kept[pairs.task]))
            return [fit.resolution, fit.criterion, fit.slot_bias, np.log(fit.threshold)]

        reference, found = jackknife(estimate, 12), estimate_signal(pairs)
        for index, name in enumerate(("resolution", "criterion", "slot_bias")):
            estimated = getattr(found, name)
            assert estimated.method == "jackknife"
            assert estimated.standard_error == pytest.approx(reference.standard_error[index], rel=1e-3)
            assert (estimated.low, estimated.high) == pytest.approx(
                (reference.low[index], reference.high[index]), rel=5e-3
            )
        assert (found.threshold.low, found.threshold.high) == pytest.approx(
            (np.exp(reference.low[3]), np.exp(reference.high[3])), rel=1e-3
        )

    def test_names_of_tasks_and_empty_tasks_do_not_matter(self):
        pairs = sampled_pairs(JUDGES["clean"], 4, tasks=12)
        found, gappy = estimate_signal(pairs), estimate_signal(replace(pairs, task=3 * pairs.task + 2))
        assert gappy.clusters == found.clusters == 12
        assert gappy.resolution == found.resolution

    def test_precision_grows_with_tasks(self):
        few, many = (estimate_signal(sampled_pairs(JUDGES["short-sighted"], 5, tasks=tasks)) for tasks in (15, 120))
        for name in ("resolution", "criterion", "slot_bias", "threshold"):
            assert getattr(many, name).standard_error < getattr(few, name).standard_error / 1.7

    def test_a_held_parameter_has_no_interval(self):
        found = estimate_signal(sampled_pairs(JUDGES["clean"], 4), fixed={"slot_bias": 0.1})
        assert (found.slot_bias.value, found.slot_bias.low, found.slot_bias.method) == (0.1, None, "held")
        assert found.length_weight.method == "held"

    def test_a_criterion_of_0_has_an_upper_limit(self):
        """Three ties in 540 calls would not have been missed: that is about the limit."""
        pairs = sampled_pairs(LatentJudge(1.0, 0.0, 0.2, 0.8), 10)
        found = estimate_signal(pairs).criterion
        assert (found.value, found.low, found.method) == (0.0, 0.0, "profile")
        rates = call_rates(working(LatentJudge(1.0, found.high, 0.2, 0.8, 1e-5)), pairs.delta, pairs.log_length)
        assert 1 < rates[:, [2, 5]].sum() < 4

    def test_a_surface_of_0_has_an_upper_limit_and_no_lower_one(self):
        found = estimate_signal(expected_pairs(LatentJudge(1.5, 1.0, 0.2, 0.0, 0.01), 10, tasks=8)).surface
        assert (found.value, found.low, found.method) == (0.0, 0.0, "profile")
        assert 0.2 < found.high < 1

    def test_an_interval_of_the_surface_never_goes_below_0(self):
        for seed in range(12):
            found = estimate_signal(sampled_pairs(LatentJudge(1.5, 1.0, 0.2, 0.5, 0.01), seed)).surface
            assert 0 <= found.low <= found.value < found.high

    def test_always_right_gives_one_sided_limits(self):
        found = estimate_signal(sampled_pairs(LatentJudge(80.0, 1.0), 11))
        assert found.resolution.method == found.threshold.method == "profile"
        assert found.resolution.high is None
        assert found.threshold.low is None
        assert found.fit.threshold < found.threshold.high < 0.25
        # At the lower limit of k, missing no pair at the smallest difference has become a surprise.
        rate = correct_rate(LatentJudge(found.resolution.low, 1.0), 0.25)
        assert 0.8 < rate < 0.99

    def test_no_resolution_gives_a_threshold_with_a_lower_limit_only(self):
        found = estimate_signal(sampled_pairs(LatentJudge(0.0, 0.6, lapse=0.01), 13)).threshold
        assert (found.value, found.high, found.method) == (None, None, "undefined")
        assert found.low == 5

    def test_a_judge_that_lapses_too_often_to_reach_the_target_has_no_upper_limit(self):
        """At .4 lapses the better is named in at most .73 of calls, whatever the difference."""
        for seed in range(4):
            found = estimate_signal(sampled_pairs(LatentJudge(3.0, 0.5, lapse=0.4), seed))
            assert found.lapse.high > 0.375
            assert found.threshold.high is None

    def test_no_threshold_lies_beyond_the_largest_difference_shown(self):
        """Truth: 8 requirements, where 5 were shown."""
        for seed in range(4):
            found = estimate_signal(sampled_pairs(LatentJudge(0.12, 0.3), seed, tasks=40))
            assert found.largest == 5
            assert found.threshold.value is None or found.threshold.value <= 5
            assert found.threshold.high is None
            assert found.threshold.low is None or found.threshold.low <= 5

    def test_what_the_prior_alone_holds_is_not_called_certain(self):
        found = estimate_signal(sampled_pairs(LatentJudge(0.1, 0.5, 0.0, 0.0), 14)).lapse
        # Hardly a pair is easy, and 0 is as likely as one in five.
        assert (found.method, found.value, found.low) == ("profile", 0.0, 0.0)
        assert found.standard_error is None
        assert found.high > 0.2

    def test_a_judge_that_follows_the_slot_shows_how_little_is_known_of_its_resolution(self):
        """Whatever surface preference there is hardly shows: k, b and tau can be scaled up together."""
        found = estimate_signal(sampled_pairs(LatentJudge(0.35, 0.05, 2.2, 0.3, 0.01), 0, tasks=40))
        assert found.resolution.method == "curvature"
        assert found.resolution.high - found.resolution.low > 0.4
        # It may be blind, so it may never see three in four.
        assert found.resolution.low < 0
        assert found.threshold.high is None

    def test_a_judge_without_error_in_any_task_is_not_called_known(self):
        """All ties at equal quality, all correct elsewhere: nothing limits criterion and resolution from above."""
        found = estimate_signal(sampled_pairs(LatentJudge(200.0, 5.0), 1))
        assert found.fit.log_likelihood > -3
        assert found.resolution.low > 10
        assert found.resolution.high is found.criterion.high is found.threshold.low is None
        assert found.threshold.high < 0.25
        assert (found.slot_bias.low, found.slot_bias.high, found.slot_bias.method) == (None, None, "curvature")

    def test_too_few_differences_leave_resolution_and_criterion_open(self):
        """Ties at 0, half ties at 1, none at 5: any k = c fits, and with k and c so does the threshold move."""
        found = estimate_signal(sampled_pairs(LatentJudge(4.0, 4.0), 1, deltas=(0, 0, 0, 0, 1, 1, 1, 5)))
        for name in ("resolution", "criterion", "threshold"):
            assert getattr(found, name).high is None, name

    def test_tasks_that_agree_to_the_letter_do_not_make_an_interval_vanish(self):
        found = estimate_signal(expected_pairs(LatentJudge(1.5, 0.9, 0.2, 0.6, 0.01), 4, tasks=10))
        for name in ("resolution", "criterion", "slot_bias", "surface", "lapse", "threshold"):
            estimate = getattr(found, name)
            assert estimate.method == "curvature"
            assert estimate.low < estimate.value < estimate.high


class TestComparison:
    base, strict = (LatentJudge(1.6, c, 0.3, 0.4, 0.01) for c in (0.8, 1.8))

    def test_the_same_answers_differ_in_nothing(self):
        pairs = sampled_pairs(self.base, 1)
        difference = parameter_difference(pairs, pairs, parameter="resolution")
        assert (difference.value, difference.p) == (0.0, 1.0)

    def test_a_difference_is_that_of_the_fits_and_turns_round_with_them(self):
        first, second = sampled_pairs(self.base, 1), sampled_pairs(self.strict, 2)
        found = parameter_difference(first, second, parameter="criterion")
        assert found.value == pytest.approx(fit_signal(second).criterion - fit_signal(first).criterion, abs=1e-4)
        assert found.low < 1.0 < found.high
        assert found.p < 1e-3
        back = parameter_difference(second, first, parameter="criterion")
        assert (back.value, back.low, back.p) == pytest.approx((-found.value, -found.high, found.p), rel=1e-3)

    def test_what_cannot_be_compared_is_refused(self):
        pairs = sampled_pairs(self.base, 1)
        with pytest.raises(ValueError, match="is at its limit"):
            parameter_difference(pairs, sampled_pairs(LatentJudge(80.0, 1.0), 11), parameter="resolution")


class TestGoodnessOfFit:
    def test_counts_as_expected_fit_perfectly(self):
        pairs = expected_pairs(LatentJudge(0.8, 0.9, 0.3, 0.6, 0.01), 5e4, tasks=10)
        found = goodness_of_fit(pairs, fit_signal(pairs))
        assert found.statistic < 1
        # Nine differences in two orders, three answers each less one; five parameters.
        assert found.df == 9 * 2 * 2 - 5

    def test_a_curve_of_another_shape_is_noticed(self):
        """A judge that sees the logarithm of the difference only."""
        squeezed = np.log1p(20 * np.array(RUNGS)) / np.log(101) * 3
        drawn = sampled_pairs(LatentJudge(1.0, 0.9, 0.2, 0.3, 0.01), 3, tasks=150, deltas=tuple(squeezed))
        pairs = replace(drawn, delta=np.tile(np.array(RUNGS), 150))
        assert goodness_of_fit(pairs, fit_signal(pairs)).p < 1e-4
        assert goodness_of_fit(drawn, fit_signal(drawn)).p > 0.01

    def test_a_well_specified_model_is_rejected_about_as_often_as_it_says(self):
        judge = LatentJudge(1.0, 0.9, 0.2, 0.8, 0.01)
        found = []
        for seed in range(120):
            pairs = sampled_pairs(judge, seed, deltas=(0, 0, 0.5, 1, 2, 3))
            found.append(goodness_of_fit(pairs, fit_signal(pairs)))
        # Five per cent of 120 is 6; more than 14 has a probability below .001.
        assert sum(check.p < 0.05 for check in found) <= 14
        assert np.mean([check.statistic for check in found]) == pytest.approx(
            np.mean([check.dispersion * check.df for check in found]), rel=0.15
        )

    def test_rare_answers_are_merged_until_nothing_is_left_to_test(self):
        pairs = sampled_pairs(JUDGES["clean"], 1, tasks=4)
        assert goodness_of_fit(pairs, fit_signal(pairs)) is None

    def test_one_task_cannot_tell_the_dispersion(self):
        pairs = sampled_pairs(JUDGES["clean"], 1, tasks=1, deltas=RUNGS * 20)
        assert goodness_of_fit(pairs, fit_signal(pairs)) is None


def test_a_search_from_several_starts_ends_where_one_from_the_truth_does():
    space, weights = prepare(sampled_pairs(JUDGES["cross-sensitive"], 1), {})
    far = [np.array([k, c, 0.0, v, 0.0, -3.0]) for k, c, v in ((8, 0.1, 4.0), (0.1, 2.5, 0.01))]
    many, near = search(space, weights, far), search(space, weights, [working(JUDGES["cross-sensitive"])])
    assert many[1] == pytest.approx(near[1], abs=1e-6)
    assert many[0] == pytest.approx(near[0], abs=1e-2)


@pytest.mark.parametrize("name", JUDGES)
def test_at_each_difference_the_rate_is_a_normal_ogive_of_item_response_theory(name):
    """Two parameters, slope and location, between two asymptotes. The difficulty of an item is known, not estimated."""
    judge = replace(JUDGES[name], slot_bias=0.0)
    k, c, tau, lapse = judge.resolution, judge.criterion, judge.surface, judge.lapse
    steps = np.array(RUNGS)
    theta = np.array([k, c, 0.0, tau**2, 0.0, logit(lapse)])
    picked = call_rates(theta, steps, np.zeros(len(steps)))[:, 0]
    slope, location = k / np.sqrt(1 + tau**2), c / k
    lowest, highest = lapse / 3, 1 - 2 * lapse / 3
    assert picked == pytest.approx(lowest + (highest - lowest) * ndtr(slope * (steps - location)))
