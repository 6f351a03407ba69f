-- name: read_subject
-- The subject of a memory. The state is read because no index has it: an index that a subject leads would be read through.
select subject_id, state from memory.memories where tenant_id = %(tenant)s and id = %(loser)s

-- name: read_merge
-- One merge in force.
select g.survivor_id, g.subject_id, g.peak_after - g.peak_before, m.into_id, m.kind, m.peak, m.accessed_at,
       m.access_count, m.lasting, m.expires_at
from memory.merges g
join memory.memories m on m.tenant_id = g.tenant_id and m.id = g.loser_id
where g.tenant_id = %(tenant)s and g.loser_id = %(loser)s and m.state = 'merged'

-- name: read_superseded
-- A memory that another superseded.
select superseded_by, subject_id, kind, peak, accessed_at, lasting, expires_at
from memory.memories
where tenant_id = %(tenant)s and id = %(loser)s and state = 'superseded' and superseded_by is not null

-- name: restore
-- Put a superseded memory in force again, with the structured facts that it stated; facts decides again at its next run.
with facts as (
    update memory.structured_facts f set valid_to = null, replaced_by = null
    where f.tenant_id = %(tenant)s and f.valid_to = (
              select m.valid_to from memory.memories m where m.tenant_id = %(tenant)s and m.id = %(loser)s)
      and f.memory_id in (select m.id from memory.memories m
                          where m.tenant_id = %(tenant)s and (m.id = %(loser)s or m.into_id = %(loser)s and m.state = 'merged'))
)
update memory.memories
set state = 'active', valid_to = null, superseded_by = null, ended_by = null, structured = false, forget_at = %(forget_at)s,
    -- a lasting memory fades only while it is superseded
    importance = case when lasting then peak else importance end,
    decayed_at = case when lasting then accessed_at else decayed_at end
where tenant_id = %(tenant)s and id = %(loser)s

-- name: read_undone
-- The memory from which this one was last separated, unless that was retracted.
select c.other_id from log.corrections c
where c.tenant_id = %(tenant)s and c.kind = 'keep_apart' and c.memory_id = %(loser)s
  and not exists (select from log.corrections u
                  where u.tenant_id = c.tenant_id and u.other_id = c.id and u.kind = 'retract')
order by c.corrected_at desc, c.id limit 1

-- name: count_apart
-- The number of times these two were kept apart before.
select count(*) from log.corrections
where tenant_id = %(tenant)s and kind = 'keep_apart' and memory_id = %(loser)s and other_id = %(other)s

-- name: write_correction
-- Log that these two are not the same, and that both hold, until somebody retracts it.
insert into log.corrections (tenant_id, id, subject_id, kind, memory_id, other_id, corrected_at, actor)
values (%(tenant)s, %(id)s, %(subject)s, 'keep_apart', %(loser)s, %(other)s, %(as_of)s, %(actor)s)
on conflict do nothing

-- name: revive
-- Let a merged memory stand for itself again, and for all that was merged into it before.
with recursive held as (
    select g.loser_id from memory.merges g where g.tenant_id = %(tenant)s and g.survivor_id = %(loser)s
    union
    select g.loser_id from held h
    join memory.merges g on g.tenant_id = %(tenant)s and g.survivor_id = h.loser_id
),
back as (
    update memory.memories m set into_id = %(loser)s
    from held h where m.tenant_id = %(tenant)s and m.id = h.loser_id
)
update memory.memories
set state = 'active', into_id = null, forget_at = %(forget_at)s, structured = structured and valid_from is null
where tenant_id = %(tenant)s and id = %(loser)s

-- name: read_survivor
-- The survivor of an undone merge, and whether another memory that was merged into it is lasting.
select m.kind, m.state, m.peak, m.accessed_at, m.expires_at, m.relation, m.phase,
       exists (select from memory.merges g
               join memory.memories l on l.tenant_id = g.tenant_id and l.id = g.loser_id
               where g.tenant_id = m.tenant_id and g.survivor_id = m.id and g.loser_id <> %(loser)s and l.lasting)
from memory.memories m where m.tenant_id = %(tenant)s and m.id = %(survivor)s for update of m

-- name: read_next_survivor
-- The memory into which a survivor was merged in turn, the peaks of that merge, and the survivor as it is now: a pinned one
-- fades as little as a lasting one.
select g.survivor_id, g.peak_before, g.peak_after, g.as_of, m.kind, m.peak, m.accessed_at,
       m.lasting or exists (select from memory.marks k
                            where k.tenant_id = m.tenant_id and k.subject_id = m.subject_id and k.item_id = m.id
                              and k.mark = 'pinned' and not k.pending)
from memory.merges g
join memory.memories m on m.tenant_id = g.tenant_id and m.id = g.loser_id
where g.tenant_id = %(tenant)s and g.loser_id = %(survivor)s and m.state = 'merged'

-- name: lessen_merge
-- Take from a merge what its loser no longer brings, so that undoing it takes the rest.
update memory.merges set peak_after = peak_after - %(gained)s where tenant_id = %(tenant)s and loser_id = %(survivor)s

-- name: weaken
-- Take from the survivor what the merge gave it.
update memory.memories
set peak = %(peak)s, importance = greatest(importance - %(gained)s, 0), forget_at = %(forget_at)s,
    lasting = %(lasting)s, access_count = greatest(access_count - %(access_count)s, 0)
where tenant_id = %(tenant)s and id = %(survivor)s

-- name: unpin_survivors
-- Unpin the memories that are pinned only because they held a separated one. A correction pins one memory: its other marks
-- are those of memories into which that one was merged. Those that would have been forgotten meanwhile are due from now on.
with separated as (
    select m.id from memory.memories m where m.tenant_id = %(tenant)s and (m.id = %(loser)s or m.into_id = %(loser)s)
),
unpinned as (
    delete from memory.marks k
    where k.tenant_id = %(tenant)s and k.subject_id = %(subject)s and k.mark = 'pinned'
      and k.correction_id in (select p.correction_id from memory.marks p join separated s on s.id = p.item_id
                              where p.tenant_id = %(tenant)s and p.mark = 'pinned')
      and k.item_id not in (select s.id from separated s)
    returning k.item_id
)
update memory.memories set forget_at = %(as_of)s
where tenant_id = %(tenant)s and id = any(array(select item_id from unpinned)) and forget_at < %(as_of)s

-- name: forget_merge
-- Delete the merge and its line in the lineage; the correction remains.
with gone as (
    delete from memory.merges where tenant_id = %(tenant)s and loser_id = %(loser)s returning survivor_id, loser_id
)
delete from memory.lineage l using gone g
where l.tenant_id = %(tenant)s and l.memory_id = g.survivor_id and l.relation = 'merged' and l.source_id = g.loser_id
