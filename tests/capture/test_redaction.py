"""Secrets are taken out before the log, alike in an import and live."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reverie.capture.history.importing import FieldOptions, FileOptions, import_file
from reverie.capture.history.redrive import redrive_dead_letters
from reverie.capture.live.observations import ObservationSource, record_observation
from reverie.capture.redaction import redacted_json, redacted_payload, redacted_turns
from reverie.model import ToolCall, Turn
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.session import perform

SECRET = "hunter2fish"


def turn(text: str, *calls: ToolCall, **metadata: Any) -> Turn:
    return Turn(
        tenant_id="t", subject_id="ana", session_id="s", source_id="1", role="user", speaker=None,
        said_at=datetime(2026, 1, 5, tzinfo=UTC), text=text, tool_calls=calls, metadata=metadata,
    )  # fmt: skip


def test_texts_and_tool_calls_are_cleaned() -> None:
    plain = turn("I live in Ghent")
    call = ToolCall(name="login", arguments={"note": f"the password is {SECRET}"}, why="to log in")
    (kept, clean), number = redacted_turns([plain, turn("ok", call)])
    assert kept is plain and number == 1
    assert clean.tool_calls[0].arguments == {"note": "the password is [redacted]"}


def test_an_import_writes_no_secret_and_counts(store: Store, tmp_path: Path) -> None:
    record = {"subject_id": "ana", "session_id": "s", "role": "user", "said_at": "2026-01-05T09:00:00Z"}
    path = tmp_path / "turns.jsonl"
    path.write_text(json.dumps(record | {"text": f"My wifi password is {SECRET}"}) + "\n")
    first, again = import_file(store, path, tenant_id="t"), import_file(store, path, tenant_id="t")
    assert (first.imported, first.redacted, again.repeated) == (1, 1, 1)
    with store.transaction("t") as conn:
        ((text,),) = conn.execute("select text from log.turns where tenant_id = 't'").fetchall()
    assert text == "My wifi password is [redacted]"
    assert import_file(store, path, tenant_id="seed", policy="contact").redacted == 0


def test_metadata_is_cleaned_by_text_and_by_name() -> None:
    (clean,), number = redacted_turns([turn("ok", timezone="Europe/Paris", note=f"my password is {SECRET}")])
    assert (number, clean.metadata) == (1, {"timezone": "Europe/Paris", "note": "my password is [redacted]"})
    (plain,), number = redacted_turns([untouched := turn("ok", channel="web")])
    assert plain is untouched and number == 0


def test_the_name_of_a_value_may_say_that_it_is_a_secret() -> None:
    values = {"user_password": SECRET, "pin": 4312, "apiKey": "a1b2c3d4e5f6", "cards": ["4111 1111 1111 1111"]}
    assert redacted_json(values) == {name: ["[redacted]"] if name == "cards" else "[redacted]" for name in values}
    # no secrets: identifiers that pass for cards, times in milliseconds with a valid check digit, what is no text
    left = {"message_id": "4111111111111111", "chatId": 4111111111111111, "at": 1712345678125, "password": True, "n": 3}
    assert redacted_json(left) == left


def test_what_cannot_be_read_is_cleaned_as_text() -> None:
    assert redacted_payload(f"{{oops my password is {SECRET}, ok".encode()) == b"{oops my password is [redacted], ok"
    assert redacted_payload(b"\xff plain") == b"\xff plain" and redacted_payload(None) is None
    assert redacted_payload(b'{"text":  "plain"}') == b'{"text":  "plain"}'


def test_ids_and_codes_of_a_record_stay() -> None:
    record = {"login": "anasmith", "token": 4539578763621486, "ts": "20260314213052", "pin": "4471"}
    names: dict[str, Any] = {"ids": {"login", "token"}, "codes": {"ts", "key"}}
    assert json.loads(redacted_payload(json.dumps(record).encode(), **names) or b"") == record | {"pin": "[redacted]"}
    typed = {"ts": f"my password is {SECRET}", "login": {"pin": "4471"}}
    clean = json.loads(redacted_payload(json.dumps(typed).encode(), **names) or b"")
    assert clean == {"ts": "my password is [redacted]", "login": {"pin": "[redacted]"}}


def test_a_dead_letter_holds_no_secret_and_is_found_again(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    record = {"subject_id": "ana", "session_id": "s", "role": "user", "said_at": "2026-01-05 09:00"}
    lines = [json.dumps(record | {"text": f"My wifi password is {SECRET}"}), f'{{"text": "the password is {SECRET}"']
    path.write_text("\n".join(lines) + "\n")
    for _ in range(2):
        assert import_file(store, path, tenant_id="t").dead == 2
    with store.transaction("t") as conn:
        kept = [bytes(payload) for (payload,) in conn.execute("select payload from ops.dead_letters").fetchall()]
    assert len(kept) == 2 and all(b"[redacted]" in each and SECRET.encode() not in each for each in kept)
    mended = FieldOptions(timezone="Europe/Lisbon")
    assert redrive_dead_letters(store, tenant_id="t", fields=mended).imported == 1
    again = import_file(store, path, FileOptions(timezone="Europe/Lisbon"), tenant_id="t")
    assert (again.repeated, again.dead) == (1, 1), "the retried record is that of the file"


def test_metadata_of_observations_is_cleaned(store: Store) -> None:
    with store.transaction("t") as conn:
        conn.execute("insert into ops.tenants (tenant_id, policy) values ('t', 'reverie')")
    source = ObservationSource(tenant_id="t", subject_id="ana", metadata={"api_key": "a1b2c3d4e5f6"})
    at = datetime(2026, 1, 5, tzinfo=UTC)
    observed = record_observation(
        store.session("t"), source, "Lives in Ghent", "fact", policy=load_policy("reverie"), as_of=at
    )
    perform(observed)
    with store.transaction("t") as conn:
        assert conn.execute("select metadata from log.events").fetchone() == ({"api_key": "[redacted]"},)


def test_a_message_in_a_dead_letter_is_read_as_messages_are() -> None:
    record = {"said_at": "2026-13-01 09:00:00", "user": "u-4471-ab", "text": "press 3-9-9-4 on the side gate and push"}
    clean = json.loads(redacted_payload(json.dumps(record).encode()) or b"")
    assert clean == record | {"text": "press [redacted] on the side gate and push"}
