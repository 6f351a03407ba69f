"""The document that describes the API is true: nothing it allows breaks the server, and answers are as it describes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Literal

import psycopg
import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings

from reverie.api.app import create_app
from reverie.api.keys import add_key
from reverie.settings import Settings
from reverie.store.database import Store
from reverie.store.session import perform
from tests.api.conftest import settings_for
from tests.conftest import Databases
from tests.recall.conftest import START, Corpus

EXAMPLES = 8

# psycopg's pools draw random numbers in the app's threads, which Hypothesis takes for the strategy's
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")


@cache
def document() -> dict[str, Any]:
    return create_app(Settings.model_validate({"embedding_model": "none"})).openapi()


@cache
def operations() -> dict[str, Any]:
    """Each operation by its label."""
    import schemathesis  # takes seconds, which every process that collects tests would pay

    found = schemathesis.openapi.from_dict(document()).get_all_operations()
    return {operation.ok().label: operation.ok() for operation in found}


@pytest.fixture(scope="module")
def served(databases: Databases) -> Iterator[TestClient]:
    """One app and database for the whole module, with an administrator's key and a subject to find."""
    with databases() as url:
        with psycopg.connect(url, autocommit=True) as conn:
            Corpus(conn).turn("I found quartz", speaker="Ann")
        with Store.open(url, size=1) as store:
            made = add_key(store.session("acme"), name="test", scopes=["admin"], policy="reverie", made_at=START)
            key = perform(made)[1]
        with TestClient(create_app(settings_for(url, api_rate="100000/second"))) as client:
            client.headers["Authorization"] = f"Bearer {key}"
            yield client


Mode = Literal["positive", "negative"]


def tries() -> Iterator[tuple[str, Mode]]:
    """Yield requests as described, and requests that are not, where there is something to send."""
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            label = f"{method.upper()} {path}"
            yield label, "positive"
            if "requestBody" in operation or {"query", "path"} & {p["in"] for p in operation.get("parameters", ())}:
                yield label, "negative"


@pytest.mark.parametrize(("label", "mode"), [*tries()])
def test_nothing_breaks_it_and_answers_are_as_described(served: TestClient, label: str, mode: Mode) -> None:
    import schemathesis

    operation = operations()[label]
    named = ("status_code_conformance", "content_type_conformance", "response_schema_conformance")
    checks = [schemathesis.checks.not_a_server_error, *map(schemathesis.checks.CHECKS.get_one, named)]

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(schemathesis.GenerationMode(mode)))
    def check(case: Any) -> None:
        sent = case.as_transport_kwargs(base_url="http://testserver")
        sent.pop("cookies", None)
        if "data" in sent:
            sent["content"] = sent.pop("data")
        headers = {name: value for name, value in dict(sent.pop("headers")).items() if name != "Authorization"}
        response = served.request(**sent, headers=headers)
        assert response.status_code < 500, response.text
        case.validate_response(response, checks=checks)

    check()


def test_every_operation_is_tried() -> None:
    assert {label for label, _ in tries()} == set(operations())


def test_every_operation_is_described(served: TestClient) -> None:
    found = served.get("/openapi.json").json()
    assert found == document()
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            where = f"{method} {path}"
            assert operation["description"].endswith("."), where
            assert operation["operationId"].islower(), where
            # words, not the name of a function
            assert operation["summary"].casefold() != operation["operationId"].replace("_", " "), where
            if path.startswith("/v1/"):
                assert operation["security"] == [{"HTTPBearer": []}], where
                assert {"401", "403", "429", "503"} <= set(operation["responses"]), where
            if "requestBody" in operation:
                reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
                assert "example" in found["components"]["schemas"][reference.rpartition("/")[2]], where
