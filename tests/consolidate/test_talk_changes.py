"""What is told of a subject's topics: changes, each once; no noise; the same however the messages came in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest

from reverie.consolidate.signal.talk_changes import TalkChange, TalkMessage, looks_at, talk_changes
from reverie.policy.insights import InsightsPolicy

BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)
ALWAYS = datetime(2020, 1, 1, tzinfo=UTC)
POLICY = InsightsPolicy(topic_days=3)
WEEKS = 40


def message(place: int, at: datetime, *words: str) -> TalkMessage:
    return TalkMessage(UUID(int=place), at, words, [True] * len(words))


def messages(weeks: Sequence[int], words: Sequence[str], *, on: Sequence[int] = (0, 2, 5)) -> list[TalkMessage]:
    """Three days a week with two messages each; in some weeks one message of these days has these words."""
    found: list[TalkMessage] = []
    for day in (7 * week + each for week in range(WEEKS) for each in (0, 2, 5)):
        at = BEGIN + timedelta(days=day)
        found.append(message(len(found), at, "printer"))
        found.append(
            message(len(found), at + timedelta(minutes=1), *(words if day // 7 in weeks and day % 7 in on else ()))
        )
    return found


def changes(told: Sequence[TalkMessage], since: datetime = ALWAYS, policy: InsightsPolicy = POLICY) -> list[TalkChange]:
    return list(talk_changes([each for each in told if each.words], [each.at for each in told], since, policy))


def test_a_new_topic_is_told_once_and_is_over() -> None:
    more, over = changes(messages(range(20, 26), ["marathon", "training"]))[:2]
    assert (more.key, list(more.topic), more.is_more, more.is_over) == (
        "marathon",
        ["marathon", "training"],
        True,
        False,
    )
    assert more.before_days[0] == 0 and more.recent_days[0] >= 3 and more.p < 0.05
    assert len(more.turn_ids) == more.recent_messages[0] == more.recent_days[0]
    assert (over.key, over.is_over) == ("marathon", True) and over.look.at > more.look.at
    # it is looked at with the first message of a week, which comes on a Monday
    assert more.look.at.weekday() == 0 and more.look.monday == more.look.at.toordinal()


def test_a_topic_that_stops_is_told_as_less() -> None:
    less = changes(messages(range(24), ["tannery"]))[0]
    assert (less.topic, less.is_more, less.is_over) == (["tannery"], False, False)
    assert less.before_days[0] * less.recent_days[1] >= 2 * less.recent_days[0] * less.before_days[1]


def test_one_long_conversation_is_no_change() -> None:
    told = messages([], [])
    day = next(each.at for each in told if each.at >= BEGIN + timedelta(weeks=30))
    talk = [message(10_000 + place, day + timedelta(minutes=2 + place), "marathon") for place in range(40)]
    assert changes(sorted([*told, *talk], key=lambda each: (each.at, each.turn_id))) == []


def test_a_verb_is_no_topic_and_everyday_words_need_more_days() -> None:
    verbs = [
        TalkMessage(each.turn_id, each.at, each.words, [False] * len(each.words))
        for each in messages(range(20, 26), ["kayaked"])
    ]
    assert changes(verbs) == []
    # four days in four weeks
    rare, everyday = (changes(messages(range(20, 24), [word], on=(0,))) for word in ("tannery", "bus"))
    assert rare and not everyday


def test_what_came_before_must_be_known_for_as_long() -> None:
    told = messages(range(6, 12), ["marathon"])
    first = looks_at([each.at for each in told], POLICY)[0]
    assert first.monday - BEGIN.toordinal() >= 2 * POLICY.topic_window
    assert looks_at([], POLICY) == [] == looks_at([BEGIN], POLICY)
    assert changes(told, policy=InsightsPolicy()) == []


@pytest.mark.parametrize("week", [5, 21, 23, 27, 33])
def test_what_came_in_pieces_tells_what_came_at_once(week: int) -> None:
    told = messages(range(20, 26), ["marathon", "training"])
    at = BEGIN + timedelta(weeks=week)
    assert [*changes([each for each in told if each.at < at]), *changes(told, at)] == changes(told)


def test_conversations_about_anything_are_told_of_few() -> None:
    """At any time, of 12 people with 60 topics who talk about two of them a day."""
    rates = 1 / np.arange(1, 61) ** 0.8
    looks = holding = 0
    for seed in range(12):
        random, told = np.random.default_rng(seed), list[TalkMessage]()
        for day in (7 * week + each for week in range(30) for each in (0, 2, 3, 5)):
            about = random.choice(60, 2, replace=False, p=rates / rates.sum())
            for place in range(5):
                words = [
                    f"topic{chr(97 + each // 26)}{chr(97 + each % 26)}x" for each in about if random.random() < 0.6
                ]
                told.append(message(len(told), BEGIN + timedelta(days=day, minutes=place), *words))
        changed, in_force, place = changes(told), set[str](), 0
        for look in looks_at([each.at for each in told], POLICY):
            while place < len(changed) and changed[place].look.at <= look.at:
                (in_force.discard if changed[place].is_over else in_force.add)(changed[place].key)
                place += 1
            looks, holding = looks + 1, holding + bool(in_force)
    assert holding / looks <= POLICY.topic_level
