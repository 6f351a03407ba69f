"""Who is signed in, of which tenant a page is, and the fields of a request."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

import pytest
from starlette.requests import Request

from reverie.errors import InputError, NotFoundError
from reverie.inspector.visits import Inspector, Visit, Visitor, tenant_of_visit


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


def test_a_name_keeps_its_spaces_and_an_entry_does_not() -> None:
    scope: dict[str, Any] = {"type": "http", "query_string": b"subject=ana+&search=+x+", "reverie.services": None}
    form = {"session": " s1", "turn": f" {UUID(int=7)}\n", "as_of": " 2026-03-01 ", "empty": " "}
    inspector = cast("Inspector", None)
    visit = Visit(Request(scope), inspector, visitor("acme"), form, None, datetime(2026, 6, 1, tzinfo=UTC))
    assert (visit.name("subject"), visit.name("session"), visit.value("subject")) == ("ana ", " s1", "ana ")
    assert (visit.entry("search"), visit.entry("empty"), visit.value("absent")) == ("x", None, None)
    assert visit.uuid("turn") == UUID(int=7) and visit.time() == datetime(2026, 3, 1, tzinfo=UTC)
    with pytest.raises(InputError, match="The address needs absent"):
        visit.name("absent")


@pytest.mark.parametrize(("text", "number"), [("12", 12), ("", None), ("-1", None), ("²", None), ("9" * 5000, None)])
def test_a_number_is_of_digits_that_postgres_can_compare(text: str, number: int | None) -> None:
    scope: dict[str, Any] = {"type": "http", "query_string": b"", "reverie.services": None}
    inspector = cast("Inspector", None)
    visit = Visit(Request(scope), inspector, visitor("acme"), {"after": text}, None, datetime(2026, 6, 1, tzinfo=UTC))
    assert visit.number("after") == number
