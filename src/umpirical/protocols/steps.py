"""What to do after reading a decision, for protocols whose judges are checked on the user's own data."""

import shlex
from collections.abc import Mapping, Sequence

from umpirical.protocols.protocol import command_again
from umpirical.reports.decision import VerdictRecord
from umpirical.reports.overview import CheckRow, Step, worst_first
from umpirical.reports.record import Record, why_unfinished

OF_JURY = "Measure the members of the jury on more data. A jury has no calls of its own."


def is_jury(record: Record) -> bool:
    """Whether a record is about the votes of several judges."""
    return record.run.command.startswith("umpirical jury")


def next_steps(
    record: Record, decision: VerdictRecord, rows: Sequence[CheckRow], hints: Mapping[str, str], *, data: str
) -> list[Step]:
    """Returns what to do next. Every command runs as it stands, in the study's folder.

    `hints` say what may help against a failed check, by measure. `data` says how to get more of it.
    """
    if is_jury(record):
        return [Step(OF_JURY)]
    run = shlex.quote(f"runs/{record.judge.name}-{record.run.id}")
    again = shlex.join(command_again(record.run.command))
    gate = f"umpirical gate {run}"
    others = Step("Measure other judges in the same study and compare them.")
    failed = [row for row in worst_first(rows) if row.verdict == "FAIL"]
    hint = hints.get(failed[0].measure, "") if failed else ""
    change = Step(f"Change its prompt or model, and measure it again{f': {hint}' if hint else ''}.", again)
    match decision.verdict:
        case "use":
            return [Step("Check it in CI whenever its prompt or model changes.", gate), others]
        case "use-with-restrictions":
            return [Step("Use it only for what was shown, and check it in CI.", gate), others]
        case "do-not-use":
            return [Step("Read the example failures below."), change, others]
        case "not-enough-data":
            return [*_settling(record, rows, data, again), *([change] if failed else []), others]


def _settling(record: Record, rows: Sequence[CheckRow], data: str, again: str) -> list[Step]:
    if why_unfinished(complete=record.complete, audit=record.audit):
        return [Step("Resume the run. Calls that have a reply are not repeated.", again)]
    needs = [row.more for row in worst_first(rows) if row.verdict == "INCONCLUSIVE" and row.more]
    more = f"{data}: {needs[0]} would decide the first open check." if needs else f"{data}."
    return [Step(more, again)]
