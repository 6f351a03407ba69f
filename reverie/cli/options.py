"""Options that several commands share, and the parsers of their values."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from reverie.recall.filters import Filters

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def named(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Refuse an empty name, such as that of an unset shell variable: it would select the default tenant."""
    if value is not None and not value.strip():
        raise click.BadParameter("the name is empty: name a tenant, or leave the option out.")
    return value


def _tenants(context: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """Return the tenants that begin with `begun`, for the shell; none if the database cannot be reached."""
    from reverie.errors import ReverieError
    from reverie.settings import load_settings
    from reverie.store.database import Store
    from reverie.store.server.address import running_url

    try:
        url = running_url(load_settings())
        if url is None:
            return []
        with Store.open(url) as store:
            return [name for name, _ in store.tenants() if name.startswith(begun)]
    except (ReverieError, OSError):
        return []


def _policies(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """Return the shipped policies that begin with `begun`, for the shell."""
    from reverie.policy import shipped_policies

    return [name for name in shipped_policies() if name.startswith(begun)]


tenant_option: Decorator = click.option(
    "--tenant",
    "-t",
    metavar="NAME",
    callback=named,
    shell_complete=_tenants,
    help="The tenant. [default: $REVERIE_TENANT, else 'default']",
)
only_tenant_option: Decorator = click.option(
    "--tenant",
    "-t",
    metavar="NAME",
    callback=named,
    shell_complete=_tenants,
    help="Only this tenant. [default: all tenants]",
)
json_option: Decorator = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
policy_option: Decorator = click.option(
    "--policy", metavar="NAME|PATH", shell_complete=_policies, help="Policy to use instead of the tenant's own."
)


def parse_time_option(_: click.Context, __: click.Parameter, value: str | None) -> datetime | None:
    """Parse a time such as `2026-06-30` or `2026-06-30T18:00+02:00`. A time without an offset is in UTC."""
    if value is None:
        return None
    from reverie.model import bounded_time

    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a time such as 2026-06-30 or 2026-06-30T18:00+02:00.") from None
    try:
        return bounded_time(at if at.tzinfo else at.replace(tzinfo=UTC))
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is out of range: {error}.") from None


def require_folder(file: Path, param_hint: str) -> None:
    """Raise click.BadParameter if a file cannot be written: no such folder, or no permission."""
    folder = file.absolute().parent
    if not folder.is_dir():
        raise click.BadParameter(f"there is no folder {file.parent}.", param_hint=param_hint)
    if not os.access(file if os.access(file, os.F_OK) else folder, os.W_OK):
        raise click.BadParameter(f"{file} cannot be written.", param_hint=param_hint)


def parse_shards(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, int]:
    """Parse a range of shards `FROM-TO`, both included, as a half-open range. The default is all shards."""
    from reverie.model import SHARDS

    if value is None:
        return 0, SHARDS
    first, dash, last = value.partition("-")
    if not (first.isdecimal() and (last.isdecimal() if dash else not last)):
        raise click.BadParameter(f"{value!r} is not a range such as 0-127.")
    start, end = int(first), int(last or first)
    if not start <= end < SHARDS:
        raise click.BadParameter(f"{value!r} must be ascending and within 0-{SHARDS - 1}.")
    return start, end + 1


def as_of_option(help_text: str) -> Decorator:
    """Return the option `--as-of`. Its default is None, which `Session.time` replaces by the tenant's current time."""
    decorator: Decorator = click.option(
        "--as-of", callback=parse_time_option, metavar="TIME", help=f"{help_text} [default: now, by the tenant's clock]"
    )
    return decorator


#: Options of filters: name, metavar, help.
_FILTERS = (
    ("connections", "NAME,...", "The active connections: leave out information about others."),
    ("context_types", "TYPE,...", "Only of these context types, such as user_profile or tool_attachment_content."),
    ("sources", "SOURCE,...", "Only of these sources: user_provided, system_learned, tool_indexed, ..."),
    ("tools", "NAME,...", "Only results of these tools."),
    ("attachments", "NAME,...", "Only of these attachments, by id or file name."),
    ("sessions", "NAME,...", "Only of these sessions."),
)


def filter_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of filters; the command gets them as one value, `filters`."""

    @functools.wraps(function)
    def with_filters(*args: Any, **options: Any) -> Any:
        return function(*args, filters=_filters({name: options.pop(name) for name, _, _ in _FILTERS}), **options)

    decorated: Callable[..., Any] = with_filters
    for name, metavar, help_text in reversed(_FILTERS):
        decorated = click.option(f"--{name.replace('_', '-')}", name, metavar=metavar, help=help_text)(decorated)
    return decorated


def names_in(value: str | None) -> tuple[str, ...] | None:
    """Return the names in a comma-separated list, without white space around them; None if no list is given."""
    return None if value is None else tuple(part.strip() for part in value.split(",") if part.strip())


def _filters(given: dict[str, str | None]) -> Filters:
    from reverie.recall.filters import CONTEXT_TYPES, SOURCES, Filters

    lists = {name: names_in(value) for name, value in given.items()}
    for name, known in (("context_types", CONTEXT_TYPES), ("sources", SOURCES)):
        if unknown := [value for value in lists[name] or () if value not in known]:
            hint = f"--{name.replace('_', '-')}"
            raise click.BadParameter(f"{unknown[0]!r} is none of {', '.join(known)}.", param_hint=hint)
    return Filters(**lists)


def paging_options(search_target: str) -> Decorator:
    """Return the options of a searchable list with pages; `search_target` says what `--search` matches."""
    options: list[Decorator] = [
        click.option("--search", metavar="TEXT", help=f"Only names that match {search_target}."),
        click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 10_000), help="Page size."),
        click.option("--after", metavar="NAME", help="Only names after this one: the next page."),
    ]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate
