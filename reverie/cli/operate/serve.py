"""`reverie serve`: the HTTP API."""

from __future__ import annotations

import gc
import logging
import os
import sys
from contextlib import suppress
from typing import Any

import click

from reverie.cli.output import print_json, say
from reverie.cli.session import Session
from reverie.errors import SettingsError

#: Seconds that requests in work get to end when the server is told to stop.
_GRACE_SECONDS = 10
#: Objects more than before after which garbage is looked for. Requests leave none that does not go by itself, but their
#: hits and rows alone pass Python's own 700 several times a request.
GARBAGE_OBJECTS = 50_000
#: How long a thread may run while a request waits for the interpreter.
SWITCH_SECONDS = 0.0005


@click.command("serve", short_help="Serve the HTTP API.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 is all of them.")
@click.option("--port", default=8080, show_default=True, type=click.IntRange(0, 65535), help="0: any free one.")
@click.option("--access-log", is_flag=True, help="A line for each request, without its query string.")
@click.option("--json", "as_json", is_flag=True, help="Say where it listens as one JSON object on stdout.")
def command(host: str, port: int, access_log: bool, as_json: bool) -> None:
    """Serve the HTTP API until it is interrupted; then requests in work are ended first.

    What it answers is described under /docs. Callers need a key: `reverie keys add`. For more than one process, start
    several on ports of their own behind a proxy; they share nothing but the database.

    \b
    Settings: DATABASE_URL, REVERIE_EMBEDDING_MODEL, REVERIE_THREADS (models at once), REVERIE_API_CONNECTIONS (to
    Postgres, in each of two roles), REVERIE_API_BYTES, REVERIE_API_CHARACTERS, REVERIE_API_SECONDS,
    REVERIE_API_RATE (such as 200/second).

    \b
    Examples:
      reverie serve
      reverie serve --host 0.0.0.0 --port 80
    """
    import uvicorn

    from reverie.api.app import create_app

    with Session() as session:
        session.worker.tenants()  # a database that cannot be used is said so in one sentence, and now
        settings = session.settings

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                spare_requests()
                chosen = self.servers[0].sockets[0].getsockname()[1]
                url = f"http://{f'[{host}]' if ':' in host else host}:{chosen}"
                if as_json:
                    print_json({"url": url, "documentation": f"{url}/docs", "pid": os.getpid()})
                else:
                    say(f"Reverie serves on {url}, described under {url}/docs. Ctrl-C ends it.")

    config = uvicorn.Config(
        create_app(settings),
        host=host,
        port=port,
        access_log=access_log,
        log_level="info" if access_log else "warning",
        timeout_graceful_shutdown=_GRACE_SECONDS,
        server_header=False,
    )
    logging.getLogger("uvicorn.access").addFilter(without_query)
    server = Server(config)
    with suppress(KeyboardInterrupt):  # how people end it
        server.run()
    if not server.started:
        raise SettingsError(f"The server did not start on {host}:{port}; the lines above say why.")


def without_query(record: logging.LogRecord) -> bool:
    """Cut the query string, which may hold what people said, from a line of uvicorn's access log."""
    if isinstance(record.args, tuple) and len(record.args) == 5:  # client, method, path, version, status
        client, method, path, *rest = record.args
        record.args = (client, method, str(path).partition("?")[0], *rest)
    return True


def spare_requests() -> None:
    """Keep from requests, once all is loaded, what Python does beside them.

    Threads that flush or run models give way sooner than after its 5 ms, and libraries and models, which never go, are
    no longer looked through for garbage, which stops everything for as long.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_OBJECTS, 10, 10)
