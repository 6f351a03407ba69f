"""Changes of the topics that a person talks about: found in noise, found if planted, and found in the voices.

    python -m bench talk [--people 120] [--voices]

The people are simulated with a seed: 150 topics of falling frequency, about eight messages per day. `independent`: each
message is about any topic. `conversations`: the messages of a day are about two topics of the day. `days in a row`:
half of the time one of these is a topic of the day before. A topic is planted in week 20 of 40. --voices prints the
changes found in the voices of training/reader, each with its latest messages.
"""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import numpy as np

from bench.report import machine, print_table
from reverie.consolidate.signal.talk_changes import TalkChange, TalkMessage, looks_at, talk_changes
from reverie.language.talk_words import talk_words
from reverie.policy import load_policy
from reverie.policy.insights import InsightsPolicy

VOICES = Path(__file__).resolve().parent.parent / "training" / "reader" / "voices"
BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)
DAY, WEEK = timedelta(days=1), timedelta(days=7)
WEEKS, PLANTED, TOPICS, MESSAGES = 40, 20, 150, 8
#: The rate of messages about each topic.
RATES = 0.12 / np.arange(1, TOPICS + 1) ** 0.8
#: The word of a planted topic. Like those of the others, it is invented, so that no word list has it.
NEW = "zorvex"
WORDS = [f"{a}{b}{c}or" for a in "bdfgk" for b in "aeiou" for c in "lmnprs"]
KINDS = ("independent", "conversations", "days in a row")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=120)
    parser.add_argument("--voices", action="store_true")
    options = parser.parse_args()
    policy = load_policy("reverie").insights
    if options.voices:
        read_voices(policy)
        return
    rows = [
        (kind, str(a_week), *false_rates(kind, a_week, options.people, policy)) for kind in KINDS for a_week in (2, 7)
    ]
    head = ("noise", "days a week", "have one at a time", "begin at a look", "ever in 40 weeks")
    print_table("Changes told of noise", head, rows)
    rows = [
        (str(a_week), f"{share:.0%}", *found(a_week, share, options.people, policy))
        for a_week in (2, 4, 7)
        for share in (0.1, 0.25)
    ]
    print_table("A new topic", ("days a week", "of the messages", "found in 4 weeks", "in 8", "ever"), rows)
    print(machine())


def person(seed: int, kind: str, a_week: int, planted: float = 0.0) -> list[TalkMessage]:
    """Return a person's messages over 40 weeks."""
    random, found, of_day = np.random.default_rng(seed), list[TalkMessage](), np.empty(0, np.int64)
    for day in range(7 * WEEKS):
        if random.random() > a_week / 7:
            continue
        before, of_day = of_day, random.choice(TOPICS, 2, replace=False, p=RATES / RATES.sum())
        if kind == "days in a row" and len(before) and random.random() < 0.5:
            of_day[0] = before[0]
        for place in range(1 + random.poisson(MESSAGES - 1)):
            about = random.random(TOPICS) < RATES * (1.0 if kind == "independent" else 0.3)
            if kind != "independent":
                about[of_day[random.random(2) < 0.5]] = True
            words = [WORDS[each] for each in np.nonzero(about)[0]]
            if day >= 7 * PLANTED and random.random() < planted:
                words.append(NEW)
            at = BEGIN + day * DAY + place * timedelta(minutes=1)
            found.append(TalkMessage(UUID(int=len(found)), at, words, [True] * len(words)))
    return found


def changes(messages: list[TalkMessage], policy: InsightsPolicy) -> list[TalkChange]:
    """Return all changes found in a person's messages."""
    return list(talk_changes(messages, [each.at for each in messages], BEGIN, policy))


def false_rates(kind: str, a_week: int, people: int, policy: InsightsPolicy) -> tuple[str, str, str]:
    """Return how often a change is found for people whose topics do not change."""
    looks = holding = begun = ever = 0
    for seed in range(people):
        messages = person(seed, kind, a_week)
        told = changes(messages, policy)
        begins = {each.look.at for each in told if not each.is_over}
        in_force, place = set[str](), 0
        for look in looks_at([each.at for each in messages], policy):
            while place < len(told) and told[place].look.at <= look.at:
                (in_force.discard if told[place].is_over else in_force.add)(told[place].key)
                place += 1
            looks, holding, begun = looks + 1, holding + bool(in_force), begun + (look.at in begins)
        ever += bool(begins)
    return f"{holding / looks:.3f}", f"{begun / looks:.4f}", f"{ever / people:.2f}"


def found(a_week: int, share: float, people: int, policy: InsightsPolicy) -> tuple[str, str, str]:
    """Return how often a new topic is found within four weeks, within eight, and at all."""
    weeks = []
    for seed in range(people):
        told = (each for each in changes(person(1000 + seed, "conversations", a_week, share), policy) if each.is_more)
        first = next((each.look.at for each in told if NEW in each.topic and not each.is_over), None)
        weeks.append((first - BEGIN) / WEEK - PLANTED if first else np.inf)
    return tuple(f"{np.mean(np.array(weeks) <= most):.2f}" for most in (4.0, 8.0, 1000.0))  # type: ignore[return-value]


def read_voices(policy: InsightsPolicy) -> None:
    """Print the changes found in the voices."""
    number = 0
    for path in sorted(VOICES.glob("*.jsonl")):
        messages, texts = voice(path)
        for change in changes(messages, policy):
            if change.is_over:
                continue
            number += 1
            way = "more" if change.is_more else "less"
            counts = f"{change.recent_days} days lately, {change.before_days} before, p {change.p:.4f}"
            print(f"{number}. {path.stem}, {change.look.at.date()}: {way} about {' '.join(change.topic)} ({counts})")
            for turn_id in change.turn_ids[-4:]:
                print(f"      {texts[turn_id]}")


def voice(path: Path) -> tuple[list[TalkMessage], dict[UUID, str]]:
    """Return the messages of a voice, and their texts."""
    lines, day = path.read_text(encoding="utf-8").splitlines()[1:], ""
    messages, texts = list[TalkMessage](), dict[UUID, str]()
    for place, line in enumerate(map(json.loads, lines)):
        day = line.get("day", day)
        words = talk_words(line["t"])
        at = datetime.fromisoformat(f"{day}T09:00:00+00:00") + timedelta(seconds=place)
        message = TalkMessage(UUID(int=place), at, [each.word for each in words], [each.named for each in words])
        messages.append(message)
        texts[message.turn_id] = f"{day} {line['t'][:150]}"
    return messages, texts


if __name__ == "__main__":
    main()
