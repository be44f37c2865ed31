"""Two judges, or two prompts of one judge, side by side: `judge-comparison/1`.

A difference is the second value minus the first, measured on the same pairs. It is said to favour a side only if it
stands among all rows that were looked at (see `families`); a difference that is not shown does not prove that there is
none.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from umpirical.domain.measures import Result
from umpirical.domain.trials import BASELINE
from umpirical.protocols.datasheet.comparison.families import Family, Standing, one_way_everywhere, standings
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

Words = Literal[
    "first better", "second better", "first ahead", "second ahead", "no difference shown", "differs", "not comparable"
]
"""`better`: shown in a row of the policy's limits; `ahead`: a hint in any other row; `differs`: either of them, in a
measure for which neither direction is better."""

NON_CLAIMS = [
    "A difference that is not shown is not a proof that there is none.",
    "Each interval stands alone: of many that exclude 0, some do by chance. The words take all rows into account.",
    "In the rows of the policy's limits, two judges that are alike are told apart in one comparison in twenty (Holm).",
    "Every other row is exploratory: a side that is ahead there is a hint (Benjamini and Hochberg), and no finding.",
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
    family: Family = Field(description="Primary if the policy has a limit on it, under the judges' own prompts.")
    p_value: float | None = Field(description="Of no difference, the row taken alone.")
    adjusted_p: float | None = Field(description="For the row among those of its family.")
    words: Words


class Comparison(Strict):
    """Two judges, measured on the same stimuli."""

    format: Literal["judge-comparison/1"] = "judge-comparison/1"
    first: SideRecord
    second: SideRecord
    same_stimuli: bool
    differences: list[DifferenceRecord]
    better_everywhere: Literal["first", "second"] | None = Field(
        default=None, description="The side that is better in every primary row, by an intersection-union test."
    )
    findings: list[str]
    non_claims: list[str]


def compare(first: Datasheet, second: Datasheet, paired: Sequence[PairedDifference]) -> Comparison:
    """Compares two datasheets; `paired` holds what was computed on the pairs that they share."""
    limited = {(held.measure, held.stratum) for sheet in (first, second) for held in sheet.limits}
    primary = [one.arm == BASELINE and (one.measure, one.stratum) in limited for one in paired]
    standing = standings([result_record(one.difference) for one in paired], primary)
    differences = [_difference(first, second, one, found) for one, found in zip(paired, standing, strict=True)]
    everywhere = _better_everywhere(differences)
    same = first.run.stimuli == second.run.stimuli
    return Comparison(
        first=_side(first),
        second=_side(second),
        same_stimuli=same,
        differences=differences,
        better_everywhere=everywhere,
        findings=list(_findings(differences, first, second, everywhere, same=same)),
        non_claims=NON_CLAIMS,
    )


def render_comparison_json(comparison: Comparison) -> str:
    """Renders the record as text: the same comparison gives the same bytes."""
    return comparison.model_dump_json(indent=1) + "\n"


def parse_comparison(text: str) -> Comparison:
    return Comparison.model_validate_json(text)


def _side(sheet: Datasheet) -> SideRecord:
    return SideRecord(**{name: getattr(sheet, name) for name in SideRecord.model_fields})


def _difference(first: Datasheet, second: Datasheet, one: PairedDifference, standing: Standing) -> DifferenceRecord:
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
        family=standing.family,
        p_value=standing.p_value,
        adjusted_p=standing.adjusted_p,
        words=_words(difference, worse, standing),
    )


def _measured(sheet: Datasheet, one: PairedDifference, arm: str) -> MeasureRecord | None:
    wanted = (one.measure, arm, one.stratum)
    return next((m for m in sheet.measures if (m.name, m.arm, m.stratum) == wanted), None)


def _value(given: Result | None, measured: MeasureRecord | None) -> EstimateRecord | UndefinedRecord:
    if given is not None:
        return result_record(given)
    return measured.result if measured else UndefinedRecord(reason="not measured")


def _words(
    difference: EstimateRecord | UndefinedRecord, worse: Literal["higher", "lower", "depends"], standing: Standing
) -> Words:
    if not isinstance(difference, EstimateRecord):
        return "not comparable"
    if not standing.shown:
        return "no difference shown"
    if worse == "depends":
        return "differs"
    first = (difference.value > 0) == (worse == "higher")
    if standing.family == "primary":
        return "first better" if first else "second better"
    return "first ahead" if first else "second ahead"


def _better_everywhere(differences: Sequence[DifferenceRecord]) -> Literal["first", "second"] | None:
    rows = [one for one in differences if one.family == "primary"]
    sides = {
        None if not isinstance(one.difference, EstimateRecord) or one.worse == "depends"
        else (one.difference.value > 0) == (one.worse == "higher")
        for one in rows
    }  # fmt: skip
    if len(sides) != 1 or None in sides or not one_way_everywhere([one.p_value for one in rows]):
        return None
    return "first" if sides.pop() else "second"


def _findings(
    differences: Sequence[DifferenceRecord],
    first: Datasheet,
    second: Datasheet,
    everywhere: Literal["first", "second"] | None,
    *,
    same: bool,
) -> Iterator[str]:
    if not same:
        yield "The two were not shown the same stimuli: differences hold for what both answered, if anything."
    own = [one for one in differences if one.arm == BASELINE] or differences
    for words, name in (("first better", first.judge.name), ("second better", second.judge.name)):
        if better := _titles(one for one in own if one.words == words):
            side = words.split()[0]
            yield f"The {side}, {name}, is shown to be better in {better}."
            if side == everywhere:
                yield f"The {side} is better in every measure that the policy limits."
    for words, side in (("first ahead", "first"), ("second ahead", "second")):
        if ahead := _titles(one for one in own if one.words == words):
            yield f"A hint, to be confirmed: the {side} is ahead in {ahead}."
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
