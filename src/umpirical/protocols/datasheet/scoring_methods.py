"""Re-scores a run with every scoring method that its replies allow: a datasheet for each, and one page for all."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Estimate, Measure, Undefined
from umpirical.domain.scoring_methods import SCORING_METHODS, TARGET, ScoringMethod, calibration_tasks
from umpirical.domain.tallies import Tallies
from umpirical.domain.trials import BASELINE
from umpirical.judges.label_logprobs import NO_LOGPROBS
from umpirical.measures.catalogue import MEASURES, MeasureSpec, Scale, measure_all
from umpirical.measures.contrasts import contrasts_between
from umpirical.protocols.datasheet.counting import tally_judgments
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.datasheet.report import (
    ReadRun,
    assemble,
    datasheet_of_read,
    held_to,
    read_run,
)
from umpirical.protocols.datasheet.scoring_method_rules import (
    HOW_TO_RECORD,
    NON_CLAIMS,
    HeardRun,
    ScoringMethodRow,
    ScoringMethods,
    band_of,
    measure_in,
    recommend,
    rewrite_judgments,
    rule_of,
    shown_measures,
)
from umpirical.protocols.datasheet.stimuli import stimuli_record
from umpirical.protocols.protocol import Documents
from umpirical.reports import numbers
from umpirical.reports.facts import judge_record, run_record, spend_record, trouble_records
from umpirical.reports.numbers import ratio
from umpirical.reports.pages import environment, plain, quoted
from umpirical.reports.policy import Check, Policy, at
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
"""Measures that say nothing about a scoring method of both orders, and why."""

BOTH_ORDERS = ("both-orders-sensitivity",)
"""What a way of use needs that asks both orders."""

_WORDS = {
    "raw-false-preference": (
        "Recognizing equally good answers.",
        "Answers that may be equally good: it still names a winner.",
    ),
    "dark-current": ("", "Answers that may be blank: it still names a winner."),
}
"""What a scoring method of both orders is good for and not for, in place of the policy's words on single calls and
vacuum."""

_CLAIMS = (
    f"Order effects are not measured here. They are removed {_ORDERS}.",
    (
        "Two identical or two empty answers give the same prompt in both orders, so they tie by construction. "
        "Blank-input preference is measured on blank answers that differ."
    ),
)


def scoring_method_judge(judge: JudgeRecord, scoring_method: ScoringMethod, *, band: float | None) -> JudgeRecord:
    """Returns the judge with a scoring method: a configuration of its own, with its own fingerprint."""
    if scoring_method.name == "text":
        return judge
    words = f"scoring method {scoring_method.name}" + (f", tie band {band_words(band)}" if band is not None else "")
    whole = digest("judge", {"judge": judge.fingerprint, "scoring_method": scoring_method.name, "band": band})
    return judge.model_copy(
        update={
            "name": f"{judge.name} ({scoring_method.name})",
            "model": f"{judge.model}; {words}",
            "fingerprint": whole,
        }
    )


def as_scoring_method(sheet: Datasheet, scoring_method: ScoringMethod, *, notes: Sequence[str]) -> Datasheet:
    """Returns a datasheet with the checks and words of its scoring method; `notes` precede the findings."""
    if scoring_method.name == "text":
        return sheet
    sheet = sheet.model_copy(update={"findings": [*notes, *_not_slots(sheet.findings, scoring_method)]})
    if not scoring_method.pairwise or sheet.policy is None:
        return sheet
    again = held_to(sheet, _pairwise(sheet.policy))
    decision = again.decision
    if decision is not None and decision.verdict in {"use", "use-with-restrictions"}:
        way = f"Ask both orders of every pair, and combine them with the scoring method {scoring_method.name}."
        decision = decision.model_copy(update={"use_like_this": [way, *decision.use_like_this]})
    return again.model_copy(
        # A sketch describes how the judge answers, which the scoring method does not show.
        update={
            "decision": decision,
            "findings": sheet.findings,
            "profile": None,
            "non_claims": [*sheet.non_claims, *_CLAIMS],
        }
    )


def band_words(band: float) -> str:
    return f"{ratio(band)} nats"


def _not_slots(findings: Sequence[str], scoring_method: ScoringMethod) -> list[str]:
    """Removes findings about positions: that a position is never preferred is no finding if it could not be."""
    return [finding for finding in findings if not (scoring_method.pairwise and _ORDERS in finding)]


def _pairwise(policy: Policy) -> Policy:
    """Removes the advice to ask both orders: it has already been done, so it makes up for nothing."""
    checks = tuple(_reworded(check) for check in policy.compare if check.measure not in BY_CONSTRUCTION)
    return policy.model_copy(update={"policy": f"{policy.policy} for both orders", "compare": checks})


def _reworded(check: Check) -> Check:
    good_for, not_for = _WORDS.get(check.measure, (check.good_for, check.not_for))
    cures = tuple(cure for cure in check.cures if all(need.measure not in BOTH_ORDERS for need in cure.needs))
    return check.model_copy(update={"cures": cures, "good_for": good_for, "not_for": not_for})


@dataclass(frozen=True, slots=True)
class Table:
    """ScoringMethods by measures."""

    id: str
    title: str
    heads: tuple[str, ...]
    lines: "tuple[Line, ...]"


@dataclass(frozen=True, slots=True)
class Line:
    """One scoring method in a table: a cell for each measure shown."""

    row: ScoringMethodRow
    band: str
    cells: tuple[MeasureRecord | None, ...]


def render_scoring_methods_html(scoring_methods: ScoringMethods) -> str:
    """Renders the page. The same record gives the same text, which can always be encoded as UTF-8."""
    made = [row for row in scoring_methods.rows if not row.why_not]
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
        .get_template("scoring_methods.html")
        .render(scoring_methods=scoring_methods, shown=tables)
    )


def render_scoring_methods_markdown(scoring_methods: ScoringMethods) -> str:
    """Renders the card."""
    return "\n".join(_card(scoring_methods)) + "\n"


def _card(scoring_methods: ScoringMethods) -> Iterator[str]:
    made = [row for row in scoring_methods.rows if not row.why_not]
    shown = shown_measures(made)
    yield from ("---", f"format: {quoted(scoring_methods.format)}", f"judge: {quoted(scoring_methods.judge.name)}")
    yield from (
        f"run: {quoted(scoring_methods.run.id)}",
        "---",
        "",
        f"# Scoring methods of {plain(scoring_methods.judge.name)}",
        "",
    )
    if not scoring_methods.complete:
        yield from ("**Incomplete run: some planned calls have no response.**", "")
    yield from (f"- {plain(sentence)}" for sentence in scoring_methods.recommendation.sentences)
    if scoring_methods.how_to_record:
        yield f"- {plain(scoring_methods.how_to_record)}"
    counts = (
        numbers.count(len(tasks)) for tasks in (scoring_methods.reporting_tasks, scoring_methods.calibration_tasks)
    )
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
    for row in scoring_methods.rows:
        if row.why_not:
            yield from ("", f"Not available: {row.name}, because {plain(row.why_not)}.")


def _table(
    rows: Sequence[ScoringMethodRow], half: str, shown: Sequence[tuple[str, str]]
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
"""The measures by which scoring methods are compared."""


@dataclass(frozen=True, slots=True)
class MeasuredScoringMethods:
    """The scoring methods, and where they were written."""

    scoring_methods: ScoringMethods
    documents: Documents


@dataclass(frozen=True, slots=True)
class _Source:
    """A run, with all that its scoring methods are made from."""

    heard: HeardRun
    variant: str
    """The judge's own prompt."""
    band: float | str
    """The tie band, or why there is none. All variants share one band, so that a variant can still move the
    criterion."""
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
    """One scoring method, counted."""

    scoring_method: ScoringMethod
    band: float | None
    read: ReadRun


