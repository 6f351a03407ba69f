-- name: estimate_due
-- Rows due for decay, the tenant's rows, and whether these are most of the table, estimated from one page in a hundred. They
-- only decide how the work is split and read.
select 100 * count(*) filter (where decayed_at < %(as_of)s and accessed_at < %(fading_since)s and not lasting), 100 * count(*),
       100 * count(*) > 0.5 * (select reltuples from pg_catalog.pg_class where oid = 'memory.memories'::regclass)
from memory.memories tablesample system (1)
where tenant_id = %(tenant)s

-- name: read_whole
-- Most rows of the table are the tenant's: read it from end to end. The planner cannot know this, as it has no statistics by
-- tenant (see every_table.sql).
select set_config('enable_bitmapscan', 'off', true), set_config('enable_indexscan', 'off', true)

-- name: decay
-- Importance as of the cycle, from peak and accessed_at alone, of one row in `mask + 1` by the hash of its id: rows of one
-- batch are on all pages, so each page keeps room for in-page (HOT) updates. In any state: a merged memory may be separated
-- again. A lasting one keeps its peak unless it is superseded; it has no `forget_at`, so `lasting`, which is stored behind
-- the texts, is read for few rows.
update memory.memories m
set importance = greatest(
        m.peak::float8
        - r.rate * greatest(extract(epoch from %(as_of)s - case m.state when 'superseded' then greatest(m.accessed_at, m.valid_to)
                                                 else m.accessed_at end)::float8 / 86400 - %(grace_days)s::float8, 0),
        0)::real,
    decayed_at = %(as_of)s
from unnest(%(kinds)s::text[], %(rates)s::float8[]) as r (kind, rate)
where m.tenant_id = %(tenant)s and m.kind = r.kind and r.rate > 0
  and m.decayed_at < %(as_of)s and m.accessed_at < %(fading_since)s
  and m.shard >= %(shard_from)s and m.shard < %(shard_to)s
  and (%(subjects)s::text[] is null or m.subject_id = any(%(subjects)s))
  and m.id <> all(array(select item_id from memory.marks where tenant_id = %(tenant)s and mark = 'pinned' and not pending))
  and case when (uuid_hash(m.id) & %(mask)s) = %(batch)s then m.forget_at is not null or not m.lasting else false end
