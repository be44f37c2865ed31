"""Writes the pages of the model gallery from its records.

A page is a template in `text/`. Every number in it is a placeholder, filled in from a record. Every claim in words has
a placeholder that checks it against the record: the script stops at a claim that the record does not support.

    python docs/results/casebook/write.py            writes the pages
    python docs/results/casebook/write.py --check    fails if a page is not what the records give
"""

import argparse
import json
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import unescape
from pathlib import Path
from re import sub
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from umpirical.domain.errors import UmpiricalError, UsageError
from umpirical.domain.measures import Estimate
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.agent.record import AgentReport
from umpirical.protocols.datasheet.page import render_html
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.datasheet.report import held_to
from umpirical.protocols.datasheet.scoring_method_rules import (
    ScoringMethodRow,
    ScoringMethods,
    measure_in,
    shown_measures,
)
from umpirical.protocols.datasheet.scoring_methods import band_words, render_scoring_methods_html
from umpirical.protocols.datasheet.spec import PRESETS, preset
from umpirical.protocols.protocol import StudySpec
from umpirical.reports import numbers
from umpirical.reports.decision import TITLES
from umpirical.reports.record import AuditRow, CheckRecord, MeasureRecord
from umpirical.study.file import read_study

HERE = Path(__file__).resolve().parent
TEMPLATE = ".md.jinja"
WIDTH = 120
BASELINE = "baseline"
READER = "strong-reader"
"""A judge that no server runs: recorded answers of a reader. Its record and page are in a folder of that name."""


TITLES_TODAY = {
    "dark-current": "Blank-input preference",
    "raw-false-preference": "False preference",
    "positional-false-preference": "Position bias",
    "stable-cross-sensitivity": "Wording bias",
    "one-sided-commit": "Winner in one order only",
    "slot-1-rate": "First position picked",
    "slot-2-rate": "Second position picked",
    "slot-effect": "Position effect",
    "slot-bias": "Position pull",
    "tie-place-effect": "Effect of the tie's place",
    "target-sensitivity": "Accuracy",
    "both-orders-sensitivity": "Accuracy in both orders",
    "figure-sensitivity": "Accuracy on figures",
    "conflict-loss": "Picks the longer, worse answer",
    "conflict-excess": "Length-conflict error",
}
"""For people. A record keeps the titles of its day, and a measure that is not here keeps that of its record."""

OUTCOMES = {"PASS": "passes", "FAIL": "fails", "INCONCLUSIVE": "inconclusive"}

UNITS = {"crossed_pair": "crossed pair"}


class NotBorneOut(UmpiricalError):
    """A record does not say what the text says."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model whose judges are in the casebook."""

    name: str
    """Of its study and its page; judges are called by it too."""
    title: str
    """As its makers call it."""
    file: str
    """The quantisation of the GGUF file, which was served as it is."""
    sha256: str
    """Of that file."""
    backend: str
    """That of llama.cpp for the CPU it was served on."""
    threads: int


MODELS = (
    Model(
        "smollm2-135m",
        "SmolLM2-135M-Instruct",
        "Q4_1",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "cascadelake",
        1,
    ),
    Model(
        "qwen2.5-coder-0.5b",
        "Qwen2.5-Coder-0.5B-Instruct",
        "Q4_K_M",
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        "skylakex",
        2,
    ),
    Model(
        "qwen2.5-coder-1.5b",
        "Qwen2.5-Coder-1.5B-Instruct",
        "Q4_K_M",
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        "skylakex",
        2,
    ),
)
"""From the smallest on. Only those that have a record are in the pages."""


