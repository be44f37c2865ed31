"""A run's results for other programs: tables, pictures of its report, and a section for a model card."""

import csv
import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Estimate, Undefined, result_columns
from umpirical.registry import load_integration
from umpirical.reports import numbers
from umpirical.reports.decision import together
from umpirical.reports.pages import plain, quoted
from umpirical.reports.record import MeasureRecord, Record
from umpirical.store.files import drafted, write_text
from umpirical.store.parquet import read_rows, write_rows
from umpirical.study.results import FinishedRun, finished_run

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = ("measures", "judgments")
PICTURES = ("pdf", "png")
LOGS = ("inspect", "inspect-transcripts")
FORMS = (*TABLES, "methods", "model-card", *PICTURES, *LOGS)

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
"""Browsers that print and photograph a page without a window, by the names of their commands."""

LONGEST_PRINT = 120
"""Seconds that a browser may take."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet would run."""


class Exported(NamedTuple):
    """A file that was written, and what is in it."""

    path: Path
    what: str


def export_results(folder: Path, form: str, out: Path | None) -> Exported:
    """Measures a run again and writes one form of its results: to `out`, or into the run's folder."""
    if form not in FORMS:
        raise UsageError(f"unknown form {form!r:.40}", fix=f"choose one of: {', '.join(FORMS)}")
    if form in TABLES and out and out.suffix not in {".csv", ".parquet"}:
        raise UsageError(f"unknown table format {out.suffix!r}", fix="name a .csv or a .parquet file")
    name = folder.resolve().name
    if form in LOGS:
        log = out or folder / f"{name}{form.removeprefix('inspect')}.eval"
        path, samples = load_integration(form, "exports")(folder, log)
        return Exported(path, f"{samples:,} samples")
    browser = find_browser(folder, form) if form in PICTURES else ""
    finished = finished_run(folder)
    if form in TABLES:
        return _table(finished, form, out or folder / f"{name}-{form}.csv")
    if form in PICTURES:
        return _picture(browser, finished.documents.html, form, out or folder / f"{name}.{form}")
    path = out or folder / f"{name}-{form}.md"
    if form == "methods":
        write_text(path, methods_text(finished.record))
        return Exported(path, "a methods section")
    write_text(path, model_card(finished))
    return Exported(path, "front matter with model-index, and a section")


# Tables


def _table(finished: FinishedRun, form: str, path: Path) -> Exported:
    judgments = finished.folder / "judgments.parquet"
    if form == "judgments" and path.suffix == ".parquet":
        with drafted(path) as draft:
            shutil.copyfile(judgments, draft)
        return Exported(path, "the judgments as counted")
    if form == "measures" and path.suffix == ".parquet":
        count = write_rows(path, measure_rows(finished), _measure_schema())
    else:
        rows = measure_rows(finished) if form == "measures" else read_rows(judgments)
        count = _write_csv(path, rows)
    return Exported(path, f"{count:,} rows")


def measure_rows(finished: FinishedRun) -> Iterator[dict[str, Any]]:
    """Yields a row for each measure of the record, parts of the data included."""
    record: Any = finished.record
    for measure in [*record.measures, *getattr(record, "parts", [])]:
        yield {**_whose(finished.record), **_measured(measure)}


def _whose(record: Record) -> dict[str, Any]:
    return {
        "judge": record.judge.name,
        "model": record.judge.model,
        "run": record.run.id,
        "protocol": record.run.protocol,
    }


def _measured(measure: MeasureRecord) -> dict[str, Any]:
    result = measure.result
    return {
        "variant": measure.variant,
        "measure": measure.name,
        "title": measure.title,
        "stratum": measure.stratum,
        "group": getattr(measure, "group", ""),
        "scale": measure.scale,
        **result_columns(result),
        "excluded": sum(result.excluded.values()),
    }


