"""Options that several commands share, and the parsers of their values."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

tenant_option: Decorator = click.option(
    "--tenant", "-t", metavar="NAME", help="The tenant. [default: $REVERIE_TENANT, else 'default']"
)
json_option: Decorator = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
policy_option: Decorator = click.option(
    "--policy", metavar="NAME|PATH", help="Policy to use instead of the tenant's own."
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
