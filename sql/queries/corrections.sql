-- name: read_correctable
-- Whose memory it is, kept, forgotten or still to be made of a replacement, its kind, and whether it is forgotten.
-- Asking for the content keeps the look-up on the primary key: see set_live in memories.sql.
select m.subject_id, m.kind, false from memory.memories m
where m.tenant_id = (select %(tenant)s::text) and m.id = %(memory)s and m.content <> ''
union all
select f.subject_id, f.kind, true from memory.tombstones f
where f.tenant_id = (select %(tenant)s::text) and f.memory_id = %(memory)s
union all
select r.subject_id, r.kind, false from memory.replacements r
where r.tenant_id = (select %(tenant)s::text) and r.id = %(memory)s
limit 1

-- name: add_correction
-- What a person says of a memory: a row that every rebuild reads.
insert into log.corrections (tenant_id, id, subject_id, kind, memory_id, content, corrected_at, actor)
values ((select %(tenant)s::text), %(id)s, %(subject)s, %(correction)s, %(memory)s, %(content)s, %(as_of)s, %(actor)s)
on conflict do nothing

-- name: add_replacement
-- What is right stands in the place of what is wrong until it is a memory; one that was corrected itself no longer does.
with superseded as (
    delete from memory.replacements
    where tenant_id = (select %(tenant)s::text) and subject_id = %(subject)s and id = %(memory)s
)
insert into memory.replacements (tenant_id, id, subject_id, correction_id, kind, content, importance, happened_at)
select (select %(tenant)s::text), %(replacement)s::uuid, %(subject)s, %(id)s, %(kind)s, %(content)s, %(importance)s::real, %(as_of)s
where %(content)s::text is not null
on conflict do nothing
