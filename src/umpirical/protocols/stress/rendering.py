"""The stress report as a folder of HTML files, and as a card.

The pages have no script, fetch nothing, and show text from outside as inert text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from umpirical.domain.errors import UsageError
from umpirical.protocols.review_record import ReviewRecord, agreement_words, review_words
from umpirical.protocols.stress.heat_map import (
    INDEX,
    SIGNS,
    GroupTable,
    HeatCell,
    HeatMap,
    HeatRow,
    PassRates,
    SideRow,
    by_group,
    heat_map,
    judge_keys,
    own_measures,
    pass_rates,
    shade,
    side_by_side,
)
from umpirical.protocols.stress.overview import StressScreen, screen_of
from umpirical.protocols.stress.policy import (
    ANY_DIFFERENCE,
    SHELF,
    TestKind,
    interval_words,
    unit_words,
    value_words,
)
from umpirical.protocols.stress.record import (
    CellVerdict,
    DatasetRecord,
    MadeRecord,
    StressMeasure,
    StressReport,
    StressTest,
    WorstItem,
    WriterSpendRecord,
)
from umpirical.protocols.stress.verdicts import REPEATED, TITLES
from umpirical.reports import numbers
from umpirical.reports.overview import MOST_FAILURES, Failure
from umpirical.reports.pages import (
    Card,
    Section,
    decided_lead,
    environment,
    folds_of,
    plain,
    render_card,
    render_sections,
    sections_of,
)
from umpirical.reports.record import AuditRow
from umpirical.text.diffs import Change, changes, named, signed

# Compares two texts word by word: what was removed, what was added, and what is unchanged, folded if it is long.


FOLD_OVER, CONTEXT = 400, 140
"""Unchanged text longer than this many characters is folded, with this many left on either side of a change."""

SHOWN, SHOWN_ALONE = 3_000, 900
"""How many characters of a diff, and of a single text, are visible; the rest is behind a fold."""

Kind = Literal["same", "removed", "added"]


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """Adjacent segments, visible or behind a fold."""

    segments: tuple[Segment, ...]
    fold: str = ""
    """The label of the fold; empty if the stretch is visible."""


def compare_words(original: str, changed: str) -> tuple[Stretch, ...]:
    """Compares the changed text with the original, with invisible characters shown, folded for the page."""
    return _limited(_folded(list(changes(original, changed))), room=SHOWN)


def show_text(text: str) -> tuple[Stretch, ...]:
    """Returns one text, with invisible characters shown, folded for the page."""
    return _limited([Stretch((Segment("same", named(text)),))], room=SHOWN_ALONE)


def _folded(compared: Sequence[Change]) -> list[Stretch]:
    """Puts long unchanged text behind a fold, leaving some of it next to each change."""
    stretches: list[Stretch] = []
    open_: list[Segment] = []
    for place, change in enumerate(compared):
        if not change.same:
            open_ += [Segment("removed", signed(change.removed))] if change.removed else []
            open_ += [Segment("added", signed(change.added))] if change.added else []
            continue
        text = change.removed
        if len(text) <= FOLD_OVER:
            open_.append(Segment("same", named(text)))
            continue
        before = _edge(text[:CONTEXT], keep="start") if place else ""
        after = _edge(text[-CONTEXT:], keep="end") if place + 1 < len(compared) else ""
        hidden = text[len(before) : len(text) - len(after)]
        open_ += [Segment("same", named(before))] if before else []
        stretches += [Stretch(tuple(open_))] if open_ else []
        words = f"{numbers.count(len(hidden))} characters unchanged"
        stretches.append(Stretch((Segment("same", named(hidden)),), fold=words))
        open_ = [Segment("same", named(after))] if after else []
    return [*stretches, Stretch(tuple(open_))] if open_ else stretches


def _edge(text: str, *, keep: Literal["start", "end"]) -> str:
    """Trims the text so that no word is split at the fold."""
    words = re.match(r"(?s)(.*\s)", text) if keep == "start" else re.search(r"(?s)\s(\S.*)", text)
    return words[1] if words else text


def _limited(stretches: Sequence[Stretch], *, room: int) -> tuple[Stretch, ...]:
    """Leaves the first stretches visible and puts the rest behind one fold; short texts stay as they are."""
    shown: list[Stretch] = []
    for place, stretch in enumerate(stretches):
        size = 0 if stretch.fold else sum(len(segment.text) for segment in stretch.segments)
        if size <= room:
            shown.append(stretch)
            room -= size
            continue
        opened, rest = _split(stretch.segments, room)
        later = [segment for following in stretches[place + 1 :] for segment in following.segments]
        shown += [Stretch(opened)] if opened else []
        characters = sum(len(segment.text) for segment in (*rest, *later))
        return (*shown, Stretch((*rest, *later), fold=f"The rest: {numbers.count(characters)} characters"))
    return tuple(shown)


def _split(segments: Sequence[Segment], room: int) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    """Splits segments after this many characters."""
    opened: list[Segment] = []
    for place, segment in enumerate(segments):
        if len(segment.text) <= room:
            opened.append(segment)
            room -= len(segment.text)
            continue
        parts = [Segment(segment.kind, segment.text[:room]), Segment(segment.kind, segment.text[room:])]
        opened += [parts[0]] if parts[0].text else []
        return tuple(opened), (parts[1], *segments[place + 1 :])
    return tuple(opened), ()


# The contents of the index: the reports of all judges regrouped, with nothing added.


OUTCOMES = ("graded", "abstained", "unparsed", "failed", "unasked")


Shared = TypeVar("Shared")

Sharing = tuple[tuple[str, ...], Shared]
"""Judges, and what they have in common."""


@dataclass(frozen=True, slots=True)
class JudgePart:
    """What the index says about a single judge."""

    key: str
    report: StressReport
    findings: tuple[tuple[str, str, str], ...]
    """Kind, title and words."""
    strata: GroupTable | None
    """Agreement with gold by stratum."""
    screen: StressScreen
    totals: dict[str, int]
    wrong: tuple[AuditRow, ...]
    """Rows of the audit whose outcomes do not add up to what was planned."""


@dataclass(frozen=True, slots=True)
class IndexPage:
    """The parts of the index, in order."""

    title: str
    lead: str
    """What was done, in one line."""
    heat: HeatMap
    judges: tuple[JudgePart, ...]
    failures: tuple[Failure, ...]
    """Of several judges, one of each, the worst first."""
    tests: tuple[Sharing[tuple[StressTest, ...]], ...]
    """How the stimuli were made, once for all judges that were shown the same."""
    datasets: tuple[Sharing[DatasetRecord], ...]
    rates: PassRates
    """How often each judge gives the expected label, by test."""
    writing: tuple[Sharing[tuple[WriterSpendRecord, ...]], ...]
    """What writing the stimuli took; empty for judges whose stimuli no model wrote."""
    reviews: tuple[Sharing[ReviewRecord | None], ...]
    """None for judges whose texts were not reviewed."""
    agreement: tuple[tuple[StressTest, tuple[SideRow, ...]], ...]
    """By test, the user's own texts first."""
    stability: tuple[tuple[StressTest, tuple[SideRow, ...]], ...]
    policy: tuple[str, ...]
    """The sentences of all judges, each once."""
    non_claims: tuple[str, ...]


