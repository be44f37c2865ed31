"""The report on labelled pairs as one HTML file and as a card: the record regrouped, nothing added.

The page has no script, fetches nothing, and shows text from outside as inert text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from umpirical.datasets.pairs import LONGER
from umpirical.domain.measures import Undefined
from umpirical.domain.trials import BASELINE
from umpirical.measures.natural import CHOSEN_SIDE, LONGER_CHOSEN, LONGER_REJECTED, REJECTED_SIDE
from umpirical.protocols.pairs.record import PairsMeasure, PairsReport, WrongChoice
from umpirical.protocols.pairs.spec import ACCURACY as ACCURATE
from umpirical.protocols.pairs.spec import AGREEMENT, BEYOND_LENGTH, LEAN, SHELF
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
    Row,
    decision_lead,
    measure_table,
    plain,
    render_card,
    render_plain_page,
    section_table,
)
from umpirical.reports.tiles import Tile

ACCURACY = (
    "both-orders-accuracy", "single-order-accuracy", "chosen-first-accuracy", "chosen-second-accuracy",
    "same-slot-rate", "swap-inconsistency", "position-lean",
)  # fmt: skip
"""The measures of pairs as they are, in order."""

STACK = (
    "both-orders-accuracy", "both-orders-error", "same-slot-rate", "one-order-rate", "no-winner-rate",
)  # fmt: skip
"""Measures that sum to 1."""

SLOTS = ("same-answer-rate", "named-slot-1-rate", "named-slot-2-rate")

CHANGES = ("change-rate", "edit-favour", "edit-disfavour", "edit-overturn")
"""The measures of edited pairs, in order."""

EXCESS = "excess-change"
"""What is left of changes without the judge's own noise. Where it is undefined for all, it is said once why."""

SIDES = {"": "either answer", CHOSEN_SIDE: "the chosen answer", REJECTED_SIDE: "the rejected answer"}

LENGTHS = {
    LONGER_CHOSEN: "The chosen answer is longer",
    LONGER_REJECTED: "The rejected answer is longer",
    f"{LONGER}=neither": "Both are equally long",
}

SECTIONS = section_table(
    "pairs", "pairs-decision", "accuracy", "orders", "edits", "lengths", "wrong-choices", "data", "trouble",
    "pairs-audit", "spend", "pairs-claims", "pairs-identity", "reproduce",
)  # fmt: skip
"""The sections of the page, in order."""


@dataclass(frozen=True, slots=True)
class PairsPage:
    """The parts of a report in the form that the templates need."""

    policy: str
    """The policy, with its digest."""
    titles: tuple[str, ...]
    accuracy: tuple[Row, ...]
    """All pairs, and each group of the user's."""
    stack: tuple[PairsMeasure, ...]
    """Parts that sum to 1."""
    slots: tuple[PairsMeasure, ...]
    edit_titles: tuple[str, ...]
    edits: tuple[Row, ...]
    """All edits together, then each of them, by the answer that was edited."""
    lengths: tuple[Row, ...]
    gap: PairsMeasure | None
    noise_unknown: str
    """Why the judge's own noise cannot be taken off what edits change; empty if it can."""


def render_pairs_html(report: PairsReport) -> str:
    """Renders the page of a report. The same record gives the same text."""
    page = page_of(report)
    return render_plain_page("pairs", "Labeled pairs", SECTIONS, report, page, screen_of(report, page))


# The first screen

TILES: Mapping[str, Sequence[str]] = {
    "Accuracy": (ACCURATE,),
    "Beyond chance": (AGREEMENT,),
    "Beyond length": (BEYOND_LENGTH,),
    "Position": (LEAN,),
    "Harmless edits": (EXCESS, CHANGES[0]),
    "Unusable replies": NO_VERDICT,
}
"""The measures whose checks feed each tile."""

SAYS: Mapping[str, str] = {
    ACCURATE: "It picks the chosen answer in both orders in only {value} of pairs.",
    AGREEMENT: "It agrees with the labels only {value} beyond chance, where a coin scores 0.",
    BEYOND_LENGTH: "Without the help of length, it agrees with the labels only {value} beyond chance.",
    LEAN: "It picks one position more often than the other by {value} of calls.",
    EXCESS: "A harmless edit of one answer changes its verdict by {value} beyond its own noise.",
    CHANGES[0]: "A harmless edit of one answer changes {value} of its verdicts.",
    "unparsed-rate": "{value} of its replies cannot be read.",
    "failure-rate": "{value} of its calls failed.",
}
"""What a judge that fails a check does, in plain words."""

HINTS: Mapping[str, str] = {
    ACCURATE: "say what makes an answer better, and use a stronger model",
    AGREEMENT: "say what makes an answer better, and use a stronger model",
    BEYOND_LENGTH: "tell it to ignore length",
    LEAN: "tell it that the order of the answers means nothing",
    EXCESS: "tell it to ignore layout",
    CHANGES[0]: "tell it to ignore layout",
    "unparsed-rate": "ask for a fixed reply format, such as one JSON field",
}
"""What may help a judge that fails a check most of all."""


