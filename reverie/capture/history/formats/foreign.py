"""Exports of other systems by name, such as `--format mem0`. docs/importing.md has the sources of the field names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from reverie.capture.history.files import InputFile
from reverie.capture.history.formats.archive import Archive
from reverie.capture.history.formats.helpdesks import read_claude, read_intercom, read_zendesk
from reverie.capture.history.formats.messages import MessageReader
from reverie.capture.history.formats.remembered import (
    Converted,
    read_letta,
    read_mem0,
    read_openmemory,
    read_temporal_graph,
)
from reverie.capture.history.formats.shapes import ForeignItem, foreign_items, split_page
from reverie.capture.history.formats.traces import oldest_first, read_langfuse, read_langsmith
from reverie.capture.history.records import BrokenItem, InputItem, Record, SkippedItem, mended_json
from reverie.capture.times import TimeForm
from reverie.errors import InputError

Convert = Callable[[ForeignItem, str | None, datetime | None], Iterator[Converted]]


class _Format(NamedTuple):
    """How the files of a system are read."""

    #: Names of the lists that hold the items in a response of its API or in a whole export.
    lists: tuple[str, ...]
    convert: Convert
    #: Beginnings of the names of the files in a directory or zip; (): an export is one file.
    files: tuple[str, ...] = ()


#: Formats whose items become turns and statements.
_ITEMS: Mapping[str, _Format] = {
    "mem0": _Format(("results", "memories"), read_mem0),
    "openmemory": _Format(("memories", "items"), read_openmemory, ("memories.json",)),
    "zep": _Format(("edges", "facts", "episodes", "messages", "nodes"), read_temporal_graph),
    "graphiti": _Format(("edges", "facts", "episodes", "messages", "nodes"), read_temporal_graph),
    "letta": _Format(("agents", "blocks", "passages"), read_letta),
    "intercom": _Format(("conversations", "data"), read_intercom),
    "zendesk": _Format(("tickets", "results"), read_zendesk),
    "claude": _Format(("conversations",), read_claude, ("conversations", "memories")),
}
#: Formats whose items are records of chat messages.
_TRACES = {
    "langsmith": (("runs", "data"), read_langsmith),
    "langfuse": (("data", "traces"), read_langfuse),
}
#: Errors by which a conversion fails on a value of a type that its system does not write.
_OTHER_FORM = (AttributeError, KeyError, TypeError, ValueError)
#: The names of all these formats.
FOREIGN = (*_ITEMS, *_TRACES)


def read_foreign(
    file: InputFile, format: str, *, subject: str | None, start: datetime | None, mapping: Mapping[str, str],
    times: TimeForm,
) -> Iterator[InputItem]:  # fmt: skip
    """Yield the turns and statements of an export of another system.

    Raises InputError as `MessageReader` does.
    """
    if format in _TRACES:
        lists, convert = _TRACES[format]
        reader = MessageReader(name=file.stem, subject=subject, start=start, mapping=mapping, times=times)
        records = (_as_record(item, convert) for item in foreign_items(file, lists))
        return reader.read(oldest_first(records))
    known = _ITEMS[format]
    return _converted(foreign_items(file, known.lists), known.convert, subject, start)


def read_foreign_archive(
    path: Path, format: str, *, subject: str | None, start: datetime | None
) -> Iterator[InputItem]:
    """Yield the turns and statements of an export that is a directory or zip.

    Raises InputError: the format has no such exports, or this is not one.
    """
    known = _ITEMS.get(format)
    archive = Archive(path) if known and known.files else None
    names = [
        name for name in (archive.names if archive else ()) if known and name.rpartition("/")[2].startswith(known.files)
    ]
    if known is None or archive is None or not names:
        raise InputError(f"{path.name or path} has no file of the format {format}: import its files one by one.")
    return _archived(archive, names, known, subject, start)


def _archived(
    archive: Archive, names: list[str], known: _Format, subject: str | None, start: datetime | None
) -> Iterator[InputItem]:
    with closing(archive):
        for name in names:
            try:
                pages = archive.load(name)
            except ValueError as error:
                yield BrokenItem(1, "malformed_json", f"{name}: {error}.")
                continue
            yield from _converted(_loaded(pages, known.lists), known.convert, subject, start)


def _loaded(pages: object, lists: tuple[str, ...]) -> Iterator[ForeignItem | BrokenItem]:
    number = 0
    for page in pages if isinstance(pages, list) else [pages]:
        for of, fields, around in split_page(page, lists):
            number += 1
            if type(fields) is dict:
                yield ForeignItem(number=number, fields=fields, of=of, page=around)
            else:
                yield BrokenItem(number, "not_an_object", "The item is not an object.")


def _converted(
    items: Iterator[ForeignItem | BrokenItem], convert: Convert, subject: str | None, start: datetime | None
) -> Iterator[InputItem]:
    for item in items:
        if isinstance(item, BrokenItem):
            yield item
            continue
        try:
            for fields in convert(item, subject, start):
                if isinstance(fields, SkippedItem):
                    yield fields
                else:
                    size = len(str(fields.get("text"))) + 400
                    yield Record(item.number, fields, size=size, place=f"item {item.number}")
        except _OTHER_FORM:
            yield _of_other_form(item)


def _as_record(
    item: ForeignItem | BrokenItem, convert: Callable[[ForeignItem], dict[str, object] | SkippedItem]
) -> InputItem:
    if isinstance(item, BrokenItem):
        return item
    try:
        fields = convert(item)
    except _OTHER_FORM:
        return _of_other_form(item)
    return fields if isinstance(fields, SkippedItem) else Record(item.number, fields)


def _of_other_form(item: ForeignItem) -> BrokenItem:
    detail = f"Item {item.number} has a field of another form than this system writes."
    return BrokenItem(item.number, "wrong_type", detail, mended_json(item.fields))
