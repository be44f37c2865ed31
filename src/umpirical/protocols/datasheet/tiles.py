"""The six tiles of a datasheet: which checks feed each, and which of them decides."""

from collections.abc import Mapping, Sequence

from umpirical.domain.measures import Estimate
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.reports import numbers
from umpirical.reports.checks import meets
from umpirical.reports.decision import check_name, excess
from umpirical.reports.gate import of_own_prompt
from umpirical.reports.overview import rank
from umpirical.reports.parts import part_words
from umpirical.reports.policy import EACH_PART
from umpirical.reports.record import CheckRecord, MeasureRecord
from umpirical.reports.tiles import MARKS, Tile

MEASURES: Mapping[str, Sequence[str]] = {
    "Blank or equal answers": ("dark-current", "raw-false-preference"),
    "Position": ("positional-false-preference", "swap-reversals"),
    "Wording and length": ("stable-cross-sensitivity", "grade-spread", "conflict-excess"),
    "Small differences": ("target-sensitivity", "grade-concordance", "missed-differences"),
    "Follows the task": ("task-following", "task-blind-preference", "figure-sensitivity", "figure-following"),
    "Unusable replies": ("unparsed-rate", "failure-rate", "abstention-rate"),
}
"""The measures whose checks feed each tile. Two more tiles have the parts of a preference between equal answers."""

WHOLE, PARTS = "raw-false-preference", ("positional-false-preference", "stable-cross-sensitivity")


def anchors(sheet: Datasheet) -> dict[tuple[str, str, str], str]:
    """Returns where on the page each of these checks is, by prompt variant, measure and part."""
    return {
        (check.variant, check.measure, check.stratum): f"check-{place}"
        for place, check in enumerate(of_own_prompt(sheet.checks), start=1)
    }


def tiles(sheet: Datasheet) -> list[Tile]:
    """Returns the tiles of a judge, always all six."""
    return [_tile(sheet, name, measures) for name, measures in MEASURES.items()]


def worst_first(checks: Sequence[CheckRecord]) -> list[CheckRecord]:
    """Sorts failed before open before passed. Those that decide and those furthest beyond their threshold come first.

    Those that passed keep their order.
    """

    def key(check: CheckRecord) -> tuple[int, bool, float]:
        order = rank(check.verdict, decides=check.essential)
        if check.verdict == "PASS":
            return order, False, 0.0
        decides = check.essential and check.state != "made up for"
        return order, not decides, -excess(check)

    return sorted(checks, key=key)


def failures(sheet: Datasheet) -> list[CheckRecord]:
    """Returns the checks of the own prompt that failed, the worst first; a part that fails says more than the whole."""
    failed = [check for check in worst_first(of_own_prompt(sheet.checks)) if check.verdict == "FAIL"]
    if {*PARTS} & {check.measure for check in failed}:
        failed.sort(key=lambda check: check.measure == WHOLE)
    return failed


def _tile(sheet: Datasheet, name: str, measures: Sequence[str]) -> Tile:
    own = of_own_prompt(sheet.checks)
    held = worst_first([check for measure in measures for check in own if check.measure == measure])
    if not held:
        graded = sheet.judge.kind == "grade" and name in {"Position", "Follows the task"}
        why = "it grades one answer at a time" if graded else "the policy has no check on it"
        return Tile(
            name=name, mark="none", value="", part="", interval="", about=why, threshold="", bound="", anchor="ratings"
        )
    check = held[0]
    value = value_of(sheet, check)
    return Tile(
        name=name,
        mark=MARKS[check.verdict],
        value=value,
        part=step if (step := numbers.part(check.stratum)).startswith("Δ") else "",
        interval=_interval_of(sheet, check) if value else "",
        about=named(check) if value or check.why == "not measured" else f"{named(check)}: {check.why}",
        threshold=numbers.threshold(check.kind, check.value, check.measure),
        bound=could_be(sheet, check),
        anchor=anchors(sheet)[check.variant, check.measure, check.stratum],
    )


def named(check: CheckRecord) -> str:
    """Names a check as inside a sentence, and the part that fails if there is one."""
    if check.failing:
        return f"{(check.title or check.measure).lower()}: {part_words(check.failing[0].part)}"
    return check_name(check, small=True)


def could_be(sheet: Datasheet, check: CheckRecord) -> str:
    """Returns what an open check cannot rule out; empty for any other, and for one whose value is beyond already."""
    # The bound of a difference of shares may be one that no judge can reach.
    if check.verdict != "INCONCLUSIVE" or check.bound is None or not 0 <= check.bound <= 1:
        return ""
    measure = measure_of(sheet, check)
    if measure is not None and isinstance(measure.result, Estimate) and not meets(measure.result.value, check):
        return ""
    return numbers.beside(check.bound, check.value, measure.scale if measure else "rate")


def value_of(sheet: Datasheet, check: CheckRecord) -> str:
    """Returns the value that a check rests on, as the page writes it; empty if nothing was measured."""
    if check.failing:
        return numbers.rate(check.failing[0].failed / check.failing[0].pairs)
    measure = measure_of(sheet, check)
    if measure is None or not isinstance(measure.result, Estimate) or check.verdict == "N/A":
        return ""
    return numbers.measured_value(measure, measure.result)


def _interval_of(sheet: Datasheet, check: CheckRecord) -> str:
    measure = None if check.failing else measure_of(sheet, check)
    if measure is None or not isinstance(measure.result, Estimate):
        return ""
    return numbers.measured_interval(measure, measure.result.interval)


def measure_of(sheet: Datasheet, check: CheckRecord) -> MeasureRecord | None:
    """Returns the measure of a check; of a check on each part, the worst part."""
    key = (check.variant, check.measure, check.stratum)
    own = next((one for one in sheet.measures if (one.variant, one.name, one.stratum) == key), None)
    return own or worst_part(sheet, check)


def worst_part(sheet: Datasheet, check: CheckRecord) -> MeasureRecord | None:
    """Returns the part that a check on each part rests on: that with the highest interval, or else the most pairs."""
    parts = [
        one
        for one in sheet.parts
        if (one.variant, one.name, EACH_PART) == (check.variant, check.measure, check.stratum)
    ]
    found = [(one, one.result) for one in parts if isinstance(one.result, Estimate)]
    if not found:
        return None
    worst, _ = max(found, key=lambda part: (_low(part[1]), part[1].denominator))
    return worst.model_copy(update={"stratum": f"worst part: {part_words(worst.group)}"})


def _low(result: Estimate) -> float:
    return 0.0 if result.interval is None or result.interval.low is None else result.interval.low
