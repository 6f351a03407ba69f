"""Generations are not published by mistake."""

from __future__ import annotations

import httpx
import pytest

from tests.inspector.conftest import token_of

pytestmark = pytest.mark.xdist_group("inspector")


def test_a_publish_needs_its_confirmation(admin: httpx.Client) -> None:
    form = {"token": token_of(admin.get("generations").text), "verb": "publish", "number": "1"}
    assert admin.post("generations", data=form).status_code == 422
    assert admin.post("generations", data=form | {"verb": "drop"}).status_code == 422
