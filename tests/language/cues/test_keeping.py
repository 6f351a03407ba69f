"""What of a turn is kept as it was said."""

import polars as pl

from reverie.language.cues.compiled import Rules
from reverie.language.cues.keeping import EPISODES_FROM, PLAIN, kept_frame, kept_one
from reverie.policy import load_policy
from reverie.policy.extract import WorthPolicy

TURNS = (
    "Hey! My sister plays the cello in the school orchestra. It was so much fun.",
    "We adopted a puppy from the shelter last week. I'm pushing on though.",
    "I'm pushing on though. We make a good team.",
    "Nature has a way of humbling us.",
    "How are you?",
)


def rules(keep: float | None = None, episode: float = 0.0) -> Rules:
    """The rules of the policy `reverie`, by default with its own thresholds."""
    extract = load_policy("reverie").extract
    if keep is not None:
        extract = extract.model_copy(update={"worth": WorthPolicy(keep=keep, episode=episode)})
    return Rules(extract)


def test_a_plain_fact_is_kept_as_said() -> None:
    (kept,) = kept_one(TURNS[0], (), rules(keep=0.4))
    assert (kept.kind, kept.origin) == ("fact", PLAIN)
    assert kept.content == "My sister plays the cello in the school orchestra."
    assert kept.place == TURNS[0].index("My")


def test_the_policy_reverie_keeps_no_plain_facts() -> None:
    assert [part.kind for turn in TURNS for part in kept_one(turn, (), rules())] == ["episode"]


def test_an_event_is_an_episode() -> None:
    (kept,) = kept_one(TURNS[1], (), rules())
    assert (kept.kind, kept.place) == ("episode", EPISODES_FROM)
    assert kept.content == "We adopted a puppy from the shelter last week."


def test_small_talk_is_not_kept() -> None:
    assert [kept_one(turn, (), rules(keep=0.4)) for turn in TURNS[2:]] == [[], [], []]


def test_what_rules_stated_is_not_kept_twice() -> None:
    start = TURNS[0].index("My")
    assert kept_one(TURNS[0], [(start, start + 20)], rules(keep=0.4)) == []


def test_where_a_chunk_has_one_kind_a_preference_is_no_episode() -> None:
    logic = Rules(load_policy("logic").extract)
    text = "I prefer texting. My sister came by."
    assert kept_one("I prefer texting", [(9, 16)], logic) == []
    (kept,) = kept_one(text, [(9, 17)], logic)
    assert (kept.kind, kept.content) == ("episode", "My sister came by.")
    (whole,) = kept_one(text, [(9, 17)], Rules(load_policy("contact").extract))
    assert whole.content == text


def test_thresholds_of_the_policy_decide() -> None:
    assert kept_one(TURNS[0], (), rules(keep=1.0)) == []
    assert kept_one(TURNS[1], (), rules(keep=1.0, episode=1.0)) == []
    assert kept_one(TURNS[3], (), rules(keep=0.0))


def test_alone_as_in_a_batch() -> None:
    chosen = rules(keep=0.4)
    alone = [(row, part) for row, turn in enumerate(TURNS) for part in kept_one(turn, (), chosen)]
    assert kept_frame(pl.Series(TURNS), {}, chosen) == alone
