"""The position of every mark of a chart. The templates place what is computed here and compute nothing.

A coordinate is text, rounded here, so that the same record gives the same bytes. Every chart carries a title and a
description that say in words what is drawn.
"""

from umpirical.reports.charts.dots import DotCell, dot_cell
from umpirical.reports.charts.drawing import NotDrawn

__all__ = ["DotCell", "NotDrawn", "dot_cell"]
