-- name: made_of
-- What these items once stated and no longer holds, each with what came in its place, the nearest first (depth from 1), up
-- to what holds. An item is a turn, with the memories made of it or what they were merged into, or a memory itself.
with recursive stated as materialized (
    select i.item_id, m.id, m.state, m.into_id
    from unnest(%(ids)s::uuid[]) as i (item_id)
    cross join lateral (
        select l.memory_id as id from memory.lineage l
        where l.tenant_id = %(tenant)s and l.source_id = i.item_id and l.relation = 'extracted'
        union all select i.item_id
        offset 0) l
    cross join lateral (
        select id, state, into_id from memory.memories m where m.tenant_id = %(tenant)s and m.id = l.id limit 1) m
    where m.state in ('superseded', 'merged')
),
chain (item_id, first_id, id, depth) as (
    select distinct s.item_id, e.id, e.id, 0
    from stated s
    cross join lateral (
        select id from memory.memories m
        where m.tenant_id = %(tenant)s and m.id = case when s.state = 'merged' then s.into_id else s.id end
          and m.state = 'superseded' and m.valid_to <= %(as_of)s
        limit 1) e
    union all
    select c.item_id, c.first_id, n.id, c.depth + 1
    from chain c
    cross join lateral (
        select case when m.state = 'merged' then m.into_id else m.superseded_by end as id
        from memory.memories m
        where m.tenant_id = %(tenant)s and m.id = c.id
          and (m.state = 'merged' or m.state = 'superseded' and m.valid_to <= %(as_of)s)
        limit 1) n
    where n.id is not null and c.depth < 20
)
select c.item_id, c.first_id, c.depth, m.id, m.kind, m.content, m.state, m.happened_at, m.valid_to, m.turn_id, m.session_id,
       m.importance,
       m.state in ('candidate', 'active') and m.importance >= %(min_importance)s and coalesce(m.expires_at > %(as_of)s, true)
       and not exists (select from memory.marks k
                       where k.tenant_id = %(tenant)s and k.subject_id = m.subject_id and k.item_id = m.id
                         and k.mark <> 'pinned') as is_recallable
from chain c
join memory.memories m on m.tenant_id = %(tenant)s and m.id = c.id
order by c.item_id, c.first_id, c.depth

-- name: questions
-- The questions that these turns answer, as the other speaker asked them.
select i.item_id, q.id, q.speaker, q.role, q.text, q.said_at
from unnest(%(ids)s::uuid[]) as i (item_id)
cross join lateral (
    select asked_by, speaker, role from memory.items i2
    where i2.tenant_id = %(tenant)s and i2.subject_id = %(subject)s and i2.item_id = i.item_id and i2.asked_by is not null
    limit 1) a
cross join lateral (
    select id, speaker, role, text, said_at from log.turns t
    where t.tenant_id = %(tenant)s and t.id = a.asked_by limit 1) q
where (q.speaker, q.role) is distinct from (a.speaker, a.role)
  and not exists (
      select from memory.marks k
      where k.tenant_id = %(tenant)s and k.subject_id = %(subject)s and k.item_id = q.id and k.mark <> 'pinned')

-- name: around
-- The turns before and after these turns in their sessions, in the order of the conversation.
select i.item_id, t.id, t.speaker, t.role, t.text, t.said_at, t.is_before
from unnest(%(ids)s::uuid[]) as i (item_id)
cross join lateral (
    select subject_id, session_id, said_at, turn_index, id from log.turns t
    where t.tenant_id = %(tenant)s and t.id = i.item_id limit 1) o
cross join lateral (
    (select id, speaker, role, text, said_at, turn_index, true as is_before from log.turns t
     where t.tenant_id = %(tenant)s and t.subject_id = o.subject_id and t.session_id = o.session_id
       and (t.said_at, t.turn_index, t.id) < (o.said_at, o.turn_index, o.id)
     order by t.said_at desc, t.turn_index desc, t.id desc limit %(neighbours)s)
    union all
    (select id, speaker, role, text, said_at, turn_index, false as is_before from log.turns t
     where t.tenant_id = %(tenant)s and t.subject_id = o.subject_id and t.session_id = o.session_id
       and (t.said_at, t.turn_index, t.id) > (o.said_at, o.turn_index, o.id) and t.id < %(horizon)s
     order by t.said_at, t.turn_index, t.id limit %(neighbours)s)) t
where not exists (
    select from memory.marks k
    where k.tenant_id = %(tenant)s and k.subject_id = o.subject_id and k.item_id = t.id and k.mark <> 'pinned')
order by i.item_id, t.said_at, t.turn_index, t.id
