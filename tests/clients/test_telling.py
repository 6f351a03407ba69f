"""Clients tell a hit as the server tells it in a context."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from pydantic_core import to_jsonable_python

from reverie.api.routes.recalls import HitSeen
from reverie.recall.result import Hit, NearbyTurn
from reverie_client import Hit as ClientHit
from reverie_client.hooks.script import LONGEST, line
from reverie_client.telling import told

ONE = UUID(int=1)
SAID_AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
PLAIN = Hit("memory", ONE, "fact", "Drinks coffee.", datetime(2026, 1, 5, tzinfo=UTC), 0.5, {}, {}, None, None, 0.5)
DOUBT = NearbyTurn(id=ONE, content="Ana: I gave up\n\u200bcoffee. " + "Really. " * 20, said_at=SAID_AT)
ASKED = NearbyTurn(id=ONE, content="Assistant: Do you drink coffee?", said_at=SAID_AT)


def sent(hit: Hit) -> dict[str, object]:
    """As the API sends it."""
    fields = {name: getattr(hit, name) for name in HitSeen.model_fields if hasattr(hit, name)}
    for name in ("doubt", "reply_to"):
        fields[name] = fields[name] and fields[name]._asdict()
    for name in ("signals", "moves"):
        fields.pop(name, None)
    found: dict[str, object] = to_jsonable_python({**fields, "compression_source": False})
    return found


@pytest.mark.parametrize(
    "hit",
    [
        PLAIN,
        PLAIN._replace(doubt=DOUBT),
        PLAIN._replace(content="Yes", reply_to=ASKED, fresh=True),
        PLAIN._replace(times=3, first_at=SAID_AT, doubt=DOUBT, reply_to=ASKED),
    ],
)
def test_a_hit_is_worded_as_by_the_server(hit: Hit) -> None:
    assert told(ClientHit.model_validate(sent(hit))) == hit.told


def test_a_hook_tells_the_question_and_the_doubt() -> None:
    hit = PLAIN._replace(content="Yes", reply_to=ASKED, doubt=DOUBT, times=2, first_at=SAID_AT, fresh=True)
    text = line(sent(hit))
    assert text.startswith(
        "- 2026-01-05: Assistant: Do you drink coffee? / Yes (may be over; 2026-03-01: “Ana: I gave up"
    )
    assert text.endswith("…”) (said 2 times since 2026-03-01) (said just now)")
    assert line(sent(PLAIN)) == "- 2026-01-05: Drinks coffee."
    long = line(sent(hit._replace(content="tea " * 500, reply_to=ASKED._replace(content="word " * 500))))
    assert len(long) == len("- 2026-01-05: ") + LONGEST and long.endswith("(said just now)")


@pytest.mark.parametrize("text", ["https://example.org/" + "a" * 100, "コーヒー" * 40, "I gave up coffee."])
def test_a_doubt_is_told_though_it_has_no_spaces(text: str) -> None:
    hit = PLAIN._replace(doubt=DOUBT._replace(content=text))
    words = text if len(text) <= 100 else f"{text[:100]} …"
    assert f"(may be over; 2026-03-01: “{words}”)" in hit.told
    assert told(ClientHit.model_validate(sent(hit))) == hit.told and hit.told in line(sent(hit))
