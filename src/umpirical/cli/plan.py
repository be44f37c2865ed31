"""What a study would take: `umpirical check` and `umpirical plan`. Neither makes a call."""

import os
import sys
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal
from typing import IO, TYPE_CHECKING, Any

import click

from umpirical.cli.options import StudyFlags, price_option, study_options
from umpirical.cli.terminal import MAKING_STIMULI, remark, say, say_json
from umpirical.text.inert import inert

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console
    from rich.table import Table

    from umpirical.domain.stimuli import GateResult
    from umpirical.models.prices import TokenPrices
    from umpirical.protocols.protocol import Study
    from umpirical.study.estimate import PlanEstimate, Precision, QuestionPlan, RunEstimate, Tokens


LONGEST = 240
"""Characters of what one gate found that are printed, three lines of a terminal."""


@click.command("check")
@study_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def check_command(source: StudyFlags, *, as_json: bool) -> int:
    """Check STUDY before it runs: its file, prompts, tasks and API keys. Makes no calls.

    The first time, it lists the servers, keys, code and data the study uses and asks you to approve them.
    """
    from umpirical.study.file import check_study

    loaded = source.load()
    remark(MAKING_STIMULI)
    checked = check_study(loaded, os.environ)
    if as_json:
        from dataclasses import asdict

        say_json({"ok": not checked.problems, **asdict(checked)})
    else:
        for note in checked.notes:
            say(note)
        for gate in checked.gates:
            word = "FAIL" if not gate.passed else "PASS" if gate.blocks else "reported"
            say(f"gate {gate.name}: {word}  {_shown_gate(gate)}")
        for problem in checked.problems:
            say(f"problem: {problem}")
        for judge, count in checked.calls.items():
            say(f"judge {judge}: {count:,} calls")
        say("ok" if not checked.problems else f"{len(checked.problems)} to fix")
    return 2 if checked.problems else 0


def _shown_gate(gate: "GateResult") -> str:
    """Returns what a gate found; of a long list of figures that are as they should be, the first few."""
    if not gate.passed or len(gate.found) <= LONGEST:
        return gate.found
    return f"{gate.found[:LONGEST].rpartition(', ')[0]}, ... (--json prints all of it)"


# `umpirical plan`, and the table that `umpirical run` shows before it asks.


POWER = 0.9
"""How likely a question gets an answer, unless a person says otherwise."""

WIDE = 140
"""Width in columns where the output is not a terminal: a table in a log must not be cut off."""

NOT_PRICED = {"unpriced": "not priced", "unknown": "no price", "own-function": "your own", "own-program": "your own"}


