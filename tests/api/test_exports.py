"""An export through the API has the files that the command writes, and leaves none behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.api.conftest import MakeKey
from tests.api.test_live import BRUNO, HERE, say


def test_a_person_can_be_taken_away(
    app: TestClient, make_key: MakeKey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    app.headers["Authorization"] = f"Bearer {make_key(scopes=['admin'])}"
    say(app, BRUNO)
    app.post("/v1/sessions/close", json=HERE)

    def ask(**params: Any) -> Any:
        return app.get("/v1/exports", params={"subject_id": "ana"} | params)

    answer = ask()
    assert answer.headers["content-type"] == "application/x-ndjson"
    manifest, *rows = map(json.loads, answer.text.splitlines())
    assert (manifest["tenant_id"], manifest["subject_id"]) == ("acme", "ana")
    assert [row["row"]["text"] for row in rows if row["table"] == "log.turns"] == [BRUNO["text"]]
    assert json.loads(ask(part="memory").text.splitlines()[0])["format"] == "reverie export memory"
    assert BRUNO["text"] in ask(part="person").text
    assert ask(part="all").status_code == 422
    missing = ask(subject_id="nobody")
    assert missing.status_code == 404 and "nobody" in missing.json()["detail"]
    app.headers["Authorization"] = f"Bearer {make_key()}"
    assert ask().status_code == 403
    assert not list(tmp_path.glob("reverie-export-*"))
