"""The health of a tenant."""

from __future__ import annotations

import re
import time

import httpx
import pytest

pytestmark = pytest.mark.xdist_group("inspector")


def test_a_tenants_health(admin: httpx.Client) -> None:
    page = admin.get("tenant").text
    for _ in range(100):
        if "is being counted" not in page:
            break
        time.sleep(0.1)
        page = admin.get("tenant").text
    assert re.search(r"<dt>subjects</dt><dd>\d</dd>", page)
    assert "Needs attention" in page
