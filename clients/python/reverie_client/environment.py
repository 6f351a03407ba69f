"""The server's URL, the key, subject and session from environment variables, for programs used without writing code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from reverie_client.errors import ReverieClientError

URL = "http://127.0.0.1:8080"


class EnvironmentSettingsError(ReverieClientError):
    """A variable is missing. The message names it."""


@dataclass(frozen=True, kw_only=True)
class Environment:
    """REVERIE_URL, REVERIE_API_KEY, REVERIE_SUBJECT, REVERIE_SESSION."""

    url: str
    key: str
    #: None: each call names its subject.
    subject_id: str | None
    #: None: one per day.
    session_id: str | None


def read_environment(*, overrides: Mapping[str, str] | None = None) -> Environment:
    """Read the variables; `overrides` take precedence. Raises EnvironmentSettingsError if there is no key."""
    found = {**os.environ, **(overrides or {})}
    key = found.get("REVERIE_API_KEY", "")
    if not key:
        raise EnvironmentSettingsError(
            "REVERIE_API_KEY is not set: it holds a key that `reverie keys add NAME` printed."
        )
    return Environment(
        url=found.get("REVERIE_URL") or URL,
        key=key,
        subject_id=found.get("REVERIE_SUBJECT") or None,
        session_id=found.get("REVERIE_SESSION") or None,
    )
