"""Where the marks go."""

import pytest

from umpirical.reports import charts
from umpirical.reports.charts import Curve, DotCell, NotDrawn, Stack, decomposition, dot_cell, psychometric_curve
from umpirical.reports.record import IntervalRecord

from .samples import estimate, llama_measures, measure, qwen_measures, threshold, undefined


def limits(low, high):
    return IntervalRecord(low=low, high=high, level=0.95, method="wilson")


def parts(*counts, total=60):
    return [measure(name, estimate(k, total, "pair")) for (name, _), k in zip(charts.PARTS, counts, strict=False)]


def test_a_dot_lies_on_an_axis_from_6_to_162():
    cell = dot_cell(measure("dark-current", estimate(1, 2, interval=limits(0.0, 1.0)), planted=0.25))
    assert isinstance(cell, DotCell)
    assert (cell.interval.start, cell.x, cell.interval.end, cell.planted) == ("6.0", "84.0", "162.0", "45.0")


def test_an_open_interval_runs_to_the_edge_without_a_cap():
    cell = dot_cell(measure("dark-current", estimate(1, 2, interval=limits(None, 0.75))))
    assert (cell.interval.start, cell.interval.start_closed, cell.interval.end_closed) == ("6.0", False, True)


@pytest.mark.parametrize(
    "undrawn",
    [
        measure("dark-current", undefined()),
        measure("detection-threshold", threshold()),
        measure("other", estimate(1, 2, value=1.5)),
        measure("other", estimate(1, 2, value=float("nan"))),
    ],
)
def test_what_is_no_rate_is_not_drawn(undrawn):
    assert isinstance(dot_cell(undrawn), NotDrawn)


def test_the_curve_has_every_step_and_the_goal():
    curve = psychometric_curve(qwen_measures())
    assert isinstance(curve, Curve)
    assert [point.label for point in curve.points] == ["0.940", "0.988", "1.000", "1.000", "1.000"]
    assert len(curve.segments) == 4
    heights = [float(point.y) for point in curve.points]
    assert heights == sorted(heights, reverse=True)
    assert curve.goal == next(tick.at for tick in curve.y_ticks if tick.label == "0.75")
    assert "step 1: 0.940, interval [0.875, 0.972]" in curve.desc


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
    second, third = (float(tick.at) for tick in curve.x_ticks[1:3])
    assert float(curve.threshold.x) == pytest.approx((second + third) / 2, abs=0.06)
    assert (float(curve.threshold.interval.start), float(curve.threshold.interval.end)) == (second, third)


def test_a_step_without_a_value_leaves_a_gap():
    measures = [m for m in qwen_measures() if m.stratum != "3"]
    curve = psychometric_curve([*measures, measure("target-sensitivity", undefined(), "3")])
    assert len(curve.points) == 4
    assert len(curve.segments) == 2


def test_a_curve_without_values_says_why():
    assert "not measured" in psychometric_curve([]).reason
    assert "undefined at every step" in psychometric_curve([measure("target-sensitivity", undefined(), "1")]).reason


def test_the_bar_is_filled_by_its_parts():
    stack = decomposition(parts(0, 5, 21, 34))
    assert isinstance(stack, Stack)
    drawn = [segment for segment in stack.segments if segment.width]
    assert [segment.part for segment in drawn] == [name for name, _ in charts.PARTS[1:]]
    assert sum(float(segment.width) for segment in drawn) == pytest.approx(charts.BAR_RIGHT - charts.BAR_LEFT, abs=0.2)
    assert "of 60 pairs: 0 · 0.000 stable cross-sensitivity; 5 · 0.083 positional" in stack.desc


def test_what_is_in_no_part_is_a_part_of_its_own():
    stack = decomposition(parts(0, 5, 21, 30.5))
    assert stack.segments[-1].part == "rest"
    assert stack.segments[-1].label == "3.5 · 0.058 in none of these"


@pytest.mark.parametrize("counts", [(60, 0, 0, 0), (0, 0, 0, 60), (1, 1, 1, 57), (57, 1, 1, 1), (0, 58, 2, 0)])
def test_the_labels_stay_inside_the_picture_and_apart(counts):
    segments = decomposition(parts(*counts)).segments
    for segment in segments:
        width = charts.CHAR_WIDTH * len(segment.label)
        start = float(segment.label_x) - width * {"start": 0, "middle": 0.5, "end": 1}[segment.anchor]
        assert start >= -0.1
        assert start + width <= 420
    assert len({segment.label_y for segment in segments}) == len(segments)


@pytest.mark.parametrize(
    ("measures", "why"),
    [
        ([], "stable cross-sensitivity was not measured"),
        (parts(0, 5, 21), "no preference was not measured"),
        ([*parts(0, 5, 21), measure("no-preference", undefined())], "no preference is undefined"),
        (parts(30, 30, 30, 30), "do not add up"),
        ([*parts(0, 5, 21), measure("no-preference", estimate(34, 50, "pair"))], "do not add up"),
        ([*parts(0, 5, 21), measure("no-preference", estimate(1, 60, numerator=float("nan")))], "do not add up"),
    ],
)
def test_a_bar_that_cannot_be_drawn_says_why(measures, why):
    assert why in decomposition(measures).reason


def test_planted_values_are_marked_on_the_curve():
    points = psychometric_curve(llama_measures()).points
    assert points[0].planted != points[0].y
    assert points[1].planted == points[1].y
