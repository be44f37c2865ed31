"""`umpirical jury`."""

from decimal import Decimal
from pathlib import Path

import click

from umpirical.cli.consent import in_dollars
from umpirical.cli.terminal import remark, say, say_json, short_path


@click.command("jury")
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@click.option("--rule", help="majority, weighted or dawid-skene. Default: majority; with --choose, the best of all.")
@click.option("--choose", is_flag=True, help="Choose the best three to seven of the judges.")
@click.option(
    "--budget", metavar="USD", callback=in_dollars, help="With --choose: the most that 1,000 verdicts may cost."
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder; default: juries, in the study.")
@click.option("--json", "as_json", is_flag=True, help="Print the record.")
def command(  # each an option
    targets: tuple[str, ...],
    rule: str | None,
    choose: bool,  # noqa: FBT001
    budget: Decimal | None,
    out: Path | None,
    as_json: bool,  # noqa: FBT001
) -> int:
    """Make one judge of several that were measured on the same stimuli, and write its datasheet. Makes no calls.

    A TARGET is the folder of a run, the name of a run or a judge, or a study's folder or file: then all of its runs.

    What a rule learns, or the choice of the jury, is settled on one half of the task families. Every figure is then
    about the other half. Exits like `umpirical report`, with what the policy says of the jury.
    """
    from umpirical.api.extras import render_jury_json, seat_jury
    from umpirical.reports.decision import EXIT_CODES
    from umpirical.study.results import find_runs, shared_study

    runs = [run for target in targets for run in find_runs(target).runs]
    remark("reading the runs")
    seated = seat_jury(runs, out or shared_study(runs) / "juries", rule=rule, choose=choose, budget=budget)
    decision = seated.datasheet.decision
    if as_json:
        say_json(render_jury_json(seated.jury))
    else:
        if decision is not None:
            say(f"{seated.jury.name}: {decision.title}")
        for finding in seated.jury.findings:
            say(finding)
        for path in (seated.record, seated.documents.json, seated.documents.html, seated.documents.markdown):
            say(short_path(path))
    return EXIT_CODES[decision.verdict] if decision else 0
