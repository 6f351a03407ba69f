"""How much is known about a subject."""

from __future__ import annotations

import pytest

from reverie.errors import NotFoundError
from reverie.recall.inspect import count_subject
from reverie.store.database import Store
from reverie.store.session import perform
from tests.inspector.conftest import Site

pytestmark = pytest.mark.xdist_group("inspector")


def test_a_subject_is_counted(site: Site) -> None:
    with Store.open(site.database, role="reader", size=1) as store:
        counts = perform(count_subject(store.session("acme"), "eve"))
        assert (counts.turns, counts.sessions) == (7, 3)
        assert counts.states["superseded"] == 1
        with pytest.raises(NotFoundError, match="no subject 'eve'"):
            perform(count_subject(store.session("globex"), "eve"))
