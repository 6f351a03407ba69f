"""Differences between two memories of a tenant: memories, structured facts and profiles.

Each is read once as a whole, and they are compared as frames. A memory is the same in both if its id is: ids are made
from event time, subject, kind and source. A memory with another id from the same turns is the same in other words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from reverie.store.database import Store
from reverie.store.queries import queries

_MEMORIES: dict[str, pl.DataType | type[pl.DataType]] = {
    "id": pl.String,
    "subject_id": pl.String,
    "kind": pl.String,
    "state": pl.String,
    "content_hash": pl.String,
    "valid_to": pl.Datetime("us", "UTC"),
    "superseded_by": pl.String,
    "sources": pl.String,
}
_FACTS = ("subject_id", "speaker", "category", "key", "value")
_ENTRIES = ("subject_id", "connection_id", "path", "value")


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryFrames:
    """One memory of a tenant, as frames."""

    #: id, subject_id, kind, state, content_hash, valid_to, superseded_by, sources; one row per memory.
    memories: pl.DataFrame
    #: subject_id, speaker, category, key, value; one row per fact in force.
    facts: pl.DataFrame
    #: subject_id, connection_id, path, value; one row per entry in force.
    entries: pl.DataFrame


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryChanges:
    """The differences of the second memory from the first."""

    #: subject_id, kind, before, after (ids as text), change: added (`before` is null), gone (`after` is null),
    #: reworded, restated (another state, end or successor).
    memories: pl.DataFrame
    #: subject_id, speaker, category, key, before, after (values).
    facts: pl.DataFrame
    #: subject_id, connection_id, path, before, after (values).
    entries: pl.DataFrame
    #: Number of memories in the first and in the second.
    before: int
    after: int

    def counts(self) -> dict[str, int]:
        """Return the numbers of changes by name, for a gate and for plots."""
        by_change = dict(self.memories.group_by("change").len().iter_rows())
        return {
            "memories_before": self.before,
            "memories_after": self.after,
            **{f"memories_{name}": by_change.get(name, 0) for name in ("added", "gone", "reworded", "restated")},
            **_counted("facts", self.facts),
            **_counted("profile_entries", self.entries),
            "subjects_changed": pl.concat(
                [frame.select("subject_id") for frame in (self.memories, self.facts, self.entries)]
            ).n_unique(),
        }


def _counted(name: str, frame: pl.DataFrame) -> dict[str, int]:
    added, gone = frame["before"].null_count(), frame["after"].null_count()
    return {f"{name}_added": added, f"{name}_gone": gone, f"{name}_changed": frame.height - added - gone}


def read_frames(store: Store, tenant_id: str) -> MemoryFrames:
    """Read a tenant's memory, in one transaction."""
    sql, params = queries("generations"), {"tenant": tenant_id}
    with store.transaction(tenant_id) as conn:
        memories, facts, entries = (
            conn.execute(sql[name], params).fetchall() for name in ("read_memories", "read_facts", "read_entries")
        )
    return MemoryFrames(
        memories=pl.DataFrame(memories, schema=_MEMORIES, orient="row"),
        facts=pl.DataFrame(facts, schema=dict.fromkeys(_FACTS, pl.String), orient="row"),
        entries=pl.DataFrame(entries, schema=dict.fromkeys(_ENTRIES, pl.String), orient="row"),
    )


def memory_changes(first: MemoryFrames, second: MemoryFrames) -> MemoryChanges:
    """Return the differences of two memories. Pure: the frames are not changed."""
    return MemoryChanges(
        memories=_changed_memories(first.memories, second.memories),
        facts=_changed_values(first.facts, second.facts, list(_FACTS[:-1])),
        entries=_changed_values(first.entries, second.entries, list(_ENTRIES[:-1])),
        before=first.memories.height,
        after=second.memories.height,
    )


def _changed_memories(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    both = first.join(second, on="id", how="inner", suffix="_after")
    standing = [pl.col(name).ne_missing(pl.col(f"{name}_after")) for name in ("state", "valid_to", "superseded_by")]
    is_reworded = pl.col("content_hash") != pl.col("content_hash_after")
    kept = both.filter(is_reworded | pl.any_horizontal(standing)).select(
        "subject_id", "kind", pl.col("id").alias("before"), pl.col("id").alias("after"),
        pl.when(is_reworded).then(pl.lit("reworded")).otherwise(pl.lit("restated")).alias("change"),
    )  # fmt: skip
    place = pl.int_range(pl.len()).over("subject_id", "kind", "sources").alias("place")
    gone, added = (
        one.join(other, on="id", how="anti").sort("id").with_columns(place)
        for one, other in ((first, second), (second, first))
    )
    on = ["subject_id", "kind", "sources", "place"]
    # memories from the same turns are paired in the order of their ids: added, gone or reworded
    paired = gone.join(added, on=on, how="full", suffix="_after", coalesce=True).with_columns(
        pl.when(pl.col("sources") == "").then(pl.lit(False)).otherwise(pl.lit(True)).alias("is_paired")
    )
    told = paired.filter("is_paired").select(
        "subject_id", "kind", pl.col("id").alias("before"), pl.col("id_after").alias("after"),
        pl.when(pl.col("id").is_null()).then(pl.lit("added"))
        .when(pl.col("id_after").is_null()).then(pl.lit("gone"))
        .otherwise(pl.lit("reworded")).alias("change"),
    )  # fmt: skip
    sourceless = [
        frame.filter(pl.col("sources") == "").select(
            "subject_id", "kind",
            (pl.col("id") if change == "gone" else pl.lit(None, pl.String)).alias("before"),
            (pl.col("id") if change == "added" else pl.lit(None, pl.String)).alias("after"),
            pl.lit(change).alias("change"),
        )
        for frame, change in ((gone, "gone"), (added, "added"))
    ]  # fmt: skip
    return pl.concat([kept, told, *sourceless]).sort("subject_id", "change", "before", "after")


def _changed_values(first: pl.DataFrame, second: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    """Return the keys whose values differ, with all values of a key before and after, joined."""
    sides = (
        frame.group_by(key).agg(pl.col("value").unique().sort().str.join(" | ").alias(name))
        for frame, name in ((first, "before"), (second, "after"))
    )
    one, other = sides
    return (
        one.join(other, on=key, how="full", coalesce=True)
        .filter(pl.col("before").ne_missing(pl.col("after")))
        .sort(key)
    )


def read_contents(store: Store, tenant_id: str, ids: Sequence[str]) -> dict[str, str]:
    """Return the texts of memories by id."""
    with store.transaction(tenant_id) as conn:
        rows = conn.execute(queries("generations")["read_contents"], {"tenant": tenant_id, "ids": list(ids)})
        return dict(rows)
