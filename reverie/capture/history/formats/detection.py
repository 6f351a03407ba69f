"""The format of a file by its first record, and its entries in that format."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

from reverie.capture.history.files import Source
from reverie.capture.history.formats.archive import Archive
from reverie.capture.history.formats.array import read_array, read_items
from reverie.capture.history.formats.chatgpt import is_conversation, read_chatgpt
from reverie.capture.history.formats.messages import MessageReader, message_list
from reverie.capture.history.formats.slack import is_slack, read_slack
from reverie.capture.history.records import Broken, Entry, Record
from reverie.errors import InputError


def is_archive(path: Path) -> bool:
    """Whether a path is a directory or a zip."""
    try:
        return path.is_dir() or (path.is_file() and zipfile.is_zipfile(path))
    except OSError:
        return False


def first_item(source: Source) -> Any:
    """Return the first item of an array, None of an empty or broken one; the source is left at its beginning."""
    entry = next(iter(read_items(source.blocks())), None)
    source.rewind()
    return None if entry is None or isinstance(entry, Broken) else entry[1]


def array_format(item: Any) -> str:
    """Return the format of an array by its first item."""
    if is_conversation(item):
        return "chatgpt"
    return "messages" if message_list(item) else "array"


def read_converted(
    source: Source, format: str, *, entries: Iterator[Entry], subject: str | None, start: datetime | None,
    mapping: Mapping[str, str],
) -> Iterator[Entry]:  # fmt: skip
    """Yield the turns of a file of ChatGPT or of message lists, whose lines or items are `entries`.

    Raises InputError: what the format does not say is not given.
    """
    if format == "chatgpt":
        return read_chatgpt(source.blocks(), subject=_required(subject, source.path))
    reader = MessageReader(name=source.path.name.partition(".")[0], subject=subject, start=start, mapping=mapping)
    return reader.read(entries)


def read_archive(path: Path, format: str | None, *, subject: str | None) -> tuple[str, Iterator[Entry]]:
    """Return the format of a directory or zip, and its turns.

    Raises InputError: it holds neither a Slack nor a ChatGPT export.
    """
    archive = Archive(path)
    conversations = [name for name in archive.names if name.rpartition("/")[2].startswith("conversations")]
    if format == "slack" or (format is None and is_slack(archive)):
        if not is_slack(archive):
            archive.close()
            raise InputError(f"{path.name} is no Slack export: it has no CHANNEL/YYYY-MM-DD.json.")
        return "slack", _closing(archive, read_slack(archive, subject=subject))
    if conversations and format in (None, "chatgpt"):
        whose = _required(subject, path)
        return "chatgpt", _closing(archive, _conversations(archive, conversations, whose))
    archive.close()
    what = "directory" if path.is_dir() else "zip"
    raise InputError(f"{path.name} is a {what}, but no export of Slack or ChatGPT: import its files one by one.")


def _conversations(archive: Archive, names: list[str], subject: str) -> Iterator[Entry]:
    for name in names:
        with archive.open(name) as stream:
            yield from read_chatgpt(iter(lambda: stream.read(1 << 20), b""), subject=subject)


def _closing(archive: Archive, entries: Iterator[Entry]) -> Iterator[Entry]:
    with closing(archive):
        yield from entries


def _required(subject: str | None, path: Path) -> str:
    if not subject:
        raise InputError(f"{path.name} is a ChatGPT export, which does not say whose it is: add --subject NAME.")
    return subject


def array_entries(source: Source) -> Iterator[Entry]:
    """The objects of an array."""
    return read_array(source.blocks())


def with_format(entries: Iterator[Entry]) -> tuple[str, Iterator[Entry]]:
    """Return the format of JSONL lines by their first record, and all of them."""
    seen: list[Entry] = []
    for entry in entries:
        seen.append(entry)
        if isinstance(entry, Record):
            found = "messages" if message_list(entry.fields) else "jsonl"
            return found, chain(seen, entries)
        if len(seen) > 100:
            break
    return "jsonl", chain(seen, entries)
