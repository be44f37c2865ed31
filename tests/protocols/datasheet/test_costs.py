"""What judges, scoring methods and juries cost, and who is on the front of cost and accuracy."""

from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest

from tests.reports.dissection import Page
from tests.reports.payloads import HIDDEN, PAYLOADS, infected
from umpirical.domain.measures import Estimate, Interval, Undefined
from umpirical.domain.trials import Presentation
from umpirical.protocols.costs import accuracy_differences, cost_curve, places, point_price
from umpirical.protocols.datasheet import costs as cost_module
from umpirical.protocols.datasheet.comparison import Comparison
from umpirical.protocols.datasheet.comparison_charts import Priced, cost_curves, cost_plane
from umpirical.protocols.datasheet.comparison_pages import render_comparison_html, render_comparison_markdown
from umpirical.protocols.jury import accuracy_of as measured_accuracy
from umpirical.reports.charts import NotDrawn
from umpirical.reports.record import record_json
from umpirical.stats.precision import half_width

from .cost_samples import ballots, costs, judge, jury, priced, sample, scoring_method, votes
from .test_comparison import many
from .test_comparison import sample as compared


def accuracy(value, low, high, *, calls=288, clusters=24, effect=1.5):
    limits = Interval(low=low, high=high, level=0.95, method="any")
    return Estimate(
        value=value, numerator=value * calls, denominator=calls, unit="call", interval=limits, clusters=clusters,
        design_effect=effect,
    )  # fmt: skip


def by_sign(found):
    return {one.sign: one for one in found.options}


# Dollars for a point.


def test_a_point_is_a_hundredth_above_always_saying_tie():
    """$3 for 1,000 verdicts, and 30 points above .5: ten cents a point."""
    found = point_price(priced("3"), accuracy(0.8, 0.7, 0.9))
    assert (found.least, found.most) == (Decimal("0.1"), Decimal("0.1"))
    assert (found.low, found.high) == (Decimal("0.075"), Decimal("0.15"))


def test_always_saying_tie_is_worth_nothing_and_is_the_baseline():
    found = costs([(np.full(288, 2), priced("1")), (np.zeros(288, dtype=int), priced("1"))])
    tie, slot = found.options
    assert (tie.accuracy.value, slot.accuracy.value, found.baseline) == (0.5, 0.25, 0.5)
    assert tie.per_point.most is slot.per_point.most is None
    assert "always giving the same answer" in tie.per_point.why_not


def test_a_judge_that_may_be_at_the_baseline_has_no_upper_end():
    found = point_price(priced("3"), accuracy(0.6, 0.45, 0.7))
    assert (found.low, found.high) == (Decimal("0.15"), None)


def test_without_price_or_accuracy_a_point_has_a_reason():
    assert "calls is unknown" in point_price(priced(None), accuracy(0.8, 0.7, 0.9)).why_not
    assert point_price(priced("3"), Undefined(reason="a reason")).why_not == "a reason"


# The cost curve.


def test_the_curve_is_the_price_of_the_families_that_a_plan_would_ask_for():
    steps, _ = cost_curve(priced("2", calls=288), accuracy(0.8, 0.72, 0.88), 288)
    correlation = 0.5 / 11
    for step in steps:
        reached = half_width(0.8, clusters=step.families, per_cluster=12, correlation=correlation)
        assert reached <= step.half_width
        if step.families > 2:
            one_less = half_width(0.8, clusters=step.families - 1, per_cluster=12, correlation=correlation)
            assert one_less > step.half_width
        assert step.calls == 12 * step.families
        assert step.dollars == (Decimal(step.calls) * 2 / 1000,) * 2


def test_twice_as_narrow_costs_four_times_as_much():
    steps, _ = cost_curve(priced("2"), accuracy(0.8, 0.72, 0.88), 288)
    dollars = {step.half_width: float(step.dollars[0]) for step in steps}
    assert dollars[0.01] / dollars[0.02] == pytest.approx(4, rel=0.02)


def test_a_judge_that_is_always_right_is_not_known_from_two_families():
    """The variance of 1 is 0: the middle of the interval counts, and what plans assume of a family."""
    steps, _ = cost_curve(priced("2"), accuracy(1.0, 0.96, 1.0, effect=None), 288)
    assert next(step.families for step in steps if step.half_width == 0.01) > 50


def test_without_a_price_the_curve_still_has_families():
    steps, _ = cost_curve(priced(None), accuracy(0.8, 0.72, 0.88), 288)
    assert {step.dollars for step in steps} == {None}
    assert cost_curve(priced("2"), Undefined(reason="a reason"), 288) == ([], "a reason")


# The front.


