"""Makes the record of a comparison from the judges' datasheets and from what was computed on the pairs they share."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from umpirical.domain.trials import BASELINE
from umpirical.protocols.datasheet.comparison.findings import NON_CLAIMS, find
from umpirical.protocols.datasheet.comparison.picks import limit_keys, pick
from umpirical.protocols.datasheet.comparison.record import Comparison, SideRecord
from umpirical.protocols.datasheet.policy_files import PRESETS, preset
from umpirical.protocols.datasheet.profile import SKETCHED
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.datasheet.report import held_to
from umpirical.reports.comparisons.families import one_way_everywhere, standings
from umpirical.reports.comparisons.record import DifferenceRecord, PairedDifference, difference_record
from umpirical.reports.comparisons.words import Worse
from umpirical.reports.policy import Policy
from umpirical.reports.record import EstimateRecord, MeasureRecord, result_record

SHOWN = (
    "dark-current",
    "raw-false-preference",
    "stable-cross-sensitivity",
    "positional-false-preference",
    "one-sided-commit",
    "no-preference",
    "target-sensitivity",
    "detection-threshold",
)
"""The measures of the table and of the figures."""


def compare(
    sheets: Sequence[Datasheet],
    paired: Sequence[PairedDifference],
    *,
    policy: Policy | None = None,
    reference: int | None = None,
    margin: float | None = None,
) -> Comparison:
    """Compares judges by their datasheets; `paired` holds what was computed on the pairs that they share.

    `policy` is the one that they are held to, by default the first one's. `margin` is the difference that does not
    matter, by default one for each scale.
    """
    own = policy or sheets[0].policy or preset()
    held = [held_to(sheet, own) for sheet in sheets]
    policies = _policies(own)
    # One family for everything that the page concludes: the limits of every policy that it picks by.
    limited = set[tuple[str, str]]().union(*(limit_keys(each, sheets) for each in policies))
    differences = _differences(held, paired, limited, _directions(held, policies), margin)
    picks = [pick(each, sheets, differences, reference=reference, own=each is own) for each in policies]
    everywhere = list(_everywhere(differences))
    return Comparison(
        policy=own.policy,
        judges=[_side(sheet, paired, reference=place == reference) for place, sheet in enumerate(held)],
        differences=differences,
        better_everywhere=everywhere,
        picks=picks,
        findings=list(find(held, differences, everywhere, reference)),
        non_claims=NON_CLAIMS,
    )


def needed_measures(policy: Policy) -> set[str]:
    """Returns the names of all measures that a comparison shows or decides by."""
    limits = [limit for each in _policies(policy) for limit in (*each.compare, *each.grade)]
    needs = [need for limit in limits for cure in limit.cures for need in cure.needs]
    return {one.measure for one in (*limits, *needs)} | set(SHOWN) | SKETCHED


def _policies(own: Policy) -> list[Policy]:
    """Returns the policies that judges are picked by: the chosen one, and every other shipped one."""
    return [own, *(preset(name) for name in PRESETS if name != own.policy)]


def _directions(sheets: Sequence[Datasheet], policies: Iterable[Policy]) -> Mapping[tuple[str, str], Worse]:
    """Which direction is worse by the limits: for some measures, nothing but the use says so."""
    return {
        limit.key: "higher" if limit.kind == "at_most" else "lower"
        for policy in policies
        for sheet in sheets
        for limit in policy.limits(sheet.judge.kind, grades=sheet.judge.grades)
    }


def _differences(
    sheets: Sequence[Datasheet],
    paired: Sequence[PairedDifference],
    limited: set[tuple[str, str]],
    directions: Mapping[tuple[str, str], Worse],
    margin: float | None,
) -> list[DifferenceRecord]:
    primary = [one.arm == BASELINE and (one.measure, one.stratum) in limited for one in paired]
    found = standings([result_record(one.difference) for one in paired], primary)
    known = [{(m.name, m.arm, m.stratum): m for m in sheet.measures} for sheet in sheets]
    return [
        difference_record(
            one,
            standing,
            _measured(known, one),
            limited=directions.get((one.measure, one.stratum)),
            margin=margin,
        )
        for one, standing in zip(paired, found, strict=True)
    ]


def _measured(
    known: Sequence[Mapping[tuple[str, str, str], MeasureRecord]], one: PairedDifference
) -> MeasureRecord | None:
    key = (one.measure, one.arm, one.stratum)
    return known[one.first].get(key) or known[one.second].get(key)


def _side(sheet: Datasheet, paired: Sequence[PairedDifference], *, reference: bool) -> SideRecord:
    wanted = {one.measure for one in paired} | set(SHOWN)
    taken = {name: getattr(sheet, name) for name in SideRecord.model_fields if name not in {"reference", "measures"}}
    return SideRecord(**taken, reference=reference, measures=[m for m in sheet.measures if m.name in wanted])


def _everywhere(differences: Sequence[DifferenceRecord]) -> Iterator[tuple[int, int]]:
    """Yields (better, worse) where every primary row of a pair lies the same way and is shown at its own level."""
    rows: dict[tuple[int, int], list[DifferenceRecord]] = {}
    for one in differences:
        if one.family == "primary":
            rows.setdefault((one.first, one.second), []).append(one)
    for (first, second), each in rows.items():
        sides = {
            (one.difference.value > 0) == (one.worse == "higher")
            if isinstance(one.difference, EstimateRecord) and one.worse != "depends"
            else None
            for one in each
        }
        if len(sides) == 1 and None not in sides and one_way_everywhere([one.p_value for one in each]):
            yield (first, second) if sides.pop() else (second, first)
