"""`reverie serve`: serve the HTTP API."""

from __future__ import annotations

import errno
import gc
import logging
import os
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import click

from reverie.cli.output import print_json, say
from reverie.cli.session import CommandSession
from reverie.errors import SettingsError

#: Seconds that running requests have to finish when the server stops.
_GRACE_SECONDS = 10
#: New objects after which Python collects garbage. Requests leave no reference cycles, but each creates
#: several times Python's default of 700.
GARBAGE_OBJECTS = 50_000
#: Seconds for which a thread may hold the interpreter while a request waits for it.
SWITCH_SECONDS = 0.0005


@click.command("serve", short_help="Serve the HTTP API.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 means all addresses."
)
@click.option(
    "--port",
    default=8080,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 means any free port.",
)
@click.option("--inspector", is_flag=True, help="Also serve the inspector, pages for people, under /inspector.")
@click.option("--access-log", is_flag=True, help="Log each request, without its query string.")
@click.option("--json", "as_json", is_flag=True, help="Print the address as one JSON object.")
def command(host: str, port: int, inspector: bool, access_log: bool, as_json: bool) -> None:
    """Serve the HTTP API until it is interrupted. Running requests then finish first.

    The API is documented under /docs. Callers need a key: `reverie keys add`. To run several processes, start each on
    its own port behind a proxy; they share only the database.

    \b
    Settings: DATABASE_URL, REVERIE_EMBEDDING_MODEL, REVERIE_THREADS (parallel model calls), REVERIE_API_CONNECTIONS
    (to Postgres, in each of two roles), REVERIE_API_BYTES, REVERIE_API_CHARACTERS, REVERIE_API_SECONDS,
    REVERIE_API_RATE (such as 200/second); REVERIE_READ_URL (a streaming replica that answers reads);
    REVERIE_INSPECTOR=1 (as --inspector), REVERIE_INSPECTOR_KEY (opens every tenant in the inspector),
    REVERIE_INSPECTOR_SECRET (signs its cookies); FORWARDED_ALLOW_IPS (proxies trusted for the address and scheme).

    \b
    Examples:
      reverie serve
      reverie serve --host 0.0.0.0 --port 80
      reverie serve --inspector
    """
    serve_app(ServedApp(host=host, port=port, inspector=inspector, access_log=access_log, as_json=as_json))


@dataclass(frozen=True, kw_only=True)
class ServedApp:
    """The app to serve, and its address."""

    host: str
    port: int
    as_json: bool
    inspector: bool = False
    access_log: bool = False
    #: Key that opens every tenant in the inspector; None: that of the settings.
    operator_key: str | None = None


def serve_app(served: ServedApp) -> None:
    """Serve the API, with the inspector if requested, until the process is interrupted.

    Raises SettingsError if the server did not start.
    """
    import uvicorn

    from reverie.api.app import create_app

    host, port = served.host, served.port
    _check_port(host, port)
    with CommandSession() as session:
        session.worker.tenants()  # fails now, with one sentence, if the database cannot be used
        settings = session.settings
        if settings.read_url is not None:
            _ = session.reader  # and so does this

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                tune_interpreter()
                _print_address(served, self.servers[0].sockets[0].getsockname()[1])

    served = replace(served, inspector=served.inspector or settings.inspector)
    app = create_app(settings)
    if served.inspector:
        from reverie.inspector.app import mount_inspector

        mount_inspector(app, settings, operator_key=served.operator_key)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        access_log=served.access_log,
        log_level="info" if served.access_log else "warning",
        timeout_graceful_shutdown=_GRACE_SECONDS,
        server_header=False,
    )
    logging.getLogger("uvicorn.access").addFilter(without_query)
    server = Server(config)
    with suppress(KeyboardInterrupt):  # people stop it with Ctrl-C
        server.run()
    if not server.started:
        raise SettingsError(f"The server did not start on {host}:{port}; the lines above say why.")


def _check_port(host: str, port: int) -> None:
    """Fail with one sentence if another program listens on the port, or the address is not this machine's."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise click.BadParameter(f"{port} is in use by another program.", param_hint="--port") from None
            raise click.BadParameter(
                f"cannot listen on {host}:{port}: {error.strerror}.", param_hint="--host"
            ) from None


def _print_address(served: ServedApp, port: int) -> None:
    host = served.host
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    pages = f"{url}/inspector/"
    if served.as_json:
        given = {"url": url, "documentation": f"{url}/docs", "pid": os.getpid()}
        given |= {"inspector": pages} if served.inspector else {}
        print_json(given | ({"key": served.operator_key} if served.operator_key else {}))
    elif served.operator_key:
        say(f"The inspector is on {pages}. Sign in with this key, which ends with this process:")
        say(served.operator_key)
        say("Press Ctrl-C to stop.")
    else:
        shown = f" inspector: {pages};" if served.inspector else ""
        say(f"Reverie is serving on {url};{shown} documentation: {url}/docs. Press Ctrl-C to stop.")


def without_query(record: logging.LogRecord) -> bool:
    """Remove the query string, which may contain what people said, from a line of uvicorn's access log."""
    if isinstance(record.args, tuple) and len(record.args) == 5:  # client, method, path, version, status
        client, method, path, *rest = record.args
        record.args = (client, method, str(path).partition("?")[0], *rest)
    return True


def tune_interpreter() -> None:
    """Reduce how long requests wait for the interpreter; call it once everything is loaded.

    Threads that flush sessions or run models switch sooner than after Python's default of 5 ms. Libraries and models,
    which stay loaded, are excluded from garbage collection, which stops all threads.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_OBJECTS, 10, 10)
