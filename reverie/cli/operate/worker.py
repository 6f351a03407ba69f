"""`reverie worker`: the deferred tier without an orchestrator, as long as the process runs."""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING

import click

from reverie.cli.options import json_option
from reverie.cli.output import note, print_json, say
from reverie.cli.session import Session
from reverie.cli.signals import ending_cleanly
from reverie.errors import ReverieError, StageError
from reverie.interruption import Interrupted

if TYPE_CHECKING:
    from reverie.drive.drain import Drained

#: Longest pause, in seconds, after rounds that failed; each is twice as long as the one before.
_LONGEST_PAUSE = 60.0


@click.command("worker", short_help="Work in what waits, as it comes: the deferred tier.")
@click.option("--once", is_flag=True, help="What is due now, and end.")
@click.option(
    "--poll", default=5.0, show_default=True, type=click.FloatRange(0.1, 3600), metavar="SECONDS", help="Look so often."
)
@json_option
def command(once: bool, poll: float, as_json: bool) -> None:
    """Move sessions that went quiet from working memory to the log, and make memory of what waits in the queue, of
    one tenant after the other. Any number of workers may run, beside an orchestrator or without one.

    A line is printed for each round in which something was done. SIGTERM and Ctrl-C end it within seconds: what
    is done of the batch in hand stays, and the rest is given back. A worker that is killed loses nothing, and another
    takes its batch when the lease has run out.

    \b
    Examples:
      reverie worker
      reverie worker --once --json
      reverie worker --poll 30
    """
    pause, ended = poll, Event()
    with Session() as session, ending_cleanly(ended.set):
        session.worker.tenants()  # a database that cannot be used ends it now; one that goes away later is waited for
        while True:
            try:
                _round(session, ended, as_json, once)
                pause = poll
            except Interrupted:  # the batch in hand was given back
                return
            except ReverieError as error:
                if once:
                    raise
                note(f"Error: {error}")
                pause = min(2 * pause, max(_LONGEST_PAUSE, poll))
            if once or ended.wait(pause):
                return


def _round(session: Session, ended: Event, as_json: bool, once: bool) -> None:
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
        except StageError as error:  # some sessions: no reason to leave the queue
            unflushed = error
        drainer = Drainer(
            store=store,
            embedder=embedder,
            language_model=session.language_model,
            clock=lambda: datetime.now(UTC),
        )
        drained = drainer.drain(stop=ended.is_set)
    if once or flushed or drained.tenants:
        _tell(flushed, drained, as_json)
    if unflushed:
        raise unflushed
    if once and drained.counts()["failed"]:
        raise StageError(f"{drained.counts()['failed']:,} sessions failed and are tried again; the others are done.")


def _tell(flushed: int, drained: Drained, as_json: bool) -> None:
    counts = drained.counts()
    if as_json:
        print_json({"at": datetime.now(UTC), "flushed": flushed} | counts | {"reasons": drained.reasons})
        return
    line = f"{datetime.now(UTC):%H:%M:%S}  {flushed:,} sessions to the log, {counts['sessions']:,} worked in"
    line += f" ({counts['subjects']:,} subjects of {counts['tenants']:,} tenants, {counts['seconds']:.1f} s)"
    for name, meaning in (("kept", "go on"), ("failed", "failed"), ("dead", "became dead letters")):
        if counts[name]:
            line += f", {counts[name]:,} {meaning}"
    say(line)
    for tenant_id, reason in drained.reasons.items():
        note(f"tenant {tenant_id}: {reason}")
