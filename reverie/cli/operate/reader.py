"""`reverie reader`: teach the reader from the replies of a tenant's language model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from reverie.cli.options import json_option, policy_option, tenant_option
from reverie.cli.output import format_value, heading, note, pairs, print_json, say, table
from reverie.cli.session import CommandSession
from reverie.cli.signals import ending_cleanly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.evaluate.distill.distill import Distillation
    from reverie.store.small_models.reader_heads import KeptHead


@click.group("reader", short_help="Learn when the reader needs a language model.")
def command() -> None:
    """Learn from the kept replies of a tenant's language model when the reader, a small model, needs that model.

    With `[extract.model] when = "unsure"` a language model is asked only about turns of which the reader is unsure.
    Its earlier replies show which turns these are (docs/reader.md).

    \b
    Examples:
      reverie reader distill --tenant acme
      reverie reader show --tenant acme
      reverie reader reset --tenant acme --yes
    """


@command.command("distill", short_help="Learn from kept replies which turns need a language model.")
@tenant_option
@policy_option
@click.option(
    "--least",
    type=click.IntRange(min=1),
    metavar="NUMBER",
    help="Minimum number of turns with a kept reply. [default: the policy's distill_replies]",
)
@json_option
def distill_replies(tenant: str | None, policy: str | None, least: int | None, as_json: bool) -> None:
    """Learn from the kept replies of a tenant's language model about which turns that model must be asked.

    No model is asked. The turns of one person in three are held back. The new version is used from the next run on,
    but only if it makes fewer errors on those turns, at the same number of calls and beyond noise; otherwise nothing
    changes. Turns that were read stay as they are; a rebuild reads all turns with the version in force at that time.
    """
    from reverie.evaluate.distill.distill import distill

    with CommandSession(tenant, policy) as session, ending_cleanly():
        session.require_tenant()
        found = distill(
            session.worker,
            session.tenant_id,
            session.policy,
            count_tokens=session.embedder.count_tokens,
            at=session.time(None),
            least=least,
            progress=lambda done, of: note(f"Read {done:,} of {of:,} replies."),
        )
        sure = session.policy.extract.model.sure
    if as_json:
        print_json(_as_json(found))
        return
    compared = found.comparison
    say(f"{found.replies:,} replies of {', '.join(found.models)}.")
    say(f"Held back: {compared.turns:,} turns of {compared.people:,} people.")
    rows = [
        (f"{old.saved:.2f}", f"{old.agreement:.3f}", f"{new.agreement:.3f}", f"at sure = {sure:g}" if not place else "")
        for place, (old, new) in enumerate(zip(compared.before, compared.after, strict=True))
    ]
    _print_curve(rows)
    gain = f"{compared.gain.mean:+.4f} errors a turn avoided ({compared.gain.low:+.4f} to {compared.gain.high:+.4f})"
    if found.is_adopted:
        say(f"{gain}: {compared.head.version} is in force from the next run on.")
    else:
        say(f"{gain}: not significantly better than the reader's own confidence. Nothing changes.")


def _print_curve(rows: Sequence[tuple[str, ...]]) -> None:
    names = ("calls saved", "agreement before", "agreement after")
    table((*names, ""), rows, right=names)


@command.command("show", short_help="Show what the reader has learned for a tenant.")
@tenant_option
@json_option
def show_heads(tenant: str | None, as_json: bool) -> None:
    """Show the version of the reader in force for a tenant, what it was learned from, and earlier versions."""
    from reverie.inference.reader import shared_reader
    from reverie.store.small_models.reader_heads import kept_heads

    with CommandSession(tenant) as session:
        session.require_tenant()
        with session.worker.transaction(session.tenant_id) as conn:
            heads = kept_heads(conn, session.tenant_id)
    reader = shared_reader().model
    current = next((head for head in heads if head.retired_at is None), None)
    used = current if current is not None and current.reader == reader else None
    if as_json:
        in_force = used.version if used else reader
        print_json({"in_force": in_force, "reader": reader, "heads": [_of_head(head) for head in heads]})
        return
    if used is None:
        say(f"In force: {reader}, as shipped.")
        if current is not None:
            say(f"{current.version} was learned for another version of the reader and is not used; distill again.")
    else:
        gain = used.figures["gain"]
        learned = f"{used.replies:,} replies of {', '.join(used.models)}, {format_value(used.made_at)}"
        avoided = f"{gain['mean']:+.4f} ({gain['low']:+.4f} to {gain['high']:+.4f}) on {used.figures['turns']:,} turns"
        pairs([("in force", used.version), ("learned from", learned), ("errors a turn avoided", avoided)])
        points = zip(used.figures["before"], used.figures["after"], strict=True)
        _print_curve([(f"{a['saved']:.2f}", f"{a['agreement']:.3f}", f"{b['agreement']:.3f}", "") for a, b in points])
    if before := [head for head in heads if head is not used]:
        heading(f"no longer in force ({len(before):,})")
        rows = [(head.version, head.replies, head.made_at, head.retired_at or "not used") for head in before]
        table(("version", "replies", "learned", "until"), rows, right=("replies",))


@command.command("reset", short_help="Use the shipped reader again.")
@tenant_option
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@json_option
def reset_head(tenant: str | None, yes: bool, as_json: bool) -> None:
    """Use the shipped reader again for a tenant, from the next run on. Learned versions are kept and shown."""
    from reverie.store.small_models.reader_heads import head_in_force, retire_head

    with CommandSession(tenant) as session, ending_cleanly():
        session.require_tenant()
        with session.worker.transaction(session.tenant_id) as conn:
            head = head_in_force(conn, session.tenant_id)
        if head is not None and not yes:
            click.confirm(f"Stop using {head.version} for tenant {session.tenant_id}?", abort=True, err=True)
        at = session.time(None)
        with session.worker.transaction(session.tenant_id) as conn:
            version = retire_head(conn, session.tenant_id, at)
    if as_json:
        print_json({"retired": version})
    else:
        say(f"{version} is no longer in force." if version else "The shipped reader was already in use.")


def _as_json(found: Distillation) -> dict[str, Any]:
    compared = found.comparison
    return {
        "version": compared.head.version,
        "adopted": found.is_adopted,
        "models": found.models,
        "replies": found.replies,
        **compared.figures(),
    }


def _of_head(head: KeptHead) -> dict[str, Any]:
    names = ("version", "reader", "models", "replies", "figures", "made_at", "retired_at")
    return {name: getattr(head, name) for name in names}
