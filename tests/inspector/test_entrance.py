"""Who gets in, and what the browser keeps."""

from __future__ import annotations

import shlex
from pathlib import Path

import httpx
import pytest

from tests.inspector.conftest import Site, command, token_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "inspector.md"

pytestmark = pytest.mark.xdist_group("inspector")


def test_the_cookie_is_kept_from_scripts_and_other_sites(site: Site) -> None:
    with httpx.Client(base_url=site.address) as client:
        token = token_of(client.get("sign-in").text)
        given = client.post("sign-in", data={"key": site.keys["admin"], "token": token})
    cookie = given.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and site.keys["admin"] not in cookie


def test_nobody_gets_in_without_a_valid_key(site: Site) -> None:
    with httpx.Client(base_url=site.address, follow_redirects=True) as client:
        answer = client.get("subjects", params={"tenant": "acme"})
        assert "Sign in" in answer.text and "ann" not in answer.text
        wrong = client.post("sign-in", data={"key": "reverie.YWNtZQ.wrong", "token": token_of(answer.text)})
        assert wrong.status_code == 401 and "not valid" in wrong.text
        client.cookies.set("reverie_inspector", "eyJ0ZW5hbnQiOm51bGx9.forged", path="/inspector")
        assert "Sign in" in client.get("subjects", params={"tenant": "acme"}).text


def test_the_key_that_the_documentation_creates_gets_in(site: Site) -> None:
    (line,) = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("reverie keys add ")]
    made = command(site.database, *shlex.split(line.replace("--tenant demo", "--tenant globex"), comments=True)[1:])
    with httpx.Client(base_url=site.address, follow_redirects=True) as client:
        token = token_of(client.get("sign-in").text)
        answer = client.post("sign-in", data={"key": made.strip(), "token": token})
    assert answer.status_code == 200 and "This key may not read" not in answer.text


def test_forms_in_two_tabs_both_sign_in(site: Site) -> None:
    with httpx.Client(base_url=site.address) as client:
        first, second = (token_of(client.get("sign-in").text) for _ in range(2))
        wrong = client.post("sign-in", data={"key": "reverie.YWNtZQ.wrong", "token": first})
        assert wrong.status_code == 401
        for token in (first, second):
            answer = client.post("sign-in", data={"key": site.keys["admin"], "token": token})
            assert (answer.status_code, answer.headers["location"]) == (303, "/inspector/")
        assert client.get("subjects", params={"tenant": "acme"}).status_code == 200