def test_who_is_no_dearer_and_shown_to_be_better_dominates():
    found = by_sign(costs([(votes(0.95), priced("1")), (votes(0.6, 2), priced("2"))]))
    assert (found["A"].standing, found["B"].standing, found["B"].dominated_by) == ("front", "dominated", [0])


def test_who_is_dearer_dominates_nobody():
    found = by_sign(costs([(votes(0.95), priced("3")), (votes(0.6, 2), priced("2"))]))
    assert {one.standing for one in found.values()} == {"front"}


def test_a_lead_that_is_not_shown_takes_nobody_off_the_front():
    found = by_sign(costs([(votes(0.81, 8), priced("1")), (votes(0.8, 9), priced("2"))]))
    ahead, behind = sorted(found.values(), key=lambda one: -one.accuracy.value)
    if ahead.sign == "A":
        assert (behind.standing, behind.not_told_from) == ("not told apart", [0])
    assert "dominated" not in {one.standing for one in found.values()}


def test_a_judge_without_a_price_stands_apart_and_not_at_0():
    found = by_sign(costs([(votes(0.95), priced(None)), (votes(0.6, 2), priced("2"))]))
    assert (found["A"].standing, found["A"].price.per_1000) == ("apart", None)
    assert found["B"].standing == "front"


def test_a_free_judge_is_free_and_may_dominate():
    found = costs([(votes(0.95), priced("0")), (votes(0.6, 2), priced("2"))])
    assert by_sign(found)["A"].price.basis == "free"
    assert by_sign(found)["B"].dominated_by == [0]


def test_a_price_that_may_be_higher_is_not_known_to_be_no_dearer():
    """A cost $0.29 for sure and may have cost $1 more; B cost twice what A did for sure."""
    maybe = costs([(votes(0.95), priced("1", uncertain="1")), (votes(0.6, 2), priced("2"))])
    assert (by_sign(maybe)["B"].standing, by_sign(maybe)["B"].not_told_from) == ("not told apart", [0])


def test_calls_without_a_verdict_make_a_judge_dearer_and_less_often_right():
    said = votes(0.95, silent=0.5)
    found = by_sign(costs([(said, priced("1", verdicts=144)), (votes(0.95), priced("1"))]))
    assert found["A"].price.per_1000 == (Decimal(2), Decimal(2))
    assert (found["A"].standing, found["A"].dominated_by) == ("dominated", [1])


def test_two_scoring_methods_of_one_judge_share_its_bill():
    """Nobody knows what was billed, and yet a verdict of two calls is dearer than one of one."""
    said = votes(0.8)
    found = by_sign(costs([(said, priced("1", uncertain="1"))], extra=[scoring_method(0, said)]))
    assert (found["A"].standing, found["A both-orders"].standing) == ("front", "not told apart")
    assert found["A both-orders"].price.per_1000 == tuple(2 * end for end in found["A"].price.per_1000)


def test_a_jury_costs_a_call_to_each_member():
    columns = [votes(0.9, seed) for seed in (1, 2, 3)]
    prices = [priced("1"), priced("2"), priced("4")]
    found = by_sign(costs(list(zip(columns, prices, strict=True)), extra=[jury([0, 1, 2], columns)]))
    assert found["A + B + C"].price.per_1000 == (Decimal(7), Decimal(7))
    assert (found["A + B + C"].price.calls, found["A + B + C"].calls_per_verdict) == (864, 3)


def test_a_jury_with_a_member_of_unknown_price_stands_apart():
    columns = [votes(0.9, seed) for seed in (1, 2, 3)]
    prices = [priced("1"), priced("2"), priced(None)]
    found = by_sign(costs(list(zip(columns, prices, strict=True)), extra=[jury([0, 1, 2], columns)]))
    assert found["A + B + C"].standing == "apart"


def dominated_by_chance(runs):
    """Of comparisons of five judges that are alike, at rising prices: the share in which one is dominated."""
    prices = [priced(str(1 + place), calls=4) for place in range(5)]
    lost = 0
    for number in range(runs):
        said = [votes(0.8, 1000 + 5 * number + place) for place in range(5)]
        alike = [judge(place, each) for place, each in enumerate(said)]
        found = [accuracy_of(option) for option in alike]
        differences = accuracy_differences(alike, ballots(*said))
        lost += any(one.standing == "dominated" for one in places(alike, prices, found, differences))
    return lost / runs


def accuracy_of(option):
    return measured_accuracy(option.votes, ballots(option.votes))


def test_judges_that_are_alike_dominate_each_other_in_one_comparison_in_twenty():
    assert dominated_by_chance(60) <= 0.15


