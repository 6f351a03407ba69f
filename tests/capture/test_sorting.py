"""Records are sorted by type; a statement has a session only if it names one."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.capture.history.records import Record
from reverie.capture.history.sorting import SortedRecords, conflict_detail, sort_records, with_place
from reverie.capture.validation import Rejection, Validator
from tests.capture.conftest import NOW, TENANT, record

STATED = {
    "type": "statement",
    "subject_id": "ann",
    "text": "Has a cat.",
    "observed_at": "2026-03-01T00:00:00Z",
    "ends_at": "2027-01-01T00:00:00Z",
}


def test_sorted_by_type() -> None:
    validator = Validator(tenant_id=TENANT, not_after=NOW)
    records = [Record(1, record()), Record(2, STATED), Record(3, {})]
    found = sort_records(validator, records, redact=False)
    (statement,) = found.statements
    assert (len(found.turns), [each.line for each in found.statement_records], len(found.rejected)) == (1, [2], 1)
    assert statement.session_id is None and len(statement.source_id) == 32 and statement.kind == "fact"
    assert "statement" in conflict_detail(statement)
    assert with_place(Record(1, {}, place="item 1"), "No.") == "item 1: No."


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"kind": "dream"}, "wrong_type"),
        ({"text": " "}, "empty_text"),
        ({"observed_at": "2027-01-01T00:00:00Z"}, "future_time"),
        ({"observed_at": None}, "missing_field"),
        ({"ends_at": "never"}, "impossible_time"),
        ({"subject_id": ""}, "missing_field"),
    ],
)
def test_refused(changes: dict[str, Any], reason: str) -> None:
    found = Validator(tenant_id=TENANT, not_after=NOW)(STATED | changes)
    assert isinstance(found, Rejection) and found.reason == reason


def test_secrets_are_taken_out_where_that_is_asked() -> None:
    told = "The PIN of my card is 4821"
    records = [Record(1, record(text=told)), Record(2, STATED | {"text": told, "metadata": {"note": told}})]
    kept, clean = (
        sort_records(Validator(tenant_id=TENANT, not_after=NOW), records, redact=redact) for redact in (False, True)
    )
    assert kept.turns[0].text == told and kept.redacted == 0
    for text in (clean.turns[0].text, clean.statements[0].text):
        assert text == "The PIN of my card is [redacted]"
    assert "4821" not in str(clean.statements[0].metadata) and clean.redacted == 2
    assert clean.statements[0].source_id != kept.statements[0].source_id
    both = SortedRecords()
    both.extend(kept)
    both.extend(clean)
    assert len(both.turns) == 2 and both.redacted == 2
