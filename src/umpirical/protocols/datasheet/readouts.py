"""Re-scores a run with every scoring method that its replies allow: a datasheet for each, and one page for all."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Estimate, Measure, Undefined
from umpirical.domain.readouts import READOUTS, TARGET, Readout, calibration_tasks
from umpirical.domain.tallies import Tallies
from umpirical.domain.trials import BASELINE
from umpirical.judges.label_logprobs import NO_LOGPROBS
from umpirical.measures.catalogue import MEASURES, MeasureSpec, Scale, measure_all
from umpirical.measures.contrasts import contrasts_between
from umpirical.protocols.datasheet.counting import tally_judgments
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.protocols.datasheet.readout_rules import (
    HOW_TO_RECORD,
    NON_CLAIMS,
    HeardRun,
    ReadoutRow,
    Readouts,
    band_of,
    measure_in,
    recommend,
    rewrite_judgments,
    rule_of,
    shown_measures,
)
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.datasheet.report import (
    ReadRun,
    assemble,
    datasheet_of_read,
    held_to,
    read_run,
)
from umpirical.protocols.datasheet.stimuli import stimuli_record
from umpirical.protocols.protocol import Documents
from umpirical.reports import numbers
from umpirical.reports.facts import judge_record, run_record, spend_record, trouble_records
from umpirical.reports.numbers import ratio
from umpirical.reports.pages import environment, plain, quoted
from umpirical.reports.policy import Limit, Policy, at
from umpirical.reports.record import JudgeRecord, MeasureRecord, measure_record, record_json
from umpirical.runs.run import Run, open_run
from umpirical.store.files import building, write_text
from umpirical.store.snapshots import RunSnapshot, snapshot

_ORDERS = "by construction: both orders of a pair are read as one verdict, so no position can be preferred"
_HALVES = "the two halves of a crossed pair would be the same verdicts, so their noise would count as appeal"
_MODEL = "the model needs a verdict for each order, but this scoring method reads both as one"

BY_CONSTRUCTION = {
    **dict.fromkeys(
        (
            "positional-false-preference", "one-sided-commit", "one-sided-slot", "one-sided-content",
            "slot-1-rate", "slot-2-rate", "swap-reversals", "excess-stable", "excess-positional",
            "slot-effect", "label-effect", "list-effect",
        ),
        _ORDERS,
    ),
    **dict.fromkeys(
        (
            "model-threshold", "resolution", "criterion", "slot-bias", "surface-sensitivity", "length-weight", "lapse",
            "goodness-of-fit", "d-prime", "resolution-shift",
        ),
        _MODEL,
    ),
    "text-appeal": _HALVES,
}  # fmt: skip
"""Measures that say nothing about a readout of both orders, and why."""

BOTH_ORDERS = ("both-orders-sensitivity",)
"""What a way of use needs that asks both orders."""

_WORDS = {
    "raw-false-preference": (
        "Recognizing equally good answers.",
        "Answers that may be equally good: it still names a winner.",
    ),
    "dark-current": ("", "Answers that may be blank: it still names a winner."),
}
"""What a readout of both orders is good for and not for, in place of the policy's words on single calls and vacuum."""

_CLAIMS = (
    f"Order effects are not measured here. They are removed {_ORDERS}.",
    (
        "Two identical or two empty answers give the same prompt in both orders, so they tie by construction. "
        "Blank-input preference is measured on blank answers that differ."
    ),
)


def readout_judge(judge: JudgeRecord, readout: Readout, *, band: float | None) -> JudgeRecord:
    """Returns the judge with a readout: a configuration of its own, with its own fingerprint."""
    if readout.name == "text":
        return judge
    words = f"scoring method {readout.name}" + (f", tie band {band_words(band)}" if band is not None else "")
    whole = digest("judge", {"judge": judge.fingerprint, "readout": readout.name, "band": band})
    return judge.model_copy(
        update={"name": f"{judge.name} ({readout.name})", "model": f"{judge.model}; {words}", "fingerprint": whole}
    )


def as_readout(sheet: Datasheet, readout: Readout, *, notes: Sequence[str]) -> Datasheet:
    """Returns a datasheet with the limits and words of its readout; `notes` precede the findings."""
    if readout.name == "text":
        return sheet
    sheet = sheet.model_copy(update={"findings": [*notes, *_not_slots(sheet.findings, readout)]})
    if not readout.pairwise or sheet.policy is None:
        return sheet
    again = held_to(sheet, _pairwise(sheet.policy))
    decision = again.decision
    if decision is not None and decision.verdict in {"use", "use-with-limits"}:
        way = f"Ask both orders of every pair, and combine them with the scoring method {readout.name}."
        decision = decision.model_copy(update={"use_like_this": [way, *decision.use_like_this]})
    return again.model_copy(
        # A sketch describes how the judge answers, which the readout does not show.
        update={
            "decision": decision,
            "findings": sheet.findings,
            "profile": None,
            "non_claims": [*sheet.non_claims, *_CLAIMS],
        }
    )


def band_words(band: float) -> str:
    return f"{ratio(band)} nats"


def _not_slots(findings: Sequence[str], readout: Readout) -> list[str]:
    """Removes findings about slots: that a slot is never preferred is no finding if it could not be."""
    return [finding for finding in findings if not (readout.pairwise and _ORDERS in finding)]


