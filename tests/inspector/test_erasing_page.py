"""An erasure is shown before it is done."""

from __future__ import annotations

import httpx
import pytest

from tests.inspector.conftest import token_of

pytestmark = pytest.mark.xdist_group("inspector")


def test_an_erasure_needs_its_confirmation(admin: httpx.Client) -> None:
    page = admin.get("erase", params={"kind": "session", "subject": "eve", "session": "s2"}).text
    assert "<strong>2</strong> turns" in page and "Other turns of eve stay" in page
    form = {"token": token_of(page), "kind": "session", "subject": "eve", "session": "s2", "confirm": "yes"}
    refused = admin.post("erase", data=form)
    assert refused.status_code == 422 and "Nothing was erased" in refused.text
    assert "s2" in admin.get("subject", params={"subject": "eve", "view": "sessions"}).text
