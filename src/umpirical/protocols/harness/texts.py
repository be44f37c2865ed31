"""Perturbation files of a run of the harness: its texts, and the originals that they were made from."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from umpirical.datasets.readers import READERS, Row, Source, format_of, missing_column
from umpirical.datasets.values import is_missing, plain_text
from umpirical.datasets.verdicts.harness import ERRORS
from umpirical.protocols.stress.given import NEEDED
from umpirical.protocols.stress.spec import HARNESS_NAMES, REPEAT_TESTS

ORIGINALS, TEXTS = "originals.csv", "texts.csv"

COLUMNS = ("test_name", "original_request", "original_response", "original_expected", "generation_response")
"""Columns of a perturbation file that are read."""

PREFIX = "synthetic_"


@dataclass(slots=True)
class MovedTexts:
    """The texts of a run, as files of a study."""

    originals: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """Maps task and response of each original to its row."""
    texts: list[dict[str, str]] = field(default_factory=list)
    tests: dict[str, int] = field(default_factory=dict)
    """How many texts there are of each test, by the harness's name."""
    reviewed: list[tuple[Path, int]] = field(default_factory=list)
    """Files with texts that people have kept, and how many."""
    lost: Counter[str] = field(default_factory=Counter[str])
    """Rows that are not used, by reason."""

    def originals_table(self, *, labelled: bool) -> str:
        """Returns the originals as CSV, without their labels if a judge has given them."""
        rows = list(self.originals.values())
        return _csv(rows if labelled else [row | {"expected": ""} for row in rows])

    def texts_table(self, spelled: Callable[[str], str]) -> str:
        """Returns the texts as CSV, with their targets as the scale spells them."""
        return _csv([text | {"target": spelled(text["target"])} for text in self.texts])


def perturbation_files(folder: Path) -> list[Path]:
    """Returns the perturbation files of a run, by the names that the harness gives them."""
    return sorted(
        path for path in folder.glob(f"{PREFIX}*") if path.suffix.lower() in (".csv", ".xlsx") and path.is_file()
    )


def moved_texts(paths: Iterable[Path]) -> MovedTexts:
    """Reads perturbation files. An error of a model that the harness has saved as a text is no text."""
    moved = MovedTexts()
    for path in paths:
        rows = [(row, _read(row, path.name)) for row in _rows(path)]
        if kept := sum(is_true(row.values.get("human_reviewed")) for row, _ in rows):
            moved.reviewed.append((path, kept))
        for row, values in rows:
            if reason := _unusable(values) or _add_original(moved, row, values):
                moved.lost[reason] += 1
                continue
            test, original = values["test_name"], (values["original_request"], values["original_response"])
            moved.tests[test] = moved.tests.get(test, 0) + 1
            given = zip(NEEDED, (test, *original, values["generation_response"]), strict=True)
            # A validator that failed has said nothing: the score that is there stands for an error.
            failed = cell_text(row.values.get("validation_reasoning")).lower().startswith(ERRORS)
            target = "" if failed else cell_text(row.values.get("validation_score"))
            moved.texts.append(dict(given) | {"target": target})
    return moved


def _add_original(moved: MovedTexts, row: Row, values: Mapping[str, str]) -> str:
    """Adds the original of a row, or returns why that cannot be."""
    request, response, label = (values[f"original_{name}"] for name in ("request", "response", "expected"))
    name = cell_text(row.values.get("original_idx"))
    added = {"original_idx": name, "request": request, "response": response, "expected": label}
    held = moved.originals.setdefault((request, response), added)
    return "" if held["expected"] == label else "its original has another label in an earlier row"


def _unusable(values: Mapping[str, str]) -> str:
    test = values["test_name"]
    if test not in HARNESS_NAMES or HARNESS_NAMES[test] in REPEAT_TESTS:
        return f"{test[:40] or 'a row'}: not a test with texts here"
    if not values["generation_response"].strip() or values["generation_response"] == "False":
        return f"{test}: the text is an error of the harness"
    return "" if values["original_response"].strip() else f"{test}: the original is empty"


def _rows(path: Path) -> Iterable[Row]:
    return READERS.get(format_of(path.name, path.parent)).open(Source(path, path.name, written=str(path))).rows


def _read(row: Row, name: str) -> dict[str, str]:
    for column in COLUMNS:
        if column not in row.values:
            raise missing_column(column, row.values, where=name)
    return {column: cell_text(row.values[column]) for column in COLUMNS}


def cell_text(value: object) -> str:
    return "" if is_missing(value) else plain_text(value)


def is_true(value: object) -> bool:
    return str(value).strip().lower() in ("true", "1", "1.0")


def _csv(rows: Sequence[Mapping[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
