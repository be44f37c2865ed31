"""Features that only the datasheet protocol has: juries, readouts and drafts."""

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
from umpirical.protocols.datasheet.jury import render_jury_json, seat_jury
from umpirical.protocols.datasheet.policy_files import chosen_policy
from umpirical.protocols.datasheet.readout_rules import render_readouts_json
from umpirical.protocols.datasheet.readouts import write_readouts

__all__ = [
    "Draft",
    "DraftPlan",
    "Reply",
    "append_reply",
    "chosen_policy",
    "draft_family",
    "drafting_model",
    "plan_draft",
    "read_rubric",
    "render_jury_json",
    "render_readouts_json",
    "seat_jury",
    "write_draft",
    "write_readouts",
]
