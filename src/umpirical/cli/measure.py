"""Commands that ask judges and models: run, datasheet, extend, generate and load-check."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from umpirical.cli.options import (
    SpendingFlags,
    StudyFlags,
    TerminalPreflight,
    agree,
    calls_option,
    gathered,
    outside_option,
    spending_options,
    study_argument,
    study_options,
    tell_spent,
    terminal_trust,
    trust_option,
)
from umpirical.cli.plan import estimate_study, show_plan
from umpirical.cli.terminal import MAKING_STIMULI, complain, remark, say, say_json, say_next, say_verdict, short_path

if TYPE_CHECKING:
    from umpirical.domain.bills import WritingEstimate
    from umpirical.domain.errors import UmpiricalError
    from umpirical.models.prices import TokenPrices
    from umpirical.protocols.protocol import Study
    from umpirical.protocols.writing import Writing, Written
    from umpirical.store.budget import Booked
    from umpirical.study.estimate import PlanEstimate
    from umpirical.study.results import FinishedRun
    from umpirical.study.run import Terms
    from umpirical.study.serving import Changed, Serving, ServingPlan
    from umpirical.study.spending import Spending


INCOMPLETE = 5
"""What a command exits with on a run that can be resumed."""

RESUMES, SETTLES = "to resume it", "to collect the data that is missing"
"""What a next command is for."""

policy_option = click.option(
    "--policy",
    default="",
    metavar="NAME",
    help="Acceptance policy: ranking, adjudication, ci-smoke, claim, or a .yaml file. Default: the study's.",
)

dry_run_option = click.option("--dry-run", is_flag=True, help="Show calls, tokens, price and time, and make no calls.")

preflight_option = click.option(
    "--no-preflight", is_flag=True, help="Skip the trial calls that check whether replies can be parsed."
)


@dataclass(frozen=True, slots=True)
class MeasureFlags:
    """How judges are called, as the command line says."""

    fresh: bool = False
    executor: str | None = None
    processes: int | None = None
    through: str = ""
    wait_for_server: float = 15.0
    no_preflight: bool = False
    dry_run: bool = False


def measure(
    study: "Study[Any]", judges: Sequence[str], flags: SpendingFlags, how: MeasureFlags, *, quiet: bool
) -> "tuple[list[FinishedRun], dict[str, UmpiricalError]]":
    """Measures the named judges, or all, once the price has been shown and agreed to.

    Returns what was measured, and what is wrong with the others by the judge's name: it is printed, and does not stop
    the rest.
    """
    from umpirical.study.run import CallOptions, measure_judges

    if how.dry_run:
        show_plan(estimate_study(study, judges, flags.price_overrides()), sys.stdout)
        return [], {}

    def lose(judge: str, error: "UmpiricalError") -> None:
        complain(str(error), error.fix)
        lost[judge] = error

    lost: dict[str, UmpiricalError] = {}
    remark(MAKING_STIMULI)
    terms = replace(
        terminal_terms(flags, preflight=not how.no_preflight),
        calls=CallOptions(
            how.executor or CallOptions().executor, how.processes, remark, how.through, 60 * how.wait_for_server
        ),
        fresh=how.fresh,
        planned=remark,
        lose=lose,
    )
    return tell_runs(measure_judges(study, judges, terms), quiet=quiet), lost


def terminal_terms(flags: SpendingFlags, *, preflight: bool) -> "Terms":
    """Returns terms under which the person at the terminal, or the flags of the command, agree to what is spent."""
    from umpirical.progress import watch_run
    from umpirical.study.run import Terms

    trying = TerminalPreflight(flags)
    return Terms(
        consent=lambda estimate: _consent(estimate, trying),
        watch=watch_run,
        prices=flags.price_overrides(),
        allow_unpriced=flags.allow_unpriced,
        preflight=trying if preflight else None,
        spent=tell_spent,
    )


def tell_runs(measured: "Iterator[FinishedRun]", *, quiet: bool) -> "list[FinishedRun]":
    results: list[FinishedRun] = []
    while (result := _next(measured)) is not None:
        results.append(result)
        if not quiet:
            _show(result)
    return results


def _next(measured: "Iterator[FinishedRun]") -> "FinishedRun | None":
    """Measures the next judge with prints redirected: a user's judge may print, but standard output is for results.

    Inspect, too, prints about batches.
    """
    with redirect_stdout(sys.stderr):
        return next(measured, None)


def exit_code(results: "Sequence[FinishedRun]", lost: "Mapping[str, UmpiricalError] | None" = None) -> int:
    """What lost judges say; else 5 if a run is not complete, 3 if a judge is refused, 4 if one is open, else 0."""
    codes = {result.exit_code for result in results} | {error.exit_code for error in (lost or {}).values()}
    return next((code for code in (1, 2, 5, 3, 4) if code in codes), 0)


def lost_summaries(lost: "Mapping[str, UmpiricalError]") -> list[dict[str, Any]]:
    return [{"judge": judge, "complete": False, "error": str(error), "fix": error.fix} for judge, error in lost.items()]


def _show(result: "FinishedRun") -> None:
    from umpirical.reports.smallest_differences import record_words

    if result.jury:
        say(f"{result.record.judge.name}  {result.record.judge.model}")
    if result.decision:
        say_verdict(result.decision.verdict, result.decision.line, indent="  ")
    for finding in result.findings:
        say(f"  {finding}")
    for words in record_words(result.record):
        say(f"  {words}")
    say(f"  {short_path(result.documents.html)}")
    tell_next(result)


def tell_next(result: "FinishedRun", *, indent: str = "  ") -> None:
    """Prints the command that may change the decision, if there is one."""
    if result.exit_code == INCOMPLETE:
        say_next(result.next_command, RESUMES, indent=indent)
    else:
        say_next(result.next_command, SETTLES, indent=indent)


def _consent(estimate: "PlanEstimate", trying: TerminalPreflight) -> Decimal | None:
    """Shows what would be sent, and asks for consent if it may be billed. Returns the budget."""
    if not estimate.calls:
        return trying.flags.max_cost
    show_plan(estimate, sys.stderr)
    unseen = estimate.unseen_calls
    return agree(
        trying.flags,
        most=estimate.bound,
        booked=estimate.booked,
        unseen=f"{unseen:,} calls whose price is unknown here" if unseen else "",
        refused="nothing more was sent; the preflight replies are kept" if trying.held else "nothing was sent",
    )


# `umpirical run`.


def _checked_uri(_: click.Context, __: click.Parameter, uri: str) -> str:
    """Refuses credentials before anything else: whoever is interrupted is shown the command line again."""
    if uri:
        from umpirical.study.run import CallOptions

        CallOptions(through=uri).check_through()
    return uri


@click.command("run")
@gathered("how", MeasureFlags)
@click.option("--judge", "judges", multiple=True, help="Only this judge. Repeatable.")
@spending_options
@study_options
@click.option("--fresh", is_flag=True, help="Start a new run that reuses no earlier replies.")
@policy_option
@click.option(
    "--executor",
    metavar="NAME",
    help="How calls are made: local (default), ray (a Ray cluster), batch (provider batches, half price), a plugin's.",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Processes, or Ray actors, that share the calls. Default: as many as help, usually 1.",
)
@click.option(
    "--through",
    default="",
    metavar="URI",
    callback=_checked_uri,
    help="Object storage (s3://bucket/prefix) for Ray actors that do not share the study's folder.",
)
@click.option(
    "--wait-for-server",
    default=15.0,
    show_default=True,
    type=click.FloatRange(0),
    metavar="MINUTES",
    help="If the server goes down during the run, wait this long for it.",
)
@preflight_option
@dry_run_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def run_command(
    source: StudyFlags, judges: tuple[str, ...], flags: SpendingFlags, how: MeasureFlags, *, policy: str, as_json: bool
) -> int:
    """Test the judges of STUDY, a study file or its folder, and write a report for each.

    You see the cost first and approve it. A few trial calls then show the prompt, the reply and how it was parsed; if
    fewer than half can be parsed, the run stops. If a run is interrupted, fails or reaches its cap, run the same
    command again to resume.

    Exit codes: 0 all judges pass, 3 at least one fails, 4 at least one is inconclusive, 5 a run is incomplete.
    """
    from umpirical.study.results import write_side_by_side

    study = replace(source.load(), policy=policy)
    results, lost = measure(study, judges, flags, how, quiet=as_json)
    if as_json:
        summaries = [*(result.summary() for result in results), *lost_summaries(lost)]
        say_json(summaries)
    log = remark if as_json else say
    if lost:
        measured = ", ".join(result.record.judge.name for result in results) or "none"
        log(f"not tested: {', '.join(lost)}; tested: {measured}")
    if results and (together := write_side_by_side(study.folder, runs=[result.folder for result in results])):
        log(f"all judges side by side:  {together[1]}")
    return exit_code(results, lost)


# `umpirical datasheet`.


@click.command("datasheet")
@click.argument("judges", metavar="JUDGE...", nargs=-1, required=True)
@gathered("how", MeasureFlags)
@click.option("--against", metavar="OTHER", help="One more judge, to compare on one page.")
@click.option(
    "--as",
    "design",
    type=click.Choice(["paper"]),
    help="Ask what the Dark Current paper asks (620 calls, and 240 with its strict prompt), and draw its figures.",
)
@click.option(
    "--size",
    help="Ask this many questions: screen (336 calls), paper (620), standard (1,368) or full (2,640). Default: ask in "
    "rounds and stop as soon as the verdict is reached.",
)
@click.option(
    "--until",
    type=click.Choice(["asked", "decided"]),
    help="When to stop: when all of --size is asked, or when the verdict is reached. Default: asked with --size or "
    "several judges, decided without.",
)
@calls_option
@click.option(
    "--variant",
    "variants",
    multiple=True,
    help="Also test these prompts: strict or forced-choice (about ties), or prompt-complexity (a short prompt and two "
    "longer ones). Repeatable.",
)
@click.option("--repeats", default=1, type=click.IntRange(1, 100), help="Ask each question N times.")
@click.option(
    "--answer",
    multiple=True,
    metavar="FORMAT",
    help="How to parse replies: A=1,B=2,C=tie (the judge's own words), field=winner, tag=verdict, brackets ([[A]]) or "
    "last-line. Repeatable.",
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Where to store the run. Default: here.",
)
@spending_options
@trust_option
@policy_option
@preflight_option
@dry_run_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def datasheet_command(
    judges: tuple[str, ...],
    flags: SpendingFlags,
    how: MeasureFlags,
    *,
    against: str | None,
    as_json: bool,
    **given: Any,  # noqa: ANN401  # what click has checked
) -> int:
    """Test each JUDGE and write its datasheet; several are compared on one page.

    JUDGE is a model (openai/gpt-4o), a Python function (my_judge.py:judge), a file (judge.yaml), a judge of the study
    file here, or simulated:NAME. You see the cost first and approve it. If the run is interrupted, run the same command
    again to resume.
    """
    from umpirical.api.options import DatasheetKeywords
    from umpirical.api.studies import datasheet_study

    targets = list(judges) if against is None else [*judges, against]
    several = len(targets) > 1
    # Judges that are compared answer the same questions.
    if several and not given["design"]:
        given["until"] = given["until"] or "asked"
    options = DatasheetKeywords(**given)
    study = datasheet_study(targets, options, terminal_trust(given=options.trust))
    results, lost = measure(study, [], flags, how, quiet=as_json)
    summaries = [*(result.summary() for result in results), *lost_summaries(lost)]
    if several and results and not lost:
        from umpirical.api.results import compare_targets

        page = compare_targets([result.folder for result in results]).save().html
        summaries.append({"comparison": str(page)})
        if not as_json:
            say(f"  {page}")
    if as_json:
        say_json(summaries)
    return exit_code(results, lost)


# `umpirical extend`.


@click.command("extend")
@click.argument("target")
@spending_options
@trust_option
@click.option("--concurrency", default=16, type=click.IntRange(1, 4096), help="Calls in flight at once.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def extend_command(target: str, flags: SpendingFlags, *, trust: bool, concurrency: int, as_json: bool) -> int:
    """Collect more data for an inconclusive run, and report on all of it.

    TARGET is a run folder, the name of a run or a judge, or a study with one run.

    Replies of the run are reused. All follow-ups share the policy's error rates, so asking again never raises them.
    """
    from umpirical.study.results import find_run
    from umpirical.study.run import follow_run, measure_runs

    remark(MAKING_STIMULI)
    planned, words = follow_run(find_run(target), terminal_trust(given=trust))
    for line in words:
        remark(f"  {line}")
    terms = terminal_terms(flags, preflight=False)
    results = tell_runs(measure_runs([planned], concurrency, terms), quiet=as_json)
    if as_json:
        say_json([result.summary() for result in results])
    return exit_code(results)


# `umpirical generate`.


SHOWN = 5
"""How many kinds of failure are printed."""


@click.command("generate")
@spending_options
@gathered("source", StudyFlags, study_argument, outside_option, trust_option)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def generate_command(source: StudyFlags, flags: SpendingFlags, *, as_json: bool) -> int:
    """Have a model write the test cases of STUDY that a program cannot, and validate them.

    You see the cost first and approve it. Each text is stored as it arrives. If the command is interrupted, run it
    again to resume.
    """
    from umpirical.models.money import CapReached
    from umpirical.models.prices import pricer_of
    from umpirical.progress import watch_generation
    from umpirical.protocols.protocol import WritesStimuli
    from umpirical.study.spending import WRITERS, Spending, response_bill

    loaded = source.load()
    remark("reading the dataset and planning what to write")
    if not isinstance(loaded.protocol, WritesStimuli):
        raise WritesStimuli.missing(loaded.protocol)
    writing, overrides = loaded.protocol.writing(loaded), flags.price_overrides()
    _refuse_stray_prices(writing, overrides)
    pricers = {
        part: pricer_of(model, overrides, allow_unpriced=flags.allow_unpriced) for part, model in writing.models.items()
    }
    spending = Spending(loaded.folder, {WRITERS: lambda: response_bill(writing.calls())})
    spending.cap = _agree_to_writing(writing, writing.estimate(pricers), flags, spending.booked())
    ledger = spending.ledger(WRITERS)
    try:
        written = writing.write(pricers, ledger, partial(watch_generation, ledger=ledger))
    except CapReached as reached:
        ledger.close()
        raise spending.go_on(reached, writing.estimate(pricers).at_most or Decimal(0)) from None
    finally:
        ledger.close()
        tell_spent(spending)
    if as_json:
        _show_written_json(written)
    else:
        _show_written(written, source)
    return 5 if written.open else 0


def _refuse_stray_prices(writing: "Writing", overrides: "Mapping[str, TokenPrices]") -> None:
    from umpirical.domain.errors import UsageError

    known = {model.name for model in writing.models.values()}
    if stray := [name for name in overrides if name not in known]:
        raise UsageError(f"--price {stray[0]}: neither the generator nor the validator uses that model")


def _agree_to_writing(
    writing: "Writing", estimate: "WritingEstimate", flags: SpendingFlags, booked: "Booked"
) -> Decimal | None:
    """Shows what may be sent and spent, and asks for consent if it may be billed. Returns the budget."""
    left = estimate.commissions - estimate.settled
    if not left:
        return flags.max_cost
    most = None if estimate.at_most is None else estimate.at_most.quantize(Decimal("0.0001"), ROUND_CEILING)
    price = f"at most ${most} ({', '.join(estimate.tables)})" if most else "free"
    price = "no price is known" if most is None else price
    done = f", {estimate.settled:,} already done" if estimate.settled else ""
    names = ", ".join(dict.fromkeys(model.name for model in writing.models.values()))
    remark(f"generate: {left:,} test cases{done}, with {names}")
    remark(f"  {estimate.fewest_calls:,} to {estimate.most_calls:,} calls, {price}")
    if estimate.expected:
        remark(f"  ${estimate.expected:.4f} if every first attempt is accepted")
    unseen = f"up to {estimate.most_calls:,} calls whose price is unknown here" if most is None else ""
    return agree(flags, most=most or Decimal(0), booked=booked, unseen=unseen)


def _show_written(written: "Written", source: StudyFlags) -> None:
    for test, made in written.made.items():
        asked = made.wanted - sum(made.skipped.values())
        by = ", by a simulated generator (a dry run)" if made.simulated else ""
        say(f"{test}: {made.generated} of {asked} written in {made.attempts} attempts{by}")
        if made.sources:
            say(f"  {made.sources}")
        for level, words in made.levels.items():
            say(f"  level {level}: {words}")
        for reason, count in sorted(made.rejected.items(), key=lambda entry: -entry[1]):
            say(f"  rejected {count}: {reason}")
        for reason, count in made.skipped.items():
            say(f"  not requested {count}: {reason}")
        if made.given_up:
            say(f"  given up {made.given_up}: every attempt was rejected")
        if made.open:
            say(f"  missing {made.open}: calls failed; run the same command again")
    for (kind, detail), count in sorted(written.failures.items(), key=lambda entry: -entry[1])[:SHOWN]:
        say(f"failed {count}: {kind}: {detail}")
    more = written.open or written.more
    command = ["umpirical", "generate" if more else "run", source.study, *(["--outside"] if source.outside else [])]
    say_next(command, "to write the rest" if more else "to test the judges")


def _show_written_json(written: "Written") -> None:
    from dataclasses import asdict

    say_json({test: asdict(made) for test, made in written.made.items()})


# `umpirical load-check`.


@click.command("load-check")
@click.option("--judge", "judges", multiple=True, help="Only this judge. Repeatable.")
@click.option(
    "--questions",
    default=20,
    type=click.IntRange(2, 1000),
    metavar="N",
    help="Questions to compare; each is asked three times. Default: 20.",
)
@spending_options
@study_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def load_check_command(
    source: StudyFlags, judges: tuple[str, ...], questions: int, flags: SpendingFlags, *, as_json: bool
) -> None:
    """Check whether server load (batching) changes the verdicts of the judges of STUDY.

    A few questions are asked alone, alone again, and together with as many other calls as the study has in flight. If
    only the last answers differ, the server's load changes them, not the judge. You see the cost first and approve it.
    These replies are not part of any run; they are written to serving.json.
    """
    from umpirical.progress import watch_run
    from umpirical.study.estimate import pricers_of
    from umpirical.study.run import plan_runs, spending_of
    from umpirical.study.serving import call_serving, plan_serving
    from umpirical.study.spending import judge_account

    loaded = source.load()
    remark(MAKING_STIMULI)
    runs = plan_runs(loaded, judges)
    pricers = pricers_of(runs, flags.price_overrides(), allow_unpriced=flags.allow_unpriced)
    priced = list(zip(runs, pricers, strict=True))
    plans = [
        plan_serving(run, pricer, questions=questions, concurrency=loaded.spec.concurrency) for run, pricer in priced
    ]
    spending = spending_of(priced)
    found: list[Serving] = []
    spending.cap = _agree_to_serving(plans, spending, flags)
    try:
        for plan in plans:
            ledger = spending.ledger(judge_account(plan.run.judge.name), "serving")
            try:
                with watch_run(plan.run.judge.name, plan.calls, ledger) as watcher:
                    found.append(call_serving(plan, ledger, watcher.settled))
            finally:
                ledger.close()
            if not as_json:
                _show_serving(found[-1])
    finally:
        tell_spent(spending)
    if as_json:
        say_json([each.as_json() for each in found])


def _agree_to_serving(plans: "Sequence[ServingPlan]", spending: "Spending", flags: SpendingFlags) -> Decimal | None:
    """Shows what would be sent, and asks for consent if it may be billed. Returns the budget."""
    for plan in plans:
        price = f", at most ${plan.at_most}" if plan.at_most else ""
        remark(
            f"judge {plan.run.judge.name}: {plan.calls:,} calls, {len(plan.questions)} questions three times and "
            f"{len(plan.company)} as load{price}; up to {plan.concurrency} in flight"
        )
    most = sum((plan.at_most for plan in plans), Decimal(0))
    unseen = sum(plan.calls for plan in plans if plan.unseen)
    unknown = f"{unseen:,} calls whose price is unknown here" if unseen else ""
    return agree(flags, most=most, booked=spending.booked(), unseen=unknown)


def _show_serving(found: "Serving") -> None:
    say(f"judge {found.judge}")
    for server in found.served_by:
        say(f"  served by {server}")
    say("  compared with the first reply to the question asked alone:")
    _show_changed("asked alone again", found.again)
    _show_changed(f"with up to {found.concurrency} other calls", found.amid)
    if any(share is not None for share in found.cached.values()):
        shares = (f"{way} {'not reported' if share is None else f'{share:.0%}'}" for way, share in found.cached.items())
        say(f"  tokens of the questions read from a cache: {', '.join(shares)}")
    say(f"  {found.verdict}.")


def _show_changed(title: str, changed: "Changed") -> None:
    parts = [
        _share("texts changed", changed, changed.texts, changed.pairs),
        _share("verdict changed", changed, changed.readings, changed.pairs),
    ]
    if changed.logprob_pairs:
        shift = "" if changed.largest_shift is None else f", by up to {changed.largest_shift:.3g} nats"
        parts.append(_share("log-probabilities moved", changed, changed.logprobs, changed.logprob_pairs) + shift)
    if changed.excluded:
        parts.append(f"{changed.excluded} excluded without a reply")
    say(f"    {title}: {'; '.join(parts)}")


def _share(words: str, changed: "Changed", count: int, of: int) -> str:
    bounds = changed.interval(count, of)
    return f"{words} {count} of {of}" + ("" if bounds is None else f" (95% {bounds[0]:.0%} to {bounds[1]:.0%})")
