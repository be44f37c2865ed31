"""promptfoo's JSON (`promptfoo eval -o FILE`): graded answers, and answers chosen by select-best."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from umpirical.datasets.verdicts.documents import entries, read_document, text_of
from umpirical.datasets.verdicts.past_verdict import Asking, Given, PastVerdict, VerdictFile, item_of
from umpirical.datasets.verdicts.words import grade_of
from umpirical.domain.errors import UsageError
from umpirical.domain.judgments import Failed, Unparsed
from umpirical.domain.scales import Choice, GradeScale
from umpirical.domain.trials import Order

GRADERS = ("llm-rubric", "model-graded-closedqa", "factuality", "model-graded-factuality", "g-eval", "search-rubric")
"""Assertions that a model decides; the others are programs, which are no judges."""

SELECT = "select-best"

Component = tuple[Mapping[str, Any], Mapping[str, Any]]
"""A row, and what one assertion said about it."""


def read_promptfoo(path: Path, asking: Asking) -> VerdictFile:
    """Reads what models graded; or, with the kind `compare` or where nothing else is in it, what they chose."""
    rows = entries(read_document(path), "results", "results", where=path.name)
    said = [(row, component) for row in rows for component in _components(row, path.name)]
    graded = [each for each in said if _type(each[1]) in GRADERS]
    chosen = [each for each in said if _type(each[1]) == SELECT]
    if not graded and not chosen:
        raise UsageError(f"{path.name}: no assertion in it was decided by a model", fix=f"such as {', '.join(GRADERS)}")
    if graded and asking.kind != "compare":
        notes = (
            "promptfoo counts an answer that says neither pass nor score as passed; the file does not tell which.",
        )
        verdicts = tuple(_grade(*each) for each in graded)
        return VerdictFile("promptfoo", "grade", verdicts, GradeScale("binary", ("false", "true")), notes)
    notes = ("select-best has no tie; where no answer was chosen, promptfoo does not say why.",)
    return VerdictFile("promptfoo", "compare", tuple(_choices(chosen)), notes=notes)


def _grade(row: Mapping[str, Any], component: Mapping[str, Any]) -> PastVerdict:
    answer = row.get("response")
    item = item_of(row.get("vars"), answer.get("output") if isinstance(answer, Mapping) else answer)
    metadata = component.get("metadata")
    given: Given = grade_of(component.get("pass"))
    if isinstance(metadata, Mapping) and metadata.get("graderError"):
        given = Failed("judge-error", text_of(component.get("reason"))[:200])
    return PastVerdict(_judge(component), item, given)


def _choices(chosen: Sequence[Component]) -> Iterator[PastVerdict]:
    """Puts the rows of one test together: the answers stood in the order of the prompts."""
    tests: dict[tuple[str, ...], list[Component]] = {}
    for row, component in chosen:
        key = (_judge(component), *(text_of(row.get(name)) for name in ("testIdx", "repeatIndex")))
        tests.setdefault(key, []).append((row, component))
    for key, shown in tests.items():
        shown.sort(key=lambda each: int(each[0].get("promptIdx") or 0))
        if len(shown) != 2:
            raise UsageError(f"select-best chose among {len(shown)} answers, expected 2", fix="compare two at a time")
        texts = [_output(row) for row, _ in shown]
        # Named by the texts in alphabetical order, so that both orders are one pair.
        order = Order.UV if texts == sorted(texts) else Order.VU
        won = [component.get("pass") is True for _, component in shown]
        given: Given = Unparsed("", "no answer was chosen, or both")
        if won.count(True) == 1:
            given = Choice.SLOT_1 if won[0] else Choice.SLOT_2
        yield PastVerdict(key[0], item_of(*sorted(texts)), given, order=order)


def _components(row: Mapping[str, Any], where: str) -> Sequence[Mapping[str, Any]]:
    grading = row.get("gradingResult")
    found = grading.get("componentResults") if isinstance(grading, Mapping) else None
    return entries(found or [], where=where)


def _type(component: Mapping[str, Any]) -> str:
    assertion = component.get("assertion")
    return text_of(assertion.get("type")) if isinstance(assertion, Mapping) else ""


def _judge(component: Mapping[str, Any]) -> str:
    assertion = component.get("assertion")
    value = text_of(assertion.get("value")) if isinstance(assertion, Mapping) else ""
    return f"{_type(component)}: {value}"[:100] if value else _type(component)


def _output(row: Mapping[str, Any]) -> str:
    answer = row.get("response")
    return text_of(answer.get("output") if isinstance(answer, Mapping) else answer)
