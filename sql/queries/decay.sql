-- name: estimate_due
-- Rows due for decay, estimated from one page in a hundred: decides only how many commits the work is cut into.
select 100 * count(*) from memory.memories tablesample system (1)
where tenant_id = %(tenant)s and importance > 0 and decayed_at < %(as_of)s and accessed_at < %(fading_since)s

-- name: decay
-- Importance as of the cycle, from peak and accessed_at alone, of one row in `batches` by the hash of its id: rows of
-- one batch lie on all pages, so that each page keeps room for in-page (HOT) updates.
update memory.memories m
set importance = greatest(
        m.peak::float8
        - r.rate * greatest(extract(epoch from %(as_of)s - m.accessed_at)::float8 / 86400 - %(grace_days)s::float8, 0),
        0)::real,
    decayed_at = %(as_of)s
from unnest(%(kinds)s::text[], %(rates)s::float8[]) as r (kind, rate)
where m.tenant_id = %(tenant)s and m.kind = r.kind and m.state <> 'merged'
  and m.importance > 0 and m.decayed_at < %(as_of)s and m.accessed_at < %(fading_since)s
  and m.shard >= %(shard_from)s and m.shard < %(shard_to)s
  and (%(subjects)s::text[] is null or m.subject_id = any(%(subjects)s))
  and (uuid_hash(m.id) & %(mask)s) = %(batch)s

-- name: last_policy
-- By which policy the tenant's memory was last decayed.
select policy_hash from ops.runs
where tenant_id = %(tenant)s and stage = 'decay' and status = 'done'
order by as_of desc, finished_at desc limit 1

-- name: reschedule
-- When each memory will be forgotten, by the present policy.
update memory.memories m
set forget_at = m.accessed_at + make_interval(secs => 86400 * greatest(%(unaccessed_days)s::float8,
        case when m.peak < %(below)s::real then 0
             when r.rate = 0 then null
             else %(grace_days)s::float8 + (m.peak::float8 - %(below)s::float8) / r.rate end))
from unnest(%(kinds)s::text[], %(rates)s::float8[]) as r (kind, rate)
where m.tenant_id = %(tenant)s and m.kind = r.kind and m.state <> 'merged'
  and m.shard >= %(shard_from)s and m.shard < %(shard_to)s
  and (%(subjects)s::text[] is null or m.subject_id = any(%(subjects)s))
