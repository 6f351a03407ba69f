"""Running sessions (Chat flow 1): with 20 turns the first ten are summarised, the last ten stay as they were said."""

from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest
from pydantic import ValidationError

from reverie.consolidate.compress.stage import compress, compress_running
from reverie.model import Scope, stable_id
from reverie.policy import Policy, load_policy
from reverie.policy.memory import CompressPolicy
from reverie.store.database import Store
from reverie.store.runs import Report
from reverie.store.work import Work
from tests.consolidate.test_compress import MARCH, MODEL, TENANT, everything, remember, say
from tests.promises.world import WordEmbedder


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url, role="worker") as opened:
        yield opened


@pytest.fixture(scope="module")
def policy() -> Policy:
    ours = load_policy("chat")
    return ours.model_copy(update={"compress": ours.compress.model_copy(update={"session_threshold": 3})})


def talk(conn: psycopg.Connection, first: int, last: int, *, session: str = "s") -> list:
    """Say turns first to last, one a minute."""
    return [
        say(conn, f"We looked at house number {n} today.", MARCH + timedelta(minutes=n), session=session)
        for n in range(first, last + 1)
    ]


def at(store: Store, policy: Policy, minutes: float = 1_000, **more) -> Report:
    as_of = MARCH + timedelta(minutes=minutes)
    return compress(
        Work(
            store=store, scope=Scope(tenant_id=TENANT), policy=policy, as_of=as_of, embedder=WordEmbedder(MODEL), **more
        )
    )


def running(store: Store, policy: Policy, minutes: float) -> Report:
    as_of = MARCH + timedelta(minutes=minutes)
    return compress_running(Work(store=store, scope=Scope(tenant_id=TENANT), policy=policy, as_of=as_of))


def summaries(conn: psycopg.Connection) -> list[tuple]:
    return conn.execute(
        """select origin, turn_start, turn_end, state from memory.memories where kind = 'summary'
           order by happened_at, id"""
    ).fetchall()


def test_with_twenty_turns_the_first_ten_are_told(conn, store, policy):
    turns = talk(conn, 1, 19)
    assert at(store, policy)["ranges"] == 0
    turns += talk(conn, 20, 20)
    told = remember(conn, turns[2], "Looked at house 3", "place:house")
    remember(conn, turns[12], "Looked at house 13", "place:garden")
    report = at(store, policy)
    assert (report["ranges"], report["summaries"], report["episodes"]) == (1, 0, 0)
    ((id_, content, happened_at, session, start, end, origin),) = conn.execute(
        """select id, content, happened_at, session_id, turn_start, turn_end, origin
           from memory.memories where kind = 'summary'"""
    ).fetchall()
    assert (session, start, end, origin) == ("s", 1, 10, "range")
    assert happened_at == turns[9].said_at
    assert content.startswith("20 March 2026. Arjun: We looked at house number ")
    lineage = conn.execute("select relation, source, source_id from memory.lineage where memory_id = %s", [id_])
    assert set(lineage.fetchall()) == {("summarised", "turn", turn.id) for turn in turns[:10]}
    of_memory = conn.execute("select entity_id from memory.links where memory_id = %s", [told]).fetchall()
    assert conn.execute("select entity_id from memory.links where memory_id = %s", [id_]).fetchall() == of_memory
    states = conn.execute("select distinct state from memory.memories where kind = 'episode'").fetchall()
    assert states == [("active",)], "what is remembered of a running session stays in the context"
    before = everything(conn)
    at(store, policy, 2_000)
    assert everything(conn) == before


def test_at_once_and_bit_by_bit_give_the_same(conn, store, policy):
    talk(conn, 1, 45)
    assert at(store, policy)["ranges"] == 3
    at_once = everything(conn)
    assert [row[1:3] for row in summaries(conn)] == [(1, 10), (11, 20), (21, 30)]
    conn.execute("truncate memory.memories, memory.lineage, memory.links")
    made = [at(store, policy, minutes)["ranges"] for minutes in (19, 20, 29, 33, 45)]
    assert made == [0, 1, 0, 1, 1]
    assert everything(conn) == at_once


