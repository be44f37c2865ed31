"""What `scale.py` measures: one module for each part, each with a `measure` that returns figures by name.

A figure that is to hold on any machine is a ratio of two things that were measured side by side.
"""

from collections.abc import Callable

import asking

from scaling import analysis, cluster, counting, planning

__all__ = ["PARTS", "Figures", "Measure"]

Figures = dict[str, float]

Measure = Callable[..., Figures]
"""Is called with `quick`: whether small sizes will do."""

PARTS: dict[str, Measure] = {
    "asking": asking.measure_asking,
    "planning": planning.measure,
    "counting": counting.measure,
    "analysis": analysis.measure,
    "cluster": cluster.measure,
}
"""A further part is one more module here, and one more entry."""
