"""Options that several commands share, and what their texts mean."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

tenant_option: Decorator = click.option(
    "--tenant", "-t", metavar="NAME", help="Whose memory. [default: $REVERIE_TENANT, else 'default']"
)
json_option: Decorator = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
policy_option: Decorator = click.option(
    "--policy", metavar="NAME|PATH", help="Policy to use instead of the tenant's own."
)


def parse_time(_: click.Context, __: click.Parameter, value: str | None) -> datetime:
    """Return `2026-06-30` or `2026-06-30T18:00+02:00` as a time in UTC, which is also what one without an offset means.

    Without a value it is now: the command line is where the clock is read, and nothing below it does.
    """
    if value is None:
        return datetime.now(UTC)
    from reverie.model import bounded_time

    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a time such as 2026-06-30 or 2026-06-30T18:00+02:00.") from None
    try:
        return bounded_time(at if at.tzinfo else at.replace(tzinfo=UTC))
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is out of range: {error}.") from None


def parse_given_time(ctx: click.Context, parameter: click.Parameter, value: str | None) -> datetime | None:
    """Return a time as `parse_time` does; without a value None."""
    return parse_time(ctx, parameter, value) if value is not None else None


def parse_shards(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, int]:
    """Return a range of virtual shards `FROM-TO`, both included, half-open; without a value all of them."""
    from reverie.model import SHARDS

    if value is None:
        return 0, SHARDS
    first, dash, last = value.partition("-")
    if not (first.isdecimal() and (last.isdecimal() if dash else not last)):
        raise click.BadParameter(f"{value!r} is not a range such as 0-127.")
    start, end = int(first), int(last or first)
    if not start <= end < SHARDS:
        raise click.BadParameter(f"{value!r} must rise and lie within 0-{SHARDS - 1}.")
    return start, end + 1


def as_of_option(help_text: str) -> Decorator:
    """Return the option `--as-of`; None unless given, for `Session.time` to say what time it is for the tenant."""
    decorator: Decorator = click.option(
        "--as-of", callback=parse_given_time, metavar="TIME", help=f"{help_text} [default: now, by the tenant's clock]"
    )
    return decorator


def paging_options(searched: str) -> Decorator:
    """Return the options of a list that is searched and read page by page; `searched` says what --search looks for."""
    options: list[Decorator] = [
        click.option("--search", metavar="TEXT", help=f"Only those with {searched}."),
        click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 10_000), help="At most so many."),
        click.option("--after", metavar="NAME", help="Only those after this name: the next page."),
    ]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate
