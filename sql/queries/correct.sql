-- name: read_times
-- When a person corrected what, as far as it is not worked in: each time once.
select distinct c.corrected_at
from log.corrections c
where c.tenant_id = %(tenant)s and c.kind in ('wrong', 'replace') and c.corrected_at <= %(as_of)s
  and ops.shard_of(c.tenant_id, c.subject_id) >= %(shard_from)s and ops.shard_of(c.tenant_id, c.subject_id) < %(shard_to)s
  and (%(subjects)s::text[] is null or c.subject_id = any(%(subjects)s))
  and not exists (select from memory.corrected d where d.tenant_id = c.tenant_id and d.correction_id = c.id)
order by c.corrected_at

-- name: read_corrections
-- Those up to a time, in the order in which they were made, each with what the memory is and the ids it goes with: its own
-- and those of what was merged into it.
select c.id, c.subject_id, c.memory_id, c.content, c.corrected_at, coalesce(m.kind, f.kind, 'fact'),
       m.session_id, m.origin, m.stated, array(
           with recursive held as (
               select m.id
               union
               select x.id from held h
               join memory.memories x on x.tenant_id = %(tenant)s and x.into_id = h.id and x.state = 'merged'
           )
           select id from held where id is not null)
from log.corrections c
left join memory.memories m on m.tenant_id = c.tenant_id and m.id = c.memory_id
left join memory.tombstones f on f.tenant_id = c.tenant_id and f.memory_id = c.memory_id
where c.tenant_id = %(tenant)s and c.kind in ('wrong', 'replace') and c.corrected_at <= %(as_of)s
  and ops.shard_of(c.tenant_id, c.subject_id) >= %(shard_from)s and ops.shard_of(c.tenant_id, c.subject_id) < %(shard_to)s
  and (%(subjects)s::text[] is null or c.subject_id = any(%(subjects)s))
  and not exists (select from memory.corrected d where d.tenant_id = c.tenant_id and d.correction_id = c.id)
order by c.corrected_at, c.id

-- name: delete_facts
-- Structured facts that these memories stated.
delete from memory.structured_facts where tenant_id = %(tenant)s and memory_id = any(%(ids)s)
returning id, valid_to, replaced_by

-- name: read_ended
-- The values that they had replaced.
select id, replaced_by from memory.structured_facts where tenant_id = %(tenant)s and replaced_by = any(%(ids)s)

-- name: revive_facts
-- A value that a wrong one had replaced is in force again, or until what came after that.
update memory.structured_facts s set valid_to = x.valid_to, replaced_by = x.replaced_by
from unnest(%(ids)s::uuid[], %(valid_to)s::timestamptz[], %(replaced_by)s::uuid[]) as x (id, valid_to, replaced_by)
where s.tenant_id = %(tenant)s and s.id = x.id

-- name: write_lineage
-- What a person wrote names the correction it comes from.
insert into memory.lineage (tenant_id, memory_id, relation, source, source_id, as_of, run_id)
values (%(tenant)s, %(memory)s, 'corrected', 'correction', %(correction)s, %(at)s, %(run_id)s)
on conflict do nothing

-- name: mark_corrected
-- These corrections are worked in.
insert into memory.corrected (tenant_id, correction_id, subject_id, run_id)
select %(tenant)s, x.id, x.subject_id, %(run_id)s from unnest(%(ids)s::uuid[], %(subject_ids)s::text[]) as x (id, subject_id)
on conflict do nothing

-- name: add_correction
-- What a person says is wrong about a memory: a row that every rebuild reads; nothing where there is no such memory.
with known as (
    select m.subject_id from memory.memories m where m.tenant_id = (select %(tenant)s::text) and m.id = %(memory)s
    union all
    select f.subject_id from memory.tombstones f where f.tenant_id = (select %(tenant)s::text) and f.memory_id = %(memory)s
    limit 1
),
added as (
    insert into log.corrections (tenant_id, id, subject_id, kind, memory_id, content, corrected_at)
    select %(tenant)s, %(id)s, k.subject_id, %(kind)s, %(memory)s, %(content)s, %(as_of)s from known k
    where %(subject)s::text is null or k.subject_id = %(subject)s
    on conflict do nothing
)
select subject_id from known where %(subject)s::text is null or subject_id = %(subject)s
