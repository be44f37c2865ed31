"""The list of trials, and the page of one trial."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import assert_never

from starlette.exceptions import HTTPException
from starlette.responses import Response

from umpirical.domain.judgments import Abstained, Failed, Outcome, Unparsed, Verdict
from umpirical.domain.responses import Response as JudgeResponse
from umpirical.domain.scales import Choice, JudgeKind
from umpirical.domain.stimuli import (
    Family,
    FlippedVerdict,
    GivenLabel,
    GivenWinner,
    NoPreference,
    SameVerdict,
    Stimulus,
)
from umpirical.domain.trials import Layout, Order, Trial, position_of
from umpirical.judges.factory import build_renderer
from umpirical.judges.judge import prompt_id
from umpirical.measures.counting.correctness import FORCED, Result
from umpirical.models.requests import ChatRequest
from umpirical.reports import numbers
from umpirical.runs.judgments import reader_of
from umpirical.runs.plan import request_for, shown
from umpirical.runs.run import Run
from umpirical.store.runs import RunStore
from umpirical.store.snapshots import RunSnapshot, snapshot
from umpirical.text.diffs import Piece, signed, word_diff
from umpirical.view.catalogue import opened
from umpirical.view.index_page import RunLine
from umpirical.view.requests import ViewRequest, notice, page
from umpirical.view.table import SORTS, TITLES, Filters, Option, Places, Shares, TrialRow, TrialTable, UnknownValue
from umpirical.view.tables import OpenTable
from umpirical.view.trial_words import MARKS, preview, previews, purpose, visible

PLANS_KEPT = 8
"""Shards of plans that stay in memory, for whoever goes from one trial to the next."""

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
    judge: JudgeKind
    result: Result

    @property
    def mark(self) -> tuple[str, str]:
        """The sign of the result, and its words."""
        return MARKS[self.result]

    @property
    def tested(self) -> str:
        return purpose(self.stimulus.family, self.stimulus.stratum, self.stimulus.delta)

    @property
    def title(self) -> str:
        """The beginning of the task."""
        return preview(self.stimulus.task.strip(), most=60)

    @property
    def texts(self) -> list[tuple[str, str]]:
        """What the judge was shown, each with where it stood."""
        seen = shown(self.stimulus, self.trial.presentation.order, self.judge)
        return [("Answer", seen.first)] if seen.second is None else [("1", seen.first), ("2", seen.second)]

    @property
    def previews(self) -> list[tuple[str, str]]:
        names, texts = zip(*self.texts, strict=True)
        return list(zip(names, previews(texts), strict=True))

    @property
    def latency(self) -> str:
        return numbers.milliseconds(self.response.latency_ms) if self.response and self.response.latency_ms else ""

    @property
    def cost(self) -> str:
        return "" if self.response is None or self.response.cost is None else numbers.dollars(self.response.cost)

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
        """What the design expects, in the words of what was said."""
        return _expected_choice(self) if self.judge == "compare" else _expected_grade(self.stimulus)


class Trials:
    """The trials of a run at one moment, by their place in the plan."""

    def __init__(self, run: Run, now: RunSnapshot, table: TrialTable) -> None:
        self.run = run
        self._now, self._table = now, table
        self._places = places = Places(run)
        self._read = reader_of(run.judge)
        self._results: Callable[[int], dict[int, Result]] = lru_cache(maxsize=4)(
            lambda shard: table.results(places.first(shard), places.first(shard + 1) - 1)
        )

    def at(self, position: int) -> ShownTrial | None:
        """Returns the trial at a place in the plan; None if there is none."""
        shard = self._places.shard(position)
        plan = self._plan(shard) if 0 <= shard < self.run.shards else []
        if not 0 <= (place := position - self._places.first(shard)) < len(plan):
            return None
        # What is not in the table has no usable reply yet.
        row = TrialRow(position, self._results(shard).get(position, "missing"), plan[place])
        return self.listed([row])[0]

    def _plan(self, shard: int) -> tuple[Trial, ...]:
        [file] = self.run.store.files_of(shard, ())
        stat = file.stat()
        return _planned(self.run.folder, shard, (stat.st_ino, stat.st_mtime_ns, stat.st_size))

    def listed(self, rows: Iterable[TrialRow]) -> list[ShownTrial]:
        """Returns the trials of a list. Of each file that they are in, only they are taken."""
        rows, responses, wanted = [*rows], dict[str, JudgeResponse](), dict[int, set[str]]()
        for row in rows:
            wanted.setdefault(self._places.shard(row.position), set()).add(row.trial.id)
        for shard, trials in wanted.items():
            responses |= self._now.some_responses(shard, trials)
        stimuli = self._table.stimuli(row.trial.stimulus_id for row in rows)
        return [self._shown(row, stimuli[row.trial.stimulus_id], responses.get(row.trial.id)) for row in rows]

    def _shown(self, row: TrialRow, stimulus: Stimulus, response: JudgeResponse | None) -> ShownTrial:
        outcome = None if response is None else self._read(response, row.trial.presentation)
        return ShownTrial(row.position, row.trial, stimulus, response, outcome, self.run.judge.kind, row.result)

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
        shard = self._places.shard(one.position)
        for near in (shard, shard + 1, shard - 1):
            if not 0 <= near < self.run.shards:
                continue
            for place, trial in enumerate(self._plan(near)):
                if _is_turned(trial, one.trial):
                    return self.at(self._places.first(near) + place)
        return None

    def other_version(self, one: ShownTrial) -> ShownTrial | None:
        """Returns the same question about the other version, in the same order."""
        table = self._table
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


@lru_cache(maxsize=PLANS_KEPT)
def _planned(folder: Path, shard: int, _: tuple[int, int, int]) -> tuple[Trial, ...]:
    """Reads a shard of a plan, which has the trials of one page and their twins; again if its file has changed."""
    return tuple(trial for trial, _ in RunStore(folder).plan_shard(shard))


@contextmanager
def looking(run: Run, table: TrialTable) -> Iterator[Trials]:
    """Opens the trials of a run as they are now."""
    with snapshot(run.store) as now:
        yield Trials(run, now, table)


def _is_turned(trial: Trial, one: Trial) -> bool:
    ways = trial.presentation, one.presentation
    return trial.stimulus_id == one.stimulus_id and ways[0].order != ways[1].order and ways[0].pair == ways[1].pair


UNSCORED = "no single right answer"


def _expected_choice(one: ShownTrial) -> str:
    stimulus, way = one.stimulus, one.trial.presentation
    if isinstance(stimulus.expectation, GivenWinner):
        slot = Choice(str(position_of(stimulus.expectation.candidate, way.order)))
        return f"position {slot}, answer {one.content(slot)}"
    return UNSCORED if stimulus.family == Family.SUBSET or way.variant == FORCED else "tie"


def _expected_grade(stimulus: Stimulus) -> str:
    match stimulus.expectation:
        case GivenWinner():
            # A pair is graded one answer at a time: what is right is the order of two grades.
            relative = ""
        case NoPreference():
            relative = "lowest grade" if stimulus.family == Family.BLANK else ""
        case GivenLabel(label=label):
            return f"grade {label}"
        case SameVerdict():
            relative = "same verdict as before the change"
        case FlippedVerdict():
            relative = "different verdict than before the change"
        case _:
            assert_never(stimulus.expectation)
    return ", ".join(filter(None, [f"grade {stimulus.gold}" if stimulus.gold else "", relative])) or UNSCORED


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


@dataclass(frozen=True, slots=True)
class Facet:
    """A value of a filter that is a link: to the trials with it, or without the filter if it is chosen."""

    words: str
    count: int
    query: str
    is_chosen: bool
    mark: str = ""


FACETS = ("result", "family")
"""The filters that are shown as links; the others are in a form."""


def trials_page(request: ViewRequest) -> Response:
    """Lists trials by the filters in the address."""
    run, query = request.run(), request.query
    state = request.view.catalogue.state(run)
    table = request.view.tables.of(run)
    try:
        filters = table.shares.read(query)
        after = _number(dict(query).get("page", ""), otherwise=-1)
    except UnknownValue as unknown:
        return notice(request, 404, "No such trials", str(unknown))
    shares = table.found(filters)
    found = table.table.page(filters, shares, after=after)
    with looking(opened(run), table.table) as trials:
        rows = trials.listed(found.rows)
    return page(
        request,
        "trials.html",
        run=run,
        line=RunLine(run, state),
        filters=filters,
        results=[facet for facet in _facets("result", shares, filters) if facet.count or facet.is_chosen],
        families=_facets("family", shares, filters),
        options=[(name, TITLES[name], _worth(shares.options(name, filters))) for name in TITLES if name not in FACETS],
        kept=[(name, value) for name in FACETS if isinstance(value := filters.value(name), str)],
        sorts={name: _sorting(filters, name) for name in SORTS},
        total=shares.total(filters),
        rows=rows,
        has_cost=any(row.cost for row in rows),
        has_latency=any(row.latency for row in rows),
        following=found.following,
        is_first=after < 0,
        behind=table.behind,
    )


def _facets(name: str, shares: Shares, filters: Filters) -> list[Facet]:
    found = []
    for option in shares.options(name, filters):
        mark, words = MARKS.get(option.text, ("", purpose(option.text)))
        other = filters.without(name) if option.is_chosen else filters.with_value(name, option.value)
        found.append(Facet(words, option.count, other.query(), option.is_chosen, mark))
    return found


def _sorting(filters: Filters, name: str) -> tuple[str, str]:
    """Returns the address of a list in another order, and how the list is ordered by it now."""
    state = ("descending" if filters.is_reversed else "ascending") if filters.sort == name else ""
    return filters.sorted_by(name).query(), state


def trial_page(request: ViewRequest) -> Response:
    """Shows one trial, both orders and both versions."""
    run, query = request.run(), request.query
    found = request.view.tables.of(run)
    table = found.table
    position = _number(request.http.path_params["position"], otherwise=-1)
    whole = dict(query).get("whole") == "1"
    try:
        filters = found.shares.read(query)
    except UnknownValue as unknown:
        return notice(request, 404, "No such trials", str(unknown))
    with looking(opened(run), table) as trials:
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
            task=_cut(Text("Task", one.stimulus.task), whole=whole),
            sides=_sides(one, table, whole=whole),
            prompt=[_cut(text, whole=whole) for text in texts],
            is_sent=is_sent,
            answer=_answer(one, whole=whole),
            facts=_facts(one),
            layout=_layout(one.trial.presentation.layout),
            square=_square(trials, one, whole=whole),
            whole=whole,
            filters=filters,
            previous=_beside(found, filters, position, is_backwards=True),
            following=_beside(found, filters, position, is_backwards=False),
        )


def _beside(table: OpenTable, filters: Filters, position: int, *, is_backwards: bool) -> int | None:
    """Returns the trial before or after this one in the list that the reader came from."""
    rows = table.table.page(filters, table.found(filters), after=position, size=1, is_backwards=is_backwards).rows
    return rows[0].position if rows else None


@dataclass(frozen=True, slots=True)
class Side:
    """One of the texts that stand side by side, with what the other one does not have marked."""

    title: str
    pieces: tuple[Piece, ...]
    blank: str
    """What a text without visible characters consists of."""
    excluded: int

    @property
    def is_marked(self) -> bool:
        return any(piece.kind != "same" for piece in self.pieces)


MOST_CHANGED = 0.5
"""Share of a text up to which differences are marked. Texts that have little in common are easier to read without."""


def _sides(one: ShownTrial, table: TrialTable, *, whole: bool) -> list[Side]:
    """Returns what the judge was shown, compared: two answers, or a changed text and its original."""
    texts = [
        Text(f"Position {name}, answer {one.content(Choice(name))}" if one.judge == "compare" else name, text)
        for name, text in one.texts
    ]
    if one.judge == "grade" and one.stimulus.parent:
        parents = table.stimuli([one.stimulus.parent]).values()
        before = [
            Text("Original" if each.family == Family.ORIGINAL else "Before", each.candidates[0]) for each in parents
        ]
        texts = [*before, Text("Changed text", texts[0].words)]
    cut = [_cut(text, whole=whole) for text in texts]
    if len(cut) == 1:
        return [_side(cut[0], [Piece("same", cut[0].words)])]
    pieces = word_diff(cut[0].words, cut[1].words)
    longest = max(len(text.words) for text in cut)
    if sum(len(piece.text) for piece in pieces if piece.kind == "same") < (1 - MOST_CHANGED) * longest:
        return [_side(text, [Piece("same", text.words)]) for text in cut]
    kinds = ("removed", "added")
    return [_side(text, [p for p in pieces if p.kind in ("same", kind)]) for text, kind in zip(cut, kinds, strict=True)]


def _side(text: Shown, pieces: Iterable[Piece]) -> Side:
    marked = tuple(p if p.kind == "same" else Piece(p.kind, signed(p.text)) for p in pieces)
    return Side(text.title, marked, "" if text.words.strip() else visible(text.words), text.excluded)


def _worth(options: list[Option]) -> list[Option]:
    """A filter with one value, or none, filters nothing."""
    named = [option for option in options if option.text]
    return named if len(named) > 1 or any(option.is_chosen for option in named) else []


def _square(trials: Trials, one: ShownTrial, *, whole: bool) -> list[list[Beside]]:
    """Returns the trial and its twins: a row for each version, a column for each order."""
    rows = [[one, trials.other_order(one)]]
    if (version := trials.other_version(one)) is not None:
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
        ("Took", one.latency),
        ("Attempts", f"{response.attempts:,}" if response.attempts > 1 else ""),
        ("Tokens in", "" if usage.input_tokens is None else f"{usage.input_tokens:,}"),
        ("Tokens out", "" if usage.output_tokens is None else f"{usage.output_tokens:,}"),
        ("Cost", one.cost),
    ]
    return [(name, value) for name, value in found if value]


def _number(text: str, *, otherwise: int) -> int:
    """A position in an address. Raises for anything else."""
    if not text:
        return otherwise
    if not (text.isascii() and text.isdigit()) or len(text) > 12:
        raise HTTPException(400, "This address does not contain a trial number.")
    return min(int(text), LARGEST_POSITION)
