-- name: read_times
-- The times of corrections that are not applied yet, each once.
select distinct c.corrected_at
from log.corrections c
where c.tenant_id = %(tenant)s and c.kind not in ('keep_apart', 'retract') and c.corrected_at <= %(as_of)s
  and ops.shard_of(c.tenant_id, c.subject_id) >= %(shard_from)s and ops.shard_of(c.tenant_id, c.subject_id) < %(shard_to)s
  and (%(subjects)s::text[] is null or c.subject_id = any(%(subjects)s))
  and not exists (select from memory.corrected d where d.tenant_id = c.tenant_id and d.correction_id = c.id)
order by c.corrected_at

-- name: read_corrections
-- Corrections up to a time that are not applied yet, in the order in which they were made, each with its memory and that
-- memory's ids: its own and those of memories merged into it.
select c.id, c.subject_id, c.kind, c.memory_id, c.content, c.corrected_at, coalesce(m.kind, f.kind, c.memory_kind, 'fact'),
       m.session_id, m.origin, m.stated, m.relation, m.who, m.topic, m.object, m.phase, m.polarity, array(
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
where c.tenant_id = %(tenant)s and c.kind not in ('keep_apart', 'retract') and c.corrected_at <= %(as_of)s
  and ops.shard_of(c.tenant_id, c.subject_id) >= %(shard_from)s and ops.shard_of(c.tenant_id, c.subject_id) < %(shard_to)s
  and (%(subjects)s::text[] is null or c.subject_id = any(%(subjects)s))
  and not exists (select from memory.corrected d where d.tenant_id = c.tenant_id and d.correction_id = c.id)
order by c.corrected_at, c.id

-- name: read_stand_in
-- The statement of a memory that stands for a corrected one that was not made: one of its kind and with an object, if there is one.
select m.session_id, m.origin, m.stated, m.relation, m.who, m.topic, m.object, m.phase, m.polarity
from memory.memories m
where m.tenant_id = %(tenant)s and m.id = any(%(ids)s)
  and not exists (select from memory.lineage l where l.tenant_id = m.tenant_id and l.memory_id = %(memory)s)
order by m.kind <> %(kind)s, m.object is null, m.id
limit 1

-- name: delete_facts
-- Delete the structured facts that these memories stated.
delete from memory.structured_facts where tenant_id = %(tenant)s and memory_id = any(%(ids)s)
returning id, valid_to, replaced_by

-- name: read_ended
-- The values that these facts had replaced.
select id, replaced_by from memory.structured_facts where tenant_id = %(tenant)s and replaced_by = any(%(ids)s)

-- name: revive_facts
-- Put values that a wrong one had replaced in force again, or until the value that came after it.
update memory.structured_facts s set valid_to = x.valid_to, replaced_by = x.replaced_by
from unnest(%(ids)s::uuid[], %(valid_to)s::timestamptz[], %(replaced_by)s::uuid[]) as x (id, valid_to, replaced_by)
where s.tenant_id = %(tenant)s and s.id = x.id

-- name: reopen
-- Undo ends that wrong memories caused; at its next run, facts decides again on their relations.
update memory.memories m
set superseded_by = case when m.superseded_by = any(%(ids)s) then null else m.superseded_by end,
    valid_to = case when m.superseded_by = any(%(ids)s) then null else m.valid_to end,
    ended_by = case when m.superseded_by = any(%(ids)s) then null else m.ended_by end, structured = false
where m.tenant_id = %(tenant)s
  and (m.superseded_by = any(%(ids)s)
       or m.subject_id = %(subject)s and m.valid_from is not null and m.structured and m.id <> all(%(ids)s)
          and (m.relation is null or m.relation in (
                   select g.relation from memory.memories g where g.tenant_id = %(tenant)s and g.id = any(%(ids)s))))

-- name: delete_marks
-- Delete the marks on a forgotten memory, which needs none.
delete from memory.marks where tenant_id = %(tenant)s and correction_id = %(id)s and item = 'memory' and not derived

-- name: settle_pin
-- Set the importance of a pinned memory to its peak: since its last use it no longer fades, whenever decay ran last.
update memory.memories set importance = peak, decayed_at = %(at)s
where tenant_id = %(tenant)s and id = %(memory)s

-- name: delete_pins
-- Unpin these memories.
delete from memory.marks
where tenant_id = %(tenant)s and subject_id = %(subject)s and mark = 'pinned' and item_id = any(%(ids)s)

-- name: unpin
-- Unpin these memories, and those that are pinned only because one of these was merged into them; returns their ids.
delete from memory.marks
where tenant_id = %(tenant)s and subject_id = %(subject)s and mark = 'pinned'
  and (item_id = any(%(ids)s)
       or correction_id = any(array(select k.correction_id from memory.marks k
                                    where k.tenant_id = %(tenant)s and k.subject_id = %(subject)s and k.mark = 'pinned'
                                      and k.item_id = any(%(ids)s))))
returning item_id

-- name: reschedule_unpinned
-- Memories that would have been forgotten while they were pinned are due from now on.
update memory.memories set forget_at = %(at)s
where tenant_id = %(tenant)s and id = any(%(ids)s) and forget_at < %(at)s

-- name: clear_pending
-- Delete the marks and replacements that the requests wrote; the stage writes its own.
with marks as (
    delete from memory.marks where tenant_id = %(tenant)s and correction_id = any(%(ids)s) and pending
)
delete from memory.replacements where tenant_id = %(tenant)s and correction_id = any(%(ids)s)

-- name: mark_corrected
-- Record these corrections as applied.
insert into memory.corrected (tenant_id, correction_id, subject_id, run_id)
select %(tenant)s, x.id, x.subject_id, %(run_id)s from unnest(%(ids)s::uuid[], %(subject_ids)s::text[]) as x (id, subject_id)
on conflict do nothing

