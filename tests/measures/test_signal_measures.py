"""The parameters of the fitted model as measures: passed on unchanged, fitted once, never missing without a reason."""

import numpy as np
import pytest

from tests.recovery.outcome_sampling import DESIGN, sample_run
from umpirical.domain.measures import Estimate, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import OutcomeTally, PairTally, Tallies
from umpirical.measures import signal
from umpirical.measures.catalogue import MEASURES
from umpirical.stats.signal_estimates import ParameterEstimate, estimate_signal
from umpirical.stats.signal_model import PairCounts
from umpirical.stats.signal_tests import goodness_of_fit, parameter_difference
from umpirical.stats.simulation.judge import LatentJudge

JUDGE = LatentJudge(1.2, 0.8, 0.3, 0.6, 0.01, length_weight=0.5)
STRICT = LatentJudge(1.2, 1.6, 0.3, 0.6, 0.01, length_weight=0.5)

PARAMETERS = {
    "resolution": "resolution",
    "criterion": "criterion",
    "slot-bias": "slot_bias",
    "surface-sensitivity": "surface",
    "length-weight": "length_weight",
    "lapse": "lapse",
    "model-threshold": "threshold",
}


@pytest.fixture(scope="module")
def tallies() -> Tallies:
    return sample_run(JUDGE, np.random.default_rng(1), tasks=20, variants={"strict": STRICT})


def measured(name: str, tallies: Tallies, variant: str = "baseline"):
    [measure] = MEASURES.get(name).compute(tallies, variant)
    return measure.result


def counts(tallies: Tallies, variant: str = "baseline", families=signal.FAMILIES) -> PairCounts:
    chosen = [tally for tally in tallies.outcomes if tally.variant == variant and tally.family in families]
    return PairCounts.of(
        [int(tally.cluster[1:]) for tally in chosen],
        [tally.delta for tally in chosen],
        [tally.counts for tally in chosen],
        log_length=[tally.log_length for tally in chosen],
        weight=[tally.pairs for tally in chosen],
    )


@pytest.fixture(scope="module")
def reference(tallies):
    return estimate_signal(counts(tallies))


@pytest.mark.parametrize(("name", "field"), PARAMETERS.items())
def test_it_is_the_kernels_estimate(name, field, tallies, reference):
    found, expected = measured(name, tallies), getattr(reference, field)
    assert found.value == pytest.approx(expected.value, rel=1e-6)
    assert (found.interval.low, found.interval.high) == pytest.approx((expected.low, expected.high), rel=1e-6)
    assert found.interval.method.startswith("model-based")
    assert (found.clusters, found.denominator, found.unit) == (20, int(reference.fit.pairs), "pair")


@pytest.mark.parametrize(
    ("name", "true_value"),
    [("resolution", 1.2), ("criterion", 0.8), ("slot-bias", 0.3), ("surface-sensitivity", 0.6), ("length-weight", 0.5)],
)
def test_what_was_planted_is_found(name, true_value, tallies):
    found = measured(name, tallies)
    assert found.interval.low <= true_value <= found.interval.high


def test_pairs_of_unlike_requirements_are_not_in_the_fit(tallies):
    without = Tallies(outcomes=tuple(t for t in tallies.outcomes if t.family != Family.SUBSET))
    assert measured("resolution", without).value == measured("resolution", tallies).value


def test_the_test_of_fit_is_the_kernels(tallies, reference):
    found = measured("goodness-of-fit", tallies)
    assert found.value == pytest.approx(goodness_of_fit(counts(tallies), reference.fit).p, rel=1e-6)
    assert found.interval is None


def test_all_measures_of_an_variant_come_from_one_fit(tallies, monkeypatch):
    fits = []
    monkeypatch.setattr(signal, "estimate_signal", lambda *_, **__: fits.append(1) or estimate_signal(*_, **__))
    signal._fitted.cache_clear()
    for name in (*PARAMETERS, "goodness-of-fit"):
        measured(name, tallies, "strict")
    assert len(fits) == 1


def test_an_instruction_that_moves_the_criterion_leaves_the_resolution(tallies):
    shift = measured("resolution-shift", tallies, "strict")
    expected = parameter_difference(counts(tallies), counts(tallies, "strict"), parameter="resolution")
    assert (shift.value, shift.interval.low) == pytest.approx((expected.value, expected.low), rel=1e-6)
    assert shift.interval.low <= 0 <= shift.interval.high
    strict, baseline = measured("criterion", tallies, "strict"), measured("criterion", tallies)
    assert strict.interval.low > baseline.interval.high


def test_without_pairs_of_unequal_length_the_length_weight_is_undefined():
    design = tuple(kind for kind in DESIGN if kind.family in (Family.EQUAL, Family.GRADED))
    found = measured("length-weight", sample_run(JUDGE, np.random.default_rng(2), tasks=10, design=design))
    assert found == Undefined("the design has no pairs of unequal length")


def test_without_a_tie_the_criterion_is_0_and_has_an_upper_bound():
    judge = LatentJudge(1.0, 0.0, 0.2, 0.5, 0.0)
    found = measured("criterion", sample_run(judge, np.random.default_rng(3), tasks=10))
    assert found.value == found.interval.low == 0
    assert 0 < found.interval.high < 0.1


