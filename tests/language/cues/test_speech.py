"""Low-content turns, questions and events are told apart; tool calls are worded."""

from reverie.language.cues.compiled import Rules
from reverie.language.cues.speech import episode_of_tool_call, is_question, low_content
from reverie.policy import load_policy

RULES = {"reverie": Rules(load_policy("reverie").extract)}


def test_speech() -> None:
    rules = RULES["reverie"]
    assert all(low_content(text, rules) for text in ("", "lol", "Haha!!", "ok 👍", "😂😂", "Hmm... okay"))
    assert not any(
        low_content(text, rules) for text in ("Bruno ate my shoes again", "日本語", "lol that was fun", "42")
    )
    assert is_question("Hey! Do you like it?") and not is_question("I went there with Sam on Sunday. Did you?")


def test_tool_calls_say_what_and_why() -> None:
    call = {
        "name": "create_post",
        "arguments": {"title": "Diwali", "tags": ["a", "b"]},
        "result": {"id": 7},
        "why": "festival",
    }
    assert episode_of_tool_call(call) == "create post: title Diwali, tags a, b → id 7 — festival"
    assert episode_of_tool_call({"name": "sync", "arguments": {}}) == "sync"
