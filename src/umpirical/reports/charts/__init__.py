"""Where every mark of a chart goes. The templates place what is computed here and compute nothing.

A coordinate is text, rounded here, so that the same record gives the same bytes. Every chart carries a title and a
description that say in words what is drawn.
"""

from umpirical.reports.charts.dots import DotCell, dot_cell
from umpirical.reports.charts.drawing import NotDrawn
from umpirical.reports.charts.grades import GradeChart, grade_chart
from umpirical.reports.charts.operating import OperatingPlot, operating_plot
from umpirical.reports.charts.psychometric import Curve, psychometric_curve
from umpirical.reports.charts.stack import PARTS, Stack, decomposition

__all__ = [
    "PARTS",
    "Curve",
    "DotCell",
    "GradeChart",
    "NotDrawn",
    "OperatingPlot",
    "Stack",
    "decomposition",
    "dot_cell",
    "grade_chart",
    "operating_plot",
    "psychometric_curve",
]
