"""A session in its own words: few sentences, the telling ones, in order."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from reverie.language.cues.summarise import SpokenTurn, summarise, summarise_all
from reverie.policy import SaliencePolicy
from reverie.policy.memory import SummaryPolicy

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


def session(*turns: tuple[str, str]) -> list[SpokenTurn]:
    return [
        SpokenTurn(speaker=speaker, text=text, said_at=START + timedelta(minutes=minute))
        for minute, (speaker, text) in enumerate(turns)
    ]


def summary(lines: list[SpokenTurn], number: int = 3, **weights: float) -> str | None:
    return summarise(lines, number=number, weights=SummaryPolicy(**weights), salience=SALIENCE)


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


def test_each_speaker_is_told_before_one_is_told_at_length():
    lines = session(
        ("A", "I moved to Lisbon in May."),
        ("A", "I rent a flat near Lisbon station."),
        ("A", "My flat in Lisbon costs 900 euros."),
        ("B", "I started a pottery class in Porto."),
    )
    told = summary(lines, 2)
    assert told is not None and "A: " in told and told.endswith("B: I started a pottery class in Porto.")
    alone = summary(lines, 2, heard=1.0, early=1.0)
    assert alone is not None and "pottery" not in alone


def test_a_session_without_a_sentence_worth_telling_has_no_summary():
    for text in (
        "Where did you put the big red Lisbon file?", "ok", "```\nprint('hello to all of you')\n```",
        "Thanks! That means a lot.", "Yeah, it was so good!", "[shares a photo of two dogs on a beach in Lisbon]",
        "Sounds great, talk to you soon!", "They told me about it yesterday in Lisbon.", "", "word " * 200,
    ):  # fmt: skip
        assert summary(session(("A", text))) is None, text


def test_a_sentence_that_adds_little_is_left_out():
    lines = session(
        ("A", "I moved from Lisbon to Oslo on 3 May for a job at the harbour museum with my wife and two dogs."),
        ("B", "Moving costs much energy."),
    )
    told = summary(lines)
    assert told is not None and "energy" not in told
    assert "energy" in (summary(lines, least_gain=0.0) or "")


def test_a_sentence_that_is_too_long_is_not_told():
    lines = session(
        ("A", "I moved to Oslo with " + "my dog and " * 30 + "my cat."), ("A", "I work at the harbour museum.")
    )
    assert summary(lines) == "20 January 2026. A: I work at the harbour museum."


def test_many_sessions_at_once_are_as_one_after_the_other():
    lines = [session(("A", f"I moved to Oslo in {year}."), ("B", "Wow!")) for year in range(2000, 2005)]
    at_once = summarise_all([*lines, session(("A", "ok"))], number=3, weights=SummaryPolicy(), salience=SALIENCE)
    assert at_once == [*map(summary, lines), None]


@given(st.lists(st.tuples(st.sampled_from("AB"), st.text(max_size=80)), min_size=1, max_size=12), st.integers(1, 3))
def test_nothing_is_invented(turns, number):
    told = (summary(session(*turns), number) or "20 January 2026.").removeprefix("20 January 2026.")
    said = " ".join(text for _, text in turns).casefold()
    for word in told.replace("A: ", " ").replace("B: ", " ").split():
        assert word.rstrip(".").casefold() in said
