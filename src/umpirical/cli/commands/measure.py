"""`umpirical measure`."""

from pathlib import Path

import click

from umpirical.cli.terminal import say, say_json

ROLES = {
    "verdict": "the verdict",
    "item": "what was judged",
    "order": "which answer came first",
    "repeat": "the number of the repeat",
    "label": "the gold label; for Inspect's logs, a key of the samples' metadata",
    "judge": "the judge",
    "task": "the task, if several items belong to one",
}


def _column_options(command: click.decorators.FC) -> click.decorators.FC:
    for role, about in reversed(ROLES.items()):
        command = click.option(f"--{role}", f"{role}_column", metavar="COLUMN", help=f"Column with {about}.")(command)
    return command


@click.command("measure")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--format", "form", help="inspect, deepeval, promptfoo, mlflow, mt-bench, arena-hard, judgebench, csv...")
@_column_options
@click.option(
    "--kind", type=click.Choice(["compare", "grade"]), help="Whether the judge compares two answers or grades."
)
@click.option("--scale", "scale_text", help="All grades that it could have given: 1..5, or bad,fair,good.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(file: Path, form: str | None, kind: str | None, scale_text: str | None, as_json: bool, **said: str) -> int:  # noqa: FBT001
    """Measure verdicts that a judge gave in the past, in FILE. Makes no calls.

    FILE is a log of Inspect's, the results of DeepEval, promptfoo or MLflow, a file of MT-Bench, Arena-Hard or
    JudgeBench, or a table (CSV, JSON Lines, Parquet) with a column for the verdict and one for what was judged. What
    such data cannot tell is said too: for that, the judge has to be asked.
    """
    from umpirical.api import measure_verdicts

    columns = {role: column for role in ROLES if (column := said[f"{role}_column"]) is not None}
    found = measure_verdicts(file, form=form, columns=columns, kind=kind, scale=scale_text)  # type: ignore[arg-type]  # click has checked the kind
    if as_json:
        import json

        say_json(json.dumps([each.as_json() for each in found], indent=1))
        return 0
    for each in found:
        does = "compares" if each.kind == "compare" else "grades"
        say(f"{each.judge or file.name}: a judge that {does}, {each.format}")
        for line in (*_counted(each.counts), *each.notes):
            say(f"  {line}")
        say()
        say("\n".join(f"  {line}" for line in repr(each.measures).splitlines()))
        for heading, lines in (("can tell", each.can_tell), ("cannot tell", each.cannot_tell)):
            say(f"\nWhat these verdicts {heading}:")
            for line in lines:
                say(f"  - {line}")
        say()
    return 0


def _counted(counts: dict[str, int]) -> list[str]:
    none = ", ".join(f"{counts[name]:,} {name}" for name in ("abstained", "unparsed", "failed"))
    return [f"{counts['rows']:,} rows on {counts['items']:,} items: {counts['verdict']:,} verdicts; no verdict: {none}"]
