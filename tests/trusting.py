"""The one way in which tests agree to the studies that they write: as a person does, with --trust."""

from collections.abc import Sequence

import click

from umpirical.cli import cli


def trusting(arguments: Sequence[object]) -> list[str]:
    """The arguments of a command, with --trust if the command takes it."""
    words = [str(argument) for argument in arguments]
    command: click.Command | None = cli
    for place, word in enumerate(words):
        if isinstance(command, click.Group):
            command = command.commands.get(word) if command is not cli else _named(word)
            if command is not None and not isinstance(command, click.Group):
                return _with_trust(command, words, place + 1)
            if command is None and word.startswith("-"):
                return words
            if command is None:
                # `umpirical review STUDY` is short for `umpirical review serve STUDY`.
                return [*words[:place], "--trust", *words[place:]]
    return words


def leaves() -> dict[tuple[str, ...], click.Command]:
    """Every command there is, by the words that name it."""
    return dict(_leaves((), cli))


def _leaves(path, command):
    if not isinstance(command, click.Group):
        yield path, command
        return
    with click.Context(command) as context:
        for name in command.list_commands(context):
            yield from _leaves((*path, name), command.get_command(context, name))


def _named(word: str) -> click.Command | None:
    with click.Context(cli) as context:
        return cli.get_command(context, word) if word in cli.list_commands(context) else cli


def _with_trust(command: click.Command, words: list[str], place: int) -> list[str]:
    takes = any(parameter.name == "trust" for parameter in command.params)
    return [*words[:place], "--trust", *words[place:]] if takes and "--trust" not in words else words