def test_what_comes_late_is_told_by_a_later_range(conn, store, policy):
    turns = talk(conn, 1, 20)
    at(store, policy)
    before = conn.execute("select id, content from memory.memories where kind = 'summary'").fetchall()
    late = say(conn, "By the way, house number 2 burned down.", MARCH + timedelta(minutes=2))
    conn.execute("update log.turns set turn_index = %s where id = %s", [turns[1].turn_index, late.id])
    talk(conn, 21, 29)
    assert at(store, policy)["ranges"] == 0, "the last twenty are not all untold"
    talk(conn, 30, 30)
    assert at(store, policy)["ranges"] == 1
    rows = conn.execute(
        "select id, content, turn_start, turn_end from memory.memories where kind = 'summary' order by turn_start"
    ).fetchall()
    assert rows[0][:2] == before[0]
    assert rows[1][2:] == (11, 20)
    of_late = conn.execute("select memory_id from memory.lineage where source_id = %s", [late.id]).fetchall()
    assert of_late == [(rows[1][0],)]


def test_the_whole_session_replaces_its_ranges(conn, store, policy):
    talk(conn, 1, 30, session="s0")
    at(store, policy)
    for number in range(1, 4):
        say(conn, "We looked at a garden today.", MARCH + timedelta(days=number), session=f"s{number}")
    report = at(store, policy, 10_000)
    assert (report["summaries"], report["ranges"], report["replaced"]) == (1, 0, 2)
    assert summaries(conn) == [
        ("range", 1, 10, "compressed"), ("range", 11, 20, "compressed"), ("session", 1, 30, "active"),
    ]  # fmt: skip
    into = conn.execute(
        """select distinct r.into_id = s.id from memory.memories r, memory.memories s
           where r.origin = 'range' and s.origin = 'session'"""
    ).fetchall()
    assert into == [(True,)]
    parents = conn.execute(
        """select l.source, count(*) from memory.lineage l join memory.memories m on m.id = l.memory_id
           where m.origin = 'session' group by 1 order by 1"""
    ).fetchall()
    assert parents == [("memory", 2), ("turn", 30)]
    # what is said in it afterwards is told by ranges again, counted on
    say_more = [
        say(conn, f"We looked at garden number {n}.", MARCH + timedelta(days=9, minutes=n), session="s0")
        for n in range(20)
    ]
    assert len(say_more) == 20
    assert at(store, policy, 20_000)["ranges"] == 1
    assert summaries(conn)[-1] == ("range", 31, 40, "active")


def test_a_session_that_is_still_in_use_is_not_old(conn, store, policy):
    talk(conn, 1, 3, session="main")
    for number in range(1, 4):
        talk(conn, 10 * number, 10 * number + 3, session=f"s{number}")
    (said,) = talk(conn, 50, 50, session="main")
    episode = remember(conn, said, "Looked at house 50", "place:house")
    assert at(store, policy)["summaries"] == 1
    assert conn.execute("select session_id from memory.memories where kind = 'summary'").fetchall() == [("s1",)]
    assert conn.execute("select state from memory.memories where id = %s", [episode]).fetchone() == ("active",)


def test_a_session_that_is_told_whole_at_once_has_its_ranges_all_the_same(conn, store, policy):
    """A worker that runs between two cycles makes them when they are due; one that does not makes the same later."""
    talk(conn, 1, 30, session="s0")
    for number in range(1, 4):
        say(conn, "We looked at a garden today.", MARCH + timedelta(days=number), session=f"s{number}")
    dry = at(store, policy, 10_000, dry_run=True)
    assert (dry["summaries"], dry["ranges"]) == (1, 2)
    assert at(store, policy, 10_000)["replaced"] == 2
    at_once = everything(conn)
    assert summaries(conn)[-1] == ("session", 1, 30, "active")
    conn.execute("truncate memory.memories, memory.lineage, memory.links")
    running(store, policy, 25)
    assert summaries(conn) == [("range", 1, 10, "active")]
    running(store, policy, 30)
    at(store, policy, 10_000)
    assert everything(conn) == at_once


def test_none_where_the_policy_says_none(conn, store, policy):
    talk(conn, 1, 40)
    off = policy.model_copy(update={"compress": policy.compress.model_copy(update={"running_turns": 0})})
    assert at(store, off)["ranges"] == 0
    assert at(store, policy, dry_run=True)["ranges"] == 3
    assert summaries(conn) == []


def test_some_turns_must_be_left_to_tell(policy):
    numbers = policy.compress.model_dump()
    assert CompressPolicy(**numbers | {"running_turns": 20, "running_keep": 19}).range_turns == 1
    with pytest.raises(ValidationError, match=r"running_keep \(20\) must be less than running_turns \(20\)"):
        CompressPolicy(**numbers | {"running_turns": 20, "running_keep": 20})