def write_scoring_methods(run: Path, *, out: Path | None = None, target: float = TARGET) -> MeasuredScoringMethods:
    """Reads a run by every scoring method, and writes datasheets and comparison to `out` or the run's folder."""
    opened, folder = open_run(run), out or run / "scoring-methods"
    with snapshot(opened.store) as now:
        return _write_scoring_methods(_open(opened, now, target), folder, target)


def _write_scoring_methods(source: _Source, folder: Path, target: float) -> MeasuredScoringMethods:
    read = source.read
    text, rows = _Made(SCORING_METHODS[0], None, read), []
    for scoring_method in SCORING_METHODS:
        why_not = _why_not(scoring_method, source)
        made = None if why_not else text if scoring_method.name == "text" else _make(source, scoring_method)
        if made is not None:
            DATASHEET.write(_datasheet(source, made), folder / scoring_method.name)
        rows.append(_row(source, scoring_method, made, text, why_not))
    record = ScoringMethods(
        judge=judge_record(read.run, read.reading),
        run=run_record(read.run, read.reading, read.tallies),
        complete=not read.reading.unasked,
        variant=source.variant,
        target=target,
        calibration_tasks=sorted(source.chosen_on),
        reporting_tasks=sorted(source.reported_on),
        rows=rows,
        recommendation=recommend(rows, target=target),
        how_to_record="" if source.logprobs else HOW_TO_RECORD,
        non_claims=NON_CLAIMS,
    )
    return MeasuredScoringMethods(record, _write(record, folder))


