"""`reverie erase`: erase a turn, a session, a memory, a subject or a tenant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import click

from reverie.cli.memory.correcting import actor_option, shell_user
from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import note, print_json, say, table
from reverie.cli.session import CommandSession
from reverie.cli.signals import ending_cleanly

if TYPE_CHECKING:
    from reverie.drive.erase.erasing import Erased, Eraser
    from reverie.drive.erase.targets import Target
    from reverie.store.privacy.scrub import Scrubbed

#: Returns the target that the command names, whose id may have to be looked up.
_FindTarget = Callable[["CommandSession"], "Target"]

_LEFT = "Memory of {subject} {is_rebuilt} from the rest of the log."


@click.command("erase", short_help="Erase turns and events, with everything made from them.")
@click.argument("subject", required=False)
@click.option("--turn", type=click.UUID, metavar="ID", help="Erase this turn or event: the whole id (reverie explain).")
@click.option("--session", "session_id", metavar="NAME", help="Erase this session of SUBJECT.")
@click.option("--memory", metavar="ID", help="Erase the turns that this memory rests on: an id or its beginning.")
@click.option("--shared", is_flag=True, help="With --memory: also turns that other memories rest on.")
@click.option("--whole-tenant", is_flag=True, help="Erase everything of the tenant, its keys and policy included.")
@click.option(
    "--replay",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Repeat the erasures in a file of receipts, in a restored database or where a tenant moves to.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only count what would be erased.")
@click.option("--vacuum", is_flag=True, help="Rewrite the tables, so that no file of Postgres holds deleted rows.")
@actor_option
@tenant_option
@json_option
def command(
    subject: str | None,
    turn: UUID | None,
    session_id: str | None,
    memory: str | None,
    shared: bool,
    whole_tenant: bool,
    replay: Path | None,
    **options: Any,
) -> None:
    """Erase everything about SUBJECT, or one turn, session or memory, or the whole tenant: from the log, from memory,
    from caches, kept replies, queues and dead letters. Afterwards memory is as if it had never been said. Erased
    data are not accepted again, and a receipt without content stays (reverie receipts).

    The command counts the rows and asks first. If it is killed, run it again. --vacuum locks each table while it is
    rewritten, and prints what else must be done; without anything to erase, the command only rewrites the tables.

    \b
    Examples:
      reverie erase ana --tenant demo
      reverie erase --turn 019b8d6a-7f10-8c41-9a2b-2c6a3f1d2e4f --yes
      reverie erase ana --session chat-17 --actor "support: Dana"
      reverie erase --memory 019b8d6a-7f10-8c41-9a2b-1c6a3f1d2e4f --dry-run
      reverie erase --whole-tenant --tenant old-customer
      reverie erase --vacuum
      reverie erase --replay receipts.jsonl --tenant demo
    """
    target = _target(subject, turn, session_id, memory, shared, whole_tenant)
    if replay is not None and (target is not None or whole_tenant):
        raise click.UsageError("--replay erases only what the receipts name: give no other target.")
    if options["dry_run"] and target is None and not whole_tenant:
        raise click.UsageError("--dry-run needs something to erase, and cannot count for --replay or --vacuum alone.")
    if target is None and not whole_tenant and replay is None and not options["vacuum"]:
        raise click.UsageError("Name what to erase: SUBJECT, --turn, --session, --memory or --whole-tenant.")
    _erase(target, replay, whole_tenant, _Options(**options))


def _target(
    subject: str | None, turn: UUID | None, session: str | None, memory: str | None, shared: bool, whole_tenant: bool
) -> _FindTarget | None:
    """Return the target that is named; None: the whole tenant, or nothing. Raises UsageError if several are named."""
    from reverie.drive.erase.targets import memory_target, session_target, subject_target, turn_target

    named: dict[str, _FindTarget] = {}
    if turn is not None:
        named["--turn"] = lambda _: turn_target(turn)
    if memory is not None:
        named["--memory"] = lambda opened: memory_target(_memory_id(opened, memory), shared=shared)
    if session is not None:
        named["--session"] = lambda _: session_target(subject, session)
    elif subject is not None:
        named["SUBJECT"] = lambda _: subject_target(subject)
    if len(named) + whole_tenant > 1:
        raise click.UsageError(f"Name one thing to erase, not {' and '.join([*named, '--whole-tenant'][:2])}.")
    if shared and memory is None:
        raise click.UsageError("--shared goes with --memory.")
    return next(iter(named.values())) if named else None


def _memory_id(session: CommandSession, memory: str) -> UUID:
    """Return the id of a memory. A whole id is not looked up: an erased memory has only its receipt left."""
    from reverie.recall.inspect import find_memory
    from reverie.store.session import perform

    try:
        return UUID(memory)
    except ValueError:
        return perform(find_memory(session.worker.session(session.tenant_id), memory))


class _Options(NamedTuple):
    """Options that do not depend on the target."""

    yes: bool
    dry_run: bool
    vacuum: bool
    actor: str | None
    tenant: str | None
    as_json: bool


def _erase(find: _FindTarget | None, replay: Path | None, whole_tenant: bool, how: _Options) -> None:
    if not how.yes and how.as_json and not how.dry_run and (find or whole_tenant):
        raise click.UsageError("--json cannot ask for confirmation: give --yes or --dry-run.")
    done: list[Erased] = []
    scrubbed: Scrubbed | None = None
    with CommandSession(how.tenant) as session, ending_cleanly():
        if find or whole_tenant or replay:
            actor = how.actor if how.actor is not None else shell_user()
            eraser = session.runtime.tenant_eraser(session.tenant_id, session.policy, datetime.now(UTC), actor=actor)
            if not (whole_tenant and eraser.has_rows()):
                session.require_tenant()
            target = find(session) if find else None
            if replay is None and (not how.yes or how.dry_run):
                planned = _plan(eraser, target, session)
                if how.dry_run:
                    _show(session.tenant_id, [planned], None, dry_run=True, as_json=how.as_json)
                    return
                _ask(session.tenant_id, target, planned)
            done = list(_carry_out(session, eraser, target, replay))
        if how.vacuum:
            from reverie.store.privacy.scrub import scrub

            scrubbed = scrub(session.url)
    _show(session.tenant_id, done, scrubbed, dry_run=False, as_json=how.as_json)


def _plan(eraser: Eraser, target: Target | None, session: CommandSession) -> Erased:
    """Return what an erasure would erase."""
    if target is not None:
        return eraser.erase(target, preview=True)
    from reverie.drive.erase.erasing import Erased
    from reverie.evaluate.health import measure

    counts = measure(session.worker, session.tenant_id)
    return Erased(receipt=None, counts={"log.turns": int(counts["turns"])}, turns=int(counts["turns"]), left=())


def _ask(tenant_id: str, target: Target | None, planned: Erased) -> None:
    if planned.before is not None:
        return
    _print_counts(planned, err=True)
    what = f"tenant {tenant_id}" if target is None else f"{target.kind} {' '.join(target.names)}"
    click.confirm(f"Erase {what}, {planned.turns:,} turns in all? It cannot be undone.", abort=True, err=True)


def _carry_out(session: CommandSession, eraser: Eraser, target: Target | None, replay: Path | None) -> Iterator[Erased]:
    """Erase, and make memory again for subjects who have anything left in the log."""
    left: list[str] = []
    for erased in _erasures(eraser, target, replay):
        left += erased.left
        yield erased
    if left:
        from reverie.drive.advance import advance
        from reverie.model import Scope

        scope = Scope(tenant_id=session.tenant_id, subjects=tuple(left))
        for _ in advance(session.work(session.time(None), scope)):
            pass


def _erasures(eraser: Eraser, target: Target | None, replay: Path | None) -> Iterator[Erased]:
    if replay is not None:
        from reverie.drive.erase.replaying import read_receipt_file, replay_receipts

        yield from replay_receipts(eraser, read_receipt_file(replay))
    elif target is not None:
        yield eraser.erase(target)
    else:
        yield from eraser.erase_tenant()


def _show(tenant_id: str, done: Sequence[Erased], scrubbed: Scrubbed | None, *, dry_run: bool, as_json: bool) -> None:
    from reverie.drive.erase.erasing import total

    receipts = [each.receipt.number for each in done if each.receipt]
    before = next((each.before.number for each in done if each.before), None)
    if as_json:
        print_json(
            {
                "tenant_id": tenant_id,
                "dry_run": dry_run,
                "turns": sum(each.turns for each in done),
                "counts": total(done),
                "receipts": receipts,
                "erased_before": before,
                "rewritten": scrubbed.tables if scrubbed else [],
                "left_to_do": scrubbed.left if scrubbed else [],
            }
        )
        return
    for each in done:
        if each.before is not None:
            say(f"It was erased on {each.before.erased_at:%Y-%m-%d %H:%M} UTC: receipt {each.before.number}.")
    if any(each.counts for each in done):
        _print_counts(*done)
    for each in done:
        for subject in each.left:
            say(_LEFT.format(subject=subject, is_rebuilt="would be rebuilt" if dry_run else "was rebuilt"))
    if receipts:
        say(f"Receipt {', '.join(map(str, receipts))}: reverie receipts --tenant {tenant_id}.")
    if dry_run:
        say("Nothing was erased.")
    if scrubbed:
        say(f"Rewrote {len(scrubbed.tables):,} tables. {' '.join(scrubbed.done)}")
        for left in scrubbed.left:
            note(f"Left to do: {left}")


def _print_counts(*erased: Erased, err: bool = False) -> None:
    from reverie.drive.erase.erasing import total

    rows = list(total(erased).items())
    if err:
        for name, number in rows:
            note(f"{number:>10,}  {name}")
    else:
        table(("rows", "table"), [(number, name) for name, number in rows], right=("rows",))
