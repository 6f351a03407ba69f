"""A separate database for labelled sets, so that they never mix with a tenant's memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from reverie.store.database import Store
from reverie.store.migrate import migrate
from reverie.store.server.embedded import EmbeddedPostgres


@contextmanager
def scratch_database(folder: Path | None) -> Iterator[Store]:
    """Open a migrated database of the embedded Postgres in a permanent folder; None: in a temporary one."""
    with ExitStack() as closing:
        if folder is None:
            temporary = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="reverie_ranking_")))
            temporary.chmod(0o711)  # the server may run as another user
            folder = temporary / "postgres"
        server = EmbeddedPostgres(folder, durable=False)
        url = server.start()
        closing.callback(server.stop)
        migrate(url)
        yield closing.enter_context(Store.open(url))
