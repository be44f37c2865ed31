"""Makes every readout that the responses of a run allow, each with its datasheet, and all of them side by side."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Measure, Undefined
from umpirical.domain.readouts import READOUTS, TARGET, Readout, calibration_tasks
from umpirical.domain.tallies import Tallies
from umpirical.domain.trials import BASELINE
from umpirical.judges.logprobs.labels import NO_LOGPROBS
from umpirical.measures.catalogue import MEASURES, MeasureSpec, Scale, measure_all
from umpirical.measures.contrasts import contrasts_between
from umpirical.protocols.datasheet.counting import tally_judgments
from umpirical.protocols.datasheet.examples import example_records
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.protocols.datasheet.readouts.choice import recommend
from umpirical.protocols.datasheet.readouts.pages import render_readouts_html, render_readouts_markdown
from umpirical.protocols.datasheet.readouts.record import (
    HOW_TO_RECORD,
    NON_CLAIMS,
    ReadoutRow,
    Readouts,
    render_readouts_json,
)
from umpirical.protocols.datasheet.readouts.rows import HeardRun, band_of, rewrite_judgments
from umpirical.protocols.datasheet.readouts.rules import rule_of
from umpirical.protocols.datasheet.readouts.sheets import BY_CONSTRUCTION, as_readout, band_words, readout_judge
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.datasheet.report import ReadRun, assemble, datasheet_of_read, read_run
from umpirical.protocols.datasheet.stimuli import stimuli_record
from umpirical.protocols.protocol import Documents
from umpirical.reports.facts import judge_record, run_record, spend_record, trouble_records
from umpirical.reports.record import MeasureRecord, measure_record
from umpirical.runs.run import Run, open_run
from umpirical.store.files import building, write_text
from umpirical.store.snapshots import RunSnapshot, snapshot

COMPARED = (
    "target-sensitivity",
    "raw-false-preference",
    "dark-current",
    "tie-rate",
    "wrong-choice-rate",
    "unparsed-rate",
)
"""The measures by which readouts are compared."""


@dataclass(frozen=True, slots=True)
class MeasuredReadouts:
    """The readouts, and where they were written."""

    readouts: Readouts
    documents: Documents


@dataclass(frozen=True, slots=True)
class _Source:
    """A run, with all that its readouts are made from."""

    heard: HeardRun
    arm: str
    """The judge's own prompt."""
    band: float | str
    """The tie band, or why there is none. All arms share one band, so that an arm can still move the criterion."""
    chosen_on: frozenset[str]
    reported_on: frozenset[str]
    logprobs: bool
    """Whether any response has log-probabilities."""
    target: float

    @property
    def read(self) -> ReadRun:
        """As the parser reads it."""
        return self.heard.text


@dataclass(frozen=True, slots=True)
class _Made:
    """One readout, counted."""

    readout: Readout
    band: float | None
    read: ReadRun


def write_readouts(run: Path, *, out: Path | None = None, target: float = TARGET) -> MeasuredReadouts:
    """Reads a run by every readout, and writes the datasheets and the comparison to `out` or the run's folder."""
    opened, folder = open_run(run), out or run / "readouts"
    with snapshot(opened.store) as now:
        return _write_readouts(_open(opened, now, target), folder, target)


def _write_readouts(source: _Source, folder: Path, target: float) -> MeasuredReadouts:
    read = source.read
    text, rows = _text(read), []
    for readout in READOUTS:
        why_not = _why_not(readout, source)
        made = None if why_not else text if readout.name == "text" else _make(source, readout)
        if made is not None:
            DATASHEET.write(_datasheet(source, made), folder / readout.name)
        rows.append(_row(source, readout, made, text, why_not))
    record = Readouts(
        judge=judge_record(read.run, read.reading),
        run=run_record(read.run, read.reading, read.tallies),
        complete=not read.reading.unasked,
        arm=source.arm,
        target=target,
        calibration_tasks=sorted(source.chosen_on),
        reporting_tasks=sorted(source.reported_on),
        rows=rows,
        recommendation=recommend(rows, target=target),
        how_to_record="" if source.logprobs else HOW_TO_RECORD,
        non_claims=NON_CLAIMS,
    )
    return MeasuredReadouts(record, _write(record, folder))


def _open(run: Run, now: RunSnapshot, target: float) -> _Source:
    if run.judge.kind != "compare" or run.manifest["protocol"] != DATASHEET.version:
        raise UsageError(
            f"run {run.name} is not a run of a compare judge on controlled stimuli, so it has no readouts",
            fix=f"umpirical report {run.folder}",
        )
    read = read_run(run, now)
    heard, tasks = HeardRun(read, now), frozenset(tally.cluster for tally in read.tallies.calls)
    chosen_on, arms = calibration_tasks(tasks), run.manifest["arms"]
    arm = BASELINE if BASELINE in arms else arms[0]
    band = band_of(heard.pairs(), arm=arm, tasks=chosen_on, target=target)
    logprobs = any(one.response is not None and one.response.logprobs for pair in heard.pairs() for one in pair)
    return _Source(heard, arm, band, chosen_on, tasks - chosen_on, logprobs, target)


def _why_not(readout: Readout, source: _Source) -> str:
    if readout.needs_logprobs and not source.logprobs:
        return NO_LOGPROBS
    if readout.pairwise and not source.read.run.judge.capabilities.order_controllable:
        return "the order of the candidates cannot be set for this judge"
    return source.band if readout.name == "order-averaged" and isinstance(source.band, str) else ""


