-- name: lock
-- Write one receipt of a tenant at a time: lock until the transaction ends.
select pg_advisory_xact_lock(hashtextextended('erasures/' || %(tenant)s, 0))

-- name: last
-- Number and hash of a tenant's last receipt.
select number, hash from ops.erasures where tenant_id = %(tenant)s order by number desc limit 1

-- name: write
-- Write a receipt of an erasure.
insert into ops.erasures (tenant_id, number, id, kind, target, counts, erased_at, actor, previous, hash)
values (%(tenant)s, %(number)s, %(id)s, %(kind)s, %(target)s, %(counts)s, %(erased_at)s, %(actor)s, %(previous)s, %(hash)s)

-- name: list
-- A tenant's receipts, in order.
select number, id, kind, target, counts, erased_at, actor, previous, hash
from ops.erasures
where tenant_id = %(tenant)s
order by number

-- name: page
-- A page of a tenant's receipts.
select number, id, kind, target, counts, erased_at, actor, previous, hash
from ops.erasures
where tenant_id = %(tenant)s and number > %(after)s
order by number
limit %(limit)s

-- name: of_target
-- The last receipt of this target.
select number, id, kind, target, counts, erased_at, actor, previous, hash
from ops.erasures
where tenant_id = %(tenant)s and kind = %(kind)s and target = %(target)s
order by number desc limit 1

-- name: mark_of
-- The keyed hash of a name.
select ops.mark_of(%(kind)s, %(parts)s::text[])

-- name: marks
-- The marks (keyed hashes) of a tenant's erased data, by erasure.
select erasure_id, array_agg(mark order by mark) from ops.erased where tenant_id = %(tenant)s group by erasure_id

-- name: write_marks
-- Write marks from another copy of the database.
insert into ops.erased (tenant_id, mark, erasure_id)
select %(tenant)s, m, %(erasure)s from unnest(%(marks)s::bytea[]) m
on conflict do nothing

-- name: ensure_keys
-- Make sure that the tenant has mark keys; existing ones stay.
insert into ops.erasure_keys (tenant_id) values (%(tenant)s) on conflict do nothing

-- name: secret
-- The keys of the tenant, for its export.
select ops.erasure_secret()

-- name: take_secret
-- Take over the keys of a tenant that moves in, unless its present ones have marked an erasure.
select ops.take_erasure_secret(%(secret)s)
