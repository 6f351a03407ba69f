"""What goes with an erasure, decided without a database: corrections, dead letters, texts whose vectors are cached."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from time import perf_counter
from uuid import UUID

import pytest

from reverie.drive.erase.decide import (
    ErasableTurn,
    LoggedCorrection,
    change_corrections,
    needles,
    text_hashes,
)
from reverie.policy import load_policy
from reverie.store.dead_letters import names_any, names_subject

AT = datetime(2026, 3, 1, tzinfo=UTC)
ONE, TWO, THREE = UUID(int=1), UUID(int=2), UUID(int=3)


def correction(number: int, kind: str, memory: UUID, other: UUID | None = None, wrote: UUID | None = None):
    at = AT + timedelta(days=number)
    return LoggedCorrection(UUID(int=100 + number), kind, memory, other, at, wrote)


def test_a_correction_of_what_is_gone_goes_with_all_that_followed_it() -> None:
    said = [
        correction(1, "replace", ONE, wrote=TWO),
        correction(2, "wrong", TWO),
        correction(3, "retract", TWO, other=UUID(int=102)),
        correction(4, "pin", THREE),
    ]
    found = change_corrections(said, {ONE: ()}, before=None)
    assert [each.int for each in found.void] == [101, 102, 103]
    assert (found.unwritten, found.moved) == ([TWO], {})


def test_a_correction_holds_for_the_first_that_said_the_same() -> None:
    said = [correction(1, "wrong", ONE), correction(2, "keep_apart", ONE, other=THREE), correction(3, "pin", THREE)]
    found = change_corrections(said, {ONE: (TWO, THREE)}, before=None)
    assert (found.moved, found.void) == ({UUID(int=101): TWO}, [UUID(int=102)])


def test_one_goes_whose_memory_was_not_made_and_whose_turns_are_gone() -> None:
    groundless = correction(1, "replace", ONE, wrote=TWO)._replace(is_groundless=True)
    found = change_corrections([groundless, correction(2, "wrong", TWO), correction(3, "pin", THREE)], {}, before=None)
    assert [each.int for each in found.void] == [101, 102]


def test_one_of_before_a_time_goes() -> None:
    found = change_corrections(
        [correction(1, "pin", ONE), correction(3, "pin", TWO)], {}, before=AT + timedelta(days=2)
    )
    assert found.void == [UUID(int=101)]


@pytest.mark.parametrize(
    ("payload", "named"),
    [
        ('{"who": "ana"}', True),
        ('{"who": {"name": ["x", "ana"]}}', True),
        ('{"who": "anabel"}', False),
        ('{"who": "an', False),
        ("csv;ana;now", True),
        ("csv;anabel;now", False),
        ('{"id": 17, "who": "ben"}', False),
    ],
)
def test_a_record_names_who_is_one_of_its_values(payload: str, named: bool) -> None:
    assert names_any(payload.encode(), {"ana"}) is named
    assert names_any(b'{"id": 17}', {"17"})


@pytest.mark.parametrize(
    ("payload", "subject", "is_theirs"),
    [
        ('{"subject_id": "ben", "role": "user", "speaker": "ana", "id": 1}', "ana", False),
        ('{"subject_id": "ben", "role": "user", "speaker": "ana", "id": 1}', "1", False),
        ('{"subject_id": 17, "role": "user"}', "17", True),
        ('{"subject_id": "", "login": "ana"}', "ana", True),
        ('{"login": "ben", "role": "user", "turn_index": 1}', "user", False),
        ('{"login": "ben", "role": "user", "turn_index": 1}', "1", False),
        ('[{"login": "ana"}]', "ana", True),
        ('{"login": "ana', "ana", True),
    ],
)
def test_a_record_is_of_its_subject_and_otherwise_of_any_that_it_names(
    payload: str, subject: str, is_theirs: bool
) -> None:
    assert names_subject(payload.encode(), {subject}) is is_theirs


def test_a_record_is_of_the_subject_in_the_field_that_was_mapped() -> None:
    record = b'{"user": "alice", "subject_id": "math-101"}'
    assert names_subject(record, {"alice"}, field="user")
    assert not names_subject(record, {"math-101"}, field="user")


def test_many_names_are_sought_quickly() -> None:
    """Each import seeks all subjects that are not captured in each of its broken lines."""
    line = b'{"text": "' + b"some words " * 1_000
    names = {f"subject-{number}" for number in range(3_000)}
    started = perf_counter()
    assert not names_any(line, names)
    assert perf_counter() - started < 0.5, "1.6 s with a search for each word"


def test_a_name_is_sought_as_json_may_write_it() -> None:
    assert needles(["Zoë"]) == sorted(["Zoë".encode(), b"\\u"])
    assert needles(['a"b']) == sorted([b'a"b', b'a\\"b', b"\\u"])


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("acme/ana", r"acme\/ana"),
        ("José", r"Jos\u00E9"),
        ("José", r"Jos\u00e9"),
        ("ana+x@acme.com", r"ana\u002Bx@acme.com"),
        ("ana \U0001f600", r"ana \ud83d\uDE00"),
        ('an"a\\/', r"an\"a\\\/"),
    ],
)
def test_a_name_is_found_however_json_escapes_it(name: str, written: str) -> None:
    whole = f'{{"text": "x", "who": "{written}"}}'
    for record in (whole, whole + " cut", '{"text": "hi\\n' + written):
        assert any(needle in record.encode() for needle in needles([name]))
        assert names_any(record.encode(), {name})


def test_vectors_are_found_by_the_texts_that_were_embedded() -> None:
    turn = ErasableTurn(ONE, "ana", "s", "1", AT, "Ana", "I like tea.")
    found = text_hashes([turn], load_policy("reverie").chunk, lambda text: len(text.split()))
    assert found == {hashlib.sha256(text).digest() for text in (b"I like tea.", b"Ana: I like tea.")}
