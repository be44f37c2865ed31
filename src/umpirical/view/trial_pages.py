"""The list of trials, and the page of one trial."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import assert_never

from starlette.exceptions import HTTPException
from starlette.responses import Response

from umpirical.domain.judgments import Abstained, Failed, Outcome, Unparsed, Verdict
from umpirical.domain.responses import Response as JudgeResponse
from umpirical.domain.scales import Choice
from umpirical.domain.stimuli import (
    Expectation,
    FlippedVerdict,
    GivenLabel,
    GivenWinner,
    NoPreference,
    SameVerdict,
    Stimulus,
)
from umpirical.domain.trials import Layout, Order, Trial
from umpirical.judges.factory import build_renderer
from umpirical.judges.judge import prompt_id
from umpirical.models.requests import ChatRequest
from umpirical.reports import numbers
from umpirical.runs.judgments import reader_of
from umpirical.runs.plan import request_for, shown
from umpirical.runs.run import Run
from umpirical.store.snapshots import RunSnapshot, snapshot
from umpirical.view.catalogue import opened
from umpirical.view.index_page import RunLine
from umpirical.view.requests import ViewRequest, notice, page
from umpirical.view.table import TITLES, Option, TrialTable, UnknownValue, shard_size

LIKELY_TWINS = 64
"""Trials of the other version that are looked through for the twin."""


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of a prompt, or of what the judge was shown."""

    title: str
    words: str


@dataclass(frozen=True, slots=True)
class ShownTrial:
    """Everything about one trial."""

    position: int
    trial: Trial
    stimulus: Stimulus
    response: JudgeResponse | None
    """None if it has not been asked yet."""
    outcome: Outcome | None

    @property
    def kind(self) -> str:
        """The name of the outcome."""
        match self.outcome:
            case None:
                return "unasked"
            case Verdict():
                return "verdict"
            case Abstained():
                return "abstained"
            case Unparsed():
                return "unparsed"
            case Failed():
                return "failed"
            case _:
                assert_never(self.outcome)

    @property
    def said(self) -> str:  # noqa: PLR0911  # one for each kind
        """The outcome in a few words: the position or the grade, or why there is none."""
        match self.outcome:
            case None:
                return "not sent yet"
            case Verdict(value=Choice.TIE):
                return "tie"
            case Verdict(value=Choice() as slot):
                return f"position {slot}, answer {self.content(slot)}"
            case Verdict(value=grade):
                return f"grade {grade:g}" if isinstance(grade, float) else f"grade {grade}"
            case Abstained():
                return "abstained"
            case Unparsed(why=why):
                return f"unusable reply: {why}"
            case Failed(kind=kind, detail=detail):
                return f"no reply: {kind}. {detail}".rstrip()
            case _:
                assert_never(self.outcome)

    def content(self, slot: Choice) -> str:
        """The name of the answer that was shown in a position."""
        first = self.trial.presentation.order is Order.AB
        return "A" if (slot == Choice.POSITION_1) == first else "B"

    @property
    def expected(self) -> str:
        return _expected(self.stimulus.expectation)


