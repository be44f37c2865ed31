"""Makes the report of a stress run from its responses. Makes no calls, and needs no key."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from types import MappingProxyType
from typing import Any, get_args

from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Measure
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import ORIGINAL, GoldSource, Stimulus
from umpirical.domain.tallies import CallTally, Tallies
from umpirical.domain.trials import BASELINE, Trial
from umpirical.judges.simulated.examiner import true_examiner
from umpirical.judges.simulated.model import profile_of
from umpirical.judges.simulated.profiles import ExaminerProfile
from umpirical.judges.spec import JudgeSpec
from umpirical.measures.catalogue import MeasureSpec, measure_all
from umpirical.protocols.review_record import ReviewRecord
from umpirical.protocols.stress.counting import WorstRow, Wrong, stress_counts
from umpirical.protocols.stress.design import truths
from umpirical.protocols.stress.policy import MARGIN, ScaleRecord, StressPolicy, policy_words
from umpirical.protocols.stress.record import (
    DatasetRecord,
    MadeRecord,
    StressMeasure,
    StressReport,
    StressTest,
    WorstItem,
    WriterSpendRecord,
)
from umpirical.protocols.stress.verdicts import decide_stress, find_stress, judge_answers, judge_test, smallest_of_tests
from umpirical.protocols.writing import BY_PEOPLE
from umpirical.registry import Registry
from umpirical.reports.decision import VerdictRecord
from umpirical.reports.facts import (
    audit_rows,
    judge_record,
    reasoning_record,
    run_record,
    spend_record,
    trouble_records,
)
from umpirical.reports.record import (
    JudgeRecord,
    ReasoningRecord,
    RunRecord,
    SpendRecord,
    TroubleRecord,
    TrueValues,
    measure_record,
)
from umpirical.reports.smallest_differences import smallest_differences
from umpirical.runs.judgments import Facts, Reading, Seen, read_judgments
from umpirical.runs.run import Run
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, GeneratedPerturbation, Perturbation
from umpirical.store.stimulus_sets import StimulusSet

OWN_TESTS = {
    ORIGINAL: ("Your own items", "Your responses as they are, compared with your labels."),
    "stability": ("Repeated request", "Each original is sent several times in the same words."),
    "seeds": ("Other seeds", "Each original is sent several times, each time with a different seed."),
    "sampling": ("Other sampling", "Each original is sent several times, with different sampling parameters."),
}
"""Title and meaning of the tests that change nothing."""


MOST_WORST = 10
"""How many items of each test are shown; the responses hold them all."""

LONGEST_TEXT = 10_000
"""How many characters of a text are kept and compared."""

LONGEST_WORDS = 1_500
"""Most characters of the judge's own words, and of a piece of evidence."""

MOST_ANSWERS = 50
"""How many answers to one text are listed."""

NON_CLAIMS = (
    """\
The results apply to these items, this prompt and these settings. Other data or another prompt needs another test.
An inconclusive test shows neither a weakness nor its absence.
Programs and validators support the claim that a paraphrase or a longer version deserves the same grade, but they do \
not prove it. Only changes made by a program are proved.
Agreement with the labels is only as good as the labels. This report does not show how well people agree on them.
Each test is checked separately, so with many tests some fail by chance: the cells of the table are exploratory. \
Marked cells survive a correction for the number of cells."""
).splitlines()


def _facts(trial: Trial, stimulus: Stimulus, scale: GradeScale | None) -> dict[str, Any]:  # noqa: ARG001
    return {
        "parent": stimulus.parent,
        "expectation": stimulus.expectation.kind,
        "gold": stimulus.gold,
        "gold_score": scale.score(stimulus.gold) if scale is not None and stimulus.gold else None,
        "groups": [f"{name}={value}" for name, value in sorted(stimulus.strata.items())],
        "characters": len(stimulus.candidates[0]),
        "words": len(stimulus.candidates[0].split()),
    }


FACTS = Facts(
    {
        "parent": "string",
        "expectation": "string",
        "gold": "string",
        "gold_score": "double",
        "groups": "list<string>",
        "characters": "int32",
        "words": "int32",
    },
    _facts,
)
"""What counting needs to know about a trial on the user's own data."""


