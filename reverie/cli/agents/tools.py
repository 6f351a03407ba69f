"""`reverie tools`: print the definitions of the tools for a language model."""

from __future__ import annotations

import click

from reverie.cli.agents.client import client_module
from reverie.cli.output import print_json, say


@click.command("tools", short_help="Print tool definitions for a language model.")
@click.option(
    "--for",
    "shape",
    type=click.Choice(["openai", "openai-responses", "anthropic", "mcp"]),
    default="openai",
    show_default=True,
    help="The format of the definitions.",
)
@click.option(
    "--all", "everything", is_flag=True, help="All tools, not only those that an application gives to a model."
)
@click.option("--with-subject", is_flag=True, help="Let each call name its subject. [default: the application sets it]")
@click.option("--names", is_flag=True, help="Only the names, each with its title.")
@click.option("--json", "as_json", is_flag=True, help="With --names: print a JSON list. Definitions are always JSON.")
def command(shape: str, everything: bool, with_subject: bool, names: bool, as_json: bool) -> None:
    """Print the definitions of the tools as JSON, in the format of OpenAI, Anthropic or MCP.

    An application hands them to a model and runs its calls with `reverie_client.tools.Toolbox`.

    \b
    Examples:
      reverie tools --for anthropic
      reverie tools --for mcp --all
      reverie tools --names --all
    """
    tools = client_module("tools")
    chosen = [tools.TOOLS[name] for name in (tools.TOOLS if everything else tools.AGENT_TOOLS)]
    if not names:
        print_json([tools.definition(tool, shape, with_subject=with_subject) for tool in chosen])
    elif as_json:
        print_json([tool.name for tool in chosen])
    else:
        for tool in chosen:
            say(f"{tool.name:<28}{tool.title}")