def _text(read: ReadRun) -> _Made:
    return _Made(READOUTS[0], None, read)


def _make(source: _Source, readout: Readout, *, tasks: Collection[str] | None = None) -> _Made:
    """Rewrites and counts the judgments of `tasks`, or all."""
    band = source.band if readout.name == "order-averaged" and isinstance(source.band, float) else None
    wanted = source.chosen_on | source.reported_on if tasks is None else tasks
    with building(source.read.run.folder / "readouts" / readout.name / "judgments.parquet") as path:
        read = rewrite_judgments(source.heard, rule_of(readout.name, band=band), path, tasks=wanted)
        tallies = tally_judgments(path)
    if readout.pairwise:
        # If both orders are one prompt, such a readout cannot name a winner, which is no merit.
        stimuli = source.read.run.stimuli
        same = {s.stratum for s in stimuli if s.family == "vacuum" and len(set(s.candidates)) == 1}
        tallies = replace(tallies, vacuum=tuple(tally for tally in tallies.vacuum if tally.stratum not in same))
    return _Made(readout, band, replace(read, tallies=tallies))


def _datasheet(source: _Source, made: _Made) -> Datasheet:
    read, readout = source.read, made.readout
    if readout.name == "text":
        return datasheet_of_read(read)
    notes = [f"Readout {readout.name}: {readout.about}"]
    band = made.band
    if band is not None:
        # The tasks that set the band cannot show how well it holds.
        made = _make(source, readout, tasks=source.reported_on)
        notes.append(
            f"Its tie band of {band_words(band)} was set on {len(source.chosen_on)} tasks; "
            f"this datasheet is about the other {len(source.reported_on)}."
        )
    reading, tallies = made.read.reading, made.read.tallies
    judge, run = judge_record(read.run, reading), run_record(read.run, reading, tallies)
    sheet = assemble(
        readout_judge(judge, readout, band=band),
        run.model_copy(update={"command": f"{run.command} && {_command(source)}"}),
        list(_measures(tallies, readout)),
        tallies.calls,
        trouble_records(reading),
        planted={},
        stimuli=stimuli_record(read.run.stimuli, read.run.manifest.get("gates", [])),
        spend=spend_record(read.run, reading.spent),
        examples=example_records(made.read.failures),
    )
    return as_readout(sheet, readout, notes=notes)


def _command(source: _Source) -> str:
    target = "" if source.target == TARGET else f" --target {source.target:g}"
    return f"umpirical readouts runs/{source.read.run.name}{target}"


def _measures(tallies: Tallies, readout: Readout) -> Iterator[tuple[MeasureSpec, Measure]]:
    """Yields every measure; those that a readout of both orders makes meaningless give the reason."""
    if not readout.pairwise:
        yield from measure_all(tallies, kind="compare", protocol="datasheet")
        return
    specs = [spec for spec in MEASURES if spec.is_for("compare", "datasheet")]
    for arm in tallies.arms():
        for spec in specs:
            if spec.name in BY_CONSTRUCTION:
                yield spec, Measure(spec.name, Undefined(BY_CONSTRUCTION[spec.name]), arm)
            else:
                yield from ((spec, measure) for measure in spec.compute(tallies, arm))


def _row(source: _Source, readout: Readout, made: _Made | None, text: _Made, why_not: str) -> ReadoutRow:
    row = ReadoutRow(name=readout.name, about=readout.about, pairwise=readout.pairwise, why_not=why_not)
    if made is None:
        return row
    ours, theirs = (_of_tasks(one.read.tallies, source.reported_on) for one in (made, text))
    strata = {tally.stratum for tally in ours.vacuum}
    theirs = replace(theirs, vacuum=tuple(tally for tally in theirs.vacuum if tally.stratum in strata))
    against = contrasts_between(theirs, ours, source.arm, source.arm) if readout.name != "text" else ()
    return row.model_copy(
        update={
            "band": made.band,
            "datasheet": f"{readout.name}/datasheet.html",
            "chosen_on": _compared(_of_tasks(made.read.tallies, source.chosen_on), source.arm),
            "reported_on": _compared(ours, source.arm),
            "against_text": [_measure(c.measure, scale="difference") for c in against if c.measure.name in COMPARED],
        }
    )


def _of_tasks(tallies: Tallies, tasks: Collection[str]) -> Tallies:
    return Tallies(
        vacuum=tuple(tally for tally in tallies.vacuum if tally.cluster in tasks),
        pairs=tuple(tally for tally in tallies.pairs if tally.cluster in tasks),
        calls=tuple(tally for tally in tallies.calls if tally.cluster in tasks),
        outcomes=tuple(tally for tally in tallies.outcomes if tally.cluster in tasks),
        layouts=tuple(tally for tally in tallies.layouts if tally.cluster in tasks),
    )


def _compared(tallies: Tallies, arm: str) -> list[MeasureRecord]:
    return [_measure(measure) for name in COMPARED for measure in MEASURES.get(name).compute(tallies, arm)]


def _measure(measure: Measure, *, scale: Scale = "rate") -> MeasureRecord:
    return measure_record(MEASURES.get(measure.name), measure).model_copy(update={"scale": scale})


def _write(record: Readouts, folder: Path) -> Documents:
    documents = Documents(*(folder / f"readouts.{ending}" for ending in ("json", "html", "md")))
    write_text(documents.json, render_readouts_json(record))
    write_text(documents.html, render_readouts_html(record))
    write_text(documents.markdown, render_readouts_markdown(record))
    return documents
