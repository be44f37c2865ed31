"""Reviews in the formats of Argilla and Label Studio, and decisions in files of the Judge Reliability Harness."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args
from uuid import NAMESPACE_URL, uuid5

from umpirical.datasets.readers import READERS, Row, Source, format_of
from umpirical.datasets.values import is_missing, number_of, plain_text
from umpirical.domain.digests import Json
from umpirical.domain.reviews import DecisionKind, Reason, ReviewDecision, ReviewItem, ReviewMode
from umpirical.review.exchange.files import BadLine, json_line, json_lines, json_list, text_of
from umpirical.review.people import LONGEST_NAME, is_name
from umpirical.review.records import LONGEST_TEXT, Revision


@dataclass(frozen=True, slots=True)
class ForeignDecision:
    """What one person decided on one item, in another tool."""

    place: str
    """Where it stands in the file."""
    item: str
    person: str
    kind: DecisionKind
    label: str = ""
    reason: Reason | None = None
    comment: str = ""
    text: str = ""
    """The whole text as an edit leaves it."""
    at: str = ""
    """UTC, ISO 8601; empty if the file does not say."""
    milliseconds: int | None = None


def one_of(value: str, allowed: object, what: str, place: str) -> str:
    """The value, if the Literal `allowed` has it. Raises BadLine otherwise."""
    known = get_args(allowed)
    if value not in known:
        raise BadLine(place, f"unknown {what} {value[:60]!r}; expected one of {', '.join(known)}")
    return value


def checked(said: ForeignDecision, items: Mapping[str, ReviewItem]) -> ForeignDecision:
    """The decision, if it fits: its item is in the review, the item has its label, and an edit changes the text."""
    item = items.get(said.item)
    if item is None:
        raise BadLine(said.place, f"item {said.item[:60]!r} is not in this review")
    check_name(said.person, said.place)
    keeps = said.kind in ("accept", "edit")
    if said.label and said.label not in item.labels:
        known = f"expected one of {', '.join(item.labels)}" if item.labels else "this item has no labels"
        raise BadLine(said.place, f"unknown label {said.label[:60]!r}; {known}")
    if keeps and item.labels and not said.label:
        raise BadLine(said.place, f"the label is missing; expected one of {', '.join(item.labels)}")
    if said.kind == "edit" and (not said.text.strip() or said.text == item.after):
        raise BadLine(said.place, "an edit needs a text")
    return said


def check_name(name: str, place: str) -> None:
    """Raises BadLine for a text that cannot be the name of a person."""
    if not is_name(name):
        expected = f"expected 1 to {LONGEST_NAME} printable characters, without a space at either end"
        raise BadLine(place, f"{name[:80]!r} is not a valid name: {expected}")


def current_decisions(decisions: Iterable[ReviewDecision]) -> dict[str, list[ReviewDecision]]:
    """What each person says now, by item. Undone decisions, earlier ones and adjudications are left out."""
    newest: dict[tuple[str, str], ReviewDecision] = {}
    for decision in decisions:
        if not decision.undone and not decision.adjudicates:
            newest[decision.item, decision.reviewer] = decision
    found: dict[str, list[ReviewDecision]] = {}
    for decision in sorted(newest.values(), key=lambda one: one.number):
        found.setdefault(decision.item, []).append(decision)
    return found


def edited_text(decision: ReviewDecision, revisions: Mapping[tuple[str, int], Revision]) -> str:
    """The text that a decision is about if a person wrote it; empty for the generator's."""
    return revisions[decision.item, decision.revision].text if decision.revision else ""


# Argilla's records: fields to read, questions to answer, one response per person.


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
            yield _argilla_decision(item, response, place, skipped=status == "discarded")


def _argilla_decision(item: str, response: Mapping[str, Any], place: str, *, skipped: bool) -> ForeignDecision:
    given = {name: _value(response, name, place) for name in QUESTIONS}
    kind = "skip" if skipped else given["decision"]
    if not kind:
        raise BadLine(place, f"the decision is missing; expected one of {', '.join(get_args(DecisionKind))}")
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


# Label Studio's tasks: data to show, and annotations with results, one per person.


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
            yield _label_studio_decision(text_of(data, "item", place), annotation, place)


def _label_studio_decision(item: str, annotation: Mapping[str, Any], place: str) -> ForeignDecision:
    given = _given(annotation.get("result"), place)
    kind = "skip" if annotation.get("was_cancelled") is True else given.get("decision", "")
    if not kind:
        raise BadLine(place, f"the decision is missing; expected one of {', '.join(get_args(DecisionKind))}")
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
                raise BadLine(place, f"the text has {len(texts[-1]):,} characters; the limit is {LONGEST_TEXT:,}")
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


# Perturbation files of the Judge Reliability Harness, which keep what people accepted or edited. A rejected text is
# deleted there, and an edit takes the place of the text: a row that was reviewed is one that was kept. A text that
# should keep the grade of its original, and was kept with another one, is not what its test asks for.


PERSON = "harness"
"""Who decided: the files do not say."""


def read_harness(file: Path, items: Iterable[ReviewItem]) -> tuple[list[ForeignDecision], int]:
    """Returns the decisions on items of this review, and how many are on texts that are not in it."""
    known = {(item.task, item.after): item for item in items}
    table = READERS.get(format_of(file.name, file.parent)).open(Source(file, file.name, written=str(file)))
    found: list[ForeignDecision] = []
    others = 0
    for row in table.rows:
        if _cell(row, "human_reviewed").lower() not in ("true", "1", "1.0"):
            continue
        text = _cell(row, "generation_response").strip("\r\n")
        item = known.get((_cell(row, "original_request"), text))
        if item is None:
            others += 1
        else:
            found.append(_harness_decision(row, item))
    return found, others


def _harness_decision(row: Row, item: ReviewItem) -> ForeignDecision:
    said, before = _cell(row, "validation_score"), _cell(row, "original_expected")
    if item.labels:
        return ForeignDecision(row.place, item.id, PERSON, "accept", _harness_label(said, item.labels, row.place))
    if said and before and _harness_word(said) != _harness_word(before):
        comment = f"kept in the harness with the label {said[:60]}; its original has {before[:60]}"
        return ForeignDecision(row.place, item.id, PERSON, "reject", reason="label", comment=comment)
    return ForeignDecision(row.place, item.id, PERSON, "accept")


def _harness_word(label: str) -> str | float:
    """Returns a label as the harness compares it: True is 1, and 3.0 is 3."""
    text = {"true": "1", "false": "0"}.get(label.lower(), label)
    number = number_of(text)
    return text if number is None else number


def _cell(row: Row, column: str) -> str:
    if column not in row.values:
        raise BadLine(row.place, f"the column {column} is missing")
    return "" if is_missing(row.values[column]) else plain_text(row.values[column])


def _harness_label(said: str, labels: tuple[str, ...], place: str) -> str:
    """Returns the label that a score is: 3.0 is 3 and, of two labels, True is the higher."""
    words: Mapping[str, str] = dict(zip(("false", "true"), labels, strict=False)) if len(labels) == 2 else {}
    number = number_of(said)
    same = [label for label in labels if label == said or (number is not None and number_of(label) == number)]
    if not same and said.lower() not in words:
        raise BadLine(place, f"{said[:60]!r} is not one of {', '.join(labels)}")
    return same[0] if same else words[said.lower()]
