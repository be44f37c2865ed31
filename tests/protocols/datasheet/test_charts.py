"""Where the marks go."""

from itertools import pairwise

import pytest

from umpirical.domain.measures import Interval
from umpirical.protocols.datasheet import charts
from umpirical.protocols.datasheet.charts import (
    BAR_LEFT,
    BAR_RIGHT,
    Curve,
    GradeChart,
    OperatingPlot,
    Stack,
    decomposition,
    grade_chart,
    operating_plot,
    psychometric_curve,
)
from umpirical.protocols.datasheet.record import GradeRow
from umpirical.reports.charts import CHAR_WIDTH, DotCell, NotDrawn, dot_cell
from umpirical.reports.record import CheckRecord

from .samples import estimate, fitted, grading, llama_measures, measure, paper, qwen_measures, threshold, undefined


def checks(low, high):
    return Interval(low=low, high=high, level=0.95, method="wilson")


def parts(*counts, total=60):
    return [measure(name, estimate(k, total, "pair")) for (name, _), k in zip(charts.PARTS, counts, strict=False)]


def test_a_dot_lies_on_an_axis_from_6_to_162():
    cell = dot_cell(measure("dark-current", estimate(1, 2, interval=checks(0.0, 1.0)), true_value=0.25))
    assert isinstance(cell, DotCell)
    assert (cell.interval.start, cell.x, cell.interval.end, cell.true_value) == ("6.0", "84.0", "162.0", "45.0")


def test_an_open_interval_runs_to_the_edge_without_a_cap():
    cell = dot_cell(measure("dark-current", estimate(1, 2, interval=checks(None, 0.75))))
    assert (cell.interval.start, cell.interval.start_closed, cell.interval.end_closed) == ("6.0", False, True)


def test_a_difference_is_drawn_on_an_axis_of_its_own():
    cell = dot_cell(measure("excess-stable", fitted(0.0, -1.0, 0.5)))
    assert (cell.interval.start, cell.x, cell.interval.end) == ("6.0", "84.0", "123.0")
    assert cell.ends == ("-100", "+100")


@pytest.mark.parametrize(
    ("kind", "start", "width", "edge"), [("at_most", "6.0", "39.0", "45.0"), ("at_least", "45.0", "117.0", "45.0")]
)
def test_what_a_check_allows_is_shaded(kind, start, width, edge):
    held = CheckRecord(measure="m", variant="a", stratum="", kind=kind, value=0.25, verdict="PASS")
    allowed = dot_cell(measure("dark-current", estimate(1, 2)), held).allowed
    assert (allowed.start, allowed.width, allowed.edges) == (start, width, (edge,))


@pytest.mark.parametrize(
    "undrawn",
    [
        measure("dark-current", undefined()),
        measure("detection-threshold", threshold()),
        measure("resolution", fitted(0.5, 0.4, 0.6)),
        measure("goodness-of-fit", fitted(0.5, None, None, interval=None)),
        measure("grade-spread", fitted(0.5, 0.4, 0.6)),
        measure("other", estimate(1, 2, value=1.5)),
        measure("other", estimate(1, 2, value=float("nan"))),
    ],
)
def test_what_is_no_rate_is_not_drawn(undrawn):
    assert isinstance(dot_cell(undrawn), NotDrawn)


def test_the_curve_has_every_step_and_the_goal():
    curve = psychometric_curve(qwen_measures())
    assert isinstance(curve, Curve)
    assert [point.label for point in curve.points] == ["94%", "99%", "100%", "100%", "100%"]
    assert len(curve.segments) == 4
    heights = [float(point.y) for point in curve.points]
    assert heights == sorted(heights, reverse=True)
    assert curve.goal == next(tick.at for tick in curve.y_ticks if tick.label == "75%")
    assert "difference 1: 94%, interval [88, 97]" in curve.desc


@pytest.mark.parametrize(
    ("estimated", "label", "anchor"),
    [
        (threshold(), "Δ75 ≤ 1 (left-censored)", "start"),
        (threshold(5.0, "right", 5.0, None), "Δ75 > 5 (right-censored)", "end"),
        (threshold(2.714286, "none", 2.0, 3.5), "Δ75 = 2.71", "start"),
        (threshold(4.0, "none", 2.7, 4.0), "Δ75 = 4", "end"),
    ],
)
def test_the_threshold_says_how_it_is_censored(estimated, label, anchor):
    mark = psychometric_curve([*qwen_measures()[:20], measure("detection-threshold", estimated)]).threshold
    assert (mark.label, mark.anchor, mark.censoring) == (label, anchor, estimated.censoring)


def test_the_threshold_lies_between_its_steps():
    curve = psychometric_curve([*qwen_measures()[:20], measure("detection-threshold", threshold(2.5, "none", 2, 3))])
    second, third = (float(tick.at) for tick in curve.x_ticks[2:4])
    assert float(curve.threshold.x) == pytest.approx((second + third) / 2, abs=0.06)
    assert (float(curve.threshold.interval.start), float(curve.threshold.interval.end)) == (second, third)


def test_a_step_without_a_value_leaves_a_gap():
    measures = [m for m in qwen_measures() if m.stratum != "3"]
    curve = psychometric_curve([*measures, measure("target-sensitivity", undefined(), "3")])
    assert len(curve.points) == 4
    assert len(curve.segments) == 2


def test_steps_far_apart_are_not_joined():
    far = [measure("target-sensitivity", estimate(1, 2), step) for step in ("1", "5")]
    assert psychometric_curve(far).segments == psychometric_curve(far).bands == ()