class Casebook:
    """The records, and what a template may ask of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sheet = cache(self._sheet)
        self.scoring_methods = cache(self._scoring_methods)
        self.auditor = cache(self._auditor)
        self.writers = cache(self._writers)

    def models(self) -> list[Model]:
        """Those whose judge has a record."""
        return [model for model in MODELS if self.has(model.name)]

    def crossed(self) -> list[Model]:
        """Of these, those that were asked about the crossed ladders: the only ones that may share a table."""
        return [model for model in self.models() if self._find(model.name, "task-following", "")]

    def earlier(self) -> list[Model]:
        """The others, which were asked about the ladder of fillers."""
        return [model for model in self.models() if model not in self.crossed()]

    def judges(self) -> list[str]:
        """Each has the name of its model, of its study and of its record."""
        return [model.name for model in self.models()]

    def has(self, record: str) -> bool:
        return (self.folder / "records" / f"{record}.json").is_file()

    def figure(self, record: str, name: str, stratum: str = "", **where: str) -> str:
        """A value with its interval and counts, or why there is none."""
        value, counts = _in_words(self._measure(record, name, stratum, **where))
        return f"{value} ({counts})" if counts else value

    def cell(self, record: str, name: str, stratum: str = "", **where: str) -> str:
        """The same, in two lines of a table's cell; a table may ask for what was not measured."""
        measure = self._find(record, name, stratum, **where)
        return "not measured" if measure is None else "<br>".join(filter(None, _in_words(measure)))

    def read_later(self) -> int:
        """How many of the reader's answers were added to the recorded ones."""
        return len(json.loads((self.folder / READER / "verdicts.json").read_text(encoding="utf-8")))

    def under(self, record: str) -> dict[str, str]:
        """The verdict under each policy that is shipped."""
        held = {name: held_to(self.sheet(record), preset(name)).decision for name in PRESETS}
        return {name: "none" if decision is None else decision.title for name, decision in held.items()}

    def decision(self, record: str) -> str:
        decision = self.sheet(record).decision
        return "none" if decision is None else TITLES[decision.verdict]

    def own_checks(self, record: str) -> list[CheckRecord]:
        """What the policy holds the judge to, with its own instruction."""
        return [check for check in self.sheet(record).checks if check.variant == BASELINE]

    def held(self, record: str, name: str, stratum: str = "") -> str:
        """The outcome of a check, and the value with the bound that decides it, in two lines of a table's cell."""
        check, measure = self._check(record, name, stratum), self._measure(record, name, stratum)
        outcome, result = OUTCOMES[check.verdict], measure.result
        if not isinstance(result, Estimate) or check.bound is None:
            return f"{outcome}<br>{_in_words(measure)[0]}"
        side = "at least" if (check.verdict == "FAIL") == (check.kind == "at_most") else "at most"
        bound = numbers.scaled(check.bound, measure.scale)
        return f"{outcome}<br>{numbers.measured_value(measure, result)}, {side} {bound}"

    def checks(self, record: str) -> str:
        """How many checks the judge passed, failed and left open."""
        found = [check.verdict for check in self.own_checks(record)]
        passed, failed, unclear = (found.count(outcome) for outcome in OUTCOMES)
        return f"It passes {passed} of {len(found)} checks, fails {failed} and is inconclusive on {unclear}."

    def whole(self, record: str, names: Sequence[str]) -> str:
        """Nothing to read. Stops unless these shares have one denominator and add up to 1."""
        results = [self._measure(record, name, "").result for name in names]
        found = [one for one in results if isinstance(one, Estimate)]
        counted = {one.denominator for one in found}
        if len(found) < len(names) or len(counted) != 1 or sum(one.numerator for one in found) != counted.pop():
            raise NotBorneOut(f"{record}: {', '.join(names)} do not add up to 1, and the text says so")
        return ""

    def adds_up(self, record: str, *names: str) -> str:
        """Nothing to read. Stops unless these values add up to 1."""
        least = sum(_ends(self._measure(record, name, ""))[2] for name in names)
        return self.same(round(least, 9), 1.0)

    def even(self, record: str, one: str, other: str, stratum: str = "") -> str:
        """Nothing to read. Stops unless two measures of a part have the same value."""
        return self.same(*(_ends(self._measure(record, name, stratum))[2] for name in (one, other)))

    def other_variants(self, record: str) -> list[str]:
        return [variant for variant in self.sheet(record).run.variants if variant != BASELINE]

    def probed(self, record: str, measures: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Of these measures, those that have a value under another instruction: a probe is asked at some steps only."""
        found = [m for m in self.sheet(record).measures if m.variant != BASELINE and isinstance(m.result, Estimate)]
        return [key for key in measures if measure_in(found, *key)]

    def is_step(self, stratum: str) -> bool:
        """Whether it is a quality difference, and not a part that has a name."""
        return stratum.replace(".", "", 1).isdecimal()

    def band(self, row: ScoringMethodRow) -> str:
        return "none" if row.band is None else band_words(row.band)

    def title(self, record: str, name: str) -> str:
        recorded = next(measure.title for measure in self.sheet(record).measures if measure.name == name)
        return TITLES_TODAY.get(name, recorded)

    def strata(self, record: str, name: str, *, variant: str = BASELINE) -> list[str]:
        """Of what is measured by part of the design, the parts."""
        return [m.stratum for m in self.sheet(record).measures if (m.name, m.variant) == (name, variant) and m.stratum]

    def claim(  # noqa: PLR0913  # what is claimed, and four ways to claim it
        self,
        record: str,
        name: str,
        stratum: str = "",
        *,
        at_least: float | None = None,
        at_most: float | None = None,
        above: float | None = None,
        below: float | None = None,
        **where: str,
    ) -> str:
        """Nothing to read. Stops unless the value is `at_least` or `at_most`, the whole interval `above` or `below`."""
        measure = self._measure(record, name, stratum, **where)
        low, high, least, most = _ends(measure)
        tests = {
            f"at least {at_least}": at_least is None or least >= at_least,
            f"at most {at_most}": at_most is None or most <= at_most,
            f"wholly above {above}": above is None or low > above,
            f"wholly below {below}": below is None or high < below,
        }
        if all(check is None for check in (at_least, at_most, above, below)):
            raise UsageError(f"a claim about {name} claims nothing", fix="give at_least, at_most, above or below")
        for claimed, holds in tests.items():
            if not holds:
                raise NotBorneOut(
                    f"{record}: {name} {stratum} is {_in_words(measure)[0]}, and the text claims {claimed}"
                )
        return ""

    def same(self, found: object, claimed: object) -> str:
        """Nothing to read. Stops unless a part of a record is what the text says."""
        if found != claimed:
            raise NotBorneOut(f"the record says {found!r}, and the text claims {claimed!r}")
        return ""

    def calls(self, record: str, variant: str, outcome: str = "") -> int:
        """Calls of a variant that came to an outcome: to any, or to one of them."""
        rows = [row for row in self.sheet(record).audit if row.variant == variant]
        return sum(getattr(row, outcome) if outcome else _asked(row) for row in rows)

    def verdicts(self, record: str, variant: str) -> int:
        return sum(self.calls(record, variant, outcome) for outcome in ("position_1", "position_2", "tie"))

    def pace(self, record: str) -> str:
        """How long a call took, in the middle."""
        spend = self.sheet(record).spend
        taken = None if spend is None else spend.latency_p50_ms
        return "not known" if taken is None else numbers.milliseconds(taken)

    def reason(self, record: str, name: str, stratum: str = "", **where: str) -> str:
        """Why a measure has no value."""
        result = self._measure(record, name, stratum, **where).result
        if isinstance(result, Estimate):
            raise NotBorneOut(f"{record}: {name} has a value, and the text says why it has none")
        return result.reason

    def scoring_method_rows(self, record: str) -> list[ScoringMethodRow]:
        return self.scoring_methods(record).rows

    def study(self, model: str) -> StudySpec:
        spec: StudySpec = read_study(self.folder / "studies" / model).spec
        return spec

    def audited(self, name: str, stratum: str = "") -> str:
        """A value of the judge of agents with its interval and counts, or why there is none."""
        found = [one for one in self.auditor().measures if (one.name, one.stratum, one.group) == (name, stratum, "")]
        if len(found) != 1:
            raise NotBorneOut(f"agents: there is no {name} {stratum}, and the text speaks of it")
        value, counts = _in_words(found[0])
        return f"{value} ({counts})" if counts else value

    def asked_of(self, role: str) -> list[dict[str, Any]]:
        """What a role of the rewriting was asked, in order, with the answer in `said` and its transcript in `of`."""
        known = {one["name"]: one for one in self.writers()["transcripts"]}
        calls = [call for call in self.writers()["calls"] if call["role"] == role]
        return [{**call, "said": json.loads(call["text"]), "of": known[call["transcript"]]} for call in calls]

    def aims(self) -> list[tuple[int, int]]:
        """The messages that plans were aimed at, each with the number of the transcript's last message."""
        plans = self.asked_of("planner")
        return [(step["message"], plan["of"]["messages"]) for plan in plans for step in plan["said"]["steps"]]

    def votes(self, about: str, deserved: str = "") -> list[str]:
        """Verdicts of the verifier about `original` or `rewritten` transcripts, whose original deserves this one."""
        votes = [vote for vote in self.asked_of("verifier") if vote["about"] == about]
        return [vote["said"]["status"] for vote in votes if deserved in ("", vote["of"]["deserves"])]

    def dropped(self, words: str) -> int:
        """Attempts that were dropped for a reason."""
        return sum(words in attempt["rejected"] for attempt in self.writers()["attempts"])

    def _check(self, record: str, name: str, stratum: str) -> CheckRecord:
        (found,) = (one for one in self.own_checks(record) if (one.measure, one.stratum) == (name, stratum))
        return found

    def _measure(self, record: str, name: str, stratum: str, **where: str) -> MeasureRecord:
        found = self._find(record, name, stratum, **where)
        if found is None:
            raise NotBorneOut(f"{record}: there is no {name} {stratum} {where or ''}, and the text speaks of it")
        return found

    def _find(
        self,
        record: str,
        name: str,
        stratum: str,
        *,
        variant: str = BASELINE,
        scoring_method: str = "",
        on: str = "reported_on",
    ) -> MeasureRecord | None:
        """A measure of the judge in one variant; of a scoring method, `reported_on`, `chosen_on` or `against_text`."""
        if not scoring_method:
            return measure_in([m for m in self.sheet(record).measures if m.variant == variant], name, stratum)
        (row,) = (row for row in self.scoring_method_rows(record) if row.name == scoring_method)
        return measure_in(getattr(row, on), name, stratum)

    def _sheet(self, record: str) -> Datasheet:
        file = f"{READER}/datasheet.json" if record == READER else f"records/{record}.json"
        return Datasheet.model_validate_json((self.folder / file).read_text(encoding="utf-8"))

    def _scoring_methods(self, record: str) -> ScoringMethods:
        file = self.folder / "records" / f"{record}.scoring-methods.json"
        return ScoringMethods.model_validate_json(file.read_text(encoding="utf-8"))

    def _auditor(self) -> AgentReport:
        return AgentReport.model_validate_json((self.folder / "agents" / "judge.json").read_text(encoding="utf-8"))

    def _writers(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "agents" / "writers.json").read_text(encoding="utf-8"))
        return found


