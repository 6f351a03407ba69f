"""A process that takes in turns and flushes them, to be killed at any moment; it notes what it acknowledged."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NoReturn

from reverie.capture.live.acknowledge import Acknowledged, TurnBatch, TurnReaders, append_turns
from reverie.drive.flush import flush_due
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.session import TenantSession, perform
from reverie.store.session.blocking import BlockingSession
from tests.promises.killing import Moments

TENANT = "acme"
AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
#: Turns between two flushes.
FLUSH_EVERY = 4
#: Turns of a session.
SESSION = 30


#: Read once and inherited by every process that is forked: a fresh one would spend its short life on the rules.
POLICY = load_policy("reverie")


def words(text: str) -> int:
    """Words of a text."""
    return len(text.split())


def place(number: int) -> str:
    """The session that a turn belongs to."""
    return f"s{number // SESSION}"


def said(number: int) -> str:
    """What the turn of a number says: a statement, so that it becomes a memory."""
    return f"My email is bruno{number}@example.com."


def take_in(session: TenantSession, subject: str, number: int) -> Acknowledged:
    """Take in the turn of a number."""
    appended = append_turns(
        session,
        TurnBatch(
            records=[{"role": "user", "text": said(number), "source_id": str(number)}],
            subject_id=subject,
            session_id=place(number),
        ),
        policy=POLICY,
        as_of=AT + timedelta(minutes=number),
        readers=TurnReaders(count_tokens=words),
    )
    return perform(appended)


class NoDatabaseError(Exception):
    """The rules have run, and there is nowhere to put the turn."""


def no_database(tenant_id: str) -> NoReturn:
    """Stand in for a connection."""
    raise NoDatabaseError


with suppress(NoDatabaseError):
    take_in(BlockingSession(TENANT, no_database), "nobody", 0)


def talk(url: str, subject: str, notes: Path, until: int | None = None, kill_at: int | None = None) -> None:
    """Send turn after turn from where the notes end, as a client does: one that was not acknowledged again.

    Without `until` it goes on until it is killed, or kills itself at a moment.
    """
    if kill_at is not None:
        Moments(kill_at=kill_at).watch()
    noted = os.open(notes, os.O_CREAT | os.O_RDWR | os.O_APPEND)
    number = len(os.pread(noted, 1 << 20, 0).splitlines())
    with Store.open(url, size=2) as store:
        while until is None or number < until:
            told = take_in(store.session(TENANT), subject, number)
            os.write(noted, f"{told.turns[0].turn_id}\n".encode())
            number += 1
            if number % FLUSH_EVERY == 0:
                flush(store, number)
    os.close(noted)


def flush(store: Store, number: int) -> None:
    """Flush whatever has been quiet for ten turns' time."""
    later = AT + timedelta(minutes=number + 10)
    for _ in flush_due(store, policy_of=lambda tenant: POLICY, as_of=later, count_tokens=words):
        pass
