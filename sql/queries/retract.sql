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
