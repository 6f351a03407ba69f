-- name: read_times
-- When a person corrected what, as far as it is not worked in: each time once.
select distinct c.corrected_at
from log.corrections c
where c.tenant_id = %(tenant)s and c.kind <> 'keep_apart' and c.corrected_at <= %(as_of)s
  and ops.shard_of(c.tenant_id, c.subject_id) >= %(shard_from)s and ops.shard_of(c.tenant_id, c.subject_id) < %(shard_to)s
  and (%(subjects)s::text[] is null or c.subject_id = any(%(subjects)s))
  and not exists (select from memory.corrected d where d.tenant_id = c.tenant_id and d.correction_id = c.id)
order by c.corrected_at

-- name: read_corrections
-- Those up to a time, in the order in which they were made, each with what the memory is and the ids it goes with: its own
-- and those of what was merged into it.
select c.id, c.subject_id, c.kind, c.memory_id, c.content, c.corrected_at, coalesce(m.kind, f.kind, 'fact'),
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
where c.tenant_id = %(tenant)s and c.kind <> 'keep_apart' and c.corrected_at <= %(as_of)s
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

-- name: mark
-- What a correction withholds: the memory with all that was merged into it, the turns and events that these were drawn
-- from, the episodes that quote these turns, and, as `derived`, what was made of any of them. Along the lineage, so that a
-- request and the stage that works it in come to the same.
insert into memory.marks (tenant_id, subject_id, item_id, correction_id, item, mark, derived, pending, run_id)
with recursive stated as (
    select 'memory' as item, %(memory)s::uuid as id
    union
    select x.item, x.id
    from stated s
    cross join lateral (
        select l.source as item, l.source_id as id from memory.lineage l
        where s.item = 'memory' and l.tenant_id = (select %(tenant)s::text) and l.memory_id = s.id
          and (l.relation = 'merged' and l.source = 'memory' or l.relation = 'extracted' and l.source in ('turn', 'event'))
        union all
        select 'memory', m.id from memory.memories m
        where s.item = 'memory' and m.tenant_id = (select %(tenant)s::text) and m.into_id = s.id and m.state = 'merged'
        union all  -- what quotes the turn says it again, and so does what that was merged into
        select 'memory', q.id
        from memory.lineage l
        join memory.memories m on m.tenant_id = l.tenant_id and m.id = l.memory_id and m.origin = 'turn'
        cross join lateral (select m.id union select m.into_id where m.state = 'merged') q
        where s.item = 'turn' and l.tenant_id = (select %(tenant)s::text) and l.source_id = s.id and l.relation = 'extracted') x
),
made as (
    select l.memory_id as id
    from stated s
    join memory.lineage l on l.tenant_id = (select %(tenant)s::text) and l.source_id = s.id
        and l.relation in ('compressed', 'summarised', 'synthesized')
    union
    select l.memory_id
    from made d
    join memory.lineage l on l.tenant_id = (select %(tenant)s::text) and l.source_id = d.id
        and l.relation in ('compressed', 'merged', 'synthesized')
),
rewritten as (  -- a replacement that still waits stands for what the one before withheld
    select k.item, k.item_id as id
    from memory.replacements r
    join memory.marks k on k.tenant_id = r.tenant_id and k.correction_id = r.correction_id
    where r.tenant_id = (select %(tenant)s::text) and r.id = %(memory)s::uuid and not k.derived
)
select (select %(tenant)s::text), %(subject)s, x.id, %(id)s, x.item, case when x.derived and %(mark)s = 'replaced' then 'corrected' else %(mark)s end,
       x.derived, %(run)s::uuid is null, %(run)s::uuid
from (select distinct on (id) item, id, derived
      from (select item, id, false as derived from stated
            union all select item, id, false from rewritten
            union all select 'memory', id, true from made) y
      order by id, derived) x
on conflict do nothing
returning item_id, item = 'memory' and not derived

-- name: delete_marks
-- A memory that is forgotten needs no mark.
delete from memory.marks where tenant_id = %(tenant)s and correction_id = %(id)s and item = 'memory' and not derived

-- name: add_pin
-- A memory is always considered from now on.
insert into memory.marks (tenant_id, subject_id, item_id, correction_id, item, mark, pending, run_id)
values ((select %(tenant)s::text), %(subject)s, %(memory)s, %(id)s, 'memory', 'pinned', %(run)s::uuid is null, %(run)s::uuid)
on conflict do nothing

-- name: settle_pin
-- Its importance no longer fades: from the last time it was used on, whenever decay ran last.
update memory.memories set importance = peak, decayed_at = %(at)s
where tenant_id = %(tenant)s and id = %(memory)s

-- name: delete_pins
-- These are kept no longer than any other.
delete from memory.marks
where tenant_id = %(tenant)s and subject_id = %(subject)s and mark = 'pinned' and item_id = any(%(ids)s)

-- name: reschedule_unpinned
-- What would have been forgotten while it was pinned is due from now on.
update memory.memories set forget_at = %(at)s
where tenant_id = %(tenant)s and id = any(%(ids)s) and forget_at < %(at)s

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

-- name: clear_pending
-- What the requests marked and wrote gives way to what the stage works in.
with marks as (
    delete from memory.marks where tenant_id = %(tenant)s and correction_id = any(%(ids)s) and pending
)
delete from memory.replacements where tenant_id = %(tenant)s and correction_id = any(%(ids)s)

-- name: mark_corrected
-- These corrections are worked in.
insert into memory.corrected (tenant_id, correction_id, subject_id, run_id)
select %(tenant)s, x.id, x.subject_id, %(run_id)s from unnest(%(ids)s::uuid[], %(subject_ids)s::text[]) as x (id, subject_id)
on conflict do nothing

-- name: read_correctable
-- Whose memory it is, kept, forgotten or still to be made of a replacement, its kind, and whether it is forgotten.
select m.subject_id, m.kind, false from memory.memories m where m.tenant_id = (select %(tenant)s::text) and m.id = %(memory)s
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