SMALL_TALK = ("Thanks! That means a lot.", "Yeah, it was so good!", "How are you?", "Wow, sounds great!")


def small_talk(conn: psycopg.Connection, number: int, *, session: str, day: int = 0) -> list:
    return [
        say(conn, SMALL_TALK[n % 4], MARCH + timedelta(days=day, minutes=n), session=session) for n in range(number)
    ]


def test_a_session_that_says_nothing_gets_no_summary_and_is_not_read_again(conn, store, policy):
    turns = small_talk(conn, 6, session="s0")
    episode = remember(conn, turns[0], "Said thanks")
    for number in range(1, 4):
        say(conn, "We looked at a garden today.", MARCH + timedelta(days=number), session=f"s{number}")
    dry = at(store, policy, 10_000, dry_run=True)
    report = at(store, policy, 10_000)
    assert report.counts == dry.counts
    assert (report["summaries"], report["discarded_unimportant"], report["episodes"]) == (0, 1, 0)
    assert summaries(conn) == []
    assert conn.execute("select state from memory.memories where id = %s", [episode]).fetchone() == ("active",)
    gone = conn.execute("select kind, reason, forgotten_at from memory.tombstones").fetchall()
    assert gone == [("summary", "unimportant", MARCH + timedelta(minutes=5))]
    before = everything(conn)
    again = at(store, policy, 20_000)
    assert (again["summaries"], again["discarded_unimportant"]) == (0, 0)
    assert everything(conn) == before


def test_the_oldest_turns_of_a_running_session_that_say_nothing_get_no_summary_either(conn, store, policy):
    small_talk(conn, 20, session="s")
    report = at(store, policy)
    assert (report["ranges"], report["discarded_unimportant"]) == (0, 1)
    assert at(store, policy, 2_000)["discarded_unimportant"] == 0
    talk(conn, 21, 30)
    assert at(store, policy, 3_000)["discarded_unimportant"] == 1, "the other ten, with the last ten kept"
    talk(conn, 31, 40)
    assert at(store, policy, 4_000)["ranges"] == 1
    assert summaries(conn) == [("range", 21, 30, "active")]


def test_summaries_of_a_month_become_one_when_a_later_month_has_one(conn, store):
    ours = load_policy("reverie")
    numbers = {"session_threshold": 1, "fold_weeks": False}
    folding = ours.model_copy(update={"compress": ours.compress.model_copy(update=numbers)})
    for day in (1, 4, 15):  # 21 and 24 March, 4 April
        talk(conn, 1440 * day, 1440 * day + 2, session=f"s{day}")
    assert at(store, folding, 1440 * 12)["folds"] == 0, "only March has a summary"
    talk(conn, 1440 * 20, 1440 * 20 + 2, session="s20")
    report = at(store, folding, 1440 * 21)
    assert (report["summaries"], report["folds"], report["replaced"]) == (2, 1, 2)
    folded = "select id, content, happened_at from memory.memories where origin = 'month'"
    ((id_, content, happened_at),) = conn.execute(folded).fetchall()
    assert content.startswith("March 2026. Arjun: We looked at house number ")
    assert happened_at == MARCH + timedelta(minutes=1440 * 4 + 2)
    held = conn.execute("select state, into_id from memory.memories where origin = 'session' order by happened_at")
    assert held.fetchall() == [("compressed", id_), ("compressed", id_), ("active", None)]
    before = everything(conn)
    at(store, folding, 1440 * 22)
    assert everything(conn) == before


def test_the_earlier_months_of_a_year_become_part_of_it_while_it_runs_on(conn, store):
    ours = load_policy("reverie")
    numbers = {"session_threshold": 1, "fold_weeks": False, "fold_months": 1}
    folding = ours.model_copy(update={"compress": ours.compress.model_copy(update=numbers)})
    held = "select origin, to_char(happened_at at time zone 'UTC', 'MM') from memory.memories where kind = 'summary'"
    seen = []
    for month in range(6):  # March to August
        for day in (1, 4):
            start = 1440 * (30 * month + day)
            talk(conn, start, start + 2, session=f"s{start}")
        at(store, folding, 1440 * (30 * month + 6))
        rows = conn.execute(f"{held} and origin <> 'session' and state = 'active' order by happened_at")
        seen.append([f"{origin} {number}" for origin, number in rows.fetchall()])
    assert seen == [
        [], ["month 03"], ["month 03", "month 04"], ["year 03", "month 04", "month 05"],
        ["year 04", "month 05", "month 06"], ["year 05", "month 06", "month 07"],
    ]  # fmt: skip
    before = everything(conn)
    at(store, folding, 1440 * 170)
    assert everything(conn) == before


