"""A jury of the judges of measured runs, whatever their protocol: its record, and the report on it as on a judge."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.protocols.catalogue import protocol_of_run
from umpirical.protocols.jury import SharedCalls, jury_record, jury_report, read_members, refuse_unlike, seat
from umpirical.protocols.jury_record import Jury, render_jury_markdown
from umpirical.protocols.protocol import CombinesJudges, Decision, Documents, Protocol, Study
from umpirical.reports.record import Record, record_json
from umpirical.stats.juries import LEAST, RULES
from umpirical.store.files import write_text
from umpirical.store.runs import RunStore

MOST_JUDGES = 15
"""Of which a jury is chosen: the number of juries doubles with each."""

LEAST_CLUSTERS = 4
"""Task families, prompts, items or transcripts: half of them are held out, and an interval needs two."""


@dataclass(frozen=True, slots=True)
class SeatedJury:
    """A jury, the report on it, and where both were written."""

    jury: Jury
    protocol: Protocol[Any, Any]
    """Of its members."""
    report: Record
    """As on a judge: a datasheet, or the report of another protocol."""
    record: Path
    """Of the jury, as JSON."""
    documents: Documents
    """Of the report."""

    @property
    def decision(self) -> Decision | None:
        return self.protocol.decision(self.report)


def seat_jury(
    runs: Sequence[Path],
    folder: Path,
    *,
    name: str = "",
    rule: str | None = None,
    choose: bool = False,
    budget: Decimal | None = None,
) -> SeatedJury:
    """Seats a jury of the judges of some runs, and writes its record and the report on it below a folder.

    Without `choose`, all are members. With it, the best jury of three to seven of them is chosen, by the rule or, if
    none is given, by the best of those that the judges' scale allows; with a budget, among those that cost at most so
    many dollars per 1,000 verdicts. A jury with a name of its own goes to a folder of that name.
    """
    _refuse(runs, rule, choose=choose, budget=budget)
    protocol = _protocol(runs)
    if not isinstance(protocol, CombinesJudges):
        raise CombinesJudges.missing(protocol)
    shared = read_members(runs, protocol, rule)
    _refuse_unmeasured(shared, protocol.jury.of)
    seated = seat(shared, rule, choose=choose, budget=budget)
    place = folder / name
    if not name:
        name = "-".join(["jury", *(member.name for member in seated.members)])
        place = folder / f"{seated.rule}-{digest('jury', [name, seated.rule, sorted(seated.learned_on)])[:12]}"
    jury, report = jury_record(seated, name, protocol.jury), jury_report(seated, name, protocol, place)
    documents = protocol.write(report, place)
    write_text(place / "jury.json", record_json(jury))
    write_text(place / "jury.md", render_jury_markdown(jury))
    return SeatedJury(jury, protocol, report, place / "jury.json", documents)


def _refuse(runs: Sequence[Path], rule: str | None, *, choose: bool, budget: Decimal | None) -> None:
    if rule is not None and rule not in RULES:
        raise UsageError(f"unknown rule {rule!r}", fix=f"choose one of {', '.join(RULES)}")
    if len(runs) < LEAST:
        raise UsageError(f"a jury needs at least three judges, not {len(runs)}", fix="name more runs")
    if len(runs) > MOST_JUDGES:
        raise UsageError(f"{len(runs)} judges are too many to choose from", fix=f"name at most {MOST_JUDGES}")
    if budget is not None and not choose:
        raise UsageError("--budget needs --choose: without it, all judges are members", fix="add --choose")


def refuse_juries(study: Study[Any]) -> None:
    """Raises if a jury of a study could not vote: before anything is paid for."""
    for jury in study.spec.juries:
        if not isinstance(study.protocol, CombinesJudges):
            raise CombinesJudges.missing(study.protocol)
        refuse_unlike([study.judge(name) for name in jury.members], study.protocol.jury, jury.rule)


def _protocol(runs: Sequence[Path]) -> Protocol[Any, Any]:
    """Returns the protocol of all runs."""
    protocols = [protocol_of_run(RunStore(run)) for run in runs]
    for run, protocol in zip(runs, protocols, strict=True):
        if protocol is not protocols[0]:
            message = f"{run.name} is of protocol {protocol.name}, and {runs[0].name} of {protocols[0].name}"
            raise UsageError(message, fix="name runs of one study")
    return protocols[0]


def _refuse_unmeasured(shared: SharedCalls, units: str) -> None:
    for member in shared.members:
        if member.reading.unasked:
            raise UsageError(
                f"run {member.run.name} is not complete: {member.reading.unasked:,} calls are missing",
                fix=f"umpirical run --judge {member.name}",
            )
    known = len(set(shared.known.clusters.tolist()))
    if known < LEAST_CLUSTERS:
        raise UsageError(
            f"the judges share only {known} {units} with a known right answer; a jury needs at least {LEAST_CLUSTERS}",
            fix="measure them on more",
        )
