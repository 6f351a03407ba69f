"""Dead letters tried again, for instance with a time zone or a mapping that the first import lacked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from psycopg import Connection

from reverie.capture.append import insert_outcomes, insert_turns, policy_of
from reverie.capture.history.field_names import SAMPLE
from reverie.capture.history.importing import CLOCK_SKEW, Rules, Sorted, conflict_detail, sort_records
from reverie.capture.history.records import Record, parse_json
from reverie.capture.times import parse_timezone
from reverie.capture.validation import Validator
from reverie.store.database import Store
from reverie.store.dead_letters import (
    DeadLetter,
    LetterFilter,
    claim_dead_letters,
    count_attempts,
    delete_dead_letters,
)
from reverie.store.failures import release_failures
from reverie.store.queue import requeue
from reverie.store.tenants import ensure_tenant

#: Letters of one transaction; each may have 64 KiB.
_BATCH = 500


@dataclass(kw_only=True, slots=True)
class RedriveSummary:
    """What became of the letters tried: `tried = imported + repeated + outcomes + dead`."""

    tried: int = 0
    imported: int = 0
    repeated: int = 0
    outcomes: int = 0
    #: Sessions that could not be worked in and wait in the queue again; not among those tried.
    requeued: int = 0
    #: Items and subjects that a stage failed on and that the next run tries again; not among those tried.
    released: int = 0
    #: Those that failed again, by reason; they stay.
    dead_by_reason: Counter[str] = field(default_factory=Counter)

    @property
    def dead(self) -> int:
        """Letters that failed again."""
        return self.dead_by_reason.total()


def redrive_dead_letters(
    store: Store,
    *,
    tenant_id: str,
    where: LetterFilter | None = None,
    mapping: Mapping[str, str] | None = None,
    timezone: str | None = None,
    policy: str = "reverie",
    now: datetime | None = None,
    subject: str | None = None,
) -> RedriveSummary:
    """Validate and append the letters of which the whole record is kept; those that go in are deleted.

    The others count one more attempt and stay, under the reason of this one. Sessions that could not be worked in
    wait in the queue again, and the next run tries again what a stage failed on. Arguments as of `import_file`.

    Raises InputError: `mapping` or `timezone` is unknown.
    """
    rules = Rules(
        tenant_id=tenant_id,
        not_after=(now or datetime.now(UTC)) + CLOCK_SKEW,
        turn_characters=policy_of(store, tenant_id, policy).extract.turn_characters,
        mapping=mapping or {},
        timezone=parse_timezone(timezone) if timezone else None,
        subject=subject,
    )
    validators = _Validators(rules)
    summary, after = RedriveSummary(), None
    while True:
        with store.transaction(tenant_id) as conn:
            letters = claim_dead_letters(conn, tenant_id, where=where, after=after, limit=_BATCH)
            if letters:
                ensure_tenant(conn, tenant_id, policy)
                _try(conn, validators, letters, summary)
        if not letters:
            break
        after = letters[-1]
    with store.transaction(tenant_id) as conn:
        summary.requeued = requeue(conn, tenant_id, where=where, at=now or datetime.now(UTC))
        summary.released = release_failures(conn, tenant_id, where=where)
    return summary


class _Validators:
    """A validator a file, each by the first letters of its file, as an import has one by its first records."""

    def __init__(self, rules: Rules) -> None:
        self.tenant_id = rules.tenant_id
        self._rules = rules
        self._of: dict[str, Validator] = {}
        rules.validator([])

    def sort(self, records: list[tuple[str, Record]]) -> Sorted:
        """Validate the records, each with the name of its file, and sort them by what they are."""
        by_source: dict[str, list[Record]] = {}
        for source, record in records:
            by_source.setdefault(source, []).append(record)
        found = Sorted()
        for source, own in by_source.items():
            if source not in self._of:
                self._of[source], _ = self._rules.validator([record.fields for record in own[:SAMPLE]])
            found.extend(sort_records(self._of[source], own))
        return found


def _try(conn: Connection[Any], validators: _Validators, letters: list[DeadLetter], summary: RedriveSummary) -> None:
    failed: dict[int, tuple[str, str]] = {}  # position among the letters -> reason and detail
    records = []
    for place, letter in enumerate(letters):
        try:
            records.append((letter.source, Record(place, parse_json(letter.payload or b""))))
        except ValueError as error:
            failed[place] = (str(error.args[0]), str(error.args[1]))
    found = validators.sort(records)
    failed |= {record.line: (why.reason, why.detail) for record, why in found.rejected}
    turns = insert_turns(conn, validators.tenant_id, found.turns)
    outcomes = insert_outcomes(conn, validators.tenant_id, found.outcomes)
    for place in turns.conflicts:
        failed[found.turn_records[place].line] = ("conflict", conflict_detail(found.turns[place]))
    for place in outcomes.conflicts:
        failed[found.outcome_records[place].line] = ("conflict", conflict_detail(found.outcomes[place]))
    done = [letter.id for place, letter in enumerate(letters) if place not in failed]
    delete_dead_letters(conn, validators.tenant_id, done)
    again = [replace(letters[place], reason=reason, detail=detail) for place, (reason, detail) in failed.items()]
    count_attempts(conn, validators.tenant_id, again)
    summary.tried += len(letters)
    summary.imported += turns.added
    summary.outcomes += outcomes.added
    summary.repeated += turns.repeated + outcomes.repeated
    summary.dead_by_reason.update(letter.reason for letter in again)
