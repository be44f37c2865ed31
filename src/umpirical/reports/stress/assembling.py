"""Measures, stimuli and a run's facts to the stress record."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from math import inf
from types import MappingProxyType

from umpirical.domain.measures import Measure
from umpirical.domain.scales import GradeScale
from umpirical.domain.tallies import CallTally
from umpirical.measures.catalogue import MeasureSpec
from umpirical.reports.assembling import Planted, measure_record
from umpirical.reports.limits import hold_limits
from umpirical.reports.policy import BASELINE
from umpirical.reports.record import AuditRow, JudgeRecord, RunRecord, TroubleRecord
from umpirical.reports.record_sources import SpendRecord
from umpirical.reports.stress.findings import find_stress
from umpirical.reports.stress.policy import ANSWERED, MARGIN, policy_words
from umpirical.reports.stress.record import (
    DatasetRecord,
    ScaleRecord,
    StressMeasure,
    StressReport,
    StressTest,
    WorstItem,
)
from umpirical.reports.stress.review_record import ReviewRecord
from umpirical.reports.stress.verdicts import judge_test

__all__ = ["LONGEST_TEXT", "MOST_WORST", "NON_CLAIMS", "assemble_stress", "scale_record"]

MOST_WORST = 10
"""Items that are shown of each test; the responses hold them all."""

LONGEST_TEXT = 10_000
"""Characters of a text that are kept and compared."""

LONGEST_WORDS = 1_500
"""Characters of the judge's own words, and of a piece of evidence."""

MOST_ANSWERS = 50
"""Answers to one text that are listed."""

NON_CLAIMS = (
    """\
The tests are about these items, this prompt and these settings; other data or another prompt is another test.
A test that is undecided shows neither a weakness nor its absence.
That a paraphrase or a longer version deserves the same grade is what its making aims at, what programs checked and \
what validators said: evidence, and no proof. Only what was made by program is proved.
Agreement with the labels is no better than the labels. Nothing here says how well people agree with each other on them.
Each test is looked at by itself, and with many tests some miss by chance: the cells of the heat map are exploratory. \
Those marked survive a correction for the number of cells."""
).splitlines()


def assemble_stress(  # noqa: PLR0913, PLR0917  # the parts of a report, each once
    judge: JudgeRecord,
    run: RunRecord,
    dataset: DatasetRecord,
    measured: Sequence[tuple[MeasureSpec, Measure]],
    tests: Sequence[StressTest],
    worst: Sequence[WorstItem],
    calls: Iterable[CallTally],
    trouble: Sequence[TroubleRecord],
    spend: SpendRecord | None,
    *,
    scale: GradeScale,
    margin: float = MARGIN,
    planted: Planted = MappingProxyType({}),
    review: ReviewRecord | None = None,
) -> StressReport:
    """The report of one judge on one set of stress tests. Verdicts are about the judge's own prompt."""
    measures = [_measure(spec, measure, planted) for spec, measure in measured]
    own = [measure for measure in measures if measure.arm == BASELINE]
    whole = [measure for measure in own if not measure.group]
    held = scale_record(scale)
    cells = [
        judge_test(test, [one for one in whole if one.stratum == test.name], margin=margin, scale=held)
        for test in tests
    ]
    answered = hold_limits(ANSWERED, whole, [BASELINE])
    audit = _audit(calls)
    return StressReport(
        judge=judge,
        run=run,
        dataset=dataset,
        scale=held,
        margin=margin,
        complete=not any(row.unasked for row in audit),
        tests=list(tests),
        measures=measures,
        verdicts=cells,
        answered=answered,
        findings=find_stress(tests, cells, whole, answered),
        policy=policy_words(margin=margin, scale=held),
        worst=_worst(worst, tests),
        audit=audit,
        trouble=list(trouble),
        spend=spend,
        review=review,
        non_claims=NON_CLAIMS,
    )


def scale_record(scale: GradeScale) -> ScaleRecord:
    """The scale, with the number of steps from one end to the other."""
    span: float | None = float(len(scale.labels) - 1)
    if scale.kind == "nominal":
        span = None
    elif scale.kind == "interval":
        span = (scale.high or 0.0) - (scale.low or 0.0)
    return ScaleRecord(kind=scale.kind, labels=list(scale.labels), range=span)


def _measure(spec: MeasureSpec, measure: Measure, planted: Planted) -> StressMeasure:
    # What was planted is known of all items together.
    known = {} if measure.group else planted
    return StressMeasure(group=measure.group, **dict(measure_record(spec, measure, known)))


def _worst(items: Sequence[WorstItem], tests: Sequence[StressTest]) -> list[WorstItem]:
    """The furthest first, a few of each test."""
    chosen = []
    for test in tests:
        own = [item for item in items if item.test == test.name]
        own.sort(key=lambda item: inf if item.distance is None else -item.distance)
        chosen += [_bounded(item) for item in own[:MOST_WORST]]
    return chosen


def _bounded(item: WorstItem) -> WorstItem:
    texts = {name: _cut(getattr(item, name), LONGEST_TEXT) for name in ("original", "changed")}
    words = {name: _cut(getattr(item, name), LONGEST_WORDS) for name in ("words_original", "words_changed", "why")}
    answers = {name: getattr(item, name)[:MOST_ANSWERS] for name in ("verdicts_original", "verdicts_changed")}
    evidence = {_cut(kind, 200): _cut(found, LONGEST_WORDS) for kind, found in item.evidence.items()}
    cut = item.cut or max(len(item.original), len(item.changed)) > LONGEST_TEXT
    return item.model_copy(update={**texts, **words, **answers, "evidence": evidence, "cut": cut})


def _cut(text: str, most: int) -> str:
    """Shortened, and without halves of surrogate pairs, which no file can hold."""
    return re.sub("[\ud800-\udfff]", lambda half: f"⟦U+{ord(half[0]):04X}⟧", text[:most])


def _audit(calls: Iterable[CallTally]) -> list[AuditRow]:
    """Every planned trial by outcome, the tallies of all items together, by test."""
    rows: dict[tuple[str, str], dict[str, int]] = {}
    for tally in calls:
        sums = rows.setdefault((tally.arm, tally.family), {})
        for name, value in _outcomes(tally).items():
            sums[name] = sums.get(name, 0) + value
    return [
        AuditRow.model_validate({"arm": arm, "family": family, "stratum": "", "delta": None, **sums})
        for (arm, family), sums in rows.items()
    ]


def _outcomes(tally: CallTally) -> Mapping[str, int]:
    facts = ("task_id", "arm", "family", "stratum", "delta")
    return {name: value for name, value in asdict(tally).items() if name not in facts}
