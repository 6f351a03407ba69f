"""`reverie inspect`: serve the inspector on this machine."""

from __future__ import annotations

import click

from reverie.cli.operate.serve import ServedApp, serve_app


@click.command("inspect", short_help="Look at memory in a browser.")
@click.option(
    "--port",
    default=8090,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 means any free port.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the address and the key as one JSON object.")
def command(port: int, as_json: bool) -> None:
    """Serve the inspector on this machine, for a browser on it, until it is interrupted. Print its address and a key.

    The key opens every tenant and ends with the process. To serve the inspector to others, see `reverie serve
    --inspector`, behind a proxy with TLS; each API key then opens its own tenant.

    \b
    Examples:
      reverie inspect
      reverie inspect --port 0 --json
    """
    import secrets

    key = secrets.token_urlsafe(32)
    serve_app(ServedApp(host="127.0.0.1", port=port, inspector=True, operator_key=key, as_json=as_json))
