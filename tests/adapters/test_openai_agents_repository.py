"""The session tests of the OpenAI Agents SDK's repository, on `SQLiteSession` and on `ReverieSession`.

They come with the source distribution that `make test-adapters` unpacks (MIT); nothing of them is kept here. What is
left out is named, with the reason.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest

pytest.importorskip("agents.testing", reason="needs openai-agents: make test-adapters")
pytest.importorskip("reverie_openai_agents", reason="needs reverie-openai-agents: make test-adapters")

from agents import SQLiteSession, set_tracing_disabled
from reverie_openai_agents import ReverieSession

from reverie_client import AsyncClient
from tests.adapters.conftest import Server
from tests.adapters.sources import SOURCES, cases, their_tests, unknown

if not SOURCES:
    pytest.skip("needs the source distribution of openai-agents: make test-adapters", allow_module_level=True)
set_tracing_disabled(True)

pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

_FILE = "the connections, locks and rows of SQLite"
#: By module, tests that say nothing about a `Session`: the beginnings of their names, and why.
LEFT_OUT = {
    "test_session": {
        "test_await_mutation": "a function of the SDK",
        "test_session_memory_disabled": "has no session",
        "test_session_settings_resolve": "has no session",
        "test_sqlite_session_close": _FILE,
        "test_sqlite_session_failed": _FILE,
        "test_sqlite_session_file_lock": _FILE,
        "test_sqlite_session_get_items_limit_skips_corrupt": _FILE,
        "test_sqlite_session_get_items_session_settings_limit_skips_corrupt": _FILE,
        "test_sqlite_session_keeps_connections": _FILE,
        "test_sqlite_session_pop_item_returns_none_after_dropping_only_corrupt": _FILE,
        "test_sqlite_session_pop_item_skips_corrupt": _FILE,
        "test_sqlite_session_post_commit": _FILE,
        "test_sqlite_session_reaps": _FILE,
        "test_sqlite_session_rollback": _FILE,
    },
    "test_session_limit": {},
}
MODULES = {name: their_tests("openai_agents", f"memory.{name}") for name in LEFT_OUT}


class Closed(ReverieSession):
    """Has what their tests end a session with; ours needs no end."""

    def close(self) -> None:
        pass


@pytest.fixture(params=["sqlite", "reverie"])
def make(request: pytest.FixtureRequest, server: Server) -> Iterator[Callable[..., Any]]:
    """What makes a session as `SQLiteSession` does; a test's sessions are a person's of its own."""
    if request.param == "sqlite":
        yield SQLiteSession
        return
    subject, clients = str(uuid4()), [AsyncClient(server.url, server.key)]

    def session(session_id: str, db_path: object = None, **given: Any) -> Closed:
        return Closed(session_id, clients[0], subject_id=subject, **given)

    yield session
    clients.clear()
    gc.collect()  # connections end with the loops that their tests close


@pytest.mark.parametrize(
    ("function", "given"), [case for name, module in MODULES.items() for case in cases(module, LEFT_OUT[name])]
)
def test_sessions(
    function: Any, given: dict[str, Any], make: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their tests make the session themselves."""
    for module in MODULES.values():
        monkeypatch.setattr(module, "SQLiteSession", make)
    done = function(**given)
    if inspect.iscoroutine(done):
        asyncio.run(done)


@pytest.mark.parametrize("name", MODULES)
def test_what_is_left_out_exists(name: str) -> None:
    assert unknown(MODULES[name], LEFT_OUT[name]) == []
