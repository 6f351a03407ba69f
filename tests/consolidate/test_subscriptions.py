"""Webhooks: their addresses."""

from __future__ import annotations

import pytest

from reverie.errors import InputError
from reverie.store.database import Store
from tests.consolidate.outbox import subscribe


@pytest.mark.parametrize(
    "url", ["ftp://example.org", "https://", "https://me:secret@example.org", "hook", "http://169.254.169.254/latest"]
)
def test_an_address_must_be_one_of_http(tenant: Store, url: str) -> None:
    with pytest.raises(InputError):
        subscribe(tenant, url=url)
