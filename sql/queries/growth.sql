-- name: daily
-- Additions and losses on each day (UTC), by name: turns by the day they were said, subjects by their first turn or event,
-- memories from their beginning to their end, the work of cycles from the run ledger, by logical time, and the cost of
-- requests to models, by the clock.
select name, (at at time zone 'UTC')::date as day, sum(number)::float8
from (
    select 'turns' as name, said_at as at, 1 as number from log.turns where tenant_id = %(tenant)s and said_at <= %(as_of)s
    union all
    select 'subjects', first_at, 1 from log.subjects where tenant_id = %(tenant)s and first_at <= %(as_of)s
    union all
    select x.name, x.at, x.number
    from memory.lives l
    cross join lateral (values ('memories', l.born_at, 1), ('made', l.born_at, 1), ('memories', l.left_at, -1),
                               (l.fate, l.left_at, 1)) as x (name, at, number)
    where l.tenant_id = %(tenant)s and l.fate <> 'candidate'
    union all
    select 'seconds', as_of, seconds from ops.runs where tenant_id = %(tenant)s and stage <> 'cycle'
    union all
    select 'cost_usd', booked_at, coalesce(cost_usd, reserved_usd) from ops.calls where tenant_id = %(tenant)s
    union all
    select 'failed_runs', as_of, 1 from ops.runs where tenant_id = %(tenant)s and status = 'failed'
) each_one
where at is not null
group by 1, 2
