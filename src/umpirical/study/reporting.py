"""From the responses of a run to its datasheet. Nothing is asked, and no key is needed."""

from dataclasses import dataclass
from pathlib import Path

from umpirical.judges.building import build_reader
from umpirical.judges.model_judge import read_response
from umpirical.judges.simulated.planted import planted_values
from umpirical.judges.simulated.profiles import profile
from umpirical.judges.spec import JudgeSpec
from umpirical.measures.spec import measure_all
from umpirical.reports.assembling import Planted, assemble
from umpirical.reports.html import render_html
from umpirical.reports.markdown import render_markdown
from umpirical.reports.record import Datasheet, JudgeRecord, RunRecord, TroubleRecord, render_json
from umpirical.runs.reading import Reading, read_judgments
from umpirical.store.files import write_text
from umpirical.store.stimulus_sets import StimulusSet
from umpirical.store.tallying import tally_judgments
from umpirical.study.preparing import open_run

__all__ = ["Documents", "datasheet_of", "write_documents"]


@dataclass(frozen=True, slots=True)
class Documents:
    """Where a datasheet was written."""

    json: Path
    html: Path
    markdown: Path


def datasheet_of(run: Path) -> Datasheet:
    """Reads every response of a run again and measures the judge."""
    store, spec, stimuli = open_run(run)
    reader = build_reader(spec)
    reading = read_judgments(store, lambda response: read_response(reader, response), stimuli)
    tallies = tally_judgments(reading.folder)
    manifest = store.manifest
    tasks = sorted({tally.task_id for tally in tallies.calls})
    record = RunRecord(
        id=manifest["id"],
        created=manifest["created"],
        umpirical_version=manifest["umpirical"],
        protocol=manifest["protocol"],
        stimuli=manifest["stimuli"],
        seed=manifest["seed"],
        tasks=tasks,
        arms=manifest["arms"],
        repeats=manifest["repeats"],
        trials=reading.planned,
        responses_sha256=reading.responses_sha256,
        command=f"umpirical run --judge {spec.name}",
    )
    judge = _judge_record(spec, manifest["fingerprint"], reader.schema(), reading)
    return assemble(
        judge, record, measure_all(tallies), tallies.calls, _trouble(reading), planted=_planted(spec, stimuli)
    )


def write_documents(datasheet: Datasheet, folder: Path) -> Documents:
    """The record, and the two documents that are pure functions of it."""
    folder.mkdir(parents=True, exist_ok=True)
    documents = Documents(*(folder / f"datasheet.{ending}" for ending in ("json", "html", "md")))
    write_text(documents.json, render_json(datasheet))
    write_text(documents.html, render_html(datasheet))
    write_text(documents.markdown, render_markdown(datasheet))
    return documents


def _judge_record(spec: JudgeSpec, fingerprint: str, schema: str, reading: Reading) -> JudgeRecord:
    model = f"{spec.model.adapter}: {spec.model.name}" if spec.model else f"python: {spec.callable}"
    return JudgeRecord(
        name=spec.name,
        kind=spec.kind,
        model=model,
        fingerprint=fingerprint,
        served_by=sorted(reading.served_by),
        decoding=dict(spec.decoding.build().sent()) if spec.model else {},
        instruction="\n\n".join(spec.prompts.values()),
        answer_schema=schema,
        capabilities=spec.capabilities.build().as_dict(),
    )


def _trouble(reading: Reading) -> list[TroubleRecord]:
    return [
        TroubleRecord.model_validate({"outcome": outcome, "why": why, "count": count, "example": example})
        for (outcome, why), count in sorted(reading.trouble.items(), key=lambda entry: (-entry[1], entry[0]))
        for example in [reading.examples[outcome, why]]
    ]


def _planted(spec: JudgeSpec, stimuli: StimulusSet) -> Planted:
    if spec.model is None or spec.model.adapter != "simulated":
        return {}
    steps = sorted({stimulus.delta for stimulus in stimuli if stimulus.delta})
    return planted_values(profile(spec.model.name), steps)
