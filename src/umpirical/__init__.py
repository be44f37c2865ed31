"""Umpirical tests LLM judges before you trust their scores."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from umpirical.api import *  # noqa: F403  # its `__all__` says what

# ruff: noqa: F405
__all__ = [
    "ComparedJudges",
    "JuryReport",
    "Measures",
    "Report",
    "Verification",
    "__version__",
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

__version__: str


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever the API has of that name
    """Imports the Python API when something in it is first used, so that the command line starts without it."""
    if name == "__version__":
        from importlib.metadata import version

        return version("umpirical")
    if name in __all__:
        return getattr(import_module("umpirical.api"), name)
    raise AttributeError(f"module 'umpirical' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
