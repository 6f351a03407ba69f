"""Signed cookies and the tokens of forms, by itsdangerous (HMAC-SHA256).

A cookie holds the digest of a key and never the key. The token of a form is a signature of the visitor's cookie, so
that no other site can know it (OWASP, "Signed double-submit cookie").
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any

from itsdangerous import BadData, Signer, URLSafeSerializer

_SECRET_BYTES = 32


class CookieSigner:
    """Signs cookies and forms."""

    def __init__(self, secret: str | None = None) -> None:
        """`secret`: shared by all processes that serve one inspector; None: random, for this process alone."""
        key = secret or secrets.token_hex(_SECRET_BYTES)
        self._cookies = URLSafeSerializer(
            key, salt="reverie.inspector.cookie", signer_kwargs={"digest_method": hashlib.sha256}
        )
        self._forms = Signer(key, salt="reverie.inspector.form", digest_method=hashlib.sha256)

    def sign(self, content: Mapping[str, Any]) -> str:
        """Return a cookie with this content, which its holder can read but not change."""
        return str(self._cookies.dumps({"nonce": secrets.token_urlsafe(12), **content}))

    def read(self, cookie: str | None) -> dict[str, Any] | None:
        """Return the content of a cookie; None if this signer did not sign it."""
        try:
            content: dict[str, Any] = self._cookies.loads(cookie or "")
        except BadData:
            return None
        return content

    def token(self, cookie: str) -> str:
        """Return the token of the forms on pages for the holder of this cookie."""
        return self._forms.get_signature(cookie).decode()

    def accepts(self, cookie: str, token: str) -> bool:
        """Return whether a form's token belongs to the cookie that came with it."""
        return self._forms.verify_signature(cookie, token)
