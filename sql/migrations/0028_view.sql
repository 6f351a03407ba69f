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

-- Whose history arrived late. The last cycle that a subject went through is the latest of the ledger's prunes that covered it,
-- since every run ends its cycles with one; a subject whose memory was not scored yet went through none. Cheap where nothing is
-- late: the latest prune of all comes first.
create function ops.late_among(of_tenant text, subjects text[], times timestamptz[])
    returns table (subject_id text, happened_at timestamptz)
    language sql stable set search_path = '' as $$
    with prunes as materialized (
        select r.as_of, r.scope from ops.runs r
        where r.tenant_id = of_tenant and r.stage = 'prune' and r.status = 'done'
          and r.as_of >= (select min(x) from unnest(times) x)
    ),
    early as materialized (
        select x.subject_id, min(x.at) as at
        from unnest(subjects, times) x (subject_id, at)
        where x.at <= (select max(as_of) from prunes)
        group by x.subject_id
    ),
    known as materialized (
        select e.subject_id, e.at from early e
        where exists (select from memory.memories m
                      where m.tenant_id = of_tenant and m.subject_id = e.subject_id and m.scored)
           or e.subject_id in (select f.subject_id from memory.tombstones f where f.tenant_id = of_tenant)
    )
    select k.subject_id, k.at from known k
    where exists (select from prunes p
                  where p.as_of >= k.at
                    and (not p.scope ? 'subjects' or p.scope -> 'subjects' ? k.subject_id)
                    and (not p.scope ? 'shards'
                         or ops.shard_of(of_tenant, k.subject_id) >= (p.scope #>> '{shards,0}')::int
                            and ops.shard_of(of_tenant, k.subject_id) < (p.scope #>> '{shards,1}')::int))
    order by k.subject_id
$$;
comment on function ops.late_among is 'Subjects of whom something happened at a time that their cycles have passed, with the earliest such time.';

-- what 0014 grants, for databases that it made before it did
grant select (tenant_id, subject_id, balance_usd, given_at) on ops.subject_credits to reverie_analyst;
grant select (subject_id) on ops.calls to reverie_analyst;