def stress_report_of(run: Run) -> StressReport:
    """Rereads every response of a run, and measures."""
    return read_stress(run)[0]


def read_stress(run: Run, *, keep: bool = True, seen: Seen = lambda *_: None) -> tuple[StressReport, Tallies, Reading]:
    """Returns the report of a run, the counts behind it and what was read, for whoever compares judges.

    Without `keep`, nothing is written to the run. `seen` is called for every trial.
    """
    if "stress" not in run.manifest:
        raise UsageError(f"{run.folder} is not a stress test run", fix=f"umpirical report {run.folder}")
    with read_judgments(run, FACTS, keep=keep, seen=seen) as reading:
        return *stress_from(run, reading), reading


def stress_from(run: Run, reading: Reading) -> tuple[StressReport, Tallies]:
    """Returns the report of the judgments of a run that has been read, and the counts behind it."""
    about, scale, stimuli = run.manifest["stress"], run.judge.scale, run.stimuli
    if scale is None:
        raise UsageError(f"{run.folder} is not a stress test run", fix=f"umpirical report {run.folder}")
    with stress_counts(reading.judgments) as counts:
        tallies, worst = counts.tallies(scale, tuple(about["positive"])), counts.worst()
    report = assemble_stress(
        judge_record(run, reading),
        run_record(run, reading, tallies),
        _dataset_record(about["dataset"], stimuli, scale),
        measure_all(tallies, kind="grade", protocol="stress"),
        list(_tests(about, stimuli.manifest["made"])),
        _worst_items(worst, stimuli, about.get("by_row", {})),
        tallies.calls,
        trouble_records(reading),
        spend_record(run, reading.spent),
        margin=about["margin"],
        policy=StressPolicy.model_validate(about["policy"]) if "policy" in about else None,
        scale=scale,
        true_value=_true_value(run.judge, scale, stimuli),
        reasoning=reasoning_record(reading),
        review=_review(stimuli.manifest),
        writing=[WriterSpendRecord.model_validate(spent) for spent in stimuli.manifest.get("writing", [])],
    )
    return report, tallies


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
    policy: StressPolicy | None = None,
    true_value: TrueValues = MappingProxyType({}),
    reasoning: ReasoningRecord | None = None,
    review: ReviewRecord | None = None,
    writing: Sequence[WriterSpendRecord] = (),
) -> StressReport:
    """Assembles the report of one judge on one set of stress tests. Verdicts are about the judge's own prompt."""
    measures = [_measure(spec, measure, true_value) for spec, measure in measured]
    held, audit = scale_record(scale), audit_rows(calls, by=("variant", "family"))
    report = StressReport(
        judge=judge,
        run=run,
        dataset=dataset,
        scale=held,
        margin=margin,
        complete=not any(row.unasked for row in audit),
        decision=VerdictRecord(verdict="not-enough-data", sentences=[]),
        tests=list(tests),
        measures=measures,
        **_verdicts(tests, measures, margin, held, policy),
        worst=_worst(worst, tests),
        audit=audit,
        trouble=list(trouble),
        reasoning=reasoning,
        spend=spend,
        writing=list(writing),
        review=review,
        non_claims=NON_CLAIMS,
    )
    return _decided(report)


def held_to(report: StressReport, policy: StressPolicy | None) -> StressReport:
    """Returns the report with the verdicts and the decision of a policy; None for the shipped one."""
    verdicts = _verdicts(report.tests, report.measures, report.margin, report.scale, policy)
    return _decided(report.model_copy(update=verdicts))


def _decided(report: StressReport) -> StressReport:
    return report.model_copy(update={"decision": decide_stress(report)})