def test_summaries_of_a_week_become_one_before_their_month_is_over(conn, store):
    ours = load_policy("reverie")
    folding = ours.model_copy(update={"compress": ours.compress.model_copy(update={"session_threshold": 1})})
    held = (
        "select origin, to_char(happened_at at time zone 'UTC', 'MM-DD') from memory.memories"
        " where kind = 'summary' and state = 'active' order by happened_at"
    )
    seen = []
    for days in ((2, 3, 4), (9, 10), (17, 18), (25,)):  # of April
        for day in days:
            start = 1440 * (day + 11)  # after 20 March
            talk(conn, start, start + 2, session=f"s{day}")
        at(store, folding, 1440 * (days[-1] + 12))
        seen.append([" ".join(row) for row in conn.execute(held).fetchall()])
    assert seen[0] == ["session 04-02", "session 04-03"], "the latest session is left to come"
    assert seen[1] == ["week 04-04", "session 04-09"]
    assert seen[2] == ["week 04-04", "week 04-10", "session 04-17"]
    assert seen[3] == ["week 04-04", "week 04-10", "session 04-17", "session 04-18"]
    content = "select content from memory.memories where origin = 'week' order by happened_at"
    (first,), _ = conn.execute(content).fetchall()
    assert first.startswith("2 April 2026 to 4 April 2026. ")
    talk(conn, 1440 * 45, 1440 * 45 + 2, session="may")
    talk(conn, 1440 * 53, 1440 * 53 + 2, session="may later")
    talk(conn, 1440 * 60, 1440 * 60 + 2, session="may latest")
    at(store, folding, 1440 * 61)
    assert [" ".join(row).split()[0] for row in conn.execute(held).fetchall()] == ["month", "week", "session"]


def test_beyond_the_budget_the_least_valuable_are_forgotten(conn, store):
    ours = load_policy("reverie")
    prune = ours.prune.model_copy(update={"budget": 3})
    small = ours.model_copy(update={"prune": prune})
    turns = talk(conn, 1, 5)
    ids = [remember(conn, turn, f"Looked at house {n}", f"place:h{n}") for n, turn in enumerate(turns, 1)]
    conn.execute("update memory.memories set peak = 0.9 where id = %s", [ids[0]])
    assert at(store, small, dry_run=True)["forgotten"] == 2
    report = at(store, small)
    assert (report["forgotten"], report["budget_episode"]) == (2, 2)
    left = {row[0] for row in conn.execute("select id from memory.memories where state = 'active'").fetchall()}
    assert left == {ids[0], ids[3], ids[4]}, "of equal value, the latest stay"
    gone = conn.execute("select memory_id, reason, forgotten_at from memory.tombstones order by memory_id").fetchall()
    assert gone == [(id_, "budget", MARCH + timedelta(minutes=1_000)) for id_ in sorted(ids[1:3])]
    assert at(store, small)["forgotten"] == 0


def test_what_the_reader_is_unsure_of_is_forgotten_before_what_it_is_sure_of(conn, store):
    ours = load_policy("reverie")
    small = ours.model_copy(update={"prune": ours.prune.model_copy(update={"budget": 3})})
    turns = talk(conn, 1, 6)
    ids = [remember(conn, turn, f"Looked at house {n}", f"place:h{n}") for n, turn in enumerate(turns, 1)]
    conn.execute("update memory.memories set confidence = 0.8")
    conn.execute("update memory.memories set confidence = 0.3, peak = 0.6 where id = any(%s)", [ids[3:]])
    conn.execute("update memory.memories set agreed = 0.9 where id = %s", [ids[5]])
    conn.execute("update memory.memories set origin = 'rest' where id = %s", [ids[2]])
    assert at(store, small)["forgotten"] == 3
    left = {row[0] for row in conn.execute("select id from memory.memories where state = 'active'").fetchall()}
    assert left == {ids[0], ids[1], ids[5]}, "what a model agrees with is no longer unsure; a rest is own words"


