-- name: list_tenants
-- Every tenant and its policy.
select tenant_id, policy from ops.tenants order by tenant_id

-- name: ensure_tenant
-- Add the tenant; a known one keeps its policy. Its keys mark erased data; backups from before an erasure have them too.
with keys as (insert into ops.erasure_keys (tenant_id) values (%(tenant)s) on conflict do nothing)
insert into ops.tenants (tenant_id, policy) values (%(tenant)s, %(policy)s) on conflict do nothing

-- name: set_policy
-- Set the tenant's policy.
with keys as (insert into ops.erasure_keys (tenant_id) values (%(tenant)s) on conflict do nothing)
insert into ops.tenants (tenant_id, policy) values (%(tenant)s, %(policy)s)
on conflict (tenant_id) do update set policy = excluded.policy

-- name: read_policy
-- The policy of one tenant.
select policy from ops.tenants where tenant_id = %(tenant)s

-- name: hold_model
-- The tenant's live embedding model, if one is chosen; it cannot be switched until the transaction ends.
select model from ops.tenants where tenant_id = %(tenant)s and model is not null for share

-- name: choose_model
-- Make the first model that embeds the live one.
update ops.tenants set model = %(model)s where tenant_id = %(tenant)s and model is null

-- name: lock_model
-- Let nobody embed until the model is switched.
select from ops.tenants where tenant_id = %(tenant)s for update

-- name: set_model
-- Recall by the vectors of this model from now on.
update ops.tenants set model = %(model)s where tenant_id = %(tenant)s

-- name: read_clock
-- The fixed time of the tenant's clock; null: it runs.
select clock_at from ops.tenants where tenant_id = %(tenant)s

-- name: set_clock
-- Stop the tenant's clock at a time, or let it run (null).
update ops.tenants set clock_at = %(at)s where tenant_id = %(tenant)s

-- name: count_missing
-- The number of items of these types with vectors of the live model and none of the new one, without those set aside.
select count(*)
from (select distinct v.subject_id, v.item_id
      from memory.vectors v
      join ops.tenants t on t.tenant_id = %(tenant)s and t.model = v.model
      where v.tenant_id = %(tenant)s and v.model <> %(model)s and v.item = any(%(items)s)) o
where not exists (select from memory.vectors n
                  where n.tenant_id = %(tenant)s and n.subject_id = o.subject_id and n.model = %(model)s
                    and n.item_id = o.item_id)
  and not exists (select from ops.dead_letters d
                  where d.tenant_id = %(tenant)s and d.source = 'stage:embed' and d.source like 'stage:%%'
                    and d.item = o.item_id::text)
