"""Commands about verdicts that a judge has given: measure, correct, claim and publish. None makes a call."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from umpirical.cli.options import out_option
from umpirical.cli.terminal import remark, say, say_json, short_path

ROLES = {
    "verdict": "the verdict",
    "item": "the item that was judged",
    "order": "which answer came first",
    "repeat": "the number of the repeat",
    "label": "the gold label; for Inspect logs, a key of the samples' metadata",
    "judge": "the judge",
    "task": "the task, if it has several items",
    "stratum": "the group to measure separately, such as the test",
}


def _column_options(roles: dict[str, str]) -> Callable[[click.decorators.FC], click.decorators.FC]:
    def add(command: click.decorators.FC) -> click.decorators.FC:
        for role, about in reversed(roles.items()):
            named = click.option(f"--{role}", f"{role}_column", metavar="COLUMN", help=f"Column with {about}.")
            command = named(command)
        return command

    return add


def _named_columns(roles: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    return {role: column for role in roles if (column := given[f"{role}_column"]) is not None}


@click.command("measure")
@click.argument("file", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--format",
    "form",
    help="inspect, deepeval, promptfoo, mlflow, mt-bench, arena-hard, judgebench, harness, csv... Default: recognized.",
)
@_column_options(ROLES)
@click.option(
    "--kind", type=click.Choice(["compare", "grade"]), help="Whether the judge compares two answers or grades one."
)
@click.option("--scale", "scale_text", help="The grades it could give: 1..5, or bad,fair,good.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Also write the result as Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def measure_command(
    file: Path,
    form: str | None,
    kind: str | None,
    scale_text: str | None,
    out: Path | None,
    **said: Any,  # noqa: ANN401  # what click has checked
) -> int:
    """Measure verdicts in FILE that a judge gave in the past.

    FILE is an Inspect log, results of DeepEval, promptfoo or MLflow, a file of MT-Bench, Arena-Hard or JudgeBench, or a
    table (CSV, XLSX, JSON Lines, Parquet) with a column for the verdict and one for what was judged; or the output
    folder of a Judge Reliability Harness. The output also lists what past verdicts cannot show.
    """
    from umpirical.api import measure_verdicts

    as_json, columns = said["as_json"], _named_columns(ROLES, said)
    found = measure_verdicts(file, form=form, columns=columns, kind=kind, scale=scale_text)  # type: ignore[arg-type]  # click has checked the kind
    if out is not None:
        from umpirical.api.verdicts import verdicts_page
        from umpirical.store.files import write_text

        write_text(out, verdicts_page(found, file.name))
        remark(f"wrote {out}")
    if as_json:
        say_json([each.as_json() for each in found])
        return 0
    for each in found:
        does = "compares" if each.kind == "compare" else "grades"
        say(f"{each.judge or file.name}: a judge that {does}, {each.format}")
        for line in (*_counted(each.counts), *each.notes):
            say(f"  {line}")
        say()
        say("\n".join(f"  {line}" for line in repr(each.measures).splitlines()))
        for stratum, theirs, here in each.beside_pass_rates():
            say(f"  {stratum}: the harness's pass rate {theirs}; accuracy on the same items {here}")
        say(f"\n  Agreement with the labels: {each.agreement.verdict}, {each.agreement.why}")
        for heading, lines in (("can tell", each.can_tell), ("cannot tell", each.cannot_tell)):
            say(f"\nThese verdicts {heading} you:")
            for line in lines:
                say(f"  - {line}")
        say()
    return 0


def _counted(counts: dict[str, int]) -> list[str]:
    none = ", ".join(f"{counts[name]:,} {name}" for name in ("abstained", "unparsed", "failed"))
    return [f"{counts['rows']:,} rows on {counts['items']:,} items: {counts['verdict']:,} verdicts; no verdict: {none}"]


# `umpirical correct`.


COLUMNS = {
    "verdict": "the judge's verdict: win, tie, loss (or 1, tie, 2); pass, fail; or a score",
    "label": "the human label, where there is one",
    "item": "the item that was judged, each once",
    "cluster": "the group of rows that are not independent",
    "system": "the system judged, if there are several",
}


@click.command("correct")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--estimate", type=click.Choice(["win-rate", "pass-rate", "mean-score"]), required=True, help="What to estimate."
)
@_column_options(COLUMNS)
@click.option("--scale", default="", help="Ends of the scale of a mean score: 1..5.")
@click.option(
    "--labels",
    type=click.Choice(["random", "by-label"]),
    default="random",
    help="How labeled rows were chosen: at random, or a number of each label.",
)
@click.option(
    "--record",
    metavar="RUN",
    help="Without labels: the judge's datasheet (win rates) or stress report (pass rates), or its run.",
)
@click.option("--sensitivity", default="", metavar="K/N", help="Without labels: passing rows it passed, such as 45/50.")
@click.option(
    "--specificity",
    default="",
    metavar="K/N",
    help="Without labels: failing rows it failed, such as 90/100.",
)
@click.option(
    "--step",
    default=1.0,
    type=click.FloatRange(0.25, 5),
    help="For bounds: the smallest difference, in requirements.",
)
@out_option("beside FILE")
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON.")
def correct_command(file: Path, *, out: Path | None, as_json: bool, **given: Any) -> int:  # noqa: ANN401  # what click has checked
    """Adjust a win rate, pass rate or mean score in FILE for the judge's errors.

    FILE is a table (CSV, JSON Lines, Parquet). With labels on a random sample of rows it uses PPI++. With a number of
    rows of each label, or known error rates, it uses the Rogan-Gladen estimator. With a datasheet alone it gives
    bounds. Exits with 4 if there is no corrected estimate for a system.
    """
    from umpirical.claims.correction import CorrectionOptions, correct_file
    from umpirical.claims.documents import correction_lines, write_correction
    from umpirical.domain.measures import Undefined
    from umpirical.reports.record import record_json

    columns = _named_columns(COLUMNS, given)
    said = {name: value for name, value in given.items() if not name.endswith("_column")}
    correction = correct_file(file, CorrectionOptions(columns=columns, **said))
    written = write_correction(correction, out or file.parent, file.stem)
    if as_json:
        say_json(record_json(correction))
    else:
        for line in correction_lines(correction):
            say(line)
        say("\nAssumptions:")
        for sentence in correction.assumptions:
            say(f"  - {sentence}")
        for path in written:
            say(path)
    return 4 if any(isinstance(system.corrected, Undefined) for system in correction.systems) else 0


# `umpirical claim`.


@click.command("claim")
@click.argument("result", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--datasheet",
    required=True,
    metavar="RUN",
    help="The judge's run (folder or name), or the JSON file of its record.",
)
@click.option(
    "--evidence",
    metavar="RUN",
    help="A run of the same judge on labeled pairs or responses. Not needed if --datasheet is one.",
)
@out_option("beside RESULT")
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON.")
def claim_command(result: Path, datasheet: str, evidence: str | None, out: Path | None, as_json: bool) -> int:  # noqa: FBT001
    """Publish RESULT, a corrected estimate, together with its judge's datasheet.

    RESULT is the JSON file that `umpirical correct` wrote.

    A claim needs evidence on natural text: a run of the same judge on labeled pairs or responses that shows agreement
    beyond chance. The built-in test cases cannot show whether a judge has memorized them, or notices that it is being
    tested. `umpirical verify CLAIM.json` checks the claim later.
    """
    from umpirical.claims.documents import read_correction, write_claim
    from umpirical.claims.statement import make_claim, read_judge
    from umpirical.reports.record import record_json

    shown = None if evidence is None else read_judge(evidence)
    claim = make_claim(read_correction(result), read_judge(datasheet), shown)
    stem = result.name.removesuffix(".json").removesuffix(".corrected")
    written = write_claim(claim, out or result.parent, stem)
    if as_json:
        say_json(record_json(claim))
        return 0
    for sentence in claim.sentences:
        say(sentence)
    say("\nAssumptions:")
    for sentence in (*claim.correction.assumptions, *claim.assumptions):
        say(f"  - {sentence}")
    for path in written:
        say(path)
    return 0


# `umpirical publish`.


@click.command("publish")
@click.argument("target", metavar="RUN")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--redact/--with-texts",
    "redact",
    default=None,
    help="Replace the texts that were judged by their digests, or publish them. Default: your own data is replaced, "
    "built-in test cases are published.",
)
@click.option("--with-judgments", is_flag=True, help="Also publish every verdict. Always on for built-in test cases.")
@click.option(
    "--claim",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A claim about this run. Default: those in the run's and the study's folder.",
)
@click.option("--license", default="", metavar="TEXT", help="The license of your texts and results, such as CC-BY-4.0.")
def publish_command(
    target: str,
    folder: Path,
    redact: bool | None,  # noqa: FBT001
    with_judgments: bool,  # noqa: FBT001
    claim: Path | None,
    license: str,  # noqa: A002
) -> None:
    """Write RUN to the new folder DIR, as a package that readers can check without the run.

    RUN is a run folder, the name of a run or a judge, or a study with one run. DIR gets the record with its page and
    card, the prompts, the digests of the test cases, a manifest and, for built-in test cases, every verdict. It never
    gets the judge's full replies, server addresses or key names.

    The command first says which texts it publishes. `umpirical verify DIR` checks the package.
    """
    from umpirical.claims.packages import new_folder, prepare
    from umpirical.study.results import find_run

    new_folder(folder)
    remark("checking the run")
    release = prepare(
        find_run(target), texts=None if redact is None else not redact, judgments=with_judgments, claim=claim,
        license=license,
    )  # fmt: skip
    for line in release.lines():
        say(line)
    files = release.write(folder)
    say(f"\n{short_path(folder)}: {len(files)} files")
    say(f"  umpirical verify {short_path(folder)}")
