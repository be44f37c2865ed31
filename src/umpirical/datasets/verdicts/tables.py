"""A table of verdicts: CSV, JSON Lines or Parquet, with columns that a person names, or that are guessed by name."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from umpirical.datasets.readers import Row, missing_column
from umpirical.datasets.values import is_missing, plain_text
from umpirical.datasets.verdicts.past_verdicts import (
    PASSING,
    UNCLEAR,
    Asking,
    PastVerdict,
    VerdictFile,
    choice_of,
    content_of,
    grade_of,
    orders_of,
    table_rows,
    unclear,
)
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.scales import JudgeKind
from umpirical.domain.trials import Order

NAMES = {
    "verdict": ("verdict", "winner", "decision", "choice", "judgment", "judgement", "grade", "score", "rating"),
    "item": ("item", "item_id", "pair_id", "example_id", "sample_id", "question_id", "id"),
    "order": ("order", "swapped", "is_swapped", "reversed", "flipped", "position"),
    "repeat": ("repeat", "repetition", "rep", "run", "trial", "epoch", "sample"),
    "label": ("label", "gold", "human", "reference", "truth", "expected", "target"),
    "judge": ("judge", "judge_name", "judge_model", "grader", "evaluator", "scorer", "model"),
    "task": ("task", "task_id", "cluster", "question", "question_id", "prompt_id"),
}
"""What columns are called, by role, likeliest names first."""

UNORDERED = (
    "No column gives the order of the answers. Umpirical assumes that all rows number the answers as the label does."
)


def read_table(path: Path, asking: Asking, form: str) -> VerdictFile:
    return read_rows(list(table_rows(path, form)), asking, path.name)


def read_rows(rows: Sequence[Row], asking: Asking, name: str) -> VerdictFile:
    known = list(dict.fromkeys(column for row in rows for column in row.values))
    columns = chosen_columns(asking.columns, known, NAMES, required=("verdict", "item"), name=name)
    kind: JudgeKind = asking.kind or ("compare" if "order" in columns else "grade")
    orders = _orders(rows, columns, name) if kind == "compare" else {}
    if kind == "grade":
        _refuse_unclear(rows, [columns[role] for role in ("verdict", "label") if role in columns])
    verdicts = [_verdict(row, columns, kind, orders) for row in rows]
    unordered = [UNORDERED] if kind == "compare" and "order" not in columns else []
    strangers = _no_word_in_common(verdicts) if kind == "grade" else []
    return VerdictFile("table", kind, tuple(verdicts), notes=(_read_as(columns, kind), *unordered, *strangers))


def _refuse_unclear(rows: Iterable[Row], columns: Sequence[str]) -> None:
    """Raises ConfigError if a table of passes has a word in it that may be a fail or a call that did not work."""
    found = [
        (value.strip().casefold(), row.place)
        for row in rows
        for column in columns
        if isinstance(value := row.values.get(column), str)
    ]
    if PASSING.isdisjoint(word for word, _ in found):
        return
    for word, place in found:
        if word in UNCLEAR:
            raise unclear(word, place)


def _no_word_in_common(verdicts: Sequence[PastVerdict]) -> list[str]:
    """Says so if no verdict is any of the labels: then the words differ, and not the judge and the people."""
    given = dict.fromkeys(each.given for each in verdicts if isinstance(each.given, str))
    gold = dict.fromkeys(each.gold for each in verdicts if each.gold)
    if not given or not gold or not gold.keys().isdisjoint(given):
        return []
    said, known = (", ".join(map(repr, list(words)[:3])) for words in (given, gold))
    return [
        f"No verdict is one of the labels: verdicts are {said}, labels are {known}. Check that both use the same words."
    ]


def _verdict(row: Row, columns: dict[str, str], kind: JudgeKind, orders: dict[str, Order]) -> PastVerdict:
    def value(role: str) -> object:
        return row.values.get(columns[role]) if role in columns else None

    if is_missing(value("item")):
        raise ConfigError(
            "the item is empty, so it is unknown what was judged", where=row.place, fix="fill in the item"
        )
    order, label = value("order"), value("label")
    read, gold = (choice_of, content_of) if kind == "compare" else (grade_of, _gold)
    return PastVerdict(
        judge=_text(value("judge")),
        item=_text(value("item")),
        given=read(value("verdict")),
        task=_text(value("task")),
        order=_order(order, orders) if "order" in columns else Order.AB,
        repeat=_text(value("repeat")),
        gold="" if is_missing(label) else gold(label),
        strata={columns["stratum"]: _text(value("stratum"))} if "stratum" in columns else {},
    )


def chosen_columns(
    said: Mapping[str, str],
    known: Sequence[str],
    names: Mapping[str, Sequence[str]],
    *,
    required: Sequence[str],
    name: str,
) -> dict[str, str]:
    """Returns the column of each role. A person's word is not questioned, and a guess takes no column twice."""
    for column in said.values():
        if column not in known:
            raise missing_column(column, known, where=name)
    columns, folded = dict(said), {column.strip().casefold(): column for column in reversed(known)}
    for role, likely in names.items():
        free = (folded[each] for each in likely if each in folded and folded[each] not in columns.values())
        if role not in columns and (found := next(free, None)) is not None:
            columns[role] = found
    for role in required:
        if role not in columns:
            listed = ", ".join(known[:30])
            raise UsageError(
                f"{name}: no column found for the {role}; columns: {listed}", fix=f"name it with --{role} COLUMN"
            )
    return columns


def _order(word: object, orders: dict[str, Order]) -> Order | None:
    return None if is_missing(word) else orders.get(plain_text(word))


def _orders(rows: Iterable[Row], columns: dict[str, str], name: str) -> dict[str, Order]:
    if "order" not in columns:
        return {}
    words = {plain_text(word) for row in rows if not is_missing(word := row.values.get(columns["order"]))}
    return orders_of(words, f"{name}, column {columns['order']}")


def _read_as(columns: dict[str, str], kind: JudgeKind) -> str:
    taken = ", ".join(f"{role} from {column!r}" for role, column in columns.items())
    return f"Read as verdicts of a {kind} judge: {taken}."


def _gold(value: object) -> str:
    found = grade_of(value)
    return found if isinstance(found, str) else ""


def _text(value: object) -> str:
    return "" if is_missing(value) else plain_text(value)
