-- name: forget
-- Delete memories, those merged into them at any depth, and everything that belongs to them. A tombstone without content
-- stays, with the importance to which the memory had faded; its kind is returned. The subject's corpus figures no longer count the memory. Rows to
-- delete are named by arrays of keys or places (`ctid`; the caller holds the subjects, so they stay): the planner may
-- reverse a join with its own target and read all of the tenant for each row.
with recursive doomed as (
    select x.id, x.forgotten_at from unnest(%(ids)s::uuid[], %(forgotten_at)s::timestamptz[]) as x (id, forgotten_at)
    union
    select m.id, d.forgotten_at
    from doomed d
    cross join lateral (
        select m.id from memory.memories m
        where m.tenant_id = %(tenant)s and m.into_id = d.id and m.state = 'merged' offset 0) m
),
gone as (
    delete from memory.memories
    where tenant_id = %(tenant)s and id = any(array(select id from doomed))
    returning id, subject_id, kind, content, content_hash, peak, greatest(accessed_at, valid_to) as since,
              lasting and valid_to is null as lasts
),
vectors as (
    delete from memory.vectors
    where tenant_id = %(tenant)s and ctid = any(array(
        select v.place
        from gone g
        cross join lateral (
            select v.ctid as place from memory.vectors v
            where v.tenant_id = %(tenant)s and v.subject_id = g.subject_id and v.item_id = g.id offset 0) v))
),
found as materialized (  -- memories on posting lists
    select g.id, g.subject_id, i.place, to_tsvector(%(language)s::regconfig, left(g.content, 100000)) as vector
    from gone g
    cross join lateral (
        select i.ctid as place from memory.items i
        where i.tenant_id = %(tenant)s and i.subject_id = g.subject_id and i.item_id = g.id offset 0) i
),
items as (
    delete from memory.items where tenant_id = %(tenant)s and ctid = any(array(select place from found))
),
lists as materialized (  -- the lists, with the rest of each
    select t.place, kept.*
    from (select f.subject_id, u.lexeme, array_agg(f.id) as ids
          from found f cross join lateral unnest(f.vector) u group by f.subject_id, u.lexeme) l
    cross join lateral (
        select t.ctid as place, t.item_ids, t.tfs, t.dls from memory.terms t
        where t.tenant_id = %(tenant)s and t.subject_id = l.subject_id and t.term = l.lexeme and t.item_ids && l.ids
        offset 0) t
    cross join lateral (
        select array_agg(p.id) as item_ids, array_agg(p.tf) as tfs, array_agg(p.dl) as dls
        from unnest(t.item_ids, t.tfs, t.dls) as p (id, tf, dl) where p.id <> all(l.ids)) kept
),
shortened as (
    update memory.terms t set item_ids = l.item_ids, tfs = l.tfs, dls = l.dls
    from lists l
    where t.tenant_id = %(tenant)s and t.ctid = l.place and l.item_ids is not null
),
emptied as (
    delete from memory.terms
    where tenant_id = %(tenant)s and ctid = any(array(select place from lists where item_ids is null))
),
links as (
    delete from memory.links where tenant_id = %(tenant)s and memory_id = any(array(select id from gone))
),
merges as (
    delete from memory.merges where tenant_id = %(tenant)s and loser_id = any(array(select id from gone))
),
conflicts as (
    delete from memory.conflicts
    where tenant_id = %(tenant)s and subject_id = any(array(select subject_id from gone))
      and (memory_id = any(array(select id from gone)) or other_id = any(array(select id from gone)))
),
judged as (
    delete from memory.judged_ends where tenant_id = %(tenant)s and memory_id = any(array(select id from gone))
),
subjects as (
    update memory.subjects s set items = s.items - f.items, terms = s.terms - f.terms
    from (select f.subject_id, count(*) filter (where u.length > 0) as items, sum(least(u.length, 32767)) as terms
          from found f
          cross join lateral (select coalesce(sum(cardinality(positions)), 0) as length from unnest(f.vector)) u
          group by f.subject_id) f
    where s.tenant_id = %(tenant)s and s.subject_id = f.subject_id
)
insert into memory.tombstones (tenant_id, memory_id, subject_id, kind, content_hash, importance, reason, forgotten_at,
                               run_id)
select %(tenant)s, g.id, g.subject_id, g.kind, g.content_hash,
       greatest(g.peak::float8 - case when g.lasts then 0 else r.rate end * greatest(
           extract(epoch from d.forgotten_at - g.since)::float8 / 86400 - %(grace_days)s::float8, 0), 0)::real,
       %(reason)s, d.forgotten_at, %(run_id)s
from gone g
join doomed d on d.id = g.id
join unnest(%(kinds)s::text[], %(rates)s::float8[]) as r (kind, rate) on r.kind = g.kind
on conflict do nothing
returning kind
