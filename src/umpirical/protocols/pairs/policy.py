"""The limits that a judge of labelled pairs is held to, with the reason for each."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from umpirical.domain.errors import UsageError
from umpirical.reports.limits import FALSE_PREFERENCES, RARE, SEEN
from umpirical.reports.record import first_problem
from umpirical.store.yaml_files import load_yaml


class PairsPolicy(BaseModel):
    """What is asked of a judge before it is used. The values are conventions: set your own before you measure."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    policy: str = Field(default="pairs", min_length=1, description="Its name.")
    accuracy: float = Field(
        default=SEEN, gt=0, lt=1, description="Share of pairs about which it is right in both orders, at least."
    )
    same_slot: float = Field(
        default=FALSE_PREFERENCES,
        gt=0,
        lt=1,
        description="Share of pairs in which it names the same slot in both orders, at most.",
    )
    changes: float = Field(
        default=0.05,
        gt=0,
        lt=1,
        description="Share of verdicts that harmless edits of one answer may change, beyond the judge's own noise.",
    )
    without_verdict: float = Field(
        default=RARE, gt=0, lt=1, description="Share of calls whose answer is unreadable, or failed, at most; each."
    )


def chosen_policy(named: str | Mapping[str, Any]) -> PairsPolicy:
    """Returns the policy in a file, or in a mapping of its keys. Raises UsageError for anything else."""
    if isinstance(named, str) and named == PairsPolicy().policy:
        return PairsPolicy()
    if isinstance(named, str) and not Path(named).is_file():
        raise UsageError(f"no policy for labelled pairs is named {named!r}", fix="name a file, or leave --policy out")
    data = load_yaml(Path(named)).data if isinstance(named, str) else named
    try:
        return PairsPolicy.model_validate(data)
    except ValidationError as error:
        known = ", ".join(PairsPolicy.model_fields)
        raise UsageError(f"policy: {first_problem(error)}", fix=f"its keys: {known}") from None
