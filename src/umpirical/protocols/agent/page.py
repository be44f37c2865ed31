"""The agent report as one HTML file and as a card: the record regrouped, nothing added.

The page has no script, fetches nothing, and shows text from outside as inert text.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from umpirical.domain.measures import Estimate
from umpirical.domain.scales import JudgeKind
from umpirical.domain.stimuli import ORIGINAL
from umpirical.domain.trials import BASELINE
from umpirical.protocols.agent.record import (
    LEVEL_MEASURES,
    AgentMeasure,
    AgentReport,
    LevelItem,
    WrongPair,
    WrongText,
)
from umpirical.protocols.agent.report import SHELF
from umpirical.protocols.agent.rewriting import LEVEL_FAMILIES
from umpirical.reports import numbers
from umpirical.reports.pages import (
    Card,
    Records,
    Row,
    decision_lead,
    measure_table,
    plain,
    render_card,
    render_plain_page,
    section_table,
)
from umpirical.stimuli.transcripts.cases import MessageChange
from umpirical.text.diffs import Piece, word_diff

COLUMNS: Mapping[JudgeKind, tuple[str, ...]] = {
    "grade": (
        "violation-detection", "false-alarm", "noticed-edit", "policy-following", "policy-blind-verdict", "accuracy",
    ),
    "compare": (
        "policy-sensitivity", "right-in-both-orders", "positional-preference", "policy-following",
        "policy-blind-preference",
    ),
}  # fmt: skip
"""The measures of every table, in order, by what the judge does."""

STACKS: Mapping[str, tuple[str, ...]] = {
    "Both orders, under one policy": (
        "right-in-both-orders", "wrong-in-both-orders", "positional-preference", "one-order-preference",
        "neither-order-preference",
    ),
    "Both orders, under both policies": (
        "policy-following", "policy-blind-preference", "policy-reversal", "one-policy-preference",
        "neither-policy-preference",
    ),
}  # fmt: skip
"""Measures that sum to 1, for a judge that compares."""

PARTS = {
    "place": "Place of the edit",
    "size": "Size of the edit",
    "length": "Original or lengthened",
    "messages": "Messages in the transcript",
    "rule": "Tested rule",
}
"""Strata that the program plants, and what they are called. All others are the user's."""


ORDER = ("early", "middle", "late", "up to 10", "11 to 30", "over 30")
"""Values of the true value strata that are not in the order of their letters."""


def _for(kind: JudgeKind, *names: str) -> dict[str, Callable[[Records], bool]]:
    return dict.fromkeys(names, lambda records: records[0].judge.kind == kind)


SECTIONS = section_table(
    "agent", "agent-decision", "detection", "choices", "parts", "errors", "smallest", "levels", "wrong", "wrong-pairs",
    "agent-transcripts", "trouble", "agent-audit", "spend", "agent-claims", "reproduce",
    shown=_for("grade", "detection", "errors", "wrong") | _for("compare", "choices", "wrong-pairs"),
)  # fmt: skip
"""The sections of the page, in order."""


