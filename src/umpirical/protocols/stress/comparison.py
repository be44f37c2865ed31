"""Judges under the same stress tests, in one study or in several: record `stress-comparison/2`, page and card.

Studies have data and scales of their own, so nothing is added up over them.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, islice
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Estimate, Measure
from umpirical.domain.stimuli import ORIGINAL
from umpirical.domain.tallies import Tallies
from umpirical.domain.trials import BASELINE
from umpirical.measures.changes import shift_difference
from umpirical.measures.contrasts import EQUIVALENCE_LEVEL, contrasts_between
from umpirical.measures.estimates.labels import KAPPA, agreement_difference
from umpirical.protocols.costs import Costs, TimedKeeper, assemble_costs, judge_option, juries_of, price_of_run
from umpirical.protocols.jury import Member, share_calls
from umpirical.protocols.protocol import Documents, write_documents
from umpirical.protocols.stress.heat_map import CLOSENESS, SIGNS, PassRates, Spread, pass_rates, shade
from umpirical.protocols.stress.policy import NO_THRESHOLD, TestKind, interval_words, value_words
from umpirical.protocols.stress.record import (
    CellVerdict,
    DatasetRecord,
    StressMeasure,
    StressReport,
    StressTest,
    WriterSpendRecord,
)
from umpirical.protocols.stress.report import read_stress
from umpirical.protocols.stress.spec import JURY
from umpirical.protocols.stress.verdicts import SELF_PREFERENCE, moved
from umpirical.reports import numbers
from umpirical.reports.comparison import (
    MOST_JUDGES,
    STYLES,
    DifferenceRecord,
    Matrix,
    Overview,
    PairedDifference,
    Place,
    Row,
    labels,
    matrices,
    open_runs,
    overview,
    paired_differences,
    recorded_differences,
    refuse_margin,
    refuse_one_run,
    refuse_unknown_places,
    told_apart,
    winner,
)
from umpirical.reports.numbers import count, units
from umpirical.reports.pages import environment, plain, quoted
from umpirical.reports.record import CheckVerdict, JudgeRecord, RunRecord, SpendRecord, Strict, record_json
from umpirical.reports.significance import LEVEL
from umpirical.runs.run import Run


class ComparedJudge(Strict):
    """A judge, identified by its name and model in every study."""

    name: str
    model: str


class StressSide(Strict):
    """One judge in one study, as in its own report."""

    place: Place
    judge: JudgeRecord
    run: RunRecord
    complete: bool
    tests: list[StressTest]
    verdicts: list[CellVerdict]
    measures: list[StressMeasure] = Field(description="Measures shown on the page: the judge's own prompt, all items.")
    spend: SpendRecord | None = None
    writing: list[WriterSpendRecord] = Field(default=[], description="Cost of writing and validating the test cases.")


class ComparedStudy(Strict):
    """Judges that graded the same texts."""

    dataset: DatasetRecord
    stimuli: str = Field(description="Digest of the texts that all these judges graded.")
    sides: list[StressSide]
    differences: list[DifferenceRecord]
    costs: Costs | None = Field(
        default=None, description="Cost and accuracy of the judges and their juries, on the items with labels."
    )


class StressComparison(Strict):
    """A comparison of judges on stress tests."""

    format: Literal["stress-comparison/2"] = "stress-comparison/2"
    judges: list[ComparedJudge]
    studies: list[ComparedStudy]
    findings: list[str]
    non_claims: list[str]

    @model_validator(mode="after")
    def _known_places(self) -> Self:
        places = [side.place for study in self.studies for side in study.sides]
        places += [place for study in self.studies for one in study.differences for place in (one.first, one.second)]
        refuse_unknown_places(places, len(self.judges))
        return self


def study_titles(studies: Sequence[ComparedStudy]) -> list[str]:
    """Names the studies by their data; those on the same data, by the digest of their texts as well."""
    names = [study.dataset.name for study in studies]
    return [
        f"{name} ({study.stimuli[:8]})" if names.count(name) > 1 else name
        for study, name in zip(studies, names, strict=True)
    ]


DECIDING: Mapping[TestKind, str] = {
    "same-verdict": "change-rate",
    "flipped-verdict": "flip-detection",
    "repeats": "flip-rate",
    "given-label": "accuracy",
    "original": "accuracy",
}
"""The rate of a test that judges are called better or worse by, besides weighted kappa; others are exploratory."""

NON_CLAIMS = (
    """\
