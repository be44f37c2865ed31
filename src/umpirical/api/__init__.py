"""The front door: measure a judge from a script or a notebook.

Every function has an asynchronous twin that ends in `_async`. Both work inside a running event loop, as in a notebook.
What was answered is kept in `folder`: interrupted or killed, the same call goes on where it stopped.
"""

from umpirical.api.functions import (
    datasheet,
    datasheet_async,
    load,
    load_async,
    measure,
    measure_async,
    run,
    run_async,
    stress,
    stress_async,
)
from umpirical.api.results import Measures, Report

__all__ = [
    "Measures",
    "Report",
    "datasheet",
    "datasheet_async",
    "load",
    "load_async",
    "measure",
    "measure_async",
    "run",
    "run_async",
    "stress",
    "stress_async",
]
