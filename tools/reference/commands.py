"""The reference of the command line."""

from __future__ import annotations

from collections.abc import Iterator

import click

from reverie.cli.root import reverie


def commands_page() -> str:
    """Return the help of every command, as the command line prints it."""
    context = click.Context(reverie, info_name="reverie")
    parts = ["# Commands\nThe help of every command. [cli.md](../docs/cli.md) has what they have in common.\n"]
    for name, command in _commands(reverie, context):
        with click.Context(command, info_name=name, max_content_width=100, terminal_width=100) as inner:
            parts.append(f"## {name}\n\n```text\n{command.get_help(inner)}\n```\n")
    return "\n".join(parts)


def _commands(
    group: click.Group, context: click.Context, prefix: str = "reverie"
) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(context):
        if (command := group.get_command(context, name)) is None or command.hidden:
            continue
        yield f"{prefix} {name}", command
        if isinstance(command, click.Group):
            yield from _commands(command, context, f"{prefix} {name}")