def _verdicts(
    tests: Sequence[StressTest],
    measures: Sequence[StressMeasure],
    margin: float,
    scale: ScaleRecord,
    policy: StressPolicy | None,
) -> dict[str, Any]:
    """Returns what a policy says of the tests, as parts of a report."""
    whole = [measure for measure in measures if measure.variant == BASELINE and not measure.group]
    cells = [
        judge_test(test, [one for one in whole if one.stratum == test.name], margin=margin, scale=scale, policy=policy)
        for test in tests
    ]
    answered = judge_answers(whole, policy)
    return {
        "verdicts": cells,
        "answered": answered,
        "smallest_differences": [*smallest_of_tests(cells, whole), *smallest_differences(whole, answered)],
        "findings": find_stress(tests, cells, whole, answered),
        "policy": policy_words(margin=margin, scale=scale, policy=policy),
        "own_policy": policy,
    }


def scale_record(scale: GradeScale) -> ScaleRecord:
    """Returns the scale, with the number of steps from one end to the other."""
    span: float | None = float(len(scale.labels) - 1)
    if scale.kind == "nominal":
        span = None
    elif scale.kind == "interval":
        span = (scale.high or 0.0) - (scale.low or 0.0)
    return ScaleRecord(kind=scale.kind, labels=list(scale.labels), range=span)


def _measure(spec: MeasureSpec, measure: Measure, true_value: TrueValues) -> StressMeasure:
    # TrueValues values are known only for all items together.
    known = {} if measure.group else true_value
    return StressMeasure(group=measure.group, **dict(measure_record(spec, measure, known)))


def _worst(items: Sequence[WorstItem], tests: Sequence[StressTest]) -> list[WorstItem]:
    """Returns a few items of each test, the furthest off first."""
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
    """Shortens a text, and removes halves of surrogate pairs, which no file can hold."""
    return re.sub("[\ud800-\udfff]", lambda half: f"⟦U+{ord(half[0]):04X}⟧", text[:most])


OWN_PROMPT = "The judge has its own prompt for this test, which was also used on the originals."


def _tests(about: Mapping[str, Any], made: Mapping[str, Any]) -> Iterator[StressTest]:
    """Yields the user's own items first, then the tests in the order of the study file."""
    sampled = made[ORIGINAL]
    for name in (ORIGINAL, *about["tests"]):
        if name in OWN_TESTS:
            title, meaning = OWN_TESTS[name]
            kind = "original" if name == ORIGINAL else "repeats"
            unasked = name in ("seeds", "sampling") and not about.get(name)
            asked = 0 if unasked else sampled["wanted"]
            if name == "sampling" and not unasked:
                meaning = f"{meaning[:-1]}: {'; '.join(map(_parameters, about[name]))}."
            made_of = MadeRecord(wanted=asked, gold_from=_gold(sampled) if name == ORIGINAL else {})
            if name == ORIGINAL and sampled.get("simulated"):
                made_of = made_of.model_copy(update={"simulated": sampled["simulated"]})
            yield StressTest(name=name, title=title, about=meaning, kind=kind, made=made_of)
        else:
            found = _made_test(PERTURBATIONS, name, made.get(name, {}))
            prompted = name in about.get("test_prompts", ())
            yield found.model_copy(update={"about": f"{found.about} {OWN_PROMPT}"}) if prompted else found


def _parameters(sent: str) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in json.loads(sent).items())


def _made_test(known: Registry[Perturbation], name: str, made: Mapping[str, Any]) -> StressTest:
    test = known.get(name)
    validated = isinstance(test, GeneratedPerturbation) and test.validation != "none"
    refusals = sum(
        count for why, count in made.get("rejected", {}).items() if "refused" in why or "request rejected" in why
    )
    record = MadeRecord(
        wanted=made.get("wanted", 0),
        proved=made.get("proved", 0),
        attempts=made.get("attempts", 0),
        generated=made.get("attempts", 0) - refusals,
        rejected=made.get("rejected", {}),
        accepted=made.get("generated", 0),
        validated=made.get("generated", 0) if validated else 0,
        given_up=made.get("given_up", 0),
        unchanged=made.get("unchanged", 0),
        skipped=made.get("skipped", {}),
        gold_from=_gold(made),
        validators=made.get("validators", ""),
        levels=made.get("levels", {}),
        sources=made.get("sources", ""),
        by_fallback=made.get("by_fallback", 0),
        simulated=made.get("simulated", 0),
        **{name: made.get(name, 0) for name in BY_PEOPLE},
    )
    kind = test.expectation if isinstance(test, GeneratedPerturbation) else "same-verdict"
    return StressTest(name=name, title=test.title, about=test.about, kind=kind, made=record)


