-- name: write_key
-- Write a new key of the tenant.
insert into ops.api_keys (tenant_id, id, name, digest, scopes, made_at, expires_at)
values (%(tenant)s, %(id)s, %(name)s, %(digest)s, %(scopes)s, %(made_at)s, %(expires_at)s)

-- name: list_keys
-- The tenant's keys, latest first.
select id, name, scopes, made_at, expires_at, revoked_at from ops.api_keys
where tenant_id = %(tenant)s
order by made_at desc, id

-- name: find_keys
-- Keys whose id is in a range (a prefix).
select id from ops.api_keys where tenant_id = %(tenant)s and id between %(first)s and %(last)s order by id limit 2

-- name: revoke_key
-- Revoke a key; one revoked before keeps its time.
update ops.api_keys set revoked_at = coalesce(revoked_at, %(revoked_at)s)
where tenant_id = %(tenant)s and id = %(id)s
returning id, name, scopes, made_at, expires_at, revoked_at

-- name: read_grant
-- The holder of a key in force, and the policy of its tenant.
select k.id, k.name, k.scopes, t.policy
from ops.api_keys k
join ops.tenants t on t.tenant_id = k.tenant_id
where k.tenant_id = %(tenant)s and k.digest = %(digest)s
  and k.revoked_at is null and (k.expires_at is null or k.expires_at > %(at)s)