@click.command("plan")
@click.option("--judge", "judges", multiple=True, help="Only this judge; can be given several times.")
@click.option(
    "--for",
    "asked",
    multiple=True,
    metavar="QUESTION",
    help='Show what it takes to decide a check: "dark-current<=0.05", "target-sensitivity@5>=0.9". Repeatable.',
)
@click.option(
    "--power",
    type=click.FloatRange(0.5, 0.99),
    help="With --for: how often that is enough to decide. Default: 0.9.",
)
@price_option
@study_options
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
def plan_command(
    source: StudyFlags,
    judges: tuple[str, ...],
    asked: tuple[str, ...],
    *,
    power: float | None,
    prices: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show what `umpirical run` would take: calls, tokens, price, time and the precision of each measure.

    With --for, show how much data a check needs, depending on the judge's true rate. Makes no calls. Replies you
    already have are not counted again.
    """
    from umpirical.models.prices import parse_price
    from umpirical.study.estimate import parse_question, plan_question

    if power is not None and not asked:
        raise click.UsageError('--power needs a question: add --for "dark-current<=0.05"')
    questions = [parse_question(text) for text in asked]
    estimate = estimate_study(source.load(), judges, dict(map(parse_price, prices)))
    found = [plan_question(run, question, power=power or POWER) for question in questions for run in estimate.runs]
    if as_json:
        say_json(_as_json(estimate, found))
        return
    show_plan(estimate, sys.stdout)
    if not found:
        _show_precision(estimate, sys.stdout)
    for each in found:
        _show_question(each, sys.stdout)


def estimate_study(study: "Study[Any]", judges: "Sequence[str]", prices: "Mapping[str, TokenPrices]") -> "PlanEstimate":
    """Returns what the study would take for these judges, or for all."""
    from umpirical.study.estimate import PlanEstimate, estimate_run, pricers_of
    from umpirical.study.run import plan_runs, planning_remarks

    remark(MAKING_STIMULI)
    planned = plan_runs(study, judges)
    for line in planning_remarks(study, planned):
        remark(line)
    pricers = zip(planned, pricers_of(planned, prices), strict=True)
    return PlanEstimate(tuple(estimate_run(run, each, concurrency=study.spec.concurrency) for run, each in pricers))


def show_plan(estimate: "PlanEstimate", file: IO[str]) -> None:
    answered = sum(run.answered for run in estimate.runs)
    console = _console(file)
    table = _table(
        f"Plan: {estimate.calls:,} calls, {answered:,} already answered",
        ["judge"],
        ["calls", "in tok", "out/call", "expected", "at most", "time"],
    )
    unit = estimate.unit
    for run in estimate.runs:
        table.add_row(*_cells(_row(run, unit)))
    if len(estimate.runs) > 1:
        total = ("total", f"{estimate.calls:,}", "", "", *_totals(estimate, unit), _time(estimate.seconds))
        table.add_row(*_cells(total), style="bold")
    console.print(table)
    for note in _notes(estimate):
        console.print(inert(note), soft_wrap=True)


def _row(run: "RunEstimate", unit: Decimal) -> tuple[str, ...]:
    priced = run.pricing not in NOT_PRICED
    missing = NOT_PRICED.get(run.pricing, "no bound")
    return (
        run.judge,
        f"{run.calls:,}",
        _span(run.input_tokens),
        _span(run.output_tokens),
        _money(run.expected, unit, ROUND_HALF_UP) if priced and run.expected is not None else missing,
        _money(run.at_most, unit, ROUND_CEILING) if priced and run.at_most is not None else missing,
        _time(run.seconds),
    )


def _totals(estimate: "PlanEstimate", unit: Decimal) -> tuple[str, str]:
    """Adds up the columns; a `+` says that a judge has no number."""
    expected = [run.expected for run in estimate.runs]
    total = sum((cost.quantize(unit, ROUND_HALF_UP) for cost in expected if cost is not None), Decimal(0))
    open_end = " +" if None in [run.at_most for run in estimate.runs] else ""
    return (
        f"{_money(total, unit, ROUND_HALF_UP)}{' +' if None in expected else ''}",
        f"{_money(estimate.bound, unit, ROUND_CEILING)}{open_end}",
    )


def _notes(estimate: "PlanEstimate") -> list[str]:
    """States what the numbers assume; an assumption shared by several judges is stated once."""
    told: dict[str, list[str]] = {}
    for run in estimate.runs:
        for note in _notes_on(run):
            told.setdefault(note, []).append(run.judge)
    notes = ["Expected cost assumes 4 bytes per token. The maximum assumes 1 byte per token and full-length replies."]
    if any(run.pricing == "priced" for run in estimate.runs):
        notes.append("Both assume one attempt per call. Retries may be billed, and count toward the cap.")
    return notes + [f"{', '.join(judges)}: {note}" for note, judges in told.items()]


def _notes_on(run: "RunEstimate") -> list[str]:
    because = {
        "recorded": "the mean of earlier replies",
        "constrained": "assumed, since a reply schema is sent",
        "max-tokens": "max_tokens, since nothing limits the reply",
    }
    notes = [f"prices of {run.model} from {run.price_table}"] if run.pricing == "priced" else []
    if run.stops_early and run.calls:
        notes.append("stops as soon as the verdict is reached, usually after less than a third of these calls")
    if run.output_tokens is not None and run.output_basis in because:
        notes.append(f"{run.output_tokens.expected} output tokens per call are expected: {because[run.output_basis]}")
    if run.seconds_basis != "none":
        how = "as recorded" if run.seconds_basis == "recorded" else "1 s per call is assumed"
        notes.append(f"time: {how}, {run.concurrency} at a time")
    if run.pricing in {"own-function", "own-program"}:
        notes.append("your judge's own costs are not visible, and the cap does not apply to them")
    if run.pricing == "unpriced":
        notes.append("its price is unknown, so the cap does not apply")
    if run.refusal:
        notes.append(f"{run.refusal}\n  fix: {run.fix}")
    return notes


def _show_precision(estimate: "PlanEstimate", file: IO[str]) -> None:
    """Prints the half-widths to expect, once for all judges that are measured alike."""
    from umpirical.study.estimate import RATES

    alike: dict[tuple[Precision, ...], list[str]] = {}
    for run in estimate.runs:
        alike.setdefault(run.precision, []).append(run.judge)
    for measures, judges in alike.items():
        columns = [f"± at {rate:g}" for rate in RATES]
        title = f"Expected 95% intervals: {', '.join(judges)}"
        table = _table(title, ["measure", "part"], ["units", "tasks", *columns])
        for part in measures:
            widths = (f"{width:.3f}" for width in part.half_widths)
            where = " ".join(filter(None, [part.stratum, "" if part.variant == "baseline" else part.variant]))
            table.add_row(*_cells((part.title, where, f"{part.units:,} {part.unit}s", f"{part.tasks:,}", *widths)))
        console = _console(file)
        console.print(table)
    say("Assumes a correlation of 0.05 within a task. More tasks narrow an interval; more repeats hardly do.")


def _show_question(plan: "QuestionPlan", file: IO[str]) -> None:
    """Prints what would settle a question, by how far the judge truly is from the limit."""
    question, unit = plan.question, f"{plan.unit}s"
    sign = "≤" if question.kind == "at_most" else "≥"
    part = f" at {question.stratum}" if question.stratum else ""
    table = _table(
        f"{plan.judge}: {question.measure}{part} {sign} {question.threshold:g}, "
        f"decided in {100 * plan.power:g}% of runs",
        ["if the true rate is"],
        [unit, "tasks", "calls", "expected", "this plan", f"or, {unit} in each of its {plan.tasks:,} tasks"],
    )
    for needed in plan.needed:
        if needed.units is None:
            cells = ("more than any", "", "", "", "", "")
        else:
            enough = "enough" if needed.units <= plan.units else "too small"
            dollars = "not known" if needed.dollars is None else f"${needed.dollars:,.2f}"
            instead = "none is enough" if needed.in_each is None else f"{needed.in_each:,}"
            cells = (f"{needed.units:,}", f"{needed.tasks:,}", f"{needed.calls:,}", dollars, enough, instead)
        table.add_row(*_cells((f"{needed.true:.3g}", *cells)))
    console = _console(file)
    console.print(table)
    say(
        f"This plan has {plan.units:,} {unit} in {plan.tasks:,} tasks, {plan.each:.3g} in each. The counts assume "
        "more or fewer tasks like these, asked once; repeats hardly help."
    )


def _as_json(estimate: "PlanEstimate", questions: "Sequence[QuestionPlan]") -> dict[str, Any]:
    from dataclasses import asdict

    totals = {"expected": estimate.expected, "at_most": estimate.at_most, "seconds": estimate.seconds}
    asked = {"questions": [asdict(each) for each in questions]} if questions else {}
    return {"calls": estimate.calls, **totals, "runs": [asdict(run) for run in estimate.runs], **asked}


def _console(file: IO[str]) -> "Console":
    from rich.console import Console

    return Console(file=file, width=None if file.isatty() else WIDE, markup=False, highlight=False, emoji=False)


def _table(title: str, left: list[str], right: list[str]) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(inert(title)), title_justify="left", box=SIMPLE_HEAD)
    for name in left:
        table.add_column(name, overflow="fold")
    for name in right:
        table.add_column(name, justify="right", overflow="fold")
    return table


def _cells(texts: tuple[str, ...]) -> list[Any]:
    from rich.text import Text

    return [Text(inert(text)) for text in texts]


def _money(amount: Decimal, unit: Decimal, rounding: str) -> str:
    return f"${amount.quantize(unit, rounding):,}"


def _span(tokens: "Tokens | None") -> str:
    if tokens is None:
        return ""
    if tokens.expected == tokens.at_most:
        return _count(tokens.at_most)
    return f"{_count(tokens.expected)}–{_count(tokens.at_most)}"


def _count(number: int | None) -> str:
    if number is None:
        return "?"
    for size, letter in ((1_000_000, "M"), (10_000, "k")):
        if number >= size:
            return f"{number / (1000 if letter == 'k' else size):,.{1 if letter == 'M' else 0}f}{letter}"
    return f"{number:,}"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
