"""The agent report as one HTML file and as a card: the record regrouped, nothing added.

The page has no script, fetches nothing, and shows text from outside as inert text.
"""

import json
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
from umpirical.protocols.agent.report import AGREEMENT, DETECTION, SENSITIVITY, SHELF
from umpirical.protocols.agent.rewriting import LEVEL_FAMILIES
from umpirical.protocols.steps import next_steps
from umpirical.reports import numbers
from umpirical.reports.checks import NO_VERDICT
from umpirical.reports.overview import (
    Failure,
    Screen,
    check_rows,
    dots_of,
    first_screen,
    one_of_each,
    short,
    tile_of,
    two_texts,
)
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
from umpirical.reports.tiles import Tile
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
    "agent-transcripts", "trouble", "agent-audit", "spend", "agent-claims", "agent-identity", "reproduce",
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


TITLE = 40
"""Characters of the name of a transcript in the title of a failure."""


def render_agent_html(report: AgentReport) -> str:
    """Renders the page of a report. The same record gives the same text."""
    page = page_of(report)
    return render_plain_page("agent", "Agent judge", SECTIONS, report, page, screen_of(report, page))


# The first screen

TILES: Mapping[JudgeKind, Mapping[str, Sequence[str]]] = {
    "grade": {
        "Violations": (DETECTION, "noticed-edit"),
        "False alarms": ("false-alarm",),
        "Beyond chance": (AGREEMENT, "accuracy"),
        "Follows the policy": ("policy-blind-verdict", "policy-following"),
        "Unusable replies": NO_VERDICT,
    },
    "compare": {
        "Better run": (SENSITIVITY, "right-in-both-orders"),
        "Beyond chance": (AGREEMENT,),
        "Position": ("positional-preference",),
        "Follows the policy": ("policy-blind-preference", "policy-following"),
        "Unusable replies": NO_VERDICT,
    },
}
"""The measures whose checks feed each tile, by what the judge does."""

SAYS: Mapping[str, str] = {
    DETECTION: "It detects only {value} of the policy violations.",
    "false-alarm": "It reports a violation in {value} of the texts that follow their policy.",
    AGREEMENT: "It agrees with what programs proved only {value} beyond chance, where a constant judge scores 0.",
    "policy-blind-verdict": "When the policy is reversed, it repeats {value} of its verdicts.",
    SENSITIVITY: "It picks the run that follows the policy in only {value} of its answers.",
    "positional-preference": "It picks the same position after swapping in {value} of pairs.",
    "policy-blind-preference": "When the policy is reversed, it still prefers the same run in {value} of pairs.",
    "unparsed-rate": "{value} of its replies cannot be read.",
    "failure-rate": "{value} of its calls failed.",
}
"""What a judge that fails a check does, in plain words."""

HINTS: Mapping[str, str] = {
    DETECTION: "have it check every message against every rule",
    "false-alarm": "have it quote the message that breaks a rule",
    AGREEMENT: "have it check every message against every rule",
    "policy-blind-verdict": "have it quote the rule of the policy that it applies",
    SENSITIVITY: "have it check every message against every rule",
    "positional-preference": "tell it that the order of the runs means nothing",
    "policy-blind-preference": "have it quote the rule of the policy that it applies",
    "unparsed-rate": "ask for a fixed reply format, such as one JSON field",
}
"""What may help a judge that fails a check most of all."""


def tiles(report: AgentReport) -> list[Tile]:
    """Returns the tiles of a judge."""
    rows = check_rows(report.checks, report.measures)
    return [
        tile_of(name, [row for row in rows if row.measure in measures])
        for name, measures in TILES[report.judge.kind].items()
    ]


def screen_of(report: AgentReport, page: AgentPage) -> Screen:
    """Returns the first screen of a page."""
    rows = check_rows(report.checks, report.measures)
    seen = DETECTION if report.judge.kind == "grade" else SENSITIVITY
    held = next((row for row in rows if row.measure == seen), None)
    by_rule = next((parts for name, parts in page.parts if name == PARTS["rule"]), ())
    lines = [(page.edits[0].name, page.edits[0].measures[0]), *((row.name, row.measures[0]) for row in by_rule)]
    if not by_rule:
        lines += [(row.name, row.measures[0]) for row in page.edits[1:]]
    least = next((check.value for check in report.checks if check.measure == seen and check.kind == "at_least"), None)
    shows = "violations that it detects" if seen == DETECTION else "answers that pick the run that follows the policy"
    return Screen(
        counts={"transcripts": report.transcripts.used},
        overview=first_screen(
            rows,
            report.decision,
            lambda row: SAYS.get(row.measure, ""),
            tiles(report),
            [
                *(_failure(text, report.labels) for text in one_of_each(report.wrong, lambda one: one.edit)),
                *map(_failed_pair, one_of_each(report.wrong_pairs, lambda one: one.edit)),
            ],
        ),
        checks=tuple(rows),
        steps=tuple(next_steps(report, report.decision, rows, HINTS, data="Add transcripts to the study")),
        chart=f"Which {'rules' if by_rule else 'edits'} does it see broken?",
        dots=dots_of(lines, held, least, None),
        note=f"Share of {shows}, and its 95% interval. The allowed range is tinted.",
    )


def _failure(text: WrongText, labels: tuple[str, str] | None) -> Failure:
    said = ", ".join(text.given)
    if text.violated is not None and labels:
        sure = text.violated in {0, 1}
        said = labels[0 if text.violated else 1] if sure else f"{labels[0]} in {numbers.rate(text.violated)} of calls"
    return Failure(
        title=f"{text.edit}, in {short(text.transcript, TITLE)}",
        task=short(_rule(text.policy, text.evidence)),
        answers=_changed(text.changes),
        said=said,
        right=text.gold,
    )


def _failed_pair(pair: WrongPair) -> Failure:
    is_by_position = pair.position_1 in {0, 1} and pair.right + pair.wrong == 1
    position = f"the {'first' if pair.position_1 else 'second'} run in both orders"
    return Failure(
        title=f"{pair.edit}, in {short(pair.transcript, TITLE)}",
        task=short(_rule(pair.policy, pair.evidence)),
        answers=_changed(pair.changes),
        said=position if is_by_position else f"the {pair.keeps} run in {numbers.rate(pair.right)} of calls",
        right=f"the {pair.keeps} run",
    )


def _changed(changes: Sequence[MessageChange]) -> tuple[tuple[str, str], ...]:
    """Returns the first message that an edit changed, before and after."""
    if not changes:
        return (("Edit", "none: the transcript as it was found"),)
    before, after = (_message(text) for text in (changes[0].before, changes[0].after))
    return two_texts("Original", before, "Edited", after)


def _rule(policy: str, evidence: Mapping[str, str]) -> str:
    """Returns the rule that the edit is about if the program names it, else the policy."""
    rules = (line.partition(". ")[2] for line in policy.splitlines())
    return next((rule for rule in rules if rule and evidence.get("program", "").startswith(rule)), policy)


def _name(function: object) -> str:
    return str(function.get("name")) if isinstance(function, dict) else str(function)


def _message(text: str) -> str:
    """Returns what a message says, or which tools it calls; any other text stays as it is."""
    try:
        found = json.loads(text)
    except ValueError:
        return text or "(no such message)"
    if not isinstance(found, dict):
        return text
    calls = found.get("tool_calls")
    called = [_name(one.get("function")) for one in calls if isinstance(one, dict)] if isinstance(calls, list) else []
    return str(found.get("content") or "") or f"calls {', '.join(called)}"


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
