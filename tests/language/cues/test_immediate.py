"""What a request is told of its turn is what extract makes of it later: same ids, same words."""

import json
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.capture.validation import Validator
from reverie.consolidate.extract.decide import decide_turns, turns_frame
from reverie.language.cues.immediate import as_stored, extract_candidates
from reverie.model import ToolCall, Turn
from reverie.policy import Policy, load_policy, shipped_policies
from tests.promises.world import SAMPLE

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
LONG = " ".join(f"Yesterday we walked to the lake with Bruno, part {n}. It was number {n} of many." for n in range(60))


def count_tokens(text: str) -> int:
    return len(text.split())


def turn(text: str, **given: Any) -> Turn:
    known: dict[str, Any] = {"tenant_id": "t", "subject_id": "ana", "session_id": "s", "source_id": "1", "role": "user"}
    return Turn(**(known | {"speaker": None, "said_at": AT, "text": text} | given))


def both(turns: list[Turn], policy_name: str) -> tuple[list[Any], list[Any]]:
    """(turn, id, kind, content, base, polarity, mentions, origin) of all candidates and the verdicts, by each way."""
    policy = load_policy(policy_name)
    frame = turns_frame(
        [
            (str(each.id), each.subject_id, each.session_id, each.role, each.speaker, each.said_at, each.text,
             orjson.dumps(as_stored(orjson.loads(orjson.dumps(each.tool_calls)))).decode() if each.tool_calls else None,
             None)
            for each in turns
        ]
    )  # fmt: skip
    decisions = decide_turns(frame, "t", policy, count_tokens)
    candidates, verdicts = decisions.candidates, decisions.verdicts
    batch = [
        (each.turn_id, each.id, each.kind, each.content, each.polarity, tuple(dict.fromkeys(each.mentions)),
         each.origin, pytest.approx(each.importance, abs=1e-6))
        for each in candidates
    ]  # fmt: skip
    alone, reasons = [], {}
    for turn in turns:
        found = extract_candidates(turn, policy, count_tokens)
        reasons[str(turn.id)] = found.reason
        alone += [
            (turn.id, each.id, each.kind, each.content, each.polarity, each.mentions, each.origin, each.importance)
            for each in found.candidates
        ]
    assert reasons == {verdict.turn_id: verdict.reason for verdict in verdicts}
    return sorted(alone, key=lambda row: (str(row[0]), row[1])), sorted(batch, key=lambda row: (str(row[0]), row[1]))


@pytest.mark.parametrize("policy", shipped_policies())
def test_the_sample_history(policy: str) -> None:
    validator = Validator(tenant_id="t", not_after=datetime(2027, 1, 1, tzinfo=UTC))
    records = [validator(json.loads(line) | {"tenant_id": "t"}) for line in SAMPLE.read_text("utf-8").splitlines()]
    turns = [record for record in records if isinstance(record, Turn)]
    alone, batch = both(turns, policy)
    assert alone == batch
    assert len(alone) > 3


PIECES = st.sampled_from(
    ["I have a dog named Bruno. ", "ok", "lol ", "I don't like ", "spicy food", "? ", ". ", "We went to Chennai ",
     "yesterday ", "My sister lives in Pune", "my sister Ann ", "My email is ana@example.com", "Always ask us",
     ", but ", "I prefer posts under 800 words", "\n\n", "’", "", LONG]
)  # fmt: skip


@pytest.mark.parametrize("policy", ["reverie", "contact", "logic"])
@given(
    st.lists(st.lists(PIECES, max_size=6).map("".join), min_size=1, max_size=4), st.sampled_from([None, "Ana", "Ben"])
)
def test_any_texts(policy: str, texts: list[str], speaker: str | None) -> None:
    turns = [turn(text, source_id=str(place), speaker=speaker) for place, text in enumerate(texts)]
    alone, batch = both(turns, policy)
    assert alone == batch


@pytest.mark.parametrize("policy", ["reverie", "contact"])
def test_no_more_candidates_than_the_policy_takes(policy: str) -> None:
    texts = ["I like tea. Always ask us. " * 300, "We went to Chennai yesterday. " * 300, "I hate rain. " * 300]
    turns = [turn(text, source_id=str(place)) for place, text in enumerate(texts)]
    alone, batch = both(turns, policy)
    assert alone == batch
    most = load_policy(policy).extract.turn_candidates
    found = [extract_candidates(one, load_policy(policy), count_tokens) for one in turns]
    assert max(len(each.candidates) for each in found) == most
    assert max(each.left_out for each in found) >= 100


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("I'm on holiday until 20 March 2026.", datetime(2026, 3, 21, tzinfo=UTC)),
        ("We're on annual leave until the 15th of March", datetime(2026, 3, 16, tzinfo=UTC)),
        ("I am on vacation until Friday", datetime(2026, 3, 7, tzinfo=UTC)),
        ("I'm away until the 12th", datetime(2026, 3, 13, tzinfo=UTC)),
        ("We're away until further notice", None),
    ],
)
def test_an_absence_ends_on_the_day_that_it_names(text: str, end: datetime | None) -> None:
    given = load_policy("reverie").model_dump(mode="json")
    away = r"\b(?:i'm|i am|we're) (?P<x>(?:on [a-z ]+|away) until .+)"
    given["extract"]["rules"] = [{"name": "away", "cues": ["until"], "pattern": away, "relation": "availability"}]
    (candidate,) = extract_candidates(turn(text), Policy.model_validate(given), count_tokens).candidates
    assert (candidate.expires_at, candidate.lasting) == (end, end is None)


def test_tool_calls_are_what_and_why() -> None:
    call = ToolCall(name="suggest_post", arguments={"a": 1, "category": "recipe"}, why="asked for", result="340 views")
    found = extract_candidates(turn("", role="assistant", tool_calls=(call,)), load_policy("reverie"), count_tokens)
    (episode,) = found.candidates
    assert episode.kind == "episode"
    assert episode.content == "suggest post: a 1, category recipe → 340 views — asked for"
    assert both([turn("", role="assistant", tool_calls=(call,))], "reverie")[0]


@pytest.mark.parametrize(
    ("text", "role", "reason"),
    [("lol", "user", "low_content"), ("Why?", "user", "question"), ("I have a dog.", "assistant", "role")],
)
def test_why_nothing(text: str, role: str, reason: str) -> None:
    assert extract_candidates(turn(text, role=role), load_policy("reverie"), count_tokens).reason == reason
