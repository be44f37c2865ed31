"""Which trials are behind a number: the filters that lead from a measure to what it was counted from."""

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress

from umpirical.domain.stimuli import Family
from umpirical.reports.record import AuditRow, MeasureRecord
from umpirical.view.filters import Filters, Shares, UnknownValue

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
