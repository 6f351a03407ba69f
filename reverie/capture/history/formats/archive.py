"""Read a directory or zip of JSON files, as exports are delivered, in place and one file at a time."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from reverie.capture.history.files import DamagedFileError
from reverie.capture.history.records import load_json
from reverie.errors import InputError

#: Largest file, in bytes, that is loaded as a whole. Slack writes one file per channel and day.
MAX_FILE = 256 << 20
_BLOCK = 1 << 20
#: The bit of a file in a zip that says that it has a password.
_ENCRYPTED = 1
#: Raised for a damaged or unreadable zip or file. RuntimeError: a compression or feature that Python lacks.
_DAMAGES = (OSError, EOFError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)


class Archive:
    """The JSON files below a directory or in a zip, by relative path; a common top folder is removed.

    Hidden files and those in hidden folders are left out: the caches of a program are no part of an export.
    """

    def __init__(self, path: Path) -> None:
        """Open the directory or zip. Raises InputError: it is not readable, or has a password."""
        self.path = path
        self._zip: zipfile.ZipFile | None = None
        try:
            if path.is_dir():
                self._full = {
                    file.relative_to(path).as_posix(): str(file) for file in path.rglob("*.json") if file.is_file()
                }
            else:
                self._zip = zipfile.ZipFile(path)
                self._full = {name: name for name in self._zip.namelist() if name.endswith(".json")}
        except _DAMAGES:
            raise InputError(f"{path.name or path} cannot be read: it is damaged or not accessible.") from None
        if self._zip and any(file.flag_bits & _ENCRYPTED for file in self._zip.infolist()):
            self._zip.close()
            raise InputError(f"{path.name} has a password: unpack it and import the directory.")
        self._full = {
            name: full
            for name, full in self._full.items()
            if not name.startswith("__MACOSX/") and "/." not in f"/{name}"
        }
        tops = {name.partition("/")[0] for name in self._full}
        if len(tops) == 1 and all("/" in name for name in self._full) and not _is_day(self._full):
            self._full = {name.partition("/")[2]: full for name, full in self._full.items()}

    @property
    def names(self) -> list[str]:
        """The relative paths of the JSON files, sorted."""
        return sorted(self._full)

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Open a file."""
        full = self._full[name]
        with self._zip.open(full) if self._zip else open(full, "rb") as stream:
            yield stream

    def blocks(self, name: str) -> Iterator[bytes]:
        """Yield the content of a file in blocks. Raises DamagedFileError: the rest of the file is not readable."""
        try:
            with self.open(name) as stream:
                while block := stream.read(_BLOCK):
                    yield block
        except _DAMAGES:
            raise DamagedFileError from None

    def load(self, name: str) -> Any:
        """Return the JSON of a file. Raises ValueError: the file is too large, damaged, or not JSON."""
        try:
            with self.open(name) as stream:
                content = stream.read(MAX_FILE + 1)
        except _DAMAGES:
            raise ValueError("the file is damaged") from None
        if len(content) > MAX_FILE:
            raise ValueError("the file is larger than 256 MiB")
        return load_json(content)

    def close(self) -> None:
        """Close the zip."""
        if self._zip:
            self._zip.close()


def _is_day(names: dict[str, str]) -> bool:
    """Tell whether the only folder is itself a channel with a file per day."""
    return all(name.count("/") == 1 and name.rpartition("/")[2][:4].isdigit() for name in names)
