"""An export through the API has the files that the command writes, and leaves none behind."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from starlette.responses import FileResponse
from starlette.types import Message, Send

from reverie.api.app import create_app
from reverie.api.routes.privacy.exports import remove_old_exports
from reverie.settings import Settings
from tests.api.conftest import MakeKey, settings_for
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
    for wanted, status in (("bytes=999999999-", 416), ("bytes=x", 400), ("bytes=0-9", 206)):
        assert app.get("/v1/exports?subject_id=ana", headers={"Range": wanted}).status_code == status, wanted
        assert not list(tmp_path.glob("reverie-export-*")), wanted
    assert ask(part="all").status_code == 422
    missing = ask(subject_id="nobody")
    assert missing.status_code == 404 and "nobody" in missing.json()["detail"]
    app.headers["Authorization"] = f"Bearer {make_key()}"
    assert ask().status_code == 403
    assert not list(tmp_path.glob("reverie-export-*"))


def test_one_that_cannot_be_sent_in_time_leaves_none_behind(
    database_url: str, make_key: MakeKey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    async def slow(*_: Any) -> None:
        await asyncio.sleep(60)

    written: list[Any] = []

    def slow_to_begin(settings: Settings) -> str:
        time.sleep(3)
        return database_url

    with TestClient(create_app(settings_for(database_url, api_seconds=2))) as app:
        app.headers["Authorization"] = f"Bearer {make_key(scopes=['admin'])}"
        say(app, BRUNO)
        monkeypatch.setattr("starlette.responses.FileResponse._handle_simple", slow)
        assert app.get("/v1/exports?subject_id=ana").status_code == 503
        assert not list(tmp_path.glob("reverie-export-*"))
        monkeypatch.setattr("reverie.api.routes.privacy.exports.database_url", slow_to_begin)
        monkeypatch.setattr("reverie.api.routes.privacy.exports.write_readable", lambda *_: pytest.fail("went on"))
        monkeypatch.setattr("reverie.drive.exporting.orjson.dumps", lambda row, **_: written.append(row) or b"")
        assert app.get("/v1/exports?subject_id=ana").status_code == 503  # the thread ends with the app
    assert not list(tmp_path.glob("reverie-export-*"))
    assert [row for row in written if "table" in row] == [], "nobody waits for the rows any more"


def test_a_download_may_take_longer_than_other_requests(
    database_url: str, make_key: MakeKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("starlette.responses.FileResponse.chunk_size", 64)
    handle = FileResponse._handle_simple

    async def slowly(response: Any, send: Send, *given: Any) -> None:
        async def late(message: Message) -> None:
            await send(message)
            if message["type"] == "http.response.start":
                await asyncio.sleep(2.5)

        await handle(response, late, *given)

    monkeypatch.setattr("starlette.responses.FileResponse._handle_simple", slowly)
    with TestClient(create_app(settings_for(database_url, api_seconds=2))) as app:
        app.headers["Authorization"] = f"Bearer {make_key(scopes=['admin'])}"
        say(app, BRUNO)
        assert BRUNO["text"] in app.get("/v1/exports?subject_id=ana").text


def test_what_a_killed_server_left_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name, hours in (("reverie-export-1", 2), ("reverie-export-2", 0), ("other", 2)):
        (tmp_path / name / "files").mkdir(parents=True)
        os.utime(tmp_path / name, times=(time.time() - 3600 * hours,) * 2)
    remove_old_exports()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "reverie-export-2"]