def index_page(reports: Sequence[StressReport]) -> IndexPage:
    """Returns the index of these reports."""
    keys = judge_keys(reports)
    judges = [_judge(key, report) for key, report in zip(keys, reports, strict=True)]
    return IndexPage(
        title=", ".join(dict.fromkeys(report.dataset.name for report in reports)),
        lead=_lead(reports),
        heat=heat_map(reports),
        judges=tuple(judges),
        failures=tuple(_failures(judges)),
        tests=_shared(keys, [tuple(report.tests) for report in reports]),
        datasets=_shared(keys, [report.dataset for report in reports]),
        rates=pass_rates(reports, keys),
        writing=_shared(keys, [tuple(report.writing) for report in reports]),
        reviews=_shared(keys, [report.review for report in reports]),
        agreement=(*side_by_side(reports, "original"), *side_by_side(reports, "given-label")),
        stability=side_by_side(reports, "repeats", also=_repeated(reports)),
        policy=tuple(dict.fromkeys(sentence for report in reports for sentence in (*report.policy, _policy(report)))),
        non_claims=tuple(dict.fromkeys(sentence for report in reports for sentence in report.non_claims)),
    )


def _failures(judges: Sequence[JudgePart]) -> list[Failure]:
    if len(judges) == 1:
        return list(judges[0].screen.overview.failures)
    found = [
        replace(failure, title=f"{judge.key}: {failure.title}")
        for judge in judges
        for failure in judge.screen.overview.failures[:1]
    ]
    return found[:MOST_FAILURES]