def test_an_end_of_what_its_message_ended_is_forgotten_first(conn, store):
    """ "Sold the Skoda, got a Volvo": the Volvo may have taken its place; an end of something else is news."""
    ours = load_policy("reverie")
    small = ours.model_copy(update={"prune": ours.prune.model_copy(update={"budget": 4})})
    turns = talk(conn, 1, 6)
    ids = [remember(conn, turn, f"Looked at house {n}", f"place:h{n}") for n, turn in enumerate(turns, 1)]
    by_turn = "update memory.memories set state = 'superseded', ended_by = %s, superseded_by = %s where id = %s"
    conn.execute(by_turn, [turns[2].id, ids[5], ids[0]])
    end = "update memory.memories set phase = 'ends', object = %s, turn_id = %s, peak = 0.9 where id = %s"
    for told, id_ in (("House 1", ids[2]), ("the boat", ids[3])):
        conn.execute(end, [told, turns[2].id, id_])
    assert at(store, small)["forgotten"] == 1
    left = {row[0] for row in conn.execute("select id from memory.memories where state = 'active'").fetchall()}
    assert left == {ids[1], ids[3], ids[4], ids[5]}


def test_an_unsure_reading_of_what_a_pattern_counts_is_forgotten_first(conn, store):
    ours = load_policy("reverie")
    small = ours.model_copy(update={"prune": ours.prune.model_copy(update={"budget": 4})})
    turns = talk(conn, 1, 6)
    ids = [remember(conn, turn, f"Looked at house {n}", f"place:h{n}") for n, turn in enumerate(turns, 1)]
    unsure = "update memory.memories set confidence = 0.3, origin = 'said', peak = 0.9 where id = any(%s)"
    conn.execute(unsure, [ids[:3]])
    conn.execute("update memory.memories set confidence = 0.8 where id = %s", [ids[1]])
    conn.execute("update memory.memories set kind = 'pattern', origin = 'theme:house' where id = %s", [ids[5]])
    for turn in turns[:2]:
        conn.execute(
            "insert into memory.lineage values (%s,%s,'mentioned','turn',%s,%s,%s)",
            [TENANT, ids[5], turn.id, MARCH, stable_id(MARCH, "run")],
        )
    assert at(store, small)["forgotten"] == 2
    left = {row[0] for row in conn.execute("select id from memory.memories where state = 'active'").fetchall()}
    assert ids[0] not in left and {ids[1], ids[5]} <= left, "a sure reading is kept, and so is the pattern"


def test_a_renewed_pattern_leaves_out_what_a_correction_withholds(conn, store):
    ours = load_policy("reverie")
    numbers = {"pattern_episodes": 5, "theme_similarity": 0.0}
    ours = ours.model_copy(update={"compress": ours.compress.model_copy(update=numbers)})
    for n, turn in enumerate(talk(conn, 1, 5), 1):
        remember(conn, turn, f"Looked at house {n}", "place:house")
    at(store, ours, 100)
    ((pattern,),) = conn.execute("select id from memory.memories where kind = 'pattern'").fetchall()
    counted = [say(conn, f"House {n} was haunted.", MARCH + timedelta(minutes=n)) for n in (120, 130)]
    run = stable_id(MARCH, "run")
    for turn in counted:
        lineage = "insert into memory.lineage values (%s,%s,'mentioned','turn',%s,%s,%s)"
        conn.execute(lineage, [TENANT, pattern, turn.id, MARCH, run])
    mark = "insert into memory.marks values (%s,'arjun',%s,%s,'turn','forgotten',false,%s,%s)"
    for turn, pending in zip(counted, (True, False), strict=True):
        conn.execute(mark, [TENANT, turn.id, stable_id(MARCH, "correction", turn.source_id), pending, run])
    remember(conn, say(conn, "...", MARCH + timedelta(minutes=110)), "Looked at house 6", "place:house")
    assert at(store, ours, 200)["replaced"] == 1
    ((text, sources),) = conn.execute(
        """select m.content, array(select source_id from memory.lineage l
                                   where l.memory_id = m.id and l.relation = 'mentioned')
           from memory.memories m where m.kind = 'pattern' and m.state = 'active'"""
    ).fetchall()
    assert sources == [counted[0].id], "a correction that no run has applied yet is not seen"
    assert "7 times" in text and "House 130" not in text and text.endswith("'House 120 was haunted.'.")