def test_steps_below_one_requirement_stand_on_quarter_ticks_and_labels_keep_apart():
    steps = ("0.25", "0.5", "0.75", "1", "2", "5")
    curve = psychometric_curve([measure("target-sensitivity", estimate(1, 2), step) for step in reversed(steps)])
    places = [float(point.x) for point in curve.points]
    assert places == sorted(places)
    assert {point.x for point in curve.points[:3]} <= set(curve.quarters)
    written = [float(point.x) for point in curve.points if point.label]
    assert all(two - one > 40 for one, two in pairwise(written))
    assert {point.step for point in curve.points if point.label} >= {1, 2, 5}
    assert len(curve.segments) == len(curve.bands) == 4


def test_a_ladder_of_whole_steps_has_no_quarter_ticks():
    assert psychometric_curve(qwen_measures()).quarters == ()


@pytest.mark.parametrize("stratum", ["", "nonsense", "nan", "inf", "-1", "1e9"])
def test_a_step_that_is_none_is_not_drawn(stratum):
    assert isinstance(psychometric_curve([measure("target-sensitivity", estimate(1, 2), stratum)]), NotDrawn)


def by_variant(sheet):
    return {variant: [m for m in sheet.measures if m.variant == variant] for variant in sheet.run.variants}


def test_the_operating_points_show_where_the_prompt_moves_the_judge():
    plot = operating_plot(by_variant(paper()))
    assert isinstance(plot, OperatingPlot)
    baseline, strict = plot.points
    assert (baseline.variant, strict.variant) == ("baseline", "strict")
    assert float(strict.x) < float(baseline.x)
    assert float(strict.y) > float(baseline.y)
    (arrow,) = plot.arrows
    assert (arrow.x1, arrow.y1, arrow.x2, arrow.y2) == (baseline.x, baseline.y, strict.x, strict.y)
    assert "strict: false preference 0% [0, 3], accuracy at Δ1 50% [40, 60]" in plot.desc


def test_labels_of_operating_points_do_not_cover_each_other():
    variants = {name: by_variant(paper())["strict"] for name in ("one", "two", "three")}
    plot = operating_plot(variants)
    assert len({point.label_y for point in plot.points}) == 3
    assert plot.arrows == ()


def test_one_variant_has_no_operating_plot():
    assert "fewer than two prompt variants" in operating_plot({"baseline": qwen_measures()}).reason


def test_the_grade_chart_has_a_circle_for_each_grade_and_a_line_of_means():
    chart = grade_chart(grading().grades)
    assert isinstance(chart, GradeChart)
    assert len(chart.bubbles) == 15
    heights = [float(point.split(",")[1]) for point in chart.means.split()]
    assert heights == sorted(heights, reverse=True)
    assert [tick.label for tick in chart.x_ticks] == list("012345")
    assert "0 met: mean grade 0.10" in chart.desc


def test_grades_of_a_long_scale_have_few_ticks_and_blank_answers_are_excluded():
    rows = [GradeRow(variant="a", family="graded", level=0, score=score, answers=1) for score in range(101)]
    assert len(grade_chart(rows).y_ticks) <= 13
    vacuum = [GradeRow(variant="a", family="blank", level=0, score=1, answers=3)]
    assert isinstance(grade_chart(vacuum), NotDrawn)


def test_a_curve_without_values_says_why():
    assert "not measured" in psychometric_curve([]).reason
    assert (
        "undefined at every difference" in psychometric_curve([measure("target-sensitivity", undefined(), "1")]).reason
    )


def test_the_bar_is_filled_by_its_parts():
    stack = decomposition(parts(0, 5, 21, 34))
    assert isinstance(stack, Stack)
    drawn = [segment for segment in stack.segments if segment.width]
    assert [segment.part for segment in drawn] == [name for name, _ in charts.PARTS[1:]]
    assert sum(float(segment.width) for segment in drawn) == pytest.approx(BAR_RIGHT - BAR_LEFT, abs=0.2)
    assert "of 60 pairs: 0 · 0% same answer in both orders; 5 · 8% same position" in stack.desc


def test_what_is_in_no_part_is_a_part_of_its_own():
    stack = decomposition(parts(0, 5, 21, 30.5))
    assert stack.segments[-1].part == "rest"
    assert stack.segments[-1].label == "3.5 · 6% none of these"


@pytest.mark.parametrize("counts", [(60, 0, 0, 0), (0, 0, 0, 60), (1, 1, 1, 57), (57, 1, 1, 1), (0, 58, 2, 0)])
def test_the_labels_stay_inside_the_picture_and_apart(counts):
    segments = decomposition(parts(*counts)).segments
    for segment in segments:
        width = CHAR_WIDTH * len(segment.label)
        start = float(segment.label_x) - width * {"start": 0, "middle": 0.5, "end": 1}[segment.anchor]
        assert start >= -0.1
        assert start + width <= 420
    assert len({segment.label_y for segment in segments}) == len(segments)


@pytest.mark.parametrize(
    ("measures", "why"),
    [
        ([], "“same answer in both orders” was not measured"),
        (parts(0, 5, 21), "“no preference” was not measured"),
        ([*parts(0, 5, 21), measure("no-preference", undefined())], "“no preference” is undefined"),
        (parts(30, 30, 30, 30), "do not add up"),
        ([*parts(0, 5, 21), measure("no-preference", estimate(34, 50, "pair"))], "do not add up"),
        ([*parts(0, 5, 21), measure("no-preference", estimate(1, 60, numerator=float("nan")))], "do not add up"),
    ],
)
def test_a_bar_that_cannot_be_drawn_says_why(measures, why):
    assert why in decomposition(measures).reason


def test_planted_values_are_marked_on_the_curve():
    points = psychometric_curve(llama_measures()).points
    assert points[0].true_value != points[0].y
    assert points[1].true_value == points[1].y
