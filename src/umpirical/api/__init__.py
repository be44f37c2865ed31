"""The Python API: measure a judge from a script or a notebook.

Every function has an asynchronous twin that ends in `_async`. Both work inside a running event loop, as in a notebook.
Answers are kept in `folder`: after an interruption or a crash, the same call resumes the run.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from umpirical.api.functions import (
        claim,
        claim_async,
        compare,
        compare_async,
        correct,
        correct_async,
        datasheet,
        datasheet_async,
        export,
        export_async,
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
        publish,
        publish_async,
        run,
        run_async,
        stress,
        stress_async,
        verify,
        verify_async,
    )
    from umpirical.api.results import ComparedJudges, JuryReport, Measures, Report, Verification

__all__ = [
    "ComparedJudges",
    "JuryReport",
    "Measures",
    "Report",
    "Verification",
    "claim",
    "claim_async",
    "compare",
    "compare_async",
    "correct",
    "correct_async",
    "datasheet",
    "datasheet_async",
    "export",
    "export_async",
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
    "publish",
    "publish_async",
    "run",
    "run_async",
    "stress",
    "stress_async",
    "verify",
    "verify_async",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever the API has of that name
    """Imports what is asked for: a command that takes the keywords of the API needs none of its functions."""
    if name not in __all__:
        raise AttributeError(f"module 'umpirical.api' has no attribute {name!r}")
    return getattr(import_module("umpirical.api.results" if name[0].isupper() else "umpirical.api.functions"), name)
