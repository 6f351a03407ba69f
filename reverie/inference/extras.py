"""Imports the libraries of extras when a model needs them; an error names the extra that is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from reverie.errors import InferenceError
from reverie.installing import install_command


def load_extra(module: str, *, extra: str, needed_by: str) -> Any:
    """Return the imported module; Any, because it may be absent where the types are checked.

    Raises InferenceError naming the extra to install.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise InferenceError(f"{needed_by} needs an extra; install it with: {install_command(extra)}.") from None