def render_pages(folder: Path) -> dict[Path, str]:
    """Every page by its path, written anew from the records."""
    book = Casebook(folder)
    texts = Environment(
        loader=FileSystemLoader(folder / "text"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701  # Markdown, from records of our own
    )
    texts.globals |= {"book": book, "numbers": numbers}
    return {
        folder / f"{path.name.removesuffix(TEMPLATE)}.md": wrapped(texts.get_template(path.name).render())
        for path in sorted((folder / "text").glob(f"*{TEMPLATE}"))
    }


def render_html_pages(folder: Path) -> dict[Path, str]:
    """The pages of the records, in the words of this version."""
    book, pages = Casebook(folder), folder / "pages"
    found = {folder / READER / "datasheet.html": render_html(in_words_of_today(book.sheet(READER)))}
    for name in book.judges():
        found[pages / f"{name}.html"] = render_html(in_words_of_today(book.sheet(name)))
        scoring_methods = (folder / "records" / f"{name}.scoring-methods.json").read_text(encoding="utf-8")
        found[pages / f"{name}.scoring-methods.html"] = render_scoring_methods_html(
            ScoringMethods.model_validate_json(scoring_methods)
        )
    return found


def in_words_of_today(sheet: Datasheet) -> Datasheet:
    """The numbers of a record, held to the policy of its day. The record itself keeps its words."""
    specs = {measure.name: MEASURES.get(measure.name) for measure in sheet.measures}
    named = [
        measure.model_copy(update={"title": specs[measure.name].title, "about": specs[measure.name].about})
        for measure in sheet.measures
    ]
    return held_to(sheet.model_copy(update={"measures": named}), sheet.policy or preset())


def faults(folder: Path) -> Iterator[str]:
    """What is not as the records have it."""
    pages = render_pages(folder)
    for path, text in pages.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            yield f"{path.name} is not what the records give"
    for path in sorted(set(folder.glob("*.md")) - set(pages)):
        yield f"{path.name} has no template"
    for record in Casebook(folder).judges():
        yield from _other_numbers(folder, record)
    measures = Casebook(folder).sheet(READER).measures
    yield from _missing(folder / READER / "datasheet.html", [one for one in measures if not one.stratum])


def _other_numbers(folder: Path, record: str) -> Iterator[str]:
    """Figures of a record that its page does not show."""
    book = Casebook(folder)
    sheet = book.sheet(record)
    yield from _missing(folder / "pages" / f"{record}.html", [one for one in sheet.measures if not one.stratum])
    rows = book.scoring_method_rows(record)
    found = [measure_in(row.reported_on, *key) for row in rows for key in shown_measures(rows)]
    yield from _missing(folder / "pages" / f"{record}.scoring-methods.html", [one for one in found if one])


def _missing(page: Path, measures: Sequence[MeasureRecord]) -> Iterator[str]:
    if not page.is_file():
        yield f"{page.name} is not there"
        return
    shown = unescape(sub(r"<[^>]*>", "", page.read_text(encoding="utf-8")))
    for measure in measures:
        result = measure.result
        if isinstance(result, Estimate):
            figures = (numbers.measured_value(measure, result), numbers.measured_interval(measure, result.interval))
            yield from (f"{page.name} has no {figure} for {measure.name}" for figure in figures if figure not in shown)


def wrapped(text: str) -> str:
    """The text with its paragraphs and list items filled anew, since figures are longer than their placeholders."""
    return sub(r"\n{3,}", "\n\n", "".join(_lines(text))).strip() + "\n"


def _lines(text: str) -> Iterator[str]:
    """Headings, tables, code and empty lines as they are, and what lies between them filled."""
    running: list[str] = []
    fenced = False
    for line in text.splitlines():
        fence = line.startswith("```")
        as_it_is = fenced or fence or not line.strip() or line[0] in "|#<"
        fenced ^= fence
        if as_it_is or line.startswith("- "):
            yield _filled(running)
            running = []
        if as_it_is:
            yield f"{line.rstrip()}\n"
        else:
            running.append(line)
    yield _filled(running)


def _filled(lines: Sequence[str]) -> str:
    """A paragraph or a list item; nothing if there are no lines."""
    text = " ".join(" ".join(lines).split())
    indent = "  " if text.startswith("- ") else ""
    filled = textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return f"{filled}\n" if filled else ""


def _in_words(measure: MeasureRecord) -> tuple[str, str]:
    """The value with its interval, and what was counted; or the reason, and nothing."""
    result = measure.result
    if not isinstance(result, Estimate):
        return f"undefined: {result.reason}", ""
    value = numbers.measured_value(measure, result)
    checks = numbers.measured_interval(measure, result.interval) if result.interval else ""
    unit = UNITS.get(result.unit, result.unit)
    counts = f"{numbers.measured_counts(measure, result)} {numbers.units(unit, result.denominator)}"
    return f"{value} {checks}".strip(), counts


def _ends(measure: MeasureRecord) -> tuple[float, float, float, float]:
    """Interval and value, so that nothing can be claimed of what is not known: (low, high, value, value)."""
    result, far = measure.result, float("inf")
    if not isinstance(result, Estimate):
        return -far, far, -far, far
    low, high = (result.interval.low, result.interval.high) if result.interval else (None, None)
    least = -far if result.censoring == "left" else result.value
    most = far if result.censoring == "right" else result.value
    return -far if low is None else low, far if high is None else high, least, most


def _asked(row: AuditRow) -> int:
    return row.planned - row.unasked


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes or checks the pages; 1 if they are not as they should be."""
    parser = argparse.ArgumentParser(description="Writes the pages of the model gallery from its records.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page differs")
    parser.add_argument("--folder", type=Path, default=HERE, help="the casebook (default: the one this file is in)")
    options = parser.parse_args(arguments)
    try:
        if not options.check:
            for path, text in {**render_html_pages(options.folder), **render_pages(options.folder)}.items():
                path.write_text(text, encoding="utf-8")
        found = list(faults(options.folder))
    except NotBorneOut as error:
        found = [str(error)]
    for fault in found:
        sys.stderr.write(f"{fault}\n")
    if found:
        sys.stderr.write("change the text to what the record says, and run python docs/results/casebook/write.py\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
