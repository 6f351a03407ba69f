-- name: get
-- Items by namespace and key, without expired ones.
select g.place::int, s.key, s.namespace, s.value, s.created_at, s.updated_at
from jsonb_to_recordset(%(wanted)s::jsonb) as g (place int, namespace text[], key text)
join ops.store_items s on s.tenant_id = %(tenant)s and s.namespace = g.namespace and s.key = g.key
where s.expires_at is null or s.expires_at > %(at)s

-- name: refresh
-- Postpone the end of items that were read and have one, except those that another transaction changes.
with found as materialized (
    select s.namespace, s.key
    from ops.store_items s
    join jsonb_to_recordset(%(wanted)s::jsonb) as g (namespace text[], key text) using (namespace, key)
    where s.tenant_id = %(tenant)s and s.expires_at > %(at)s
    for update of s skip locked
)
update ops.store_items s set expires_at = %(at)s::timestamptz + make_interval(secs => s.ttl_minutes * 60)
from found f
where s.tenant_id = %(tenant)s and s.namespace = f.namespace and s.key = f.key

-- name: search
-- Items below a namespace that meet every condition of `filters`, ordered as asked: by words, by time or by key. A condition
-- compares the value at a path with another; a missing one is null.
select s.key, s.namespace, s.value, s.created_at, s.updated_at, f.score
from ops.store_items s
cross join lateral (
    select case when %(query)s::text is null then null
                else ts_rank_cd(to_tsvector(%(language)s::regconfig, jsonb_path_query_array(s.value, 'strict $.**')::text),
                                replace(plainto_tsquery(%(language)s::regconfig, %(query)s::text)::text, '&', '|')::tsquery) end as score) f
where s.tenant_id = %(tenant)s and s.namespace[1:cardinality(%(prefix)s::text[])] = %(prefix)s::text[]
  and (s.expires_at is null or s.expires_at > %(at)s)
  and not exists (
      select from jsonb_to_recordset(%(filters)s::jsonb) as c (path text[], op text, value jsonb)
      cross join lateral (select coalesce(s.value #> c.path, 'null') as held, coalesce(c.value, 'null') as wanted) v
      where not case c.op
          when '$eq' then v.held = v.wanted
          when '$ne' then v.held <> v.wanted
          when '$len' then jsonb_typeof(v.held) = 'array' and jsonb_array_length(v.held) = v.wanted::int
          when '$map' then jsonb_typeof(v.held) = 'object'
          else jsonb_typeof(v.held) = jsonb_typeof(v.wanted) and jsonb_typeof(v.held) in ('number', 'string')
               and case c.op when '$gt' then v.held > v.wanted when '$gte' then v.held >= v.wanted
                             when '$lt' then v.held < v.wanted else v.held <= v.wanted end
      end)
order by f.score desc nulls last,
         case when %(order)s = 'key' then s.key collate "C" end,
         case when %(order)s = 'key_desc' then s.key collate "C" end desc,
         s.updated_at desc, s.namespace, s.key
limit %(limit)s offset %(offset)s

-- name: namespaces
-- Namespaces in order, cut to a depth, that meet every condition: a path at the beginning or the end, * for any label.
select distinct s.namespace[1:coalesce(%(max_depth)s::int, 1000)]
from ops.store_items s
where s.tenant_id = %(tenant)s and (s.expires_at is null or s.expires_at > %(at)s)
  and not exists (
      select from jsonb_to_recordset(%(conditions)s::jsonb) as c (match_type text, path text[])
      where cardinality(s.namespace) < cardinality(c.path)
         or exists (select from unnest(c.path) with ordinality as l (label, place)
                    where l.label <> '*'
                      and s.namespace[l.place + case when c.match_type = 'suffix'
                                                     then cardinality(s.namespace) - cardinality(c.path) else 0 end] <> l.label))
order by 1
limit %(limit)s offset %(offset)s

-- name: put
-- Put items into the store; a value replaces the previous one and its end. An item keeps the time of its first put.
insert into ops.store_items as s (tenant_id, namespace, key, value, created_at, updated_at, ttl_minutes, expires_at)
select %(tenant)s, p.namespace, p.key, p.value, %(at)s, %(at)s, p.ttl_minutes,
       %(at)s::timestamptz + make_interval(secs => p.ttl_minutes * 60)
from jsonb_to_recordset(%(items)s::jsonb) as p (namespace text[], key text, value jsonb, ttl_minutes float8)
order by p.namespace, p.key
on conflict (tenant_id, namespace, key) do update
set value = excluded.value, updated_at = excluded.updated_at, ttl_minutes = excluded.ttl_minutes, expires_at = excluded.expires_at,
    created_at = case when s.expires_at <= excluded.updated_at then excluded.created_at else s.created_at end

-- name: delete
-- Delete items by namespace and key.
delete from ops.store_items s
where s.tenant_id = %(tenant)s
  and (s.namespace, s.key) in (select d.namespace, d.key
                               from jsonb_to_recordset(%(items)s::jsonb) as d (namespace text[], key text))

-- name: expire
-- Delete expired items, except those that another transaction changes.
with gone as materialized (
    select namespace, key from ops.store_items
    where tenant_id = %(tenant)s and expires_at <= %(at)s
    for update skip locked
)
delete from ops.store_items s using gone g
where s.tenant_id = %(tenant)s and s.namespace = g.namespace and s.key = g.key

-- name: clear
-- Delete all items of a namespace, but not those below it. They are locked in the order in which `put` changes items.
with gone as materialized (
    select namespace, key from ops.store_items
    where tenant_id = %(tenant)s and namespace = %(namespace)s::text[]
    order by namespace, key
    for update
)
delete from ops.store_items s using gone g
where s.tenant_id = %(tenant)s and s.namespace = g.namespace and s.key = g.key

-- name: pop
-- Delete and return the item with the last key of a namespace; concurrent calls get different ones.
delete from ops.store_items s
where s.tenant_id = %(tenant)s and s.namespace = %(namespace)s::text[] and s.key = (
    select l.key from ops.store_items l
    where l.tenant_id = %(tenant)s and l.namespace = %(namespace)s::text[] and (l.expires_at is null or l.expires_at > %(at)s)
    order by l.key collate "C" desc limit 1
    for update skip locked)
returning s.key, s.namespace, s.value, s.created_at, s.updated_at

-- name: lock_alone
-- Wait for other transactions that change items of the store, and prevent new ones until this one ends: for several changes,
-- which may be in any order.
select pg_advisory_xact_lock(hashtextextended('store/' || %(tenant)s, 0))

-- name: lock_shared
-- Hold off transactions that lock alone. Those that share the lock either put items or remove those of one namespace, in the
-- order of namespaces and keys, so that none waits for another that waits for it.
select pg_advisory_xact_lock_shared(hashtextextended('store/' || %(tenant)s, 0))
