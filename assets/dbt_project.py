"""The dbt project of the marts: whether dbt is installed, its manifest, and how dbt connects."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from reverie.errors import StageError
from reverie.settings import load_settings
from reverie.store.server.address import database_url, libpq_environment

PROJECT = Path(__file__).resolve().parent.parent / "dbt"
#: The folder that dbt writes to; no file in it is part of the project.
TARGET = PROJECT / "target"
#: Variables of every dbt call: the project's folders, and no telemetry.
QUIET = {
    "DBT_PROFILES_DIR": str(PROJECT),
    "DBT_PROJECT_DIR": str(PROJECT),
    "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
    "DO_NOT_TRACK": "1",
}
_GENERATED = {"target", "logs"}


def is_installed() -> bool:
    """Return whether the extra `dbt` is installed and its project exists."""
    return find_spec("dagster_dbt") is not None and find_spec("dbt") is not None and PROJECT.is_dir()


def dbt_program() -> str:
    """Return the path of dbt, preferably in this environment, which need not be on the PATH."""
    own = Path(sys.executable).with_name("dbt")
    return str(own) if own.exists() else shutil.which("dbt") or "dbt"


def prepared_manifest() -> Path:
    """Return the path of the project's manifest; parse it again only if a file of the project or dbt has changed.

    Needs no database. Processes that start together may both parse, and each finds a complete file.
    Raises StageError: the project cannot be parsed.
    """
    folder = writable_target()
    manifest = folder / f"manifest-{_fingerprint()}.json"
    if not manifest.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as fresh:
            call = [dbt_program(), "--quiet", "--no-use-colors", "parse", "--target-path", fresh, "--log-path", fresh]
            done = subprocess.run(call, env=os.environ | QUIET, capture_output=True, text=True, check=False)
            if done.returncode:
                raise StageError(f"dbt cannot read its project: {done.stdout.strip() or done.stderr.strip()}")
            for left in folder.glob("manifest-*.json"):
                left.unlink(missing_ok=True)
            os.replace(Path(fresh) / "manifest.json", manifest)
    return manifest


def dbt_environment() -> dict[str, str]:
    """Return the variables by which dbt connects to the database of the settings; dbt's profile names the role."""
    variables = libpq_environment(database_url(load_settings()), "reverie_analyst")
    del variables["PGOPTIONS"]  # libpq would apply it to every connection of this process
    return QUIET | variables


def in_database(manifest: Mapping[str, Any], database: str) -> dict[str, Any]:
    """Return the manifest for a database of this name; it was parsed without a database, under the default name."""

    def moved(each: Mapping[str, Any]) -> dict[str, Any]:
        relation = each.get("relation_name")
        named = relation and relation.replace(f'"{each["database"]}".', f'"{database}".', 1)
        return {**each, "database": database, "relation_name": named}

    return {
        **manifest,
        **{part: {name: moved(each) for name, each in manifest[part].items()} for part in ("nodes", "sources")},
    }


@contextmanager
def environment(variables: dict[str, str]) -> Iterator[None]:
    """Set environment variables for a `with` block, since dagster-dbt passes its own environment on to dbt."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def writable_target() -> Path:
    """Return the project's target folder, or one under REVERIE_HOME if the checkout is not writable."""
    return TARGET if os.access(PROJECT, os.W_OK) else load_settings().home / "dbt"


def _fingerprint() -> str:
    """Return a hash of the project's files and of dbt's versions."""
    digest = hashlib.sha256(f"{version('dbt-core')} {version('dbt-postgres')}".encode())
    for path in sorted(PROJECT.rglob("*")):
        if path.is_file() and path.relative_to(PROJECT).parts[0] not in _GENERATED:
            digest.update(str(path.relative_to(PROJECT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
