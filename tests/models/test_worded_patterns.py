"""Patterns in the words of a language model: what keeps the rules' numbers and quotes an episode, else the rules'."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from reverie.consolidate.compress import patterns as pattern_module
from reverie.consolidate.compress.stage import compress
from reverie.errors import UnansweredError
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.runs import Report
from reverie.store.work import Work
from tests.consolidate.test_compress import MARCH, MODEL, TENANT, remember, say, suggest_posts, tell_of_bruno
from tests.models.conftest import Conn, Server, give
from tests.promises.world import WordEmbedder

pytestmark = pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict:UserWarning")

OURS = "litellm/openai/ours"
CLAIM = "Recipe posts consistently outperform news posts by 2.8x in views"
RULES = (
    f"{CLAIM} (median 290 against 103, over 5 outcomes). "
    "Arjun often calls suggest_post: 5 times from 20 to 24 March 2026."
)
QUOTE = "suggest post: category recipe, title Title 0"
Run = Callable[..., Report]


@pytest.fixture(scope="module")
def policy() -> Policy:
    ours = load_policy("reverie")
    numbers = {"pattern_episodes": 5, "theme_similarity": 0.6, "contrast_ratio": 1.5, "session_threshold": 0}
    return ours.model_copy(update={"compress": ours.compress.model_copy(update=numbers)})


@pytest.fixture
def run(store: Store, load: Any, policy: Policy) -> Run:
    """Compress by the server's model."""

    def once(days: float = 30, **limits: Any) -> Report:
        return compress(
            Work(
                store=store,
                scope=Scope(tenant_id=TENANT),
                policy=policy,
                as_of=MARCH + timedelta(days=days),
                embedder=WordEmbedder(MODEL),
                language_model=load(**limits),
            )
        )

    return once


def patterns(conn: Conn) -> list[tuple[str, str | None]]:
    return conn.execute(
        "select content, model from memory.memories where kind = 'pattern' and state = 'active' order by subject_id"
    ).fetchall()


def reply(pattern: str, *quotes: str) -> dict[str, str]:
    return {"content": json.dumps({"replies": [{"number": 1, "pattern": pattern, "quotes": quotes}]})}


def test_a_pattern_is_worded_by_the_model_and_asked_about_once(run: Run, server: Server, conn: Conn) -> None:
    suggest_posts(conn)
    text = f"{CLAIM}: 290 against 103 when Arjun called suggest_post in March 2026."
    server.script(reply(text, QUOTE))
    report = run()
    assert patterns(conn) == [(text, OURS)]
    assert (report["patterns"], report["retold"], report.model_calls, report.model) == (1, 1, 1, OURS)
    (asked,) = server.requests
    (item,) = json.loads(asked["messages"][-1]["content"].split("\n")[1])["items"]
    assert item["keep"] == [CLAIM] and len(item["episodes"]) == len(item["decisions"]) == 5
    assert item["decisions"][0] == {
        "date": "20 March 2026",
        "speaker": "Arjun",
        "calls": [{"name": "suggest_post", "arguments": {"category": "recipe", "title": "Title 0"}}],
        "outcomes": {"views": "340"},
    }
    assert run(31).model_calls == 0 and patterns(conn) == [(text, OURS)]
    sources = conn.execute("select cardinality(source_ids) from ops.replies").fetchone()
    assert sources == (10,), "five episodes and their turns"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (reply(f"{CLAIM}, says Zoe.", QUOTE), "ungrounded"),
        (reply(f"{CLAIM}, 400 against 103.", QUOTE), "ungrounded"),
        (reply(f"{CLAIM}.", "news did better"), "unquoted"),
        (reply(f"{CLAIM}.", "I have an idea."), "unquoted"),
        (reply("News posts consistently outperform recipe posts by 2.8x in views.", QUOTE), "unquantified"),
        (reply("Recipe posts consistently outperform news posts.", QUOTE), "unquantified"),
        ({"content": CLAIM}, "not_json"),
    ],
)
def test_what_is_not_believed_is_asked_again_and_then_left_to_the_rules(
    run: Run, server: Server, conn: Conn, bad: dict[str, str], reason: str
) -> None:
    suggest_posts(conn)
    server.script(bad, bad)
    report = run()
    assert patterns(conn) == [(RULES, None)]
    assert (report[f"failed_{reason}"], report["asked_again"], report["retold"]) == (1, 1, 0)


def test_without_numbers_how_often_and_when_is_kept(run: Run, server: Server, conn: Conn) -> None:
    tell_of_bruno(conn)
    often = "5 times from 20 March to 8 April 2026"
    server.script(
        reply("Bruno, the pet, eats shoes.", "Bruno ate shoes again"),
        reply(f"Bruno, the pet, eats shoes: {often}.", "Bruno ate shoes again"),
    )
    report = run()
    assert patterns(conn) == [(f"Bruno, the pet, eats shoes: {often}.", OURS)]
    assert (report["asked_again"], report["retold"]) == (1, 1)


def test_no_reply_about_one_is_worded_by_the_rules_at_once(run: Run, server: Server, conn: Conn) -> None:
    tell_of_bruno(conn)
    suggest_posts(conn)
    server.script({"status": 400})
    report = run(concurrency=1)
    assert [model for _, model in patterns(conn)] == [None, OURS]
    assert (report["patterns"], report["retold"], report["failed_refused"]) == (2, 1, 1)
    assert run(31)["patterns"] == 0, "and stays so until the theme gathers more"


def test_a_model_that_cannot_be_reached_at_all_is_waited_for(run: Run, server: Server, conn: Conn) -> None:
    suggest_posts(conn)
    server.script({"hang_s": 3})
    with pytest.raises(UnansweredError):
        run(attempts=1, timeout_s=0.2)
    assert patterns(conn) == []
    assert run()["retold"] == 1


def test_without_credit_the_rules_word_it(run: Run, server: Server, conn: Conn) -> None:
    suggest_posts(conn)
    give(conn, 0.0, TENANT)
    assert run()["failed_credit"] == 1
    assert patterns(conn) == [(RULES, None)] and server.requests == []


def test_what_changed_while_the_model_was_asked_is_asked_about_too(
    run: Run, server: Server, conn: Conn, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell_of_bruno(conn)
    asking, more = pattern_module.ask_patterns, iter(["Bruno swam in the sea", "Bruno dug a hole", "Bruno slept"])

    def slowly(*arguments: Any, **named: Any) -> dict[bytes, str | None]:
        found = asking(*arguments, **named)
        if (text := next(more, None)) is not None:
            remember(conn, say(conn, text, MARCH + timedelta(days=20)), text, "pet:bruno")
        return found

    monkeypatch.setattr(pattern_module, "ask_patterns", slowly)
    report = run()
    ((text, model),) = patterns(conn)
    assert "8 times" in text and model is None
    assert (report["failed_changed"], report.model_calls, report["patterns"]) == (1, 3, 1)
    more = iter(["Bruno barked"])
    remember(conn, say(conn, "...", MARCH + timedelta(days=21)), "Bruno came home", "pet:bruno")
    run(31)
    ((text, model),) = patterns(conn)
    assert "10 times" in text and model == OURS
