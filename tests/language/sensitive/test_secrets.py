"""Secrets that no word gives away."""

from __future__ import annotations

import pytest

from bench.sensitivity import labelled, rates
from reverie.language.sensitive.classes import REDACTED, without_secrets
from reverie.language.sensitive.secrets import likely_secrets, suspect_features, suspects


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("gate is 4471 then the hash", ["4471"]),
        ("go in as me: jparrish / Tr0mb0ne!wed", ["Tr0mb0ne!wed"]),
        ("export DB_PASS=hunterGreen#2201 and rerun", ["hunterGreen#2201"]),
        ("press 0-9-9-4, or 0 3 7 1 at the back", ["0-9-9-4", "0 3 7 1"]),
        ("(MossyOtter_88), all in one", ["MossyOtter_88"]),
        ("What a lovely day, mum's well-known cake", []),
    ],
)
def test_pieces_have_digits_or_signs(text: str, found: list[str]) -> None:
    assert [text[piece.start : piece.end] for piece in suspects(text)] == found


def test_a_piece_is_known_by_its_shape_and_what_stands_round_it() -> None:
    text = "gate is 4471 then the hash"
    piece = next(suspects(text))
    assert {"s d4", "b0 is", "a0 then", "b gate", "t hash"} <= set(suspect_features(text, piece))
    assert "b 4471" not in suspect_features(text, piece)


@pytest.mark.parametrize(
    "text",
    ["press 3-9-9-4 on the side gate and push", "ssid is Zeltnet and then it's Xk7#tulip",
     "it asked me again, I put Biscuit!2031 this time"],
)  # fmt: skip
def test_a_secret_is_taken_out_without_a_word_that_names_it(text: str) -> None:
    assert likely_secrets(text)
    assert REDACTED in without_secrets(text)[0] and without_secrets(text, by_rules_alone=True) == (text, 0)
    assert without_secrets(without_secrets(text)[0])[1] == 0


@pytest.mark.parametrize(
    "text",
    ["we open at 9.30 and close at 17.45", "the invoice 2026-0417 is over 1,240.50 euros", "flight LH1834 at 9:05",
     "my number is 0171 5550138", "run 5 km in 24:12, then 3x12 squats", "she was born on 12 March 1987",
     "ring me on +49 170 5550199 after 6", "Blood pressure 142/91 this morning", "i live at 14 Moor Street, LS6 2AB"],
)  # fmt: skip
def test_ordinary_numbers_stay(text: str) -> None:
    assert without_secrets(text) == (text, 0)


def test_half_of_the_secrets_of_an_author_who_saw_no_rules_are_found() -> None:
    held = [each for each in labelled() if each.half == "third"]
    flags = [("credentials" in each.classes, without_secrets(each.text)[1] > 0) for each in held]
    _, precision, recall = rates(flags)
    assert precision >= 0.88 and recall >= 0.55


def test_a_long_text_costs_no_more_than_its_first_pieces() -> None:
    table = "Tr0mb0ne!wed 4471 " * 50_000
    assert len(likely_secrets(f"go in as me: jparrish / {table}")) <= 100
