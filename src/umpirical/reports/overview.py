"""The first screen of a page: the verdict in plain words, what it rests on, what to do next, and failures to look at.

Its numbers are those of the record, written as in the tables below it.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from umpirical.domain.measures import Estimate
from umpirical.reports import numbers
from umpirical.reports.charts import DotCell, NotDrawn, limits_cell
from umpirical.reports.decision import VerdictRecord, check_name, together
from umpirical.reports.gate import of_own_prompt
from umpirical.reports.record import CheckRecord, CheckVerdict, MeasureRecord
from umpirical.reports.tiles import MARKS, Tile
from umpirical.text.diffs import Piece, changes, named, signed

COUNTED: Mapping[CheckVerdict, str] = {
    "FAIL": "failed",
    "PASS": "passed",
    "INCONCLUSIVE": "inconclusive",
    "N/A": "not measured",
}

SIGNS: Mapping[CheckVerdict, str] = {"PASS": "✓", "FAIL": "✗", "INCONCLUSIVE": "?", "N/A": "–"}

MOST_FAILURES, MOST_NAMED = 3, 4
LONGEST = 90
"""Characters of a task or an answer that are shown."""
LEAD = 24
"""How many characters before the first difference of two answers are shown."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One wrong verdict, short enough to read at a glance."""

    title: str
    task: str
    answers: tuple[tuple[str, str], ...]
    """The name and the text of each."""
    said: str
    right: str
    diff: "tuple[Piece, ...]" = ()
    """The changes to a text, with its blanks made visible; empty without any."""


@dataclass(frozen=True, slots=True)
class Step:
    """Something to do, and its command; empty without one."""

    words: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class Overview:
    """What the first screen shows besides the charts and the next steps."""

    worst: str
    """The worst failure, or what passes or is open if nothing fails: a sentence with its number."""
    others: str
    """What else fails; empty if nothing does."""
    needs: str
    """What an open verdict waits for; empty for any other."""
    blocked: tuple[str, ...]
    """Gates that the test cases failed: no verdict rests on such test cases."""
    counts: str
    tiles: tuple[Tile, ...]
    failures: tuple[Failure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRow:
    """One check, beside the value that it rests on."""

    measure: str
    part: str
    """The part of the data that it is about: a test, a stratum; empty for all."""
    title: str
    about: str
    """What the value is, inside a sentence."""
    verdict: CheckVerdict
    """As it counts."""
    decides: bool
    value: str
    """Empty if nothing was measured."""
    interval: str
    counts: str
    threshold: str
    beyond: float
    """How far the value is beyond its threshold, as a share of its scale; negative within it."""
    why: str
    more: str
    """How much more data would decide it; empty if it is decided, or if no data would."""
    anchor: str
    cell: DotCell | NotDrawn
    chance: bool = False
    """Whether it fails by itself, but not surely enough for one of so many checks."""

    @property
    def sign(self) -> str:
        return SIGNS[self.verdict]


@dataclass(frozen=True, slots=True)
class DotRow:
    """A line of a chart: one value, and what is allowed."""

    name: str
    cell: DotCell | NotDrawn
    value: str
    sign: str = ""
    word: str = ""
    href: str = ""
    note: str = ""
    """Why nothing is drawn."""


@dataclass(frozen=True, slots=True)
class Screen:
    """The first screen of a page of one judge."""

    counts: Mapping[str, int]
    """How much the judge was asked about, for the head of the page."""
    overview: Overview
    checks: tuple[CheckRow, ...]
    steps: tuple[Step, ...]
    chart: str
    """What the picture shows."""
    dots: tuple[DotRow, ...]
    note: str


def check_rows(checks: Sequence[CheckRecord], measures: Sequence[MeasureRecord]) -> list[CheckRow]:
    """Returns the checks of the own prompt, each with its measure over all of the data."""
    whole = {(one.variant, one.name, one.stratum): one for one in measures if not getattr(one, "group", "")}
    return [
        _row(check, whole.get((check.variant, check.measure, check.stratum)), f"check-{place}")
        for place, check in enumerate(of_own_prompt(checks), start=1)
    ]


def _row(check: CheckRecord, measure: MeasureRecord | None, anchor: str) -> CheckRow:
    least, most = (check.value, None) if check.kind == "at_least" else (None, check.value)
    return CheckRow(
        measure=check.measure,
        part=check.stratum,
        title=check_name(check),
        about=check_name(check, small=True),
        verdict=check.verdict,
        decides=check.essential and check.state != "made up for",
        threshold=(must := numbers.threshold(check.kind, check.value, check.measure)),
        why=check.why,
        more=more_words(check.more_needed, check.unit),
        anchor=anchor,
        **measured(measure, least, most, must),
    )


def more_words(more: int | None, unit: str | None) -> str:
    return f"about {numbers.about(more)} more {numbers.units(unit, more)}" if more is not None and unit else ""


def measured(
    measure: MeasureRecord | None,
    least: float | None,
    most: float | None,
    must: str,
    *,
    ends: tuple[float, float] | None = None,
    written: Callable[[MeasureRecord, Estimate], tuple[str, str]] | None = None,
) -> dict[str, Any]:
    """Returns what a row says of its measure. `ends`: of a scale without two; `written`: how a value is written."""
    result = measure.result if measure else None
    if measure is None or not isinstance(result, Estimate):
        return {"value": "", "interval": "", "counts": "", "beyond": 0.0, "cell": NotDrawn("not measured")}
    value, interval = (
        written(measure, result)
        if written
        else (
            numbers.measured_value(measure, result),
            numbers.measured_interval(measure, result.interval),
        )
    )
    size = (ends[1] - ends[0]) / 2 if ends else 1.0
    far = [least - result.value] if least is not None else []
    far += [result.value - most] if most is not None else []
    return {
        "value": value,
        "interval": interval,
        "counts": numbers.measured_counts(measure, result),
        "beyond": max(far, default=0.0) / size,
        "cell": limits_cell(measure, least, most, must, ends),
    }


def worst_first(rows: Sequence[CheckRow]) -> list[CheckRow]:
    """Sorts failed before open before passed. Those that decide and those furthest beyond their threshold come first.

    Those that passed keep their order.
    """

    def key(row: CheckRow) -> tuple[int, bool, float]:
        passed = row.verdict == "PASS"
        return rank(row.verdict, decides=row.decides), not passed and not row.decides, 0.0 if passed else -row.beyond

    return sorted(rows, key=key)


def rank(verdict: CheckVerdict, *, decides: bool) -> int:
    """A check without a result is open if the verdict needs it, and says nothing if it does not."""
    order: dict[CheckVerdict, int] = {"FAIL": 0, "INCONCLUSIVE": 1, "N/A": 2 if decides else 4, "PASS": 3}
    return order[verdict]


def tile_of(name: str, rows: Sequence[CheckRow], *, without: str = "the policy has no check on it") -> Tile:
    """Returns the tile of these checks: the worst of them decides."""
    if not rows:
        return Tile(
            name=name, mark="none", value="", part="", interval="", about=without, threshold="", bound="",
            anchor="decision",
        )  # fmt: skip
    row = worst_first(rows)[0]
    return Tile(
        name=name,
        mark=MARKS[row.verdict],
        value=row.value,
        part="",
        interval=row.interval,
        about=row.about if row.value else f"{row.about}: {row.why}",
        threshold=row.threshold,
        bound="",
        anchor=row.anchor,
    )


def first_screen(
    rows: Sequence[CheckRow],
    decision: VerdictRecord,
    says: Callable[[CheckRow], str],
    tiles: Sequence[Tile],
    failures: Sequence[Failure],
) -> Overview:
    """Returns the first screen. `says`: what a judge that fails a check does, with {value}; empty to name the check."""
    held = worst_first(rows)
    failed = [row for row in held if row.verdict == "FAIL"]
    waits = [row.about for row in held if row.decides and row.verdict in {"INCONCLUSIVE", "N/A"}]
    weak = list(getattr(decision, "weak_at", ()))
    others = f"It also fails on {titles([row.about for row in failed[1:]])}." if failed[1:] else ""
    return Overview(
        worst=_worst(held, says),
        others=others or (f"Weak in {titles(weak)}." if weak else ""),
        needs=f"More data is needed for {titles(waits)}." if decision.verdict == "not-enough-data" and waits else "",
        blocked=(),
        counts=counts_of([row.verdict for row in held]),
        tiles=tuple(tiles),
        failures=tuple(failures),
    )


def _worst(held: Sequence[CheckRow], says: Callable[[CheckRow], str]) -> str:
    if not held:
        return "This record has no checks."
    worst = held[0]
    match worst.verdict:
        case "FAIL":
            said = says(worst).replace("{value}", worst.value) or f"It fails on {worst.about}: {worst.value}."
            return f"{said[:-1]} (must be {worst.threshold})."
        case "INCONCLUSIVE":
            found = f"{worst.value or 'no value'} (must be {worst.threshold})"
            if worst.chance:
                return f"{capital(worst.about)} is {found}, but with this many checks that could be chance."
            return f"No check failed. {capital(worst.about)} is inconclusive: {found}."
        case "N/A":
            return f"No check failed. {capital(worst.about)} was not measured: {worst.why}."
        case "PASS":
            return passed_words([row.verdict for row in held])


MOST_DOTS = 12


def dots_of(
    named: Sequence[tuple[str, MeasureRecord | None]], row: CheckRow | None, least: float | None, most: float | None
) -> tuple[DotRow, ...]:
    """Returns the lines of a chart: the first, then the parts with the least values, each against what is allowed."""
    found = [(name, one, one.result) for name, one in named if one is not None and isinstance(one.result, Estimate)]
    first, rest = found[:1], sorted(found[1:], key=lambda each: each[2].value)
    must = row.threshold if row else ""
    return tuple(
        DotRow(name, limits_cell(one, least, most, must), numbers.measured_value(one, result))
        for name, one, result in [*first, *rest[: MOST_DOTS - 1]]
    )


def titles(names: Sequence[str]) -> str:
    """Names what checks are about, each once, and no more than a reader keeps in mind."""
    each = list(dict.fromkeys(names))
    more = len(each) - MOST_NAMED
    return together(each if more < 2 else [*each[:MOST_NAMED], f"{more} others"])


def passed_words(verdicts: Sequence[CheckVerdict]) -> str:
    """Says that no check failed; that all passed only if each was measured."""
    every = all(verdict == "PASS" for verdict in verdicts)
    return f"All {numbers.count(len(verdicts))} checks passed." if every else "No check failed."


def counts_of(verdicts: Sequence[CheckVerdict]) -> str:
    """Counts the checks by verdict, those that failed first; empty if all passed, which is said above."""
    counted, total = Counter(verdicts), len(verdicts)
    if not total or counted["PASS"] == total:
        return ""
    first, *rest = [f"{counted[verdict]} {word}" for verdict, word in COUNTED.items() if counted[verdict]]
    number, _, word = first.partition(" ")
    return " · ".join([f"{number} of {numbers.count(total)} {numbers.units('check', total)} {word}", *rest])


T = TypeVar("T")


def one_of_each(items: Sequence[T], kind: Callable[[T], object]) -> list[T]:
    """Returns the first of each kind, then the others, and no more than are shown."""
    first: dict[object, T] = {}
    for item in items:
        first.setdefault(kind(item), item)
    chosen = list(first.values())
    return [*chosen, *(item for item in items if all(item is not one for one in chosen))][:MOST_FAILURES]


def two_texts(first: str, one: str, second: str, two: str) -> tuple[tuple[str, str], ...]:
    """Returns two named answers in short, from where they differ."""
    start = where_they_differ(one, two)
    same = one == two and one.strip()
    return (first, short(one, LONGEST, start)), (second, "(the same text)" if same else short(two, LONGEST, start))


def short_diff(original: str, changed: str) -> tuple[Piece, ...]:
    """Returns the first changes of a text, with a little of what is around them."""
    found: list[Piece] = []
    room = 2 * LONGEST
    for change in changes(original, changed):
        if change.same:
            text = named(change.removed)
            text = text[:LEAD] + " … " + text[-LEAD:] if found and len(text) > 2 * LEAD else text
            pieces = [Piece("same", text if found else f"…{text[-LEAD:]}" if len(text) > LEAD else text)]
        else:
            pieces = [Piece("removed", signed(change.removed))] if change.removed else []
            pieces += [Piece("added", signed(change.added))] if change.added else []
        for piece in pieces:
            if room <= 0:
                return tuple(found)
            found.append(Piece(piece.kind, piece.text[:room] + ("…" if len(piece.text) > room else "")))
            room -= len(piece.text)
    return tuple(found)


def where_they_differ(one: str, two: str) -> int:
    """Returns where to begin with two texts: shortly before they differ, if that would not be seen otherwise."""
    differ = next((place for place, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), 0)
    return one.rfind(" ", 0, differ - LEAD) + 1 if differ > LONGEST // 2 else 0


def short(text: str, most: int = LONGEST, start: int = 0) -> str:
    """Returns a text on one line, cut to a length; blank text is described.

    >>> short("one two  three", 8), short("", 8), short("    ", 8), short("one two three", 20, 4)
    ('one two…', '(empty)', '(4 spaces)', '…two three')
    """
    if not text.strip():
        return blank_words(text)
    line = " ".join(text[start:].split())
    return f"{'…' if start else ''}{line[:most].rstrip()}{'…' if len(line) > most else ''}"


def blank_words(text: str) -> str:
    """Describes a text that shows nothing."""
    if not text:
        return "(empty)"
    size = numbers.count(len(text))
    kind = "space" if set(text) == {" "} else "blank character"
    return f"({size} {numbers.units(kind, len(text))})"


def capital(words: str) -> str:
    return words[:1].upper() + words[1:]
