"""signal: moods and figures of a history, what follows from them, and that a second run changes nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reverie.capture.history.importing import import_file
from reverie.consolidate.embed.stage import embed
from reverie.consolidate.extract.stage import extract
from reverie.consolidate.signal import stage
from reverie.consolidate.signal.stage import signal
from reverie.drive.cycle import catch_up, ingest
from reverie.inference import Vectors, load_embedder
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.work import Work
from reverie.testing import WordEmbedder

BEGIN = datetime(2026, 1, 5, 22, 10, tzinfo=UTC)
END = datetime(2026, 3, 15, tzinfo=UTC)


def turn(at: datetime, text: str, role: str = "user", session: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "subject_id": "ana",
        "session_id": session or f"{at:%m-%d}",
        "role": role,
        "said_at": at.isoformat(),
        "text": text,
    } | more


def history() -> list[dict[str, Any]]:
    """Six weeks of evenings; on the third, sad messages in a row; then silence."""
    records = []
    for day in range(36):
        at = BEGIN + timedelta(days=day)
        texts = (
            ("I am so sad today", "I was crying all day", "I miss her, so sad") if day == 2 else ("Nice walk 😀", "Ok?")
        )
        for place, text in enumerate(texts):
            then = at + timedelta(minutes=4 * place)
            records.append(turn(then, text, metadata={"timezone": "Europe/Lisbon"}))
            records.append(turn(then + timedelta(minutes=1), "I see.", "assistant"))
    return records


def log(store: Store, records: list[dict[str, Any]], path: Path, until: datetime, policy: Policy) -> Work:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    import_file(store, path, tenant_id="t", now=END)
    return Work(store=store, scope=Scope(tenant_id="t"), policy=policy, as_of=until, embedder=WordEmbedder())


def work_in(store: Store, records: list[dict[str, Any]], path: Path, until: datetime, policy: Policy) -> Work:
    work = log(store, records, path, until, policy)
    for _ in (*ingest(work), *catch_up(work)):
        pass
    return work


@pytest.fixture
def policy() -> Policy:
    return load_policy("contact")


def rows(store: Store, statement: str) -> list[tuple[Any, ...]]:
    with store.transaction("t") as conn:
        return conn.execute(statement).fetchall()


def test_a_history_gives_figures_and_what_follows(
    store: Store, other_store: Store, tmp_path: Path, policy: Policy
) -> None:
    records = history()
    work = work_in(store, records, tmp_path / "all.jsonl", END, policy)
    assert rows(store, "select count(*) from memory.signal_days") == [(0,)]
    ((messages, received, begun, own, latency, gaps, halves, words, questions, emoji, zone),) = rows(
        store,
        """select messages, received, begun, own_begun, latency_p50, gaps, half_hours, words, questions, emoji, zone
           from memory.signals where day = '2026-01-06'""",
    )
    assert (messages, received, begun, own, latency, halves) == (2, 2, 1, 1, 180.0, [44, 44])
    assert gaps == pytest.approx([24 - 5 / 60])
    assert (words, questions, emoji, zone) == (4, 1, 1, "Europe/Lisbon")
    assert rows(store, "select sad, neutral from memory.signals where day = '2026-01-07'") == [(3, 0)]
    assert rows(store, "select sum(messages), max(active_days) from memory.signal_weeks") == [(73, 7)]
    # a difficult period that three other messages ended
    assert rows(store, "select opened_at, closed_at, negatives, mood from memory.periods") == [
        (BEGIN + timedelta(days=2, minutes=8), BEGIN + timedelta(days=4), 3, "sad")
    ]
    assert [row[0] for row in rows(store, "select stage from memory.relationships order by since")] == [
        "new",
        "building",
        "established",
        "deep",
        "established",
    ]
    tie = rows(store, "select band_start, band_half_hours, band_share, band_since, zone from memory.ties")
    assert tie == [(44, 4, 1.0, date(2026, 1, 19), "Europe/Lisbon")]
    triggers = rows(store, "select kind, audience, due_at, withheld from memory.triggers order by due_at")
    assert [(kind, audience, withheld) for kind, audience, _, withheld in triggers] == [
        ("difficult_period", "caller", None),
        ("check_in", "caller", None),
        ("silence", "caller", None),
    ]
    assert triggers[0][2] == datetime(2026, 1, 8, 8, tzinfo=UTC)  # the end of quiet hours
    assert triggers[1][2] == datetime(2026, 1, 8, 9, tzinfo=UTC)
    remembered = rows(
        store, "select kind, content from memory.memories where origin in ('difficult_period', 'usual_hours')"
    )
    assert sorted(remembered) == [
        ("pattern", "Usually chats between 10 pm and 12 am"),
        ("pattern", "Went through a difficult period around 7 January 2026"),
    ]
    before = digest(store, "t")
    for _ in (*ingest(work), *catch_up(work)):
        pass
    assert digest(store, "t") == before
    # day by day it is the same
    for number in range(4):
        begin, end = BEGIN + timedelta(days=10 * number), BEGIN + timedelta(days=10 * (number + 1))
        part = [record for record in records if begin <= datetime.fromisoformat(record["said_at"]) < end]
        work_in(other_store, part, tmp_path / f"{number}.jsonl", end if number < 3 else END, policy)
    assert digest(other_store, "t").tables == before.tables


def test_a_speakers_name_makes_no_crisis_and_hides_none(store: Store, tmp_path: Path) -> None:
    """The stored vectors have the name: by them .03 and .47, by the words alone .01 and 1.00."""
    texts = (
        "830, back to normal. Going to bed. Move my 9:00, I won't be human.",
        "I feel like there's no place for me in this world",
    )
    path = tmp_path / "said.jsonl"
    path.write_text("".join(json.dumps(turn(BEGIN, text, speaker="Dana")) + "\n" for text in texts), encoding="utf-8")
    import_file(store, path, tenant_id="t", now=END)
    embedder = load_embedder("minilm", threads=1)
    work = Work(store=store, scope=Scope(tenant_id="t"), policy=load_policy("reverie"), as_of=END, embedder=embedder)
    for _ in ingest(work):
        pass
    crises = dict(
        rows(
            store,
            "select t.text, m.crisis from memory.moods m join log.turns t on t.id = m.turn_id where m.tenant_id = 't'",
        )
    )
    assert crises == {texts[0]: False, texts[1]: True}


def is_whole(store: Store, messages: int) -> bool:
    """Whether all messages have moods and are in the figures, and no day is left."""
    moods, counted, left = (
        "select count(*) from memory.moods",
        "select sum(messages) from memory.signals",
        "select count(*) from memory.signal_days",
    )
    return [rows(store, each)[0][0] for each in (moods, counted, left)] == [messages, messages, 0]


def test_a_day_stays_until_the_time_of_its_last_turn(store: Store, tmp_path: Path, policy: Policy) -> None:
    at = datetime(2026, 1, 5, 10, tzinfo=UTC)
    records = [turn(at, "Nice walk"), turn(at + timedelta(hours=4), "I am so sad today")]
    work = log(store, records, tmp_path / "day.jsonl", at + timedelta(hours=5), policy)
    extract(work)
    embed(work)
    early = replace(work, as_of=at + timedelta(hours=2))
    assert [signal(early)["moods"], signal(early)["moods"], signal(work)["moods"]] == [1, 0, 1]
    assert is_whole(store, 2)


def test_silence_within_one_session_that_never_ends_is_known(store: Store, tmp_path: Path, policy: Policy) -> None:
    weekly = [turn(BEGIN + timedelta(weeks=week), "Nice walk", session="chat") for week in range(9)]
    work_in(store, weekly, tmp_path / "turns.jsonl", END, policy)
    (due,) = rows(store, "select due_at from memory.triggers where kind = 'silence'")
    assert due == (BEGIN + timedelta(weeks=8) + timedelta(weeks=1.5),)
    assert rows(store, "select stage, sessions from memory.relationships") == [("new", 1)]


@pytest.mark.parametrize("speaker", [None, "Annabel"])
def test_later_usual_hours_supersede_those_before(
    speaker: str | None, store: Store, tmp_path: Path, policy: Policy
) -> None:
    hours = (22, 22, 8, 8, 22, 22)  # ten days each
    days = [(BEGIN + timedelta(days=day)).replace(hour=hour) for day, hour in enumerate(np.repeat(hours, 10).tolist())]
    names = [speaker] * 20 + [None] * 40
    said = [turn(at, "Nice walk", speaker=name) for at, name in zip(days, names, strict=True)]
    work_in(store, said, tmp_path / "turns.jsonl", END, policy)
    told = rows(store, "select content, state from memory.memories where origin = 'usual_hours' order by happened_at")
    assert told == [
        ("Usually chats between 10 pm and 12 am", "superseded"),
        ("Usually chats between 8 am and 10 am", "superseded"),
        ("Usually chats between 10 pm and 12 am", "active"),
    ]


@pytest.mark.parametrize("parts", [1, 2], ids=["at once", "day by day"])
def test_a_session_keeps_its_counterpart_after_midnight(
    parts: int, store: Store, tmp_path: Path, policy: Policy
) -> None:
    night = BEGIN.replace(hour=23, minute=50)
    evening = [turn(night, "Nice walk", session="s"), turn(night, "Good.", "assistant", "s")]
    evening.append(turn(night, "Sleep well.", "assistant", "s"))
    later = [turn(night + timedelta(hours=1), "Ok?", session="s")]
    later.append(turn(night + timedelta(hours=2), "Hello you two.", session="s", speaker="Salma"))
    for number, said in enumerate([evening + later] if parts == 1 else [evening, later]):
        work_in(store, said, tmp_path / f"{number}.jsonl", END, policy)
    figures = rows(store, "select day, counterpart, messages, received from memory.signals order by 1, 2")
    assert figures == [
        (night.date(), "assistant", 1, 2), (night.date() + timedelta(days=1), "assistant", 1, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("begins", [(0,), (0, 1), (0, 1, 2)], ids=["at once", "in two", "day by day"])
def test_the_counterpart_of_an_endless_session_is_that_of_its_latest_days(
    begins: tuple[int, ...], store: Store, tmp_path: Path, policy: Policy
) -> None:
    """Its whole history is not counted again for each of its days."""
    first, second, third = (BEGIN + timedelta(days=days) for days in (0, 20, 40))
    said = [[turn(first, "Nice walk", session="s")], *([turn(at, "Ok?", session="s")] for at in (second, third))]
    said[0] += [turn(first, text, "assistant", "s") for text in ("Good.", "Sleep well.", "See you.")]
    for at, messages in zip((second, third), said[1:], strict=True):
        messages.append(turn(at + timedelta(minutes=1), "Hello you two.", session="s", speaker="Salma"))
    for begin, end in zip(begins, [*begins[1:], 3], strict=True):
        work_in(store, list(chain(*said[begin:end])), tmp_path / f"{begin}.jsonl", END, policy)
    assert rows(store, "select day, counterpart from memory.signals order by 1, 2") == [
        (first.date(), "assistant"), (second.date(), "assistant"), (third.date(), "Salma"),
    ]  # fmt: skip


def test_a_mood_lasts_for_the_next_messages_of_its_own_author(store: Store, tmp_path: Path) -> None:
    said = (("Ana", "Hello you two."), ("Bob", "I am crying, so sad"), ("Ana", "The parcel is by the door."))
    later = (("Ana", "It is on the desk."), ("Eve", "On the desk?"), ("Bob", "The desk."))
    for hours, part in ((0, said), (3, later)):  # each in a run of its own
        begin = BEGIN + timedelta(hours=hours)
        records = [
            turn(begin + timedelta(minutes=place), text, session="s", speaker=speaker)
            for place, (speaker, text) in enumerate(part)
        ]
        work_in(store, records, tmp_path / f"{hours}.jsonl", END, load_policy("reverie"))
    moods = rows(store, "select mood, method from memory.moods order by said_at")
    assert moods == [
        ("neutral", "keywords"), ("sad", "keywords"), ("neutral", "previous"),
        ("neutral", "previous"), ("neutral", "keywords"), ("sad", "previous"),
    ]  # fmt: skip


def test_turns_that_come_meanwhile_are_left_to_the_next_run(
    store: Store, tmp_path: Path, policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if another worker took the day, so that as many turns are noted again as before."""
    tell = stage.tell_all

    def say(minute: int) -> Work:
        at = BEGIN + timedelta(minutes=minute)
        work = log(store, [turn(at, "I am so sad today")], tmp_path / f"{minute}.jsonl", at, policy)
        extract(work)
        embed(work)
        return work

    def meanwhile(*given: Any, **more: Any) -> Any:
        monkeypatch.setattr(stage, "tell_all", tell)
        signal(say(1))
        say(2)
        return tell(*given, **more)

    work = say(0)
    monkeypatch.setattr(stage, "tell_all", meanwhile)
    signal(work)
    assert not is_whole(store, 3)
    signal(replace(work, as_of=END))
    assert is_whole(store, 3)


class Choking:
    """An embedder that cannot embed one text."""

    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def encode(self, texts: Sequence[str]) -> Vectors:
        if any("beetroot" in text for text in texts):
            raise ValueError
        return self._embedder.encode(texts)


@pytest.mark.parametrize("recalled", [("turn", "memory"), ("memory",)], ids=["turns", "memories alone"])
def test_a_text_that_the_model_cannot_embed_leaves_its_subject_in_the_work(
    store: Store, tmp_path: Path, recalled: tuple[str, ...]
) -> None:
    texts = ["I am so sad today", *(f"The beetroot is on shelf {number}." for number in range(12))]
    said = [turn(BEGIN + timedelta(minutes=place), text) for place, text in enumerate(texts)]
    policy = load_policy("reverie")
    policy = policy.model_copy(update={"recall": policy.recall.model_copy(update={"items": recalled})})
    work = replace(log(store, said, tmp_path / "said.jsonl", END, policy), embedder=Choking(load_embedder("minilm")))
    for _ in ingest(work):
        pass
    assert is_whole(store, len(texts))
    letters = rows(store, "select distinct source from ops.dead_letters where item is null")
    assert letters == []
