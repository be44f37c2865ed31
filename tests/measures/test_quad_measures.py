"""Measures of crossed pairs, of both orders at once and of what the position leaves free, with counts worked out by
hand."""

from itertools import product
from math import sqrt

import pytest

from tests.recovery.quad_sampling import outcome
from umpirical.domain.measures import Estimate, Undefined
from umpirical.domain.stimuli import TIER_2, Family
from umpirical.domain.tallies import PairTally, QuadTally, Tallies
from umpirical.measures.catalogue import MEASURES
from umpirical.stats.intervals import cluster_ratio, cluster_wilson

FIVE = (
    "task-following",
    "task-blind-preference",
    "task-reversal",
    "one-version-preference",
    "neither-version-preference",
)


def measured(name, tallies, variant="baseline"):
    return {measure.stratum: measure.result for measure in MEASURES.get(name).compute(tallies, variant)}


def quads(cluster, step, count, *, family=Family.GRADED, variant="baseline", **counts):
    return QuadTally(cluster, variant, family, "", step, count, **counts)


TALLIES = Tallies(
    quads=(
        quads("a", 1.0, 8, following=3, blind=2, reversed=1, one_version=1, neither=1, appeal=2.0),
        quads("b", 1.0, 8, following=4.5, blind=0.5, reversed=0, one_version=2, neither=1, incomplete=2, appeal=0.5),
        quads("a", 2.0, 4, following=4),
        quads("b", 2.0, 4, following=3, one_version=1, lost=0.5),
        quads("a", 1.0, 5, family=Family.FIGURES, following=1, blind=4, appeal=4.0),
        quads("b", 1.0, 5, family=Family.FIGURES, following=2, blind=3, appeal=3.0),
        quads("c", 1.0, 2, family=Family.OWN_FIGURES, following=1, blind=1),
        quads("d", 1.0, 2, family=Family.OWN_FIGURES, blind=2, incomplete=1),
        quads("a", 1.0, 6, variant="strict", neither=6),
    )
)


class TestTheFiveOutcomes:
    def test_by_hand(self):
        following = measured("task-following", TALLIES)
        assert list(following) == ["", "1", "2"]
        assert (following["1"].numerator, following["1"].denominator, following["1"].unit) == (7.5, 16, "crossed-pair")
        assert (following[""].numerator, following[""].denominator) == (14.5, 24)
        reference = cluster_wilson([3, 4.5], [8, 8])
        assert (following["1"].interval.low, following["1"].interval.high) == (reference.low, reference.high)
        assert measured("task-blind-preference", TALLIES)["1"].value == 2.5 / 16
        assert measured("task-reversal", TALLIES)[""].value == 1 / 24
        assert measured("one-version-preference", TALLIES)["2"].value == 1 / 8
        assert measured("neither-version-preference", TALLIES)["1"].value == 2 / 16

    @pytest.mark.parametrize("part", ["", "1", "2"])
    def test_they_sum_to_1(self, part):
        assert sum(measured(name, TALLIES)[part].value for name in FIVE) == pytest.approx(1)

    def test_what_is_excluded_is_counted_and_bounded(self):
        found = measured("task-following", TALLIES)["1"]
        assert found.excluded == {"without an answer in both orders of both versions": 2}
        assert found.bounds == pytest.approx((7.5 / 18, 9.5 / 18))

    def test_repeats_that_were_not_answered_may_all_have_been_the_one_or_the_other(self):
        found = measured("task-following", TALLIES)["2"]
        assert found.excluded == {"in unanswered repeats, in total": 1}
        assert found.bounds == pytest.approx((6.5 / 8, 7.5 / 8))

    def test_the_ladders_are_never_pooled(self):
        assert measured("task-following", TALLIES)[""].denominator == 24
        assert measured("figure-following", TALLIES)[""].denominator == 10
        assert measured("figure-blind-preference", TALLIES)["1"].value == 0.7
        assert measured("carrier-following", TALLIES)[""].value == 0.25
        assert measured("carrier-blind-preference", TALLIES)[""].excluded == {
            "without an answer in both orders of both versions": 1
        }
        assert Family.OWN_FIGURES in TIER_2

    def test_variants_are_apart_and_one_task_is_too_few(self):
        found = measured("neither-version-preference", TALLIES, "strict")
        assert set(found) == {"", "1"}
        assert "one task" in found[""].reason

    @pytest.mark.parametrize("name", [*FIVE, "text-appeal", "figure-following", "carrier-following"])
    def test_a_design_without_quads_says_nothing(self, name):
        assert measured(name, Tallies(pairs=(PairTally("a", "baseline", Family.GRADED, 1.0, 4),))) == {}


class TestTextAppeal:
    def test_by_hand(self):
        """2.5 of 24 crossed pairs: the root of .104; and apart from it 7 of 10 with figures."""
        found = measured("text-appeal", TALLIES)
        assert list(found) == ["", "figures"]
        assert found[""].value == pytest.approx(sqrt(2.5 / 24))
        assert (found[""].denominator, found[""].clusters) == (24, 2)
        assert found["figures"].value == pytest.approx(sqrt(0.7))
        reference = cluster_ratio([4.0, 3.0], [5, 5], least=1.9 / 10)
        assert found["figures"].interval.high == pytest.approx(min(1.0, sqrt(reference.high)))

    def test_no_appeal_in_any_quad_has_the_check_of_no_event(self):
        tallies = Tallies(quads=tuple(quads(f"f{n}", 1.0, 5, following=5) for n in range(24)))
        found = measured("text-appeal", tallies)[""]
        assert (found.value, found.interval.low) == (0, 0)
        # 0 of 120: Clopper and Pearson have .030 for the square.
        assert found.interval.high**2 == pytest.approx(0.030, abs=0.005)

    def test_halves_that_disagree_are_no_appeal_below_zero(self):
        tallies = Tallies(quads=tuple(quads(f"f{n}", 1.0, 5, neither=5, appeal=-5.0) for n in range(6)))
        assert "disagree" in measured("text-appeal", tallies)[""].reason


