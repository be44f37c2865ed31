"""Seats a jury of judges that have been measured, and measures it like a judge. Makes no calls.

What is learned or chosen is settled on one half of the task families, and every figure is then about the other half.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.protocols.datasheet.juries.ballots import SharedCalls, read_members
from umpirical.protocols.datasheet.juries.figures import jury_record
from umpirical.protocols.datasheet.juries.record import Jury, render_jury_json
from umpirical.protocols.datasheet.juries.seating import seat
from umpirical.protocols.datasheet.juries.sheet import jury_datasheet
from umpirical.protocols.datasheet.juries.words import render_jury_markdown
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.protocol import Documents
from umpirical.stats.juries import RULES
from umpirical.store.files import write_text

MOST_JUDGES = 15
"""Of which a jury is chosen: the number of juries doubles with each."""


@dataclass(frozen=True, slots=True)
class SeatedJury:
    """A jury, its datasheet, and where both were written."""

    jury: Jury
    datasheet: Datasheet
    record: Path
    """Of the jury, as JSON."""
    documents: Documents
    """Of the datasheet."""


def seat_jury(
    runs: Sequence[Path],
    folder: Path,
    *,
    rule: str | None = None,
    choose: bool = False,
    budget: Decimal | None = None,
) -> SeatedJury:
    """Seats a jury of the judges of some runs, and writes its record and its datasheet below a folder.

    Without `choose`, all are members. With it, the best jury of three to seven of them is chosen, by the rule or, if
    none is given, by the best of all rules; with a budget, among those that cost at most so many dollars per 1,000
    verdicts.
    """
    _refuse(runs, rule, choose=choose, budget=budget)
    shared = read_members(runs)
    _refuse_unmeasured(shared)
    seated = seat(shared, rule, choose=choose, budget=budget)
    name = "-".join(["jury", *(member.name for member in seated.members)])
    place = folder / f"{seated.rule}-{digest('jury', [name, seated.rule, sorted(seated.learned_on)])[:12]}"
    jury, sheet = jury_record(seated, name), jury_datasheet(seated, name, place)
    documents = DATASHEET.write(sheet, place)
    write_text(place / "jury.json", render_jury_json(jury))
    write_text(place / "jury.md", render_jury_markdown(jury))
    return SeatedJury(jury, sheet, place / "jury.json", documents)


def _refuse(runs: Sequence[Path], rule: str | None, *, choose: bool, budget: Decimal | None) -> None:
    if rule is not None and rule not in RULES:
        raise UsageError(f"there is no rule {rule!r}", fix=f"rules: {', '.join(RULES)}")
    if len(runs) < 3:
        raise UsageError(f"a jury has three judges or more, and {len(runs)} are named", fix="name more runs")
    if len(runs) > MOST_JUDGES:
        raise UsageError(f"{len(runs)} judges are too many to choose among", fix=f"name {MOST_JUDGES} or fewer")
    if budget is not None and not choose:
        raise UsageError("a budget is for choosing a jury, and this one has all judges", fix="add --choose")


def _refuse_unmeasured(shared: SharedCalls) -> None:
    for member in shared.members:
        if member.reading.unasked:
            raise UsageError(
                f"run {member.run.name} is not complete: {member.reading.unasked:,} calls are missing",
                fix=f"umpirical run --judge {member.name}",
            )
    if len(shared.families) < 4:
        raise UsageError(
            f"the judges share {len(shared.families)} task families, and each half needs two",
            fix="measure them with a larger size",
        )
