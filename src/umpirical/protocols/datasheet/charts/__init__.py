"""The charts of a datasheet: the position of every mark."""

from umpirical.protocols.datasheet.charts.grades import GradeChart, grade_chart
from umpirical.protocols.datasheet.charts.operating import OperatingPlot, operating_plot
from umpirical.protocols.datasheet.charts.psychometric import Curve, psychometric_curve
from umpirical.protocols.datasheet.charts.stack import PARTS, Stack, decomposition

__all__ = [
    "PARTS",
    "Curve",
    "GradeChart",
    "OperatingPlot",
    "Stack",
    "decomposition",
    "grade_chart",
    "operating_plot",
    "psychometric_curve",
]
