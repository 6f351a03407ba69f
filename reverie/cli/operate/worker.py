"""`reverie worker`: run the deferred tier without an orchestrator."""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING

import click

from reverie.cli.options import json_option
from reverie.cli.output import note, print_json, say
from reverie.cli.session import CommandSession
from reverie.cli.signals import ending_cleanly
from reverie.errors import ReverieError, StageError
from reverie.interruption import Interrupted

if TYPE_CHECKING:
    from reverie.drive.drain import Drained

#: Longest pause in seconds after failed rounds. The pause doubles with each failure.
_LONGEST_PAUSE = 60.0


@click.command("worker", short_help="Drain the queue continuously.")
@click.option("--once", is_flag=True, help="Process what is due now, then exit.")
@click.option(
    "--poll",
    default=5.0,
    show_default=True,
    type=click.FloatRange(0.1, 3600),
    metavar="SECONDS",
    help="Polling interval.",
)
@json_option
def command(once: bool, poll: float, as_json: bool) -> None:
    """Flush quiet sessions from working memory to the log, and consolidate the sessions in the queue, tenant by tenant.
    Any number of workers may run, with or without an orchestrator.

    A line is printed for each round that did something. SIGTERM and Ctrl-C stop the worker within seconds: completed
    work of the current batch stays, and the rest returns to the queue. A worker that is killed loses nothing; another
    one takes its batch when the lease expires.

    \b
    Examples:
      reverie worker
      reverie worker --once --json
      reverie worker --poll 30
    """
    pause, ended = poll, Event()
    with CommandSession() as session, ending_cleanly(ended.set):
        session.worker.tenants()  # fails now if the database cannot be used; later outages are waited for
        while True:
            try:
                _round(session, ended, as_json, once)
                pause = poll
            except Interrupted:  # the current batch has been returned to the queue
                return
            except ReverieError as error:
                if once:
                    raise
                note(f"Error: {error}")
                pause = min(2 * pause, max(_LONGEST_PAUSE, poll))
            if once or ended.wait(pause):
                return


def _round(session: CommandSession, ended: Event, as_json: bool, once: bool) -> None:
    from reverie.drive.drain import Drainer
    from reverie.drive.flush import flush_due
    from reverie.drive.tenants import policies
    from reverie.store.connect import database_errors

    with database_errors():
        store, embedder = session.worker, session.embedder
        flushed, unflushed = 0, None
        try:
            for report in flush_due(
                store, policy_of=policies(store), as_of=datetime.now(UTC), count_tokens=embedder.count_tokens
            ):
                flushed += int(report["sessions"])
        except StageError as error:  # some sessions failed, but the queue can still be drained
            unflushed = error
        drainer = Drainer(
            store=store,
            embedder=embedder,
            language_model=session.language_model,
            clock=lambda: datetime.now(UTC),
        )
        drained = drainer.drain(stop=ended.is_set)
    if once or flushed or drained.tenants:
        _print_round(flushed, drained, as_json)
    if unflushed:
        raise unflushed
    if once and drained.counts()["failed"]:
        raise StageError(
            f"{drained.counts()['failed']:,} sessions failed and will be retried; the others are complete."
        )


def _print_round(flushed: int, drained: Drained, as_json: bool) -> None:
    counts = drained.counts()
    if as_json:
        print_json({"at": datetime.now(UTC), "flushed": flushed} | counts | {"reasons": drained.reasons})
        return
    line = f"{datetime.now(UTC):%H:%M:%S}  {flushed:,} sessions flushed, {counts['sessions']:,} consolidated"
    line += f" ({counts['subjects']:,} subjects of {counts['tenants']:,} tenants, {counts['seconds']:.1f} s)"
    for name, meaning in (("kept", "still open"), ("failed", "failed"), ("dead", "became dead letters")):
        if counts[name]:
            line += f", {counts[name]:,} {meaning}"
    say(line)
    for tenant_id, reason in drained.reasons.items():
        note(f"tenant {tenant_id}: {reason}")
