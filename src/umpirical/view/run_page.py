"""The page of one run, with the trials behind each figure."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from umpirical.domain.errors import UmpiricalError
from umpirical.domain.stimuli import Family
from umpirical.domain.trials import BASELINE
from umpirical.protocols.catalogue import ReadRecord, read_record
from umpirical.protocols.protocol import Decision, HoldsToLimits
from umpirical.reports import numbers
from umpirical.reports.gate import HeldLimit
from umpirical.reports.record import AuditRow, EstimateRecord, MeasureRecord
from umpirical.view.catalogue import FoundRun, opened
from umpirical.view.index_page import RunLine, run_documents
from umpirical.view.requests import COOKIE, ServedView, ViewRequest, page, view_of
from umpirical.view.table import Filters, Shares, UnknownValue
from umpirical.view.tables import FirstEstimate, OpenTable, numbers_of
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
    dict.fromkeys(_EQUAL.split(), Family.DELTA0)
    | dict.fromkeys(_LADDER.split(), Family.LADDER)
    | dict.fromkeys(("figure-sensitivity", "figure-following", "figure-blind-preference"), Family.FIGURES)
    | dict.fromkeys(("conflict-loss", "conflict-excess"), Family.CONFLICT)
    | dict.fromkeys(("requirement-weight", "requirement-weight-ratio", "requirement-weight-test"), Family.SUBSET)
    | dict.fromkeys(("carrier-following", "carrier-blind-preference"), Family.CARRIER_FIGURES)
    | {
        "dark-current": Family.VACUUM,
        "length-preference": Family.LENGTH,
        "carrier-sensitivity": Family.CARRIER_LADDER,
        "carrier-false-preference": Family.CARRIER_DELTA0,
    }
)
"""The family that a measure on controlled stimuli is about; those that it is also compared with are not shown."""

OUTCOMES = {"abstention-rate": "abstained", "unparsed-rate": "unparsed", "failure-rate": "failed"}
"""Measures of calls lead to the calls that they count."""


VERDICTS = {"slot_1": "1", "slot_2": "2", "tie": "tie", "graded": None}
"""The verdicts in a record's audit, and the answer of each. Which grade was given it does not say."""


def shares_of_audit(audit: Iterable[AuditRow]) -> Shares:
    """Returns the trials of a measured run as its record has counted them. It does not tell the orders apart."""
    counts: Counter[tuple[str | float | None, ...]] = Counter()
    for row in audit:
        part = (row.family, row.stratum, row.delta, row.arm, None)
        for name, answer in VERDICTS.items():
            counts[*part, "verdict", answer] += getattr(row, name)
        for outcome in ("abstained", "unparsed", "failed", "unasked"):
            counts[*part, outcome, None] += getattr(row, outcome)
    return Shares({key: count for key, count in counts.items() if count})


def behind(measure: MeasureRecord, shares: Shares) -> Filters:
    """Returns the narrowest filters that hold for the trials behind a measure; of none, all trials of the run."""
    family, stratum = FAMILIES.get(measure.name, ""), measure.stratum
    wanted = [("arm", measure.arm), ("outcome", OUTCOMES.get(measure.name, "")), ("family", family)]
    # A part of the design is a step of a ladder, a part of a family, or a family: the test of a stress study.
    wanted += [("step", stratum), ("part", stratum)] if family else [("family", stratum)]
    if (family, stratum) == (Family.LADDER, "0"):
        wanted = [("arm", measure.arm), ("family", Family.DELTA0)]
    found = Filters()
    for name, value in wanted:
        with suppress(UnknownValue):
            more = shares.read([(name, value)])
            joined = Filters((*found.chosen, *more.chosen))
            # A value may be known elsewhere: a vacuum class is also the name of a change of surface.
            found = joined if shares.total(joined) else found
    return found


# The page of one run: live while it is asked, and from every number to the trials behind it.


PAUSE_SECONDS = 1.0
"""Between two looks at a run in progress."""


@dataclass(frozen=True, slots=True)
class MeasureLine:
    """A figure of the record, and the way to the trials behind it."""

    title: str
    about: str
    part: str
    value: str
    limits: str
    counts: str
    query: str
    trials: int


def run_page(request: ViewRequest) -> Response:
    """Shows a run as it is now."""
    run = request.run()
    state = request.view.catalogue.state(run)
    if state.damage:
        return page(request, "damage.html", run=run, state=state, line=RunLine(run, state))
    record = _record(run, state.document)
    table, estimates = None, list[FirstEstimate]()
    if record is not None:
        # The record has counted the trials already. Whoever wants to see them finds their table open.
        shares = shares_of_audit(record.record.audit)
        request.view.tables.prepare(run)
    elif state.answered or state.failed:
        table = request.view.tables.of(run)
        estimates, shares = _estimates(request.view, run, table), table.shares
    else:
        shares = Shares({})
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
        total=shares.total(),
        documents=run_documents(run),
        decided=_decided(record),
        limits=_limits(record),
        **_lines(record, shares),
    )


async def events(http: Request) -> Response:
    """Server-sent events about a run: what has changed on its page, whenever it has."""
    view, session = view_of(http.app), session_of(http, COOKIE)
    if not session or not view.door.knows(session):
        return PlainTextResponse("You are not signed in.\n", status_code=401)
    if view.streams.is_full(session):
        return PlainTextResponse("Too many pages of this session are open.\n", status_code=429)
    run = await run_in_threadpool(view.catalogue.run, http.path_params["run"])
    if run is None:
        raise HTTPException(404, "This run is not there, or no longer.")
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


def _record(run: FoundRun, document: str) -> ReadRecord | None:
    return read_record(run.folder / document) if document else None


def _decided(found: ReadRecord | None) -> Decision | None:
    return None if found is None else found.protocol.decision(found.record)


def _limits(found: ReadRecord | None) -> list[HeldLimit]:
    if found is None or not isinstance(found.protocol, HoldsToLimits):
        return []
    return found.protocol.held_limits(found.record)


def _lines(found: ReadRecord | None, shares: Shares) -> dict[str, Any]:
    """Returns the figures of a record: those about a whole first, and those about a part of the design."""
    measures: list[MeasureRecord] = [] if found is None else found.record.measures
    lines = [(measure, _line(measure, shares)) for measure in measures]
    return {
        "whole": [line for measure, line in lines if not measure.stratum and not getattr(measure, "group", "")],
        "parts": [line for measure, line in lines if measure.stratum or getattr(measure, "group", "")],
    }


def _line(measure: MeasureRecord, shares: Shares) -> MeasureLine:
    found, result = behind(measure, shares), measure.result
    parts = (
        numbers.part(measure.stratum),
        getattr(measure, "group", ""),
        "" if measure.arm == BASELINE else measure.arm,
    )
    words = (measure.title, measure.about, ", ".join(filter(None, parts)))
    query, trials = found.query(), shares.total(found)
    if not isinstance(result, EstimateRecord):
        return MeasureLine(*words, "undefined", result.reason, "", query, trials)
    return MeasureLine(
        *words,
        numbers.measured_value(measure, result),
        numbers.measured_interval(measure, result.interval),
        numbers.measured_counts(measure, result),
        query,
        trials,
    )