@pytest.mark.slow
def test_over_many_comparisons_it_is_no_more_than_that():
    assert dominated_by_chance(3000) <= 0.055


# In words, in pictures and on the page.


def test_the_findings_name_the_front_who_is_dominated_and_who_stands_apart():
    said = sample().findings
    assert said[0] == "On the cost–accuracy Pareto front: A, B, B both-orders."
    assert "Another option costs no more and is significantly more accurate than: C." in said
    assert "D is not ranked: the cost of 288 of 288 calls is unknown." in said


def test_the_page_and_the_card_say_it():
    whole = many(4).model_copy(update={"costs": sample()})
    text = " ".join(Page(render_comparison_html(whole)).text.split())
    for expected in (
        "Cost and accuracy",
        "$0.72 for 288 verdicts from 288 calls",
        "unknown: the cost of 288 of 288 calls is unknown",
        "B both-orders 2 calls per verdict",
        "200 ms · 900 ms",
        "Not shown because the price or accuracy is unknown: D.",
        "writing and validating them costs nothing",
    ):
        assert expected in text, expected
    assert "On the cost–accuracy Pareto front" in render_comparison_markdown(whole)
    assert len(render_comparison_markdown(many(30).model_copy(update={"costs": sample()})).splitlines()) <= 60


def test_text_from_outside_is_inert():
    payload = "\n".join(PAYLOADS)
    whole = compared().model_copy(update={"costs": costs([(votes(0.9), priced("1")), (votes(0.6, 2), priced(None))])})
    hostile, harmless = (infected(whole, text, structure=True) for text in (payload, "harmless"))
    source = render_comparison_html(hostile)
    assert Page(source).skeleton == Page(render_comparison_html(harmless)).skeleton
    assert not HIDDEN.search(source)


def test_the_same_record_gives_the_same_bytes():
    whole = many(4).model_copy(update={"costs": sample()})
    text = record_json(whole)
    assert record_json(Comparison.model_validate_json(text)) == text
    assert Comparison.model_validate_json(record_json(compared())).costs is None


def test_equal_distances_on_the_axis_are_equal_ratios_of_prices():
    drawn = [
        Priced(sign, 0, "judge", True, (Decimal(price), Decimal(price)), accuracy(0.8, 0.7, 0.9), ())
        for sign, price in (("A", "0.1"), ("B", "1"), ("C", "10"), ("D", "0"))
    ]
    figure = cost_plane(drawn, baseline=0.5)
    at = {point.sign: float(point.x) for point in figure.points}
    assert at["B"] - at["A"] == pytest.approx(at["C"] - at["B"], abs=0.2)
    assert at["D"] < at["A"]
    assert figure.x_ticks[0].label == "free"
    assert "D: free, balanced accuracy 80% [70, 90]" in figure.desc


def test_what_is_free_or_has_no_price_has_no_curve():
    known = [(0.05, Decimal(1)), (0.02, Decimal(9))]
    judges = [
        Priced("A", 0, "judge", True, None, None, known),
        Priced("B", 1, "judge", True, None, None, [(0.05, None), (0.02, Decimal(0))]),
    ]
    figure = cost_curves(judges)
    assert (len(figure.curves), figure.missing) == (1, "B")
    assert "$9.00 for ±2 points" in figure.desc
    assert isinstance(cost_curves(judges[1:]), NotDrawn)
    assert isinstance(cost_plane(judges, baseline=0.5), NotDrawn)


def test_a_run_of_very_many_calls_is_not_held_in_memory(monkeypatch):
    monkeypatch.setattr(cost_module, "MOST_CALLS", 3)
    monkeypatch.setattr("umpirical.protocols.costs.MOST_CALLS", 3)
    keeper = cost_module.CallKeeper()
    for number in range(9):
        stimulus = SimpleNamespace(id=str(number), candidates=("one", "other"), family="graded", cluster="f")
        keeper.see(SimpleNamespace(stimulus_id=stimulus.id, presentation=Presentation()), stimulus, None, None)
    assert (len(keeper.calls), len(keeper.heard), keeper.too_many) == (3, 3, True)
    read = SimpleNamespace(
        run=SimpleNamespace(judge=SimpleNamespace(kind="compare")), reading=SimpleNamespace(unasked=0)
    )
    assert cost_module.why_not_heard(read, keeper) == (
        "the run has more than 3 calls, which cannot be compared call by call"
    )


def test_two_identical_answers_are_excluded_for_everybody():
    keeper = cost_module.CallKeeper()
    stimulus = SimpleNamespace(id="1", candidates=("same", "same"), family="blank", cluster="f")
    keeper.see(SimpleNamespace(presentation=Presentation()), stimulus, None, None)
    assert keeper.calls == {}
