-- name: tables
-- The tables that hold what is derived of subjects, that of the memories last.
select c.relname
from pg_catalog.pg_class c
join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = 'subject_id'
where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'subjects'
order by c.relname = 'memories', c.relname

-- name: empty_lineage
-- Delete where the memories of these subjects come from.
delete from memory.lineage
where tenant_id = %(tenant)s and memory_id in (
    select m.id from memory.memories m where m.tenant_id = %(tenant)s and m.subject_id = any(%(names)s)
    union all
    select f.memory_id from memory.tombstones f where f.tenant_id = %(tenant)s and f.subject_id = any(%(names)s))

-- name: empty_accesses
-- Their recalls count again.
delete from memory.accesses a
using log.recalls r
where a.tenant_id = %(tenant)s and r.tenant_id = a.tenant_id and r.id = a.recall_id and r.subject_id = any(%(names)s)

-- name: empty
-- Delete what one table holds of these subjects; count it.
with gone as (delete from {table} where tenant_id = %(tenant)s and subject_id = any(%(names)s) returning 1)
select count(*) from gone

-- name: reset_subjects
-- Nothing of them is searched; the rows stay, since they are what is locked.
update memory.subjects set items = 0, terms = 0, speakers = '{}'
where tenant_id = %(tenant)s and subject_id = any(%(names)s)

-- name: forgive_failures
-- Nothing of them is known to have failed of what has not been tried yet.
delete from ops.synthesis_failures where tenant_id = %(tenant)s and subject_id = any(%(names)s)
