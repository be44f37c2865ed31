"""The command line. A subcommand is imported only when it is called, so that help appears at once."""

import sys
from importlib import import_module

import click

__all__ = ["main"]

COMMANDS = {
    "demo": "An offline tour: simulated judges with planted defects, measured. No key.",
    "init": "Write a study file to start from.",
    "draft": "Have a model draft a family of tasks from your rubric, for a person to review.",
    "check": "Check a study: config, prompts, tasks, keys. Makes no calls.",
    "datasheet": "Measure one judge, in one command, and write its datasheet.",
    "plan": "Show what a run would take: calls, tokens, price, time, precision. Makes no calls.",
    "generate": "Have a model write the stimuli that a program cannot make; check and validate them.",
    "review": "Have people review what was generated: accept, edit, reject, relabel.",
    "run": "Measure the judges of a study, or resume a run that stopped.",
    "serving": "Ask a few questions alone and amid many others, and count the answers that change.",
    "more": "Ask just what would settle what a run leaves open, and measure both together.",
    "report": "Reread a run, or all runs of a study, and write the report. Needs no key.",
    "compare": "Compare judges on the same stimuli, and say which to take for which use. Makes no calls.",
    "gate": "Hold a run to a policy and to an earlier run, for a pipeline: exit code, JUnit, JSON. Makes no calls.",
    "measure": "Measure verdicts that a judge gave in the past, from a file. Makes no calls.",
    "readouts": "Read a run in other ways: log-probabilities, both orders. Makes no calls, recommends one.",
    "jury": "Make one judge of several that were measured, and measure it. Makes no calls.",
    "correct": "Correct a win rate, pass rate or mean score for its judge's errors. Makes no calls.",
    "claim": "Join a corrected estimate and the judge's datasheet into one statement to publish.",
    "export": "Write a run for another tool: a log for `inspect view`. Makes no calls.",
    "runs": "List the runs of a study.",
    "view": "Look at studies, runs and trials in a browser, also while a run is asked; or write a gallery.",
    "verify": "Hold a run to its digests, and a published datasheet to its responses. Makes no calls.",
    "prices": "Show what is known about a model's price, and the source.",
    "schema": "Print the JSON Schema of a study file, a policy, a datasheet or a comparison.",
    "doctor": "Show versions, and which keys are set.",
    "completion": "Print a script that completes commands in bash, zsh or fish.",
}


SECTIONS = {
    "start": ("demo", "init", "draft", "prices", "schema", "doctor", "completion"),
    "plan": ("check", "plan"),
    "measure": ("run", "datasheet", "more", "generate", "serving"),
    "results": ("report", "runs", "compare", "jury", "readouts", "gate", "verify", "export"),
    "verdicts": ("measure", "correct", "claim"),
    "review": ("review", "view"),
}
"""The module of each command, in which it is called NAME_command."""


class _LazyGroup(click.Group):
    """Knows the names of its commands, and imports one only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(cmd_name, COMMANDS, n=1)
            ctx.fail(f"no command {cmd_name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
        section = next(section for section, names in SECTIONS.items() if cmd_name in names)
        command: click.Command = getattr(import_module(f"umpirical.cli.{section}"), f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="umpirical", prog_name="umpirical")
def cli() -> None:
    """Measure an LLM judge as a measuring instrument, before anyone trusts its scores.

    Start with:  umpirical demo
    """


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and exits.

    Exit codes: 0 done, and every judge may be used; 1 bug, or a damaged record; 2 usage or config; 3 a judge is
    refused; 4 not enough data on one; 5 run incomplete and resumable; 6 spend refused or budget reached (resumable);
    7 a judge is worse than its baseline; 130 interrupted.
    """
    sys.exit(_run(arguments))


def _run(arguments: list[str] | None) -> int:
    from umpirical.cli.terminal import complain, remark
    from umpirical.domain.errors import UmpiricalError

    try:
        result = cli.main(args=arguments, standalone_mode=False)
    except UmpiricalError as error:
        complain(str(error), error.fix)
        return error.exit_code
    except click.ClickException as error:
        from io import StringIO

        # What click says may repeat a name from a folder.
        error.show(said := StringIO())
        remark(said.getvalue().rstrip("\n"))
        return 2
    except (click.Abort, KeyboardInterrupt):
        import shlex

        command = shlex.join(["umpirical", *(sys.argv[1:] if arguments is None else arguments)])
        complain("interrupted; all answers so far are kept", f"run the same command again to resume:  {command}")
        return 130
    except Exception as error:  # noqa: BLE001  # the last line before a traceback reaches a person
        import os
        import traceback

        from umpirical.cli.terminal import refused_by_machine

        if os.environ.get("UMPIRICAL_DEBUG"):
            traceback.print_exc()
        if refused := refused_by_machine(error):
            complain(*refused[:2])
            return refused[2]
        complain(f"unexpected {type(error).__name__}: {error}", "this is a bug; set UMPIRICAL_DEBUG=1 for the details")
        return 1
    return result if isinstance(result, int) else 0
