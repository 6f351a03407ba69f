"""Files of every kind: what is a record, what is broken, what cannot be read at all."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import orjson
import polars as pl
import pytest

from reverie.capture.history import files, reading
from reverie.capture.history.reading import ReadOptions, read_records
from reverie.capture.history.records import BrokenItem, Record
from reverie.capture.times import parse_event_time
from reverie.errors import InputError
from tests.capture.conftest import jsonl, record

Write = Callable[..., Path]


def read(path: Path, **options: str) -> tuple[list[Record], list[BrokenItem]]:
    batches = list(read_records(path, ReadOptions(**options)))  # type: ignore[arg-type]
    return [each for batch in batches for each in batch.records], [each for batch in batches for each in batch.broken]


def reasons(path: Path) -> list[tuple[int, str]]:
    return [(piece.line, piece.reason) for piece in read(path)[1]]


def test_broken_lines_leave_the_others_alone(write: Write) -> None:
    good = orjson.dumps(record())
    path = write(
        b"\n".join(
            [
                b"\xef\xbb\xbf" + good,
                good[:40],
                b"",
                b'{"text": "\xff"}',
                b'"just text"',
                good.replace(b"black", b"bl\0ck"),
                b"\0" * 50,
                b'{"text": "\\ud83d", "n": 1e999}',
                b'{"text": "\\ud83d", "n": NaN}',
                b"[" * 5000,
                good + b"\r",
                b'{"text": "\\ud83d"}',
                good[:-5],
            ]
        )
    )
    records, broken = read(path)
    assert [each.line for each in records] == [1, 11, 12]
    assert [(piece.line, piece.reason) for piece in broken] == [
        (2, "malformed_json"),
        (4, "invalid_utf8"),
        (5, "not_an_object"),
        (6, "malformed_json"),
        (7, "malformed_json"),
        (8, "malformed_json"),
        (9, "malformed_json"),
        (10, "malformed_json"),
        (13, "malformed_json"),
    ]
    assert broken[0].raw == good[:40]
    assert broken[1].detail == "Byte 11 of the line is not UTF-8."
    assert records[2].fields == {"text": "\ud83d"}


@pytest.mark.parametrize("last", [b"", b"\n"])
def test_a_line_of_ten_megabytes(write: Write, last: bytes) -> None:
    long = b'{"text": "' + b"x" * 10_000_000 + b'"}'
    records, broken = read(write(jsonl(record(1)) + long + b"\n" + jsonl(record(2)) + long + last))
    assert [each.line for each in records] == [1, 3]
    assert [(piece.line, piece.reason) for piece in broken] == [(2, "record_too_long"), (4, "record_too_long")]
    assert "10,000,012 bytes" in broken[0].detail
    assert broken[0].raw == long[: files.KEPT_OF_A_LONG_LINE]


def test_a_batch_is_bounded_in_records_and_bytes(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "BATCH_RECORDS", 3)
    path = write(jsonl(*(record(number) for number in range(7))))
    batches = list(read_records(path))
    assert [len(batch.records) for batch in batches] == [3, 3, 1]
    assert batches[-1].position == path.stat().st_size
    monkeypatch.setattr(reading, "BATCH_BYTES", 1)
    assert [len(batch.records) for batch in read_records(path)] == [1] * 7 + [0]


def test_what_cannot_be_read_at_all(write: Write, tmp_path: Path) -> None:
    for path, message in [
        (tmp_path, "is a directory, but not a Slack"),
        (tmp_path / "absent.jsonl", "There is no file"),
        (tmp_path / "a\0b", "cannot be read"),
        (write(b"", "empty.jsonl"), "empty.jsonl is empty"),
        (write(b"\xef\xbb\xbf", "mark.jsonl"), "is empty"),
        (write(gzip.compress(b""), "empty.jsonl.gz"), "is empty"),
        (write(b"\x1f\x8b\x08junk", "junk.jsonl.gz"), "cannot be decompressed"),
        (write(b"not parquet", "log.parquet"), "not a Parquet file"),
        (write(b"PAR1 and no more", "cut.parquet"), "truncated or damaged"),
        (write(gzip.compress(b"PAR1" * 9)[:-4], "cut.parquet.gz"), "truncated or damaged"),
        (write("{}".encode("utf-16"), "wide.jsonl"), "UTF-16"),
        (write(b"[12/03/2026, 09:15:22] Ana: Hi\n", "chat.txt"), r"chat\.txt is a chat as text.*JSONL or CSV"),
        (write("\u200e[12.03.26, 09:15] Ana: Hi\n".encode(), "dots.txt"), "is a chat as text"),
        (write(b"[09:15, 3/12/2026] Ana: Hi\n", "copied.txt"), "is a chat as text"),
        (write(b"a,b,a\n1,2,3\n", "twice.csv"), "column 'a' twice"),
        (write(b'"a,b\n1,2\n', "open.csv"), "header line"),
    ]:
        with pytest.raises(InputError, match=message):
            read(path)


def test_blank_files_have_no_records(write: Write) -> None:
    assert read(write(b"\n \n")) == ([], [])
    assert read(write(b"a,b\n", "only.csv")) == ([], [])


def test_gzip_cut_and_damaged(write: Write) -> None:
    lines = [orjson.dumps(record(number, metadata={"noise": hash(str(number))})) for number in range(5000)]
    packed = gzip.compress(b"\n".join(lines))
    cut, broken = read(write(packed[: len(packed) // 2], "cut.jsonl.gz"))
    assert 1000 < len(cut) < 4500
    assert [each.raw for each in cut] == lines[: len(cut)]
    assert broken[-1].reason == "file_cut"
    assert f"after line {broken[-1].line - 1};" in broken[-1].detail
    wrong_sum = packed[:-8] + bytes(4) + packed[-4:]
    everything, broken = read(write(wrong_sum, "sum.jsonl.gz"))
    assert len(everything) == 5000
    assert [piece.reason for piece in broken] == ["file_cut"]
    hole = packed[: len(packed) // 2] + bytes(200) + packed[len(packed) // 2 + 200 :]
    some, broken = read(write(hole, "hole.jsonl.gz"))
    assert len(some) > 1000
    assert broken[-1].reason == "file_cut"


def test_gzip_in_members_and_padded_whatever_its_name(write: Write) -> None:
    packed = gzip.compress(jsonl(record(1))) + gzip.compress(jsonl(record(2))) + bytes(512)
    assert len(read(write(packed, "log.jsonl"))[0]) == 2
    assert len(read(write(jsonl(record(1)), "log.jsonl.gz"))[0]) == 1


def test_a_bomb_is_unpacked_in_blocks(write: Write) -> None:
    assert reasons(write(gzip.compress(bytes(200 << 20), 1), "bomb.jsonl.gz")) == [(1, "record_too_long")]


def test_format_by_content_where_the_name_tells_nothing(write: Write) -> None:
    assert read(write(jsonl(record(1)), "log"))[0][0].fields == record(1)
    assert read(write(b"a;b\n1;2\n", "log"))[0][0].fields == {"a": "1", "b": "2"}


def test_csv_rows(write: Write) -> None:
    path = write(
        b'subject_id,text\nann,"one, ""two""\nthree"\nbob\nann,a,b\nann,\xff\n\n'
        b'ann,"x"y\nann,last\nann,"never closed\nbob,x\n',
        "log.csv",
    )
    records, broken = read(path)
    assert [(each.line, each.fields["text"]) for each in records] == [
        (2, 'one, "two"\nthree'),
        (9, "last"),
        (11, "x"),
    ]
    assert [(piece.line, piece.reason) for piece in broken] == [
        (4, "wrong_columns"),
        (5, "wrong_columns"),
        (6, "invalid_utf8"),
        (8, "malformed_csv"),
        (10, "malformed_csv"),
    ]
    assert "never closed" in broken[-1].detail
    assert broken[-1].raw == b'ann,"never closed'


@pytest.mark.parametrize("closed", [False, True])
def test_a_stray_quote_costs_its_own_line(write: Write, closed: bool) -> None:
    """Whether it is never closed, or by a quote far below."""
    rows = ["who\ttext", *(f"ann\tno {number}" for number in range(2, 1001))]
    rows[100], rows[200] = 'ann\t"never mind', 'ann\t"also'
    if closed:
        rows[700:702] = ['ann\t"a cell', 'of two lines"']
    records, broken = read(write("\n".join(rows).encode(), "log.tsv"))
    assert [(piece.line, piece.reason) for piece in broken] == [(101, "malformed_csv"), (201, "malformed_csv")]
    assert [each.line for each in records] == [
        number for number in range(2, 1001) if number not in (101, 201, 702 if closed else 0)
    ]
    assert records[697].fields["text"] == ("a cell\nof two lines" if closed else "no 701")


def test_many_quotes_that_stay_open_are_read_once(write: Write) -> None:
    rows = ["a,b", *['5","open'] * 50_000]
    records, broken = read(write("\n".join(rows).encode(), "log.csv"))
    assert records == [] and [piece.line for piece in broken] == list(range(2, 50_002))


def test_csv_cell_of_a_megabyte_and_a_line_beyond(write: Write) -> None:
    records, broken = read(write(b"a,b\n1," + b"x" * (1 << 20) + b"\n2," + b"y" * (9 << 20) + b"\n3,z\n", "log.csv"))
    assert [each.fields["a"] for each in records] == ["1", "3"]
    assert [(piece.line, piece.reason) for piece in broken] == [(3, "record_too_long")]


def test_csv_cut_in_gzip(write: Write) -> None:
    packed = gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (n, hash(str(n))) for n in range(5000)))
    records, broken = read(write(packed[: len(packed) // 2], "log.csv.gz"))
    assert len(records) > 1000
    assert broken[-1].reason == "file_cut"


def test_parquet_rows_and_damage(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    frame = pl.DataFrame({"text": [f"text {hash(str(n))}" for n in range(50_000)], "n": range(50_000)})
    frame.write_parquet(path, row_group_size=5000)
    records, broken = read(path)
    assert (len(records), broken) == (50_000, [])
    assert records[-1] == Record(50_000, {"text": frame["text"][-1], "n": 49_999}, None, records[-1].size)
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 2000] = bytes(2000)
    path.write_bytes(content)
    records, broken = read(path)
    assert len(records) < 50_000
    assert [piece.reason for piece in broken] == ["file_cut"]


def test_times_that_python_cannot_hold_fail_alone(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    far = 253_402_300_800_000  # the year 10000 in milliseconds
    frame = pl.DataFrame({"said_at": [0, far, None, -far, 1 << 62], "day": [1, 9_000_000, None, 2, 3], "n": range(5)})
    times = pl.col("said_at").cast(pl.Datetime("ms", "Europe/Paris")), pl.col("day").cast(pl.Date)
    frame.with_columns(times).write_parquet(path)
    records, broken = read(path)
    assert broken == [] and [each.fields["n"] for each in records] == [0, 1, 2, 3, 4]
    assert records[0].fields["said_at"] == datetime(1970, 1, 1, tzinfo=UTC) and records[2].fields["said_at"] is None
    for number in (1, 3, 4):
        text = records[number].fields["said_at"]
        assert type(text) is str
        with pytest.raises(ValueError, match=r"."):
            parse_event_time(text, UTC)
    assert type(records[1].fields["day"]) is str and type(records[4].fields["day"]) is date


def conversations(name: str) -> str:
    """A ChatGPT export of one message for each conversation."""
    message = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [name]}, "create_time": 1.7e9}
    mapping = {"a": {"message": message, "parent": None}}
    return json.dumps([{"id": str(number), "current_node": "a", "mapping": mapping} for number in range(3000)])


def test_a_damaged_zip(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("conversations-0.json", "conversations-1.json"):
            archive.writestr(name, conversations(name))
    content = bytearray(path.read_bytes())
    content[300:310] = b"\xff" * 10
    path.write_bytes(content)
    records, broken = read(path, subject="ana")
    assert {each.fields["text"] for each in records[-3000:]} == {"conversations-1.json"}
    assert [piece.reason for piece in broken] == ["file_cut"]
    assert broken[0].detail.startswith("conversations-0.json: The file is truncated or damaged after item ")
    (piece,) = read(path, format="claude")[1]
    assert (piece.reason, piece.detail) == ("malformed_json", "conversations-0.json: the file is damaged.")


def test_a_zip_with_a_password(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", "[]")
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match="has a password: unpack it"):
        read(path, subject="ana")
