"""MLflow's traces as JSON: the assessments of judges, and those of people as gold labels."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from umpirical.datasets.verdicts.documents import entries, read_document, text_of
from umpirical.datasets.verdicts.past_verdict import Asking, Given, PastVerdict, VerdictFile
from umpirical.datasets.verdicts.words import grade_of
from umpirical.domain.judgments import Failed

JUDGES = ("LLM_JUDGE", "AI_JUDGE")
"""Sources of assessments that are models."""


def read_mlflow(path: Path, _: Asking) -> VerdictFile:
    """A trace is an item. A person's assessment of the same name is the gold label of the judge's."""
    found = read_document(path)
    if isinstance(found, dict):
        found = found.get("traces", [found])
    verdicts = []
    for trace in entries(found, where=path.name):
        info = trace.get("info")
        info = info if isinstance(info, Mapping) else {}
        said = [
            each for each in entries(info.get("assessments") or [], where=path.name) if each.get("valid") is not False
        ]
        golds = {_name(each): _gold(each) for each in said if _source(each) == "HUMAN"}
        item = text_of(info.get("trace_id") or info.get("request_id"))
        judged = [each for each in said if _source(each) in JUDGES and isinstance(each.get("feedback"), Mapping)]
        verdicts += [
            PastVerdict(_name(each), item, _given(each["feedback"]), gold=golds.get(_name(each), "")) for each in judged
        ]
    return VerdictFile("mlflow", "grade", tuple(verdicts))


def _given(feedback: Mapping[str, Any]) -> Given:
    error = feedback.get("error")
    if error:
        code = error.get("error_code") if isinstance(error, Mapping) else error
        return Failed("judge-error", text_of(code)[:200])
    return grade_of(feedback.get("value"))


def _gold(assessment: Mapping[str, Any]) -> str:
    feedback = assessment.get("feedback")
    found = _given(feedback) if isinstance(feedback, Mapping) else None
    return found if isinstance(found, str) else ""


def _name(assessment: Mapping[str, Any]) -> str:
    return text_of(assessment.get("assessment_name") or assessment.get("name"))


def _source(assessment: Mapping[str, Any]) -> str:
    source = assessment.get("source")
    return text_of(source.get("source_type")).upper() if isinstance(source, Mapping) else ""
