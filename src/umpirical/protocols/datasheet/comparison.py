"""Compares judges on the same test cases, pair by pair, and says which one to use for what."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Estimate
from umpirical.domain.tallies import Tallies
from umpirical.domain.trials import BASELINE
from umpirical.measures.contrasts import contrasts_between
from umpirical.protocols.costs import Costs
from umpirical.protocols.datasheet.costs import CallKeeper, costs_of
from umpirical.protocols.datasheet.findings import SKETCHED
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.protocols.datasheet.record import Datasheet, ProfileRecord
from umpirical.protocols.datasheet.report import (
    ReadRun,
    datasheet_of_read,
    held_to,
    policy_of,
    read_run,
    shared_tallies,
)
from umpirical.protocols.datasheet.spec import PRESETS, chosen_policy, preset
from umpirical.reports.comparison import (
    OF_RUN,
    DifferenceRecord,
    PairedDifference,
    Place,
    Row,
    Worse,
    labels,
    one_way_everywhere,
    open_runs,
    paired_differences,
    recorded_differences,
    refuse_margin,
    refuse_one_run,
    refuse_other_stimuli,
    refuse_unknown_places,
    told_apart,
    winner,
)
from umpirical.reports.decision import Advice, DecisionRecord
from umpirical.reports.numbers import count, dollars, part
from umpirical.reports.policy import Policy
from umpirical.reports.record import (
    CheckRecord,
    JudgeRecord,
    MeasureRecord,
    RunRecord,
    SpendRecord,
    Strict,
    schema_text,
)
from umpirical.runs.run import Run


class SideRecord(Strict):
    """One of the judges, as in its own datasheet."""

    judge: JudgeRecord
    run: RunRecord
    complete: bool
    reference: bool = Field(
        default=False, description="A reference ceiling, which is never picked and is not ground truth."
    )
    decision: DecisionRecord | None = None
    profile: ProfileRecord | None = None
    spend: SpendRecord | None = None
    checks: list[CheckRecord] = Field(default=[])
    measures: list[MeasureRecord] = Field(
        default=[], description="The measures in the table, the charts and the differences."
    )


class PickRecord(Strict):
    """Which judge to use under one policy."""

    policy: str
    about: str
    own: bool = Field(description="Whether this is the policy of the comparison.")
    verdicts: list[Advice] = Field(description="The verdict on each judge under this policy.")
    admitted: list[Place] = Field(description="The judges that pass, excluding the reference.")
    not_worse: list[Place] = Field(description="Those of them that no other is significantly better than.")
    picked: list[Place] = Field(description="The cheapest of these: several if they are not distinguishable, or none.")
    title: str
    sentences: list[str]


class Comparison(Strict):
    """Judges, measured on the same test cases."""

    format: Literal["judge-comparison/3"] = "judge-comparison/3"
    policy: str = Field(description="The policy that the judges are checked against.")
    judges: list[SideRecord]
    differences: list[DifferenceRecord]
    better_everywhere: list[tuple[Place, Place]] = Field(
        default=[],
        description="Pairs in which the first judge is better in every primary row, by an intersection-union test.",
    )
    picks: list[PickRecord]
    costs: Costs | None = Field(
        default=None, description="Cost and accuracy of the judges, their scoring methods and juries."
    )
    findings: list[str]
    non_claims: list[str]

    @model_validator(mode="after")
    def _known_places(self) -> Self:
        places = [place for one in self.differences for place in (one.first, one.second)]
        places += [place for pick in self.picks for place in (*pick.admitted, *pick.not_worse, *pick.picked)]
        places += [place for pair in self.better_everywhere for place in pair]
        places += [place for one in self.costs.options for place in one.judges] if self.costs else []
        refuse_unknown_places(places, len(self.judges))
        if any(len(pick.verdicts) != len(self.judges) for pick in self.picks):
            raise ValueError("a policy has no verdict on some of the judges")
        return self


def comparison_schema() -> str:
    """Returns the schema that ships with this version."""
    return (files("umpirical.protocols.datasheet") / "judge-comparison-3.schema.json").read_text(encoding="utf-8")


def generated_schema() -> str:
    """Returns the schema that follows from the code; a test compares the shipped one with it."""
    return schema_text(Comparison)


USABLE: tuple[Advice, ...] = ("use", "use-with-restrictions")


def check_keys(policy: Policy, sheets: Sequence[Datasheet]) -> set[tuple[str, str]]:
    """Returns (measure, part) of every check that a policy holds one of the judges to."""
    return {check.key for sheet in sheets for check in policy.checks(sheet.judge.kind, grades=sheet.judge.grades)}


def pick(
    policy: Policy,
    sheets: Sequence[Datasheet],
    differences: Sequence[DifferenceRecord],
    *,
    reference: int | None,
    own: bool,
) -> PickRecord:
    """Returns which of the judges to take for the use that a policy is for."""
    verdicts = [_verdict(held_to(sheet, policy)) for sheet in sheets]
    admitted = [i for i, verdict in enumerate(verdicts) if verdict in USABLE and i != reference]
    beats = _beaten(differences, check_keys(policy, sheets))
    not_worse = [i for i in admitted if not any((j, i) in beats and (i, j) not in beats for j in admitted)]
    picked = _cheapest(not_worse, sheets)
    return PickRecord(
        policy=policy.policy,
        about=policy.about,
        own=own,
        verdicts=verdicts,
        admitted=admitted,
        not_worse=not_worse,
        picked=picked,
        title=f"Use {_either(picked, names_of(sheets))}" if picked else "No judge",
        sentences=list(_sentences(sheets, verdicts, admitted, not_worse, picked, reference)),
    )


def _verdict(sheet: Datasheet) -> Advice:
    return sheet.decision.verdict if sheet.decision else "not-enough-data"


def _beaten(differences: Sequence[DifferenceRecord], keys: Collection[tuple[str, str]]) -> set[tuple[int, int]]:
    """Returns (better, worse) for every pair of judges told apart in at least one check."""
    return {
        (one.first, one.second) if one.words == "first better" else (one.second, one.first)
        for one in differences
        if one.words in {"first better", "second better"}
        and one.variant == BASELINE
        and (one.measure, one.stratum) in keys
    }


def _price(sheet: Datasheet) -> Decimal | None:
    return sheet.spend.cost_per_1000 if sheet.spend else None


def _cheapest(places: Sequence[int], sheets: Sequence[Datasheet]) -> list[int]:
    """Returns the cheapest; all of them if one has no known price, since that one may be the cheapest."""
    prices = [_price(sheets[place]) for place in places]
    known = [price for price in prices if price is not None]
    if len(known) < len(prices) or not known:
        return list(places)
    return [place for place, price in zip(places, known, strict=True) if price == min(known)]


def _sentences(
    sheets: Sequence[Datasheet],
    verdicts: Sequence[Advice],
    admitted: Sequence[int],
    not_worse: Sequence[int],
    picked: Sequence[int],
    reference: int | None,
) -> Iterator[str]:
    names = names_of(sheets)
    others = [place for place in range(len(sheets)) if place not in admitted and place != reference]
    if admitted:
        through = f"{count(len(admitted))} of {count(len(admitted) + len(others))}"
        yield f"{through} pass the policy: {_named(admitted, names)}."
    if worse := [place for place in admitted if place not in not_worse]:
        yield f"Significantly worse than another of these: {_named(worse, names)}."
    if len(not_worse) > 1:
        yield _choice(sheets, not_worse, picked)
    if limited := [place for place in picked if verdicts[place] == "use-with-restrictions"]:
        yield f"With the restrictions in the datasheet: {_named(limited, names)}."
    if admitted:
        return
    if refused := [place for place in others if verdicts[place] == "do-not-use"]:
        yield f"Do not use: {_named(refused, names)}."
    if unsettled := [place for place in others if verdicts[place] == "not-enough-data"]:
        yield f"Not enough data: {_named(unsettled, names)}."


def _choice(sheets: Sequence[Datasheet], not_worse: Sequence[int], picked: Sequence[int]) -> str:
    prices, names = [_price(sheets[place]) for place in picked], names_of(sheets)
    price = prices[0] if prices else None
    unknown = [place for place in not_worse if _price(sheets[place]) is None]
    if unknown:
        return f"None of these is significantly better, and the price of {_named(unknown, names)} is unknown."
    cost = "" if price is None else f", at {dollars(price)} per 1,000 calls"
    same = "one of the cheapest" if len(picked) > 1 else "the cheapest"
    return f"None of {_named(not_worse, names)} is significantly better; {_named(picked, names)} is {same}{cost}."


def names_of(sides: Iterable[Datasheet | SideRecord]) -> list[str]:
    """Returns what the judges are called; those of one name are told apart by their runs."""
    return labels((side.judge.name, side.run.id[:OF_RUN]) for side in sides)


def _named(places: Sequence[int], names: Sequence[str]) -> str:
    return ", ".join(names[place] for place in places)


def _either(places: Sequence[int], names: Sequence[str]) -> str:
    if len(places) > 3:
        return f"any of {_named(places, names)}"
    return " or ".join(names[place] for place in places)


NON_CLAIMS = (
    """\