def _pairwise(policy: Policy) -> Policy:
    """Removes the advice to ask both orders: it has already been done, so it makes up for nothing."""
    limits = tuple(_reworded(limit) for limit in policy.compare if limit.measure not in BY_CONSTRUCTION)
    return policy.model_copy(update={"policy": f"{policy.policy} for both orders", "compare": limits})


def _reworded(limit: Limit) -> Limit:
    good_for, not_for = _WORDS.get(limit.measure, (limit.good_for, limit.not_for))
    cures = tuple(cure for cure in limit.cures if all(need.measure not in BOTH_ORDERS for need in cure.needs))
    return limit.model_copy(update={"cures": cures, "good_for": good_for, "not_for": not_for})


@dataclass(frozen=True, slots=True)
class Table:
    """Readouts by measures."""

    id: str
    title: str
    heads: tuple[str, ...]
    lines: "tuple[Line, ...]"


@dataclass(frozen=True, slots=True)
class Line:
    """One readout in a table: a cell for each measure shown."""

    row: ReadoutRow
    band: str
    cells: tuple[MeasureRecord | None, ...]


def render_readouts_html(readouts: Readouts) -> str:
    """Renders the page. The same record gives the same text, which can always be encoded as UTF-8."""
    made = [row for row in readouts.rows if not row.why_not]
    shown = shown_measures(made)
    # At equal quality, a difference in ties is the difference in false preferences with the sign reversed.
    fewer = [key for key in shown if key != ("tie-rate", "0")]
    tables = (
        Table("reported", "Results on the test tasks", *_table(made, "reported_on", shown)),
        Table("chosen", "Results on the selection tasks", *_table(made, "chosen_on", shown)),
        Table(
            "less",
            "Difference from the scoring method text, on the test tasks",
            *_table(made[1:], "against_text", fewer),
        ),
    )
    return (
        environment("umpirical.protocols.datasheet")
        .get_template("readouts.html")
        .render(readouts=readouts, shown=tables)
    )


def render_readouts_markdown(readouts: Readouts) -> str:
    """Renders the card."""
    return "\n".join(_card(readouts)) + "\n"


def _card(readouts: Readouts) -> Iterator[str]:
    made = [row for row in readouts.rows if not row.why_not]
    shown = shown_measures(made)
    yield from ("---", f"format: {quoted(readouts.format)}", f"judge: {quoted(readouts.judge.name)}")
    yield from (f"run: {quoted(readouts.run.id)}", "---", "", f"# Scoring methods of {plain(readouts.judge.name)}", "")
    if not readouts.complete:
        yield from ("**Incomplete run: some planned calls have no response.**", "")
    yield from (f"- {plain(sentence)}" for sentence in readouts.recommendation.sentences)
    if readouts.how_to_record:
        yield f"- {plain(readouts.how_to_record)}"
    counts = (numbers.count(len(tasks)) for tasks in (readouts.reporting_tasks, readouts.calibration_tasks))
    yield from (
        "",
        "Results on {} test tasks. The tie band and the choice come from {} other tasks.".format(*counts),
        "",
    )
    heads, lines = _table(made, "reported_on", shown)
    yield f"| scoring method | tie band | {' | '.join(plain(head) for head in heads)} |"
    yield f"| --- | --- |{' --- |' * len(heads)}"
    for line in lines:
        yield f"| {line.row.name} | {line.band} | {' | '.join(plain(_cell(cell)) for cell in line.cells)} |"
    for row in readouts.rows:
        if row.why_not:
            yield from ("", f"Not available: {row.name}, because {plain(row.why_not)}.")


def _table(
    rows: Sequence[ReadoutRow], half: str, shown: Sequence[tuple[str, str]]
) -> tuple[tuple[str, ...], tuple[Line, ...]]:
    """Returns the column heads and lines for one half of the tasks."""
    titles = {measure.name: measure.title for row in rows for measure in row.reported_on}
    heads = (titles.get(name, name) + at(stratum) for name, stratum in shown)
    lines = (
        Line(
            row,
            "none" if row.band is None else band_words(row.band),
            tuple(measure_in(getattr(row, half), name, stratum) for name, stratum in shown),
        )
        for row in rows
    )
    return tuple(heads), tuple(lines)


def _cell(measure: MeasureRecord | None) -> str:
    if measure is None:
        return "not measured"
    if not isinstance(measure.result, Estimate):
        return f"undefined: {measure.result.reason}"
    return numbers.measured(measure, measure.result)


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
    text, rows = _Made(READOUTS[0], None, read), []
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
            f"run {run.name} has no scoring methods: it is not a datasheet run of a judge that compares two answers",
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
        return "this judge does not let you set the order of the answers"
    return source.band if readout.name == "order-averaged" and isinstance(source.band, str) else ""


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
    notes = [f"Scoring method {readout.name}: {readout.about}"]
    band = made.band
    if band is not None:
        # The tasks that set the band cannot show how well it holds.
        made = _make(source, readout, tasks=source.reported_on)
        notes.append(
            f"Its tie band of {band_words(band)} was set on {len(source.chosen_on)} tasks. "
            f"This datasheet covers the other {len(source.reported_on)}."
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
        examples=made.read.failures,
    )
    return as_readout(sheet, readout, notes=notes)


def _command(source: _Source) -> str:
    target = "" if source.target == TARGET else f" --target {source.target:g}"
    return f"umpirical rescore runs/{source.read.run.name}{target}"


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
    write_text(documents.json, record_json(record))
    write_text(documents.html, render_readouts_html(record))
    write_text(documents.markdown, render_readouts_markdown(record))
    return documents
