"""A session in its own words: few sentences, the telling ones, in order."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from reverie.language.cues.summarise import Line, summarise
from reverie.policy import SaliencePolicy

SALIENCE = SaliencePolicy(
    named_entity=0.3,
    number_or_date=0.2,
    preference=0.4,
    technical=0.1,
    maximum=1.0,
    technical_letters=7.0,
    signals=("i prefer",),
)
START = datetime(2026, 1, 20, 9, tzinfo=UTC)


def session(*turns: tuple[str, str]) -> list[Line]:
    return [
        Line(speaker=speaker, text=text, said_at=START + timedelta(minutes=minute))
        for minute, (speaker, text) in enumerate(turns)
    ]


def summary(lines: list[Line], number: int = 3) -> str:
    return summarise(lines, number=number, numbers=SALIENCE)


def test_names_numbers_and_topics_stay_and_pleasantries_go():
    """Logic 3.2: specific, with names, numbers and technical details, without pleasantries."""
    lines = session(
        ("Dana", "Good morning! How are you?"),
        ("Atlas", "Very well, thank you. What can I do for you today?"),
        ("Dana", "We move the database from MySQL to PostgreSQL on 11 April."),
        ("Atlas", "Sounds like a good plan."),
        ("Dana", "Alembic autogenerate misses new enum values on PostgreSQL, Zoë says."),
        ("Atlas", "I have created PROJ-431 for the enum values in PostgreSQL."),
        ("Dana", "Great, thanks a lot!"),
    )
    assert summary(lines) == (
        "20 January 2026. Dana: We move the database from MySQL to PostgreSQL on 11 April. "
        "Alembic autogenerate misses new enum values on PostgreSQL, Zoë says. "
        "Atlas: I have created PROJ-431 for the enum values in PostgreSQL."
    )


def test_what_was_said_twice_is_told_once():
    lines = session(
        ("A", "The budget is 400 euros a month."),
        ("B", "The budget is 400 euros a month."),
        ("A", "We meet in Lisbon next week."),
    )
    assert summary(lines).count("400") == 1


def test_questions_code_and_crumbs_only_when_there_is_nothing_else():
    assert summary(
        session(("A", "Where did you put the big red Lisbon file?"), ("B", "I put it into the shared drive."))
    ) == ("20 January 2026. B: I put it into the shared drive.")
    assert summary(session(("A", "Where did you put the file?"))) == "20 January 2026. A: Where did you put the file?"
    assert summary(session(("A", "ok"))) == "20 January 2026. A: ok."
    assert (
        summary(session(("A", "```\nprint('hello to all of you')\n```")))
        == "20 January 2026: 1 turns without a sentence."
    )


def test_long_sentences_are_cut_at_a_word():
    text = summary(session(("A", "word " * 200)))
    assert len(text) < 300
    assert text.endswith("word …")


@given(st.lists(st.tuples(st.sampled_from("AB"), st.text(max_size=80)), min_size=1, max_size=12), st.integers(1, 3))
def test_nothing_is_invented(turns, number):
    text = summary(session(*turns), number)
    assert text
    said = {word.rstrip(".") for _, turn in turns for word in turn.split()} | {"A:", "B:", "…", ""}
    told = text.removeprefix("20 January 2026").removeprefix(". ")
    if not told.endswith("turns without a sentence."):
        assert {word.rstrip(".") for word in told.split()} <= said
