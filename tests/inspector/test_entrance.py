"""Who gets in, and what the browser keeps."""

from __future__ import annotations

import httpx
import pytest

from tests.inspector.conftest import Site, token_of

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