@dataclass(frozen=True, slots=True)
class ShownChange:
    """A message that an edit changed, word by word."""

    change: MessageChange
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text about which the judge was wrong, with what the edit changed."""

    text: WrongText
    changes: tuple[ShownChange, ...]


@dataclass(frozen=True, slots=True)
class ShownLevels:
    """An item that is graded in levels."""

    item: LevelItem
    titles: tuple[str, ...]
    rows: tuple[Row, ...]
    """All texts of the item, those as they were found, and the rewritten ones."""
    graded: tuple[tuple[str, tuple[float, ...]], ...]
    """For each level, how many of its texts were given each level, and no verdict."""
    wrong: tuple[ShownText, ...]


@dataclass(frozen=True)
class ShownPair:
    """A pair about which the judge was wrong, with what the edit changed."""

    pair: WrongPair
    changes: tuple[ShownChange, ...]


@dataclass(frozen=True, slots=True)
class AgentPage:
    """The parts of a report in the form that the templates need."""

    policy: str
    """The policy, with its digest."""
    titles: tuple[str, ...]
    edits: tuple[Row, ...]
    """All texts, the originals, and each edit; for a judge that compares, all pairs and each edit."""
    stacks: tuple[tuple[str, tuple[AgentMeasure, ...]], ...]
    """Parts that sum to 1, for a judge that compares."""
    parts: tuple[tuple[str, tuple[Row, ...]], ...]
    errors: tuple[tuple[str, AgentMeasure | None, str], ...]
    """The rates of Appendix G of the harness: a name, the measure, and the value where it is one less the measure."""
    wrong: tuple[ShownText, ...]
    levels: tuple[ShownLevels, ...]
    wrong_pairs: tuple[ShownPair, ...]


def render_agent_html(report: AgentReport) -> str:
    """Renders the page of a report. The same record gives the same text."""
    counted = {"Transcripts": report.transcripts.used}
    return render_plain_page("agent", "Agent judge", SECTIONS, report, page_of(report), counted)


def render_agent_markdown(report: AgentReport) -> str:
    """Renders the card of one judge of agents."""
    card = Card(
        protocol="agent",
        title=f"Agent judge: {plain(report.judge.name)}",
        lead=list(decision_lead(report.decision, report.findings)),
        table=lambda room: _table(report, room=room),
        fields={"policy": SHELF.words(report.policy or SHELF.preset())},
    )
    return render_card(card, report)


def _table(report: AgentReport, *, room: int) -> Iterator[str]:
    page = page_of(report)
    first = "pairs" if report.judge.kind == "compare" else "texts"
    yield from measure_table(first, page.titles, page.edits[: max(1, room - 4)])
    # A card is one screen: of each item that is graded in levels, it has the row of all texts.
    if page.levels and room > len(page.edits) + len(page.levels) + 8:
        rows = [Row(shown.item.name, shown.rows[0].measures) for shown in page.levels]
        yield from measure_table("graded in levels", page.levels[0].titles, rows)


def page_of(report: AgentReport) -> AgentPage:
    """Returns the parts of a report's page."""
    compares, columns = report.judge.kind == "compare", COLUMNS[report.judge.kind]
    own = [measure for measure in report.measures if measure.variant == BASELINE]
    by_key = {(measure.name, measure.stratum, measure.group): measure for measure in own}
    titles = {measure.name: measure.title for measure in own}
    groups = dict.fromkeys(measure.group for measure in own if measure.group and not measure.stratum)

    def row(name: str, stratum: str, group: str = "") -> Row:
        return Row(name, tuple(by_key.get((column, stratum, group)) for column in columns))

    tests = [edit.name for edit in report.edits if edit.name not in LEVEL_FAMILIES]
    parts = {
        name: sorted((group for group in groups if group.partition("=")[0] == name), key=_order)
        for name in _strata(list(groups))
    }
    whole = [row("All pairs", "")] if compares else [row("All texts", ""), row("Original transcripts", ORIGINAL)]
    return AgentPage(
        policy=SHELF.words(report.policy or SHELF.preset()),
        titles=tuple(titles.get(name, name) for name in columns),
        edits=(*whole, *(row(name, name) for name in tests)),
        stacks=tuple(
            (title, tuple(by_key[name, "", ""] for name in names if (name, "", "") in by_key))
            for title, names in STACKS.items()
            if compares
        ),
        parts=tuple(
            (PARTS.get(name, name), tuple(row(group.partition("=")[2], "", group) for group in chosen))
            for name, chosen in parts.items()
        ),
        errors=_errors(by_key),
        wrong=tuple(ShownText(text, _changes(text.changes)) for text in report.wrong),
        levels=tuple(_levels(item) for item in report.levels),
        wrong_pairs=tuple(ShownPair(pair, _changes(pair.changes)) for pair in report.wrong_pairs),
    )


def _levels(item: LevelItem) -> ShownLevels:
    by_key = {(measure.name, measure.stratum): measure for measure in item.measures}
    titles = {measure.name: measure.title for measure in item.measures}
    tests = {measure.stratum for measure in item.measures}
    names = {"": "All texts", **{name: name for name in LEVEL_FAMILIES if name in tests}}
    texts = {(one.gold, one.given): one.texts for one in item.graded}
    return ShownLevels(
        item=item,
        titles=tuple(titles.get(name, name) for name in LEVEL_MEASURES),
        rows=tuple(
            Row(name, tuple(by_key.get((column, test)) for column in LEVEL_MEASURES)) for test, name in names.items()
        ),
        graded=tuple(
            (gold, tuple(texts.get((gold, given), 0.0) for given in (*item.labels, ""))) for gold in item.labels
        ),
        wrong=tuple(ShownText(text, _changes(text.changes)) for text in item.wrong),
    )


def _strata(groups: Sequence[str]) -> list[str]:
    """Returns the names of the strata, the true value ones first."""
    found = dict.fromkeys(group.partition("=")[0] for group in groups)
    return sorted(found, key=lambda name: (name not in PARTS, list(PARTS).index(name) if name in PARTS else 0, name))


def _order(group: str) -> tuple[int, str]:
    value = group.partition("=")[2]
    return (ORDER.index(value) if value in ORDER else -1, value)


def _errors(
    by_key: dict[tuple[str, str, str], AgentMeasure],
) -> tuple[tuple[str, AgentMeasure | None, str], ...]:
    detected, alarm, right = (by_key.get((name, "", "")) for name in ("violation-detection", "false-alarm", "accuracy"))
    return (
        ("Accuracy", right, ""),
        ("Error rate", right, _less(right)),
        ("False positive rate", alarm, ""),
        ("False negative rate", detected, _less(detected)),
    )


def _less(measure: AgentMeasure | None) -> str:
    """Returns one less the value, with its interval turned round."""
    if measure is None or not isinstance(measure.result, Estimate):
        return ""
    result, interval = measure.result, measure.result.interval
    low = None if interval is None or interval.high is None else 1 - interval.high
    high = None if interval is None or interval.low is None else 1 - interval.low
    return f"{numbers.rate(1 - result.value)} {numbers.interval(low, high)}"


def _changes(changes: Sequence[MessageChange]) -> tuple[ShownChange, ...]:
    return tuple(ShownChange(change, tuple(word_diff(change.before, change.after))) for change in changes)
