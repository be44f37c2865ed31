"""Features of single protocols: juries, scoring methods, drafts, and schemas of records of several runs."""

from umpirical.claims.record import Claim, Correction
from umpirical.protocols.datasheet.comparison import comparison_schema
from umpirical.protocols.datasheet.draft import (
    Draft,
    DraftPlan,
    Reply,
    append_reply,
    draft_family,
    drafting_model,
    plan_draft,
    read_rubric,
    write_draft,
)
from umpirical.protocols.datasheet.scoring_methods import write_scoring_methods
from umpirical.protocols.datasheet.spec import chosen_policy
from umpirical.protocols.jury_record import Jury
from umpirical.protocols.pairs.comparison import PairsComparison
from umpirical.protocols.stress.comparison import StressComparison
from umpirical.reports.record import Strict, record_json, schema_text
from umpirical.study.jury import seat_jury

__all__ = [
    "OTHERS",
    "Draft",
    "DraftPlan",
    "Reply",
    "append_reply",
    "chosen_policy",
    "draft_family",
    "drafting_model",
    "plan_draft",
    "read_rubric",
    "record_json",
    "schema_of",
    "seat_jury",
    "write_draft",
    "write_scoring_methods",
]

RECORDS: dict[str, type[Strict]] = {
    "claim": Claim,
    "correction": Correction,
    "jury": Jury,
    "pairs-comparison": PairsComparison,
    "stress-comparison": StressComparison,
}


OTHERS = ("comparison", *RECORDS)
"""What `schema_of` knows."""


def schema_of(what: str) -> str | None:
    """Returns the schema of such a record; None if it is the name of none."""
    if what == "comparison":
        return comparison_schema()
    return schema_text(RECORDS[what]) if what in RECORDS else None
