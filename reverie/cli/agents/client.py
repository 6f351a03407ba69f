"""The modules of the client, `reverie-client`, which is installed beside the engine or not at all."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from reverie.errors import SettingsError
from reverie.installing import install_command


def client_module(name: str) -> Any:
    """Return a module of the client. Raises SettingsError, with the command that installs it, if it is missing."""
    try:
        return import_module(f"reverie_client.{name}" if name else "reverie_client")
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("reverie_client", "mcp", "mcp_types", "httpx"):
            raise
        command = install_command("mcp", of="reverie-client")
        raise SettingsError(f"{package} is not installed; install it with: {command}.") from error
