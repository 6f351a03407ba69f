"""Who is signed in, and of which tenant a page is."""

from __future__ import annotations

import pytest

from reverie.errors import NotFoundError
from reverie.inspector.visits import Visitor, tenant_of_visit


def visitor(tenant_id: str | None) -> Visitor:
    return Visitor(name="shop", key="1a2b3c4d", tenant_id=tenant_id, scopes=frozenset({"write"}))


def test_a_key_opens_its_own_tenant() -> None:
    assert tenant_of_visit(visitor("acme"), None) == "acme"
    assert tenant_of_visit(visitor("acme"), "acme") == "acme"
    with pytest.raises(NotFoundError):
        tenant_of_visit(visitor("acme"), "globex")


def test_an_operator_names_a_tenant() -> None:
    assert tenant_of_visit(visitor(None), "globex") == "globex"
    assert tenant_of_visit(visitor(None), None) is None


def test_rows_name_the_key() -> None:
    assert visitor("acme").actor == "shop (key 1a2b3c4d, inspector)"
    assert visitor("acme").allows("write") and not visitor("acme").allows("read")
