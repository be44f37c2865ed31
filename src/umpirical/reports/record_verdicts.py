"""Parts of the record that say what the measures amount to, by the stated policy."""

from typing import Literal

from pydantic import Field

from umpirical.reports.strict import Strict

__all__ = ["Decision", "DecisionRecord", "LimitRecord", "LimitVerdict", "ProfileRecord"]

LimitVerdict = Literal["PASS", "FAIL", "INCONCLUSIVE", "N/A"]

Decision = Literal["use", "use-with-limits", "do-not-use", "not-enough-data"]


class LimitRecord(Strict):
    """A limit of the policy held against one measure."""

    measure: str
    title: str = Field(default="", description="The measure's, for sentences.")
    arm: str
    stratum: str
    kind: Literal["at_most", "at_least"]
    value: float
    essential: bool = Field(default=False, description="A judge is not used unless this is met or has a cure.")
    verdict: LimitVerdict
    needed: int | None = Field(
        default=None, description="Units in all that would settle an INCONCLUSIVE one at the same rate."
    )
    more_needed: int | None = Field(default=None, description="The same, less the units there are.")
    unit: Literal["call", "prompt", "pair", "item", "task"] | None = None
    why: str = Field(default="", description="How the verdict came about, in words.")


class DecisionRecord(Strict):
    """What to do with the judge, in the words of the policy."""

    verdict: Decision
    sentences: list[str] = Field(description="Two: what decides, and how sure it is.")
    good_for: list[str] = Field(default=[])
    not_for: list[str] = Field(default=[])
    use_like_this: list[str] = Field(default=[])
    not_measured: list[str] = Field(default=[])
    would_change: list[str] = Field(default=[], description="What would change the verdict.")
    policy: list[str] = Field(default=[], description="The rules that led here, as they stand.")


class ProfileRecord(Strict):
    """A sketch of how the judge behaves on these stimuli: a description, not a class it belongs to."""

    name: str
    description: str
    rule: str = Field(description="What has to hold for this sketch.")
