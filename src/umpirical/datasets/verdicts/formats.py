"""Which formats there are, and which of them a file has."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from umpirical.datasets.verdicts.arenas import read_arena_hard, read_judgebench, read_mt_bench
from umpirical.datasets.verdicts.deepeval import read_deepeval
from umpirical.datasets.verdicts.documents import read_document, table_rows
from umpirical.datasets.verdicts.inspect_logs import read_inspect
from umpirical.datasets.verdicts.mlflow import read_mlflow
from umpirical.datasets.verdicts.past_verdict import Asking, VerdictFile
from umpirical.datasets.verdicts.promptfoo import read_promptfoo
from umpirical.datasets.verdicts.tables import read_table
from umpirical.domain.errors import UsageError

FORMATS: Mapping[str, Callable[[Path, Asking], VerdictFile]] = {
    "inspect": read_inspect,
    "deepeval": read_deepeval,
    "promptfoo": read_promptfoo,
    "mlflow": read_mlflow,
    "mt-bench": read_mt_bench,
    "arena-hard": read_arena_hard,
    "judgebench": read_judgebench,
    "csv": partial(read_table, form="csv"),
    "jsonl": partial(read_table, form="jsonl"),
    "parquet": partial(read_table, form="parquet"),
}


def read_verdicts(path: Path, asking: Asking, form: str | None = None) -> VerdictFile:
    """Reads a file of verdicts, in the format that a person names or that the file shows."""
    if not path.is_file():
        raise UsageError(f"{path} is no file", fix="name a file of verdicts")
    chosen = form or _format_of(path)
    if chosen not in FORMATS:
        raise UsageError(f"no format {chosen!r}", fix=f"one of {', '.join(FORMATS)}")
    found = FORMATS[chosen](path, asking)
    if not found.verdicts:
        raise UsageError(f"{path.name}: nothing in it was judged", fix=f"is it of the format {chosen}? See --format")
    return found


def _format_of(path: Path) -> str:
    match path.suffix.casefold():
        case ".eval":
            return "inspect"
        case ".csv":
            return "csv"
        case ".parquet":
            return "parquet"
        case ".jsonl" | ".ndjson":
            return _format_of_lines(path)
        case ".json":
            return _format_of_document(path)
        case _:
            raise UsageError(f"{path.name}: the ending says no format", fix=f"--format, one of {', '.join(FORMATS)}")


def _format_of_lines(path: Path) -> str:
    """Looks at the first row. A benchmark's file has columns that nobody else's has."""
    first = next(iter(table_rows(path, "jsonl")), None)
    columns = set(first.values) if first is not None else set()
    marks = {"mt-bench": {"g1_winner"}, "arena-hard": {"games"}, "judgebench": {"judgments", "pair_id"}}
    return next((form for form, marked in marks.items() if marked <= columns), "jsonl")


def _format_of_document(path: Path) -> str:
    found = read_document(path)
    if isinstance(found, list) or (isinstance(found, dict) and ("traces" in found or "info" in found)):
        return "mlflow"
    keys = set(found) if isinstance(found, dict) else set()
    if keys & {"testRunData", "testCases"}:
        return "deepeval"
    if {"eval", "samples"} <= keys:
        return "inspect"
    if isinstance(found, dict) and isinstance(found.get("results"), dict):
        return "promptfoo"
    raise UsageError(f"{path.name}: no format is known by its keys", fix=f"--format, one of {', '.join(FORMATS)}")
