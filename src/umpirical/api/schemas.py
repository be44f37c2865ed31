"""The JSON Schemas of records that are not of a single run: comparisons, juries, corrected estimates and claims."""

from umpirical.claims.record import Claim, Correction
from umpirical.protocols.datasheet.comparison.record import comparison_schema
from umpirical.protocols.datasheet.jury import Jury
from umpirical.protocols.stress.comparison.record import StressComparison
from umpirical.reports.record import Strict, schema_text

RECORDS: dict[str, type[Strict]] = {
    "claim": Claim,
    "correction": Correction,
    "jury": Jury,
    "stress-comparison": StressComparison,
}


OTHERS = ("comparison", *RECORDS)
"""What `schema_of` knows."""


def schema_of(what: str) -> str | None:
    """Returns the schema of such a record; None if it is the name of none."""
    if what == "comparison":
        return comparison_schema()
    return schema_text(RECORDS[what]) if what in RECORDS else None
