"""`reverie events`: list the life events of a subject, or write them as a calendar."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import click

from reverie.cli.options import as_of_option, json_option, tenant_option
from reverie.cli.output import print_json, say, table
from reverie.cli.session import CommandSession
from reverie.errors import InputError

if TYPE_CHECKING:
    from reverie.recall.signals.life_events import DatedEvent


@click.command("events", short_help="List life events and dates, or write them as a calendar.")
@click.argument("subject")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), metavar="DAY", help="Only events on this day or later.")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), metavar="DAY", help="Only events on this day or earlier.")
@click.option("--upcoming", is_flag=True, help="Only events that are not over.")
@click.option("--all", "every", is_flag=True, help="Also events that were called off.")
@click.option("--ics", "path", type=click.Path(path_type=Path, dir_okay=False), help="Write a calendar to this file.")
@tenant_option
@as_of_option("List events as they stood at this time.")
@json_option
def command(
    subject: str,
    since: datetime | None,
    until: datetime | None,
    upcoming: bool,
    every: bool,
    path: Path | None,
    tenant: str | None,
    as_of: datetime | None,
    as_json: bool,
) -> None:
    """List what happened to SUBJECT or will happen, by day.

    \b
    Examples:
      reverie events ana --upcoming
      reverie events ana --since 2026-03-01 --until 2026-03-31 --all
      reverie events ana --ics ana.ics
    """
    from reverie.recall.inspect import count_subject
    from reverie.recall.signals.calendar import as_calendar
    from reverie.recall.signals.life_events import EventWindow, list_life_events
    from reverie.store.session import perform

    with CommandSession(tenant) as session:
        session.require_tenant()
        at = session.time(as_of)
        reader = session.primary_reader.session(session.tenant_id)
        window = EventWindow(
            since=since.date() if since else None,
            until=until.date() if until else None,
            upcoming=upcoming,
            every=every or path is not None,
        )
        found = perform(list_life_events(reader, subject_id=subject, as_of=at, window=window))
        if not found and not session.knows_subject(subject):
            perform(count_subject(reader, subject))  # raises an error if nothing is known of the subject
    if path is not None:
        _write(path, as_calendar(found, name=subject, as_of=at))
    if as_json:
        print_json({"tenant_id": session.tenant_id, "life_events": found} | ({"file": str(path)} if path else {}))
    elif path is not None:
        say(f"Wrote {len(found):,} events to {path}.")
    elif found:
        _print(found, at)
    else:
        say("There are no events.")


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error


def _print(events: Sequence[DatedEvent], as_of: datetime) -> None:
    rows = [
        (
            _when(one, as_of.astimezone(ZoneInfo(one.zone)).date()),
            one.owned_title,
            one.speaker,
            one.status,
            f"{one.precision}, {one.certainty}",
            str(one.turn_id),
        )
        for one in events
    ]
    table(("when", "event", "told by", "status", "day known", "turn"), rows, ids=("turn",))


def _when(event: DatedEvent, today: date) -> str:
    from reverie.language.life_events.days import days_in_words

    return days_in_words(event.first_on, event.last_on, event.precision, today, clock=event.clock, yearly=event.yearly)