Failing to find a difference does not prove that there is none. Only “equivalent” means that.
If all judges were equal, a deciding rate would show any difference in at most 5% of comparisons, over all pairs of \
judges, tests and studies together (Holm). All other rows are exploratory (Benjamini and Hochberg).
Rates are not combined across studies, because their data, scales and tests differ.
Judges in one study are compared on the texts they share. Judges in different studies are shown side by side but not \
compared.
A judge with the same name and model may have a different prompt in another study."""
).splitlines()


@dataclass(frozen=True, slots=True)
class ReadStress:
    """A run of stress tests that was read: its report, the counts behind it, and the texts that it is about."""

    report: StressReport
    tallies: Tallies
    stimuli: str
    member: Member | None = None
    calls: TimedKeeper | None = None
    """Its calls about items with labels, to say what accuracy costs; None where only counts are known."""

    @property
    def judge(self) -> tuple[str, str]:
        return self.report.judge.name, self.report.judge.model


def compare_under_stress(read: Sequence[ReadStress], *, margin: float | None = None) -> StressComparison:
    """Compares judges that were asked about the same texts, each with each, and shows studies side by side."""
    judges = list(dict.fromkeys(each.judge for each in read))
    names = labels(judges)
    studies: dict[str, list[ReadStress]] = {}
    for each in read:
        studies.setdefault(each.stimuli, []).append(each)
    paired = [list(_paired(study, judges)) for study in studies.values()]
    recorded = _recorded(list(studies.values()), paired, margin)
    compared = [
        _study(study, judges, names, differences) for study, differences in zip(studies.values(), recorded, strict=True)
    ]
    return StressComparison(
        judges=[ComparedJudge(name=name, model=model) for name, model in judges],
        studies=compared,
        findings=[
            sentence
            for study, title in zip(compared, study_titles(compared), strict=True)
            for sentence in _findings(study, title, names)
        ],
        non_claims=NON_CLAIMS,
    )


def _paired(study: Sequence[ReadStress], judges: Sequence[tuple[str, str]]) -> Iterator[PairedDifference]:
    for one, other in combinations(study, 2):
        contrasts = contrasts_between(one.tallies, other.tallies, BASELINE, BASELINE)
        places = judges.index(one.judge), judges.index(other.judge)
        yield from paired_differences(contrasts, *places)
        yield from _beside(one, other, places)


def _beside(one: ReadStress, other: ReadStress, places: tuple[int, int]) -> Iterator[PairedDifference]:
    """Yields the differences that are not rates.

    One is in agreement beyond chance: accuracy may not tell a constant judge from an inverted one. The others are in
    self-preference: better writing moves both judges, so it cancels.
    """
    shifts = (partial(shift_difference, test=test) for test in SELF_PREFERENCE)
    measures: list[Callable[..., Measure | None]] = [agreement_difference, *shifts]
    for measure in measures:
        wide, narrow = (
            measure(one.tallies, other.tallies, BASELINE, level=level) for level in (0.95, EQUIVALENCE_LEVEL)
        )
        if wide is not None and narrow is not None:
            ends = narrow.result.interval if isinstance(narrow.result, Estimate) else None
            yield PairedDifference(wide.name, BASELINE, wide.stratum, wide.result, *places, ends)


def _recorded(
    studies: Sequence[Sequence[ReadStress]], paired: Sequence[Sequence[PairedDifference]], margin: float | None
) -> list[list[DifferenceRecord]]:
    """Records the differences of every study, of which all deciding rates are one family."""
    deciding = [
        {(test.name, DECIDING[test.kind]) for each in study for test in each.report.tests} | {(ORIGINAL, KAPPA)}
        for study in studies
    ]
    rows = [
        Row(one, primary=(one.stratum, one.measure) in deciding[place], measured=_measured(studies[place], one))
        for place, differences in enumerate(paired)
        for one in differences
    ]
    recorded = iter(recorded_differences(rows, margin))
    return [list(islice(recorded, len(differences))) for differences in paired]


def _measured(study: Sequence[ReadStress], one: PairedDifference) -> StressMeasure | None:
    known = (measure for each in study for measure in each.report.measures)
    return next((m for m in known if (m.name, m.stratum, m.variant) == (one.measure, one.stratum, BASELINE)), None)


def _study(
    study: Sequence[ReadStress],
    judges: Sequence[tuple[str, str]],
    names: Sequence[str],
    differences: list[DifferenceRecord],
) -> ComparedStudy:
    shown = {*DECIDING.values(), *CLOSENESS, KAPPA}
    sides = [
        StressSide(
            place=judges.index(each.judge),
            judge=each.report.judge,
            run=each.report.run,
            complete=each.report.complete,
            tests=each.report.tests,
            verdicts=each.report.verdicts,
            measures=[m for m in each.report.measures if m.variant == BASELINE and not m.group and m.name in shown],
            spend=each.report.spend,
            writing=each.report.writing,
        )
        for each in study
    ]
    first = study[0]
    return ComparedStudy(
        dataset=first.report.dataset,
        stimuli=first.stimuli,
        sides=sides,
        differences=differences,
        costs=_costs(study, [names[side.place] for side in sides]),
    )


STIMULI = "Writing and validating test cases costs extra, once for all judges: see their reports."


def _costs(study: Sequence[ReadStress], names: Sequence[str]) -> Costs | None:
    """Returns what the judges of a study cost for how right they are; None without labels that all were asked about."""
    read = [(each.member, each.calls) for each in study if each.member is not None and each.calls is not None]
    members, kept = [member for member, _ in read], [calls for _, calls in read]
    alike = len({member.run.judge.scale for member in members}) == 1
    if len(read) < len(study) or not alike or not all(calls.calls and not calls.too_many for calls in kept):
        return None
    prices, shared = [price_of_run(member) for member in members], share_calls(members, kept)
    if not shared.asked:
        return None
    places = [(place, place) for place in range(len(members))]
    options = [*(judge_option(shared, place, column) for place, column in places), *juries_of(shared, places, kept)]
    planned = [member.reading.planned for member in members]
    return assemble_costs(options, shared.ballots, prices, planned, names, stimuli=STIMULI)


def _findings(study: ComparedStudy, name: str, names: Sequence[str]) -> Iterator[str]:
    titles = {test.name: test.title for side in study.sides for test in side.tests}
    for side in study.sides:
        yield f"{name}: {names[side.place]} {_outcome(side, titles)}."
    yield from (f"{name}: {sentence}" for sentence in _better(study, titles, names))
    yield from (f"{name}: {sentence}" for sentence in _preferring(study, names))
    primary = [one for one in study.differences if one.family == "primary"]
    if primary:
        told, level, undecided = told_apart(primary)
        yield (
            f"{name}: of {count(len(primary))} differences in deciding rates, {count(told)} are significant, "
            f"{count(level)} are equivalent within the margin and {count(undecided)} are inconclusive."
        )


def _outcome(side: StressSide, titles: Mapping[str, str]) -> str:
    """Says what came of each test that has a check. One that could not be judged is neither passed nor open."""
    held = [cell for cell in side.verdicts if cell.why != NO_THRESHOLD]
    of_each = Counter(cell.verdict for cell in held)
    failed = [titles[cell.test] for cell in held if cell.verdict == "FAIL"]
    parts = [
        f"passes {of_each['PASS'] or 'none'} of {count(len(held))} {units('test', len(held))}",
        f"fails {len(failed)} ({', '.join(failed)})" if failed else "fails none",
        f"is inconclusive in {of_each['INCONCLUSIVE'] or 'none'}",
    ]
    if of_each["N/A"]:
        parts.append(f"could not be tested in {of_each['N/A']}")
    said = f"{', '.join(parts[:-1])} and {parts[-1]}"
    return said if side.complete else f"{said}; the run is incomplete"


def _better(study: ComparedStudy, titles: Mapping[str, str], names: Sequence[str]) -> Iterator[str]:
    """Yields, for each pair of judges, the tests in which one of them is shown to be better."""
    shown: dict[tuple[int, int], list[str]] = {}
    for one in study.differences:
        ahead = winner(one)
        if ahead is not None:
            behind = one.second if ahead == one.first else one.first
            shown.setdefault((ahead, behind), []).append(titles[one.stratum])
    for (ahead, behind), tests in shown.items():
        yield f"{names[ahead]} is significantly better than {names[behind]} in {', '.join(dict.fromkeys(tests))}."


def _preferring(study: ComparedStudy, names: Sequence[str]) -> Iterator[str]:
    """Yields, for each pair of judges, whether one grades the words of `own_generator`, or its name, higher."""
    for one in study.differences:
        found = one.difference
        if one.measure != "grade-shift" or not isinstance(found, Estimate) or found.interval is None:
            continue
        if one.adjusted_p is None or one.adjusted_p >= LEVEL or not moved(found):
            continue
        more, less = (one.second, one.first) if found.value > 0 else (one.first, one.second)
        what = "the words of the study's own_generator" if one.stratum == "own-words" else "texts said to be its own"
        ends = numbers.scaled_interval(found.interval.low, found.interval.high, one.scale)
        pair = f"{names[one.second]} minus {names[one.first]}"
        yield (
            f"{names[more]} grades {what} higher than {names[less]} does, on the same texts, so the writing does not "
            f"explain it ({pair}: {numbers.shift(found.value)} {ends} grades)."
        )


@dataclass(frozen=True, slots=True)
class JudgeSign:
    """One judge, wherever the page names it."""

    sign: str
    style: int
    model: str


@dataclass(frozen=True, slots=True)
class Standing:
    """One judge in one study: how its tests ended, and its rates of expected labels."""

    verdicts: tuple[tuple[str, CheckVerdict, int], ...]
    """Sign, verdict and number of tests, of the verdicts that there are."""
    spread: Spread | None
    worst: str
    """The test with the least rate; empty without any."""
    complete: bool


@dataclass(frozen=True, slots=True)
class StudyView:
    """One study on the page."""

    title: str
    study: ComparedStudy
    judges: tuple[JudgeSign, ...]
    standings: tuple[Standing | None, ...]
    """By place of the judge in the whole comparison; None for one that is not in the study."""
    rates: PassRates
    matrices: list[Matrix]
    overview: Overview


def render_stress_comparison_html(comparison: StressComparison) -> str:
    """Renders the page. The same record gives the same text, which can always be encoded as UTF-8."""
    return (
        environment("umpirical.protocols.stress")
        .get_template("comparison.html")
        .render(
            comparison=comparison,
            judges=_signs(comparison),
            views=study_views(comparison),
            margins=list(dict.fromkeys(one.margin for study in comparison.studies for one in study.differences)),
            shade=shade,
            value_words=value_words,
            interval_words=interval_words,
        )
    )


def study_views(comparison: StressComparison) -> list[StudyView]:
    """Returns the studies as the page shows them; those of one dataset are told apart by their stimuli."""
    signs = _signs(comparison)
    return [
        _view(study, title, [signs[side.place] for side in study.sides], len(signs))
        for study, title in zip(comparison.studies, study_titles(comparison.studies), strict=True)
    ]


def _names(judges: Sequence[ComparedJudge]) -> list[str]:
    return labels((judge.name, judge.model) for judge in judges)


def _signs(comparison: StressComparison) -> list[JudgeSign]:
    return [
        JudgeSign(name, place % STYLES, judge.model)
        for place, (name, judge) in enumerate(zip(_names(comparison.judges), comparison.judges, strict=True))
    ]


def _view(study: ComparedStudy, title: str, judges: Sequence[JudgeSign], everyone: int) -> StudyView:
    rates = pass_rates(study.sides, [judge.sign for judge in judges])
    places = [side.place for side in study.sides]
    standings: list[Standing | None] = [None] * everyone
    for number, side in enumerate(study.sides):
        standings[side.place] = _standing(side, rates, number)
    # The matrices are among the judges of the study: each is told by its row.
    own = [
        one.model_copy(update={"first": places.index(one.first), "second": places.index(one.second)})
        for one in study.differences
        if one.family == "primary"
    ]
    tests = {test.name: test.title for side in study.sides for test in side.tests}
    # The user's own items have two deciding measures.
    beside = {KAPPA: ", weighted kappa"}
    found = [
        one.model_copy(update={"stratum": tests.get(one.stratum, one.stratum) + beside.get(one.measure, "")})
        for one in own
    ]
    return StudyView(
        title=title,
        study=study,
        judges=tuple(judges),
        standings=tuple(standings),
        rates=rates,
        matrices=matrices(found, len(places)),
        overview=overview(own, len(places)),
    )


def _standing(side: StressSide, rates: PassRates, number: int) -> Standing:
    counted = [(verdict, sum(cell.verdict == verdict for cell in side.verdicts)) for verdict in SIGNS]
    spread = rates.by_judge[number]
    cells = [(cells[number], test.title) for test, cells, _ in rates.rows]
    known = [(m.result.value, title) for m, title in cells if m and isinstance(m.result, Estimate)]
    return Standing(
        verdicts=tuple((SIGNS[verdict], verdict, times) for verdict, times in counted if times),
        spread=spread,
        worst=min(known)[1] if known else "",
        complete=side.complete,
    )


def spread_words(spread: Spread) -> str:
    """Says what a judge's rates are like, in one line.

    >>> spread_words(Spread(4, 0.8, 0.1, 0.7, 0.95))
    'mean 0.800 of 4 tests, least 0.700'
    """
    tests = f"{numbers.count(spread.count)} {numbers.units('test', spread.count)}"
    return f"mean {numbers.rate(spread.mean)} of {tests}, lowest {numbers.rate(spread.least)}"


MOST_STUDIES = 8

MOST_FINDINGS = 24


def render_stress_comparison_markdown(comparison: StressComparison) -> str:
    """Renders the card. The same record gives the same encodable text."""
    return "\n".join(_card(comparison)) + "\n"


def _card(comparison: StressComparison) -> Iterator[str]:
    views, judges = study_views(comparison), comparison.judges
    yield from ("---", f"format: {quoted(comparison.format)}", f"judges: {quoted(numbers.count(len(judges)))}")
    yield from (f"studies: {quoted(numbers.count(len(views)))}", "---", "")
    yield from (f"# {numbers.count(len(judges))} {numbers.units('judge', len(judges))} under stress", "")
    yield from (f"- {plain(finding)}" for finding in comparison.findings[:MOST_FINDINGS])
    if (more := len(comparison.findings) - MOST_FINDINGS) > 0:
        yield f"- {numbers.count(more)} more in the JSON record."
    head = ["judge", *(plain(view.title) for view in views[:MOST_STUDIES])]
    yield from ("", f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}")
    for place, name in enumerate(_names(judges)[:MOST_JUDGES]):
        cells = [_cell(view.standings[place]) for view in views[:MOST_STUDIES]]
        yield f"| {' | '.join([plain(name), *cells])} |"


def _cell(standing: Standing | None) -> str:
    if standing is None:
        return "not run"
    verdicts = ", ".join(f"{numbers.count(times)} {verdict}" for _, verdict, times in standing.verdicts)
    return f"{verdicts}; {spread_words(standing.spread)}" if standing.spread else verdicts


def compare_stress_runs(folders: Sequence[Path], *, margin: float | None = None) -> StressComparison:
    """Rereads runs of stress tests. Judges of one study are compared, each with each; studies stand side by side."""
    runs = open_runs(folders)
    refuse_one_run(runs)
    refuse_margin(margin)
    _refuse_one_judge_twice(runs)
    return compare_under_stress([_read(run) for run in runs], margin=margin)


def write_stress_comparison(comparison: StressComparison, folder: Path) -> Documents:
    """Writes the record, and the documents that are pure functions of it."""
    json, html = record_json(comparison), render_stress_comparison_html(comparison)
    return write_documents(folder, "comparison", json, html, render_stress_comparison_markdown(comparison))


def _read(run: Run) -> ReadStress:
    calls = TimedKeeper(replace(JURY, hears=JURY.knows), run.judge.scale)
    report, tallies, reading = read_stress(run, keep=False, seen=calls.see)
    return ReadStress(report, tallies, run.stimuli.digest, Member(run, reading), calls)


def _refuse_one_judge_twice(runs: Sequence[Run]) -> None:
    """A judge against itself would be counted as a pair of judges, and told apart by its own noise."""
    seen: dict[tuple[str, str, str], str] = {}
    for run in runs:
        key = (run.stimuli.digest, run.judge.name, ": ".join(run.judge.made_of))
        if key in seen:
            raise UsageError(
                f"runs {seen[key]} and {run.name} are the same judge on the same texts",
                fix="choose one, or give the judges different names in the study",
            )
        seen[key] = run.name