@pytest.mark.parametrize("name", [*PARAMETERS, "goodness-of-fit"])
def test_one_answer_to_everything_leaves_nothing_to_fit(name):
    outcomes = tuple(
        OutcomeTally(
            f"t{task}",
            "baseline",
            Family.GRADED if delta else Family.EQUAL,
            "",
            delta,
            0.0,
            0.0,
            (0, 0, 1, 0, 0, 1),
            3,
        )
        for task in range(4)
        for delta in (0.0, 1.0)
    )
    assert "every call was answered with tie" in measured(name, Tallies(outcomes=outcomes)).reason


def test_a_resolution_without_a_check_is_right_censored_at_what_is_known():
    def judged(task: int) -> tuple[OutcomeTally, ...]:
        equal = ((0, 0, 1, 0, 0, 1), 5), ((1, 0, 0, 0, 0, 1), 1 + task % 2)
        rows = [OutcomeTally(f"t{task}", "baseline", Family.EQUAL, "", 0.0, 0.0, 0.0, given, n) for given, n in equal]
        right = (1, 0, 0, 0, 1, 0)
        return (*rows, OutcomeTally(f"t{task}", "baseline", Family.GRADED, "", 1.0, 0.0, 0.0, right, 4))

    tallies = Tallies(outcomes=tuple(row for task in range(12) for row in judged(task)))
    found = measured("resolution", tallies)
    assert found.censoring == "right"
    assert found.value == found.interval.low > 1
    assert found.interval.high is None
    threshold = measured("model-threshold", tallies)
    assert threshold.censoring == "left"
    assert threshold.value == threshold.interval.high < 1


def test_a_value_that_hangs_on_one_task_is_no_estimate():
    nothing = ParameterEstimate(1.0, None, None, None, None, "undefined")
    assert isinstance(signal._result(signal.Parameter(nothing), None, {}), Undefined)


def test_the_kernels_words_for_its_methods_are_all_known():
    methods = set(ParameterEstimate.__annotations__["method"].__args__)
    assert methods - {"held"} == set(signal.METHODS)


def test_an_estimate_says_what_was_excluded(tallies):
    lacking = PairTally("t0", "baseline", Family.GRADED, 1.0, 0, incomplete=3)
    found = measured("criterion", Tallies(pairs=(*tallies.pairs, lacking), outcomes=tallies.outcomes))
    assert isinstance(found, Estimate)
    assert found.excluded == {"without an answer in both orders": 3}


@pytest.mark.parametrize("judge", [LatentJudge(0.0, 0.6, lapse=0.02), LatentJudge(3.0, 0.5, lapse=0.5)])
def test_a_threshold_that_is_never_reached_is_censored_at_the_largest_step(judge):
    found = measured("model-threshold", sample_run(judge, np.random.default_rng(4), tasks=12))
    assert (found.value, found.censoring) == (5.0, "right")
    assert found.interval is None or found.interval.high is None


def test_one_lapse_in_ten_is_found():
    """The prior of before, a hundred calls with one lapse, made half of it: .10 came out at .05."""
    judge = LatentJudge(2.0, 0.8, lapse=0.10)
    found = [measured("lapse", sample_run(judge, np.random.default_rng(seed), tasks=40)) for seed in range(3)]
    assert np.mean([one.value for one in found]) == pytest.approx(0.10, abs=0.02)
    assert all(one.interval.low <= 0.10 <= one.interval.high for one in found)


def test_a_judge_that_never_lapses_has_an_upper_bound():
    found = measured("lapse", sample_run(LatentJudge(3.0, 0.8), np.random.default_rng(5), tasks=12))
    assert (found.value, found.interval.low, found.censoring) == (0.0, 0.0, "none")
    assert 0.005 < found.interval.high < 0.1


def test_a_mean_over_many_repeats_that_came_out_below_zero_is_zero():
    sums = np.array([[5.0, 8.0, -1.1e-16, 8.0], [6.0, 8.0, 2.0, 8.0]])
    found = signal._limit(sums, "right", {})
    assert found == signal._limit(sums.clip(0), "right", {})
    assert found.censoring == "right"


def test_what_the_model_does_not_fit_has_no_parameters():
    """Perfect on one half of the tasks, and locked onto a position on the other: no latent judge is like that."""
    counts = {True: (1, 0, 0, 0, 1, 0), False: (1, 0, 0, 1, 0, 0)}
    tallies = Tallies(
        outcomes=tuple(
            OutcomeTally(f"t{task}", "baseline", family, "", delta, 0.0, 0.0, said, 2)
            for task in range(24)
            for family, delta, said in (
                ("equal", 0.0, (0, 0, 1, 0, 0, 1) if task % 2 else counts[False]),
                *(("graded", delta, counts[bool(task % 2)]) for delta in (0.5, 1.0, 2.0, 5.0)),
            )
        )
    )
    assert measured("goodness-of-fit", tallies).value < 0.001
    for name in PARAMETERS:
        assert "does not fit its answers" in measured(name, tallies).reason
