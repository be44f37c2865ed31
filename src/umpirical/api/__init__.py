"""The Python API: measure a judge from a script or a notebook.

Every function has an asynchronous twin that ends in `_async`. Both work inside a running event loop, as in a notebook.
Answers are kept in `folder`: after an interruption or a crash, the same call resumes the run.
"""

from umpirical.api.functions import (
    claim,
    claim_async,
    compare,
    compare_async,
    correct,
    correct_async,
    datasheet,
    datasheet_async,
    gate,
    gate_async,
    jury,
    jury_async,
    load,
    load_async,
    measure,
    measure_async,
    measure_verdicts,
    measure_verdicts_async,
    pairs,
    pairs_async,
    run,
    run_async,
    stress,
    stress_async,
)
from umpirical.api.results import ComparedJudges, JuryReport, Measures, Report

__all__ = [
    "ComparedJudges",
    "JuryReport",
    "Measures",
    "Report",
    "claim",
    "claim_async",
    "compare",
    "compare_async",
    "correct",
    "correct_async",
    "datasheet",
    "datasheet_async",
    "gate",
    "gate_async",
    "jury",
    "jury_async",
    "load",
    "load_async",
    "measure",
    "measure_async",
    "measure_verdicts",
    "measure_verdicts_async",
    "pairs",
    "pairs_async",
    "run",
    "run_async",
    "stress",
    "stress_async",
]
