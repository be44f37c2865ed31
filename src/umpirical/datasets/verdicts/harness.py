"""Result files of the Judge Reliability Harness: one for each test and judge, with the label that a validator gave.

If a call fails, the harness saves the score False. Here, such a row has no verdict.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from umpirical.datasets.readers import Row, format_of
from umpirical.datasets.values import is_missing, number_of, plain_text
from umpirical.datasets.verdicts.past_verdicts import (
    Asking,
    Given,
    PassRate,
    PastVerdict,
    VerdictFile,
    grade_of,
    table_rows,
)
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.judgments import Failed, Unparsed

MARKS = frozenset({"autograder_score", "validation_score"})
"""Columns that only these files have."""

RESULTS = "_results_"
"""What stands between test and judge in the name of such a file."""

ERRORS = ("error during llm call", "error:")
"""How the reason of a score begins that stands for a failed call."""

TEST = "test_name"

WORDS = {"true": "1", "yes": "1", "y": "1", "false": "0", "no": "0", "n": "0"}
"""Words that the harness takes for numbers, so that True is the label 1."""

NOTES = (
    "The labels are those of the harness's validator, or of people who reviewed them.",
    "True, yes and 1 are the same label, as in the harness. A score that replaces a failed call is not a verdict.",
)


def read_harness(path: Path, _: Asking) -> VerdictFile:
    """Reads one file, or all result files of a folder. Several judges get one more: their majority vote."""
    files = [path] if path.is_file() else _result_files(path)
    verdicts: list[PastVerdict] = []
    passes: list[PassRate] = []
    for file in files:
        judge, rows = file.stem.partition(RESULTS)[2], list(table_rows(file, format_of(file.name, file.parent)))
        by_test: defaultdict[str, list[Row]] = defaultdict(list)
        for row in rows:
            _check(row)
            by_test[_test(row, file)].append(row)
        for test, held in by_test.items():
            verdicts += (_verdict(row, judge, test) for row in held)
            passes.append(PassRate(judge, test, _passed(held), len(held)))
    verdicts += list(_majority(verdicts))
    return VerdictFile("harness", "grade", tuple(verdicts), notes=NOTES, passes=tuple(passes))


def _result_files(folder: Path) -> list[Path]:
    found = [each for each in folder.glob(f"*{RESULTS}*") if each.suffix.lower() in (".csv", ".xlsx")]
    if not found:
        fix = f"name a folder with files such as label_flip{RESULTS}MODEL.csv"
        raise UsageError(f"{folder} has no result files", fix=fix)
    return sorted(found)


def _test(row: Row, file: Path) -> str:
    said = row.values.get(TEST)
    return (file.stem.partition(RESULTS)[0] if is_missing(said) else plain_text(said)) or "all"


def _check(row: Row) -> None:
    if missing := sorted(MARKS - row.values.keys()):
        fix = "name a file that the harness has written as TEST_results_JUDGE.csv"
        raise ConfigError(f"the column {missing[0]} is missing", where=row.place, fix=fix)


def _verdict(row: Row, judge: str, test: str) -> PastVerdict:
    name = next((value for column in ("perturbed_idx", "original_idx") if (value := _text(row, column))), row.place)
    gold = grade_of(_normal(row.values["validation_score"]))
    given: Given = grade_of(_normal(row.values["autograder_score"]))
    if _is_error(row, "autograder_reasoning"):
        given = Failed("judge-error", _text(row, "autograder_reasoning")[:200])
    return PastVerdict(
        judge,
        f"{test} {name}",
        given,
        task=_text(row, "original_idx"),
        gold=gold if isinstance(gold, str) and not _is_error(row, "validation_reasoning") else "",
        strata={TEST: test},
    )


def _text(row: Row, column: str) -> str:
    value = row.values.get(column)
    return "" if is_missing(value) else plain_text(value)


def _is_error(row: Row, column: str) -> bool:
    return _text(row, column).strip().lower().startswith(ERRORS)


def _normal(value: object) -> object:
    """Returns a score in the words in which the harness compares it: True is 1, and 3.0 is 3."""
    if isinstance(value, bool):
        return str(int(value))
    if not isinstance(value, str | int | float) or is_missing(value):
        return value
    text = plain_text(value).strip()
    number = number_of(text)
    return WORDS.get(text.lower(), text) if number is None else f"{number:.17g}"


def _passed(rows: Sequence[Row]) -> int:
    """Returns how many rows the harness counts as passed: errors are the score False, and count as well.

    If scores and labels mix numbers and words, it counts every word as 0.
    """
    pairs = [tuple(_normal(row.values[column]) for column in ("autograder_score", "validation_score")) for row in rows]
    kinds = [{number_of(str(pair[side])) is None for pair in pairs} for side in (0, 1)]
    if len(kinds[0] | kinds[1]) > 1:
        return sum(int(_number(given)) == int(_number(label)) for given, label in pairs)
    return sum(given == label and not is_missing(given) for given, label in pairs)


def _number(value: object) -> float:
    return number_of(str(value)) or 0.0


# A majority vote of several judges on the same items.

MAJORITY = "majority vote"


def _majority(verdicts: Iterable[PastVerdict]) -> Iterator[PastVerdict]:
    """Yields the majority vote on each item. An item without a majority of all judges has no verdict."""
    by_item: dict[str, dict[str, PastVerdict]] = {}
    judges = set()
    for verdict in verdicts:
        judges.add(verdict.judge)
        # Of repeats, the first one votes.
        by_item.setdefault(verdict.item, {}).setdefault(verdict.judge, verdict)
    if len(judges) < 2:
        return
    for votes in by_item.values():
        said = Counter(vote.given for vote in votes.values() if isinstance(vote.given, str))
        grade, count = said.most_common(1)[0] if said else ("", 0)
        none = Unparsed("", f"no grade has more than half of {len(judges)} votes")
        first = next(iter(votes.values()))
        yield replace(first, judge=MAJORITY, given=grade if 2 * count > len(judges) else none)
