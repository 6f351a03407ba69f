"""Open an input file: detect its format, decompress it, and split it into lines of bounded length."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, NamedTuple

from reverie.errors import InputError

Format = Literal["jsonl", "csv", "parquet", "array"]

#: Longest line, in bytes, that is read as a record. A text may have 1 MiB, and more once escaped.
MAX_LINE = 8 << 20
#: Bytes kept of a longer line, for its dead letter.
KEPT_OF_A_LONG_LINE = 64 << 10

_BLOCK = 1 << 20
_PACKED_PIECE = 64 << 10
_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: A time in brackets, with which each line of some chats exported as text begins, and no JSON array.
_BRACKETED_TIME = re.compile(rb"(?:\xe2\x80\x8e)?\[[0-9]{1,4}(?:[./-][0-9]{1,2}[./-]|:[0-9])")
_HEAD = 16
_GZIP_SUFFIXES = (".gz", ".gzip")
_SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}


class DamagedFileError(Exception):
    """The compressed file is truncated or damaged. Content decompressed before the damage remains valid."""


class LongLine(NamedTuple):
    """A line longer than `MAX_LINE`, of which only the head is kept."""

    head: bytes
    length: int


@dataclass
class InputFile:
    """An open file, its format, and how far it has been read."""

    path: Path
    format: Format
    stream: IO[bytes]
    compressed: bool
    #: Bytes read so far, before decompression.
    position: int = 0

    @property
    def stem(self) -> str:
        """The name without the suffixes of formats: `chat.2026-03-01` for `chat.2026-03-01.jsonl.gz`."""
        path = self.path
        for known in (_GZIP_SUFFIXES, _SUFFIXES):
            if path.suffix.lower() in known:
                path = path.with_suffix("")
        return path.name

    def blocks(self) -> Iterator[bytes]:
        """Yield the decompressed content in blocks, without a byte order mark.

        Raises DamagedFileError: the gzip stream is truncated or damaged.
        """
        blocks = _gunzip(self._raw()) if self.compressed else self._raw()
        first = next(blocks, b"")
        yield first.removeprefix(_BYTE_ORDER_MARK)
        yield from blocks

    def rewind(self) -> None:
        """Go back to the beginning."""
        self.stream.seek(0)
        self.position = 0

    def _raw(self) -> Iterator[bytes]:
        while block := self.stream.read(_BLOCK):
            self.position += len(block)
            yield block


def open_file(path: Path) -> InputFile:
    """Open a file and detect its format: gzip and Parquet by their magic bytes, others by suffix, then by content.

    Raises InputError: the file is missing, unreadable, a directory, empty, UTF-16, a chat as text with times in
    brackets, or named Parquet but not Parquet.
    """
    name = path.name or str(path)
    try:
        stream = path.open("rb")
    except IsADirectoryError:
        raise InputError(f"{name} is a directory: name one file, or import its files one by one.") from None
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise InputError(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    try:
        if not stream.seekable():
            raise InputError(f"{name} is a stream: save it to a file first.")
        compressed = stream.peek(2)[:2] == _GZIP
        file = InputFile(path=path, format="jsonl", stream=stream, compressed=compressed)
        head = _head(file)
        file.rewind()
        file.format = _format(path, head)
    except BaseException:
        stream.close()
        raise
    return file


def lines(blocks: Iterator[bytes]) -> Iterator[bytes | LongLine]:
    """Yield the lines without their newlines, blank ones included, and never hold more than `MAX_LINE` bytes of one.

    If the blocks end with DamagedFileError, the incomplete last line is yielded before the error is raised.
    """
    tail, dropped, damage = b"", 0, None
    try:
        for block in blocks:
            first, *pieces = block.split(b"\n")
            if not pieces:
                tail += first
            else:
                yield _line(tail + first, dropped)
                dropped = 0
                tail = pieces.pop()
                yield from pieces  # each is shorter than a block
            if len(tail) > MAX_LINE:
                dropped += len(tail) - KEPT_OF_A_LONG_LINE
                tail = tail[:KEPT_OF_A_LONG_LINE]
    except DamagedFileError as error:
        damage = error
    if tail:
        yield _line(tail, dropped)
    if damage:
        raise damage


def _line(content: bytes, dropped: int) -> bytes | LongLine:
    if dropped or len(content) > MAX_LINE:
        return LongLine(head=content[:KEPT_OF_A_LONG_LINE], length=len(content) + dropped)
    return content


def _head(file: InputFile) -> bytes:
    """Return the first bytes of the content that are not blank, or a blank if the first block has none."""
    try:
        for block in file.blocks():
            if block:
                return block.lstrip()[:_HEAD] or b" "
    except DamagedFileError:
        raise InputError(f"{file.path.name} is damaged and cannot be decompressed.") from None
    raise InputError(f"{file.path.name} is empty.")


def _format(path: Path, head: bytes) -> Format:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    suffix = suffixes[-1] if suffixes else ""
    if suffix in _GZIP_SUFFIXES:
        suffix = suffixes[-2] if len(suffixes) > 1 else ""
    named = _SUFFIXES.get(suffix)
    if head.startswith(_PARQUET):
        return "parquet"
    if named == "parquet":
        raise InputError(f"{path.name} is not a Parquet file, though its name says so.")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{path.name} is UTF-16: save it as UTF-8.")
    if _BRACKETED_TIME.match(head):
        raise InputError(
            f"{path.name} is a chat as text, with times in brackets: convert it to JSONL or CSV, one message a record."
        )
    if head.startswith(b"[") and suffix not in (".jsonl", ".ndjson", ".csv", ".tsv"):
        return "array"
    return named or ("jsonl" if head.startswith(b"{") else "csv")


def _gunzip(raw: Iterator[bytes]) -> Iterator[bytes]:
    """Decompress gzip members one after the other, in blocks of bounded size whatever the compression ratio."""
    unpacker = zlib.decompressobj(wbits=31)
    for block in raw:
        for at in range(0, len(block), _PACKED_PIECE):
            rest = block[at : at + _PACKED_PIECE]
            while rest:
                if unpacker.eof:
                    if not rest.strip(b"\0"):  # zero padding after the last member, as on tapes
                        break
                    unpacker = zlib.decompressobj(wbits=31)
                before = unpacker.copy()
                try:
                    unpacked = unpacker.decompress(rest, _BLOCK)
                except zlib.error:
                    yield _salvage(before, rest)
                    raise DamagedFileError from None
                if unpacked:
                    yield unpacked
                rest = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
    if not unpacker.eof:
        yield unpacker.flush()
    if not unpacker.eof:
        raise DamagedFileError


def _salvage(unpacker: zlib._Decompress, packed: bytes) -> bytes:
    """Decompress byte by byte up to the damage, since a failing call returns nothing of what it has read."""
    unpacked = bytearray()
    try:
        for byte in packed:
            unpacked += unpacker.decompress(bytes((byte,)))
    except zlib.error:
        pass
    return bytes(unpacked)
