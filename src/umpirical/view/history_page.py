"""A run against a policy and a baseline, and a judge over time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import Response

from umpirical.domain.errors import UmpiricalError
from umpirical.protocols.catalogue import ReadRecord, read_record
from umpirical.protocols.protocol import DecidesByPolicy, HoldsToLimits
from umpirical.reports import numbers
from umpirical.reports.charts.dots import DotCell, dot_cell
from umpirical.reports.charts.drawing import NotDrawn
from umpirical.reports.gate import BaselineRecord, HeldLimit, own_measures
from umpirical.reports.record import EstimateRecord
from umpirical.study.results import gate_run
from umpirical.view.catalogue import Catalogue, FoundRun
from umpirical.view.index_page import RunLine, every_run
from umpirical.view.requests import ViewRequest, page


def gate_page(request: ViewRequest) -> Response:
    """Shows what `umpirical gate` decides from the record of a run."""
    run, catalogue, asked = request.run(), request.view.catalogue, dict(request.query)
    file = record_file(catalogue, run)
    if file is None:
        raise HTTPException(409, "This run is not measured yet, so there is nothing to hold to a policy.")
    found = read_record(file)
    deciding = found.protocol if isinstance(found.protocol, DecidesByPolicy) else None
    policies, policy = deciding.policies if deciding else (), asked.get("policy", "")
    # By name among those that are shipped, and never as a file: an address is no way to have one read.
    if policy and policy not in policies:
        raise HTTPException(404, "There is no such policy.")
    others, key = _comparable_runs(catalogue, run), asked.get("baseline", "")
    before = next((line for line in others if line.run.key == key), None)
    if key and before is None:
        raise HTTPException(404, "There is no such run to compare with.")
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
    limits: str
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
        raise HTTPException(404, "There is no run of this judge, or no longer.")
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
    """Yields the measures that the latest record limits, as each run has them."""
    held = {each.line.run.key: _held(each) for each in runs}
    for limit in held[runs[0].line.run.key].values():
        points = (_point(each, held[each.line.run.key].get(_place(limit)), runs[0].stimuli, limit) for each in runs)
        yield Trend(limit.title, limit.allowed, tuple(points))


def _held(measured: Measured) -> dict[tuple[str, str], HeldLimit]:
    protocol, record = measured.found.protocol, measured.found.record
    held = protocol.held_limits(record) if isinstance(protocol, HoldsToLimits) else []
    return {_place(limit): limit for limit in held}


def _place(limit: HeldLimit) -> tuple[str, str]:
    return limit.measure, limit.stratum


def _point(measured: Measured, held: HeldLimit | None, stimuli: str, limit: HeldLimit) -> Point:
    record = measured.found.record
    measure = next((each for each in own_measures(record) if (each.name, each.stratum) == _place(limit)), None)
    verdict, is_alike = held.verdict if held else "", measured.stimuli == stimuli
    if measure is None or not isinstance(measure.result, EstimateRecord):
        why = "not measured" if measure is None or measure.result.kind != "undefined" else measure.result.reason
        return Point(measured.line, "", why, verdict, NotDrawn(why), is_alike)
    limits = [each for each in getattr(record, "limits", ()) if (each.measure, each.stratum) == _place(limit)]
    own = next((each for each in limits if each.arm == measure.arm), None)
    return Point(
        measured.line,
        numbers.measured_value(measure, measure.result),
        numbers.measured_interval(measure, measure.result.interval),
        verdict,
        dot_cell(measure, own),
        is_alike,
    )