def _measure_schema() -> "pa.Schema":
    import pyarrow as pa

    numbers = dict.fromkeys(("value", "low", "high", "interval_level", "numerator"), pa.float64())
    numbers |= dict.fromkeys(("denominator", "clusters", "excluded"), pa.int64())
    texts = ("judge", "model", "run", "protocol", "variant", "measure", "title", "stratum", "group", "scale")
    names = (*texts, *result_columns(Undefined("")), "excluded")
    return pa.schema([(name, numbers.get(name, pa.string())) for name in names])


def _write_csv(path: Path, rows: Iterator[dict[str, Any]]) -> int:
    count = 0
    with drafted(path) as draft, draft.open("w", newline="", encoding="utf-8", errors="replace") as file:
        writer = csv.writer(file)
        for count, row in enumerate(rows, 1):
            if count == 1:
                writer.writerow(row)
            writer.writerow(map(_cell, row.values()))
    return count


def _cell(value: object) -> object:
    """Returns a value for a cell. Text that a spreadsheet would run as a formula begins with an apostrophe."""
    if isinstance(value, Mapping):
        return json.dumps(value)
    if isinstance(value, list):
        value = "; ".join(map(str, value))
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


# A section for a model card on the Hugging Face Hub


def model_card(finished: FinishedRun) -> str:
    """Returns a model card: results as the Hub reads them, and the card of the record as a section."""
    card = finished.protocol.card(finished.record)
    body = card.split("\n---\n", 1)[1].strip()
    return "\n".join([*_index(finished.record), "", body, ""])


def _index(record: Record) -> Iterator[str]:
    """Yields the front matter. Only measures of the own prompt over all of the data are results of the model.

    The Hub has no field for counts and intervals, so the name of a result has them.
    """
    protocol = record.run.protocol.partition("/")[0]
    own = next((one.variant for one in record.measures), "")
    yield from ("---", "tags:", "- llm-as-a-judge", "- umpirical", "model-index:")
    yield from (f"- name: {quoted(record.judge.name)}", "  results:", "  - task:", "      type: text-classification")
    yield from ("      name: LLM judge", "    dataset:", f"      type: {quoted(protocol)}")
    yield from (f"      name: {quoted(record.run.protocol)}", "    metrics:")
    for measure in record.measures:
        if measure.variant != own or getattr(measure, "group", "") or not isinstance(measure.result, Estimate):
            continue
        limits = numbers.measured_interval(measure, measure.result.interval)
        counts = numbers.measured_counts(measure, measure.result)
        name = " · ".join(filter(None, [f"{measure.title} {measure.stratum}".strip(), limits, counts]))
        yield f"    - type: {quoted(measure.name)}"
        yield f"      value: {json.dumps(measure.result.value)}"
        yield f"      name: {quoted(name)}"
    yield "---"


# A methods section for a paper


def methods_text(record: Record) -> str:
    """Returns how a judge was measured, in sentences for a paper: everything in them is in the record."""
    return "\n\n".join(["## Methods", *_methods(record)]) + "\n"


def _methods(record: Record) -> Iterator[str]:
    judge, run, rows = record.judge, record.run, record.audit
    settings = ", ".join(f"{name} {value}" for name, value in judge.decoding.items() if value is not None)
    does = "compared two answers" if judge.kind == "compare" else "graded single answers"
    prompts, again = together([plain(each) for each in run.variants]), f", each {run.repeats} times"
    yield (
        f"The judge {plain(judge.name)} ({plain(judge.model)}; {plain(settings) or 'default settings'}; fingerprint "
        f"{judge.fingerprint}) {does}. It was measured with Umpirical {run.umpirical_version} (protocol "
        f"{run.protocol}) on {run.created[:10]}. The run has {numbers.count(run.trials)} calls on "
        f"{numbers.count(len(run.tasks))} {numbers.units('task', len(run.tasks))} (prompt: {prompts})"
        f"{again if run.repeats > 1 else ''}. Test cases were drawn with seed {run.seed} (digest {run.stimuli})."
    )
    counts = {name: sum(getattr(row, name) for row in rows) for name in _OUTCOMES}
    given = sum(row.planned for row in rows) - sum(counts.values())
    others = together([f"{numbers.count(count)} {_OUTCOMES[name]}" for name, count in counts.items()])
    yield (
        f"Of all calls, {numbers.count(given)} gave a verdict, {others}. Calls without a verdict are excluded from "
        "rates and counted in each table."
    )
    found = [one.result for one in record.measures if isinstance(one.result, Estimate)]
    ends = Counter(f"{one.interval.level:.0%}: {one.interval.method}" for one in found if one.interval)
    undefined = f" {_UNDEFINED}" if len(found) < len(record.measures) else ""
    yield (
        f"Calls on one task, or in one cluster of items, count as dependent. Of {numbers.count(len(record.measures))} "
        f"measures, {numbers.count(len(found))} have a value.{undefined} Intervals, with the number of measures:"
    )
    yield "\n".join(f"- {method} ({numbers.count(count)})" for method, count in ends.most_common())
    packages = together([f"{name} {each}" for name, each in run.packages.items()])
    yield (
        f"{_decided(record)}The replies have the digest {run.responses_sha256}. Computed with Python {run.python}, "
        f"{packages}. To repeat the run: `{run.command}`. Cite Umpirical as in its CITATION.cff."
    )


