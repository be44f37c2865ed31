"""From the responses of a run to its datasheet. Nothing is asked, and no key is needed."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from umpirical.domain.stimuli import TIER_2
from umpirical.domain.tallies import Tallies
from umpirical.judges.factory import build_reader
from umpirical.judges.model_judge import read_response
from umpirical.judges.simulated.planted import GradedPair, planted_grades, planted_values
from umpirical.judges.simulated.profiles import grader_profile, profile
from umpirical.judges.spec import JudgeSpec
from umpirical.measures.catalogue import measure_all
from umpirical.reports.assembling import Planted, assemble
from umpirical.reports.html import render_html
from umpirical.reports.markdown import render_markdown
from umpirical.reports.record import Datasheet, render_json
from umpirical.runs.judgments import Reading, read_judgments
from umpirical.store.files import write_text
from umpirical.store.stimulus_sets import StimulusSet
from umpirical.store.tallying import tally_judgments
from umpirical.study.preparing import open_run
from umpirical.study.records import (
    example_records,
    judge_record,
    run_record,
    spend_record,
    stimuli_record,
    trouble_records,
)

__all__ = ["Documents", "ReadRun", "datasheet_of", "datasheet_of_read", "read_run", "write_documents"]


@dataclass(frozen=True, slots=True)
class Documents:
    """Where a datasheet was written."""

    json: Path
    html: Path
    markdown: Path


@dataclass(frozen=True, slots=True)
class ReadRun:
    """A run that has been read and counted."""

    spec: JudgeSpec
    manifest: Mapping[str, Any]
    stimuli: StimulusSet
    reading: Reading
    tallies: Tallies


def read_run(run: Path) -> ReadRun:
    """Reads every response of a run again and counts."""
    store, spec, stimuli = open_run(run)
    reader = build_reader(spec)
    scale = spec.scale.build() if spec.scale else None
    reading = read_judgments(store, lambda response: read_response(reader, response), stimuli, scale=scale)
    return ReadRun(spec, store.manifest, stimuli, reading, tally_judgments(reading.folder, spec.kind))


def datasheet_of(run: Path) -> Datasheet:
    """Reads a run and measures the judge."""
    return datasheet_of_read(read_run(run))


def datasheet_of_read(read: ReadRun) -> Datasheet:
    return assemble(
        judge_record(read.spec, read.manifest["fingerprint"], read.reading),
        run_record(read.spec, read.manifest, read.reading, read.tallies),
        measure_all(read.tallies, kind=read.spec.kind, protocol="datasheet"),
        read.tallies.calls,
        trouble_records(read.reading),
        planted=_planted(read.spec, read.stimuli),
        stimuli=stimuli_record(read.stimuli, read.manifest.get("gates", [])),
        spend=spend_record(read.reading.spent),
        examples=example_records(read.reading.failures),
        # Levels of tier 2 are numbers of claims: no chart may show them beside requirements.
        grades=[tally for tally in read.tallies.grades if tally.family not in TIER_2],
    )


def write_documents(datasheet: Datasheet, folder: Path) -> Documents:
    """The record, and the two documents that are pure functions of it."""
    folder.mkdir(parents=True, exist_ok=True)
    documents = Documents(*(folder / f"datasheet.{ending}" for ending in ("json", "html", "md")))
    write_text(documents.json, render_json(datasheet))
    write_text(documents.html, render_html(datasheet))
    write_text(documents.markdown, render_markdown(datasheet))
    return documents


def _planted(spec: JudgeSpec, stimuli: StimulusSet) -> Planted:
    if spec.model is None or spec.model.adapter != "simulated":
        return {}
    pairs = [GradedPair(s.task_id, s.base or 0.0, s.delta or 0.0) for s in stimuli if s.family in ("delta0", "ladder")]
    if {pair.delta > 0 for pair in pairs} != {False, True}:
        return {}
    if spec.scale is not None:
        grades = planted_grades(grader_profile(spec.model.name), spec.scale.build(), pairs)
        return {(arm, *key): value for arm in spec.prompts for key, value in grades.items()}
    planted, steps = profile(spec.model.name), sorted({pair.delta for pair in pairs if pair.delta})
    return {(arm, *key): value for arm in spec.prompts for key, value in planted_values(planted, steps, arm).items()}
