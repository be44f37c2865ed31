"""The measures of a `compare` judge beyond its plain rates: by hand, and where they have no value."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, norm

from tests.recovery.outcome_sampling import sample_run
from umpirical.domain.measures import Estimate, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import OutcomeTally, PairTally, Tallies
from umpirical.measures.catalogue import MEASURES
from umpirical.reports.anytime import without_tasks
from umpirical.reports.checks import one_sided
from umpirical.reports.record import MeasureRecord
from umpirical.stats.bradley_terry import estimate_weights
from umpirical.stats.differences import paired_difference
from umpirical.stats.intervals import cluster_wilson, exact_low
from umpirical.stats.simulation.judge import LatentJudge

JUDGE = LatentJudge(1.2, 0.8, 0.3, 0.6, 0.01, length_weight=0.5)


def measured(name: str, tallies: Tallies, variant: str = "baseline"):
    return {measure.stratum: measure.result for measure in MEASURES.get(name).compute(tallies, variant)}


def equal(task: str, pairs: int, **counts) -> PairTally:
    return PairTally(task, "baseline", Family.EQUAL, 0.0, pairs, **counts)


def step(task: str, delta: float, pairs: int, *, variant: str = "baseline", **counts) -> PairTally:
    return PairTally(task, variant, Family.GRADED, delta, pairs, **counts)


def outcome(task: str, family: str, counts, *, stratum: str = "", pairs: int = 1, delta: float = 0.0) -> OutcomeTally:
    return OutcomeTally(task, "baseline", family, stratum, delta, 0.0, 0.0, counts, pairs)


class TestByTransform:
    TALLIES = Tallies(
        pairs=(
            equal("a", 4, stable=2, positional=1, one_sided=1, stratum="list"),
            equal("a", 2, no_preference=2, stratum="register"),
            equal("b", 4, stable=1, one_sided=2, no_preference=1, stratum="list", incomplete=1),
            equal("b", 2, positional=1, one_sided=1, stratum="register"),
        )
    )

    @pytest.mark.parametrize(
        ("name", "whole", "listed", "register"),
        [
            ("stable-cross-sensitivity", 3, 3, 0),
            ("positional-false-preference", 2, 1, 1),
            ("one-sided-commit", 4, 3, 1),
            ("no-preference", 3, 1, 2),
        ],
    )
    def test_the_whole_comes_first_and_is_the_sum_of_the_parts(self, name, whole, listed, register):
        found = measured(name, self.TALLIES)
        assert list(found) == ["", "list", "register"]
        assert [result.numerator for result in found.values()] == [whole, listed, register]
        assert [result.denominator for result in found.values()] == [12, 8, 4]
        assert found["list"].excluded == {"without an answer in both orders": 1}

    def test_without_transforms_there_is_only_the_whole(self):
        plain = Tallies(pairs=tuple(replace(tally, stratum="") for tally in self.TALLIES.pairs))
        assert list(measured("no-preference", plain)) == [""]


class TestOneSided:
    TALLIES = Tallies(
        pairs=(
            equal("a", 6, one_sided=4, one_sided_position_1=3, one_sided_a=2, incomplete=2),
            equal("b", 6, one_sided=2, one_sided_position_1=2, one_sided_a=0),
            equal("c", 6, no_preference=6),
        )
    )

    def test_the_denominator_is_the_one_sided_commits(self):
        slot, content = (measured(name, self.TALLIES)[""] for name in ("one-sided-slot", "one-sided-content"))
        assert (slot.numerator, content.numerator, slot.denominator, slot.clusters) == (5, 2, 6, 2)
        rate = cluster_wilson([3, 2], [4, 2])
        assert (slot.interval.low, slot.interval.high) == (rate.low, rate.high)
        # Two pairs were not answered: were both one-sided, the share would lie between 5/8 and 7/8.
        assert slot.bounds == pytest.approx((5 / 8, 7 / 8))

    @pytest.mark.parametrize("name", ["one-sided-slot", "one-sided-content"])
    def test_without_a_one_sided_commit_there_is_no_share(self, name):
        none = Tallies(pairs=tuple(equal(task, 6, no_preference=6) for task in "abc"))
        assert "exactly one order" in measured(name, none)[""].reason


class TestSlotRates:
    TALLIES = Tallies(
        pairs=(
            equal("a", 3, stable=1, positional=1, one_sided=1, position_1_calls=4, position_2_calls=1),
            equal("b", 3, stable=2, no_preference=1, position_1_calls=2, position_2_calls=2, incomplete=1),
        )
    )

    def test_they_count_calls(self):
        first, second = measured("slot-1-rate", self.TALLIES)[""], measured("slot-2-rate", self.TALLIES)[""]
        assert (first.numerator, second.numerator, first.denominator, first.unit) == (6, 3, 12, "call")
        assert first.excluded == {"without an answer in both orders": 2}

    @pytest.mark.parametrize("name", ["slot-1-rate", "slot-2-rate", "excess-stable", "excess-positional"])
    def test_published_counts_without_slots_are_not_taken_for_zeros(self, name):
        published = Tallies(pairs=tuple(replace(t, position_1_calls=0, position_2_calls=0) for t in self.TALLIES.pairs))
        assert "the named position is unknown" in measured(name, published)[""].reason


class TestExcess:
    def test_by_hand(self):
        tallies = Tallies(
            pairs=(
                equal("a", 2, stable=1, positional=1, position_1_calls=3, position_2_calls=1),
                equal("b", 2, stable=1, one_sided=1, position_1_calls=2, position_2_calls=1),
                equal("c", 2, positional=1, no_preference=1, position_1_calls=2),
            )
        )
        # Over pairs of different tasks: position 1 with position 2, 7·2 - (3 + 2 + 0) = 9 of 144 - 48 = 96 ordered
        # pairs of calls; position 1 twice 49 - 17 = 32; position 2 twice 4 - 2 = 2.
        stable, positional = measured("excess-stable", tallies)[""], measured("excess-positional", tallies)[""]
        assert stable.value == pytest.approx(2 / 6 - 2 * 9 / 96)
        assert positional.value == pytest.approx(2 / 6 - (32 + 2) / 96)
        assert (stable.denominator, stable.unit, stable.clusters) == (6, "pair", 3)

    def test_against_repeats_by_hand(self):
        # Asked twice each way. a: position 1, 1 | 2, 2: stable in all 4 crossings. b: 1, 2 | 1, tie: of 4 crossings 1
        # is stable and 1 positional; in order ab the two answers differ. c: all ties.
        outcomes = (
            outcome("a", Family.EQUAL, (2, 0, 0, 0, 2, 0)),
            outcome("b", Family.EQUAL, (1, 1, 0, 1, 0, 1)),
            outcome("c", Family.EQUAL, (0, 0, 2, 0, 0, 2)),
        )
        tallies = Tallies(pairs=tuple(equal(task, 2, no_preference=2) for task in "abc"), outcomes=outcomes)
        stable = measured("excess-stable", tallies)["against repeats"]
        positional = measured("excess-positional", tallies)["against repeats"]
        assert stable.value == pytest.approx((1 + 1 / 4 + 0) / 3 - (0 + 1 / 2 + 0) / 3)
        assert positional.value == pytest.approx((0 + 1 / 4 + 0) / 3 - (1 + 0 + 0) / 3)
        assert stable.denominator == 3

    def test_without_repeats_there_is_no_second_baseline(self):
        tallies = sample_run(JUDGE, np.random.default_rng(1), tasks=5)
        assert list(measured("excess-stable", tallies)) == [""]

    @pytest.mark.parametrize("name", ["excess-stable", "excess-positional"])
    def test_a_slot_locked_judge_has_no_excess_and_still_an_interval(self, name):
        tallies = Tallies(pairs=tuple(equal(task, 6, positional=6, position_1_calls=12) for task in "abcdef"))
        found = measured(name, tallies)[""]
        assert found.value == pytest.approx(0)
        assert found.interval.high > found.interval.low

    def test_two_tasks_are_too_few_for_a_chance_level(self):
        tallies = Tallies(
            pairs=tuple(equal(task, 6, stable=3, position_1_calls=3, position_2_calls=3) for task in "ab")
        )
        assert "three" in measured("excess-stable", tallies)[""].reason


def test_correct_tie_and_wrong_are_everything():
    tallies = sample_run(JUDGE, np.random.default_rng(2), tasks=8)
    correct, tie, wrong = (measured(name, tallies) for name in ("target-sensitivity", "tie-rate", "wrong-choice-rate"))
    assert list(wrong) == ["0.5", "1", "2", "5"]
    for stratum, result in wrong.items():
        assert result.numerator + correct[stratum].numerator + tie[stratum].numerator == result.denominator


class TestCommittedAccuracy:
    def test_ties_are_not_in_the_denominator(self):
        tallies = Tallies(
            pairs=(
                step("a", 1.0, 3, correct_calls=3, wrong_calls=1, tie_calls=2),
                step("b", 1.0, 3, correct_calls=2, tie_calls=4),
            )
        )
        found = measured("committed-accuracy", tallies)["1"]
        assert (found.numerator, found.denominator, found.unit) == (5, 6, "call")

    def test_a_judge_that_always_ties_has_none(self):
        tallies = Tallies(pairs=tuple(step(task, 1.0, 3, tie_calls=6) for task in "ab"))
        assert measured("committed-accuracy", tallies)["1"] == Undefined("no call named a winner")


class TestShifts:
    TALLIES = Tallies(
        pairs=(
            *(equal(task, 4, tie_calls=ties) for task, ties in zip("abc", (4, 6, 8), strict=True)),
            *(
                replace(equal(task, 4, tie_calls=ties), variant="strict")
                for task, ties in zip("abc", (8, 7, 8), strict=True)
            ),
            *(step(task, 1.0, 2, correct_calls=4) for task in "abc"),
            *(
                step(task, 1.0, 2, variant="strict", correct_calls=correct, tie_calls=4 - correct, incomplete=1)
                for task, correct in zip("abc", (2, 3, 4), strict=True)
            ),
            # A task that the baseline lacks does not count.
            replace(equal("d", 4, tie_calls=0), variant="strict"),
        )
    )

    def test_by_hand(self):
        ties, correct = (
            measured("criterion-shift", self.TALLIES, "strict"),
            measured("sensitivity-shift", self.TALLIES, "strict"),
        )
        assert list(ties) == ["0", "1"]
        assert list(correct) == ["1"]
        assert ties["0"].value == pytest.approx(23 / 24 - 18 / 24)
        assert (ties["0"].numerator, ties["0"].denominator) == (pytest.approx(2.5), 12)
        assert ties["1"].value == pytest.approx(-correct["1"].value) == pytest.approx(3 / 12)
        assert ties["1"].excluded == {"without an answer in both orders, this prompt variant": 3}
        reference = paired_difference([4, 3.5, 4], [4, 4, 4], [2, 3, 4], [4, 4, 4])
        assert (ties["0"].interval.low, ties["0"].interval.high) == (reference.low, reference.high)

    def test_the_permutation_p_stands_beside_it(self):
        # At step 0 the tasks differ by 2, 1/2 and 0 pairs: of four ways to flip, two give as large a sum.
        found = measured("criterion-shift-test", self.TALLIES, "strict")
        assert found["0"].value == pytest.approx(0.5)
        assert found["0"].interval is None

    @pytest.mark.parametrize(
        "name", ["criterion-shift", "criterion-shift-test", "sensitivity-shift", "resolution-shift"]
    )
    def test_the_baseline_is_not_compared_with_itself(self, name):
        assert measured(name, self.TALLIES, "baseline") == {}

    def test_an_variant_that_shares_no_task_is_undefined(self):
        tallies = Tallies(pairs=(equal("a", 4, tie_calls=8), replace(equal("b", 4, tie_calls=8), variant="strict")))
        assert "answered pairs with both prompts" in measured("criterion-shift", tallies, "strict")["0"].reason

    def test_the_longest_prompt_is_compared_with_the_shortest(self):
        counts = {"short": (4, 4, 2), "example": (4, 2, 1), "guided": (1, 1, 1)}
        tallies = Tallies(
            pairs=tuple(
                step(task, 1.0, 2, variant=variant, correct_calls=n, wrong_calls=4 - n)
                for variant, each in counts.items()
                for task, n in zip("abc", each, strict=True)
            )
        )
        [(part, found)] = measured("complexity-shift", tallies, "example").items()
        assert (part, found.denominator) == ("1", 6)
        assert found.value == pytest.approx(7 / 12 - 10 / 12)
        reference = paired_difference([2, 1, 0.5], [2, 2, 2], [2, 2, 1], [2, 2, 2])
        assert (found.interval.low, found.interval.high) == (reference.low, reference.high)
        assert measured("complexity-shift", tallies, "short") == measured("complexity-shift", tallies, "guided") == {}


class TestFlipRate:
    def test_by_hand(self):
        # Three repeats: 2 + 1 + 0 in order ab: 1 - 2/6; 3 + 0 + 0 in order ba: 0. Twice.
        outcomes = (
            outcome("a", Family.EQUAL, (2, 1, 0, 3, 0, 0), pairs=2),
            outcome("b", Family.EQUAL, (0, 0, 3, 1, 1, 1)),
            outcome("b", Family.GRADED, (1, 0, 0, 0, 1, 0), delta=1.0),
        )
        found = measured("flip-rate", Tallies(outcomes=outcomes))
        assert list(found) == ["", Family.EQUAL, Family.GRADED]
        assert found[""].numerator == pytest.approx(2 * 2 / 3 + 1)
        assert (found[""].denominator, found[""].unit) == (6, "prompt")
        assert found[""].excluded == {"answered once": 2}
        assert found[Family.GRADED] == Undefined("everything was asked once", excluded={"answered once": 2})

    def test_asked_once_it_is_undefined(self):
        tallies = sample_run(JUDGE, np.random.default_rng(3), tasks=4)
        found = measured("flip-rate", tallies)
        assert list(found) == [""]
        assert found[""].reason == "everything was asked once"


class TestLength:
    TALLIES = Tallies(
        pairs=tuple(PairTally(task, "baseline", Family.LENGTH, 0.0, 3, incomplete=1) for task in "ab"),
        outcomes=(
            # u, the longer, sits in position 1 of the first order and in position 2 of the second.
            outcome("a", Family.LENGTH, (1, 0, 0, 0, 1, 0), stratum="+25%", pairs=2),
            outcome("a", Family.LENGTH, (0, 1, 0, 0, 0, 1), stratum="+100%"),
            outcome("b", Family.LENGTH, (0, 0, 1, 1, 0, 0), stratum="+25%"),
            outcome("b", Family.LENGTH, (1, 0, 0, 0, 0, 1), stratum="+100%", pairs=2),
        ),
    )

    def test_by_hand(self):
        found = measured("length-preference", self.TALLIES)
        assert list(found) == ["", "+25%", "+100%"]
        # Longer: 4 of 6 calls in a, 2 of 6 in b; shorter: 1 and 1.
        assert found[""].value == pytest.approx((6 - 2) / 12)
        assert (found[""].numerator, found[""].denominator, found[""].unit) == (pytest.approx(4), 12, "call")
        assert found["+25%"].value == pytest.approx((4 - 1) / 6)
        reference = paired_difference([4, 2], [6, 6], [1, 1], [6, 6])
        assert (found[""].interval.low, found[""].interval.high) == (reference.low, reference.high)
        # Two pairs are four calls, which may all have named the longer or all the shorter.
        assert found[""].excluded == {"without an answer in both orders": 4}
        assert found[""].bounds == pytest.approx(((4 - 4) / 16, (4 + 4) / 16))

    def test_a_design_without_such_pairs_says_nothing_of_length(self):
        for name in ("length-preference", "conflict-loss", "conflict-excess", "requirement-weight"):
            assert measured(name, TestShifts.TALLIES) == {}

    def test_conflict_by_hand(self):
        conflict = tuple(
            PairTally(
                task, "baseline", Family.CONFLICT, 1.0, 3, wrong_calls=wrong, correct_calls=6 - wrong, stratum=stratum
            )
            for task, wrong, stratum in (("a", 3, "+50%"), ("b", 1, "+100%"), ("c", 2, "+50%"))
        )
        ladder = tuple(step(task, 1.0, 2, wrong_calls=wrong) for task, wrong in (("a", 1), ("b", 0), ("d", 1)))
        tallies = Tallies(pairs=(*conflict, *ladder, step("a", 2.0, 2, wrong_calls=4)))
        loss = measured("conflict-loss", tallies)
        assert (loss[""].numerator, loss[""].denominator, loss["+50%"].numerator) == (3, 9, 2.5)
        assert isinstance(loss["+100%"], Undefined)
        excess = measured("conflict-excess", tallies)[""]
        # Against step 1 alone; tasks with one kind of pairs count for their own side.
        assert excess.value == pytest.approx(6 / 18 - 2 / 12)
        assert excess.clusters == 4


class TestRequirementWeights:
    def test_it_is_the_fit_to_the_calls(self):
        tallies = sample_run(JUDGE, np.random.default_rng(4), tasks=20)
        chosen = [tally for tally in tallies.outcomes if tally.family == Family.SUBSET]
        wins, ties = np.zeros((20, 3, 3)), np.zeros((20, 3, 3))
        for tally in chosen:
            task, i, j = int(tally.cluster[1:]), int(tally.stratum[0]) - 1, int(tally.stratum[2]) - 1
            wins[task, i, j] += tally.pairs * (tally.counts[0] + tally.counts[4])
            wins[task, j, i] += tally.pairs * (tally.counts[1] + tally.counts[3])
            ties[task, i, j] += tally.pairs * (tally.counts[2] + tally.counts[5])
        reference = estimate_weights(wins, ties)
        found = measured("requirement-weight", tallies)
        assert list(found) == ["requirement 1", "requirement 2", "requirement 3"]
        assert [result.value for result in found.values()] == pytest.approx(np.exp(reference.value))
        assert np.prod([result.value for result in found.values()]) == pytest.approx(1)
        ratio = measured("requirement-weight-ratio", tallies)[""]
        values = [result.value for result in found.values()]
        assert ratio.value == pytest.approx(max(values) / min(values))
        assert 1 <= ratio.interval.low <= ratio.value <= ratio.interval.high
        test = measured("requirement-weight-test", tallies)[""]
        assert test.value == pytest.approx(reference.equality_p)
        assert test.interval is None
        assert ratio.denominator == 120

    @pytest.mark.parametrize(
        ("counts", "reason"),
        [((0, 0, 1, 0, 0, 1), "no call named a winner"), ((1, 0, 0, 1, 0, 0), "only at the position")],
    )
    @pytest.mark.parametrize("name", ["requirement-weight", "requirement-weight-ratio", "requirement-weight-test"])
    def test_a_judge_that_looks_at_neither_has_no_weights(self, name, counts, reason):
        outcomes = tuple(
            outcome(task, Family.SUBSET, counts, stratum=places) for task in "abcdefgh" for places in ("1-2", "2-3")
        )
        pairs = tuple(PairTally(task, "baseline", Family.SUBSET, 0.0, 2) for task in "abcdefgh")
        assert reason in measured(name, Tallies(pairs=pairs, outcomes=outcomes))[""].reason


class TestDPrime:
    def test_by_hand(self):
        pairs = [equal(task, 10, tie_calls=ties) for task, ties in zip("abc", (12, 14, 16), strict=True)]
        pairs += [step(task, 1.0, 10, correct_calls=correct) for task, correct in zip("abc", (15, 12, 18), strict=True)]
        found = measured("d-prime", Tallies(pairs=tuple(pairs)))["1"]
        # 45 of 60 correct, 18 of 60 named at equal quality, each with half an event added.
        assert found.value == pytest.approx(norm.ppf(45.5 / 61) - norm.ppf(18.5 / 61 / 2))
        assert (found.numerator, found.denominator, found.clusters) == (45, 60, 3)

    def test_at_the_ceiling_it_has_a_lower_check(self):
        """60 of 60 correct, 30 of 60 named at equal quality."""
        pairs = [equal(task, 10, tie_calls=10) for task in "abc"]
        pairs += [step(task, 1.0, 10, correct_calls=20) for task in "abc"]
        found = measured("d-prime", Tallies(pairs=tuple(pairs)))["1"]
        hits, alarms = cluster_wilson([20] * 3, [20] * 3), cluster_wilson([10] * 3, [20] * 3)
        a, b = norm.ppf(60.5 / 61), norm.ppf(30.5 / 61 / 2)
        expected = a - b - np.hypot(norm.ppf(hits.low) - a, norm.ppf(alarms.high / 2) - b)
        assert (found.value, found.interval.low) == pytest.approx((expected, expected))
        assert (found.interval.high, found.censoring) == (None, "right")

    def test_at_the_floor_it_has_an_upper_bound(self):
        pairs = [equal(task, 10, tie_calls=10) for task in "abcdefgh"]
        pairs += [step(task, 1.0, 10) for task in "abcdefgh"]
        found = measured("d-prime", Tallies(pairs=tuple(pairs)))["1"]
        assert (found.interval.low, found.censoring) == (None, "left")
        assert found.value == found.interval.high < 0

    def test_where_no_winner_is_named_at_equal_quality_it_has_a_lower_check(self):
        pairs = [equal(task, 10, tie_calls=20) for task in "abc"]
        pairs += [step(task, 1.0, 10, correct_calls=12) for task in "abc"]
        found = measured("d-prime", Tallies(pairs=tuple(pairs)))["1"]
        assert (found.interval.high, found.censoring) == (None, "right")
        assert 0.5 < found.value < 2.5

    def test_a_judge_that_always_ties_has_no_bound(self):
        pairs = [equal(task, 10, tie_calls=20) for task in "abc"] + [step(task, 1.0, 10) for task in "abc"]
        reason = measured("d-prime", Tallies(pairs=tuple(pairs)))["1"].reason
        assert "the data do not limit it: of 60 calls 0 are correct" in reason

    def test_a_judge_that_keeps_to_one_slot_is_blind_and_has_an_interval(self):
        """Every pair right in one order and wrong in the other: no task moves the estimate, and it is not certain."""
        pairs = [equal(task, 10) for task in "abc"] + [step(task, 1.0, 10, correct_calls=10) for task in "abc"]
        found = measured("d-prime", Tallies(pairs=tuple(pairs)))["1"]
        assert found.value == pytest.approx(0, abs=0.02)
        assert found.interval.low < -0.3 < 0.3 < found.interval.high

    def test_a_judge_that_never_ties_has_a_criterion_of_0(self):
        pairs = [equal(task, 10) for task in "abc"]
        pairs += [step(task, 1.0, 10, correct_calls=correct) for task, correct in zip("abc", (15, 12, 18), strict=True)]
        found = measured("d-prime", Tallies(pairs=tuple(pairs)))["1"]
        assert isinstance(found, Estimate)
        assert found.value == pytest.approx(0.66, abs=0.02)


class TestThreshold:
    """No threshold is given where the data do not say where it lies."""

    STEPS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)

    def ladder(self, right):
        """A task of each kind for each number of right calls of two, at every step."""
        return Tallies(
            pairs=tuple(
                step(f"t{task}", delta, 1, correct_calls=calls)
                for task, calls in enumerate(right)
                for delta in self.STEPS
            )
        )

    def test_a_judge_that_is_perfect_on_some_tasks_and_guesses_on_others_has_none(self):
        found = measured("detection-threshold", self.ladder([2] * 12 + [1] * 12))[""]
        assert isinstance(found, Undefined)
        assert "changes too little" in found.reason

    def test_a_judge_that_always_sees_it_or_never_does_has_a_check(self):
        assert measured("detection-threshold", self.ladder([2] * 24))[""].censoring == "left"
        assert measured("detection-threshold", self.ladder([1] * 24))[""].censoring == "right"


def test_where_no_pair_was_missed_a_quad_counts_once():
    """16 crossed pairs without an error do not show that fewer than one pair in ten is missed; 32 single pairs
    would."""
    tallies = Tallies(pairs=tuple(step(f"t{task}", 5.0, 2, correct_calls=4, both_correct=2) for task in range(16)))
    for name in ("target-sensitivity", "both-orders-sensitivity"):
        result = without_tasks(measured(name, tallies)["5"])
        record = MeasureRecord(name=name, title="", about="", worse="lower", variant="", stratum="5", result=result)
        bound = one_sided(record, result, "low", alpha=0.05, count_missing=True)
        assert bound == pytest.approx(exact_low(16 / 1.05, 16 / 1.05, 0.05))
        alone = replace(result, joint=None)
        assert one_sided(record, alone, "low", alpha=0.05, count_missing=True) > 0.9 > bound


class TestExcessOfLockedFamilies:
    """Each family names position 1 throughout, or ties: the excess is p - p², which is at most 1/4."""

    def excess(self, locked):
        """Of so many locked families among 48."""
        pairs = [
            equal(f"t{k}", 2, positional=2, position_1_calls=4) if k < locked else equal(f"t{k}", 2, no_preference=2)
            for k in range(48)
        ]
        return measured("excess-positional", Tallies(pairs=tuple(pairs)))[""]

    def test_it_covers_and_is_never_more_than_is_possible(self):
        """Exactly, since nothing but the number of locked families is random."""
        every = [self.excess(locked) for locked in range(49)]
        found = [each.interval for each in every]
        assert max(max(each.value, each.interval.high) for each in every) <= 0.25 + 1e-9
        assert min(each.high - each.low for each in found) > 0.01
        for share in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
            true = share - share**2
            held = [n for n, each in enumerate(found) if each.low - 1e-4 <= true <= each.high + 1e-4]
            # Few numbers of families are likely, so it cannot be .95 throughout.
            assert 0.925 <= binom.pmf(held, 48, share).sum() <= 0.98, share
