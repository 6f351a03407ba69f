"""Who is let in, and for what."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from fastapi.testclient import TestClient

from reverie.api import access
from reverie.api.app import create_app
from reverie.api.keys import key_digest, list_keys, revoke_key, tenant_of
from reverie.errors import InputError, NotFoundError
from reverie.store.database import Store
from reverie.store.session import perform
from tests.api.conftest import MakeKey, settings_for

PATH = "/v1/memories?subject_id=ann"


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_a_key_lets_its_tenant_in(app: TestClient, make_key: MakeKey) -> None:
    answer = app.get(PATH, headers=bearer(make_key()))
    assert (answer.status_code, answer.json()) == (200, {"memories": [], "next_cursor": None})


def refused() -> dict[str, Any]:
    tenant = base64.urlsafe_b64encode(b"acme").decode().rstrip("=")
    return {
        "none": {},
        "another scheme": {"Authorization": "Basic YTpi"},
        "no key at all": bearer("hello"),
        "a wrong secret": bearer(f"reverie.{tenant}.{'x' * 43}"),
        "no tenant": bearer(f"reverie..{'x' * 43}"),
        "no base64": bearer(f"reverie.###.{'x' * 43}"),
        "no text": bearer(f"reverie.gICA.{'x' * 43}"),
        "a NUL": bearer(f"reverie.{base64.urlsafe_b64encode(bytes(3)).decode()}.{'x' * 43}"),
        "too long": bearer(f"reverie.{tenant}.{'x' * 5000}"),
    }


@pytest.mark.parametrize("case", refused())
def test_others_are_not(app: TestClient, make_key: MakeKey, case: str) -> None:
    make_key()
    answer = app.get(PATH, headers=refused()[case])
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_key_of_one_tenant_does_not_open_another(app: TestClient, make_key: MakeKey) -> None:
    make_key("other")
    kind, _, secret = make_key().split(".")
    forged = ".".join((kind, base64.urlsafe_b64encode(b"other").decode().rstrip("="), secret))
    assert tenant_of(forged) == "other"
    assert app.get(PATH, headers=bearer(forged)).status_code == 401


def test_a_scope_opens_its_routes_and_admin_opens_all(app: TestClient, make_key: MakeKey) -> None:
    outcome = {"subject_id": "a", "session_id": "b", "source_id": "c", "metric": "d", "value": 1, "positive": True}

    def statuses(*scopes: Any) -> tuple[int, int]:
        headers = bearer(make_key(scopes=scopes))
        written = app.post("/v1/outcomes", json={"outcomes": [outcome]}, headers=headers)
        return app.get(PATH, headers=headers).status_code, written.status_code

    assert statuses("read") == (200, 403)
    assert statuses("write") == (403, 200)
    assert statuses("admin") == (200, 200)


def test_a_revoked_key_ends(
    app: TestClient, make_key: MakeKey, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "TRUSTED_SECONDS", 0.0)
    text = make_key()
    assert app.get(PATH, headers=bearer(text)).status_code == 200
    at = datetime(2026, 5, 1, tzinfo=UTC)
    with Store.open(database_url, size=1) as store:
        (key,) = perform(list_keys(store.session("acme")))
        for when in (at, at + timedelta(days=1)):
            revoked = perform(revoke_key(store.session("acme"), str(key.id)[:8], revoked_at=when))
            assert revoked.revoked_at == at
        with pytest.raises(NotFoundError):
            perform(revoke_key(store.session("other"), str(key.id), revoked_at=at))
        with pytest.raises(InputError):
            perform(revoke_key(store.session("acme"), "zz", revoked_at=at))
    assert app.get(PATH, headers=bearer(text)).status_code == 401


def test_a_key_expires(app: TestClient, make_key: MakeKey) -> None:
    made = datetime.now(UTC) - timedelta(days=2)
    late = make_key(made_at=made, expires_at=made + timedelta(days=1))
    assert app.get(PATH, headers=bearer(late)).status_code == 401
    in_time = make_key(made_at=made, expires_at=made + timedelta(days=3))
    assert app.get(PATH, headers=bearer(in_time)).status_code == 200


def test_a_key_is_kept_nowhere(make_key: MakeKey, conn: psycopg.Connection[Any]) -> None:
    text = make_key()
    rows = conn.execute("select k::text, digest from ops.api_keys k").fetchall()
    assert [digest for _, digest in rows] == [key_digest(text)]
    assert text.split(".")[2] not in rows[0][0]


def test_a_key_that_sends_too_much_is_told_to_wait(database_url: str, make_key: MakeKey) -> None:
    with TestClient(create_app(settings_for(database_url, api_rate="3/minute"))) as app:
        many, few = bearer(make_key()), bearer(make_key())
        answers = [app.get(PATH, headers=many) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 120
        assert app.get(PATH, headers=few).status_code == 200
