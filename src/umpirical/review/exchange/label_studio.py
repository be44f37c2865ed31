"""Label Studio's tasks: data to show, and annotations with results, one per person.

Results: `decision` (choices accept, edit, reject), `label` (choices), `text` (a text area), `reason` (choices) and
`comment` (a text area). A cancelled annotation is a skip.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast, get_args

from umpirical.domain.digests import Json
from umpirical.domain.reviews import DecisionKind, Reason, ReviewDecision, ReviewItem, ReviewMode
from umpirical.review.exchange.foreign import ForeignDecision, current_decisions, edited_text, one_of
from umpirical.review.exchange.json_files import BadLine, json_line, json_list, text_of
from umpirical.review.records import LONGEST_TEXT, Revision

LABELLED_FIELD = "after"
"""The field that every result is about: the generated text."""

CHOICES = ("decision", "label", "reason")

LABELLING_CONFIG = """\
<View>
  <Header value="$question"/>
  <Text name="task" value="$task"/>
  <Text name="before" value="$before"/>
  <Text name="after" value="$after"/>
  <Choices name="decision" toName="after" choice="single" required="true">
    <Choice value="accept"/><Choice value="edit"/><Choice value="reject"/>
  </Choices>
  <Choices name="label" toName="after" choice="single" value="$choices"/>
  <Choices name="reason" toName="after" choice="single">
    <Choice value="meaning"/><Choice value="label"/><Choice value="unnatural"/>
    <Choice value="artefact"/><Choice value="harmful"/><Choice value="other"/>
  </Choices>
  <TextArea name="text" toName="after" value="$after" maxSubmissions="1"/>
  <TextArea name="comment" toName="after" maxSubmissions="1"/>
</View>
"""
"""A labelling interface whose results can be imported."""


def label_studio_tasks(
    items: Iterable[ReviewItem],
    revisions: Mapping[tuple[str, int], Revision],
    decisions: Iterable[ReviewDecision],
    *,
    mode: ReviewMode,
) -> Iterator[str]:
    """The lines of a file that is one JSON list, one task per line. A blind review has no predictions."""
    said = current_decisions(decisions)
    before = "["
    for number, item in enumerate(items, 1):
        data: dict[str, Json] = {
            "item": item.id,
            "test": item.test,
            "question": item.question,
            "task": item.task,
            "before": item.before,
            "after": item.after,
            "rubric": item.rubric,
            "generator": item.generator,
            "choices": [{"value": label} for label in item.labels],
        }
        predicted = [_result("label", item.target)] if mode == "assisted" and item.target else []
        task: dict[str, Json] = {
            "id": number,
            "data": data,
            "predictions": [{"model_version": item.generator, "result": predicted}] if predicted else [],
            "annotations": [_annotation(one, edited_text(one, revisions)) for one in said.get(item.id, ())],
        }
        yield before + json_line(task)
        before = ","
    yield "]" if before == "," else "[]"


def _annotation(decision: ReviewDecision, text: str) -> dict[str, Any]:
    given = {
        "decision": "" if decision.kind == "skip" else decision.kind,
        "label": decision.label,
        "text": text,
        "reason": decision.reason or "",
        "comment": decision.comment,
    }
    name = decision.reviewer
    return {
        "completed_by": {"username": name, **({"email": name} if "@" in name else {})},
        "was_cancelled": decision.kind == "skip",
        "created_at": decision.at,
        "lead_time": None if decision.milliseconds is None else decision.milliseconds / 1000,
        "result": [_result(kind, value) for kind, value in given.items() if value],
    }


def _result(name: str, value: str) -> dict[str, Any]:
    kind = "choices" if name in CHOICES else "textarea"
    held = {"choices": [value]} if kind == "choices" else {"text": [value]}
    return {"from_name": name, "to_name": LABELLED_FIELD, "type": kind, "value": held}


def read_label_studio(file: Path) -> Iterator[ForeignDecision]:
    """The decisions in a list of tasks."""
    for place, task in json_list(file):
        data, annotations = task.get("data"), task.get("annotations") or []
        if not isinstance(data, dict) or not isinstance(annotations, list):
            raise BadLine(place, "expected an object `data` and a list `annotations`")
        for annotation in annotations:
            if not isinstance(annotation, dict):
                raise BadLine(place, "annotations: expected objects")
            yield _foreign(text_of(data, "item", place), annotation, place)


def _foreign(item: str, annotation: Mapping[str, Any], place: str) -> ForeignDecision:
    given = _given(annotation.get("result"), place)
    kind = "skip" if annotation.get("was_cancelled") is True else given.get("decision", "")
    if not kind:
        raise BadLine(place, f"no decision is given; expected one of {', '.join(get_args(DecisionKind))}")
    reason = given.get("reason", "") or ("other" if kind == "reject" else "")
    return ForeignDecision(
        place=place,
        item=item,
        person=_person(annotation.get("completed_by"), place),
        kind=cast("DecisionKind", one_of(kind, DecisionKind, "decision", place)),
        label=given.get("label", ""),
        reason=cast("Reason", one_of(reason, Reason, "reason", place)) if reason else None,
        comment=given.get("comment", ""),
        text=given.get("text", ""),
        at=text_of(annotation, "created_at", place),
        milliseconds=_milliseconds(annotation.get("lead_time")),
    )


def _milliseconds(seconds: object) -> int | None:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < 1e6:
        return None
    return round(1000 * seconds)


def _given(results: object, place: str) -> dict[str, str]:
    """What was chosen or written in each control, by its name; the last one if there are several."""
    found: dict[str, str] = {}
    for result in results if isinstance(results, list) else ():
        if not isinstance(result, dict) or not isinstance(result.get("value"), dict):
            raise BadLine(place, "result: expected objects with a value")
        held = result["value"].get("choices" if result.get("type") == "choices" else "text")
        texts = held if isinstance(held, list) else [held]
        if texts and isinstance(texts[-1], str):
            if len(texts[-1]) > LONGEST_TEXT:
                raise BadLine(place, f"a text of {len(texts[-1]):,} characters, allowed: {LONGEST_TEXT:,}")
            found[str(result.get("from_name"))] = texts[-1]
    return found


def _person(completed_by: object, place: str) -> str:
    """The person's name, whether given as an id, an e-mail address, or an object with either."""
    if isinstance(completed_by, dict):
        names = (completed_by.get(key) for key in ("username", "email", "id"))
        completed_by = next((name for name in names if name), None)
    if isinstance(completed_by, str | int) and not isinstance(completed_by, bool):
        return str(completed_by)
    raise BadLine(place, "completed_by: expected a name, an e-mail address or an id")
