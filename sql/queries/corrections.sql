-- name: read_correctable
-- The subject and kind of a memory (kept, forgotten, or a replacement not yet made), and whether it is forgotten. The
-- condition on content keeps the look-up on the primary key: see set_live in memories.sql.
select m.subject_id, m.kind, false from memory.memories m
where m.tenant_id = (select %(tenant)s::text) and m.id = %(memory)s and m.content <> ''
union all
select f.subject_id, f.kind, true from memory.tombstones f
where f.tenant_id = (select %(tenant)s::text) and f.memory_id = %(memory)s
union all
select r.subject_id, r.kind, false from memory.replacements r
where r.tenant_id = (select %(tenant)s::text) and r.id = %(memory)s
limit 1

-- name: read_before
-- Corrections of the subject's memories at the same time, in order, each with whether it is not retracted.
select c.id, c.memory_id, c.kind, c.content,
       not exists (select from log.corrections u
                   where u.tenant_id = c.tenant_id and u.other_id = c.id and u.kind = 'retract')
from log.corrections c
where c.tenant_id = (select %(tenant)s::text) and c.subject_id = %(subject)s and c.corrected_at = %(as_of)s
  and c.kind not in ('keep_apart', 'retract')
order by c.id

-- name: add_correction
-- Log a person's correction of a memory, with the turns and events that it has just withheld; every rebuild reads it.
insert into log.corrections (tenant_id, id, subject_id, kind, memory_id, content, corrected_at, actor, memory_kind, source_ids)
values ((select %(tenant)s::text), %(id)s, %(subject)s, %(correction)s, %(memory)s, %(content)s, %(as_of)s, %(actor)s, %(memory_kind)s,
        (select array_agg(k.item_id order by k.item_id) from memory.marks k
         where k.tenant_id = (select %(tenant)s::text) and k.correction_id = %(id)s and k.item <> 'memory' and not k.derived))
on conflict do nothing

-- name: add_replacement
-- Add a replacement, used in place of the wrong memory until it is a memory itself; delete one that was corrected in turn.
with superseded as (
    delete from memory.replacements
    where tenant_id = (select %(tenant)s::text) and subject_id = %(subject)s and id = %(memory)s
)
insert into memory.replacements (tenant_id, id, subject_id, correction_id, kind, content, importance, happened_at)
select (select %(tenant)s::text), %(replacement)s::uuid, %(subject)s, %(id)s, %(kind)s, %(content)s, %(importance)s::real, %(as_of)s
where %(content)s::text is not null
on conflict do nothing

-- name: read_in_force
-- Corrections of a memory, or that made it as a replacement, that are not retracted, the latest first; each with the memory
-- that is its replacement, and whether that was corrected in turn.
select c.id, c.subject_id, c.memory_id, c.kind, c.corrected_at, r.id,
       exists (select from log.corrections d
               where d.tenant_id = c.tenant_id and d.subject_id = c.subject_id and d.memory_id = r.id
                 and d.kind in ('wrong', 'replace', 'forget')
                 and not exists (select from log.corrections u
                                 where u.tenant_id = d.tenant_id and u.other_id = d.id and u.kind = 'retract'))
from log.corrections c
left join lateral (
    select l.memory_id as id from memory.lineage l
    where l.tenant_id = c.tenant_id and l.source_id = c.id and l.relation = 'corrected'
    union
    select p.id from memory.replacements p
    where p.tenant_id = c.tenant_id and p.subject_id = c.subject_id and p.correction_id = c.id
    limit 1) r on true
where c.tenant_id = (select %(tenant)s::text) and c.kind = any(%(kinds)s)
  and (c.memory_id = %(memory)s or r.id = %(memory)s)
  and not exists (select from log.corrections u
                  where u.tenant_id = c.tenant_id and u.other_id = c.id and u.kind = 'retract')
order by c.corrected_at desc, c.id desc

-- name: add_retraction
-- Log the retraction of a correction; every rebuild leaves the correction out.
insert into log.corrections (tenant_id, id, subject_id, kind, memory_id, other_id, corrected_at, actor)
values ((select %(tenant)s::text), %(id)s, %(subject)s, 'retract', %(memory)s, %(other)s, %(as_of)s, %(actor)s)
on conflict do nothing

-- name: lift
-- Delete the marks and the replacement of a retracted correction; its items are recalled again.
with marks as (
    delete from memory.marks where tenant_id = (select %(tenant)s::text) and correction_id = %(other)s
)
delete from memory.replacements
where tenant_id = (select %(tenant)s::text) and subject_id = %(subject)s and correction_id = %(other)s
