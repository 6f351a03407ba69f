-- name: tables
-- The tables of data derived from subjects, that of the memories last.
select c.relname
from pg_catalog.pg_class c
join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = 'subject_id'
where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'subjects'
order by c.relname = 'memories', c.relname

-- name: empty_lineage
-- Delete the lineage of these subjects' memories.
delete from memory.lineage
where tenant_id = %(tenant)s and memory_id in (
    select m.id from memory.memories m where m.tenant_id = %(tenant)s and m.subject_id = any(%(names)s)
    union all
    select f.memory_id from memory.tombstones f where f.tenant_id = %(tenant)s and f.subject_id = any(%(names)s))

-- name: empty_accesses
-- Let these subjects' recalls count again.
delete from memory.accesses a
using log.recalls r
where a.tenant_id = %(tenant)s and r.tenant_id = a.tenant_id and r.id = a.recall_id and r.subject_id = any(%(names)s)

-- name: empty
-- Delete the rows of one table for these subjects; count them.
with gone as (delete from {table} where tenant_id = %(tenant)s and subject_id = any(%(names)s) returning 1)
select count(*) from gone

-- name: reset_subjects
-- Reset the figures that search uses; the rows stay, because writers lock them.
update memory.subjects set items = 0, terms = 0, speakers = '{}'
where tenant_id = %(tenant)s and subject_id = any(%(names)s)

-- name: forgive_failures
-- Forget failures on these subjects: nothing has been tried in their new memory yet.
delete from ops.synthesis_failures where tenant_id = %(tenant)s and subject_id = any(%(names)s)
