"""Conversion of values: lists as parameters (columns of ids, texts, times and numbers), vectors, reals.

psycopg dumps and quotes a list value by value, which was a quarter of the client's cost of an import. A list of one
plain type is sent as a binary array instead; psycopg sends all others.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from struct import Struct
from typing import Any
from uuid import UUID

from psycopg import pq
from psycopg.abc import AdaptContext, DumperKey
from psycopg.adapt import Buffer, Dumper, Loader, PyFormat
from psycopg.types.array import ListDumper

#: Number of dimensions, null flag, type of the values, number of values, index of the first.
_HEAD = Struct("!5I")
_INT, _REAL, _LENGTH = Struct("!Iq"), Struct("!Id"), Struct("!I")
_FLOAT = Struct("!f")
_NULL = b"\xff\xff\xff\xff"
#: The epoch of Postgres's times.
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


def register_columns(context: AdaptContext) -> None:
    """Let a connection send lists as columns, and vectors. Its client encoding must be UTF-8."""
    context.adapters.register_dumper(list, ColumnDumper)
    context.adapters.register_dumper(HalfVectorParameter, _HalfVectorDumper)


def register_reals(context: AdaptContext) -> None:
    """Load columns of type `real` as they are displayed: 0.8 and not 0.800000011920929.

    For values that people and programs read; stages calculate with the stored value.
    """
    context.adapters.register_loader("float4", RealLoader)


class RealLoader(Loader):
    """Loads a `real` as the decimal number of six digits that it stands for."""

    format = pq.Format.BINARY

    def load(self, data: Buffer) -> float:
        """Return the number."""
        return _decimal(bytes(data))


@lru_cache(maxsize=4096)  # the same importances repeat
def _decimal(data: bytes) -> float:
    return float(f"{_FLOAT.unpack(data)[0]:.6g}")


class HalfVectorParameter:
    """A vector as a halfvec parameter, in Postgres's binary format: parsing it from text would cost more than searching
    a small subject.
    """

    __slots__ = ("wire",)

    def __init__(self, wire: bytes) -> None:
        self.wire = wire


class _HalfVectorDumper(Dumper):
    format = pq.Format.BINARY
    oid = 0  # the oid of the extension's type differs between databases; the statement casts to it

    def dump(self, obj: HalfVectorParameter) -> Buffer | None:
        return obj.wire


class ColumnDumper(ListDumper):
    """Chooses the dumper of a list. psycopg asks this class first; it never dumps itself."""

    format = pq.Format.BINARY

    def __init__(self, cls: type, context: AdaptContext | None = None) -> None:
        super().__init__(cls, context)
        self._context = context

    def get_key(self, obj: list[Any], format: PyFormat) -> DumperKey:
        """Return a key by the type of the values, or by psycopg's own key; never the key of this dumper itself."""
        kind = _kind(obj)
        return (ListDumper, super().get_key(obj, PyFormat.AUTO)) if kind is None else (list, kind)

    def upgrade(self, obj: list[Any], format: PyFormat) -> Any:
        """Return the dumper for lists of this type."""
        kind = _kind(obj)
        if kind is None:
            return ListDumper(list, self._context).upgrade(obj, PyFormat.AUTO)
        return _PackedDumper(kind)


class _PackedDumper(Dumper):
    """Dumps lists of one type, with or without None."""

    format = pq.Format.BINARY

    def __init__(self, kind: type) -> None:
        super().__init__(list)
        self._pack, self._of_values, self.oid = _PACKED[kind]

    def dump(self, obj: list[Any]) -> bytes:
        pack = self._pack
        values = [_NULL if value is None else pack(value) for value in obj]
        return b"".join([_HEAD.pack(1, 1, self._of_values, len(values), 1), *values])


def _kind(obj: list[Any]) -> type | None:
    """Return the one type of the values if it can be packed. Naive times, another type in Postgres, cannot."""
    kinds = set(map(type, obj)) - {type(None)}
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind is datetime and any(value is not None and value.tzinfo is None for value in obj):
        return None
    return kind if kind in _PACKED else None


def _pack_uuid(value: UUID) -> bytes:
    return b"\0\0\0\x10" + value.bytes


def _pack_text(value: str) -> bytes:
    wire = value.encode()
    return _LENGTH.pack(len(wire)) + wire


def _pack_bytes(value: bytes) -> bytes:
    return _LENGTH.pack(len(value)) + value


def _pack_int(value: int) -> bytes:
    return _INT.pack(8, value)


def _pack_float(value: float) -> bytes:
    return _REAL.pack(8, value)


def _pack_bool(value: bool) -> bytes:
    return b"\0\0\0\x01\x01" if value else b"\0\0\0\x01\0"


def _pack_time(value: datetime) -> bytes:
    since = value - _EPOCH
    return _INT.pack(8, (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds)


#: For each type, the function that packs a value after its length, and the oids of the type and of its arrays.
_PACKED: dict[type, tuple[Callable[[Any], bytes], int, int]] = {
    UUID: (_pack_uuid, 2950, 2951),
    str: (_pack_text, 25, 1009),
    bytes: (_pack_bytes, 17, 1001),
    int: (_pack_int, 20, 1016),
    float: (_pack_float, 701, 1022),
    bool: (_pack_bool, 16, 1000),
    datetime: (_pack_time, 1184, 1185),
}
