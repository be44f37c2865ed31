"""Holds a run, or what was published about it, to a policy and to an earlier run. Makes no calls."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from umpirical.domain.errors import UsageError
from umpirical.protocols.catalogue import protocol_of_run, read_record
from umpirical.protocols.protocol import DecidesByPolicy, HoldsToLimits, Protocol
from umpirical.reports.gate import (
    BaselineRecord,
    GateDecision,
    HeldLimit,
    Ruling,
    own_measures,
    ruling,
    ruling_of_limits,
)
from umpirical.reports.record import Record, ResultRecord, result_record
from umpirical.reports.regressions import MARGIN, regressions
from umpirical.reports.significance import LEVEL
from umpirical.runs.run import Run, open_run
from umpirical.study.run import has_enough
from umpirical.study.run_targets import find_run

RECORDS = ".json"
"""How the file of a record ends; anything else names a run."""


@dataclass(frozen=True, slots=True)
class _Subject:
    """A judge as it was measured: a run, or a record without the run that it was made from."""

    name: str
    protocol: Protocol[Any, Any]
    record: Record
    run: Run | None


def gate_run(
    target: str | Path,
    *,
    policy: str | Mapping[str, Any] = "",
    baseline: str | Path | None = None,
    margin: float = MARGIN,
) -> GateDecision:
    """Holds the run or the record that a person names to a policy, or to the one that it was made for.

    The responses of a run are read again. A record is taken at its word, and decided on again: its measures count, and
    not the decision in it. With `baseline`, an earlier run or record on the same stimuli, a measure that the policy
    limits and that is shown to be worse by more than `margin` is a regression.
    """
    if not 0 <= margin < 1:
        raise UsageError(f"the margin is {margin}", fix="give a share from 0 to 1, such as 0.05")
    subject = _subject(target)
    protocol, record = subject.protocol, subject.record
    if isinstance(protocol, DecidesByPolicy):
        record = protocol.hold(record, policy) if policy else protocol.as_published(record, record)
    elif policy:
        raise DecidesByPolicy.missing(protocol)
    if not isinstance(protocol, HoldsToLimits):
        raise HoldsToLimits.missing(protocol)
    limits = protocol.held_limits(record)
    decided = protocol.decision(record)
    earlier = None if baseline is None else _against(subject, _subject(baseline), limits, margin)
    ruled = ruling(
        Ruling(decided.verdict, decided.line, decided.exit_code) if decided else ruling_of_limits(limits),
        enough=has_enough(record),
        baseline=earlier,
    )
    return GateDecision(
        judge=record.judge.name,
        run=subject.name,
        protocol=protocol.name,
        policy=protocol.policy_name(record) if isinstance(protocol, DecidesByPolicy) else "",
        limits=limits,
        baseline=earlier,
        **ruled._asdict(),
    )


def _subject(target: str | Path) -> _Subject:
    path = Path(target)
    if path.suffix == RECORDS and path.is_file():
        stored = read_record(path)
        return _Subject(stored.record.run.id, stored.protocol, stored.record, None)
    run = open_run(find_run(target))
    protocol = protocol_of_run(run.store)
    return _Subject(run.name, protocol, protocol.report(run), run)


def _against(now: _Subject, before: _Subject, limits: list[HeldLimit], margin: float) -> BaselineRecord:
    _refuse_other(now, before)
    return BaselineRecord(
        judge=before.record.judge.name,
        run=before.name,
        margin=margin,
        level=LEVEL,
        rows=regressions(
            limits, own_measures(before.record), own_measures(now.record), paired=_paired(now, before), margin=margin
        ),
    )


def _refuse_other(now: _Subject, before: _Subject) -> None:
    """Refuses a baseline that says nothing about a change: other stimuli, another kind of judge, or half a run."""
    if before.protocol is not now.protocol or before.record.judge.kind != now.record.judge.kind:
        raise UsageError(
            "the baseline is of another protocol or of another kind of judge", fix="name a run of the same study"
        )
    if before.record.run.stimuli != now.record.run.stimuli:
        raise UsageError("the baseline has other stimuli", fix="measure both with the same size, seed and tasks")
    if not has_enough(before.record):
        raise UsageError("the baseline is incomplete", fix="complete it with  umpirical run, or name another one")


def _paired(now: _Subject, before: _Subject) -> dict[tuple[str, str], ResultRecord]:
    """Returns differences on the tasks of both, which need the responses of both."""
    if now.run is None or before.run is None or not isinstance(now.protocol, HoldsToLimits):
        return {}
    arms = {measure.arm for measure in own_measures(now.record)}
    return {
        (one.name, one.stratum): result_record(one.result)
        for one in now.protocol.differences(before.run, now.run)
        if one.arm in arms
    }