def _open(run: Run, now: RunSnapshot, target: float) -> _Source:
    if run.judge.kind != "compare" or run.manifest["protocol"] != DATASHEET.version:
        raise UsageError(
            f"run {run.name} has no scoring methods: it is not a datasheet run of a judge that compares two answers",
            fix=f"umpirical report {run.folder}",
        )
    read = read_run(run, now)
    heard, tasks = HeardRun(read, now), frozenset(tally.cluster for tally in read.tallies.calls)
    chosen_on, variants = calibration_tasks(tasks), run.manifest["variants"]
    variant = BASELINE if BASELINE in variants else variants[0]
    band = band_of(heard.pairs(), variant=variant, tasks=chosen_on, target=target)
    logprobs = any(one.response is not None and one.response.logprobs for pair in heard.pairs() for one in pair)
    return _Source(heard, variant, band, chosen_on, tasks - chosen_on, logprobs, target)


def _why_not(scoring_method: ScoringMethod, source: _Source) -> str:
    if scoring_method.needs_logprobs and not source.logprobs:
        return NO_LOGPROBS
    if scoring_method.pairwise and not source.read.run.judge.capabilities.order_controllable:
        return "this judge does not let you set the order of the answers"
    return source.band if scoring_method.name == "order-averaged" and isinstance(source.band, str) else ""


def _make(source: _Source, scoring_method: ScoringMethod, *, tasks: Collection[str] | None = None) -> _Made:
    """Rewrites and counts the judgments of `tasks`, or all."""
    band = source.band if scoring_method.name == "order-averaged" and isinstance(source.band, float) else None
    wanted = source.chosen_on | source.reported_on if tasks is None else tasks
    with building(source.read.run.folder / "scoring-methods" / scoring_method.name / "judgments.parquet") as path:
        read = rewrite_judgments(source.heard, rule_of(scoring_method.name, band=band), path, tasks=wanted)
        tallies = tally_judgments(path)
    if scoring_method.pairwise:
        # If both orders are one prompt, such a scoring method cannot name a winner, which is no merit.
        stimuli = source.read.run.stimuli
        same = {s.stratum for s in stimuli if s.family == "blank" and len(set(s.candidates)) == 1}
        tallies = replace(tallies, vacuum=tuple(tally for tally in tallies.vacuum if tally.stratum not in same))
    return _Made(scoring_method, band, replace(read, tallies=tallies))


