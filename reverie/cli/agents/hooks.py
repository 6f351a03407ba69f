"""`reverie hooks`: recall before a prompt and store after a reply, in a coding agent, without the model's help."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from reverie.cli.agents.client import client_module
from reverie.cli.output import note, print_json, say
from reverie.errors import SettingsError

_AGENTS = ["claude-code", "codex", "gemini-cli", "copilot-cli"]
_agent = click.option("--for", "agent", required=True, type=click.Choice(_AGENTS), help="The coding agent.")
_project = click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Only for this project. [default: for the user, in all projects]",
)
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.group("hooks", short_help="Install hooks that recall and store by themselves.")
def command() -> None:
    """Install hooks in a coding agent: they recall before each prompt and store after each reply.

    A hook is one small script that asks a running `reverie serve`. If the server does not answer in time, the agent
    goes on without memory.

    \b
    Examples:
      reverie hooks install --for claude-code --subject ana
      reverie hooks show
      reverie hooks uninstall --for claude-code
    """


@command.command("install")
@_agent
@_project
@click.option("--subject", metavar="ID", help="The subject. [default: REVERIE_SUBJECT]")
@click.option(
    "--token-budget", type=click.IntRange(50, 20_000), default=800, show_default=True, help="Most tokens per prompt."
)
@click.option("--top-k", type=click.IntRange(1, 50), default=8, show_default=True, help="Most memories per prompt.")
@click.option("--recall-only", is_flag=True, help="Only recall; store nothing.")
@_json
def write_hooks(agent: str, project: Path | None, subject: str | None, as_json: bool, **limits: Any) -> None:
    """Write the hooks into the agent's settings; other settings stay. A second run changes nothing.

    \b
    Settings: REVERIE_URL, REVERIE_API_KEY, REVERIE_SUBJECT. They are copied to ~/.reverie/hooks, readable by you alone.

    \b
    Examples:
      reverie hooks install --for claude-code --subject ana
      reverie hooks install --for codex --project . --recall-only
    """
    hooks, settings = client_module("hooks.install"), client_module("environment")
    try:
        environment = settings.read_environment(overrides={"REVERIE_SUBJECT": subject} if subject else None)
        path = hooks.install(
            agent,
            environment,
            home=Path.home(),
            project=project,
            token_budget=limits["token_budget"],
            top_k=limits["top_k"],
            stores=not limits["recall_only"],
        )
    except (hooks.HooksError, settings.EnvironmentSettingsError) as error:
        raise SettingsError(str(error)) from None
    if as_json:
        print_json({"agent": agent, "file": path})
    else:
        say(f"The hooks are in {path}. Remove them with: reverie hooks uninstall --for {agent}")


@command.command("uninstall")
@_agent
@_project
@_json
def remove_hooks(agent: str, project: Path | None, as_json: bool) -> None:
    """Remove the hooks, their settings with the key, and prompts that wait for a reply. Other hooks stay.

    \b
    Examples:
      reverie hooks uninstall --for gemini-cli
    """
    hooks = client_module("hooks.install")
    try:
        changed = hooks.uninstall(agent, home=Path.home(), project=project)
    except hooks.HooksError as error:
        raise SettingsError(str(error)) from None
    if as_json:
        print_json({"agent": agent, "changed": changed})
    elif changed:
        say("\n".join(f"Changed {path}" for path in changed))
    else:
        note(f"{agent} has no hooks of Reverie.")


@command.command("show")
@_project
@_json
def show_hooks(project: Path | None, as_json: bool) -> None:
    """Show which agents have hooks, in which file, and what they run.

    \b
    Examples:
      reverie hooks show
    """
    hooks = client_module("hooks.install")
    try:
        rows = hooks.show(home=Path.home(), project=project)
    except hooks.HooksError as error:
        raise SettingsError(str(error)) from None
    if as_json:
        print_json({"agents": rows})
        return
    for row in rows:
        say(f"{row['agent']:<14}{'installed' if row['commands'] else 'not installed':<16}{row['file']}")
        for each in row["commands"]:
            say(f"{'':<14}{each}")
