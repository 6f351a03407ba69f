"""`reverie policy`: show, check and choose policies."""

from __future__ import annotations

import click

from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import note, print_json, say, table
from reverie.cli.session import CommandSession


@click.group("policy", invoke_without_command=True, short_help="Show, check and choose policies.")
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show, check and choose policies. A policy holds the numbers that control memory: weights, rates, thresholds,
    windows, budgets, rules.

    A command uses the policy of --policy, otherwise the tenant's, otherwise REVERIE_POLICY, which is also the policy of
    new tenants.

    Your own policy file holds only what differs from its base: `base = "reverie"`, or another policy or file.

    \b
    Examples:
      reverie policy list
      reverie policy show brain                   # every number; write what differs to mine.toml, then
      reverie policy check mine.toml
      reverie policy use mine.toml --tenant demo
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_policies)


@command.command("list", short_help="List the policies that come with Reverie.")
@json_option
def list_policies(as_json: bool = False) -> None:
    """List the policies that come with Reverie."""
    from reverie.policy import load_policy, shipped_policies

    policies = [load_policy(name) for name in shipped_policies()]
    if as_json:
        rows = [{"name": policy.name, "hash": policy.hash, "description": policy.description} for policy in policies]
        print_json({"policies": rows})
    else:
        table(("name", "hash", "description"), [(policy.name, policy.hash, policy.description) for policy in policies])


@command.command("show", short_help="Print a policy, with the source of each value.")
@click.argument("name")
@json_option
def show_policy(name: str, as_json: bool) -> None:
    """Print the policy NAME (or the file at that path) in full, or as JSON.

    A comment after each value names its source: the file, one of its bases, or the default. The output is itself a
    policy file with the same hash.

    \b
    Examples:
      reverie policy show reverie
      reverie policy show mine.toml
    """
    from reverie.policy import load_policy
    from reverie.policy.text import policy_text

    policy = load_policy(name)
    if as_json:
        print_json({"name": policy.name, "hash": policy.hash, "policy": policy.model_dump(mode="json")})
    else:
        say(policy_text(name))


@command.command("check", short_help="Check a policy file.")
@click.argument("path")
@json_option
def check(path: str, as_json: bool) -> None:
    """Check the policy file at PATH and its bases. Every unknown key and invalid value is reported with what is
    allowed. Keys of earlier versions that have no effect any more are noted.

    \b
    Example:
      reverie policy check mine.toml
    """
    from reverie.policy import load_policy
    from reverie.policy.files import RETIRED, read_files

    policy = load_policy(path)
    for file in read_files(path):
        for key in file.retired:
            instead = f"; its number is {RETIRED[key]} now" if RETIRED[key] else ""
            note(
                f"Note: {file.label}: {file.place(key.split('.'))} is a key of an earlier version and ignored{instead}."
            )
    if as_json:
        print_json({"path": path, "name": policy.name, "hash": policy.hash, "valid": True})
    else:
        say(f"{path} is valid: policy {policy.name}, hash {policy.hash}.")


@command.command("use", short_help="Choose the policy of a tenant.")
@click.argument("name_or_path")
@tenant_option
@click.option("--gate", is_flag=True, help="Refuse the policy if recall finds less with it on questions from the log.")
@json_option
def use(name_or_path: str, tenant: str | None, gate: bool, as_json: bool) -> None:
    """Use the policy NAME_OR_PATH for the tenant from now on.

    Existing memories stay; the next run decays them by the new numbers. A policy file is read at each run, so keep it
    where the workers can read it. With --gate, held-back questions of the log are asked by both policies
    (docs/evaluating.md), and the tenant keeps its policy when quality falls by more than its tolerance: exit code 11.

    \b
    Examples:
      reverie policy use brain --tenant demo
      reverie policy use mine.toml --tenant demo --gate
    """
    from reverie.policy import load_policy, policy_reference
    from reverie.store.tenants import set_policy_name

    policy, reference = load_policy(name_or_path), policy_reference(name_or_path)
    with CommandSession(tenant, reference if gate else None) as session:
        if gate:
            from reverie.cli.measure.evaluate import pass_gate

            session.connections = 2
            session.require_tenant()
            present = CommandSession(tenant, runtime=session.runtime)
            pass_gate(session, present, session.time(None))
        with session.worker.transaction(session.tenant_id) as conn:
            set_policy_name(conn, session.tenant_id, reference)
    if as_json:
        print_json({"tenant_id": session.tenant_id, "policy": reference, "name": policy.name, "hash": policy.hash})
    else:
        say(f"Tenant {session.tenant_id} now has policy {policy.name}, hash {policy.hash}.")
