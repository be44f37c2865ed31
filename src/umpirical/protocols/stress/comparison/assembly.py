"""Makes the record of a comparison under stress from the judges' reports and the counts behind them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from umpirical.domain.tallies import Tallies
from umpirical.domain.trials import BASELINE
from umpirical.measures.contrasts import contrasts_between
from umpirical.protocols.stress.comparison.record import (
    ComparedJudge,
    ComparedStudy,
    StressComparison,
    StressSide,
    study_titles,
)
from umpirical.protocols.stress.heat_map import CLOSENESS
from umpirical.protocols.stress.policy import NO_LIMIT, TestKind
from umpirical.protocols.stress.record import StressMeasure, StressReport
from umpirical.reports.comparisons.families import standings
from umpirical.reports.comparisons.record import (
    DifferenceRecord,
    PairedDifference,
    difference_record,
    paired_differences,
    winner,
)
from umpirical.reports.comparisons.words import letter
from umpirical.reports.numbers import count, units
from umpirical.reports.record import result_record

DECIDING: Mapping[TestKind, str] = {
    "same-verdict": "change-rate",
    "flipped-verdict": "flip-detection",
    "repeats": "flip-rate",
    "given-label": "accuracy",
    "original": "accuracy",
}
"""The rate of a test that judges are called better or worse by; every other one is exploratory."""

NON_CLAIMS = (
    """\
A difference that is not shown is not a proof that there is none: only “equivalent” claims that.
In the deciding rates of the tests, judges that are all alike are told apart in one comparison in twenty, over all \
pairs of judges, tests and studies together (Holm). Every other row is exploratory (Benjamini and Hochberg).
No rate is added up over studies: their data, scales and tests differ, and so does what a point is worth in each.
Judges of one study are compared on the texts that they share. Those of different studies are shown side by side, and \
not compared.
A judge of the same name and model may have another prompt in another study."""
).splitlines()


@dataclass(frozen=True, slots=True)
class ReadStress:
    """A run of stress tests that was read: its report, the counts behind it, and the texts that it is about."""

    report: StressReport
    tallies: Tallies
    stimuli: str

    @property
    def judge(self) -> tuple[str, str]:
        return self.report.judge.name, self.report.judge.model


def compare_under_stress(read: Sequence[ReadStress], *, margin: float | None = None) -> StressComparison:
    """Compares judges that were asked about the same texts, each with each, and shows studies side by side."""
    judges = list(dict.fromkeys(each.judge for each in read))
    studies: dict[str, list[ReadStress]] = {}
    for each in read:
        studies.setdefault(each.stimuli, []).append(each)
    paired = [list(_paired(study, judges)) for study in studies.values()]
    recorded = _recorded(list(studies.values()), paired, margin)
    compared = [
        _study(study, judges, differences) for study, differences in zip(studies.values(), recorded, strict=True)
    ]
    return StressComparison(
        judges=[ComparedJudge(name=name, model=model) for name, model in judges],
        studies=compared,
        findings=[
            sentence
            for study, title in zip(compared, study_titles(compared), strict=True)
            for sentence in _findings(study, title)
        ],
        non_claims=NON_CLAIMS,
    )


def _paired(study: Sequence[ReadStress], judges: Sequence[tuple[str, str]]) -> Iterator[PairedDifference]:
    for one, other in combinations(study, 2):
        contrasts = contrasts_between(one.tallies, other.tallies, BASELINE, BASELINE)
        places = judges.index(one.judge), judges.index(other.judge)
        yield from paired_differences(contrasts, *places)


def _recorded(
    studies: Sequence[Sequence[ReadStress]], paired: Sequence[Sequence[PairedDifference]], margin: float | None
) -> list[list[DifferenceRecord]]:
    """Records the differences of every study, of which all deciding rates are one family."""
    deciding = [{(test.name, DECIDING[test.kind]) for each in study for test in each.report.tests} for study in studies]
    rows = [(place, one) for place, differences in enumerate(paired) for one in differences]
    primary = [(one.stratum, one.measure) in deciding[place] for place, one in rows]
    found = standings([result_record(one.difference) for _, one in rows], primary)
    recorded: list[list[DifferenceRecord]] = [[] for _ in studies]
    for (place, one), standing in zip(rows, found, strict=True):
        recorded[place].append(difference_record(one, standing, _measured(studies[place], one), margin=margin))
    return recorded


def _measured(study: Sequence[ReadStress], one: PairedDifference) -> StressMeasure | None:
    known = (measure for each in study for measure in each.report.measures)
    return next((m for m in known if (m.name, m.stratum, m.arm) == (one.measure, one.stratum, BASELINE)), None)


def _study(
    study: Sequence[ReadStress], judges: Sequence[tuple[str, str]], differences: list[DifferenceRecord]
) -> ComparedStudy:
    shown = {*DECIDING.values(), *CLOSENESS}
    sides = [
        StressSide(
            place=judges.index(each.judge),
            judge=each.report.judge,
            run=each.report.run,
            complete=each.report.complete,
            tests=each.report.tests,
            verdicts=each.report.verdicts,
            measures=[m for m in each.report.measures if m.arm == BASELINE and not m.group and m.name in shown],
            spend=each.report.spend,
            writing=each.report.writing,
        )
        for each in study
    ]
    first = study[0]
    return ComparedStudy(dataset=first.report.dataset, stimuli=first.stimuli, sides=sides, differences=differences)


def _findings(study: ComparedStudy, name: str) -> Iterator[str]:
    titles = {test.name: test.title for side in study.sides for test in side.tests}
    for side in study.sides:
        yield f"{name}: {letter(side.place)}, {side.judge.name}, {_outcome(side, titles)}."
    yield from (f"{name}: {sentence}" for sentence in _better(study, titles))
    primary = [one for one in study.differences if one.family == "primary"]
    if primary:
        told = sum(winner(one) is not None for one in primary)
        level = sum(one.words == "equivalent" for one in primary)
        yield (
            f"{name}: differences in deciding rates: {count(told)} shown, {count(level)} within the margin, "
            f"{count(len(primary) - told - level)} undecided, of {count(len(primary))}."
        )


def _outcome(side: StressSide, titles: Mapping[str, str]) -> str:
    """Says what came of each test that has a limit. One that could not be judged is neither passed nor open."""
    held = [cell for cell in side.verdicts if cell.why != NO_LIMIT]
    of_each = Counter(cell.verdict for cell in held)
    failed = [titles[cell.test] for cell in held if cell.verdict == "FAIL"]
    parts = [
        f"passes {of_each['PASS'] or 'none'} of {count(len(held))} {units('test', len(held))}",
        f"fails {len(failed)} ({', '.join(failed)})" if failed else "fails none",
        f"leaves {of_each['INCONCLUSIVE'] or 'none'} open",
    ]
    if of_each["N/A"]:
        parts.append(f"could not be judged in {of_each['N/A']}")
    said = f"{', '.join(parts[:-1])} and {parts[-1]}"
    return said if side.complete else f"{said}; its run is not complete"


def _better(study: ComparedStudy, titles: Mapping[str, str]) -> Iterator[str]:
    """Yields, for each pair of judges, the tests in which one of them is shown to be better."""
    shown: dict[tuple[int, int], list[str]] = {}
    for one in study.differences:
        ahead = winner(one)
        if ahead is not None:
            behind = one.second if ahead == one.first else one.first
            shown.setdefault((ahead, behind), []).append(titles[one.stratum])
    for (ahead, behind), tests in shown.items():
        yield f"{letter(ahead)} is shown to be better than {letter(behind)} in {', '.join(tests)}."