def _datasheet(source: _Source, made: _Made) -> Datasheet:
    read, scoring_method = source.read, made.scoring_method
    if scoring_method.name == "text":
        return datasheet_of_read(read)
    notes = [f"Scoring method {scoring_method.name}: {scoring_method.about}"]
    band = made.band
    if band is not None:
        # The tasks that set the band cannot show how well it holds.
        made = _make(source, scoring_method, tasks=source.reported_on)
        notes.append(
            f"Its tie band of {band_words(band)} was set on {len(source.chosen_on)} tasks. "
            f"This datasheet covers the other {len(source.reported_on)}."
        )
    reading, tallies = made.read.reading, made.read.tallies
    judge, run = judge_record(read.run, reading), run_record(read.run, reading, tallies)
    sheet = assemble(
        scoring_method_judge(judge, scoring_method, band=band),
        run.model_copy(update={"command": f"{run.command} && {_command(source)}"}),
        list(_measures(tallies, scoring_method)),
        tallies.calls,
        trouble_records(reading),
        true_value={},
        stimuli=stimuli_record(read.run.stimuli, read.run.manifest.get("gates", [])),
        spend=spend_record(read.run, reading.spent),
        examples=made.read.failures,
    )
    return as_scoring_method(sheet, scoring_method, notes=notes)


def _command(source: _Source) -> str:
    target = "" if source.target == TARGET else f" --target {source.target:g}"
    return f"umpirical rescore runs/{source.read.run.name}{target}"


def _measures(tallies: Tallies, scoring_method: ScoringMethod) -> Iterator[tuple[MeasureSpec, Measure]]:
    """Yields every measure; those that a scoring method of both orders makes meaningless give the reason."""
    if not scoring_method.pairwise:
        yield from measure_all(tallies, kind="compare", protocol="datasheet")
        return
    specs = [spec for spec in MEASURES if spec.is_for("compare", "datasheet")]
    for variant in tallies.variants():
        for spec in specs:
            if spec.name in BY_CONSTRUCTION:
                yield spec, Measure(spec.name, Undefined(BY_CONSTRUCTION[spec.name]), variant)
            else:
                yield from ((spec, measure) for measure in spec.compute(tallies, variant))


def _row(
    source: _Source, scoring_method: ScoringMethod, made: _Made | None, text: _Made, why_not: str
) -> ScoringMethodRow:
    row = ScoringMethodRow(
        name=scoring_method.name, about=scoring_method.about, pairwise=scoring_method.pairwise, why_not=why_not
    )
    if made is None:
        return row
    ours, theirs = (_of_tasks(one.read.tallies, source.reported_on) for one in (made, text))
    strata = {tally.stratum for tally in ours.vacuum}
    theirs = replace(theirs, vacuum=tuple(tally for tally in theirs.vacuum if tally.stratum in strata))
    against = contrasts_between(theirs, ours, source.variant, source.variant) if scoring_method.name != "text" else ()
    return row.model_copy(
        update={
            "band": made.band,
            "datasheet": f"{scoring_method.name}/datasheet.html",
            "chosen_on": _compared(_of_tasks(made.read.tallies, source.chosen_on), source.variant),
            "reported_on": _compared(ours, source.variant),
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


def _compared(tallies: Tallies, variant: str) -> list[MeasureRecord]:
    return [_measure(measure) for name in COMPARED for measure in MEASURES.get(name).compute(tallies, variant)]


def _measure(measure: Measure, *, scale: Scale = "rate") -> MeasureRecord:
    return measure_record(MEASURES.get(measure.name), measure).model_copy(update={"scale": scale})


def _write(record: ScoringMethods, folder: Path) -> Documents:
    documents = Documents(*(folder / f"scoring-methods.{ending}" for ending in ("json", "html", "md")))
    write_text(documents.json, record_json(record))
    write_text(documents.html, render_scoring_methods_html(record))
    write_text(documents.markdown, render_scoring_methods_markdown(record))
    return documents
