"""Decisions in perturbation files of the Judge Reliability Harness, which keep what people accepted or edited.

A rejected text is deleted there, and an edit takes the place of the text: a row that was reviewed is one that was kept.
A text that should keep the grade of its original, and was kept with another one, is not what its test asks for.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from umpirical.datasets.readers import READERS, Row, Source, format_of
from umpirical.datasets.values import is_missing, number_of, plain_text
from umpirical.domain.reviews import ReviewItem
from umpirical.review.exchange.files import BadLine
from umpirical.review.exchange.foreign import ForeignDecision

PERSON = "harness"
"""Who decided: the files do not say."""


def read_harness(file: Path, items: Iterable[ReviewItem]) -> tuple[list[ForeignDecision], int]:
    """Returns the decisions on items of this review, and how many are on texts that are not in it."""
    known = {(item.task, item.after): item for item in items}
    table = READERS.get(format_of(file.name, file.parent)).open(Source(file, file.name, written=str(file)))
    found: list[ForeignDecision] = []
    others = 0
    for row in table.rows:
        if _text(row, "human_reviewed").lower() not in ("true", "1", "1.0"):
            continue
        text = _text(row, "generation_response").strip("\r\n")
        item = known.get((_text(row, "original_request"), text))
        if item is None:
            others += 1
        else:
            found.append(_decision(row, item))
    return found, others


def _decision(row: Row, item: ReviewItem) -> ForeignDecision:
    said, before = _text(row, "validation_score"), _text(row, "original_expected")
    if item.labels:
        return ForeignDecision(row.place, item.id, PERSON, "accept", _label(said, item.labels, row.place))
    if said and before and _plain(said) != _plain(before):
        comment = f"kept in the harness with the label {said[:60]}; its original has {before[:60]}"
        return ForeignDecision(row.place, item.id, PERSON, "reject", reason="label", comment=comment)
    return ForeignDecision(row.place, item.id, PERSON, "accept")


def _plain(label: str) -> str | float:
    """Returns a label as the harness compares it: True is 1, and 3.0 is 3."""
    text = {"true": "1", "false": "0"}.get(label.lower(), label)
    number = number_of(text)
    return text if number is None else number


def _text(row: Row, column: str) -> str:
    if column not in row.values:
        raise BadLine(row.place, f"the column {column} is missing")
    return "" if is_missing(row.values[column]) else plain_text(row.values[column])


def _label(said: str, labels: tuple[str, ...], place: str) -> str:
    """Returns the label that a score is: 3.0 is 3 and, of two labels, True is the higher."""
    words: Mapping[str, str] = dict(zip(("false", "true"), labels, strict=False)) if len(labels) == 2 else {}
    number = number_of(said)
    same = [label for label in labels if label == said or (number is not None and number_of(label) == number)]
    if not same and said.lower() not in words:
        raise BadLine(place, f"{said[:60]!r} is not one of {', '.join(labels)}")
    return same[0] if same else words[said.lower()]
