"""Low-content turns, questions and events are told apart; tool calls are worded."""

from reverie.language.cues.compiled import Rules
from reverie.language.cues.speech import episode_of_tool_call, is_question, low_content, offers_help
from reverie.policy import load_policy

RULES = {"reverie": Rules(load_policy("reverie").extract)}


def test_speech() -> None:
    rules = RULES["reverie"]
    assert all(low_content(text, rules) for text in ("", "lol", "Haha!!", "ok 👍", "😂😂", "Hmm... okay"))
    assert not any(
        low_content(text, rules) for text in ("Bruno ate my shoes again", "日本語", "lol that was fun", "42")
    )
    assert is_question("Hey! Do you like it?") and not is_question("I went there with Sam on Sunday. Did you?")


def test_an_offer_of_help_is_no_question_to_answer() -> None:
    offers = (
        "Lovely! Is there anything else I can help you with today?",
        "How can I assist you?",
        "Noted. Anything else?",
        "Can I help you with the invoice?",
    )
    questions = (
        "Anything else I can do, you asked. Which day suits you?",
        "How can you eat that?",
        "Anything else you are allergic to?",
        "Are you allergic to anything else?",
        "How can I help you today, and what's your name?",
        "What could we do on Saturday?",
        "Is there something else you would rather drink?",
        "How can we support your mother?",
        "What else do you grow?",
        "Do you want anything for breakfast?",
        "I can help you with that.",
    )
    assert all(map(offers_help, offers)) and not any(map(offers_help, questions))


def test_tool_calls_say_what_and_why() -> None:
    call = {
        "name": "create_post",
        "arguments": {"title": "Diwali", "tags": ["a", "b"]},
        "result": {"id": 7},
        "why": "festival",
    }
    assert episode_of_tool_call(call) == "create post: title Diwali, tags a, b → id 7 — festival"
    assert episode_of_tool_call({"name": "sync", "arguments": {}}) == "sync"
