"""What promptfoo's results say about one question: a verdict, or why there is none.

promptfoo has a score for everything. A call that failed is a failed test with score 0, an answer that says neither pass
nor score has passed with score 1. Only what its model has decided may count, so each type of assertion is read by what
tells that apart from the rest.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from umpirical.domain.responses import FailureKind
from umpirical.judges.failures import Unreadable
from umpirical.judges.promptfoo.assertion import SELECT_BEST, Assertion
from umpirical.judges.shapes import json_objects
from umpirical.models.caller import CallFailed

SAID = "umpiricalSaid"
"""The key of a result's metadata under which the model's own answer stands."""

CATEGORIES = {"disagree": 1, "subset": 2, "superset": 3, "agree": 4, "differButFactual": 5}
"""Scores that tell the categories of `factuality` from each other, and from the 0 of a failure."""

LONGEST = 1_000
"""Characters of what promptfoo says that are kept."""

_UNREAD = re.compile(
    r"Could not extract JSON|No output$|LLM-proposed|LLM does not propose|G-Eval |Invalid category value|"
    r"Factuality checker output|Invalid select-best verdict|Model grader produced a malformed|Error parsing output|"
    r"\S+ produced malformed response"
)
"""How promptfoo begins to say that its model answered, and that there is no verdict in it."""

_STATUS = re.compile(r"(?:\bAPI error|\bHTTP|\bstatus(?: code)?)[:= ]{1,2}([45]\d\d)\b", re.IGNORECASE)

_KINDS: tuple[tuple[str, FailureKind], ...] = (
    (r"rate limit|too many requests", "rate-limited"),
    (r"timed out|timeout|ETIMEDOUT", "timeout"),
    (r"ECONN|ENOTFOUND|EAI_AGAIN|fetch failed|socket hang up|connection error", "connection"),
    (r"content.filter|content policy", "refused"),
)

_CLOSED_QA = ("The submission meets the criterion:", "The submission does not meet the criterion:")

_SAYS = {
    "pass": re.compile(r"\s*(?:true|false|yes|no|pass|fail|y|n)\s*", re.IGNORECASE),
    "score": re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)\s*"),
}
"""What an answer of `llm-rubric` may say in its fields. promptfoo takes all else for false, and for 0 or 1."""

Row = Mapping[str, Any]


def decided(assertion: Assertion, row: Row, *, by: str) -> tuple[bool | float, object]:
    """Returns what a grader decided, and why; `by` is `pass` or `score`. Raises Unreadable or CallFailed if nothing."""
    component = _component(row, assertion.type)
    metadata, reason = _mapping(component.get("metadata")), component.get("reason")
    if metadata.get("graderError"):
        raise failure_told(reason)
    if assertion.type == "factuality":
        return _category(assertion, component, by)
    if assertion.type == "model-graded-closedqa" and not str(reason).startswith(_CLOSED_QA):
        raise failure_told(reason)
    if assertion.type == "llm-rubric":
        _ensure_said(metadata.get(SAID), by, has_threshold="threshold" in assertion.entry)
    value = component.get(by)
    if not isinstance(value, bool if by == "pass" else int | float):
        raise CallFailed("malformed", f"promptfoo has no {by} in its result: {json.dumps(component)[:200]}")
    return value, reason


def chosen(rows: Sequence[Row]) -> str:
    """Returns the slot that `select-best` has chosen, given its rows in their order."""
    components = [_component(row, SELECT_BEST) for row in rows]
    won = [number for number, component in enumerate(components, 1) if component.get("pass") is True]
    if len(won) != 1:
        raise failure_told(components[0].get("reason"))
    return str(won[0])


def _component(row: Row, kind: str) -> Mapping[str, Any]:
    """Returns what the assertion said about a row. Raises what the row says if it did not come to that."""
    found = _mapping(row.get("gradingResult")).get("componentResults")
    parts = [_mapping(each) for each in found] if isinstance(found, list) else []
    own = [each for each in parts if _mapping(each.get("assertion")).get("type") == kind]
    if len(own) != 1:
        raise failure_told(row.get("error"))
    return own[0]


def _category(assertion: Assertion, component: Mapping[str, Any], by: str) -> tuple[bool | float, object]:
    """Returns the verdict that the user's own scores give the category."""
    category = {score: name for name, score in CATEGORIES.items()}.get(component.get("score", 0))
    if category is None:
        raise failure_told(component.get("reason"))
    own = _mapping(assertion.options.get("factuality")).get(category)
    score = (0 if category == "disagree" else 1) if own is None else own
    return (score > 0 if by == "pass" else score), component.get("reason")


def _ensure_said(said: object, by: str, *, has_threshold: bool) -> None:
    """Raises Unreadable if a model did not say what promptfoo then fills in."""
    if said is None:
        raise CallFailed("judge-error", "promptfoo did not pass on what its model said: is its version another one?")
    text = said if isinstance(said, str) else json.dumps(said)
    # By a threshold, a score alone decides.
    for_want_of = "score" if by == "pass" and has_threshold and _field(text, "pass") is None else by
    if not _SAYS[for_want_of].fullmatch(_field(text, for_want_of) or ""):
        raise Unreadable(f"the model said no {by}: {text[:500]}")


def _field(text: str, name: str) -> str | None:
    """Returns what the JSON in a text has in a field, also where the JSON is not quite JSON; None if nothing."""
    found = next(json_objects(text), None)
    if found is not None:
        value = found[1].get(name)
        return None if value is None else value if isinstance(value, str) else json.dumps(value)
    spelled = re.search(rf"[\"']?\b{name}[\"']?\s*:\s*[\"']?([^\"',}}\n]*)", text)
    return spelled[1] if spelled else None


def failure_told(told: object) -> Exception:
    """Returns the exception for what promptfoo says went wrong."""
    text = str(told or "promptfoo has no result for it")
    if _UNREAD.match(text):
        return Unreadable(text[:LONGEST])
    status = _STATUS.search(text)
    if status is not None:
        return CallFailed(_of_status(int(status[1])), text[:LONGEST])
    found = (kind for pattern, kind in _KINDS if re.search(pattern, text, re.IGNORECASE))
    return CallFailed(next(found, "judge-error"), text[:LONGEST])


def _of_status(status: int) -> FailureKind:
    if status == 429:
        return "rate-limited"
    return "server-error" if status >= 500 or status == 408 else "rejected"


def _mapping(part: object) -> Mapping[str, Any]:
    return part if isinstance(part, Mapping) else {}