_OUTCOMES = {
    "abstained": "abstained",
    "unparsed": "gave a reply that could not be read",
    "failed": "failed",
    "unasked": "were not made",
}

_UNDEFINED = "The others are undefined, each with a reason in the record."


def _decided(record: Record) -> str:
    decision, policy = getattr(record, "decision", None), getattr(record, "policy", None)
    said = ""
    if decision is not None:
        said = f"The verdict “{decision.verdict}” follows from the policy {plain(decision.policy_name)}. "
    if policy is not None and hasattr(policy, "accepts"):
        said += (
            f"A judge exactly at one of its thresholds is accepted in at most {policy.accepts:.0%} of runs. A judge "
            f"within all of them is refused in at most {policy.refuses:.0%}, over all checks together. "
        )
    return said


# Pictures of a report


def find_browser(folder: Path, form: str) -> str:
    """Returns the command of a browser that can make pictures without a window."""
    if browser := next((found for name in BROWSERS if (found := shutil.which(name))), None):
        return browser
    raise UsageError(
        f"no browser found that could make a {form.upper()}",
        fix=f"install Chromium, or open the report in {folder} and print it to PDF: nothing is folded in print",
    )


def _picture(browser: str, page: Path, form: str, path: Path) -> Exported:
    """Has a browser print the page, or photograph its first screen."""
    with TemporaryDirectory(prefix="umpirical-browser-") as profile:
        written = Path(profile) / f"page.{form}"
        _run(_command(browser, form, written, profile, page), written)
        with drafted(path) as draft:
            shutil.copyfile(written, draft)
    return Exported(path, "the whole report" if form == "pdf" else "its first screen")


def _command(browser: str, form: str, written: Path, profile: str, page: Path) -> Sequence[str]:
    wanted = (
        [f"--print-to-pdf={written}", "--no-pdf-header-footer"]
        if form == "pdf"
        else [f"--screenshot={written}", "--window-size=1280,800", "--hide-scrollbars"]
    )
    # The page is our own and has no script. Chromium refuses to start as root with its sandbox.
    sandbox = ["--no-sandbox"] if os.name == "posix" and os.geteuid() == 0 else []
    quiet = ["--headless", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}/profile"]
    return [browser, *quiet, *sandbox, *wanted, page.resolve().as_uri()]


def _run(command: Sequence[str], written: Path) -> None:
    try:
        done = subprocess.run(command, capture_output=True, timeout=LONGEST_PRINT, check=False, text=True)  # noqa: S603  # a browser, on our own page
        said = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
    except subprocess.TimeoutExpired:
        said = [f"it took more than {LONGEST_PRINT} seconds"]
    except OSError as error:
        said = [str(error)]
    if not written.is_file():
        raise UsageError(
            f"{command[0]} could not make the file: {said[0]}",
            fix="open the report in a browser and print it to PDF",
        )
