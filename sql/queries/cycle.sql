-- name: pending_cycles
-- Cycles at which something new is to be worked in: candidates, recalls and outcomes not yet counted.
with pending as (
    select m.happened_at as at from memory.memories m
    where m.tenant_id = %(tenant)s and m.state = 'candidate' and m.happened_at <= %(until)s
      and m.shard >= %(shard_from)s and m.shard < %(shard_to)s
      and (%(subjects)s::text[] is null or m.subject_id = any(%(subjects)s))
    union all
    select m.happened_at from memory.memories m
    where m.tenant_id = %(tenant)s and not m.scored and m.happened_at <= %(until)s
      and m.shard >= %(shard_from)s and m.shard < %(shard_to)s
      and (%(subjects)s::text[] is null or m.subject_id = any(%(subjects)s))
    union all
    select r.asked_at from log.recalls r
    where r.tenant_id = %(tenant)s and r.asked_at <= %(until)s
      and ops.shard_of(r.tenant_id, r.subject_id) >= %(shard_from)s
      and ops.shard_of(r.tenant_id, r.subject_id) < %(shard_to)s
      and (%(subjects)s::text[] is null or r.subject_id = any(%(subjects)s))
      and not exists (select from memory.accesses a where a.tenant_id = r.tenant_id and a.recall_id = r.id)
    union all
    select o.observed_at from log.outcomes o
    where o.tenant_id = %(tenant)s and o.positive and o.observed_at <= %(until)s
      and o.shard >= %(shard_from)s and o.shard < %(shard_to)s
      and (%(subjects)s::text[] is null or o.subject_id = any(%(subjects)s))
      and not exists (select from memory.lineage l where l.tenant_id = o.tenant_id and l.source_id = o.id)
)
select distinct date_bin(%(period)s::interval, at - interval '1 microsecond', timestamptz '2000-01-01 00:00:00+00') + %(period)s::interval
from pending order by 1

-- name: next_to_forget
-- When the next memory is due to be forgotten.
select forget_at from memory.memories
where tenant_id = %(tenant)s and forget_at is not null
  and shard >= %(shard_from)s and shard < %(shard_to)s
  and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s))
order by forget_at limit 1

-- name: analyze_tables
-- Fresh statistics after a bulk load, for the plans of the stages that follow.
select ops.analyze_tables()
