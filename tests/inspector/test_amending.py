"""Corrections are made, undone and taken back."""

from __future__ import annotations

import re

import httpx
import pytest

from tests.inspector.conftest import Site, token_of

pytestmark = pytest.mark.xdist_group("inspector")


def memory_of(admin: httpx.Client, words: str) -> str:
    page = admin.get("subject", params={"subject": "ida"}).text
    found = re.search(rf'memory=([0-9a-f-]{{36}})">[^<]*{words}', page)
    assert found, page
    return found[1]


def test_a_correction_is_made_and_taken_back(admin: httpx.Client) -> None:
    memory = memory_of(admin, "Bergen")
    page = admin.get("memory", params={"memory": memory}).text
    form = {"token": token_of(page), "tenant": "acme", "memory": memory}
    pinned = admin.post("amend", data=form | {"kind": "pin"}).text
    assert "Pinned." in pinned and "Unpin" in pinned
    assert "Unpinned." in admin.post("amend", data=form | {"kind": "unpin"}).text
    wrong = admin.post("amend", data=form | {"kind": "wrong"}).text
    assert "withheld by a correction" in wrong
    back = admin.post("amend", data=form | {"kind": "retract"}).text
    assert "taken back" in back and "withheld by a correction" not in back
    assert admin.post("amend", data=form | {"kind": "replace", "content": " "}).status_code == 422
    assert admin.post("amend", data=form | {"kind": "praise"}).status_code == 422
    assert admin.post("amend", data=form | {"kind": "keep_apart"}).status_code == 404


def test_an_undo_names_who_asked(site: Site, admin: httpx.Client) -> None:
    history = admin.get("subject", params={"subject": "ida", "view": "history"}).text
    ended = re.findall(r'memory=([0-9a-f-]{36})">[^<]*Oslo', history)[-1]
    form = {"token": token_of(history), "memory": ended, "kind": "keep_apart"}
    page = admin.post("amend", data=form).text
    assert "Undone." in page and "admin (key " in page
    assert "The correction is taken back" in admin.post("amend", data=form | {"kind": "retract"}).text


def test_a_replacement_is_corrected_before_it_is_a_memory(admin: httpx.Client) -> None:
    """Each answer shows the nearest page that is left of it."""
    memory = memory_of(admin, "Bergen")
    form = {"token": token_of(admin.get("memory", params={"memory": memory}).text), "tenant": "acme"}

    def amend(id_: str, kind: str, content: str = "") -> httpx.Response:
        answer = admin.post("amend", data=form | {"memory": id_, "kind": kind, "content": content})
        assert answer.status_code == 200, answer.text
        return answer

    def replacement(content: str) -> str:
        page = admin.get("subject", params={"subject": "ida"}).text
        (found,) = set(re.findall(rf'memory=([0-9a-f-]{{36}})">{content}<', page)) - {memory}
        return str(found)

    amend(memory, "replace", "Lives in Trondheim")
    first = replacement("Lives in Trondheim")
    assert "<h1>Lives in Molde</h1>" in amend(first, "replace", "Lives in Molde").text
    page = amend(replacement("Lives in Molde"), "wrong")
    assert page.url.path.endswith("/subject") and "Lives in Molde" not in page.text
    assert "The correction is recorded" in page.text
    amend(memory, "retract")
    amend(memory, "replace", "Lives in Narvik")
    back = amend(replacement("Lives in Narvik"), "retract")
    assert back.url.params["memory"] == memory and "The correction is taken back" in back.text
