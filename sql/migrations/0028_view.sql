-- Who looked at a flagged message, and receipts of erasures that move with their tenant.

alter table ops.reviews add column seen_by text check (length(seen_by) between 1 and 200);
comment on column ops.reviews.seen_by is 'Who looked at it first; null: nobody, or nobody said who.';

-- A tenant that moves takes the keys of its marks along: with other keys what was erased would not be known where it comes in.
create function ops.erasure_secret() returns bytea
    language sql stable security definer set search_path = '' as $$
    select k.inner_key || k.outer_key from ops.erasure_keys k where k.tenant_id = current_setting('reverie.tenant', true)
$$;
comment on function ops.erasure_secret is 'The keys of the session''s tenant, one after the other, for an export of the tenant; for the eraser alone.';

create function ops.take_erasure_secret(secret bytea) returns boolean
    language sql security definer set search_path = '' as $$
    insert into ops.erasure_keys as k (tenant_id, inner_key, outer_key)
    select current_setting('reverie.tenant', true), substring(secret from 1 for 64), substring(secret from 65)
    where length(secret) = 128
      and not exists (select from ops.erasures e where e.tenant_id = current_setting('reverie.tenant', true))
      and not exists (select from ops.erased e where e.tenant_id = current_setting('reverie.tenant', true))
    on conflict (tenant_id) do update set inner_key = excluded.inner_key, outer_key = excluded.outer_key
    returning true
$$;
comment on function ops.take_erasure_secret is 'Take over the keys of a tenant that moved in; null and no change where something was erased by the present ones.';
