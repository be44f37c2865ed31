"""DeepEval's `.latest_test_run.json`: the score of every metric on every test case."""

from pathlib import Path

from umpirical.datasets.verdicts.documents import entries, read_document, text_of
from umpirical.datasets.verdicts.past_verdict import Asking, PastVerdict, VerdictFile, item_of
from umpirical.datasets.verdicts.words import grade_of
from umpirical.domain.scales import GradeScale

__all__ = ["read_deepeval"]


def read_deepeval(path: Path, _: Asking) -> VerdictFile:
    """A metric without a score gave no verdict, although DeepEval calls that a failed test."""
    found = read_document(path)
    whole = found.get("testRunData", found) if isinstance(found, dict) else found
    verdicts = []
    for case in entries(whole, "testCases", where=path.name):
        item = item_of(case.get("input"), case.get("actualOutput"))
        for metric in entries(case.get("metricsData") or [], where=path.name):
            names = (text_of(metric.get("name")), text_of(metric.get("evaluationModel")))
            judge = " by ".join(name for name in names if name)
            verdicts.append(PastVerdict(judge, item, grade_of(metric.get("score"))))
    return VerdictFile(
        "deepeval",
        "grade",
        tuple(verdicts),
        GradeScale("interval", low=0.0, high=1.0),
        ("`order` is the number of a row, so nothing is known about orders.",),
    )