class TestBothOrders:
    TALLIES = Tallies(
        pairs=(
            PairTally("a", "baseline", Family.GRADED, 1.0, 4, stable=3, correct_calls=7, both_correct=2.5),
            PairTally("b", "baseline", Family.GRADED, 1.0, 4, stable=4, correct_calls=8, both_correct=4, incomplete=1),
            PairTally("a", "baseline", Family.FIGURES, 1.0, 4, correct_calls=2),
            PairTally("b", "baseline", Family.FIGURES, 1.0, 4, correct_calls=4),
        )
    )

    def test_both_orders_are_right_less_often_than_either(self):
        both, single = (measured(n, self.TALLIES)["1"] for n in ("both-orders-sensitivity", "target-sensitivity"))
        assert (both.numerator, both.denominator) == (6.5, 8)
        assert both.value < single.value == 7.5 / 8
        assert both.excluded == {"without an answer in both orders": 1}

    def test_figures_have_a_ladder_of_their_own(self):
        assert measured("figure-sensitivity", self.TALLIES)["1"].value == 3 / 8


class TestUnlocked:
    def equal(self, pairs, positional, stable):
        made = (PairTally(c, "baseline", Family.EQUAL, 0.0, pairs, positional=positional, stable=stable) for c in "ab")
        return measured("unlocked-cross-sensitivity", Tallies(pairs=tuple(made)))[""]

    def test_by_hand(self):
        found = self.equal(20, 10, 4)
        assert isinstance(found, Estimate)
        assert (found.value, found.numerator, found.denominator) == (0.4, 8, 20)

    def test_a_judge_locked_to_a_slot_is_not_praised(self):
        """Stable cross-sensitivity 0 of 40 says nothing where the position decided all pairs, or all but a few."""
        assert "position decided every pair" in self.equal(20, 20, 0).reason
        assert "only 18 pairs were not decided by position" in self.equal(20, 11, 0).reason

    def test_a_denominator_of_shares_is_reported_rounded(self):
        found = self.equal(20, 9.75, 4)
        assert isinstance(found, Estimate)
        assert found.denominator == 20
        assert found.value == pytest.approx(8 / 20.5)
        assert found.numerator == pytest.approx(20 * 8 / 20.5)


class TestAbstentions:
    def test_a_tie_rate_counts_ties_only(self):
        pairs = tuple(
            PairTally(c, "baseline", Family.GRADED, 1.0, 5, correct_calls=4, tie_calls=3, abstained_calls=3)
            for c in "ab"
        )
        assert measured("tie-rate", Tallies(pairs=pairs))["1"].value == 6 / 20

    def test_models_say_how_many_pairs_they_leave_out(self):
        pairs = tuple(
            PairTally(c, "baseline", Family.GRADED, 1.0, 5, abstained_pairs=2, incomplete=1) for c in ("a", "b")
        )
        found = measured("resolution", Tallies(pairs=pairs))[""]
        assert isinstance(found, Undefined)
        assert found.excluded == {"without an answer in both orders": 2, "with an abstention": 4}
        assert "verdict" in found.reason


def test_what_a_coin_gives():
    """Of 2^4 ways to answer four calls with one of two texts: 1, 2, 1, 8 and 4 in 16."""
    counts = [outcome([list(answers[:2]), list(answers[2:])]) for answers in product((1, -1), repeat=4)]
    kinds = ("following", "blind", "reversed", "one_version", "neither")
    assert [counts.count(kind) for kind in kinds] == [1, 2, 1, 8, 4]


class TestControls:
    """Pairs without a better answer that are not of equal surface are decomposed apart from those that are."""

    NAMES = ("stable-cross-sensitivity", "positional-false-preference", "one-sided-commit", "no-preference")

    @staticmethod
    def tallies(**more):
        counts = {"stable": 1, "positional": 2, "one_sided": 3, "no_preference": 4}
        return Tallies(
            pairs=tuple(
                PairTally(cluster, "baseline", family, 0.0, 10, stratum=stratum, **(counts if family in more else {}))
                for cluster in "ab"
                for family, stratum in ((Family.EQUAL, "list"), (Family.SUBSET, "1-2"), (Family.LENGTH, "+25%"))
            )
        )

    def test_by_hand(self):
        tallies = self.tallies(**{Family.SUBSET: True})
        found = {name: measured(name, tallies) for name in self.NAMES}
        assert [found[name]["different-subset"].value for name in self.NAMES] == [0.1, 0.2, 0.3, 0.4]
        assert [list(parts) for parts in found.values()] == [["", "list", "different-subset", "longer"]] * 4
        for parts in found.values():
            assert (parts[""].value, parts[""].denominator, parts["longer"].value) == (0, 20, 0)

    def test_a_design_without_controls_has_no_such_part(self):
        equal = Tallies(pairs=tuple(PairTally(c, "baseline", Family.EQUAL, 0.0, 4, stratum="list") for c in "ab"))
        assert list(measured("no-preference", equal)) == ["", "list"]
