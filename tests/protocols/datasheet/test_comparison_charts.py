"""The figures of the Dark Current paper, drawn of its three judges: each mark is where its share is."""

import pytest

from umpirical.protocols.datasheet import comparison_charts as charts
from umpirical.protocols.datasheet.comparison_pages import judge_views

from .test_comparison import papers_three

SCS = ("stable-cross-sensitivity", "", "wording bias")


@pytest.fixture(scope="module")
def judges():
    return [charts.Marked(view.sign, view.style, view.measures) for view in judge_views(papers_three())]


def shares(points, judges):
    """The two shares of each mark, read off its place in the picture, in the order of the judges."""
    by_style = {point.style: point for point in points}
    width, height = charts.PLANE.x(1) - charts.PLANE.x(0), charts.PLANE.y(1) - charts.PLANE.y(0)
    found = [by_style[judge.style] for judge in judges]
    return [((float(p.x) - charts.PLANE.x(0)) / width, (float(p.y) - charts.PLANE.y(0)) / height) for p in found]


def near(*printed):
    return [pytest.approx(each, abs=0.01) for each in printed]


def test_figure_1_has_dark_current_across_and_wording_bias_up(judges):
    drawn = charts.plane(
        judges, title="t", across=("dark-current", "", "d"), up=SCS, size=("target-sensitivity", "1", "accuracy at Δ1")
    )
    assert shares(drawn.points, judges) == near((0.667, 0.033), (0, 0.45), (0, 0))
    # The larger the mark, the more often it is right at one requirement: .61, 1 and .94.
    radius = {point.style: float(point.r) for point in drawn.points}
    first, second, third = (radius[judge.style] for judge in judges)
    assert first < third < second


def test_figure_2_has_a_curve_for_each_judge(judges):
    drawn = charts.ladder_curves(judges)
    assert len(drawn.curves) == 3
    assert all(len(curve.points) >= 2 for curve in drawn.curves)


def test_figure_3_has_the_outcomes_of_equal_pairs_side_by_side(judges):
    drawn = charts.equal_quality_bars(judges)
    whole = charts.BARS_RIGHT - charts.BARS_LEFT
    parts = [{part.part: float(part.width) / whole for part in bar.parts} for bar in drawn.bars]
    # Printed: 2, 58, 0, 0 of 60; 27, 32, 1, 0; and 0, 5, 21, 34.
    assert [sorted(each.values()) for each in parts] == [
        near(2 / 60, 58 / 60),
        near(1 / 60, 27 / 60, 32 / 60),
        near(5 / 60, 21 / 60, 34 / 60),
    ]


def test_figure_5_has_position_bias_across_and_wording_bias_up(judges):
    drawn = charts.plane(judges, title="t", across=("positional-false-preference", "", "p"), up=SCS)
    assert shares(drawn.points, judges) == near((0.967, 0.033), (0.533, 0.45), (0.083, 0))
