"""The trials of a run, filtered and paged; and one trial with its twins."""

from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.responses import Response

from umpirical.domain.layouts import Layout
from umpirical.reports import numbers
from umpirical.view.catalogue import opened
from umpirical.view.filters import TITLES, Option, UnknownValue
from umpirical.view.index_page import RunLine
from umpirical.view.pages import notice, page
from umpirical.view.requests import ViewRequest
from umpirical.view.table import TrialTable
from umpirical.view.trial import ShownTrial, Text, Trials, looking

LONGEST_TEXT = 20_000
"""Characters of a text that are shown at once; a link shows the whole."""

LARGEST_POSITION = 10**12


@dataclass(frozen=True, slots=True)
class Shown:
    """A text on a page, perhaps cut."""

    title: str
    words: str
    left_out: int
    """Characters that are not shown."""


@dataclass(frozen=True, slots=True)
class Beside:
    """One cell of the square of twins."""

    name: str
    trial: ShownTrial | None
    answer: Shown | None


def trials_page(request: ViewRequest) -> Response:
    """Lists trials by the filters in the address."""
    run, query = request.run(), request.query
    state = request.view.catalogue.state(run)
    table = request.view.tables.of(run)
    shares = table.shares
    try:
        filters = shares.read(query)
        after = _number(dict(query).get("page", ""), otherwise=-1)
    except UnknownValue as unknown:
        return notice(request, 404, "No such trials", str(unknown))
    found = table.table.page(filters, after=after)
    return page(
        request,
        "trials.html",
        run=run,
        line=RunLine(run, state),
        filters=filters,
        options=[(name, TITLES[name], _worth(shares.options(name, filters))) for name in TITLES],
        total=shares.total(filters),
        page=found,
        is_first=after < 0,
        behind=table.behind,
        step=lambda value: "" if value is None else numbers.step(value),
    )


def trial_page(request: ViewRequest) -> Response:
    """Shows one trial, both orders and both versions."""
    run = request.run()
    table = request.view.tables.of(run).table
    position = _number(request.http.path_params["position"], otherwise=-1)
    whole = dict(request.query).get("whole") == "1"
    with looking(opened(run)) as trials:
        one = trials.at(position)
        if one is None:
            raise HTTPException(404, "There is no such trial in the plan of this run.")
        texts, is_sent = trials.prompt(one)
        return page(
            request,
            "trial.html",
            run=run,
            line=RunLine(run, request.view.catalogue.state(run)),
            one=one,
            step="" if one.stimulus.delta is None else numbers.step(one.stimulus.delta),
            judge=trials.run.judge,
            prompt=[_cut(text, whole=whole) for text in texts],
            is_sent=is_sent,
            answer=_answer(one, whole=whole),
            facts=_facts(one),
            layout=_layout(one.trial.presentation.layout),
            square=_square(trials, one, table, whole=whole),
            whole=whole,
        )


def _worth(options: list[Option]) -> list[Option]:
    """A filter with one value, or none, filters nothing."""
    named = [option for option in options if option.text]
    return named if len(named) > 1 or any(option.is_chosen for option in named) else []


def _square(trials: Trials, one: ShownTrial, table: TrialTable, *, whole: bool) -> list[list[Beside]]:
    """Returns the trial and its twins: a row for each version, a column for each order."""
    rows = [[one, trials.other_order(one)]]
    if (version := trials.other_version(one, table)) is not None:
        rows.append([version, trials.other_order(version)])
    if all(row[1] is None for row in rows):
        rows = [[row[0]] for row in rows]
    names = [["this trial", "the other order"], ["the other version", "the other version, in the other order"]]
    return [
        [Beside(name, each, _answer(each, whole=whole)) for name, each in zip(texts, row, strict=False)]
        for texts, row in zip(names, rows, strict=False)
    ]


def _answer(one: ShownTrial | None, *, whole: bool) -> Shown | None:
    response = None if one is None else one.response
    if response is None or response.text is None:
        return None
    return _cut(Text("answer", response.text), whole=whole)


def _cut(text: Text, *, whole: bool) -> Shown:
    if whole or len(text.words) <= LONGEST_TEXT:
        return Shown(text.title, text.words, 0)
    return Shown(text.title, text.words[:LONGEST_TEXT], len(text.words) - LONGEST_TEXT)


def _layout(layout: Layout | None) -> str:
    """Returns how the candidates were labelled and the answers listed: what the judge said is read by it."""
    if layout is None:
        return ""
    swapped = {"labels": layout.labels_swapped, "list of answers": layout.options_swapped}
    turned = ", ".join(f"{name} swapped" for name, is_so in swapped.items() if is_so)
    return f"labels {layout.labels}{f'; {turned}' if turned else ''}"


def _facts(one: ShownTrial) -> list[tuple[str, str]]:
    """Returns what is recorded of the call, by name."""
    response = one.response
    if response is None:
        return []
    usage = response.usage
    found = [
        ("Ended", response.finish_reason),
        ("Served by", response.served_by),
        ("Asked at", response.asked_at),
        ("Took", numbers.milliseconds(response.latency_ms) if response.latency_ms else ""),
        ("Attempts", f"{response.attempts:,}" if response.attempts > 1 else ""),
        ("Tokens in", "" if usage.input_tokens is None else f"{usage.input_tokens:,}"),
        ("Tokens out", "" if usage.output_tokens is None else f"{usage.output_tokens:,}"),
        ("Cost", "" if response.cost is None else numbers.dollars(response.cost)),
    ]
    return [(name, value) for name, value in found if value]


def _number(text: str, *, otherwise: int) -> int:
    """A position in an address. Raises for anything else."""
    if not text:
        return otherwise
    if not (text.isascii() and text.isdigit()) or len(text) > 12:
        raise HTTPException(400, "The address names no place in the plan.")
    return min(int(text), LARGEST_POSITION)
