"""An erasure is shown before it is done."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from fastapi.testclient import TestClient

from reverie.api.app import create_app
from reverie.inspector.app import mount_inspector
from tests.api.conftest import settings_for
from tests.api.test_live import until
from tests.inspector.conftest import OPERATOR, Site, command, token_of
from tests.recall.conftest import Corpus

pytestmark = pytest.mark.xdist_group("inspector")


def test_an_erasure_needs_its_confirmation(admin: httpx.Client) -> None:
    page = admin.get("erase", params={"kind": "session", "subject": "eve", "session": "s2"}).text
    assert "<strong>2</strong> turns" in page and "Other turns of eve stay" in page
    form = {"token": token_of(page), "kind": "session", "subject": "eve", "session": "s2", "confirm": "yes"}
    refused = admin.post("erase", data=form)
    assert refused.status_code == 422 and "Nothing was erased" in refused.text
    assert "s2" in admin.get("subject", params={"subject": "eve", "view": "sessions"}).text


def test_turns_on_which_other_memories_rest_are_erased_after_a_warning(site: Site, tmp_path: Path) -> None:
    turn = {"subject_id": "nia", "session_id": "s1", "role": "user", "said_at": "2026-03-01T10:00Z"}
    file = tmp_path / "said.jsonl"
    file.write_text(json.dumps(turn | {"text": "My name is Nia and I live in Oslo."}))
    command(site.database, "import", str(file), "--tenant", "globex")
    command(site.database, "run", "--tenant", "globex")
    shown = json.loads(command(site.database, "show", "nia", "--tenant", "globex", "--json"))["subject"]["memories"]
    assert len(shown) > 1
    with site.signed_in("other") as client:
        form = {"kind": "memory", "memory": shown[0]["id"]}
        page = client.get("erase", params=form).text
        assert "Other memories rest on some of these turns too" in page and "<strong>1</strong> turns" in page
        form |= {"token": token_of(page), "confirm": "erase"}
        assert client.post("erase", data=form).status_code == 422, "only the form of the warning erases them"
        assert 'name="shared" value="yes"' in page
        assert "Receipt" in client.post("erase", data=form | {"shared": "yes"}).text


def test_a_pasted_confirmation_may_have_a_space(site: Site, tmp_path: Path) -> None:
    turn = {"session_id": "s1", "role": "user", "said_at": "2026-03-01T10:00Z", "text": "Good morning."}
    file = tmp_path / "said.jsonl"
    file.write_text(json.dumps(turn | {"subject_id": "leo"}))
    command(site.database, "import", str(file), "--tenant", "globex")
    with site.signed_in("other") as client:
        form = {"kind": "session", "subject": "leo", "session": "s1"}
        form["token"] = token_of(client.get("erase", params=form).text)
        assert "Receipt" in client.post("erase", data=form | {"confirm": "erase "}).text


def test_a_name_that_ends_with_a_space_is_another_subject(site: Site, tmp_path: Path) -> None:
    turn = {"session_id": "s1", "role": "user", "said_at": "2026-03-01T10:00Z", "text": "Good morning."}
    file = tmp_path / "said.jsonl"
    file.write_text("\n".join(json.dumps(turn | {"subject_id": name}) for name in ("mia", "mia ")))
    command(site.database, "import", str(file), "--tenant", "globex")
    with site.signed_in("other") as client:
        form = {"kind": "subject", "subject": "mia "}
        page = client.get("erase", params=form).text
        assert '<strong class="exact">mia </strong>' in page, "its space is shown"
        form["token"] = token_of(page)
        refused = client.post("erase", data=form | {"confirm": "mia"})
        assert refused.status_code == 422 and "Nothing was erased" in refused.text
        assert "Receipt" in client.post("erase", data=form | {"confirm": "mia "}).text
    left = json.loads(command(site.database, "subjects", "--tenant", "globex", "--json"))["subjects"]
    assert [each["subject_id"] for each in left if each["subject_id"].startswith("mia")] == ["mia"]


@pytest.mark.parametrize(
    ("method", "path", "told"),
    [
        ("POST", "erase", "may still be made"),
        ("POST", "amend", "may still be made"),
        ("GET", "erase", "Nothing was stored"),
    ],
)
def test_a_page_that_takes_too_long_says_whether_it_may_be_stored(
    database_url: str, conn: psycopg.Connection[Any], method: str, path: str, told: str
) -> None:
    corpus = Corpus(conn)
    later, earlier = corpus.memory("Lives in Oslo"), corpus.memory("Lives in Rome", state="superseded")
    conn.execute("update memory.memories set superseded_by = %s where id = %s", [later, earlier])
    settings = settings_for(database_url, api_seconds=1)
    app = create_app(settings)
    mount_inspector(app, settings, operator_key=OPERATOR)
    with TestClient(app, base_url="http://testserver/inspector/") as client:
        sent = {"key": OPERATOR, "token": token_of(client.get("sign-in").text)}
        form = {
            "token": token_of(client.post("sign-in", data=sent).text),
            "tenant": "acme",
            "subject": "ann",
            "confirm": "ann",
        }
        form |= {"kind": "subject" if path == "erase" else "keep_apart", "memory": str(earlier)}
        with conn.transaction():
            conn.execute("lock table memory.memories")
            answer = client.post(path, data=form) if method == "POST" else client.get(path, params=form)
            assert answer.status_code == 503 and 'role="alert"' in answer.text, answer.text
            assert told in answer.text
        if method == "POST":
            done = "select from ops.erasures union all select from log.corrections"
            until(lambda: conn.execute(done).fetchone() is not None)


def test_a_refused_confirmation_quotes_the_name_as_it_is(site: Site, tmp_path: Path) -> None:
    turn = {"session_id": "s1", "role": "user", "said_at": "2026-03-01T10:00Z", "text": "Good morning."}
    name = "o'\\neil"
    file = tmp_path / "said.jsonl"
    file.write_text(json.dumps(turn | {"subject_id": name}))
    command(site.database, "import", str(file), "--tenant", "globex")
    with site.signed_in("other") as client:
        form = {"kind": "subject", "subject": name}
        form["token"] = token_of(client.get("erase", params=form).text)
        refused = client.post("erase", data=form | {"confirm": "no"})
        assert refused.status_code == 422 and f"“{name}”" in html.unescape(refused.text)
        assert "Receipt" in client.post("erase", data=form | {"confirm": name}).text
