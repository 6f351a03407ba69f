-- name: tables
-- The tables of data derived from subjects, that of the memories last; without those of corrections.
select c.relname
from pg_catalog.pg_class c
join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = 'subject_id'
where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p')
  and c.relname <> all (array['subjects', 'marks', 'replacements'])
order by c.relname = 'memories', c.relname

-- name: in_force
-- Corrections of these subjects that withhold a memory and are not retracted, each with the mark of what it withholds.
select c.subject_id as subject, c.memory_id as memory, c.id, c.content,
       case c.kind when 'forget' then 'forgotten' else 'corrected' end as mark
from log.corrections c
where c.tenant_id = %(tenant)s and c.subject_id = any(%(names)s) and c.kind in ('wrong', 'replace', 'forget')
  and not exists (select from log.corrections u
                  where u.tenant_id = c.tenant_id and u.other_id = c.id and u.kind = 'retract')
order by c.corrected_at, c.id

-- name: empty_marks
-- Delete these subjects' pins, and the marks of other corrections and of turns and events that are gone.
delete from memory.marks k
where k.tenant_id = %(tenant)s and k.subject_id = any(%(names)s)
  and (k.mark = 'pinned' or k.correction_id <> all(%(in_force)s::uuid[])
       or k.item = 'turn' and not exists (select from log.turns t where t.tenant_id = k.tenant_id and t.id = k.item_id)
          and not exists (select from ops.pending_turns p where p.tenant_id = k.tenant_id and p.id = k.item_id)
       or k.item = 'event' and not exists (select from log.events e where e.tenant_id = k.tenant_id and e.id = k.item_id))

-- name: suspend_marks
-- Make the marks that are left those of a request: `correct` replaces them, and until then stages do not see them.
update memory.marks set pending = true, run_id = null
where tenant_id = %(tenant)s and subject_id = any(%(names)s) and not pending

-- name: empty_replacements
-- Delete the waiting replacements of other corrections.
delete from memory.replacements
where tenant_id = %(tenant)s and subject_id = any(%(names)s) and correction_id <> all(%(in_force)s::uuid[])

-- name: empty_lineage
-- Delete the lineage of these subjects' memories.
delete from memory.lineage
where tenant_id = %(tenant)s and memory_id in (
    select m.id from memory.memories m where m.tenant_id = %(tenant)s and m.subject_id = any(%(names)s)
    union all
    select f.memory_id from memory.tombstones f where f.tenant_id = %(tenant)s and f.subject_id = any(%(names)s))

-- name: uncount_recalls
-- Let these subjects' recalls count again.
update log.recalls set standing = null
where tenant_id = %(tenant)s and subject_id = any(%(names)s) and standing is not null

-- name: mark_counted
-- Mark the tenant's recalls as counted or not by what memory says, once it was replaced or the log was copied without it.
update log.recalls r
set standing = case when x.is_counted then 'counted' end
from (select r.id, a.recall_id is not null as is_counted
      from log.recalls r
      left join memory.accesses a on a.tenant_id = %(tenant)s and a.recall_id = r.id
      where r.tenant_id = %(tenant)s and (a.recall_id is null) <> (r.standing is null)) x
where r.tenant_id = %(tenant)s and r.id = x.id

-- name: empty_accesses
-- Delete what says that these subjects' recalls were counted.
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
