"""The audit: every planned trial by outcome, so that what was left out is visible."""

from collections.abc import Iterable, Sequence

from umpirical.domain.tallies import CallTally
from umpirical.reports.record import AuditRow

OUTCOMES = ("slot_1", "slot_2", "tie", "graded", "abstained", "unparsed", "failed", "unasked")
"""The possible outcomes of a trial. In every row they add up to what was planned."""

PARTS = ("arm", "family", "stratum", "delta")
"""Parts of a design, from the largest to the smallest."""


def audit_rows(calls: Iterable[CallTally], *, by: Sequence[str] = PARTS) -> list[AuditRow]:
    """Adds up the tallies of all tasks, one row for each part of the design, in the order of first occurrence."""
    rows: dict[tuple[object, ...], dict[str, int]] = {}
    for tally in calls:
        sums = rows.setdefault(tuple(getattr(tally, name) for name in by), dict.fromkeys(("planned", *OUTCOMES), 0))
        for name in sums:
            sums[name] += getattr(tally, name)
    empty = {"arm": "", "family": "", "stratum": "", "delta": None}
    return [AuditRow.model_validate({**empty, **dict(zip(by, key, strict=True)), **sums}) for key, sums in rows.items()]


def unbalanced(rows: Iterable[AuditRow]) -> tuple[AuditRow, ...]:
    """Returns rows whose outcomes do not add up to what was planned: a record that contradicts itself."""
    return tuple(row for row in rows if row.planned != sum(getattr(row, outcome) for outcome in OUTCOMES))
