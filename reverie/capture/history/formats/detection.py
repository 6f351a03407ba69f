"""Detect the format of a file by its first record, and read it in that format."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

from reverie.capture.history.files import InputFile
from reverie.capture.history.formats.archive import Archive
from reverie.capture.history.formats.array import read_items
from reverie.capture.history.formats.chatgpt import is_conversation, read_chatgpt
from reverie.capture.history.formats.messages import MessageReader, message_list
from reverie.capture.history.formats.slack import is_slack, read_slack
from reverie.capture.history.records import BrokenItem, InputItem, Record
from reverie.capture.times import TimeForm
from reverie.errors import InputError


def is_archive(path: Path) -> bool:
    """Tell whether a path is a directory or a zip."""
    try:
        return path.is_dir() or (path.is_file() and zipfile.is_zipfile(path))
    except OSError:
        return False


def first_item(file: InputFile) -> Any:
    """Return the first item of an array, or None if the array is empty or broken, and rewind the file."""
    numbered = next(iter(read_items(file.blocks())), None)
    file.rewind()
    return None if numbered is None or isinstance(numbered, BrokenItem) else numbered[1]


def array_format(item: Any) -> str:
    """Return the format of an array by its first item."""
    if is_conversation(item):
        return "chatgpt"
    return "messages" if message_list(item) else "array"


def read_converted(
    file: InputFile, format: str, *, items: Iterator[InputItem], subject: str | None, start: datetime | None,
    mapping: Mapping[str, str], times: TimeForm,
) -> Iterator[InputItem]:  # fmt: skip
    """Yield the turns of a ChatGPT export or of message lists; `items` are the lines or items of the file.

    Raises InputError: the caller must name the subject or a start time, since the format has none.
    """
    if format == "chatgpt":
        return read_chatgpt(file.blocks(), subject=_required(subject, file.path))
    reader = MessageReader(name=file.stem, subject=subject, start=start, mapping=mapping, times=times)
    return reader.read(items)


def read_archive(path: Path, format: str | None, *, subject: str | None) -> tuple[str, Iterator[InputItem]]:
    """Return the format of a directory or zip, and its turns.

    Raises InputError: it is neither a Slack nor a ChatGPT export.
    """
    archive = Archive(path)
    conversations = [name for name in archive.names if name.rpartition("/")[2].startswith("conversations")]
    if format == "slack" or (format is None and is_slack(archive)):
        if not is_slack(archive):
            archive.close()
            raise InputError(f"{path.name or path} is not a Slack export: it has no CHANNEL/YYYY-MM-DD.json.")
        return "slack", _closing(archive, read_slack(archive, subject=subject))
    if conversations and format in (None, "chatgpt"):
        owner = _required(subject, path)
        return "chatgpt", _closing(archive, _conversations(archive, conversations, owner))
    archive.close()
    what = "directory" if path.is_dir() else "zip"
    raise InputError(
        f"{path.name or path} is a {what}, but not a Slack or ChatGPT export: import its files one by one."
    )


def _conversations(archive: Archive, names: list[str], subject: str) -> Iterator[InputItem]:
    for name in names:
        for item in read_chatgpt(archive.blocks(name), subject=subject):
            yield item._replace(detail=f"{name}: {item.detail}") if isinstance(item, BrokenItem) else item


def _closing(archive: Archive, items: Iterator[InputItem]) -> Iterator[InputItem]:
    with closing(archive):
        yield from items


def _required(subject: str | None, path: Path) -> str:
    if not subject:
        name = path.name or path
        raise InputError(f"{name} is a ChatGPT export, which does not name its owner: add --subject NAME.")
    return subject


def detect_jsonl(items: Iterator[InputItem]) -> tuple[str, Iterator[InputItem]]:
    """Return the format of JSONL lines by their first record, and all the items."""
    seen: list[InputItem] = []
    for item in items:
        seen.append(item)
        if isinstance(item, Record):
            format = "messages" if message_list(item.fields) else "jsonl"
            return format, chain(seen, items)
        if len(seen) > 100:
            break
    return "jsonl", chain(seen, items)
