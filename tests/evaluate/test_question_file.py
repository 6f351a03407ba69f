"""Labelled questions of a file."""

from __future__ import annotations

import gzip
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.errors import InputError
from reverie.evaluate.retrieval.question_file import questions_of_file
from reverie.store.database import Store
from tests.recall.conftest import Corpus, day


@pytest.fixture
def corpus(conn: psycopg.Connection[Any]) -> Corpus:
    corpus = Corpus(conn)
    corpus.turn("I have a dog", at=day(0))  # s1/1
    corpus.turn("Its name is Bruno", at=day(1), session="s2")  # s2/2
    return corpus


def read(database_url: str, path: Path) -> Any:
    with Store.open(database_url) as store:
        return questions_of_file(store, "acme", path)


def test_our_own_spelling(corpus: Corpus, database_url: str, tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    asked = {"question": "Which dog?", "subject_id": "ann", "evidence": [["s1", "1"], ["s2", "2"]]}
    path.write_text(
        f"{json.dumps(asked | {'asked_at': day(9).isoformat()})}\n\n{json.dumps(asked)}\n"
        f"{json.dumps(asked | {'evidence': [['s1', '2']]})}\n"
    )
    (first, second), left_out = read(database_url, path)
    assert left_out == 1, "turn 2 is in session s2"
    assert (first.id, first.source, first.asked_at, len(first.needs)) == ("1", "file", day(9), 2)
    assert (second.id, second.asked_at) == ("3", day(1) + timedelta(seconds=1))


def test_the_spelling_of_public_sets(corpus: Corpus, database_url: str, tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl.gz"
    asked = {"question": "Which dog?", "conversation_id": "ann", "question_date": None, "evidence_turn_ids": ["1"]}
    rows = [asked, asked | {"retrieval_ok": False}, asked | {"question_date": "2020-01-01T00:00:00"}]
    with gzip.open(path, "wt") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in rows)
    found, left_out = read(database_url, path)
    assert left_out == 0 and [each.id for each in found] == ["1", "3"]
    assert {each.asked_at for each in found} == {day(1) + timedelta(seconds=1)}, "none before all was said"


def test_an_id_of_two_sessions_names_no_turn(corpus: Corpus, database_url: str, tmp_path: Path) -> None:
    corpus.number = 0
    corpus.turn("I have a cat as well", at=day(2), session="s3")  # s3/1
    path = tmp_path / "questions.jsonl"
    asked = {"question": "Which dog?", "conversation_id": "ann", "evidence_turn_ids": ["1"]}
    exact = {"question": "Which dog?", "subject_id": "ann", "evidence": [["s1", "1"]]}
    rows = [asked, asked | {"evidence_turn_ids": ["2"]}, exact]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    found, left_out = read(database_url, path)
    assert left_out == 1 and [each.id for each in found] == ["2", "3"]
    path.write_text(json.dumps(asked))
    with pytest.raises(InputError, match="several sessions have their ids"):
        read(database_url, path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1: not JSON"),
        ("[]", "line 1: expected a JSON object"),
        ('\n{"question": "What?"}', "line 2: a question has `question`, `subject_id`"),
        ('{"question": "What?", "subject_id": "ann", "evidence": ["s1"]}', "line 1: a question has"),
        ('{"question": "What?", "subject_id": "ann", "evidence": [["s1", "1"]], "asked_at": "May"}', "not a time"),
        ('{"question": "What?", "subject_id": "ben", "evidence": [["s1", "1"]]}', "import its conversations first"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    corpus: Corpus, database_url: str, tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read(database_url, path)


def test_a_file_that_is_not_there(corpus: Corpus, database_url: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="FileNotFoundError"):
        read(database_url, tmp_path / "none.jsonl")