A difference that is not significant does not prove that there is none. Only “equivalent” claims that.
In the rows that policies check, and in accuracy on fine differences, identical judges differ significantly in at \
most one comparison in twenty, over all pairs of judges together (Holm).
“Equivalent” holds for each row alone: of twenty pairs that differ by just the margin, one is called equivalent.
All other rows are exploratory: a judge that is ahead there is a hint (Benjamini and Hochberg), not a finding.
Length-conflict error and the spread of grades are not rates. Judges are checked on them one by one, not compared.
The differences are about these test cases, prompts and settings. Nothing here shows that a judge agrees with people."""
).splitlines()

CEILING = (
    "{name} is the reference: a ceiling that shows how far the others are from it. It is not ground truth: it is a "
    "judge with errors of its own. It is never picked."
)


def find(
    sheets: Sequence[Datasheet],
    differences: Sequence[DifferenceRecord],
    everywhere: Sequence[tuple[int, int]],
    reference: int | None,
) -> Iterator[str]:
    """Yields what the differences say, and how far the judges are from the reference."""
    names = names_of(sheets)
    if reference is not None:
        yield CEILING.format(name=names[reference])
        yield from _distances(names, differences, reference)
    if len(sheets) == 2:
        # Of more judges, a matrix says this at a glance, and sentences do not.
        for ahead, behind in ((0, 1), (1, 0)):
            if better := _titles(one for one in differences if winner(one) == ahead):
                yield f"{names[ahead]} is significantly better than {names[behind]} in {better}."
    for ahead, behind in everywhere:
        yield f"{names[ahead]} is better than {names[behind]} in every rate that the policies check."
    primary = [one for one in differences if one.family == "primary"]
    if primary:
        told, level, undecided = told_apart(primary)
        yield (
            f"Of {count(len(primary))} pairwise comparisons, {count(told)} are significant, {count(level)} are "
            f"equivalent within the margin and {count(undecided)} are inconclusive."
        )


def _distances(names: Sequence[str], differences: Sequence[DifferenceRecord], reference: int) -> Iterator[str]:
    for place, name in enumerate(names):
        rows = [one for one in differences if {one.first, one.second} == {place, reference} and one.family == "primary"]
        if place == reference or not rows:
            continue
        below = sum(winner(one) == reference for one in rows)
        level = sum(one.words == "equivalent" for one in rows)
        yield (
            f"{name} is significantly below the ceiling in {count(below)} of {count(len(rows))} checked rates and "
            f"equivalent to it in {count(level)}."
        )


def _titles(differences: Iterable[DifferenceRecord]) -> str:
    strata: dict[str, list[str]] = {}
    for one in differences:
        strata.setdefault(one.title[:1].lower() + one.title[1:], []).append(one.stratum)
    return ", ".join(
        f"{title} at {' '.join(map(part, parts))}" if any(parts) else title for title, parts in strata.items()
    )


FINE = ("fine-sensitivity", "")
"""What tells good judges apart, whatever the policies check."""

SHOWN = (
    "dark-current",
    "raw-false-preference",
    "stable-cross-sensitivity",
    "positional-false-preference",
    "one-sided-commit",
    "no-preference",
    "target-sensitivity",
    "fine-sensitivity",
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
    # One family for everything that the page concludes: the checks of every policy that it picks by.
    limited = {FINE}.union(*(check_keys(each, sheets) for each in policies))
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
    checks = [check for each in _policies(policy) for check in (*each.compare, *each.grade)]
    needs = [need for check in checks for cure in check.cures for need in cure.needs]
    return {one.measure for one in (*checks, *needs)} | set(SHOWN) | SKETCHED


def _policies(own: Policy) -> list[Policy]:
    """Returns the policies that judges are picked by: the chosen one, and every other shipped one."""
    return [own, *(preset(name) for name in PRESETS if name != own.policy)]


def _directions(sheets: Sequence[Datasheet], policies: Iterable[Policy]) -> Mapping[tuple[str, str], Worse]:
    """Which direction is worse by the checks: for some measures, nothing but the use says so."""
    return {
        check.key: "higher" if check.kind == "at_most" else "lower"
        for policy in policies
        for sheet in sheets
        for check in policy.checks(sheet.judge.kind, grades=sheet.judge.grades)
    }


def _differences(
    sheets: Sequence[Datasheet],
    paired: Sequence[PairedDifference],
    limited: set[tuple[str, str]],
    directions: Mapping[tuple[str, str], Worse],
    margin: float | None,
) -> list[DifferenceRecord]:
    known = [{(m.name, m.variant, m.stratum): m for m in sheet.measures} for sheet in sheets]
    rows = [
        Row(
            one,
            primary=one.variant == BASELINE and (one.measure, one.stratum) in limited,
            measured=_measured(known, one),
            limited=directions.get((one.measure, one.stratum)),
        )
        for one in paired
    ]
    return recorded_differences(rows, margin)


def _measured(
    known: Sequence[Mapping[tuple[str, str, str], MeasureRecord]], one: PairedDifference
) -> MeasureRecord | None:
    key = (one.measure, one.variant, one.stratum)
    return known[one.first].get(key) or known[one.second].get(key)


def _side(sheet: Datasheet, paired: Sequence[PairedDifference], *, reference: bool) -> SideRecord:
    wanted = {one.measure for one in paired} | {check.measure for check in sheet.checks} | set(SHOWN)
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
            if isinstance(one.difference, Estimate) and one.worse != "depends"
            else None
            for one in each
        }
        if len(sides) == 1 and None not in sides and one_way_everywhere([one.p_value for one in each]):
            yield (first, second) if sides.pop() else (second, first)


def compare_runs(
    folders: Sequence[Path],
    *,
    policy: str | Mapping[str, Any] | None = None,
    reference: str | None = None,
    margin: float | None = None,
) -> Comparison:
    """Rereads runs on the same stimuli, and compares their judges, each with each.

    `policy` is a shipped one, a file, or its keys; by default, the one that the runs were made for. `reference` is the
    name of a judge or of a run.
    """
    runs = _opened(folders)
    refuse_margin(margin)
    place = None if reference is None else _place(runs, reference)
    own = _shared_policy(runs) if policy is None else chosen_policy(policy, Path(), outside=True)
    kept = [CallKeeper.of(run) for run in runs]
    read = [read_run(run, also=keeper.see, keep=False) for run, keeper in zip(runs, kept, strict=True)]
    counted = {pair: shared_tallies(*(read[place] for place in pair)) for pair in combinations(range(len(read)), 2)}
    paired = list(_paired(read, counted))
    needed = needed_measures(own) | {one.measure for one in paired}
    sheets = [datasheet_of_read(each, only=needed) for each in read]
    compared = compare(sheets, paired, policy=own, reference=place, margin=margin)
    findings = [*compared.findings, *_shared(counted)]
    return compared.model_copy(update={"findings": findings, "costs": costs_of(read, kept, reference=place)})


def _opened(folders: Sequence[Path]) -> list[Run]:
    runs = open_runs(folders)
    for run in runs:
        if run.manifest["protocol"] != DATASHEET.version:
            raise UsageError(
                f"run {run.name} is not a datasheet run, so it cannot be compared pair by pair",
                fix="name runs of one kind: datasheets, stress tests or labeled pairs; agent judges cannot be "
                "compared yet",
            )
    refuse_one_run(runs)
    refuse_other_stimuli(runs)
    return runs


def _place(runs: Sequence[Run], reference: str) -> int:
    found = [place for place, run in enumerate(runs) if reference in {run.judge.name, run.name}]
    if len(found) == 1:
        return found[0]
    names = ", ".join(run.name if found else run.judge.name for run in runs)
    problem = "matches several judges" if found else "is not one of the compared judges"
    raise UsageError(f"--reference {reference} {problem}", fix=f"name one of {names}")


def _shared_policy(runs: Sequence[Run]) -> Policy:
    """Returns the policy that the runs were made for, by its checks: a second look at them is no other policy."""
    policies = [policy_of(run).at_look(1) for run in runs]
    if any(policy != policies[0] for policy in policies):
        said = ", ".join(f"{run.name}: {policy.policy}" for run, policy in zip(runs, policies, strict=True))
        raise UsageError(f"the runs have different policies ({said})", fix="choose one with --policy")
    return policies[0]


Counted = Mapping[tuple[int, int], tuple[Tallies, Tallies, int | None]]
"""The tallies of two judges, and how many test cases they share if they were asked different ones."""


def _paired(read: Sequence[ReadRun], counted: Counted) -> Iterator[PairedDifference]:
    for (first, second), (one, other, _) in counted.items():
        variants, others = (read[place].run.manifest["variants"] for place in (first, second))
        for variant in [variant for variant in variants if variant in others]:
            yield from paired_differences(contrasts_between(one, other, variant, variant), first, second)


def _shared(counted: Counted) -> Iterator[str]:
    """Says what it costs that runs ended at different points."""
    shares = [shared for *_, shared in counted.values() if shared is not None]
    if shares:
        least = count(min(shares))
        pairs = "both judges were" if len(counted) == 1 else "both judges of a pair were"
        yield (
            f"The runs ended at different points. A difference uses only the test cases that {pairs} asked, at least "
            f"{least}. With --size, all judges are asked the same."
        )