def _policy(report: StressReport) -> str:
    return f"Policy {SHELF.words(report.own_policy or SHELF.preset())}."


def unaccounted(test: StressTest) -> int:
    """Returns how many wanted stimuli have no record; negative if more are recorded than were wanted."""
    if test.kind in {"original", "repeats"}:
        return 0  # originals are shown as they are: nothing had to be made
    made = test.made
    return made.wanted - made.proved - made.accepted - made.given_up - made.unchanged - sum(made.skipped.values())


def _repeated(reports: Sequence[StressReport]) -> list[StressTest]:
    """Returns repeats that were asked only for the sake of other tests."""
    measured = {measure.stratum for report in reports for measure in report.measures if measure.name == "flip-rate"}
    tests = {test.name for report in reports for test in report.tests}
    about = "Originals are sent several times to separate a change from the judge's own noise."
    return [
        StressTest(name=name, title=title, about=about, kind="repeats", made=MadeRecord(wanted=0))
        for name, title in REPEATED.items()
        if name in measured - tests
    ]


def _lead(reports: Sequence[StressReport]) -> str:
    judges, tests = len(reports), len({test.name for report in reports for test in report.tests})
    sampled = dict.fromkeys(numbers.count(report.dataset.sampled) for report in reports)
    items = f"{' or '.join(sampled)} of your own items"
    made = f"{numbers.count(tests)} {numbers.units('test', tests)} on {items}"
    return made if judges == 1 else f"{numbers.count(judges)} judges, {made}"


def _judge(key: str, report: StressReport) -> JudgePart:
    original = next((test for test in report.tests if test.kind == "original"), None)
    columns = ("planned", *OUTCOMES)
    return JudgePart(
        key=key,
        report=report,
        findings=tuple((one.kind, TITLES[one.kind], one.words) for one in report.findings),
        strata=by_group(report, original) if original else None,
        screen=screen_of(report, key),
        totals={column: sum(getattr(row, column) for row in report.audit) for column in columns},
        wrong=tuple(r for r in report.audit if r.planned != sum(getattr(r, outcome) for outcome in OUTCOMES)),
    )


def _shared(keys: Sequence[str], values: Sequence[Shared]) -> tuple[Sharing[Shared], ...]:
    """Returns each distinct value once, with the judges that have it: judges of one study share most values."""
    seen: list[Sharing[Shared]] = []
    for key, value in zip(keys, values, strict=True):
        place = next((number for number, (_, other) in enumerate(seen) if other == value), None)
        if place is None:
            seen.append(((key,), value))
        else:
            seen[place] = ((*seen[place][0], key), value)
    return tuple(seen)


# The contents of the page for one test of one judge.


