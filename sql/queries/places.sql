-- name: successors
-- Statements that no longer hold, each followed by its successors in turn, up to the one that holds. If the memory that
-- ended one is forgotten, the turn that ended it comes last; it is moved if it was found, and never added. The same goes for
-- a statement of another relation: it ended the first, but does not say what holds instead. A memory may have been merged into
-- one that was told later than the question: such a one is left out. `left`: the rest of the first after its end.
with recursive chain (first_id, id, ended_by, depth) as (
    select first_id, first_id, null::uuid, 0 from unnest(%(ids)s::uuid[]) as first_id
    union all
    select c.first_id, n.id, n.ended_by, c.depth + 1
    from chain c
    cross join lateral (
        select case when m.state = 'merged' then m.into_id else m.superseded_by end as id, m.ended_by
        from memory.memories m
        where m.tenant_id = %(tenant)s and m.id = c.id
          and (m.state = 'merged' or m.state = 'superseded' and m.valid_to <= %(as_of)s)
        limit 1) n
    where n.id is not null and c.depth < 20
)
select c.first_id, m.id, m.kind, m.content, m.state, m.happened_at, m.valid_to, m.turn_id, m.session_id, m.importance,
       m.state in ('candidate', 'active') and m.importance >= %(min_importance)s and coalesce(m.expires_at > %(as_of)s, true)
           and m.relation is not distinct from f.relation
           and not exists (select from memory.marks k
                           where k.tenant_id = %(tenant)s and k.subject_id = m.subject_id and k.item_id = m.id
                             and k.mark <> 'pinned') as is_recallable,
       c.depth,
       case when c.depth = 0
            then (select string_agg(r.content, ' ')
                  from memory.lineage l
                  join memory.memories r on r.tenant_id = l.tenant_id and r.id = l.memory_id
                  where l.tenant_id = m.tenant_id and l.source_id = m.turn_id and l.relation = 'extracted'
                    and r.origin = 'rest' and r.relation is not distinct from m.relation)
       end as left
from chain c
join memory.memories m on m.tenant_id = %(tenant)s and m.id = c.id
join memory.memories f on f.tenant_id = %(tenant)s and f.id = c.first_id
where c.depth = 0 or m.happened_at <= %(as_of)s
union all
select c.first_id, t.id, 'turn', t.text, 'active', t.said_at, null, t.id, t.session_id, 0, false, c.depth, null
from chain c
join log.turns t on t.tenant_id = %(tenant)s and t.id = c.ended_by
where not exists (select from memory.memories m where m.tenant_id = %(tenant)s and m.id = c.id)
order by first_id, depth

-- name: doubts
-- Messages that may have ended a statement, as of a time; those that a person corrected or wants forgotten are left out.
select t.id, t.speaker, t.role, t.text, t.said_at
from log.turns t
where t.tenant_id = %(tenant)s and t.id = any(%(ids)s::uuid[]) and t.said_at <= %(as_of)s
  and not exists (select from memory.marks k
                  where k.tenant_id = %(tenant)s and k.subject_id = %(subject)s and k.item_id = t.id and k.mark <> 'pinned')

-- name: around
-- The turns before and after these turns in their sessions, in the order of the conversation; of those that filters admit.
select i.item_id, t.id, t.speaker, t.role, t.text, t.said_at, t.is_before
from unnest(%(ids)s::uuid[]) as i (item_id)
cross join lateral (
    select subject_id, session_id, said_at, turn_index, id from log.turns t
    where t.tenant_id = %(tenant)s and t.id = i.item_id limit 1) o
cross join lateral (
    (select id, speaker, role, text, said_at, turn_index, true as is_before from log.turns t
     where t.tenant_id = %(tenant)s and t.subject_id = o.subject_id and t.session_id = o.session_id
       and (t.said_at, t.turn_index, t.id) < (o.said_at, o.turn_index, o.id)
       and (%(among)s::uuid[] is null or t.id = any(%(among)s::uuid[]))
     order by t.said_at desc, t.turn_index desc, t.id desc limit %(neighbours)s)
    union all
    (select id, speaker, role, text, said_at, turn_index, false as is_before from log.turns t
     where t.tenant_id = %(tenant)s and t.subject_id = o.subject_id and t.session_id = o.session_id
       and (t.said_at, t.turn_index, t.id) > (o.said_at, o.turn_index, o.id) and t.id < %(horizon)s
       and (%(among)s::uuid[] is null or t.id = any(%(among)s::uuid[]))
     order by t.said_at, t.turn_index, t.id limit %(neighbours)s)) t
where not exists (
    select from memory.marks k
    where k.tenant_id = %(tenant)s and k.subject_id = o.subject_id and k.item_id = t.id and k.mark <> 'pinned')
order by i.item_id, t.said_at, t.turn_index, t.id

-- name: stating
-- Memories in force with one of these relations, the latest first; without relations, those that last, the most important first.
-- If speakers are given, only what they said.
select m.who, m.id, m.kind, m.content, m.happened_at, m.turn_id, m.session_id, m.importance, m.doubted_by
from memory.memories m
where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s
  and (m.relation = any(%(relations)s::text[]) or %(relations)s::text[] is null and m.relation is not null and m.lasting)
  and m.state in ('candidate', 'active') and m.phase in ('holds', 'begins', 'adds')
  and m.importance >= %(min_importance)s and coalesce(m.expires_at > %(as_of)s, true)
  and coalesce(m.valid_to > %(as_of)s, true) and m.id < %(horizon)s
  and (%(speakers)s::text[] is null
       or exists (select from log.turns t
                  where t.tenant_id = %(tenant)s and t.id = m.turn_id and t.speaker = any(%(speakers)s::text[])))
  and not exists (select from memory.marks k
                  where k.tenant_id = %(tenant)s and k.subject_id = m.subject_id and k.item_id = m.id and k.mark <> 'pinned')
order by case when %(relations)s::text[] is null then m.importance end desc, m.happened_at desc, m.id desc
limit %(limit)s

-- name: vectors
-- The vectors of these items, one for each part.
select v.item_id, halfvec_send(v.vec)
from memory.vectors v
where v.tenant_id = %(tenant)s and v.subject_id = %(subject)s and v.item_id = any(%(ids)s::uuid[]) and v.model = %(model)s
order by v.item_id, v.part
