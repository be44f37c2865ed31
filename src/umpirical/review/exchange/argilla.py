"""Argilla's records: fields to read, questions to answer, one response per person.

They are written as its server takes them, one record per line, and read in that form and as its Python package exports
them, with the responses grouped by question. Questions: `decision` (accept, edit, reject), `label`, `text`, `reason`,
`comment`. A discarded response is a skip.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast, get_args
from uuid import NAMESPACE_URL, uuid5

from umpirical.domain.reviews import DecisionKind, Reason, ReviewDecision, ReviewItem, ReviewMode
from umpirical.review.exchange.foreign import ForeignDecision, current_decisions, edited_text, one_of
from umpirical.review.exchange.json_files import BadLine, json_line, json_lines, text_of
from umpirical.review.records import LONGEST_TEXT, Revision

QUESTIONS = ("decision", "label", "text", "reason", "comment")


def argilla_records(
    items: Iterable[ReviewItem],
    revisions: Mapping[tuple[str, int], Revision],
    decisions: Iterable[ReviewDecision],
    *,
    mode: ReviewMode,
) -> Iterator[str]:
    """The lines of a file. A blind review suggests nothing: that would reveal what it hides."""
    said = current_decisions(decisions)
    for item in items:
        fields = {"question": item.question, "task": item.task, "before": item.before, "after": item.after}
        fields["rubric"] = item.rubric
        suggested = mode == "assisted" and item.target
        suggestions = [{"question_name": "label", "value": item.target, "agent": item.generator}] if suggested else []
        yield json_line(
            {
                "external_id": item.id,
                # Argilla refuses empty fields.
                "fields": {name: text for name, text in fields.items() if text},
                "metadata": {"test": item.test, "generator": item.generator, "labels": list(item.labels)},
                "suggestions": suggestions,
                "responses": [_response(one, edited_text(one, revisions)) for one in said.get(item.id, ())],
            }
        )


def _response(decision: ReviewDecision, text: str) -> dict[str, Any]:
    given = {
        "decision": decision.kind,
        "label": decision.label,
        "text": text,
        "reason": decision.reason or "",
        "comment": decision.comment,
    }
    skipped = decision.kind == "skip"
    if skipped:
        del given["decision"]
    return {
        # Users have UUIDs in Argilla; one derived from the name is the same in every export.
        "user_id": str(uuid5(NAMESPACE_URL, f"umpirical:reviewer:{decision.reviewer}")),
        "user": decision.reviewer,
        "status": "discarded" if skipped else "submitted",
        "values": {name: {"value": value} for name, value in given.items() if value},
        "inserted_at": decision.at,
    }


def read_argilla(file: Path) -> Iterator[ForeignDecision]:
    """The decisions in a file of records. Drafts, which were never submitted, are skipped."""
    for place, record in json_lines(file):
        item = text_of(record, "external_id", place) or text_of(record, "id", place)
        for response in _responses(record.get("responses"), place):
            status = text_of(response, "status", place) or "submitted"
            if status not in ("submitted", "discarded"):
                continue
            yield _foreign(item, response, place, skipped=status == "discarded")


def _foreign(item: str, response: Mapping[str, Any], place: str, *, skipped: bool) -> ForeignDecision:
    given = {name: _value(response, name, place) for name in QUESTIONS}
    kind = "skip" if skipped else given["decision"]
    if not kind:
        raise BadLine(place, f"no decision is given; expected one of {', '.join(get_args(DecisionKind))}")
    reason = given["reason"] or ("other" if kind == "reject" else "")
    return ForeignDecision(
        place=place,
        item=item,
        person=text_of(response, "user", place) or text_of(response, "user_id", place),
        kind=cast("DecisionKind", one_of(kind, DecisionKind, "decision", place)),
        label=given["label"],
        reason=cast("Reason", one_of(reason, Reason, "reason", place)) if reason else None,
        comment=given["comment"],
        text=given["text"],
        at=text_of(response, "inserted_at", place),
    )


def _value(response: Mapping[str, Any], name: str, place: str) -> str:
    values = response.get("values") or {}
    entry = values.get(name) if isinstance(values, dict) else None
    return text_of(entry, "value", f"{place}, {name}", most=LONGEST_TEXT) if isinstance(entry, dict) else ""


def _responses(found: object, place: str) -> list[Mapping[str, Any]]:
    """One response per person, whichever way they are written."""
    if found is None:
        return []
    if isinstance(found, list) and all(isinstance(response, dict) for response in found):
        return found
    if not isinstance(found, dict):
        raise BadLine(place, "responses: expected a list, or an object by question")
    people: dict[str, dict[str, Any]] = {}
    for question, answers in found.items():
        for answer in answers if isinstance(answers, list) else ():
            if not isinstance(answer, dict):
                raise BadLine(place, f"responses to {question!r}: expected objects")
            user = text_of(answer, "user_id", place)
            own = people.setdefault(user, {"user_id": user, "status": answer.get("status"), "values": {}})
            own["values"][question] = {"value": answer.get("value")}
    return list(people.values())
