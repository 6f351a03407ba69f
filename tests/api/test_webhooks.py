"""The routes of webhooks."""

from __future__ import annotations

from uuid import uuid4

from fastapi.testclient import TestClient

from tests.api.conftest import MakeKey


def test_webhooks_are_for_administrators(app: TestClient, make_key: MakeKey) -> None:
    url = "https://example.org/hook"
    app.headers["Authorization"] = f"Bearer {make_key()}"
    assert app.get("/v1/webhooks").status_code == 403
    app.headers["Authorization"] = f"Bearer {make_key(scopes=('admin',))}"
    assert app.post("/v1/webhooks", json={"url": url, "events": ["all"]}).status_code == 422
    assert app.post("/v1/webhooks", json={"url": "ftp://x", "events": ["trigger.due"]}).status_code in (400, 422)
    metadata = {"url": "http://169.254.169.254/latest", "events": ["trigger.due"]}
    assert "private network" in app.post("/v1/webhooks", json=metadata).json()["detail"]
    unreadable = app.post("/v1/webhooks", json={"url": "https://[x]/", "events": ["trigger.due"]})
    assert unreadable.status_code == 422 and "host" in unreadable.json()["detail"]
    made = app.post("/v1/webhooks", json={"url": url, "events": ["trigger.due"]}).json()
    assert made["secret"].startswith("whsec_")
    (listed,) = app.get("/v1/webhooks").json()["webhooks"]
    assert (listed["id"], listed["url"], listed["waiting"], "secret" in listed) == (made["id"], url, 0, False)
    assert app.post(f"/v1/webhooks/{made['id']}/replay").json() == {"messages": 0}
    assert app.delete(f"/v1/webhooks/{made['id']}").status_code == 200
    assert app.delete(f"/v1/webhooks/{uuid4()}").status_code == 404
