"""Signed cookies and the tokens of forms.

A cookie is `payload.signature`, both base64url; the signature is HMAC-SHA256 (RFC 2104). It holds the digest of a key
and never the key. The token of a form is an HMAC over the cookie of its reader, so that no other site can know it
(OWASP, "Signed double-submit cookie").
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import Any

import orjson

_SECRET_BYTES = 32


class CookieSigner:
    """Signs what a browser keeps and brings back."""

    def __init__(self, secret: str | None = None) -> None:
        """`secret`: shared by all processes that serve one inspector; None: random, for this process alone."""
        given = secret.encode() if secret else secrets.token_bytes(_SECRET_BYTES)
        self._secret = hashlib.sha256(b"reverie inspector" + given).digest()

    def sign(self, content: Mapping[str, Any]) -> str:
        """Return a cookie with this content, which the reader may see and not change."""
        payload = _encode(orjson.dumps({"nonce": secrets.token_urlsafe(12), **content}))
        return f"{payload}.{self._signature('cookie', payload)}"

    def read(self, cookie: str | None) -> dict[str, Any] | None:
        """Return the content of a cookie; None if this signer did not sign it."""
        payload, _, signature = (cookie or "").partition(".")
        if not hmac.compare_digest(signature.encode(), self._signature("cookie", payload).encode()):
            return None
        content: dict[str, Any] = orjson.loads(_decode(payload))
        return content

    def token(self, cookie: str) -> str:
        """Return the token of the forms on pages of who holds this cookie."""
        return self._signature("form", cookie)

    def accepts(self, cookie: str, token: str) -> bool:
        """Return whether a form's token belongs to the cookie that came with it."""
        return hmac.compare_digest(token.encode(), self.token(cookie).encode())

    def _signature(self, use: str, text: str) -> str:
        return _encode(hmac.digest(self._secret, f"{use}:{text}".encode(), "sha256"))


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
