"""DeepEval's `.latest_test_run.json`: the score of every metric on every test case."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from umpirical.datasets.verdicts.documents import entries, read_document, text_of
from umpirical.datasets.verdicts.past_verdict import Asking, Given, PastVerdict, VerdictFile, item_of
from umpirical.datasets.verdicts.words import grade_of
from umpirical.domain.judgments import Failed
from umpirical.domain.scales import GradeScale


def read_deepeval(path: Path, _: Asking) -> VerdictFile:
    """A metric without a score gave no verdict, although DeepEval calls that a failed test."""
    found = read_document(path)
    whole = found.get("testRunData", found) if isinstance(found, dict) else found
    verdicts = []
    for case in _cases(whole, path.name):
        item = item_of(*(case.get(name) for name in ("input", "actualOutput", "turns")))
        for metric in entries(case.get("metricsData") or [], where=path.name):
            names = (text_of(metric.get("name")), text_of(metric.get("evaluationModel")))
            judge = " by ".join(name for name in names if name)
            verdicts.append(PastVerdict(judge, item, _given(metric)))
    return VerdictFile(
        "deepeval",
        "grade",
        tuple(verdicts),
        GradeScale("interval", low=0.0, high=1.0),
        ("`order` is the number of a row, so nothing is known about orders.",),
    )


def _cases(found: object, where: str) -> list[Mapping[str, Any]]:
    """Returns the test cases, of one turn and of several."""
    several = found.get("conversationalTestCases") if isinstance(found, Mapping) else None
    return [*entries(found, "testCases", where=where), *entries(several or [], where=where)]


def _given(metric: Mapping[str, Any]) -> Given:
    error = metric.get("error")
    return Failed("judge-error", text_of(error)[:200]) if error else grade_of(metric.get("score"))
