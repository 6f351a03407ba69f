-- name: late_subjects
-- Subjects of whom something was read after cycles had passed its time.
select subject_id from ops.late_subjects
where tenant_id = %(tenant)s
  and ops.shard_of(tenant_id, subject_id) >= %(shard_from)s and ops.shard_of(tenant_id, subject_id) < %(shard_to)s
  and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s))
order by subject_id

-- name: settle
-- Clear these subjects: their memory is made again in event order.
delete from ops.late_subjects where tenant_id = %(tenant)s and subject_id = any(%(names)s)
