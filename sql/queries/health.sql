-- name: measure
-- How much there is of everything, for the dashboard.
select
    (select count(*) from log.turns where tenant_id = %(tenant)s) as turns,
    (select count(*) from memory.extractions where tenant_id = %(tenant)s) as turns_read,
    (select count(*) from memory.memories where tenant_id = %(tenant)s and state = 'candidate') as candidates,
    (select count(*) from memory.memories where tenant_id = %(tenant)s and state = 'active') as memories,
    (select count(*) from memory.memories where tenant_id = %(tenant)s and state = 'active' and kind = 'fact') as facts,
    (select count(*) from memory.memories where tenant_id = %(tenant)s and state = 'active' and kind = 'preference')
        as preferences,
    (select count(*) from memory.memories where tenant_id = %(tenant)s and state = 'active' and kind = 'instruction')
        as instructions,
    (select count(*) from memory.memories where tenant_id = %(tenant)s and state = 'active' and kind = 'episode') as episodes,
    (select count(*) from memory.memories where tenant_id = %(tenant)s and state = 'active' and kind = 'summary')
        as summaries,
    (select count(*) from memory.memories where tenant_id = %(tenant)s and state = 'active' and kind = 'pattern') as patterns,
    (select count(*) from memory.memories where tenant_id = %(tenant)s and state = 'merged') as merged,
    (select count(*) from memory.memories where tenant_id = %(tenant)s and state = 'compressed') as compressed,
    (select count(*) from memory.tombstones where tenant_id = %(tenant)s) as forgotten,
    (select count(*) from memory.entities where tenant_id = %(tenant)s) as entities,
    (select count(*) from memory.subjects where tenant_id = %(tenant)s) as subjects,
    (select coalesce(avg(importance), 0)::float8 from memory.memories where tenant_id = %(tenant)s and state = 'active')
        as mean_importance,
    (select count(*) from ops.dead_letters where tenant_id = %(tenant)s) as dead_letters,
    (select count(*) from ops.runs where tenant_id = %(tenant)s and status = 'failed') as failed_runs,
    (select coalesce(sum(cost_usd), 0) from ops.runs where tenant_id = %(tenant)s) as cost_usd,
    (select count(*) from log.recalls where tenant_id = %(tenant)s) as recalls

-- name: count_unembedded
-- Turns and memories that have no vector of the model.
select
    (select count(*) from log.turns t
     where t.tenant_id = %(tenant)s and t.text <> ''
       and not exists (select from memory.vectors v
                       where v.tenant_id = t.tenant_id and v.subject_id = t.subject_id and v.model = %(model)s
                         and v.item_id = t.id)) as turns,
    (select count(*) from memory.memories m
     where m.tenant_id = %(tenant)s
       and not exists (select from memory.vectors v
                       where v.tenant_id = m.tenant_id and v.subject_id = m.subject_id and v.model = %(model)s
                         and v.item_id = m.id)) as memories

-- name: oldest_pending
-- Event time of the oldest thing in a bucket that no stage has worked in: an unread turn or a candidate.
select least(
    (select min(t.said_at) from log.turns t
     where t.tenant_id = %(tenant)s and t.shard >= %(shard_from)s and t.shard < %(shard_to)s
       and t.said_at <= %(as_of)s
       and not exists (select from memory.extractions e where e.tenant_id = t.tenant_id and e.turn_id = t.id)),
    (select min(m.happened_at) from memory.memories m
     where m.tenant_id = %(tenant)s and m.state = 'candidate' and m.happened_at <= %(as_of)s
       and m.shard >= %(shard_from)s and m.shard < %(shard_to)s))

-- name: count_duplicates
-- Active memories that repeat another active one of their subject and kind word for word.
select coalesce(sum(n - 1), 0)::bigint from (
    select count(*) as n from memory.memories
    where tenant_id = %(tenant)s and state = 'active' and kind in ('fact', 'preference', 'instruction')
    group by subject_id, kind, content_hash having count(*) > 1) repeated

-- name: sample_vectors
-- A fixed sample of vectors to ask with: the first by the hash of their item.
select subject_id, item_id, vec::text from memory.vectors
where tenant_id = %(tenant)s and model = %(model)s and live
order by uuid_hash(item_id), item_id
limit %(limit)s

-- name: subject_vectors
-- All live vectors of one subject, to search them without the database.
select item_id, vec::text from memory.vectors
where tenant_id = %(tenant)s and subject_id = %(subject)s and model = %(model)s and live
order by item_id, part
