"""The pages of runs: one with the trials behind each figure, and the history of a judge."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from umpirical.domain.errors import UmpiricalError
from umpirical.domain.measures import Estimate
from umpirical.domain.stimuli import Family
from umpirical.domain.trials import BASELINE
from umpirical.protocols.catalogue import ReadRecord, read_record
from umpirical.protocols.protocol import DecidesByPolicy, Decision, HoldsToChecks
from umpirical.reports import numbers
from umpirical.reports.charts import DotCell, NotDrawn, dot_cell
from umpirical.reports.gate import BaselineRecord, HeldCheck, own_measures
from umpirical.reports.record import AuditRow, MeasureRecord
from umpirical.study.results import gate_run
from umpirical.view.catalogue import Catalogue, FoundRun, Signature, opened
from umpirical.view.index_page import RunLine, every_run, run_documents
from umpirical.view.requests import COOKIE, ServedView, ViewRequest, page, view_of
from umpirical.view.table import Filters, Shares, UnknownValue
from umpirical.view.tables import FirstEstimate, OpenTable, numbers_of
from umpirical.view.trial_words import purpose
from umpirical.web.guard import session_of

_EQUAL = (
    "raw-false-preference stable-cross-sensitivity unlocked-cross-sensitivity positional-false-preference "
    "one-sided-commit other-conflict no-preference one-sided-slot one-sided-content slot-1-rate slot-2-rate "
    "excess-stable excess-positional slot-effect label-effect list-effect tie-place-effect"
)
_LADDER = (
    "target-sensitivity both-orders-sensitivity wrong-choice-rate committed-accuracy detection-threshold d-prime "
    "task-following task-blind-preference task-reversal one-version-preference neither-version-preference "
    "text-appeal sensitivity-shift grade-concordance grade-slope tie-rate criterion-shift"
)

FAMILIES: Mapping[str, str] = (
    dict.fromkeys(_EQUAL.split(), Family.EQUAL)
    | dict.fromkeys(_LADDER.split(), Family.GRADED)
    | dict.fromkeys(("figure-sensitivity", "figure-following", "figure-blind-preference"), Family.FIGURES)
    | {"fine-sensitivity": Family.FINE}
    | dict.fromkeys(("conflict-loss", "conflict-excess"), Family.CONFLICT)
    | dict.fromkeys(("requirement-weight", "requirement-weight-ratio", "requirement-weight-test"), Family.SUBSET)
    | dict.fromkeys(("carrier-following", "carrier-blind-preference"), Family.OWN_FIGURES)
    | {
        "dark-current": Family.BLANK,
        "length-preference": Family.LENGTH,
        "carrier-sensitivity": Family.OWN_GRADED,
        "carrier-false-preference": Family.OWN_EQUAL,
    }
)
"""The family that a measure on controlled stimuli is about; those that it is also compared with are not shown."""

OUTCOMES = {"abstention-rate": "abstained", "unparsed-rate": "unparsed", "failure-rate": "failed"}
"""Measures of calls lead to the calls that they count."""


VERDICTS = {"position_1": "1", "position_2": "2", "tie": "tie", "graded": None}
"""The verdicts in a record's audit, and the answer of each. Which grade was given it does not say."""


def shares_of_audit(audit: Iterable[AuditRow]) -> Shares:
    """Returns the trials of a measured run as its record has counted them. It knows neither orders nor results."""
    counts: Counter[tuple[str | float | None, ...]] = Counter()
    for row in audit:
        part = (row.family, row.stratum, row.delta, row.variant, None)
        for name, answer in VERDICTS.items():
            counts[*part, "verdict", answer, None] += getattr(row, name)
        for outcome in ("abstained", "unparsed", "failed", "unasked"):
            counts[*part, outcome, None, None] += getattr(row, outcome)
    return Shares({key: count for key, count in counts.items() if count})


