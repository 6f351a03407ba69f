-- name: page_memories
-- A page of a subject's memories, latest first (ids sort by event time), with importance as of then by the closed form of
-- decay. Those in force at a time are told as they stood then, without ends and doubts that were told later.
select m.id, m.kind, case when m.state = 'superseded' and %(in_force_at)s::timestamptz is not null then 'active' else m.state end as state,
       m.content, m.polarity,
       greatest(m.peak::float8 - case when m.lasting and m.valid_to is null or m.id = any(array(
           select item_id from memory.marks
           where tenant_id = %(tenant)s and subject_id = %(subject)s and mark = 'pinned')) then 0 else r.rate end
           * greatest(extract(epoch from %(as_of)s - greatest(m.accessed_at, m.valid_to))::float8 / 86400 - %(grace_days)s::float8, 0),
           0)::real as importance,
       m.access_count, m.happened_at, m.accessed_at, m.forget_at, m.expires_at, m.into_id,
       m.valid_from, case when o.is_told then m.valid_to end as valid_to,
       case when o.is_told then m.superseded_by end as superseded_by,
       m.turn_id, m.session_id, m.kind = 'summary' as compression_source, m.origin,
       case when (m.valid_to is null or m.valid_to > %(in_force_at)s)
                 and (coalesce(%(in_force_at)s, %(ended_by)s)::timestamptz is null
                      or (select t.said_at from log.turns t where t.tenant_id = m.tenant_id and t.id = m.doubted_by)
                         <= coalesce(%(in_force_at)s, %(ended_by)s))
            then m.doubt end as doubt_chance,
       array(select e.type || ':' || e.slug from memory.links l
             join memory.entities e on e.tenant_id = l.tenant_id and e.id = l.entity_id
             where l.tenant_id = m.tenant_id and l.memory_id = m.id order by 1) as entities
from memory.memories m
join unnest(%(kinds)s::text[], %(rates)s::float8[]) as r (kind, rate) using (kind)
cross join lateral (  -- an end may be told before it comes: "from 1 July I work at B"
    select %(in_force_at)s::timestamptz is null
           or exists (select from log.turns t
                      where t.tenant_id = m.tenant_id and t.id = m.ended_by and t.said_at <= %(in_force_at)s) as is_told) o
where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s and m.state = any(%(states)s)
  and (%(before)s::uuid is null or m.id < %(before)s)
  and (%(since)s::timestamptz is null or m.happened_at >= %(since)s)
  and (%(until)s::timestamptz is null or m.happened_at < %(until)s)
  and (%(in_force_at)s::timestamptz is null
       or m.happened_at <= %(in_force_at)s and (m.valid_from is null or m.valid_from <= %(in_force_at)s)
       and (m.valid_to is null or m.valid_to > %(in_force_at)s))
  and (%(ended_by)s::timestamptz is null or coalesce(m.valid_to, m.happened_at) <= %(ended_by)s)
  and (%(session)s::text is null or m.session_id = %(session)s)
  and (%(entity)s::text is null or exists (
      select from memory.links l join memory.entities e on e.tenant_id = l.tenant_id and e.id = l.entity_id
      where l.tenant_id = m.tenant_id and l.memory_id = m.id and e.type || ':' || e.slug = %(entity)s))
  and m.id <> all(array(select item_id from memory.marks
                        where tenant_id = %(tenant)s and subject_id = %(subject)s and mark <> 'pinned'))
union all
select r.id, r.kind, 'candidate', r.content, 0, r.importance, 0, r.happened_at, r.happened_at, null, null, null, null, null, null,
       null, null, false, 'correction', null, '{}'
from memory.replacements r
where r.tenant_id = %(tenant)s and r.subject_id = %(subject)s and r.kind = any(%(kinds)s) and 'candidate' = any(%(states)s)
  and (%(before)s::uuid is null or r.id < %(before)s)
  and (%(since)s::timestamptz is null or r.happened_at >= %(since)s)
  and (%(until)s::timestamptz is null or r.happened_at < %(until)s)
  and (%(in_force_at)s::timestamptz is null or r.happened_at <= %(in_force_at)s)
  and %(session)s::text is null and %(entity)s::text is null
order by id desc
limit %(limit)s

-- name: page_entities
-- A page of the entities that the subject's memories mention, by typed id.
select e.type || ':' || e.slug as id, e.label, e.first_seen_at,
       n.memories, n.superseded
from memory.entities e
cross join lateral (
    select count(*) as memories, count(*) filter (where m.state = 'superseded') as superseded
    from memory.links l
    left join memory.memories m on m.tenant_id = l.tenant_id and m.id = l.memory_id
    where l.tenant_id = e.tenant_id and l.entity_id = e.id) n
where e.tenant_id = %(tenant)s and e.subject_id = %(subject)s
  and (%(type)s::text is null or e.type = %(type)s)
  and (%(after_type)s::text is null or (e.type, e.slug) > (%(after_type)s, %(after_slug)s))
order by e.type, e.slug
limit %(limit)s

-- name: graph_entities
-- The subject's entities with the most memories.
select e.type || ':' || e.slug as id, e.label, e.first_seen_at, n.memories, n.superseded
from memory.entities e
cross join lateral (
    select count(*) as memories, count(*) filter (where m.state = 'superseded') as superseded
    from memory.links l
    left join memory.memories m on m.tenant_id = l.tenant_id and m.id = l.memory_id
    where l.tenant_id = e.tenant_id and l.entity_id = e.id) n
where e.tenant_id = %(tenant)s and e.subject_id = %(subject)s
order by n.memories desc, e.type, e.slug
limit %(limit)s

-- name: graph_edges
-- Pairs of those entities that the same memories mention, with the number of these memories.
with nodes as materialized (
    select e.id, e.type || ':' || e.slug as name
    from memory.entities e
    cross join lateral (
        select count(*) as memories from memory.links l where l.tenant_id = e.tenant_id and l.entity_id = e.id) n
    where e.tenant_id = %(tenant)s and e.subject_id = %(subject)s
    order by n.memories desc, e.type, e.slug
    limit %(limit)s
)
select a.name as source, b.name as target, count(*) as memories
from nodes a
join memory.links l on l.tenant_id = %(tenant)s and l.entity_id = a.id
join memory.links k on k.tenant_id = %(tenant)s and k.memory_id = l.memory_id
join nodes b on b.id = k.entity_id and a.name < b.name
group by a.name, b.name
order by count(*) desc, a.name, b.name
limit %(edges)s

-- name: page_conflicts
-- A page of pairs of memories that cannot both hold, latest first, without those that a person corrected since.
select c.subject_id, c.relation, c.reason, c.since, c.memory_id, m.content, m.happened_at, c.other_id,
       o.content as other_content, o.happened_at as other_happened_at
from memory.conflicts c
join memory.memories m on m.tenant_id = c.tenant_id and m.id = c.memory_id
join memory.memories o on o.tenant_id = c.tenant_id and o.id = c.other_id
where c.tenant_id = %(tenant)s and (%(subject)s::text is null or c.subject_id = %(subject)s)
  and (%(memory)s::uuid is null or %(memory)s in (c.memory_id, c.other_id))
  and (%(since)s::timestamptz is null or (c.since, c.memory_id, c.other_id) < (%(since)s, %(after)s::uuid, %(after_other)s::uuid))
  and not exists (select from memory.marks k
                  where k.tenant_id = c.tenant_id and k.subject_id = c.subject_id and k.mark <> 'pinned'
                    and k.item_id in (c.memory_id, c.other_id))
order by c.since desc, c.memory_id desc, c.other_id desc
limit %(limit)s
