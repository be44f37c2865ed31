"""From the responses of a stress run to its report. Nothing is asked, and no key is needed."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import ORIGINAL, GoldSource
from umpirical.judges.factory import build_reader
from umpirical.judges.model_judge import read_response
from umpirical.judges.simulated.examiner_profiles import EXAMINER_PROFILES
from umpirical.judges.simulated.planted_examiner import planted_examiner
from umpirical.judges.spec import JudgeSpec
from umpirical.measures.catalogue import measure_all
from umpirical.registry import Registry
from umpirical.reports.assembling import Planted
from umpirical.reports.stress.assembling import assemble_stress
from umpirical.reports.stress.markdown import render_stress_markdown
from umpirical.reports.stress.pages import render_stress_pages
from umpirical.reports.stress.record import DatasetRecord, MadeRecord, StressReport, StressTest, render_stress_json
from umpirical.reports.stress.review_record import ReviewRecord
from umpirical.runs.call import examiner_truths
from umpirical.runs.judgments import read_judgments
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, GeneratedPerturbation, Perturbation
from umpirical.store.files import write_text
from umpirical.store.stimulus_sets import StimulusSet
from umpirical.store.stress_tallying import tally_stress, worst_rows
from umpirical.study.preparing import open_run
from umpirical.study.records import judge_record, run_record, spend_record, trouble_records
from umpirical.study.reporting import Documents
from umpirical.study.stress.making import BY_PEOPLE
from umpirical.study.stress.worst import worst_items

__all__ = ["stress_report_of", "write_stress_documents", "write_stress_pages"]

OWN_TESTS = {
    ORIGINAL: ("Your own items", "Your responses as they are, held against your labels."),
    "stability": ("Asked again", "Each original asked several times in the same words."),
    "seeds": ("Asked with other seeds", "Each original asked several times, each time with a seed of its own."),
}
"""Title and meaning of the tests that change nothing."""


def stress_report_of(run: Path) -> StressReport:
    """Reads every response of a run again, and measures."""
    store, spec, stimuli = open_run(run)
    manifest = store.manifest
    if "stress" not in manifest or spec.scale is None:
        raise UsageError(f"{run} is no run of stress tests", fix=f"umpirical report {run}")
    scale, about = spec.scale.build(), manifest["stress"]
    reader = build_reader(spec)
    reading = read_judgments(store, lambda response: read_response(reader, response), stimuli, scale=scale)
    tallies = tally_stress(reading.folder, scale, tuple(about["positive"]))
    return assemble_stress(
        judge_record(spec, manifest["fingerprint"], reading),
        run_record(spec, manifest, reading, tallies),
        _dataset_record(about["dataset"], stimuli, scale),
        measure_all(tallies, kind="grade", protocol="stress"),
        list(_tests(about, stimuli.manifest["made"])),
        worst_items(worst_rows(reading.folder), stimuli),
        tallies.calls,
        trouble_records(reading),
        spend_record(reading.spent),
        margin=about["margin"],
        scale=scale,
        planted=_planted(spec, scale, stimuli),
        review=_review(stimuli.manifest),
    )


def write_stress_documents(report: StressReport, run: Path) -> Documents:
    """The record of one run, and its pages for itself alone."""
    run.mkdir(parents=True, exist_ok=True)
    documents = Documents(run / "stress.json", run / "report" / "index.html", run / "stress.md")
    write_text(documents.json, render_stress_json(report))
    write_text(documents.markdown, render_stress_markdown(report))
    write_stress_pages([report], run / "report")
    return documents


def write_stress_pages(reports: Sequence[StressReport], folder: Path) -> Path:
    """The pages of several judges side by side; returns the one to open first."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = render_stress_pages(reports)
    for name, text in pages.items():
        write_text(folder / name, text)
    return folder / "index.html"


def _tests(about: Mapping[str, Any], made: Mapping[str, Any]) -> Iterator[StressTest]:
    """The user's own items first, then the tests in the order of the study file."""
    sampled = made[ORIGINAL]
    for name in (ORIGINAL, *about["tests"]):
        if name in OWN_TESTS:
            title, meaning = OWN_TESTS[name]
            kind = "original" if name == ORIGINAL else "repeats"
            asked = 0 if name == "seeds" and not about["seeds"] else sampled["wanted"]
            made_of = MadeRecord(wanted=asked, gold_from=_gold(sampled) if name == ORIGINAL else {})
            yield StressTest(name=name, title=title, about=meaning, kind=kind, made=made_of)
        else:
            yield _made_test(PERTURBATIONS, name, made.get(name, {}))


def _made_test(known: Registry[Perturbation], name: str, made: Mapping[str, Any]) -> StressTest:
    test = known.get(name)
    validated = isinstance(test, GeneratedPerturbation) and test.validation != "none"
    refusals = sum(count for why, count in made.get("rejected", {}).items() if "refused" in why)
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
        **{name: made.get(name, 0) for name in BY_PEOPLE},
    )
    kind = test.expectation if isinstance(test, GeneratedPerturbation) else "same-verdict"
    return StressTest(name=name, title=test.title, about=test.about, kind=kind, made=record)


def _review(manifest: Mapping[str, Any]) -> ReviewRecord | None:
    """As it stood when the stimuli were put together."""
    return ReviewRecord.model_validate(manifest["review"]) if "review" in manifest else None


def _gold(made: Mapping[str, Any]) -> dict[GoldSource, int]:
    counted = made.get("gold_from", {})
    return {source: counted[source] for source in get_args(GoldSource) if source in counted}


def _planted(spec: JudgeSpec, scale: GradeScale, stimuli: StimulusSet) -> Planted:
    """What a simulated examiner's measures should come to; nothing of any other judge."""
    if spec.model is None or spec.model.adapter != "simulated":
        return {}
    truths = [truth for _, truth in examiner_truths(stimuli, scale)]
    values = planted_examiner(EXAMINER_PROFILES[spec.model.name], scale, truths)
    return {(arm, *key): value for arm in spec.prompts for key, value in values.items()}


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
    )