def behind(measure: MeasureRecord, shares: Shares) -> Filters:
    """Returns the narrowest filters that hold for the trials behind a measure; of none, all trials of the run."""
    family, stratum = FAMILIES.get(measure.name, ""), measure.stratum
    wanted = [("variant", measure.variant), ("outcome", OUTCOMES.get(measure.name, "")), ("family", family)]
    # A part of the design is a step of a ladder, a part of a family, or a family: the test of a stress study.
    wanted += [("step", stratum), ("part", stratum)] if family else [("family", stratum)]
    if (family, stratum) == (Family.GRADED, "0"):
        wanted = [("variant", measure.variant), ("family", Family.EQUAL)]
    found = Filters()
    for name, value in wanted:
        with suppress(UnknownValue):
            more = shares.read([(name, value)])
            joined = Filters((*found.chosen, *more.chosen))
            # A value may be known elsewhere: a vacuum class is also the name of a change of surface.
            found = joined if shares.total(joined) else found
    return found


# The page of one run: live while it is asked, and from every number to the trials behind it.


RECORDS_KEPT = 32
"""Measured runs of which the figures stay in memory."""

PAUSE_SECONDS = 1.0
"""Between two looks at a run in progress."""


@dataclass(frozen=True, slots=True)
class MeasureLine:
    """A figure of the record, and the way to the trials behind it."""

    title: str
    about: str
    part: str
    value: str
    interval: str
    counts: str
    query: str
    trials: int


def run_page(request: ViewRequest) -> Response:
    """Shows a run as it is now."""
    run = request.run()
    state = request.view.catalogue.state(run)
    if state.damage:
        return page(request, "damage.html", run=run, state=state, line=RunLine(run, state))
    measured = _shown(run.folder / state.document, run.signature()) if state.document else NOT_MEASURED
    table, estimates, shares = None, list[FirstEstimate](), measured.shares
    if state.document:
        # The record has counted the trials already. Whoever wants to see them finds their table open.
        request.view.tables.prepare(run)
    elif state.answered or state.failed:
        table = request.view.tables.of(run)
        estimates, shares = _estimates(request.view, run, table), table.shares
    return page(
        request,
        "run.html",
        run=run,
        line=RunLine(run, state),
        state=state,
        live=numbers_of(run, state, table, estimates),
        behind=table.behind if table is not None else 0,
        estimates=estimates,
        outcomes=shares.options("outcome", Filters()),
        families=shares.options("family", Filters()),
        purpose=purpose,
        total=shares.total(),
        documents=run_documents(run),
        measured=measured,
    )


async def events(http: Request) -> Response:
    """Server-sent events about a run: what has changed on its page, whenever it has."""
    view, session = view_of(http.app), session_of(http, COOKIE)
    if not session or not view.door.knows(session):
        return PlainTextResponse("You are not signed in.\n", status_code=401)
    if view.streams.is_full(session):
        return PlainTextResponse("Too many pages are open in this session.\n", status_code=429)
    run = await run_in_threadpool(view.catalogue.run, http.path_params["run"])
    if run is None:
        raise HTTPException(404, "This run does not exist, or was removed.")
    return StreamingResponse(_stream(view, session, run), media_type="text/event-stream")


async def _stream(view: ServedView, session: str, run: FoundRun) -> AsyncIterator[str]:
    with view.streams.one_more(session) as is_welcome:
        if not is_welcome:
            return
        sent: dict[str, str] = {}
        yield ": here\n\n"
        while not view.closed:
            found = await run_in_threadpool(_numbers, view, run)
            if found is None:
                yield "event: gone\ndata: {}\n\n"
                return
            if changed := {name: text for name, text in found.items() if sent.get(name) != text}:
                yield f"data: {json.dumps(changed)}\n\n"
                sent = found
            if found["state"] == "measured":
                yield "event: measured\ndata: {}\n\n"
                return
            await asyncio.sleep(PAUSE_SECONDS)


