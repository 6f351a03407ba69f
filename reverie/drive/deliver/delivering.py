"""Fills the outbox of a tenant, sends due messages at least once, with growing pauses, and records the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from psycopg import Connection

from reverie.drive.deliver.sending import OutgoingMessage, Send, send_by_http
from reverie.store.database import Store
from reverie.store.queries import queries

#: Pauses after each failed attempt, as Standard Webhooks recommends; after the last, a message is a dead letter.
PAUSES = tuple(timedelta(seconds=seconds) for seconds in (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400))
#: Time for which a sender holds its messages, and their number.
_LEASE, _BATCH = timedelta(minutes=10), 20
#: Time after which all memories are compared with what was announced, and most time from a run's record to its commit.
_COMPARED, _LAG = timedelta(hours=1), timedelta(minutes=1)
#: Retention of delivered messages.
_KEPT = timedelta(days=30)
_GONE = 410


def deliver(
    store: Store,
    tenant_id: str,
    *,
    as_of: datetime,
    clock: Callable[[], datetime],
    send: Send = send_by_http,
) -> dict[str, int]:
    """Deliver to the webhooks of a tenant; return counts of `filled`, `delivered`, `failed` and `dead`.

    `as_of` is the logical time at which triggers are due; `clock` times the attempts. Several processes may deliver at
    once. No transaction is open while a request is sent. A message that fails is not tried again by the same call.
    """
    counts: Counter[str] = Counter(filled=0, delivered=0, failed=0, dead=0)
    began = clock()
    counts["filled"] = fill_outbox(store, tenant_id, as_of=as_of, now=began)
    # by the start of the call: a long one would try its first failures again and again, while other messages wait
    while batch := _claim(store, tenant_id, due=began, now=clock()):
        settled = []
        try:
            for message in batch:
                at = clock()
                settled.append((message, send(message, at), at))
        finally:  # what was accepted is not sent again, whatever stopped the others
            counts.update(_settle(store, tenant_id, settled, clock()))
    return dict(counts)


def fill_outbox(store: Store, tenant_id: str, *, as_of: datetime, now: datetime) -> int:
    """Write messages for due triggers and new changes, in one transaction; return how many."""
    sql = queries("deliver")
    params = {"tenant": tenant_id, "as_of": as_of, "now": now, "before": now - _KEPT}
    with store.transaction(tenant_id) as conn:
        (events,) = conn.execute(sql["listens"], params).fetchone() or ([],)
        conn.execute(sql["withdraw_triggers"], params)
        filled = 0
        if "trigger.due" in events:
            filled += conn.execute(sql["fill_triggers"], params).rowcount
        if any(name.startswith("memory.") for name in events):
            filled += _fill_memories(conn, params)
        conn.execute(sql["drop_delivered"], params)
    return filled


def _fill_memories(conn: Connection[Any], params: dict[str, Any]) -> int:
    """Write messages for changed memories, reading those of the subjects that runs named since; return how many."""
    sql = queries("deliver")
    limits = params | {"every": _COMPARED, "lag": _LAG}
    subjects, at = conn.execute(sql["changed_subjects"], limits).fetchone() or (None, None)
    if subjects == []:
        return 0
    filled = conn.execute(sql["fill_memories"], params | {"subjects": subjects}).rowcount
    if subjects is None:
        conn.execute(sql["note_comparison"], params | {"at": at})
    return filled


def _claim(store: Store, tenant_id: str, *, due: datetime, now: datetime) -> list[OutgoingMessage]:
    params = {"tenant": tenant_id, "due": due, "now": now, "until": now + _LEASE, "limit": _BATCH}
    with store.transaction(tenant_id) as conn:
        rows = conn.execute(queries("deliver")["claim_messages"], params).fetchall()
    return [
        OutgoingMessage(id=id_, subscription_id=of, url=url, secret=secret, payload=payload, attempts=attempts)
        for id_, of, url, secret, payload, attempts, _ in sorted(rows, key=lambda row: (row[6], row[0]))
    ]


def _settle(
    store: Store, tenant_id: str, answers: Sequence[tuple[OutgoingMessage, int | str, datetime]], now: datetime
) -> Counter[str]:
    """Record the results of messages: 2xx accepts one, 410 ends the webhook, everything else is tried again."""
    counts: Counter[str] = Counter()
    columns: dict[str, list[Any]] = {"ids": [], "statuses": [], "due_at": [], "errors": []}
    gone = []
    for message, answer, at in answers:
        accepted = isinstance(answer, int) and 200 <= answer < 300
        spent = answer == _GONE or message.attempts > len(PAUSES)
        if answer == _GONE:
            gone.append(message.subscription_id)
        status = "delivered" if accepted else "dead" if spent else "waiting"
        counts["delivered" if accepted else "dead" if spent else "failed"] += 1
        columns["ids"].append(message.id)
        columns["statuses"].append(status)
        columns["due_at"].append(at + PAUSES[message.attempts - 1] if status == "waiting" else None)
        columns["errors"].append(None if accepted else str(answer))
    with store.transaction(tenant_id) as conn:
        conn.execute(queries("deliver")["settle_messages"], {"tenant": tenant_id, "now": now} | columns)
        if gone:
            conn.execute(queries("deliver")["end_gone"], {"tenant": tenant_id, "now": now, "ids": gone})
    return counts
