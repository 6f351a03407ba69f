-- name: read_retractions
-- Corrections that were taken back up to a time and whose subjects are not yet as if they had not been made, each with
-- whether it was worked in: by a run, or of two memories that were kept apart by the request.
select c.id, c.other_id, c.subject_id,
       exists (select from memory.corrected d where d.tenant_id = c.tenant_id and d.correction_id = c.other_id)
       or exists (select from log.corrections k where k.tenant_id = c.tenant_id and k.id = c.other_id and k.kind = 'keep_apart')
from log.corrections c
where c.tenant_id = %(tenant)s and c.kind = 'retract' and c.corrected_at <= %(as_of)s
  and ops.shard_of(c.tenant_id, c.subject_id) >= %(shard_from)s and ops.shard_of(c.tenant_id, c.subject_id) < %(shard_to)s
  and (%(subjects)s::text[] is null or c.subject_id = any(%(subjects)s))
  and not exists (select from memory.corrected d where d.tenant_id = c.tenant_id and d.correction_id = c.id)
order by c.corrected_at, c.id

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

-- name: lift_pending
-- What the requests marked and wrote is void.
with marks as (
    delete from memory.marks where tenant_id = %(tenant)s and correction_id = any(%(ids)s)
)
delete from memory.replacements where tenant_id = %(tenant)s and correction_id = any(%(ids)s)

-- name: settle
-- These corrections have no effect any more, and no run works them in.
insert into memory.corrected (tenant_id, correction_id, subject_id, run_id)
select %(tenant)s, x.id, x.subject_id, %(run_id)s from unnest(%(ids)s::uuid[], %(subject_ids)s::text[]) as x (id, subject_id)
on conflict do nothing
