-- name: lock_subjects
-- Let one writer at a time work on these subjects; always in this order, so that two never wait for each other.
select from memory.subjects
where tenant_id = %(tenant)s and subject_id = any(%(subjects)s)
order by subject_id
for update
