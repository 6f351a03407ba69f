"""Cookies that nobody else can make, and tokens that belong to one cookie."""

from __future__ import annotations

import pytest

from reverie.inspector.signing import CookieSigner


def test_a_cookie_is_read_by_who_shares_the_secret() -> None:
    cookie = CookieSigner("a secret").sign({"tenant": "acme"})
    content = CookieSigner("a secret").read(cookie)
    assert content is not None and content["tenant"] == "acme"
    assert CookieSigner("another").read(cookie) is None
    assert CookieSigner().read(cookie) is None


@pytest.mark.parametrize("cookie", [None, "", ".", "a.b", "é.ü"])
def test_what_is_no_cookie_of_ours_is_nothing(cookie: str | None) -> None:
    assert CookieSigner("a secret").read(cookie) is None


def test_a_changed_cookie_is_nothing() -> None:
    signer = CookieSigner()
    payload, _, signature = signer.sign({"tenant": "acme"}).rpartition(".")
    other = signer.sign({"tenant": "globex"}).rpartition(".")[0]
    assert signer.read(f"{other}.{signature}") is None
    assert signer.read(f"{payload}.{signature}") is not None


def test_a_token_belongs_to_its_cookie() -> None:
    signer = CookieSigner()
    one, other = signer.sign({}), signer.sign({})
    assert signer.accepts(one, signer.token(one))
    assert not signer.accepts(one, signer.token(other))
    assert not signer.accepts(one, "") and not signer.accepts("", "")
