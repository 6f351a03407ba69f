-- name: measure
-- Counts of everything, for the dashboard.
select *
from (select count(*) as turns from log.turns where tenant_id = %(tenant)s) t,
     (select count(*) as turns_read from memory.extractions where tenant_id = %(tenant)s) x,
     (select count(*) filter (where fate = 'candidate') as candidates,
             count(*) filter (where fate = 'active') as memories,
             count(*) filter (where fate = 'active' and kind = 'fact') as facts,
             count(*) filter (where fate = 'active' and kind = 'preference') as preferences,
             count(*) filter (where fate = 'active' and kind = 'instruction') as instructions,
             count(*) filter (where fate = 'active' and kind = 'episode') as episodes,
             count(*) filter (where fate = 'active' and kind = 'pattern') as patterns,
             count(*) filter (where fate = 'active' and kind = 'summary') as summaries,
             count(*) filter (where fate = 'merged') as merged,
             count(*) filter (where fate = 'rewritten') as rewritten,
             count(*) filter (where fate = 'compressed') as compressed,
             count(*) filter (where fate = 'superseded') as superseded,
             count(*) filter (where fate = 'forgotten') as forgotten,
             coalesce(sum(importance) filter (where fate = 'active'), 0)::float8 as importance
      from memory.lives where tenant_id = %(tenant)s) m,
     (select count(*) as subjects from log.subjects where tenant_id = %(tenant)s) s,
     (select count(*) as late_subjects from ops.late_subjects where tenant_id = %(tenant)s) y,
     (select coalesce(max(memories), 0) as largest_subject
      from (select count(*) as memories from memory.memories
            where tenant_id = %(tenant)s and state = 'active' group by subject_id) each_subject) l,
     (select count(*) as conflicts from memory.conflicts where tenant_id = %(tenant)s) c,
     (select count(*) as entities from memory.entities where tenant_id = %(tenant)s) e,
     (select count(*) as recalls from log.recalls where tenant_id = %(tenant)s) r,
     (select count(*) as dead_letters from ops.dead_letters where tenant_id = %(tenant)s) d,
     (select coalesce(sum(coalesce(cost_usd, reserved_usd)), 0)::float8 as cost_usd from ops.calls where tenant_id = %(tenant)s) o

-- name: count_fates
-- Memories by fate: of a bucket, and of all.
select fate, count(*) filter (where ops.shard_of(tenant_id, subject_id) >= %(shard_from)s
                                and ops.shard_of(tenant_id, subject_id) < %(shard_to)s) as of_bucket,
       count(*) as of_all
from memory.lives where tenant_id = %(tenant)s group by 1 order by 1

-- name: count_unembedded
-- Read turns and live memories that have no vector of the model although they were recorded before a time of the wall clock.
-- Later ones, and those after the time at which the tenant's clock was stopped, wait for their cycle.
select
    (select count(*) from memory.extractions x
     join log.turns t on t.tenant_id = x.tenant_id and t.id = x.turn_id
     where x.tenant_id = %(tenant)s and t.text <> '' and 'turn' = any(%(items)s) and t.recorded_at <= %(before)s
       and t.said_at <= least(%(before)s, (select clock_at from ops.tenants where tenant_id = %(tenant)s))
       and not exists (select from memory.vectors v
                       where v.tenant_id = t.tenant_id and v.subject_id = t.subject_id and v.model = %(model)s
                         and v.item_id = t.id)) as turns,
    (select count(*) from memory.memories m
     left join log.turns t on t.tenant_id = m.tenant_id and t.id = m.turn_id
     where m.tenant_id = %(tenant)s and m.state in ('candidate', 'active')
       and coalesce(t.recorded_at, m.happened_at) <= %(before)s
       and m.happened_at <= least(%(before)s, (select clock_at from ops.tenants where tenant_id = %(tenant)s))
       and not exists (select from memory.vectors v
                       where v.tenant_id = m.tenant_id and v.subject_id = m.subject_id and v.model = %(model)s
                         and v.item_id = m.id)) as memories