def _numbers(view: ServedView, run: FoundRun) -> dict[str, str] | None:
    """What is on the page of a run that changes; None if the run cannot be read any more."""
    try:
        if view.catalogue.run(run.key) is None:
            return None
        state = view.catalogue.state(run)
        if state.damage:
            return None
        table = view.tables.of(run) if state.answered or state.failed else None
        estimates = _estimates(view, run, table) if not state.document and table is not None else []
        return numbers_of(run, state, table, estimates) | {"state": "measured" if state.document else "asked"}
    except (UmpiricalError, OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _estimates(view: ServedView, run: FoundRun, table: OpenTable) -> list[FirstEstimate]:
    return view.estimates.of(opened(run), table)


@dataclass(frozen=True, slots=True)
class ShownRecord:
    """What the page of a run shows of its record."""

    shares: Shares
    decided: Decision | None
    checks: Sequence[HeldCheck]
    whole: Sequence[MeasureLine]
    """The figures about a whole."""
    parts: Sequence[MeasureLine]
    """Those about a part of the design."""


NOT_MEASURED = ShownRecord(Shares({}), None, (), (), ())


@lru_cache(maxsize=RECORDS_KEPT)
def _shown(file: Path, _: Signature) -> ShownRecord:
    """Reads a record; again once anything about its run has changed."""
    found = read_record(file)
    shares = shares_of_audit(found.record.audit)
    lines = [(bool(each.stratum or getattr(each, "group", "")), _line(each, shares)) for each in found.record.measures]
    return ShownRecord(
        shares=shares,
        decided=found.protocol.decision(found.record),
        checks=found.protocol.held_checks(found.record) if isinstance(found.protocol, HoldsToChecks) else (),
        whole=[line for is_part, line in lines if not is_part],
        parts=[line for is_part, line in lines if is_part],
    )


def _line(measure: MeasureRecord, shares: Shares) -> MeasureLine:
    found, result = behind(measure, shares), measure.result
    parts = (
        numbers.part(measure.stratum),
        getattr(measure, "group", ""),
        "" if measure.variant == BASELINE else measure.variant,
    )
    words = (measure.title, measure.about, ", ".join(filter(None, parts)))
    query, trials = found.query(), shares.total(found)
    if not isinstance(result, Estimate):
        return MeasureLine(*words, "undefined", result.reason, "", query, trials)
    return MeasureLine(
        *words,
        numbers.measured_value(measure, result),
        numbers.measured_interval(measure, result.interval),
        numbers.measured_counts(measure, result),
        query,
        trials,
    )


# A run against a policy and a baseline, and a judge over time.


def gate_page(request: ViewRequest) -> Response:
    """Shows what `umpirical gate` decides from the record of a run."""
    run, catalogue, asked = request.run(), request.view.catalogue, dict(request.query)
    file = record_file(catalogue, run)
    if file is None:
        raise HTTPException(409, "This run is not measured yet, so no policy can be applied.")
    found = read_record(file)
    deciding = found.protocol if isinstance(found.protocol, DecidesByPolicy) else None
    policies, policy = deciding.policies if deciding else (), asked.get("policy", "")
    # By name among those that are shipped, and never as a file: an address is no way to have one read.
    if policy and policy not in policies:
        raise HTTPException(404, "This policy does not exist.")
    others, key = _comparable_runs(catalogue, run), asked.get("baseline", "")
    before = next((line for line in others if line.run.key == key), None)
    if key and before is None:
        raise HTTPException(404, "The baseline run does not exist.")
    baseline = None if before is None else record_file(catalogue, before.run)
    return page(
        request,
        "gate.html",
        run=run,
        line=RunLine(run, catalogue.state(run)),
        gate=gate_run(file, policy=policy, baseline=baseline),
        policies=policies,
        policy=policy,
        own_policy=deciding.policy_name(found.record) if deciding else "",
        others=others,
        before=before,
        run_path=run.folder.relative_to(catalogue.root),
        before_path=None if before is None else before.run.folder.relative_to(catalogue.root),
    )


def record_file(catalogue: Catalogue, run: FoundRun) -> Path | None:
    """Returns the file with the record of a run; None while it is not measured, or if it cannot be read."""
    state = catalogue.state(run)
    return run.folder / state.document if state.document and not state.damage else None


def _comparable_runs(catalogue: Catalogue, run: FoundRun) -> list[RunLine]:
    """Returns the other measured runs of the same protocol on the same stimuli, the latest first."""
    wanted = RunLine(run, catalogue.state(run)).basis
    return [line for line in every_run(catalogue) if line.run != run and line.state.document and line.basis == wanted]


# The history of one judge: its runs, and every limited measure from run to run.


MOST_RUNS = 24
"""Measured runs of a judge whose figures are shown, the latest ones: each record takes some time to read."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A run with its record."""

    line: RunLine
    found: ReadRecord

    @property
    def model(self) -> str:
        return self.found.record.judge.model

    @property
    def stimuli(self) -> str:
        return self.found.record.run.stimuli


@dataclass(frozen=True, slots=True)
class Point:
    """One measure in one run."""

    line: RunLine
    value: str
    interval: str
    verdict: str
    cell: DotCell | NotDrawn
    is_alike: bool
    """Whether the run has the stimuli of the latest one: values on others differ for that alone."""


@dataclass(frozen=True, slots=True)
class Trend:
    """One limited measure, from the latest run to the first."""

    title: str
    allowed: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """The latest run against the one before it on the same stimuli."""

    now: RunLine
    before: RunLine
    baseline: BaselineRecord | None
    why: str = ""
    """Why the two cannot be compared."""


@dataclass(frozen=True, slots=True)
class History:
    """What one protocol measured of a judge over time."""

    protocol: str
    runs: tuple[Measured, ...]
    """The latest first."""
    change: Change | None
    trends: tuple[Trend, ...]


def history_page(request: ViewRequest) -> Response:
    """Shows a judge over time."""
    catalogue, name = request.view.catalogue, request.http.path_params["judge"]
    lines = [line for line in every_run(catalogue) if line.judge_key == name]
    if not lines:
        raise HTTPException(404, "This judge has no runs.")
    measured = _measured(catalogue, lines)
    return page(
        request,
        "history.html",
        judge=lines[0].state.judge,
        lines=lines,
        shown=sum(len(runs) for runs in measured.values()),
        histories=[_history(protocol, runs) for protocol, runs in measured.items()],
    )


def _measured(catalogue: Catalogue, lines: list[RunLine]) -> dict[str, list[Measured]]:
    """Reads the latest records, by protocol."""
    found: dict[str, list[Measured]] = {}
    files = [(line, file) for line in lines if (file := record_file(catalogue, line.run)) is not None]
    for line, file in files[:MOST_RUNS]:
        read = read_record(file)
        found.setdefault(read.protocol.name, []).append(Measured(line, read))
    return found


def _history(protocol: str, runs: list[Measured]) -> History:
    return History(protocol, tuple(runs), _change(runs), tuple(_trends(runs)))


def _change(runs: Sequence[Measured]) -> Change | None:
    now = runs[0]
    before = next((each for each in runs[1:] if each.stimuli == now.stimuli), None)
    if before is None:
        return None
    try:
        gate = gate_run(now.found.file, baseline=before.found.file)
    except UmpiricalError as error:
        return Change(now.line, before.line, None, str(error))
    return Change(now.line, before.line, gate.baseline)


def _trends(runs: Sequence[Measured]) -> Iterator[Trend]:
    """Yields the measures that the latest record checks, as each run has them."""
    held = {each.line.run.key: _held(each) for each in runs}
    for check in held[runs[0].line.run.key].values():
        points = (_point(each, held[each.line.run.key].get(_place(check)), runs[0].stimuli, check) for each in runs)
        yield Trend(check.title, check.allowed, tuple(points))


def _held(measured: Measured) -> dict[tuple[str, str], HeldCheck]:
    protocol, record = measured.found.protocol, measured.found.record
    held = protocol.held_checks(record) if isinstance(protocol, HoldsToChecks) else []
    return {_place(check): check for check in held}


def _place(check: HeldCheck) -> tuple[str, str]:
    return check.measure, check.stratum


def _point(measured: Measured, held: HeldCheck | None, stimuli: str, check: HeldCheck) -> Point:
    record = measured.found.record
    measure = next((each for each in own_measures(record) if (each.name, each.stratum) == _place(check)), None)
    verdict, is_alike = held.verdict if held else "", measured.stimuli == stimuli
    if measure is None or not isinstance(measure.result, Estimate):
        missing = held.why if held else "not measured"
        why = missing if measure is None or measure.result.kind != "undefined" else measure.result.reason
        return Point(measured.line, "", why, verdict, NotDrawn(why), is_alike)
    checks = [each for each in getattr(record, "checks", ()) if (each.measure, each.stratum) == _place(check)]
    own = next((each for each in checks if each.variant == measure.variant), None)
    return Point(
        measured.line,
        numbers.measured_value(measure, measure.result),
        numbers.measured_interval(measure, measure.result.interval),
        verdict,
        dot_cell(measure, own),
        is_alike,
    )
