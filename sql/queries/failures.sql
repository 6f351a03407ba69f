-- name: record
-- Write dead letters of items on which a stage failed; an existing one counts another attempt.
insert into ops.dead_letters as d (tenant_id, id, source, reason, detail, subject_id, item)
select %(tenant)s, f.id, 'stage:' || %(stage)s, 'stage_failed', f.detail, f.subject_id, f.item
from unnest(%(ids)s::uuid[], %(details)s::text[], %(subjects)s::text[], %(items)s::text[])
    as f (id, detail, subject_id, item)
order by f.id
on conflict (tenant_id, id) do update set attempts = d.attempts + 1, detail = excluded.detail

-- name: read_items
-- The items of a stage that have a dead letter.
select item from ops.dead_letters
where tenant_id = %(tenant)s and source = 'stage:' || %(stage)s and source like 'stage:%%' and item is not null

-- name: read_subjects
-- The subjects of a scope that some stages skip, with their shards.
select distinct d.subject_id, ops.shard_of(d.tenant_id, d.subject_id)::int
from ops.dead_letters d
where d.tenant_id = %(tenant)s and d.source = any(%(sources)s) and d.source like 'stage:%%'
  and d.item is null and d.subject_id is not null
  and ops.shard_of(d.tenant_id, d.subject_id) >= %(shard_from)s
  and ops.shard_of(d.tenant_id, d.subject_id) < %(shard_to)s
  and (%(subjects)s::text[] is null or d.subject_id = any(%(subjects)s))

-- name: list_subjects
-- The subjects of a scope with their shards, ordered by shard.
select s.subject_id, s.shard
from (select subject_id, ops.shard_of(tenant_id, subject_id)::int as shard
      from (select distinct tenant_id, subject_id from log.turns
            where tenant_id = %(tenant)s and shard >= %(shard_from)s and shard < %(shard_to)s
            union
            select distinct tenant_id, subject_id from log.events
            where tenant_id = %(tenant)s and shard >= %(shard_from)s and shard < %(shard_to)s) known) s
where (%(subjects)s::text[] is null or s.subject_id = any(%(subjects)s))
order by s.shard, s.subject_id

-- name: release
-- Delete the dead letters of stages and the records that mark their items as done, so that the next run retries them.
with letters as (
    delete from ops.dead_letters
    where tenant_id = %(tenant)s and source like 'stage:%%' and subject_id is not null and session_id is null
      and (%(reason)s::text is null or reason = %(reason)s) and (%(source)s::text is null or source = %(source)s)
    returning source, item
),
turns as (  -- `unread` has those on which only the model's reply failed
    delete from memory.extractions e using letters l
    where l.source = 'stage:extract' and e.tenant_id = %(tenant)s and e.turn_id = l.item::uuid
      and e.reason = 'stage_failed'
),
events as (
    delete from memory.observations o using letters l
    where l.source = 'stage:extract' and o.tenant_id = %(tenant)s and o.event_id = l.item::uuid
      and o.reason = 'stage_failed'
),
unread as (
    update memory.extractions e set waits = true from letters l
    where l.source = 'stage:extract' and e.tenant_id = %(tenant)s and e.turn_id = l.item::uuid
      and e.unread = 'stage_failed'
),
memories as (
    update memory.memories m
    set scored = false, structured = false, state = case when l.source = 'stage:merge' then 'candidate' else m.state end
    from (select item, min(source) as source from letters
          where source in ('stage:embed', 'stage:merge', 'stage:facts') group by item) l
    where m.tenant_id = %(tenant)s and m.id = l.item::uuid and m.state in ('candidate', 'active')
)
select count(*) from letters