def _review(manifest: Mapping[str, Any]) -> ReviewRecord | None:
    """Returns the review as it was when the stimuli were put together."""
    return ReviewRecord.model_validate(manifest["review"]) if "review" in manifest else None


def _gold(made: Mapping[str, Any]) -> dict[GoldSource, int]:
    counted = made.get("gold_from", {})
    return {source: counted[source] for source in get_args(GoldSource) if source in counted}


def _true_value(spec: JudgeSpec, scale: GradeScale, stimuli: StimulusSet) -> TrueValues:
    """Returns the values that a simulated examiner's measures should have; empty for any other judge."""
    profile = profile_of(spec)
    if not isinstance(profile, ExaminerProfile):
        return {}
    known = [truth for _, truth in truths(stimuli, scale)]
    values = true_examiner(profile, scale, known)
    return {(variant, *key): value for variant in spec.prompts for key, value in values.items()}


def _dataset_record(name: str, stimuli: StimulusSet, scale: GradeScale) -> DatasetRecord:
    manifest = stimuli.manifest
    originals = [stimulus for stimulus in stimuli if stimulus.family == ORIGINAL]
    labels = Counter(stimulus.gold for stimulus in originals)
    order = [*scale.labels, *sorted(set(labels) - set(scale.labels) - {""})]
    strata: dict[str, Counter[str]] = {}
    for stimulus in originals:
        for stratum, value in stimulus.strata.items():
            strata.setdefault(stratum, Counter())[value] += 1
    words = f"from {scale.low:g} to {scale.high:g}" if scale.kind == "interval" else ", ".join(scale.labels)
    return DatasetRecord(
        name=name,
        rows=manifest["dataset"]["rows"],
        items=manifest["dataset"]["rows"],
        sampled=manifest["sampled"],
        duplicates=manifest["repeated"],
        unlabelled=labels[""],
        labels={label: labels[label] for label in order if labels[label]},
        strata={stratum: dict(sorted(counted.items())) for stratum, counted in strata.items()},
        scale=f"{scale.kind}: {words}",
        digest=digest("sample", [stimulus.parent for stimulus in originals]),
        responses=manifest.get("responses"),
    )


WHY: dict[Wrong, str] = {
    "changed": "The verdict changed, although nothing relevant had changed.",
    "unmoved": "The verdict should have changed to the required label, but did not.",
    "wrong": "The verdict is not the gold label.",
    "unsteady": "The same request got different answers.",
}


def _worst_items(rows: Iterable[WorstRow], stimuli: StimulusSet, by_row: Mapping[str, str]) -> list[WorstItem]:
    """Joins the rows with the texts that they are about; `by_row` are columns of what each is judged by, by role."""
    rows = list(rows)
    wanted = {row.stimulus_id for row in rows} | {row.original_id for row in rows}
    found = {stimulus.id: stimulus for stimulus in stimuli if stimulus.id in wanted}
    return [_item(row, found, by_row) for row in rows]


def _item(row: WorstRow, found: Mapping[str, Stimulus], by_row: Mapping[str, str]) -> WorstItem:
    changed, original = found[row.stimulus_id], found.get(row.original_id)
    source = original or changed
    differ = row.stimulus_id != row.original_id
    texts = [original.candidates[0] if original else "", changed.candidates[0] if differ else ""]
    return WorstItem(
        item=source.evidence.get("item", source.task_id),
        test=row.test,
        group=", ".join(f"{name}={value}" for name, value in sorted(changed.strata.items())),
        gold=source.gold,
        gold_from=source.gold_from,
        original=texts[0],
        changed=texts[1],
        verdicts_original=list(row.original_given),
        verdicts_changed=list(row.given) if differ else [],
        required=changed.gold,
        evidence={f"{role} of the row": changed.columns[column] for role, column in by_row.items()}
        | dict(changed.evidence),
        distance=row.distance,
        why=WHY[row.kind],
    )