-- name: waiting_since
-- The time since which the oldest item of a bucket waits for a stage: an unread turn, or a candidate by its turn. It waits
-- from the time it was recorded: a history of last year that was imported just now is not late. Items after the time at
-- which the tenant's clock was stopped do not wait.
select least(
    (select min(greatest(t.said_at, t.recorded_at)) from log.turns t
     where t.tenant_id = %(tenant)s and t.shard >= %(shard_from)s and t.shard < %(shard_to)s
       and t.said_at <= least(%(as_of)s, (select clock_at from ops.tenants where tenant_id = %(tenant)s))
       and not exists (select from memory.extractions e where e.tenant_id = t.tenant_id and e.turn_id = t.id)),
    (select min(greatest(m.happened_at, t.recorded_at)) from memory.memories m
     left join log.turns t on t.tenant_id = m.tenant_id and t.id = m.turn_id
     where m.tenant_id = %(tenant)s and m.state = 'candidate'
       and m.happened_at <= least(%(as_of)s, (select clock_at from ops.tenants where tenant_id = %(tenant)s))
       and m.shard >= %(shard_from)s and m.shard < %(shard_to)s))

-- name: count_duplicates
-- Active memories that repeat another active one of their subject and kind word for word.
select coalesce(sum(n - 1), 0)::bigint from (
    select count(*) as n from memory.memories
    where tenant_id = %(tenant)s and state = 'active' and kind in ('fact', 'preference', 'instruction')
    group by subject_id, kind, content_hash having count(*) > 1) repeated

-- name: sample_items
-- A fixed sample of items to query with, by the hash of their ids; a subject's are together.
select subject_id, array_agg(item_id) from (
    select subject_id, item_id from memory.vectors
    where tenant_id = %(tenant)s and model = %(model)s and live
    group by subject_id, item_id order by uuid_hash(item_id), item_id limit %(limit)s) sampled
group by subject_id order by subject_id

-- name: subject_vectors
-- All live vectors of one subject as halfvec sends them, to search them outside the database.
select item_id, halfvec_send(vec) from memory.vectors
where tenant_id = %(tenant)s and subject_id = %(subject)s and model = %(model)s and live
order by item_id, part

-- name: estimate_rows
-- The number of rows in a table, as Postgres estimates it; costs nothing.
select greatest(reltuples, 0)::bigint from pg_class where oid = %(table)s::regclass

-- name: count_rows
-- The number of a tenant's rows in a table that an asset shows; null for another table. Only the named table is read.
select case when %(table)s::text = any(array['log.turns',
                                       'memory.extractions',
                                       'memory.vectors',
                                       'memory.signals',
                                       'memory.corrected',
                                       'memory.memories',
                                       'memory.entities',
                                       'memory.structured_facts',
                                       'memory.profiles',
                                       'memory.tombstones',
                                       'ops.runs'])
            then (select count(*) from (
                select from log.turns where tenant_id = %(tenant)s and %(table)s::text = 'log.turns'
                union all
                select from memory.extractions where tenant_id = %(tenant)s and %(table)s::text = 'memory.extractions'
                union all
                select from memory.vectors where tenant_id = %(tenant)s and %(table)s::text = 'memory.vectors'
                union all
                select from memory.signals where tenant_id = %(tenant)s and %(table)s::text = 'memory.signals'
                union all
                select from memory.corrected where tenant_id = %(tenant)s and %(table)s::text = 'memory.corrected'
                union all
                select from memory.memories where tenant_id = %(tenant)s and %(table)s::text = 'memory.memories'
                union all
                select from memory.entities where tenant_id = %(tenant)s and %(table)s::text = 'memory.entities'
                union all
                select from memory.structured_facts where tenant_id = %(tenant)s and %(table)s::text = 'memory.structured_facts'
                union all
                select from memory.profiles where tenant_id = %(tenant)s and %(table)s::text = 'memory.profiles'
                union all
                select from memory.tombstones where tenant_id = %(tenant)s and %(table)s::text = 'memory.tombstones'
                union all
                select from ops.runs where tenant_id = %(tenant)s and %(table)s::text = 'ops.runs') of_table)
       end
