"""Judges on the same labeled pairs, each with each: record `pairs-comparison/1`, page and card."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Literal

from umpirical.domain.trials import BASELINE
from umpirical.measures.contrasts import contrasts_between
from umpirical.protocols.pairs.counting import pairs_counts
from umpirical.protocols.pairs.record import PairsData, PairsDecision, PairsMeasure
from umpirical.protocols.pairs.report import CHANGE, FACTS, pairs_report_from
from umpirical.protocols.pairs.spec import ACCURACY
from umpirical.protocols.protocol import Documents, write_documents
from umpirical.reports import numbers
from umpirical.reports.checks import NO_VERDICT
from umpirical.reports.comparison import (
    OF_RUN,
    STYLES,
    DifferenceRecord,
    Row,
    labels,
    matrices,
    open_runs,
    overview,
    paired_differences,
    recorded_differences,
    refuse_margin,
    refuse_one_run,
    refuse_other_stimuli,
    told_apart,
    winner,
)
from umpirical.reports.pages import environment, plain, quoted
from umpirical.reports.record import JudgeRecord, RunRecord, Strict, record_json
from umpirical.runs.judgments import read_judgments

PRIMARY = (ACCURACY, CHANGE, *NO_VERDICT)
"""The rates that checks decide by; agreement and the lean to a position are not shares of the pairs."""

NON_CLAIMS = (
    """\
A difference that is not significant does not prove that there is none. Only “equivalent” claims that.
In the checked rates, identical judges differ significantly in at most 5% of comparisons, over all pairs of judges \
together (Holm). All other rows are exploratory (Benjamini and Hochberg).
The differences are about these pairs and prompts, and only as good as the labels."""
).splitlines()


class PairsSide(Strict):
    """One judge, as in its own report."""

    judge: JudgeRecord
    run: RunRecord
    complete: bool
    decision: PairsDecision
    measures: list[PairsMeasure]


class PairsComparison(Strict):
    """A comparison of judges on labeled pairs."""

    format: Literal["pairs-comparison/1"] = "pairs-comparison/1"
    data: PairsData
    judges: list[PairsSide]
    differences: list[DifferenceRecord]
    findings: list[str]
    non_claims: list[str]

    @property
    def names(self) -> list[str]:
        """What the judges are called; those of one name are told apart by their runs."""
        return labels((side.judge.name, side.run.id[:OF_RUN]) for side in self.judges)


def compare_pairs_runs(folders: Sequence[Path], *, margin: float | None = None) -> PairsComparison:
    """Rereads runs on the same labeled pairs, and compares their judges, each with each."""
    runs = open_runs(folders)
    refuse_one_run(runs)
    refuse_other_stimuli(runs)
    refuse_margin(margin)
    reports, tallies = [], []
    for run in runs:
        with read_judgments(run, FACTS, keep=False) as reading:
            reports.append(pairs_report_from(run, reading))
            with pairs_counts(reading.judgments) as counts:
                tallies.append(counts.tallies())
    known = {(m.name, m.stratum): m for report in reports for m in report.measures if not m.group}
    rows = [
        Row(one, (one.measure in PRIMARY and not one.stratum), known.get((one.measure, one.stratum)))
        for first, second in combinations(range(len(runs)), 2)
        for one in paired_differences(
            contrasts_between(tallies[first], tallies[second], BASELINE, BASELINE), first, second
        )
    ]
    sides = [PairsSide(**{name: getattr(each, name) for name in PairsSide.model_fields}) for each in reports]
    found = PairsComparison(
        data=reports[0].data,
        judges=sides,
        differences=recorded_differences(rows, margin),
        findings=[],
        non_claims=NON_CLAIMS,
    )
    return found.model_copy(update={"findings": list(_findings(found))})


def _primary(comparison: PairsComparison) -> list[DifferenceRecord]:
    return [one for one in comparison.differences if one.family == "primary"]


def _findings(comparison: PairsComparison) -> Iterator[str]:
    names, primary = comparison.names, _primary(comparison)
    for side, name in zip(comparison.judges, names, strict=True):
        yield f"{name}: {side.decision.line}"
    for one in primary:
        ahead = winner(one)
        if ahead is not None:
            behind = one.second if ahead == one.first else one.first
            yield f"{names[ahead]} is significantly better than {names[behind]}: {one.title.lower()}."
    told, level, undecided = told_apart(primary)
    yield (
        f"Of {numbers.count(len(primary))} pairwise comparisons of checked rates, {numbers.count(told)} are "
        f"significant, {numbers.count(level)} are equivalent within the margin and {numbers.count(undecided)} are "
        "inconclusive."
    )


def render_pairs_comparison_html(comparison: PairsComparison) -> str:
    """Renders the page. The same record gives the same text."""
    primary, count = _primary(comparison), len(comparison.judges)
    signs = [{"sign": name, "style": place % STYLES} for place, name in enumerate(comparison.names)]
    accuracies = [next(m for m in side.measures if (m.name, m.group) == (ACCURACY, "")) for side in comparison.judges]
    return (
        environment("umpirical.protocols.pairs")
        .get_template("comparison.html")
        .render(
            comparison=comparison,
            judges=list(zip(signs, comparison.judges, accuracies, strict=True)),
            signs=signs,
            overview=overview(primary, count),
            checked=matrices(primary, count),
            others=matrices([one for one in comparison.differences if one.family != "primary"], count),
        )
    )


def render_pairs_comparison_markdown(comparison: PairsComparison) -> str:
    """Renders the card: one screen of Markdown."""
    head = ["---", f"format: {quoted(comparison.format)}", "---", ""]
    title = f"# {numbers.count(len(comparison.judges))} judges on {plain(comparison.data.source)}"
    return "\n".join([*head, title, "", *(f"- {plain(finding)}" for finding in comparison.findings[:24]), ""])


def write_pairs_comparison(comparison: PairsComparison, folder: Path) -> Documents:
    """Writes the record, and the documents that are pure functions of it."""
    page, card = render_pairs_comparison_html(comparison), render_pairs_comparison_markdown(comparison)
    return write_documents(folder, "comparison", record_json(comparison), page, card)
