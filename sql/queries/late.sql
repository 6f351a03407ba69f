-- name: late_subjects
-- Subjects of whom something was read after cycles had gone beyond its time.
select subject_id from ops.late_subjects
where tenant_id = %(tenant)s
  and ops.shard_of(tenant_id, subject_id) >= %(shard_from)s and ops.shard_of(tenant_id, subject_id) < %(shard_to)s
  and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s))
order by subject_id

-- name: settle
-- Their memory is made again in event order.
delete from ops.late_subjects where tenant_id = %(tenant)s and subject_id = any(%(names)s)

-- name: note_outcomes
-- Subjects of outcomes that this transaction wrote and that tell of something remembered, after cycles had gone beyond their time.
with telling as (
    select array_agg(o.subject_id) as subjects, array_agg(o.observed_at) as times
    from log.outcomes o
    join log.turns t on t.tenant_id = o.tenant_id and t.subject_id = o.subject_id and t.session_id = o.session_id
        and t.source_id = o.source_id
    where o.tenant_id = %(tenant)s and o.xmin = pg_current_xact_id()::xid
      and exists (select from memory.lineage l
                  where l.tenant_id = %(tenant)s and l.source_id = t.id and l.relation = 'extracted')
)
insert into ops.late_subjects (tenant_id, subject_id, happened_at)
select %(tenant)s, l.subject_id, l.happened_at
from telling cross join lateral ops.late_among(%(tenant)s, telling.subjects, telling.times) l
on conflict (tenant_id, subject_id) do update set happened_at = least(ops.late_subjects.happened_at, excluded.happened_at)
