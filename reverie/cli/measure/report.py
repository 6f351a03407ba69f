"""`reverie report`: write the marts as a page of plots."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from reverie.cli.options import json_option, only_tenant_option, require_folder
from reverie.cli.output import note, print_json, say, write_file
from reverie.cli.session import CommandSession


@click.command("report", short_help="Write the marts as a page of plots.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), default="reverie-report.html")
@only_tenant_option
@click.option("--days", type=click.IntRange(min=1), metavar="N", help="Only the last N days. [default: all]")
@json_option
def command(file: Path, tenant: str | None, days: int | None, as_json: bool) -> None:
    """Write FILE, a page of plots and tables over the marts: growth and forgetting, ages, use, cost, backlog.

    It covers all tenants, or that of --tenant. The page opens in a browser without a network and holds ids and numbers,
    but no text of a conversation. `make marts` builds the marts. deployments/grafana/ has the same panels as Grafana
    boards.

    \b
    Examples:
      reverie report
      reverie report acme.html --tenant acme --days 90
    """
    from reverie.report.marts import read_marts
    from reverie.report.page import marts_page
    from reverie.store.connect import connect

    require_folder(file, "FILE")
    now = datetime.now(UTC)
    with CommandSession(tenant) as session, connect(session.url, role="analyst") as conn:
        read = read_marts(conn, today=now.date(), tenant_id=tenant, days=days)
    write_file(file, marts_page(read, made_at=now))
    if as_json:
        print_json({"file": str(file), "tenants": read.tenants, "since": read.since, "until": read.until})
    else:
        say(f"Wrote {file}.")
        note("Open it in a browser.")