EXPECTED: dict[TestKind, str] = {
    "same-verdict": "The verdict on the changed text should equal the judge's own verdict on the original.",
    "flipped-verdict": "The verdict should change to the label that the changed text requires.",
    "repeats": "The same request should get the same answer, right or wrong.",
    "given-label": "The verdict should equal the label that the text was written for.",
    "original": "The verdict on your own text should equal its gold label.",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """One of the worst items, as the page shows it."""

    item: WorstItem
    text: tuple[Stretch, ...]
    """A diff if the text was changed, otherwise the text."""
    is_diff: bool
    same: bool
    """Whether both texts are in the record and do not differ."""


@dataclass(frozen=True, slots=True)
class StressPage:
    """The parts of the page, in order."""

    key: str
    """The judge's name on the index."""
    report: StressReport
    test: StressTest
    verdict: CellVerdict
    cell: HeatCell
    expected: str
    measures: tuple[StressMeasure, ...]
    """Those that the verdict rests on and the headlines first."""
    first: int
    """How many of them are not folded."""
    strata: GroupTable | None
    worst: tuple[Shown, ...]
    others: tuple[tuple[str, str], ...]
    """The same test of the other judges: name and file."""


FIRST = ("accuracy", "weighted-kappa", "change-rate", "flip-rate")
"""The measures of a test that come after those of its checks. The rest is folded."""

MOST_MEASURES = 2
"""Measures that are not folded, unless a test has more checks."""


def stress_page(
    report: StressReport, test: StressTest, *, key: str, cell: HeatCell, others: Sequence[tuple[str, str]] = ()
) -> StressPage:
    """Returns the page of one test."""
    verdict = next(one for one in report.verdicts if one.test == test.name)
    decide = [part.measure for part in verdict.parts]
    order = [*decide, *(name for name in FIRST if name not in decide)]
    measures = [measure for measure in own_measures(report, test.name) if not measure.group]
    measures.sort(key=lambda one: order.index(one.name) if one.name in order else len(order))
    return StressPage(
        key=key,
        report=report,
        test=test,
        verdict=verdict,
        cell=cell,
        expected=_expected(report, test),
        measures=tuple(measures),
        first=max(len(decide), MOST_MEASURES),
        strata=by_group(report, test),
        worst=tuple(_shown(item) for item in report.worst if item.test == test.name),
        others=tuple(others),
    )


def _expected(report: StressReport, test: StressTest) -> str:
    """Says what the judge should do and, on an interval scale, what counts as a different verdict."""
    is_about_change = report.scale.kind == "interval" and test.kind in {"same-verdict", "repeats"}
    return f"{EXPECTED[test.kind]} {ANY_DIFFERENCE}" if is_about_change else EXPECTED[test.kind]


def _shown(item: WorstItem) -> Shown:
    both = bool(item.original and item.changed)
    same = both and item.original == item.changed
    if both and not same:
        return Shown(item, compare_words(item.original, item.changed), is_diff=True, same=False)
    return Shown(item, show_text(item.changed or item.original), is_diff=False, same=same)


# The stress report as a folder of HTML files: no script, nothing fetched, text from outside shown as inert text.


SECTIONS = tuple(
    Section(name, ("stress",), file=f"{name}.html")
    for name in (
        "findings",
        "heat",
        "seen",
        "rates",
        "agreement",
        "stimuli",
        "review",
        "answers",
        "conditions",
        "claims",
    )
)
"""The sections of the index, in order."""


def render_stress_pages(reports: Sequence[StressReport]) -> dict[str, str]:
    """Returns pages by file name: an index of all judges, and a page for every test of each judge.

    The same reports give the same text, which can always be encoded as UTF-8.
    """
    if not reports:
        raise UsageError("no stress report to show", fix="run the stress tests first: umpirical run")
    index = index_page(reports)
    templates, values = environment("umpirical.protocols.stress"), _values(index)
    sections = render_sections(templates, sections_of("stress", SECTIONS), reports, values)
    page = templates.get_template("index.html").render(**values, folds=folds_of(sections))
    return {INDEX: page, **_test_pages(index)}


def _test_pages(index: IndexPage) -> dict[str, str]:
    pages = {}
    rows = {row.test.name: row.cells for group in index.heat.groups for row in group.rows}
    for place, part in enumerate(index.judges):
        for test in part.report.tests:
            cells = rows[test.name]
            cell = cells[place]
            if cell is None:
                continue
            others = [
                (key, other.href)
                for number, (key, other) in enumerate(zip(index.heat.judges, cells, strict=True))
                if number != place and other is not None
            ]
            page = stress_page(part.report, test, key=part.key, cell=cell, others=others)
            template = environment("umpirical.protocols.stress").get_template("test.html")
            pages[cell.href] = template.render(**_values(page))
    return pages


def _values(page: object) -> dict[str, object]:
    """Returns the values that every template of these pages receives."""
    return {
        "page": page,
        "several": len(page.judges) > 1 if isinstance(page, IndexPage) else False,
        "index": INDEX,
        "signs": SIGNS,
        "unaccounted": unaccounted,
        "any_difference": ANY_DIFFERENCE,
        "value_words": value_words,
        "interval_words": interval_words,
        "unit_words": unit_words,
        "shade": shade,
    }


# The stress report as a card, for one judge.


LONGEST_FINDING = 600
"""Most characters of a finding."""


def render_stress_markdown(report: StressReport) -> str:
    """Renders the card of one judge."""
    heat = heat_map([report])
    card = Card(
        protocol="stress",
        title=f"Stress report: {plain(report.judge.name)} on {plain(report.dataset.name)}",
        lead=[*decided_lead(report.decision), *_findings(report), *_writing(report), *_review(report)],
        table=lambda room: _tests(heat, room=room),
        fields={"dataset": report.dataset.name, "policy": SHELF.words(report.own_policy or SHELF.preset())},
    )
    return render_card(card, report)


def _findings(report: StressReport) -> Iterator[str]:
    for finding in report.findings:
        words = finding.words if len(finding.words) <= LONGEST_FINDING else f"{finding.words[:LONGEST_FINDING]} …"
        yield f"- {TITLES[finding.kind]}: {plain(words)}"
    if not report.findings:
        yield "No findings."
    yield ""


def _writing(report: StressReport) -> Iterator[str]:
    """Yields what the stimuli cost, besides what the judge did."""
    for spent in report.writing:
        cost = "unknown cost" if spent.cost is None else numbers.dollars(spent.cost)
        calls = f"{numbers.count(spent.calls)} {numbers.units('call', spent.calls)}"
        yield f"- Test cases, {spent.role}: {calls} to {plain(spent.model)}, {cost}."
    if report.writing:
        yield ""


def _review(report: StressReport) -> Iterator[str]:
    if report.review is not None:
        yield f"- Review: {plain(review_words(report.review))}."
        yield f"- {plain(agreement_words(report.review))}."
        yield ""


def _tests(heat: HeatMap, *, room: int) -> Iterator[str]:
    rows = [row for group in heat.groups for row in group.rows]
    yield from ("| test | verdict | value | interval | n |", "| --- | --- | ---: | --- | ---: |")
    shown = rows[: max(0, room - 7)]
    for row in shown:
        yield f"| {' | '.join(_cells(row))} |"
    if len(rows) > len(shown):
        yield from ("", f"{numbers.count(len(rows) - len(shown))} more tests are in the JSON record.")
    marked = "; † survives the Benjamini-Hochberg correction at 5%" if heat.failed else ""
    yield from ("", f"Cells are exploratory: each is checked separately{marked}.", "")


def _cells(row: HeatRow) -> Iterator[str]:
    (cell,) = row.cells
    yield plain(row.test.title)
    if cell is None or not cell.figures:
        yield from (_word(cell), "–", plain(cell.note) if cell else "not run", "–")
        return
    yield _word(cell)
    first = cell.figures[0]
    yield "; ".join(f"{figure.value} {figure.label}" for figure in cell.figures)
    yield plain("; ".join(figure.interval for figure in cell.figures))
    yield first.n


def _word(cell: HeatCell | None) -> str:
    return "N/A" if cell is None else f"{cell.verdict}{' †' if cell.survives else ''}"
