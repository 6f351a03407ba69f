"""Files of JSON lines."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from reverie.errors import InputError
from reverie.evaluate.lines import json_lines


def test_objects_with_their_line_numbers(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.jsonl", tmp_path / "a.jsonl.gz"
    text = '{"a": 1}\n\n{"a": 2}\n'
    plain.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    assert list(json_lines(plain)) == list(json_lines(packed)) == [(1, {"a": 1}), (3, {"a": 2})]


def test_what_is_no_object_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n[1]\n')
    with pytest.raises(InputError, match="line 2: expected a JSON object"):
        list(json_lines(path))
    path.write_text("{")
    with pytest.raises(InputError, match="line 1: not JSON"):
        list(json_lines(path))
    with pytest.raises(InputError, match="cannot be read"):
        list(json_lines(tmp_path / "none.jsonl"))


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    whole = gzip.compress(b'{"a": 1}\n' * 1000)
    for damaged in (whole[:-12], whole[:12] + b"\xff" * 40, b"plain"):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"a\.jsonl\.gz cannot be read"):
            list(json_lines(path))
