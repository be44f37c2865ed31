"""The charts of a datasheet: the position of every mark."""

from umpirical.protocols.datasheet.charts.bars import Bars, equal_quality_bars
from umpirical.protocols.datasheet.charts.costs import CostCurves, CostPlane, Priced, cost_curves, cost_plane
from umpirical.protocols.datasheet.charts.grades import GradeChart, grade_chart
from umpirical.protocols.datasheet.charts.ladders import Ladders, ladder_curves
from umpirical.protocols.datasheet.charts.operating import OperatingPlot, operating_plot
from umpirical.protocols.datasheet.charts.plane import Marked, Plane, plane
from umpirical.protocols.datasheet.charts.psychometric import Curve, psychometric_curve
from umpirical.protocols.datasheet.charts.stack import PARTS, Stack, decomposition

__all__ = [
    "PARTS",
    "Bars",
    "CostCurves",
    "CostPlane",
    "Curve",
    "GradeChart",
    "Ladders",
    "Marked",
    "OperatingPlot",
    "Plane",
    "Priced",
    "Stack",
    "cost_curves",
    "cost_plane",
    "decomposition",
    "equal_quality_bars",
    "grade_chart",
    "ladder_curves",
    "operating_plot",
    "plane",
    "psychometric_curve",
]
