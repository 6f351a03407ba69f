-- name: lock_subjects
-- Let one writer at a time work on these subjects; always in this order, so that two never wait for each other.
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
-- Make subjects known, in the order in which they are locked: what is not there cannot be.
insert into memory.subjects (tenant_id, subject_id)
select distinct %(tenant)s, x from unnest(%(subjects)s::text[]) x order by 2
on conflict do nothing

-- name: around
-- Subjects of the log next to a name, in their order, up to `limit` on either side: a step of the index each.
with recursive upward as (
    (select subject_id, 1 as place from log.turns
     where tenant_id = %(tenant)s and subject_id >= %(subject)s order by subject_id limit 1)
    union all
    select n.subject_id, u.place + 1
    from upward u
    cross join lateral (select t.subject_id from log.turns t
                        where t.tenant_id = %(tenant)s and t.subject_id > u.subject_id
                        order by t.subject_id limit 1) n
    where u.place < %(limit)s
), downward as (
    (select subject_id, 1 as place from log.turns
     where tenant_id = %(tenant)s and subject_id < %(subject)s order by subject_id desc limit 1)
    union all
    select n.subject_id, d.place + 1
    from downward d
    cross join lateral (select t.subject_id from log.turns t
                        where t.tenant_id = %(tenant)s and t.subject_id < d.subject_id
                        order by t.subject_id desc limit 1) n
    where d.place < %(limit)s
)
select subject_id from upward
union all
select subject_id from downward
