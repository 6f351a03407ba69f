-- name: read_doomed
-- The next memories whose time has come: less important than the policy keeps and unasked for long enough.
select id, subject_id from memory.memories
where tenant_id = %(tenant)s and forget_at < %(as_of)s
  and shard >= %(shard_from)s and shard < %(shard_to)s
  and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s))
order by forget_at, id
limit %(limit)s
for update skip locked

-- name: read_held
-- Memories that were merged into these, at any remove: they go with their survivor.
with recursive held as (
    select m.id from memory.memories m
    where m.tenant_id = %(tenant)s and m.into_id = any(%(ids)s) and m.state = 'merged'
    union
    select m.id from held h
    join memory.memories m on m.tenant_id = %(tenant)s and m.into_id = h.id and m.state = 'merged'
)
select id from held

-- name: forget
-- Delete memories with all that hangs on them; a tombstone without content stays.
with gone as (
    delete from memory.memories m using unnest(%(ids)s::uuid[]) as x (id)
    where m.tenant_id = %(tenant)s and m.id = x.id
    returning m.id, m.subject_id, m.kind, m.content_hash, m.importance
),
vectors as (
    delete from memory.vectors v using gone g
    where v.tenant_id = %(tenant)s and v.subject_id = g.subject_id and v.item_id = g.id
),
terms as (
    delete from memory.terms t using gone g where t.tenant_id = %(tenant)s and t.item_id = g.id
),
items as (
    delete from memory.items i using gone g
    where i.tenant_id = %(tenant)s and i.subject_id = g.subject_id and i.item_id = g.id
),
links as (
    delete from memory.links l using gone g where l.tenant_id = %(tenant)s and l.memory_id = g.id
),
merges as (
    delete from memory.merges m using gone g where m.tenant_id = %(tenant)s and m.loser_id = g.id
)
insert into memory.tombstones (tenant_id, memory_id, subject_id, kind, content_hash, importance, reason, forgotten_at, run_id)
select %(tenant)s, id, subject_id, kind, content_hash, importance, %(reason)s, %(as_of)s, %(run_id)s from gone
on conflict do nothing
