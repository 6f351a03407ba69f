"""Records are sorted by type, and secrets are taken out of turns where that is asked."""

from __future__ import annotations

from datetime import UTC, datetime

from reverie.capture.history.records import Record
from reverie.capture.history.sorting import SortedRecords, sort_records
from reverie.capture.validation import Validator

PLACE = {"subject_id": "ana", "session_id": "s", "source_id": "1"}
TURN = PLACE | {"role": "user", "said_at": "2026-01-05T09:00:00Z", "text": "The PIN of my card is 4821"}
OUTCOME = PLACE | {
    "type": "outcome",
    "metric": "views",
    "value": 3,
    "positive": True,
    "observed_at": "2026-01-06T09:00:00Z",
}


def test_turns_outcomes_and_what_is_neither() -> None:
    records = [Record(line, fields) for line, fields in enumerate((TURN, OUTCOME, {"role": "user"}), 1)]
    kept, clean = (
        sort_records(Validator(tenant_id="t", not_after=datetime(2027, 1, 1, tzinfo=UTC)), records, redact=redact)
        for redact in (False, True)
    )
    assert [len(each) for each in (kept.turns, kept.outcomes, kept.rejected)] == [1, 1, 1]
    assert kept.turns[0].text == TURN["text"] and kept.redacted == 0
    assert clean.turns[0].text == "The PIN of my card is [redacted]" and clean.redacted == 1
    both = SortedRecords()
    both.extend(kept)
    both.extend(clean)
    assert len(both.turns) == 2 and both.redacted == 1
