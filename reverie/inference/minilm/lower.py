"""Cuts an ONNX model below one of its values, so that what comes after it is neither loaded nor computed.

ONNX Runtime computes a whole graph even where one value in its middle is asked for, and the package `onnx`, which could
cut it, is not a run-time dependency. A model is a protobuf message; its fields are copied or left out as they are.
Source: onnx.proto (Model.graph 7; Graph.node 1, initializer 5, input 11, output 12, value_info 13; Node.input 1,
output 2; Tensor.name 8; ValueInfo.name 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_GRAPH, _NODE, _INITIALIZER, _INPUT, _OUTPUT, _VALUE_INFO = 7, 1, 5, 11, 12, 13
_INPUT_OF_NODE, _OUTPUT_OF_NODE, _NAME_OF_TENSOR, _NAME_OF_VALUE = 1, 2, 8, 1


class _Field(NamedTuple):
    number: int
    #: of a field with a length; else empty
    content: bytes
    #: the field as it stands in the message
    whole: bytes


def below(model: bytes, name: str) -> bytes:
    """Return the model with the value `name` as its only output, without everything that it does not need.

    Raises:
        ValueError: if no node of the model has such an output.
    """
    return b"".join(
        _message(_GRAPH, _cut(field.content, name.encode())) if field.number == _GRAPH else field.whole
        for field in _fields(model)
    )


def _cut(graph: bytes, name: bytes) -> bytes:
    fields = [field for field in _fields(graph) if field.number not in (_OUTPUT, _VALUE_INFO)]
    nodes = [
        (_of(field, _INPUT_OF_NODE), _of(field, _OUTPUT_OF_NODE), field) for field in fields if field.number == _NODE
    ]
    needed, kept = {name}, set()
    for inputs, outputs, field in reversed(nodes):  # nodes stand after those that they need
        if needed.intersection(outputs):
            needed.update(inputs)
            kept.add(field)
    if not kept:
        raise ValueError(f"the model has no value {name.decode()!r}")
    left = (
        field.whole
        for field in fields
        if not (field.number == _NODE and field not in kept)
        and not (field.number == _INITIALIZER and needed.isdisjoint(_of(field, _NAME_OF_TENSOR)))
        and not (field.number == _INPUT and needed.isdisjoint(_of(field, _NAME_OF_VALUE)))
    )
    return b"".join(left) + _message(_OUTPUT, _message(1, name))


def _of(field: _Field, number: int) -> list[bytes]:
    return [each.content for each in _fields(field.content) if each.number == number]


def _fields(message: bytes) -> Iterator[_Field]:
    at = 0
    while at < len(message):
        start = at
        key, at = _varint(message, at)
        content = b""
        if key & 7 == 0:
            _, at = _varint(message, at)
        elif key & 7 == 2:
            size, at = _varint(message, at)
            content, at = message[at : at + size], at + size
        else:
            at += 8 if key & 7 == 1 else 4
        yield _Field(key >> 3, content, message[start:at])


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def _message(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _written(len(content)) + content


def _written(value: int) -> bytes:
    found = b""
    while value > 127:
        found, value = found + bytes([value & 127 | 128]), value >> 7
    return found + bytes([value])