def tiles(report: PairsReport) -> list[Tile]:
    """Returns the tiles of a judge, always all six."""
    rows = check_rows(report.checks, report.measures)
    held = rows if report.data.edits else [row for row in rows if row.measure not in TILES["Harmless edits"]]
    without = "the policy has no check on it" if report.data.edits else "no answer was edited"
    return [
        tile_of(name, [row for row in held if row.measure in measures], without=without)
        for name, measures in TILES.items()
    ]


def screen_of(report: PairsReport, page: PairsPage) -> Screen:
    """Returns the first screen of a page."""
    rows = check_rows(report.checks, report.measures)
    held = [row for row in rows if report.data.edits or row.measure not in TILES["Harmless edits"]]
    accuracy = next((row for row in rows if row.measure == ACCURATE), None)
    named = [(row.name.replace("=", ": "), row.measures[0]) for row in (*page.accuracy, *page.lengths)]
    return Screen(
        counts={"pairs": report.data.pairs, "prompts": report.data.clusters},
        overview=first_screen(
            held,
            report.decision,
            lambda row: SAYS.get(row.measure, ""),
            tiles(report),
            [*map(_failure, one_of_each(report.wrong, lambda one: (one.edit, *one.groups.items())))],
        ),
        checks=tuple(rows),
        steps=tuple(
            next_steps(report, report.decision, held, HINTS, data="Add pairs, or raise “sample” in the study file")
        ),
        chart="In which pairs is it right?",
        dots=dots_of(named, accuracy, report.policy.accuracy, None),
        note="Share of pairs with the chosen answer in both orders, and its 95% interval. The allowed range is tinted.",
    )


def _failure(wrong: WrongChoice) -> Failure:
    groups = ", ".join(f"{name}: {value}" for name, value in wrong.groups.items())
    edited = "The rejected answer was edited" if wrong.edit else ""
    return Failure(
        title=short(groups or edited or f"Pair {wrong.pair}", TITLE),
        task=short(wrong.task),
        answers=two_texts("Chosen", wrong.chosen, "Rejected", wrong.rejected),
        said=_said(wrong),
        right="the chosen answer",
    )


def _said(wrong: WrongChoice) -> str:
    if wrong.wrong == 1:
        return "the rejected answer in both orders"
    if wrong.position_1 in {0, 1} and wrong.right + wrong.wrong == 1:
        return f"the {'first' if wrong.position_1 else 'second'} answer in both orders"
    return f"the chosen answer in {numbers.rate(wrong.right)} of calls, the rejected one in {numbers.rate(wrong.wrong)}"


TITLE = 60
"""Characters of the title of a failure."""

MOST_WEAK = 8
"""Weak parts that a card names: a public set may have dozens of subsets."""


def render_pairs_markdown(report: PairsReport) -> str:
    """Renders the card of one judge."""
    page = page_of(report)
    rows = (page.accuracy[0], *page.lengths, *page.accuracy[1:])
    card = Card(
        protocol="pairs",
        title=f"Labeled pairs: {plain(report.judge.name)}",
        lead=list(decision_lead(report.decision, report.findings, most_weak=MOST_WEAK)),
        table=lambda room: measure_table("pairs", page.titles, rows[: max(1, room - 4)]),
        fields={"policy": page.policy},
    )
    return render_card(card, report)


def page_of(report: PairsReport) -> PairsPage:
    """Returns the parts of a report's page."""
    own = [measure for measure in report.measures if measure.variant == BASELINE]
    by_key = {(measure.name, measure.stratum, measure.group): measure for measure in own}
    titles = {measure.name: measure.title for measure in own}

    def row(name: str, columns: Sequence[str], stratum: str = "", group: str = "") -> Row:
        return Row(name, tuple(by_key.get((column, stratum, group)) for column in columns))

    def found(names: Sequence[str]) -> tuple[PairsMeasure, ...]:
        return tuple(by_key[name, "", ""] for name in names if (name, "", "") in by_key)

    groups = [one.group for one in own if one.name == ACCURACY[0] and one.group]
    excess = by_key.get((EXCESS, "", ""))
    unknown = excess.result.reason if excess is not None and isinstance(excess.result, Undefined) else ""
    changes = CHANGES if unknown else (*CHANGES, EXCESS)
    edits = [("", "Every edit"), *((edit.name, edit.title) for edit in report.data.edits)]
    return PairsPage(
        policy=SHELF.words(report.policy),
        titles=tuple(titles.get(name, name) for name in ACCURACY),
        accuracy=(
            row("All pairs", ACCURACY),
            *(row(group, ACCURACY, group=group) for group in groups if group not in LENGTHS),
        ),
        stack=found(STACK),
        slots=found(SLOTS),
        edit_titles=tuple(titles.get(name, name) for name in changes),
        edits=tuple(
            row(f"{title}, {side}", changes, name, group)
            for name, title in edits
            for group, side in SIDES.items()
            if (CHANGES[0], name, group) in by_key
        ),
        lengths=tuple(row(name, ACCURACY, group=group) for group, name in LENGTHS.items() if group in groups),
        gap=by_key.get(("length-gap", "", "")),
        noise_unknown=unknown,
    )
