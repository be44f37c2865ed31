"""Conformance kits for the tests of plugins.

There is one for every kind: protocols, measures, report sections, judge adapters, model adapters, executors,
perturbations and dataset readers.
"""

from umpirical.testing.datasets import Format, check_reader
from umpirical.testing.executors import check_executor
from umpirical.testing.judges import JudgeSamples, check_judge_adapter
from umpirical.testing.measures import check_measure
from umpirical.testing.models import check_model_adapter
from umpirical.testing.perturbations import check_perturbation
from umpirical.testing.protocols import check_protocol
from umpirical.testing.sections import check_section

__all__ = [
    "Format",
    "JudgeSamples",
    "check_executor",
    "check_judge_adapter",
    "check_measure",
    "check_model_adapter",
    "check_perturbation",
    "check_protocol",
    "check_reader",
    "check_section",
]
