"""Recall by a policy that is chosen."""

from __future__ import annotations

import httpx
import pytest

from tests.inspector.conftest import token_of

pytestmark = pytest.mark.xdist_group("inspector")


def test_a_policy_that_is_not_shipped_is_refused(admin: httpx.Client) -> None:
    form = {"token": token_of(admin.get("recall").text), "subject": "eve", "question": "Who?"}
    for first in ("/etc/passwd", "none"):
        assert admin.post("recall", data=form | {"first": first}).status_code == 422
    assert "No hits." in admin.post("recall", data=form | {"subject": "nobody"}).text
