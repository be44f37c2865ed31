"""The policies of a datasheet."""

from umpirical.reports.policy import LimitShelf

SHELF = LimitShelf(
    "umpirical.protocols.datasheet",
    "ranking",
    "adjudication",
    "ci-smoke",
    "claim",
    # A release is decided by single cases: those that got worse.
    aliases={"release": "adjudication"},
)

PRESETS, ALIASES = SHELF.names, SHELF.aliases
DEFAULT = PRESETS[0]
chosen_policy, preset, read_policy, policy_schema = SHELF.chosen, SHELF.preset, SHELF.read, SHELF.schema
