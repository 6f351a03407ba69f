"""`reverie costs`: show what models cost, and set credits."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import click

from reverie.cli.options import json_option, parse_time_option, tenant_option
from reverie.cli.output import note, pairs, print_json, say, table
from reverie.cli.session import CommandSession

#: The columns of costs that are summed.
_SUMS = ("calls", "failed", "items", "tokens_in", "tokens_out", "cost_usd", "open", "open_usd", "unpriced", "seconds")


#: Options of the group that mean the same before its commands, which name them as well or as an argument.
_PASSED_ON = {"credit": ("tenant", "subject", "as_json"), "forget": ("tenant", "as_json")}


@click.group("costs", invoke_without_command=True, short_help="Show what models cost, and set credits.")
@tenant_option
@click.option("--all-tenants", is_flag=True, help="Every tenant.")
@click.option("--since", metavar="TIME", help="Only calls recorded since this time, by the wall clock.")
@click.option("--by-run", is_flag=True, help="One row per run; `reverie runs --json` shows what each run did.")
@click.option("--by-subject", is_flag=True, help="One row per subject; calls about several subjects have no subject.")
@click.option("-s", "--subject", metavar="NAME", help="Only calls about this subject alone, and its credit.")
@json_option
@click.pass_context
def command(
    ctx: click.Context, /, tenant: str | None, all_tenants: bool, since: str | None, as_json: bool, **shown: Any
) -> None:
    """Show what model calls cost, by stage and model, and what is left of the credits of a tenant and its subjects.

    Before a call, its maximum cost is reserved; when its reply is stored, the actual cost replaces it. A reservation
    whose process died is shown as open.

    \b
    Examples:
      reverie costs --tenant demo
      reverie costs --all-tenants --since 2026-06-01 --json
      reverie costs --tenant demo --by-subject
      reverie costs credit demo 5
    """
    if ctx.invoked_subcommand:
        ctx.default_map = {ctx.invoked_subcommand: _passed_on(ctx, ctx.invoked_subcommand)}
        return
    if tenant and all_tenants:
        raise click.UsageError("Give --tenant or --all-tenants, not both.")
    from_time = parse_time_option(ctx, ctx.command.params[0], since) if since else None
    with CommandSession(tenant) as session:
        names = [name for name, _ in session.worker.tenants()] if all_tenants else [session.tenant_id]
        reports = [{"tenant_id": name} | _costs(session, name, since=from_time, **shown) for name in names]
    if as_json:
        print_json({"since": from_time, "tenants": reports})
        return
    for report in reports:
        _print(report, several=all_tenants)
    if not reports:
        say("There are no tenants yet: import something first.")


@command.command("credit")
@click.argument("tenant")
@click.argument("amount")
@click.option("-s", "--subject", metavar="NAME", help="Set what it may spend for this subject.")
@json_option
def credit(tenant: str, amount: str, subject: str | None, as_json: bool) -> None:
    """Set what TENANT may spend from now on: AMOUNT in US dollars, or `none` for no limit.

    A call that could cost more than the remaining credit is not made. The stage falls back to rules and reports it. A
    call about a subject with a credit must be within both.

    \b
    Examples:
      reverie costs credit demo 5
      reverie costs credit demo 0.25 --subject ana
      reverie costs credit demo none
    """
    from reverie.llm.spending import set_credit

    dollars = _dollars(amount)
    with CommandSession(tenant) as session:
        session.require_tenant()
        set_credit(session.worker, tenant, dollars, subject_id=subject)
    if as_json:
        print_json({"tenant_id": tenant, "subject_id": subject, "balance_usd": dollars})
    else:
        pairs(
            [
                ("tenant", tenant),
                ("subject", subject),
                ("may spend", "unlimited" if dollars is None else _money(dollars)),
            ]
        )


@command.command("forget")
@click.argument("subject")
@tenant_option
@click.option(
    "--source",
    type=click.UUID,
    metavar="ID",
    help="Only replies to requests that contained this turn or memory: the whole id, as `reverie explain` prints it.",
)
@json_option
def delete_replies(subject: str, tenant: str | None, source: UUID | None, as_json: bool) -> None:
    """Delete the stored model replies about SUBJECT. Memory does not change, but a rebuild has to pay for them again.

    \b
    Examples:
      reverie costs forget ana --tenant demo
      reverie costs forget ana --source 019c2f6e-2b40-7d1e-8a4e-0d4f4b1f6a11
    """
    from reverie.llm.reply_cache import forget_replies

    with CommandSession(tenant) as session:
        session.require_tenant()
        number = forget_replies(session.worker, tenant_id=session.tenant_id, subject_id=subject, source_id=source)
    if as_json:
        print_json({"tenant_id": session.tenant_id, "subject_id": subject, "source_id": source, "replies": number})
    else:
        say(f"Deleted {number:,} stored replies about {subject}.")


def _passed_on(ctx: click.Context, name: str) -> dict[str, Any]:
    """Return the options before the command `name`, as its defaults. Raises UsageError for one without effect there."""
    given = {key: value for key, value in ctx.params.items() if value}
    if "all_tenants" in given:
        raise click.UsageError(f"`costs {name}` takes one tenant, not --all-tenants.")
    for option in ctx.command.params:
        if option.name in given and option.name not in _PASSED_ON[name]:
            raise click.UsageError(f"`costs {name}` does not take {max(option.opts, key=len)}.")
    return given


def _dollars(amount: str) -> float | None:
    if amount == "none":
        return None
    try:
        dollars = float(amount)
    except ValueError:
        dollars = -1.0
    if not 0 <= dollars <= 1e9:
        raise click.BadParameter(f"{amount!r} is neither an amount such as 5 or 0.25 nor none.", param_hint="AMOUNT")
    return dollars


def _costs(
    session: CommandSession,
    tenant_id: str,
    *,
    since: datetime | None,
    by_run: bool,
    by_subject: bool,
    subject: str | None,
) -> dict[str, Any]:
    from reverie.llm.spending import read_spending

    rows, credits = read_spending(
        session.worker, tenant_id, since=since, by_run=by_run, by_subject=by_subject, subject_id=subject
    )
    totals = {name: sum(row[name] for row in rows) for name in _SUMS}
    of_tenant = next((each for each in credits if each["subject_id"] is None), None)
    of_subjects = [each for each in credits if each["subject_id"] is not None]
    return {"costs": rows, "total": totals, "credit": of_tenant, "subject_credits": of_subjects}


def _print(report: dict[str, Any], *, several: bool) -> None:
    if several:
        say(f"Tenant {report['tenant_id']}")
    rows = report["costs"]
    if rows:
        told = [
            ("run", "run_id", any(row["run_id"] for row in rows)),
            ("subject", "subject_id", any(row["subject_id"] for row in rows)),
        ]
        names = [("stage", "stage"), ("model", "model"), *((name, column) for name, column, used in told if used)]
        numbers = [(name, name.replace(" ", "_")) for name in ("calls", "failed", "tokens in", "tokens out")]
        columns = [*names, *numbers]
        table(
            (*(name for name, _ in columns), "cost $"),
            [(*(row[column] for _, column in columns), f"{row['cost_usd']:.6f}") for row in rows],
            right=(*(name for name, _ in numbers), "cost $"),
        )
    else:
        say(f"Nothing was spent on models for tenant {report['tenant_id']}.")
    total, credit = report["total"], report["credit"]
    pairs(
        [
            ("spent", _money(total["cost_usd"])),
            ("left", _money(credit["balance_usd"]) if credit else "no credit set: unlimited"),
            *((f"left for {each['subject_id']}", _money(each["balance_usd"])) for each in report["subject_credits"]),
            ("open", f"{total['open']:,} calls, {_money(total['open_usd'])}" if total["open"] else None),
        ]
    )
    if total["unpriced"]:
        note(f"The price of {total['unpriced']:,} calls is unknown and counts as 0: set REVERIE_LANGUAGE_MODEL_PRICE.")


def _money(dollars: float) -> str:
    return f"${dollars:,.6f}"
