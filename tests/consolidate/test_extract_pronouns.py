"""What is said of a pronoun is kept in words that tell who is meant, or does not last."""

from __future__ import annotations

from tests.consolidate.test_extract_reading import decided, turns

BARE = "I don't want to talk about her"


def test_words_about_a_pronoun_are_its_authors_own_and_do_not_last() -> None:
    found = decided(turns(f"Malia was on the phone again. {BARE}", BARE)).candidates
    assert "Doesn't want to talk about her" not in [one.content for one in found]
    (own,) = [one for one in found if one.content == BARE]
    assert not own.lasting
