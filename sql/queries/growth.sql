-- name: daily
-- What came and went on each day (UTC), by name: turns and subjects by when they first spoke, memories by event time from
-- their beginning to their end, and from the run ledger what its cycles did, by logical time. A tombstone's memory began
-- at the time in its id (48 bits of milliseconds).
select name, (at at time zone 'UTC')::date as day, sum(number)::float8
from (
    select 'turns' as name, said_at as at, 1 as number from log.turns where tenant_id = %(tenant)s and said_at <= %(as_of)s
    union all
    select 'subjects', min(said_at), 1 from log.turns where tenant_id = %(tenant)s and said_at <= %(as_of)s
    group by subject_id
    union all
    select 'memories', happened_at, 1 from memory.memories
    where tenant_id = %(tenant)s and state in ('active', 'superseded', 'compressed')
    union all
    select 'memories', greatest(m.happened_at, case m.state when 'superseded' then m.valid_to else i.happened_at end), -1
    from memory.memories m
    left join memory.memories i on i.tenant_id = m.tenant_id and i.id = m.into_id
    where m.tenant_id = %(tenant)s and m.state in ('superseded', 'compressed')
    union all
    select 'memories', least(x.began_at, x.forgotten_at), 1
    from (select forgotten_at, to_timestamp(('x' || left(replace(memory_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
                 as began_at
          from memory.tombstones where tenant_id = %(tenant)s) x
    union all
    select 'memories', forgotten_at, -1 from memory.tombstones where tenant_id = %(tenant)s
    union all
    select 'forgotten', forgotten_at, 1 from memory.tombstones where tenant_id = %(tenant)s
    union all
    select 'runs', as_of, 1 from ops.runs where tenant_id = %(tenant)s and stage <> 'cycle'
    union all
    select 'seconds', as_of, seconds from ops.runs where tenant_id = %(tenant)s and stage <> 'cycle'
    union all
    select 'cost_usd', as_of, cost_usd from ops.runs where tenant_id = %(tenant)s and cost_usd > 0
    union all
    select 'failed_runs', as_of, 1 from ops.runs where tenant_id = %(tenant)s and status = 'failed'
    union all
    select 'made', as_of, coalesce((report ->> 'activated')::float8, 0) from ops.runs
    where tenant_id = %(tenant)s and stage = 'merge'
    union all
    select 'merged', as_of, coalesce((report ->> 'merged')::float8, 0) from ops.runs
    where tenant_id = %(tenant)s and stage = 'merge'
) each_one
where at is not null
group by 1, 2
