"""The sliding window: the last turns, the first always kept, the same whether they are in the log yet or not."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reverie.capture.live.working_memory import WindowTurn, read_session, window
from reverie.errors import InputError
from reverie.policy import load_policy
from reverie.store.session import perform
from tests.live.conftest import AT, Talk, after

NUMBERS = load_policy("reverie").working_memory


def turn(number: int) -> WindowTurn:
    return WindowTurn(
        id=UUID(int=number + 1), source_id=str(number), role="user", speaker=None, said_at=AT, text=str(number),
        tool_calls=[], logged=False,
    )  # fmt: skip


@given(st.integers(0, 60), st.integers(1, 25), st.booleans())
def test_the_last_turns_with_the_first(total: int, size: int, keep_first: bool) -> None:
    numbers = NUMBERS.model_copy(update={"turns": size, "keep_first": keep_first})
    turns = [turn(number) for number in range(total)]
    found = [one.text for one in window(turns[0] if turns else None, turns[-size:], numbers)]
    assert len(found) == min(total, size)
    if keep_first and total:
        assert found[0] == "0"
        assert found[1:] == [str(number) for number in range(max(1, total - size + 1), total)]
    else:
        assert found == [str(number) for number in range(max(0, total - size), total)]


#: What happens in a session: so many turns at once, a flush, a close, or a day goes by.
ACTIONS = st.lists(
    st.one_of(st.integers(1, 12), st.sampled_from(["flush", "flush", "close", "day"])), min_size=1, max_size=9
)
_SESSIONS = count()


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=ACTIONS, policy=st.sampled_from(["reverie", "chat"]))
def test_any_conversation(talk: Talk, actions: list[Any], policy: str) -> None:
    """Against a list in memory, whatever is said, flushed, closed or left for a day, in whatever order."""
    talk = replace(talk, policy=load_policy(policy), session=f"s{next(_SESSIONS)}")
    numbers = talk.policy.working_memory
    expected: list[str] = []
    said, minute = 0, 0.0
    for action in actions:
        minute += 1
        if isinstance(action, int):
            texts = [f"Turn number {said + number}." for number in range(action)]
            talk.say(*texts, at=after(minute))
            said += action
            expected += texts
        elif action == "day":
            minute += 24 * 60
            expected = []
        else:
            if action == "close":
                talk.close(after(minute))
                expected = []
            else:
                minute += 6
            talk.flush(after(minute))
        session = talk.read(after(minute))
        if session is None:
            assert expected == []
            continue
        kept = expected[-numbers.turns :]
        if numbers.keep_first and len(expected) > numbers.turns:
            kept = [expected[0], *expected[-numbers.turns + 1 :]]
        assert [one.text for one in session.turns] == kept
        assert session.left_out == len(expected) - len(kept)
        assert session.waiting == sum(1 for _ in talk.rows(_waiting(talk)))
    talk.close(after(minute))
    talk.flush(after(minute))
    assert talk.texts() == [f"Turn number {number}." for number in range(said)]


def _waiting(talk: Talk) -> str:
    return f"select from ops.pending_turns where session_id = '{talk.session}'"


def test_what_the_caller_holds(talk: Talk) -> None:
    assert talk.read() is None
    talk.hold(preferences=["blog-only focus"], tool_results=[{"name": "views", "value": 315}])
    talk.hold(at=after(1), confirmations=[{"delete": "post 7"}])
    session = talk.read(after(2))
    assert session is not None
    assert (session.preferences, session.confirmations) == (["blog-only focus"], [{"delete": "post 7"}])
    assert session.tool_results == [{"name": "views", "value": 315}]
    assert (session.turns, session.waiting, session.flush_at) == ((), 0, None)
    assert session.expires_at == after(24 * 60 + 1)
    talk.hold(at=after(3), preferences=[])
    session = talk.read(after(3))
    assert session is not None
    assert session.preferences == []
    talk.hold(at=after(25 * 60), preferences=["new"])
    session = talk.read(after(25 * 60))
    assert session is not None
    assert (session.preferences, session.confirmations) == (["new"], [])


@pytest.mark.parametrize(
    ("lists", "named"),
    [
        ({"preferences": ["x"] * 101}, "preferences has 101"),
        ({"tool_results": [{"x": "y" * 70_000}]}, "tool_results is"),
        ({"confirmations": [{"x": object()}]}, "confirmations is not JSON"),
    ],
)
def test_not_too_much_is_held(talk: Talk, lists: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        talk.hold(**lists)


def test_tool_calls_are_in_the_window(talk: Talk) -> None:
    call = {"name": "views", "arguments": {"days": 7}, "why": "asked", "result": "315"}
    talk.send({"role": "assistant", "text": "", "tool_calls": [call]})
    for at in (AT, after(6)):
        session = talk.read(at)
        assert session is not None
        (one,) = session.turns
        assert (one.role, one.tool_calls, one.logged) == ("assistant", [call], at != AT)
        talk.flush(after(6))


@pytest.mark.parametrize("logged", [0, 30, 60])
def test_the_window_of_an_earlier_time_is_as_full(talk: Talk, logged: int) -> None:
    """Whether the turns are in the log, in the buffer, or both; later ones take no place in it."""
    size = NUMBERS.turns
    for number in range(60):
        talk.say(f"Turn {number}.", at=after(number / 60))
        if number + 1 == logged:
            talk.flush(after(6))
    session = perform(
        read_session(
            talk.store.session(talk.tenant), **talk.place, policy=talk.policy, as_of=after(6), until=after(29 / 60)
        )
    )
    assert session is not None and size < 29
    kept = [0, *range(31 - size, 30)] if NUMBERS.keep_first else list(range(30 - size, 30))
    assert [turn.text for turn in session.turns] == [f"Turn {number}." for number in kept]
    assert session.waiting == 60 - logged
    assert session.left_out == 30 - size
