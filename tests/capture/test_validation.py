"""Each rule of docs/importing.md, by what is accepted and what is refused."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.capture.times import TimeForm, parse_event_time
from reverie.capture.validation import MAX_TEXT, Rejection, Validator
from reverie.errors import InputError
from reverie.model import Outcome, ToolCall, Turn
from tests.capture.conftest import NOW, TENANT, record

OUTCOME = {
    "type": "outcome",
    "subject_id": "ann",
    "session_id": "monday",
    "source_id": "t1",
    "metric": "views",
    "value": 120,
    "positive": True,
    "observed_at": "2026-03-08T00:00:00Z",
}


def validator(**options: Any) -> Validator:
    return Validator(tenant_id=TENANT, not_after=NOW, **options)


def turn(fields: dict[str, Any], **options: Any) -> Turn:
    found = validator(**options)(fields)
    assert isinstance(found, Turn), found
    return found


def rejection(fields: dict[str, Any], **options: Any) -> Rejection:
    found = validator(**options)(fields)
    assert isinstance(found, Rejection), found
    return found


def test_a_whole_record() -> None:
    found = turn(
        record(
            speaker="Ann",
            turn_index=3,
            tool_calls=[{"name": "search", "arguments": {"q": "coffee"}, "why": "asked", "result": "3 shops"}],
            metadata={"channel": "web"},
        )
    )
    assert found.said_at == datetime(2026, 3, 1, 8, tzinfo=UTC)
    assert found.tool_calls == (ToolCall(name="search", arguments={"q": "coffee"}, why="asked", result="3 shops"),)
    assert (found.tenant_id, found.speaker, found.turn_index, found.metadata) == (TENANT, "Ann", 3, {"channel": "web"})


@pytest.mark.parametrize(
    ("fields", "reason", "names"),
    [
        (record(subject_id=...), "missing_field", "subject_id is missing"),
        (record(session_id=None), "missing_field", "session_id is null"),
        (record(role=...), "missing_field", "role is missing"),
        (record(said_at=""), "missing_field", "said_at is empty"),
        (record(text=...), "missing_field", "text is missing"),
        (record(subject_id=["ann"]), "wrong_type", "subject_id is a list"),
        (record(session_id=True), "wrong_type", "session_id is a truth value"),
        (record(source_id=1.5), "wrong_type", "source_id is a number"),
        (record(text=12), "wrong_type", "text is a number"),
        (record(role=7), "unknown_role", "role is a number"),
        (record(said_at={}), "wrong_type", "said_at is an object"),
        (record(speaker=["Ann"]), "wrong_type", "speaker"),
        (record(turn_index=-1), "wrong_type", "turn_index is a number"),
        (record(turn_index="first"), "wrong_type", "turn_index is a text of 5 characters"),
        (record(tool_calls="search"), "wrong_type", "tool_calls"),
        (record(tool_calls=[{"arguments": {}}]), "wrong_type", "tool_calls"),
        (record(tool_calls=[{"name": "a", "why": 3}]), "wrong_type", "tool_calls"),
        (record(metadata=["web"]), "wrong_type", "metadata"),
        (record(role="narrator"), "unknown_role", "role is a text of 8 characters; expected one of user, assistant"),
        (record(type="event"), "unknown_type", "type is a text of 5 characters"),
        (record(type=7), "unknown_type", "type is a number"),
        (record(said_at="2026-02-30T10:00:00Z"), "impossible_time", "said_at is a text of 20"),
        (record(said_at="yesterday"), "impossible_time", "said_at is a text of 9"),
        (record(said_at="1850-01-01T00:00:00Z"), "impossible_time", "a time since 1970"),
        (record(said_at=-5), "impossible_time", "said_at is a number"),
        (record(said_at=1e300), "impossible_time", "said_at is a number"),
        (record(said_at="0001-01-01T00:00:00+14:00"), "impossible_time", "said_at is a text"),
        (record(said_at="2026-03-01T09:30:00"), "naive_time", "--timezone"),
        (record(said_at="2026-03-01"), "naive_time", "--timezone"),
        (record(said_at="2031-01-01T00:00:00Z"), "future_time", "said_at is in the future"),
        (record(text=""), "empty_text", "text is blank"),
        (record(text=" \n\t"), "empty_text", "text"),
        (record(text="\0"), "empty_text", "text"),
        (record(text="x" * (MAX_TEXT + 1)), "too_long", "1,048,577 bytes"),
        (record(text="é" * (MAX_TEXT // 2 + 1)), "too_long", "1,048,578 bytes"),
        (record(metadata={"a": "x" * MAX_TEXT}), "too_long", "metadata"),
        (record(subject_id="s" * 201), "too_long", "subject_id is 201 characters"),
        (record(speaker="s" * 201), "too_long", "speaker"),
        (record(session_id="a\0b"), "invalid_id", "session_id"),
        (record(session_id="a\x1fb"), "invalid_id", "session_id"),
        (record(source_id="\ud800"), "invalid_id", "source_id"),
        (record(tenant_id="globex"), "other_tenant", "tenant_id"),
        (OUTCOME | {"value": "many"}, "wrong_type", "value is a text of 4 characters"),
        (OUTCOME | {"value": float("nan")}, "wrong_type", "finite"),
        (OUTCOME | {"positive": "maybe"}, "wrong_type", "positive"),
        (OUTCOME | {"positive": None}, "missing_field", "positive"),
        (OUTCOME | {"source_id": ""}, "missing_field", "source_id"),
        (OUTCOME | {"observed_at": "2026-03-08"}, "naive_time", "observed_at"),
    ],
)
def test_refused(fields: dict[str, Any], reason: str, names: str) -> None:
    found = rejection(fields)
    assert found.reason == reason
    assert names in found.detail
    assert found.keep is (reason != "other_tenant")
    assert "globex" not in found.detail


WORDS = "my password is hunter2"


@pytest.mark.parametrize(
    "fields",
    [
        *(record(**{name: WORDS}) for name in ("type", "role", "said_at", "turn_index", "tool_calls", "metadata")),
        *(
            record(**{name: {WORDS: WORDS}})
            for name in ("subject_id", "source_id", "role", "said_at", "text", "speaker")
        ),
        *(record(**{name: WORDS * 10 + "\0"}) for name in ("subject_id", "session_id", "source_id", "speaker")),
        record(session_id=f"{WORDS}\x1b"),
        *(OUTCOME | {name: WORDS} for name in ("value", "positive", "observed_at")),
    ],
)
def test_a_detail_quotes_nothing(fields: dict[str, Any]) -> None:
    assert "hunter" not in rejection(fields).detail


@pytest.mark.parametrize(
    "said_at",
    [
        "2026-03-01T08:30:00Z",
        "2026-03-01 09:30:00+01:00",
        "20260301T083000Z",
        1772353800,
        1772353800.0,
        1772353800000,
        "1772353800",
        "1772353800000",
        datetime(2026, 3, 1, 8, 30, tzinfo=UTC),
    ],
)
def test_times_of_many_kinds(said_at: object) -> None:
    assert turn(record(said_at=said_at)).said_at == datetime(2026, 3, 1, 8, 30, tzinfo=UTC)


@pytest.mark.parametrize("number", ["1725123112345", "1701011200000", "1754072590337", "1701011200000.5"])
def test_milliseconds_that_could_be_read_as_a_date(number: str) -> None:
    """As ISO 8601, the first would be the last quarter of an hour of 1725."""
    utc = datetime.fromtimestamp(float(number) / 1000, UTC)
    assert parse_event_time(number, None) == parse_event_time(number, ZoneInfo("Europe/Berlin")) == utc


@pytest.mark.parametrize(
    ("said_at", "utc"),
    [
        ("2026-03-01T09:30:00", datetime(2026, 3, 1, 8, 30, tzinfo=UTC)),
        (datetime(2026, 3, 1, 9, 30), datetime(2026, 3, 1, 8, 30, tzinfo=UTC)),  # noqa: DTZ001
        ("20260301", datetime(2026, 2, 28, 23, tzinfo=UTC)),
        (date(2026, 3, 1), datetime(2026, 2, 28, 23, tzinfo=UTC)),
        ("2025-10-26T02:30:00", datetime(2025, 10, 26, 0, 30, tzinfo=UTC)),  # twice that night: the first
        ("2026-03-01T09:30:00+09:00", datetime(2026, 3, 1, 0, 30, tzinfo=UTC)),  # its own offset wins
    ],
)
def test_naive_times_where_the_zone_is_given(said_at: object, utc: datetime) -> None:
    assert turn(record(said_at=said_at), times=TimeForm(ZoneInfo("Europe/Berlin"))).said_at == utc


@pytest.mark.parametrize(
    ("said", "role"), [("human", "user"), ("AI", "assistant"), (" Bot ", "assistant"), ("function", "tool")]
)
def test_roles_by_other_names(said: str, role: str) -> None:
    assert turn(record(role=said)).role == role


@pytest.mark.parametrize(("code", "written"), [(1, "1"), (-2, "-2"), (True, "true"), (False, "false")])
def test_codes_that_are_no_texts(code: Any, written: str) -> None:
    """A CSV file has them as texts, and one mapping holds for all formats."""
    mapping = {f"role:{written}": "assistant", f"type:{written}": "turn"}
    for value in (code, written):
        assert turn(record(role=value, type=value), mapping=mapping).role == "assistant"
        check = validator()
        assert isinstance(check(record(role=value)), Rejection)
        assert check.unknown_values["unknown_role"] == {written: 1}


def test_what_postgres_cannot_hold_is_mended_and_counted() -> None:
    check = validator()
    found = check(record(text="a\0b \ud83d", metadata={"k\0": ["\0", "\udc00"]}))
    assert isinstance(found, Turn)
    assert (found.text, found.metadata) == ("ab \ufffd", {"k": ["", "\ufffd"]})
    joined = check(record(text="\ud83d\ude00 café"))
    assert isinstance(joined, Turn)
    assert joined.text == "\U0001f600 café"
    assert check.mended == 3
    assert turn(record(metadata={"a": "\\u0000"})).metadata == {"a": "\\u0000"}


def test_tool_calls_may_stand_without_text_and_in_other_dress() -> None:
    call = {"name": "search", "arguments": '{"q": 1}'}
    assert turn(record(text=..., tool_calls=[call])).text == ""
    assert turn(record(text="", tool_calls=[call])).tool_calls[0].arguments == {"q": 1}
    assert turn(record(tool_calls='[{"name": "search"}]')).tool_calls == (ToolCall(name="search"),)


def test_numbers_as_ids() -> None:
    assert turn(record(subject_id=42)).subject_id == "42"


def test_a_source_id_is_made_of_content_and_time() -> None:
    first, again, later = (
        turn(record(source_id=missing, said_at=f"2026-03-01T09:0{minute}:00Z"))
        for missing, minute in ((..., 1), ("", 1), (None, 2))
    )
    assert first.source_id == again.source_id != later.source_id
    assert first.id == again.id


def test_fields_of_other_names() -> None:
    fields = {"user": "ann", "conversation_id": "c", "author": "human", "timestamp": 1772353800, "content": "Hi"}
    theirs = {"subject_id": "user", "session_id": "conversation_id", "role": "author", "said_at": "timestamp"}
    check = validator(mapping=theirs | {"text": "content"})
    found = check(fields | {"x": 1})
    assert isinstance(found, Turn)
    assert (found.subject_id, found.session_id, found.text) == ("ann", "c", "Hi")
    assert check.ignored == {"x"}
    refused = check(fields | {"conversation_id": None})
    assert isinstance(refused, Rejection)
    assert "conversation_id (session_id) is null" in refused.detail
    with pytest.raises(InputError, match="no field 'subject'"):
        validator(mapping={"subject": "user"})


def test_outcomes() -> None:
    found = validator()(OUTCOME)
    assert isinstance(found, Outcome)
    assert (found.metric, found.value, found.positive) == ("views", 120.0, True)
    assert validator()(OUTCOME | {"value": "120", "positive": "True"}) == found


def test_the_latest_time() -> None:
    assert turn(record(said_at=NOW)).said_at == NOW
    assert rejection(record(said_at=NOW + timedelta(seconds=1))).reason == "future_time"


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["turn", "outcome", "user"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*record(), *OUTCOME, "tool_calls", "metadata", "speaker"]), _VALUES))
def test_any_record_gets_an_answer(changes: dict[str, Any]) -> None:
    for base in (record(), OUTCOME, {}):
        found = validator()(base | changes)
        if isinstance(found, Rejection):
            assert found.reason
            found.detail.encode()
        else:
            assert found.id
