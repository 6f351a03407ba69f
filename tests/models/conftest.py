"""A scripted server in a process of its own, a model that asks it, and a store that pays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any
from uuid import UUID

import psycopg
import pytest

from reverie.inference.completions import HostedLanguageModel, Limits
from reverie.inference.prompts import Prompt
from reverie.inference.replies import Reply
from reverie.llm.answers import ModelAnswer
from reverie.llm.asking import ModelCaller, ask
from reverie.llm.inputs import PromptInput
from reverie.llm.metering import Payer
from reverie.store.database import Store
from reverie.store.runs import Report
from tests.models.serving import Server, serving

#: US dollars a million tokens; a good reply of the server has 100 tokens in and 20 out.
PRICE = (1000.0, 5000.0)
GOOD_USD = (100 * PRICE[0] + 20 * PRICE[1]) / 1e6

Conn = psycopg.Connection[Any]


class Note(Reply):
    """What the test's model is asked for."""

    text: str
    weight: float


PROMPT = Prompt(name="note", text="Repeat the text of each item and weigh it.", reply=Note, max_tokens=50)


@pytest.fixture(scope="session")
def server_process() -> Iterator[Server]:
    """One process for all tests."""
    with serving() as server:
        yield server


@pytest.fixture
def server(server_process: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Without a script: it answers well."""
    if find_spec("litellm") is None:  # imported by what it is tested with, which keeps it from fetching its price map
        pytest.skip("the extra litellm is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    server_process.script()
    return server_process


@pytest.fixture
def load(server: Server) -> Callable[..., HostedLanguageModel]:
    """A model whose server is ours and whose patience is short."""

    def load_one(*, price: tuple[float, float] | None = PRICE, base: str | None = None, **limits: Any) -> Any:
        patience = Limits(**{"timeout_s": 20.0, "attempts": 3, "backoff_s": 0.01, "concurrency": 2, **limits})
        return HostedLanguageModel("openai/ours", api_base=base or server.address, limits=patience, price=price)

    return load_one


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url) as opened:
        yield opened


def inputs(*texts: str, subject: str = "ana") -> list[PromptInput]:
    """One input a text."""
    return [
        PromptInput(subject_id=subject, content={"text": text}, source_ids=[UUID(int=number)])
        for number, text in enumerate(texts)
    ]


@pytest.fixture
def put(store: Store, load: Callable[..., HostedLanguageModel]) -> Callable[..., list[ModelAnswer[Note]]]:
    """Ask the test's prompt for tenant acme."""

    def ask_about(
        asked: Sequence[PromptInput],
        *,
        tenant: str = "acme",
        report: Report | None = None,
        check: Any = None,
        **limits: Any,
    ) -> list[ModelAnswer[Note]]:
        payer = Payer(tenant_id=tenant, stage="test", run_id=UUID(int=7))
        caller = ModelCaller(store=store, payer=payer, report=report)
        return ask(caller, load(**limits), PROMPT, asked, check=check)

    return ask_about


def calls(conn: Conn, what: str = "state, cost_usd, reason") -> list[tuple[Any, ...]]:
    """The ledger in order."""
    return conn.execute(f"select {what} from ops.calls order by booked_at, id").fetchall()  # noqa: S608


def give(conn: Conn, dollars: float, tenant: str = "acme") -> None:
    conn.execute("insert into ops.credits (tenant_id, balance_usd) values (%s, %s)", [tenant, dollars])


def balance(conn: Conn, tenant: str = "acme") -> float:
    row = conn.execute("select balance_usd from ops.credits where tenant_id = %s", [tenant]).fetchone()
    assert row is not None
    return float(row[0])
