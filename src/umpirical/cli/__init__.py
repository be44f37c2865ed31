"""The command line. A subcommand is imported only when it is called, so that help appears at once."""

import signal
import sys
import threading
from importlib import import_module
from typing import NoReturn

import click

__all__ = ["main"]

SECTIONS = {
    "Start": {
        "demo": "Test seven simulated judges, six of them flawed. Offline.",
        "init": "Create a study file that runs as it is.",
        "doctor": "Show versions, free disk space and which API keys are set.",
    },
    "Measure a judge": {
        "datasheet": "Test one judge and write its datasheet.",
        "check": "Check a study before it runs.",
        "plan": "Show what a run would take: calls, tokens, price, time and precision.",
        "run": "Test every judge of a study, or resume an interrupted run.",
        "extend": "Collect more data for a run that ended inconclusive.",
    },
    "Look at results (no calls)": {
        "view": "Browse studies, runs and single trials in a browser.",
        "list": "List the runs of a study.",
        "report": "Write the report of a run again from its stored replies.",
        "compare": "Compare judges and say which to use for what.",
    },
    "Automate (no calls)": {
        "gate": "Pass or fail a judge in CI, against a policy and an optional baseline.",
        "verify": "Check a run's files against their checksums and its published report.",
        "export": "Write a run's results as a table, PDF, model card or log.",
    },
    "Prepare test data": {
        "generate": "Have a model write the test cases that a program cannot.",
        "review": "Have people accept, edit or reject what a model wrote.",
        "draft": "Have a model draft your own tasks from a rubric.",
    },
    "Analyze (no calls, except load-check)": {
        "measure": "Measure verdicts that a judge gave in the past.",
        "correct": "Adjust a win rate, pass rate or mean score for the judge's errors.",
        "claim": "Publish a corrected result together with its judge's datasheet.",
        "publish": "Write a run as a package that readers can check without it.",
        "jury": "Combine several tested judges into one, and test that.",
        "rescore": "Score a run in other ways (log-probabilities, both orders) and recommend one.",
        "load-check": "Check whether server load (batching) changes the judge's verdicts.",
    },
    "Utilities": {
        "prices": "Show what a model costs, and where the price comes from.",
        "schema": "Print the JSON Schema of a study file, a policy or a record.",
        "completion": "Print a script that completes commands in bash, zsh or fish.",
    },
}
"""The commands, as `--help` lists them."""

COMMANDS = {name: about for commands in SECTIONS.values() for name, about in commands.items()}

MODULES = {
    "start": ("demo", "init", "draft", "prices", "schema", "doctor", "completion"),
    "plan": ("check", "plan"),
    "measure": ("run", "datasheet", "extend", "generate", "load-check"),
    "results": ("report", "list", "compare", "jury", "rescore", "gate", "verify", "export"),
    "verdicts": ("measure", "correct", "claim", "publish"),
    "review": ("review", "view"),
}
"""The module of each command, in which it is called NAME_command."""

RENAMED = {"more": "extend", "runs": "list", "readouts": "rescore", "serving": "load-check"}
"""What commands were called before."""

MEANT = {"serve": "view", "browse": "view", "test": "datasheet", "dry-run": "plan", "ls": "list", "lint": "check"}
"""What people type for a command of another name."""


class _LazyGroup(click.Group):
    """Knows the names of its commands, and imports one only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            from umpirical.domain.errors import UsageError

            raise UsageError(f"unknown command {cmd_name!r}", fix=_instead(cmd_name))
        module = next(module for module, names in MODULES.items() if cmd_name in names)
        command: click.Command = getattr(
            import_module(f"umpirical.cli.{module}"), f"{cmd_name.replace('-', '_')}_command"
        )
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for section, commands in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(f"{name:<10}", about) for name, about in commands.items()])


def _instead(name: str) -> str:
    from difflib import get_close_matches

    if name in RENAMED:
        return f"it is called `umpirical {RENAMED[name]}` now"
    near = MEANT.get(name) or next(iter(get_close_matches(name, COMMANDS, n=1)), "")
    return f"did you mean `umpirical {near}`?" if near else "`umpirical --help` lists all commands"


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="umpirical", prog_name="umpirical")
def cli() -> None:
    """Test LLM judges before you trust their scores.

    Start with:  umpirical demo
    """


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and exits.

    Exit codes: 0 done, and every judge passes; 1 bug, or a damaged record; 2 wrong usage or configuration; 3 a judge
    fails; 4 not enough data on one; 5 run incomplete, resumable; 6 cost not approved, or budget reached (resumable);
    7 a judge is worse than its baseline; 130 interrupted.
    """
    sys.exit(_run(arguments))


def _sentence(message: str) -> str:
    """What click says, in our style: a small letter first, and no full stop."""
    return f"{message[:1].lower()}{message[1:]}".removesuffix(".")


def _told_to_end(*_: object) -> NoReturn:
    from umpirical.domain.errors import Terminated

    raise Terminated


def _run(arguments: list[str] | None) -> int:
    from umpirical.cli.terminal import Steps, complain
    from umpirical.domain.errors import UmpiricalError
    from umpirical.domain.long_work import LISTENER

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _told_to_end)
    LISTENER.set(Steps())
    try:
        result = cli.main(args=arguments, prog_name="umpirical", standalone_mode=False)
    except UmpiricalError as error:
        complain(str(error), error.fix)
        return error.exit_code
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        complain(
            _sentence(error.format_message()), f"`{context.command_path} --help` shows how to use it" if context else ""
        )
        return 2
    except (click.Abort, KeyboardInterrupt):
        import shlex

        command = shlex.join(["umpirical", *(sys.argv[1:] if arguments is None else arguments)])
        complain("interrupted; all replies so far are kept", f"run the same command again to resume:  {command}")
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
