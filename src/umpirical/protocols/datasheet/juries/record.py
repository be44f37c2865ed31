"""A jury, as it was seated and measured: `judge-jury/1`."""

from decimal import Decimal
from typing import Literal

from pydantic import Field

from umpirical.reports.record import ResultRecord, Strict

RuleName = Literal["majority", "weighted", "dawid-skene"]


class JurorRecord(Strict):
    """A member, measured on the same calls as the jury."""

    name: str
    run: str
    fingerprint: str
    accuracy: ResultRecord
    cost_per_1000: Decimal | None
    without_verdict: int = Field(description="Calls on which it had no vote.")


class SharedErrors(Strict):
    """How far two members err together."""

    first: str
    second: str
    correlation: ResultRecord = Field(description="Of being wrong in the same call.")


class Jury(Strict):
    """Several judges as one."""

    format: Literal["judge-jury/1"] = "judge-jury/1"
    name: str
    rule: RuleName
    members: list[JurorRecord]
    chosen_from: list[str] = Field(description="The judges among which the jury was chosen; all are members otherwise.")
    learned_on: list[str] = Field(description="Families on which jury or rule were settled; empty if nothing was.")
    reported_on: list[str] = Field(description="Families that every figure here is about.")
    looked_best_at: float | None = Field(
        description="Balanced accuracy on the families that it was chosen by, which flatters it; null if not chosen."
    )
    accuracy: ResultRecord = Field(
        description="Balanced accuracy: calls with a better answer, and calls without, weigh the same."
    )
    without_verdict: int = Field(description="Calls on which no more than half of the members had a vote: not right.")
    best_judge: str = Field(description="Of all that were named, the one that did best on the half for choosing.")
    gain: ResultRecord = Field(description="Balanced accuracy of the jury less that of the best judge, on the rest.")
    error_correlation: ResultRecord = Field(description="Mean over all pairs of members.")
    effective_judges: ResultRecord = Field(description="Judges with independent errors that would be worth as much.")
    shared_errors: list[SharedErrors]
    cost_per_1000: Decimal | None = Field(description="Dollars for 1,000 verdicts of the jury; null if not known.")
    left_out: int = Field(description="Calls that not all members were asked.")
    findings: list[str]
    assumptions: list[str]


def render_jury_json(jury: Jury) -> str:
    """Renders the record as text: the same jury gives the same bytes."""
    return jury.model_dump_json(indent=1) + "\n"


def parse_jury(text: str) -> Jury:
    return Jury.model_validate_json(text)
