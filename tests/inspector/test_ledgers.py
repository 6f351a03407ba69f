"""Runs and costs."""

from __future__ import annotations

import httpx
import pytest

pytestmark = pytest.mark.xdist_group("inspector")


def test_ledgers_filter(admin: httpx.Client) -> None:
    page = admin.get("runs", params={"stage": "merge"}).text
    assert '<th scope="row">merge</th>' in page and '<th scope="row">prune</th>' not in page
    assert "Nothing was spent" in admin.get("costs", params={"by": "subject", "since": "2026-01-01"}).text


@pytest.mark.parametrize("after", ["²", "9" * 5000])
def test_the_audit_starts_over_where_its_place_is_no_number(admin: httpx.Client, after: str) -> None:
    assert admin.get("audit", params={"after": after}).status_code == 200
