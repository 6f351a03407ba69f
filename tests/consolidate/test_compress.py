"""Themes become patterns and old sessions summaries: once, in full, and the same however the runs are cut."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb

from reverie.consolidate.compress.stage import compress
from reverie.model import Scope, Turn, stable_id
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.runs import Report
from reverie.store.work import Work
from tests.promises.world import WordEmbedder

TENANT = "t"
MODEL = "test"
MARCH = datetime(2026, 3, 20, 12, tzinfo=UTC)
NEAR = "[1,0.2,0]"
FAR = "[0,0,1]"
BRUNO = [
    ("Bruno went to the vet", 0),
    ("Bruno ate Arjun's shoes", 8),
    ("Bruno ate shoes again", 14),
    ("Bruno learned a new trick", 16),
    ("Took Bruno to the park", 19),
]
POSTS = [("recipe", 340), ("recipe", 290), ("recipe", 280), ("news", 95), ("news", 110)]


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url, role="worker") as opened:
        yield opened


@pytest.fixture(scope="module")
def policy() -> Policy:
    ours = load_policy("reverie")
    numbers = {
        "pattern_episodes": 5,
        "theme_similarity": 0.6,
        "contrast_ratio": 1.5,
        "pattern_importance": 0.85,
        "session_threshold": 4,
        "summary_sentences": 3,
    }
    return ours.model_copy(update={"compress": ours.compress.model_copy(update=numbers)})


def say(
    conn: psycopg.Connection, text: str, at: datetime, *, session: str = "s", subject: str = "arjun", **more
) -> Turn:
    """Write a turn to the log."""
    place = conn.execute("select count(*) from log.turns").fetchone()[0]
    turn = Turn(
        tenant_id=TENANT, subject_id=subject, session_id=session, source_id=f"t{place}", role="user", speaker="Arjun",
        said_at=at, text=text, turn_index=place,
    )  # fmt: skip
    conn.execute(
        """insert into log.turns (tenant_id, id, subject_id, session_id, source_id, turn_index, role, speaker, said_at,
                                  text, tool_calls, content_hash) values (%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s)""",
        [TENANT, turn.id, subject, session, turn.source_id, place, turn.role, turn.speaker, at, text,
         Jsonb(more["tool_calls"]) if "tool_calls" in more else None, b""],
    )  # fmt: skip
    return turn


def remember(conn: psycopg.Connection, turn: Turn, content: str, *entities: str, vector: str = NEAR, kind="episode"):
    """Write an active memory of a turn, its vector, terms, lineage and entities; return its id."""
    id_ = stable_id(turn.said_at, "memory", turn.subject_id, turn.source_id, content)
    run, at = stable_id(MARCH, "run"), turn.said_at
    conn.execute(
        """insert into memory.memories (tenant_id, id, subject_id, kind, state, content, content_hash, base, peak,
             importance, happened_at, accessed_at, decayed_at, forget_at, turn_id, session_id, origin, run_id,
             policy_hash)
           values (%s,%s,%s,%s,'active',%s,%s,.5,.5,.5,%s,%s,%s,%s,%s,%s,'rule',%s,'p')""",
        [TENANT, id_, turn.subject_id, kind, content, hashlib.sha256(content.encode()).digest(), at, at, at,
         at + timedelta(days=60), turn.id, turn.session_id, run],
    )  # fmt: skip
    conn.execute(
        "insert into memory.lineage values (%s,%s,'extracted','turn',%s,%s,%s)", [TENANT, id_, turn.id, at, run]
    )
    conn.execute(
        "insert into memory.vectors values (%s,%s,%s,%s,0,'memory',true,l2_normalize(%s::halfvec))",
        [TENANT, turn.subject_id, id_, MODEL, vector],
    )
    conn.execute(
        """insert into memory.subjects (tenant_id, subject_id, items, terms) values (%s, %s, 1, 4)
           on conflict (tenant_id, subject_id) do update
           set items = memory.subjects.items + 1, terms = memory.subjects.terms + 4""",
        [TENANT, turn.subject_id],
    )
    for entity in entities:
        kind_of, slug = entity.split(":")
        entity_id = stable_id(MARCH, "entity", turn.subject_id, entity)
        conn.execute(
            "insert into memory.entities (tenant_id, id, subject_id, type, slug, label, terms, first_seen_at) "
            "values (%s,%s,%s,%s,%s,%s,%s,%s) on conflict do nothing",
            [TENANT, entity_id, turn.subject_id, kind_of, slug, slug.title(), [slug], at],
        )
        conn.execute("insert into memory.links values (%s,%s,%s,%s,%s)", [TENANT, id_, entity_id, turn.subject_id, run])
    return id_


def observe(conn: psycopg.Connection, turn: Turn, value: float, at: datetime, *, positive: bool = True) -> None:
    """Write an outcome of a turn."""
    conn.execute(
        """insert into log.outcomes (tenant_id, id, subject_id, session_id, source_id, metric, value, positive,
                                     observed_at)
           values (%s,%s,%s,%s,%s,'views',%s,%s,%s)""",
        [TENANT, stable_id(at, "o", turn.source_id), turn.subject_id, turn.session_id, turn.source_id, value, positive,
         at],
    )  # fmt: skip


def tell_of_bruno(conn: psycopg.Connection, number: int = 5) -> list:
    return [
        remember(conn, say(conn, text, MARCH + timedelta(days=day)), text, "pet:bruno", vector=f"[1,{day / 50},0]")
        for text, day in BRUNO[:number]
    ]


def suggest_posts(conn: psycopg.Connection) -> Turn:
    for day, (category, views) in enumerate(POSTS):
        call = {"name": "suggest_post", "arguments": {"category": category, "title": f"Title {day}"}}
        turn = say(conn, "I have an idea.", MARCH + timedelta(days=day), subject="shop", tool_calls=[call])
        remember(conn, turn, f"suggest post: category {category}, title Title {day}")
        observe(conn, turn, views, turn.said_at + timedelta(days=7), positive=views > 200)
    return turn


def at(store: Store, policy: Policy, days: float, **more) -> Report:
    as_of = MARCH + timedelta(days=days)
    return compress(
        Work(
            store=store, scope=Scope(tenant_id=TENANT), policy=policy, as_of=as_of, embedder=WordEmbedder(MODEL), **more
        )
    )


def patterns(conn: psycopg.Connection, state: str = "active") -> list[str]:
    found = "select content from memory.memories where kind = 'pattern' and state = %s order by happened_at, id"
    return [row[0] for row in conn.execute(found, [state])]


def everything(conn: psycopg.Connection) -> list:
    """All that is derived; runs apart."""
    tables = ("memories", "lineage", "links", "vectors", "subjects")
    rows = SQL("select to_jsonb(x) - 'run_id' - 'as_of' from {} x order by x::text")
    return [conn.execute(rows.format(Identifier("memory", table))).fetchall() for table in tables]


def test_five_episodes_about_bruno_become_one_pattern(conn, store, policy):
    """Contact 6.2."""
    sources = tell_of_bruno(conn)
    report = at(store, policy, 20)
    assert (report["patterns"], report["replaced"], report["episodes"]) == (1, 0, 5)
    (text,) = patterns(conn)
    assert text == (
        "Arjun often speaks of Bruno (pet): 5 times from 20 March to 8 April 2026; "
        "for example 'Bruno ate shoes again'; last: 'Took Bruno to the park'."
    )
    (row,) = conn.execute(
        """select id, base, peak, importance, happened_at, accessed_at, decayed_at, forget_at, origin, content_hash,
                  sha256(content::bytea) from memory.memories where kind = 'pattern'"""
    ).fetchall()
    last = MARCH + timedelta(days=19)
    assert row[1:4] == pytest.approx((0.85, 0.85, 0.85))
    assert row[4:7] == (last, last, last)
    assert row[7] > last
    assert row[8] == "theme:pet:bruno"
    assert row[9] == row[10]
    held = conn.execute("select id from memory.memories where state = 'compressed' and into_id = %s", [row[0]])
    assert {source[0] for source in held} == set(sources)
    lineage = conn.execute(
        "select source_id from memory.lineage where memory_id = %s and relation = 'compressed'", [row[0]]
    )
    assert {source[0] for source in lineage} == set(sources)
    assert conn.execute("select count(*) from memory.vectors where live").fetchone() == (0,)
    assert conn.execute("select count(*) from memory.links where memory_id = %s", [row[0]]).fetchone() == (1,)


def test_posts_are_quantified_by_their_outcomes(conn, store, policy):
    """Brain 4.4: "recipe posts outperform news posts by 2.8x", from tool calls and outcomes alone."""
    suggest_posts(conn)
    report = at(store, policy, 30)
    assert report["patterns"] == 1
    (text,) = patterns(conn)
    assert text == (
        "Recipe posts consistently outperform news posts by 2.8x in views (median 290 against 103, over 5 outcomes)"
        ". Arjun often calls suggest_post: 5 times from 20 to 24 March 2026."
    )
    relations = conn.execute(
        "select l.relation, count(*) from memory.lineage l join memory.memories m on m.id = l.memory_id "
        "where m.kind = 'pattern' group by 1 order by 1"
    )
    assert relations.fetchall() == [("compressed", 5), ("outcome", 5)]


def test_neither_entity_nor_closeness_is_enough_alone(conn, store, policy):
    tell_of_bruno(conn, 4)
    remember(conn, say(conn, "Bruno and taxes", MARCH), "Bruno and taxes", "pet:bruno", vector=FAR)
    remember(conn, say(conn, "A walk", MARCH), "A walk in the park")
    assert at(store, policy, 20)["patterns"] == 0
    assert conn.execute("select count(*) from memory.memories where state <> 'active'").fetchone() == (0,)


def test_an_episode_belongs_to_the_largest_theme_only(conn, store, policy):
    for number in range(8):
        entities = ["pet:bruno"] if number < 2 else ["pet:bruno", "place:park"]
        turn = say(conn, f"Bruno, day {number}", MARCH + timedelta(days=number))
        remember(conn, turn, f"Bruno on walk {number}", *entities)
    assert at(store, policy, 20)["patterns"] == 1
    origins = conn.execute("select origin from memory.memories where kind = 'pattern'").fetchall()
    assert origins == [("theme:pet:bruno",)]


def test_what_happens_later_is_not_seen(conn, store, policy):
    tell_of_bruno(conn)
    assert at(store, policy, 18)["patterns"] == 0
    assert at(store, policy, 19)["patterns"] == 1


def test_a_theme_that_gathers_more_gets_a_new_pattern(conn, store, policy):
    tell_of_bruno(conn)
    at(store, policy, 20)
    (old,) = conn.execute("select id from memory.memories where kind = 'pattern'").fetchall()
    conn.execute(
        "update memory.memories set access_count = 3, accessed_at = %s where id = %s",
        [MARCH + timedelta(days=40), *old],
    )
    remember(conn, say(conn, "...", MARCH + timedelta(days=30)), "Bruno swam in the sea", "pet:bruno")
    report = at(store, policy, 45)
    assert (report["patterns"], report["replaced"], report["episodes"]) == (1, 1, 1)
    (text,) = patterns(conn)
    assert "6 times from 20 March to 19 April 2026" in text
    assert text.endswith("last: 'Bruno swam in the sea'.")
    new = conn.execute(
        "select id, access_count, accessed_at from memory.memories where kind = 'pattern' and state = 'active'"
    ).fetchone()
    assert new[1:] == (3, MARCH + timedelta(days=40))
    assert conn.execute("select state, into_id, forget_at from memory.memories where id = %s", old).fetchone() == (
        "merged", new[0], None,
    )  # fmt: skip
    sources = "select relation, count(*) from memory.lineage where memory_id = %s group by 1 order by 1"
    assert conn.execute(sources, [new[0]]).fetchall() == [("compressed", 6), ("merged", 1)]


def test_a_good_outcome_renews_the_pattern(conn, store, policy):
    suggest_posts(conn)
    at(store, policy, 5)
    assert "2.8x" not in patterns(conn)[0]
    report = at(store, policy, 30)
    assert (report["patterns"], report["replaced"], report["episodes"]) == (1, 1, 0)
    assert "2.8x in views" in patterns(conn)[0]
    assert at(store, policy, 31)["patterns"] == 0


def test_a_bad_outcome_renews_the_pattern_too(conn, store, policy):
    turn = suggest_posts(conn)
    at(store, policy, 30)
    (before,) = patterns(conn)
    observe(conn, turn, 1, MARCH + timedelta(days=40), positive=False)
    assert at(store, policy, 41)["patterns"] == 1
    assert patterns(conn) != [before]
    assert at(store, policy, 42)["patterns"] == 0


def test_forgotten_sources_still_count(conn, store, policy):
    sources = tell_of_bruno(conn)
    at(store, policy, 20)
    conn.execute("delete from memory.memories where id = any(%s)", [sources[:3]])
    conn.execute("delete from memory.vectors where item_id = any(%s)", [sources[:3]])
    conn.execute("delete from memory.links where memory_id = any(%s)", [sources[:3]])
    remember(conn, say(conn, "...", MARCH + timedelta(days=80)), "Bruno swam in the sea", "pet:bruno")
    assert at(store, policy, 90)["replaced"] == 1
    assert "6 times from 20 March to 8 June 2026" in patterns(conn)[0]


def test_the_oldest_sessions_are_summarised(conn, store, policy):
    """Logic 3: more than the threshold of 4 sessions, so the oldest 2; facts stay, episodes leave the context."""
    for number in range(5):
        session, day = f"s{9 - number}", MARCH + timedelta(days=number)
        turn = say(conn, f"I moved to Berlin on 4 May, visit {number}. It rains.", day, session=session)
        say(conn, "How are you today my friend?", day + timedelta(minutes=1), session=session)
        remember(conn, turn, f"Moved to Berlin, visit {number}", "place:berlin", vector=NEAR if number % 2 else FAR)
        remember(conn, turn, f"Lives in Berlin {number}", "place:berlin", kind="fact")
    report = at(store, policy, 10)
    assert (report["summaries"], report["episodes"], report["patterns"]) == (2, 2, 0)
    rows = conn.execute(
        "select session_id, content, happened_at, origin, id from memory.memories where kind = 'summary' order by 3"
    ).fetchall()
    assert [row[0] for row in rows] == ["s9", "s8"]
    assert rows[0][1] == "20 March 2026. Arjun: I moved to Berlin on 4 May, visit 0."
    assert rows[0][2:4] == (MARCH + timedelta(minutes=1), "session")
    replaced = conn.execute(
        "select kind, session_id, into_id from memory.memories where state = 'compressed' order by 2"
    )
    assert replaced.fetchall() == [("episode", "s8", rows[1][4]), ("episode", "s9", rows[0][4])]
    lineage = "select source, count(*) from memory.lineage where memory_id = %s group by 1 order by 1"
    assert conn.execute(lineage, [rows[0][4]]).fetchall() == [("memory", 1), ("turn", 2)]
    assert conn.execute("select count(*) from memory.links where memory_id = %s", [rows[0][4]]).fetchone() == (1,)
    # a summary that was forgotten is not made again
    conn.execute("delete from memory.memories where kind = 'summary'")
    assert at(store, policy, 11)["summaries"] == 0


def test_many_old_sessions_at_once_are_as_one_after_the_other(conn, store, policy):
    for number in range(9):
        say(conn, f"We talked about the roof of house {number}.", MARCH + timedelta(days=number), session=f"s{number}")
    assert at(store, policy, 20)["summaries"] == 6
    assert at(store, policy, 20)["summaries"] == 0


@pytest.mark.parametrize("again", [20, 25])
def test_a_second_run_changes_nothing(conn, store, policy, again):
    tell_of_bruno(conn)
    suggest_posts(conn)
    for number in range(5):
        say(conn, f"We talked about the roof of house {number}.", MARCH + timedelta(days=number), session=f"s{number}")
    at(store, policy, 20)
    before = everything(conn)
    at(store, policy, again)
    assert everything(conn) == before


def test_a_dry_run_counts_and_writes_nothing(conn, store, policy):
    for number, text in enumerate(BRUNO):
        turn = say(conn, text[0], MARCH + timedelta(days=number), session=f"s{number}")
        remember(conn, turn, text[0], "pet:bruno")
    before = everything(conn)
    dry = at(store, policy, 20, dry_run=True)
    assert everything(conn) == before
    assert at(store, policy, 20).counts == dry.counts
    assert (dry["patterns"], dry["summaries"], dry["episodes"]) == (1, 2, 5)


def test_subjects_one_by_one_are_as_all_at_once(conn, store, policy):
    tell_of_bruno(conn)
    suggest_posts(conn)
    for subject in ("shop", "arjun"):
        scope = Scope(tenant_id=TENANT, subjects=(subject,))
        compress(
            Work(
                store=store, scope=scope, policy=policy, as_of=MARCH + timedelta(days=20), embedder=WordEmbedder(MODEL)
            )
        )
    one_by_one = everything(conn)
    conn.execute("delete from memory.lineage using memory.memories m where m.id = memory_id and kind = 'pattern'")
    conn.execute("delete from memory.links using memory.memories m where m.id = memory_id and kind = 'pattern'")
    conn.execute("delete from memory.memories where kind = 'pattern'")
    conn.execute("update memory.memories set state = 'active', into_id = null")
    conn.execute("update memory.vectors set live = true")
    at(store, policy, 20)
    assert everything(conn) == one_by_one


def test_another_tenant_is_left_alone(conn, store, policy):
    tell_of_bruno(conn)
    other = compress(
        Work(
            store=store,
            scope=Scope(tenant_id="u"),
            policy=policy,
            as_of=MARCH + timedelta(days=20),
            embedder=WordEmbedder(MODEL),
        )
    )
    assert other["patterns"] == 0


def test_episodes_of_a_summarised_session_still_make_a_pattern(conn, store, policy):
    """A session and a theme are two views; the newer one holds the episode, the lineage of both names it."""
    for number, (text, _) in enumerate(BRUNO[:4]):
        turn = say(conn, f"{text} today.", MARCH + timedelta(days=number), session=f"s{number}")
        remember(conn, turn, text, "pet:bruno")
    say(conn, "Nothing happened to any of us.", MARCH + timedelta(days=5), session="s5")
    assert at(store, policy, 6)["summaries"] == 2
    remember(conn, say(conn, "...", MARCH + timedelta(days=7), session="s5"), "Took Bruno to the park", "pet:bruno")
    report = at(store, policy, 8)
    assert (report["patterns"], report["summaries"], report["episodes"]) == (1, 0, 5)
    held = "select count(*) from memory.memories e join memory.memories p on p.id = e.into_id where p.kind = 'pattern'"
    assert conn.execute(held).fetchone() == (5,)


def test_calls_of_a_tool_are_kept_together(conn, store, policy):
    """Recipes speak of food and news do not: split by what they mention, they could not be compared."""
    for day, (category, views) in enumerate(POSTS * 2):
        call = {"name": "suggest_post", "arguments": {"category": category, "title": f"Title {day}"}}
        turn = say(conn, "I have an idea.", MARCH + timedelta(days=day), tool_calls=[call])
        entities = ["topic:food"] if category == "recipe" else []
        remember(conn, turn, f"suggest post: category {category}, title Title {day}", *entities)
        observe(conn, turn, views, turn.said_at + timedelta(days=7))
    assert at(store, policy, 30)["patterns"] == 1
    assert patterns(conn)[0].startswith("Recipe posts consistently outperform news posts by 2.8x in views")
