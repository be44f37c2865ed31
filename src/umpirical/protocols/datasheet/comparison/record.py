"""Two judges, or two prompts of one judge, side by side: `judge-comparison/1`.

A difference is the second value minus the first, measured on the same pairs. It is said to favour a side only if its
whole interval lies on that side of 0; a difference that is not shown does not prove that there is none.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from umpirical.domain.measures import Result
from umpirical.domain.trials import BASELINE
from umpirical.protocols.datasheet.record import Datasheet, DecisionRecord, ProfileRecord
from umpirical.reports.numbers import about, count, part
from umpirical.reports.record import (
    EstimateRecord,
    JudgeRecord,
    LimitRecord,
    MeasureRecord,
    RunRecord,
    Scale,
    SpendRecord,
    Strict,
    UndefinedRecord,
    result_record,
)

__all__ = ["Comparison", "PairedDifference", "compare", "parse_comparison", "render_comparison_json"]

ResultRecord = Annotated[EstimateRecord | UndefinedRecord, Field(discriminator="kind")]

Words = Literal["first better", "second better", "no difference shown", "differs", "not comparable"]
"""`differs`: a difference is shown in a measure for which neither direction is better."""

NON_CLAIMS = [
    "A difference that is not shown is not a proof that there is none.",
    "Each interval stands alone: with many rows, one in twenty at 95 % shows a difference by chance.",
    "The differences are about these stimuli, these prompts and these settings.",
]


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """One measure on the pairs that both sides answered."""

    measure: str
    arm: str
    stratum: str
    difference: Result
    """The second value minus the first."""
    first: Result | None = None
    """None to take the value from the first datasheet."""
    second: Result | None = None
    second_arm: str = ""
    """The arm of the second side, if it differs from the first's: for two prompts of one judge."""


class SideRecord(Strict):
    """One of the two, as its own datasheet has it."""

    judge: JudgeRecord
    run: RunRecord
    complete: bool
    decision: DecisionRecord | None = None
    profile: ProfileRecord | None = None
    spend: SpendRecord | None = None
    limits: list[LimitRecord] = Field(default=[])


class DifferenceRecord(Strict):
    """One measure of both, and their difference."""

    measure: str
    title: str
    about: str
    worse: Literal["higher", "lower", "depends"]
    scale: Scale
    arm: str
    second_arm: str
    stratum: str
    first: ResultRecord
    second: ResultRecord
    difference: ResultRecord = Field(description="The second less the first, on the same pairs.")
    words: Words


class Comparison(Strict):
    """Two judges, measured on the same stimuli."""

    format: Literal["judge-comparison/1"] = "judge-comparison/1"
    first: SideRecord
    second: SideRecord
    same_stimuli: bool
    differences: list[DifferenceRecord]
    findings: list[str]
    non_claims: list[str]


def compare(first: Datasheet, second: Datasheet, paired: Sequence[PairedDifference]) -> Comparison:
    """Compares two datasheets; `paired` holds what was computed on the pairs that they share."""
    differences = [_difference(first, second, one) for one in paired]
    same = first.run.stimuli == second.run.stimuli
    return Comparison(
        first=_side(first),
        second=_side(second),
        same_stimuli=same,
        differences=differences,
        findings=list(_findings(differences, first, second, same=same)),
        non_claims=NON_CLAIMS,
    )


def render_comparison_json(comparison: Comparison) -> str:
    """Renders the record as text: the same comparison gives the same bytes."""
    return comparison.model_dump_json(indent=1) + "\n"


def parse_comparison(text: str) -> Comparison:
    return Comparison.model_validate_json(text)


def _side(sheet: Datasheet) -> SideRecord:
    return SideRecord(**{name: getattr(sheet, name) for name in SideRecord.model_fields})


def _difference(first: Datasheet, second: Datasheet, one: PairedDifference) -> DifferenceRecord:
    second_arm = one.second_arm or one.arm
    here, there = _measured(first, one, one.arm), _measured(second, one, second_arm)
    known = here or there
    difference = result_record(one.difference)
    worse = known.worse if known else "depends"
    return DifferenceRecord(
        measure=one.measure,
        title=known.title if known else one.measure,
        about=known.about if known else "",
        worse=worse,
        scale=known.scale if known else "rate",
        arm=one.arm,
        second_arm=second_arm,
        stratum=one.stratum,
        first=_value(one.first, here),
        second=_value(one.second, there),
        difference=difference,
        words=_words(difference, worse),
    )


def _measured(sheet: Datasheet, one: PairedDifference, arm: str) -> MeasureRecord | None:
    wanted = (one.measure, arm, one.stratum)
    return next((m for m in sheet.measures if (m.name, m.arm, m.stratum) == wanted), None)


def _value(given: Result | None, measured: MeasureRecord | None) -> EstimateRecord | UndefinedRecord:
    if given is not None:
        return result_record(given)
    return measured.result if measured else UndefinedRecord(reason="not measured")


def _words(difference: EstimateRecord | UndefinedRecord, worse: Literal["higher", "lower", "depends"]) -> Words:
    if not isinstance(difference, EstimateRecord):
        return "not comparable"
    low, high = (difference.interval.low, difference.interval.high) if difference.interval else (None, None)
    above, below = low is not None and low > 0, high is not None and high < 0
    if not (above or below):
        return "no difference shown"
    if worse == "depends":
        return "differs"
    return "first better" if above == (worse == "higher") else "second better"


def _findings(
    differences: Sequence[DifferenceRecord], first: Datasheet, second: Datasheet, *, same: bool
) -> Iterator[str]:
    if not same:
        yield "The two were not shown the same stimuli: differences hold for what both answered, if anything."
    own = [one for one in differences if one.arm == BASELINE] or differences
    for words, name in (("first better", first.judge.name), ("second better", second.judge.name)):
        if better := _titles(one for one in own if one.words == words):
            side = words.split()[0]
            yield f"The {side}, {name}, is shown to be better in {better}."
    if silent := sum(one.words == "no difference shown" for one in own):
        yield f"No difference is shown in {count(silent)} of {count(len(own))} comparisons."
    if (saving := _saving(first, second)) is not None:
        yield saving


def _titles(differences: Iterable[DifferenceRecord]) -> str:
    strata: dict[str, list[str]] = {}
    for one in differences:
        strata.setdefault(one.title[:1].lower() + one.title[1:], []).append(one.stratum)
    return ", ".join(
        f"{title} at {' '.join(map(part, parts))}" if any(parts) else title for title, parts in strata.items()
    )


def _saving(first: Datasheet, second: Datasheet) -> str | None:
    """Says which of the two is cheaper, if both have a price."""
    costs = [sheet.spend.cost_per_1000 if sheet.spend else None for sheet in (first, second)]
    if costs[0] is None or costs[1] is None or not min(costs[0], costs[1]):
        return None
    side = "second" if costs[1] < costs[0] else "first"
    percent = round(100 * max(costs[0], costs[1]) / min(costs[0], costs[1])) - 100
    return f"The {side} is cheaper: the other costs about {about(percent)} % more per call." if percent else None
