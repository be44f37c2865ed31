"""`umpirical completion`."""

import click
from click.shell_completion import get_completion_class

from umpirical.cli.terminal import say


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print a script for SHELL that completes commands and options.

    In bash:  eval "$(umpirical completion bash)"
    """
    kind = get_completion_class(shell)
    if kind is None:  # pragma: no cover  # click has all three
        raise click.UsageError(f"click completes nothing in {shell}")
    whole = context.find_root().command
    say(kind(whole, {}, "umpirical", "_UMPIRICAL_COMPLETE").source().rstrip("\n"))
