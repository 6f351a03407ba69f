-- name: read_retractions
-- Retractions up to a time that have not taken effect yet, each with whether the correction was applied: by a run, or by the
-- request itself if it keeps two memories apart.
select c.id, c.other_id, c.subject_id,
       exists (select from memory.corrected d where d.tenant_id = c.tenant_id and d.correction_id = c.other_id)
       or exists (select from log.corrections k where k.tenant_id = c.tenant_id and k.id = c.other_id and k.kind = 'keep_apart')
from log.corrections c
where c.tenant_id = %(tenant)s and c.kind = 'retract' and c.corrected_at <= %(as_of)s
  and ops.shard_of(c.tenant_id, c.subject_id) >= %(shard_from)s and ops.shard_of(c.tenant_id, c.subject_id) < %(shard_to)s
  and (%(subjects)s::text[] is null or c.subject_id = any(%(subjects)s))
  and not exists (select from memory.corrected d where d.tenant_id = c.tenant_id and d.correction_id = c.id)
order by c.corrected_at, c.id

-- name: lift_pending
-- Delete the marks and replacements that the requests wrote.
with marks as (
    delete from memory.marks where tenant_id = %(tenant)s and correction_id = any(%(ids)s)
)
delete from memory.replacements where tenant_id = %(tenant)s and correction_id = any(%(ids)s)

-- name: settle
-- Record these corrections as applied: they have no effect any more, and no run applies them.
insert into memory.corrected (tenant_id, correction_id, subject_id, run_id)
select %(tenant)s, x.id, x.subject_id, %(run_id)s from unnest(%(ids)s::uuid[], %(subject_ids)s::text[]) as x (id, subject_id)
on conflict do nothing