class Trials:
    """The trials of a run at one moment, by their place in the plan."""

    def __init__(self, run: Run, now: RunSnapshot) -> None:
        self.run = run
        self._size = shard_size(run)
        self._read = reader_of(run.judge)
        self._plan: Callable[[int], list[tuple[Trial, int]]] = lru_cache(maxsize=4)(
            lambda shard: list(run.store.plan_shard(shard))
        )
        self._responses = lru_cache(maxsize=4)(now.responses)

    def at(self, position: int) -> ShownTrial | None:
        """Returns the trial at a place in the plan; None if there is none."""
        shard, place = divmod(position, self._size)
        if not 0 <= shard < self.run.shards or place >= len(self._plan(shard)):
            return None
        trial, part = self._plan(shard)[place]
        response = self._responses(shard).get(trial.id)
        outcome = None if response is None else self._read(response, trial.presentation)
        return ShownTrial(position, trial, self.run.stimuli.part(part)[trial.stimulus_id], response, outcome)

    def prompt(self, one: ShownTrial) -> tuple[list[Text], bool]:
        """Returns the messages that were sent, and whether they are the very ones: their digest is in the plan.

        For the user's own judge, which renders its prompt itself, the texts that it was shown; none of its code runs.
        """
        judge = build_renderer(self.run.judge)
        if judge is not None:
            request = request_for(judge, one.stimulus, one.trial.presentation)
            if isinstance(request, ChatRequest):
                texts = [Text(message.role, message.content) for message in request.messages]
                return texts, prompt_id(request) == one.trial.prompt_id
        seen = shown(one.stimulus, one.trial.presentation.order, self.run.judge.kind)
        texts = [Text("task", seen.task), Text("position 1" if seen.second is not None else "answer", seen.first)]
        return texts + ([] if seen.second is None else [Text("position 2", seen.second)]), True

    def other_order(self, one: ShownTrial) -> ShownTrial | None:
        """Returns the same pair in the other order. A plan has both close to each other."""
        shard = one.position // self._size
        for near in (shard, shard + 1, shard - 1):
            if not 0 <= near < self.run.shards:
                continue
            for place, (trial, _) in enumerate(self._plan(near)):
                if _is_turned(trial, one.trial):
                    return self.at(near * self._size + place)
        return None

    def other_version(self, one: ShownTrial, table: TrialTable) -> ShownTrial | None:
        """Returns the same question about the other version, in the same order."""
        way = one.trial.presentation
        shared, values = 'variant = ? and "order" = ?', [way.variant, way.order.value]
        if one.stimulus.crossed_pair and {"crossed_pair", "version"} <= table.columns:
            found = table.positions(
                f"crossed_pair = ? and version <> ? and {shared} and repeat = ?",
                [one.stimulus.crossed_pair, one.stimulus.version, *values, way.repeat],
                most=LIKELY_TWINS,
            )
        elif one.stimulus.parent:
            found = table.positions(f"stimulus_id = ? and {shared}", [one.stimulus.parent, *values], most=LIKELY_TWINS)
        else:
            return None
        twins = [twin for position in found if (twin := self.at(position)) is not None]
        alike = [twin for twin in twins if twin.trial.presentation == way] or twins
        return alike[0] if alike else None


@contextmanager
def looking(run: Run) -> Iterator[Trials]:
    """Opens the trials of a run as they are now."""
    with snapshot(run.store) as now:
        yield Trials(run, now)


def _is_turned(trial: Trial, one: Trial) -> bool:
    ways = trial.presentation, one.presentation
    return trial.stimulus_id == one.stimulus_id and ways[0].order != ways[1].order and ways[0].pair == ways[1].pair


def _expected(expectation: Expectation) -> str:
    match expectation:
        case GivenWinner(candidate=candidate):
            return f"answer {'AB'[candidate] if candidate in (0, 1) else candidate} is better"
        case NoPreference():
            return "no preference"
        case GivenLabel(label=label):
            return f"grade {label}"
        case SameVerdict():
            return "same verdict as on the original"
        case FlippedVerdict():
            return "different verdict than on the original"
        case _:
            assert_never(expectation)


# The trials of a run, filtered and paged; and one trial with its twins.


LONGEST_TEXT = 20_000
"""Characters of a text that are shown at once; a link shows the whole."""

LARGEST_POSITION = 10**12


@dataclass(frozen=True, slots=True)
class Shown:
    """A text on a page, perhaps cut."""

    title: str
    words: str
    excluded: int
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
            raise HTTPException(404, "This trial is not in the plan of this run.")
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
        ("Sent at", response.asked_at),
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
        raise HTTPException(400, "This address does not contain a trial number.")
    return min(int(text), LARGEST_POSITION)
