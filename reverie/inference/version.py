"""The version of a small model's answers, which changes with the model and with the code around it."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

#: Files of a package that decide what its model gives, besides the weights, after which the model is named.
_SUFFIXES = (".py", ".json")
_DIGITS = 8


@cache
def code_version(*packages: str) -> str:
    """Return a hash of the code and numbers of packages, 8 hexadecimal digits."""
    found = hashlib.sha256()
    for package in packages:
        for file in sorted(files(package).iterdir(), key=lambda file: file.name):
            if file.name.endswith(_SUFFIXES):
                found.update(file.read_bytes())
    return found.hexdigest()[:_DIGITS]
