-- name: columns
-- The columns of a table to write: all but the tenant's name and generated ones.
select array_agg(a.attname::text order by a.attnum)
from pg_catalog.pg_attribute a
where a.attrelid = %(table)s::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attname <> 'tenant_id'

-- name: write
-- Write rows of one table, each once, in the columns that they have. Returns how many are new, and how many are refused
-- because they were erased or are not to be captured.
with given as materialized (
    select r.value as row, r.place,
           case when %(table)s in ('log.turns', 'log.outcomes')
                then ops.is_erased('turn', array[r.value ->> 'subject_id', r.value ->> 'session_id', r.value ->> 'source_id'])
                when %(table)s = 'log.events' then ops.is_erased('event', array[r.value ->> 'subject_id', r.value ->> 'source_id'])
                else false end
           or %(table)s in ('log.turns', 'log.outcomes', 'log.events')
              and r.value ->> 'subject_id' in (select c.subject_id from ops.consents c
                                               where c.tenant_id = %(tenant)s and not c.capture) as refused
    from jsonb_array_elements(%(rows)s::jsonb) with ordinality as r (value, place)
), added as (
    insert into {table} (tenant_id, {columns})
    select %(tenant)s, {columns}
    from given g cross join lateral jsonb_populate_record(null::{table}, g.row)
    where not g.refused
    order by g.place
    on conflict do nothing
    returning 1
)
select (select count(*) from added), (select count(*) from given where refused)
