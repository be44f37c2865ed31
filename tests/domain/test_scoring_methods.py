"""The arithmetic of scoring methods: what is known, what is not, and which half decides."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from umpirical.domain.scoring_methods import (
    SCORING_METHODS,
    Span,
    calibration_tasks,
    content_odds,
    most_likely,
    preferred,
    slot_odds,
    tie_band,
)

numbers = st.floats(-50, 50)
spans = st.tuples(numbers, numbers).map(lambda ends: Span(*sorted(ends)))


def at(value: float) -> Span:
    return Span(value, value)


def below(value: float) -> Span:
    return Span(-inf, value)


def test_every_scoring_method_has_a_name_of_its_own_and_text_comes_first():
    assert [scoring_method.name for scoring_method in SCORING_METHODS] == [
        "text",
        "logprob",
        "both-orders",
        "order-averaged",
    ]
    assert {scoring_method.name for scoring_method in SCORING_METHODS if scoring_method.pairwise} == {
        "both-orders",
        "order-averaged",
    }
    assert {scoring_method.name for scoring_method in SCORING_METHODS if scoring_method.needs_logprobs} == {
        "logprob",
        "order-averaged",
    }


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"1": at(-0.1), "2": at(-3), "tie": at(-4)}, "1"),
        ({"1": at(-3), "2": at(-0.1), "tie": below(-5)}, "2"),
        # It may be anything below -2, and -3 is not more than that.
        ({"1": at(-3), "2": at(-4), "tie": below(-2)}, None),
        ({"1": at(-1), "2": at(-1), "tie": at(-5)}, None),
        ({"1": below(-1), "2": below(-1), "tie": below(-1)}, None),
        # A partly known label wins if even its least is more than any other's most.
        ({"1": Span(-1, -0.5), "2": at(-2), "tie": below(-1.5)}, "1"),
        ({"1": Span(-3, -0.5), "2": at(-2), "tie": below(-9)}, None),
    ],
)
def test_the_most_likely_label_is_named_only_if_it_is_known(labels, expected):
    assert most_likely(labels) == expected


def test_log_odds_by_hand():
    uv = slot_odds({"1": at(-0.2), "2": at(-2.2)})
    vu = slot_odds({"1": at(-0.1), "2": at(-4.1)})
    assert (uv.low, vu.low) == pytest.approx((2.0, 4.0))
    # Slot 1 gains 3 in either order; content u loses 1 against v.
    assert content_odds(uv, vu).low == content_odds(uv, vu).high == pytest.approx(-1.0)


def test_a_label_outside_the_list_bounds_the_odds_on_one_side():
    uv = slot_odds({"1": at(-0.5), "2": below(-6.5)})
    assert uv == Span(6.0, inf)
    both = content_odds(uv, at(2.0))
    assert both == Span(2.0, inf)
    assert preferred(both, band=1.9) == "a"
    assert preferred(both, band=2.5) is None
    assert both.largest == inf


@given(uv=spans, vu=spans)
def test_averaging_does_not_care_which_order_is_called_the_first(uv, vu):
    """Swapping the candidates swaps the orders and the names of the contents, and so the sign alone."""
    one, other = content_odds(uv, vu), content_odds(vu, uv)
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low))


@given(uv=numbers, vu=numbers, bias=numbers)
def test_a_slot_bias_drops_out_of_the_average(uv, vu, bias):
    plain, biased = content_odds(at(uv), at(vu)), content_odds(at(uv + bias), at(vu + bias))
    assert biased.low == pytest.approx(plain.low, abs=1e-9)


@given(odds=spans, band=st.floats(0, 50))
def test_a_verdict_holds_for_every_value_within_what_is_known(odds, band):
    said = preferred(odds, band=band)
    ends = {preferred(at(odds.low), band=band), preferred(at(odds.high), band=band)}
    assert said is None or ends == {said}
    assert said is not None or len(ends) == 2


def test_a_tie_band_by_hand():
    sizes = [0.1, 0.5, 0.2, 0.9, 0.3, 0.7, 0.4, 0.6, 0.8, 1.0]
    assert tie_band(sizes, target=0.10) == 0.9
    assert tie_band(sizes, target=0.19) == 0.9
    assert tie_band(sizes, target=0.30) == 0.7
    assert tie_band(sizes, target=0.0) == 1.0
    assert tie_band([0.4], target=0.1) == 0.4
    assert tie_band([0.1, inf], target=0.5) == 0.1
    assert tie_band([0.1, inf], target=0.1) == inf
    with pytest.raises(ValueError, match="at least one pair"):
        tie_band([], target=0.1)


@given(sizes=st.lists(st.floats(0, 30), min_size=1, max_size=60), target=st.floats(0, 1))
def test_a_tie_band_meets_its_target_on_its_own_pairs_and_no_smaller_size_would(sizes, target):
    band = tie_band(sizes, target=target)

    def outside(width: float) -> int:
        return sum(size > width for size in sizes)

    assert outside(band) <= target * len(sizes) + 1e-6
    if smaller := [size for size in sizes if size < band]:
        assert outside(max(smaller)) > target * len(sizes) - 1e-6


def test_the_halves_are_even_and_do_not_hang_on_the_order_of_tasks():
    tasks = [f"task-{number}" for number in range(21)]
    half = calibration_tasks(tasks)
    assert len(half) == 10
    assert half < set(tasks)
    assert calibration_tasks([*reversed(tasks), *tasks]) == half
    assert half != set(tasks[:10])
