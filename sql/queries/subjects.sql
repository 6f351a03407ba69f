-- name: lock_subjects
-- Let one writer at a time work on these subjects. Ordered, so that two never wait for each other.
select from memory.subjects
where tenant_id = %(tenant)s and subject_id = any(%(subjects)s)
order by subject_id
for update

-- name: lock_scope
-- Let one writer at a time work on the subjects of a scope, in the same order.
select from memory.subjects
where tenant_id = %(tenant)s and shard >= %(shard_from)s and shard < %(shard_to)s
  and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s))
order by subject_id
for update

-- name: add_subjects
-- Add subjects, in the order in which they are locked: a missing row cannot be locked.
insert into memory.subjects (tenant_id, subject_id)
select distinct %(tenant)s, x from unnest(%(subjects)s::text[]) x order by 2
on conflict do nothing

-- name: count_erasures
-- The number of a tenant's last erasure; 0 if there was none.
select coalesce(max(number), 0) from ops.erasures where tenant_id = %(tenant)s

-- name: hold_off_erasures
-- Prevent erasures of the tenant until the transaction ends; any number of transactions may do so at once.
select pg_advisory_xact_lock_shared(hashtextextended('erasing/' || %(tenant)s, 0))

-- name: hold_tenant
-- Prevent the erasure of the whole tenant until the transaction ends. A later statement sees whether the tenant is still there.
select pg_advisory_xact_lock_shared(hashtextextended('erasing tenant/' || %(tenant)s, 0))

-- name: begin_erasing_tenant
-- Wait for those who hold the tenant; later ones wait until the transaction ends.
select pg_advisory_xact_lock(hashtextextended('erasing tenant/' || %(tenant)s, 0))

-- name: begin_erasing
-- Until the transaction ends, let nobody write what they read of the tenant earlier.
select pg_advisory_xact_lock(hashtextextended('erasing/' || %(tenant)s, 0))
