"""A statement and a message side by side."""

from reverie.inference.judge.pairs import BEFORE, MESSAGE, MOST_OF_MESSAGE, SHORT_MESSAGE, STATEMENT, EndPair


def test_only_a_short_message_is_read_with_what_was_said_before_it() -> None:
    short = EndPair("Lives in Leeds", "not any more", "still in Leeds?")
    assert [(side, text) for side, text, _ in short.sides()] == [
        (STATEMENT, "Lives in Leeds"),
        (BEFORE, "still in Leeds?"),
        (MESSAGE, "not any more"),
    ]
    long = short._replace(message="not any more, " * SHORT_MESSAGE)
    assert [side for side, _, _ in long.sides()] == [STATEMENT, MESSAGE]
    assert long.sides()[-1][2] == MOST_OF_MESSAGE
