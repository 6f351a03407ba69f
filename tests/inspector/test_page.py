"""What changes something needs a key that may; what is read needs one that may read."""

from __future__ import annotations

from itertools import chain

from reverie.inspector.views import (
    amending,
    attention,
    erasing_page,
    ledgers,
    memory_page,
    people,
    playground,
    tenants,
    versions,
)

_ALL = (amending, attention, erasing_page, ledgers, memory_page, people, playground, tenants, versions)


def test_a_form_that_changes_something_needs_more_than_reading() -> None:
    pages = list(chain.from_iterable(module.PAGES for module in _ALL))
    forms = {page.path: page.scope for page in pages if page.method == "POST"}
    # a question and a context are asked by a form, since their words are no part of an address
    assert {path for path, scope in forms.items() if scope == "read"} == {"recall", "context"}
    assert forms["erase"] == forms["generations"] == forms["reviews"] == "admin"
    assert forms["amend"] == forms["triggers"] == "write"
    assert [page.path for page in pages if not page.of_tenant] == [""]
    assert len({(page.path, page.method) for page in pages}) == len(pages)
