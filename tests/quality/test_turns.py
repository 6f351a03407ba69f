"""Gates on turns fail on a last week that is unlike those before."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg

from tests.quality.conftest import AS_OF, Check

Conn = psycopg.Connection[Any]
SINCE = AS_OF - timedelta(days=7)


def test_discards(healthy: Conn, check: Check) -> None:
    healthy.execute(
        "update memory.extractions x set reason = 'low_content' from log.turns t where t.id = x.turn_id "
        "and t.said_at > %s and t.turn_index %% 4 = 0",
        [SINCE],
    )
    assert check("discards")["discards"].failures == (
        "Tenant acme: 25 % of turns were discarded as low_content in the last 7 days; 0 % in the 8 weeks before.",
        "Tenant acme: 0 % of turns were discarded as small_talk in the last 7 days; 25 % in the 8 weeks before.",
    )


def test_languages(healthy: Conn, check: Check) -> None:
    healthy.execute(
        "update log.turns set text = 'Я живу в Лиссабоне' where said_at > %s and turn_index %% 3 = 0", [SINCE]
    )
    failures = check("languages")["languages"].failures
    assert failures[-1] == (
        "Tenant acme: 33 % of users' turns were in cyrillic script in the last 7 days; 0 % in the 8 weeks before."
    )
    assert len(failures) == 2 and " in English " in failures[0]


def test_scripts_are_told_apart(healthy: Conn, check: Check) -> None:
    said = {
        "east_asian": "私は東京に住んでいます",
        "cyrillic": "привет",
        "arabic": "مرحبا",
        "hebrew": "שלום",
        "indic": "नमस्ते",
        "thai_or_lao": "สวัสดี",
        "greek": "γεια",
        "english": "it's raining",
        "other_latin": "ça va",
        "no_letters": "12 %",
    }
    healthy.execute("delete from log.turns where said_at <= %s", [SINCE])
    for place, text in enumerate(said.values()):
        healthy.execute("update log.turns set text = %s where turn_index %% 10 = %s", [text, place])
    check("languages")
    parts = healthy.execute("select part, value from ops.measures where gate = 'languages'").fetchall()
    assert dict(parts) == dict.fromkeys(said, 0.1)


def test_moods(healthy: Conn, check: Check) -> None:
    healthy.execute("update memory.moods set mood = 'angry' where said_at > %s", [SINCE])
    result = check("moods")["moods"]
    assert result.failures[0] == (
        "Tenant acme: 100 % of messages were angry in the last 7 days; 0 % in the 8 weeks before."
    )
    assert len(result.failures) == 4
    assert result.severity == "warn"
