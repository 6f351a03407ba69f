-- name: tool_uses
-- Uses of tools after messages of a subject, each with the message, its similarity to the present one, and the outcomes. A
-- tool is used by a call of the assistant or by a turn of the tool; outcomes are those of such turns and of the message.
with calls as (
    select t.id, t.session_id, t.source_id, t.said_at, t.turn_index, n.tool
    from (select id, session_id, source_id, said_at, turn_index, role, speaker, tool_calls, metadata
          from log.turns
          where tenant_id = %(tenant)s and subject_id = %(subject)s and said_at <= %(as_of)s
            and (role = 'tool' or jsonb_typeof(tool_calls) = 'array')
          order by said_at desc, turn_index desc, id desc
          limit %(calls)s) t
    cross join lateral (
        select coalesce(t.metadata ->> 'tool_id', t.speaker) as tool where t.role = 'tool'
        union
        select c ->> 'name'
        from jsonb_array_elements(case when jsonb_typeof(t.tool_calls) = 'array' then t.tool_calls else '[]' end) c) n
    where n.tool is not null and (%(tools)s::text[] is null or n.tool = any(%(tools)s))
),
uses as (
    select q.id, c.tool, q.session_id, q.text, q.speaker, q.said_at, array_agg(distinct c.id) as call_ids,
           array_agg(distinct c.source_id) || min(q.source_id) as source_ids
    from calls c
    cross join lateral (
        select q.id, q.session_id, q.source_id, q.text, q.speaker, q.said_at from log.turns q
        where q.tenant_id = %(tenant)s and q.subject_id = %(subject)s and q.session_id = c.session_id and q.role = 'user'
          and (q.said_at, q.turn_index, q.id) < (c.said_at, c.turn_index, c.id)
        order by q.said_at desc, q.turn_index desc, q.id desc
        limit 1) q
    group by q.id, c.tool, q.session_id, q.text, q.speaker, q.said_at
)
select u.tool, u.id as turn_id, u.session_id, u.text, u.speaker, u.said_at, u.call_ids, v.similarity, o.good, o.bad
from uses u
cross join lateral (
    select -min(v.vec <#> %(vector)s::halfvec) as similarity from memory.vectors v
    where v.tenant_id = %(tenant)s and v.subject_id = %(subject)s and v.model = %(model)s and v.item_id = u.id) v
cross join lateral (
    select count(*) filter (where o.positive)::int as good, count(*) filter (where not o.positive)::int as bad
    from log.outcomes o
    where o.tenant_id = %(tenant)s and o.subject_id = %(subject)s and o.session_id = u.session_id
      and o.source_id = any(u.source_ids) and o.observed_at <= %(as_of)s) o
where v.similarity >= %(least_similarity)s::float8
  and not exists (select from memory.marks k
                  where k.tenant_id = %(tenant)s and k.subject_id = %(subject)s and k.item_id = u.id and k.mark <> 'pinned')
order by v.similarity desc, u.tool, u.id
limit %(nearest)s

-- name: decisions
-- Decisions of the assistant in other sessions: the turn of an outcome with the message before it, the similarity of the
-- nearer one to the present message, and the outcomes.
with decided as (
    select o.session_id, o.source_id,
           jsonb_agg(jsonb_build_object('metric', o.metric, 'value', o.value, 'positive', o.positive, 'observed_at', o.observed_at)
                     order by o.observed_at, o.id) as outcomes,
           count(*) filter (where o.positive)::int as good, count(*) filter (where not o.positive)::int as bad
    from (select id, session_id, source_id, metric, value, positive, observed_at from log.outcomes
          where tenant_id = %(tenant)s and subject_id = %(subject)s and observed_at <= %(as_of)s
            and session_id is distinct from %(session)s
          order by observed_at desc, id
          limit %(limit)s) o
    group by o.session_id, o.source_id
)
select t.id as turn_id, t.session_id, t.role, t.speaker, t.text, t.said_at, d.outcomes, d.good, d.bad, q.id as message_id,
       q.text as message, v.similarity
from decided d
join log.turns t on t.tenant_id = %(tenant)s and t.subject_id = %(subject)s and t.session_id = d.session_id
    and t.source_id = d.source_id
left join lateral (
    select q.id, q.text from log.turns q
    where t.role <> 'user' and q.tenant_id = %(tenant)s and q.subject_id = %(subject)s and q.session_id = t.session_id
      and q.role = 'user' and (q.said_at, q.turn_index, q.id) < (t.said_at, t.turn_index, t.id)
    order by q.said_at desc, q.turn_index desc, q.id desc
    limit 1) q on true
cross join lateral (
    select -min(v.vec <#> %(vector)s::halfvec) as similarity from memory.vectors v
    where v.tenant_id = %(tenant)s and v.subject_id = %(subject)s and v.model = %(model)s and v.item_id in (t.id, q.id)) v
where v.similarity >= %(least_similarity)s::float8 and t.said_at <= %(as_of)s
  and not exists (select from memory.marks k
                  where k.tenant_id = %(tenant)s and k.subject_id = %(subject)s and k.item_id in (t.id, q.id)
                    and k.mark <> 'pinned')
order by v.similarity desc, t.id

-- name: learned_in
-- The sessions in which memories were learned, along their lineage to turns, events and corrections.
with recursive sources as (
    select l.memory_id, l.source, l.source_id from memory.lineage l
    where l.tenant_id = %(tenant)s and l.memory_id = any(%(ids)s) and l.relation not in ('context', 'outcome')
    union
    select s.memory_id, l.source, l.source_id
    from sources s
    join memory.lineage l on l.tenant_id = %(tenant)s and l.memory_id = s.source_id and l.relation not in ('context', 'outcome')
    where s.source = 'memory'
)
select s.memory_id, s.source, s.source_id, a.session_id
from sources s
left join log.attributes a on a.tenant_id = %(tenant)s and a.subject_id = %(subject)s and a.id = s.source_id
where s.source <> 'memory'
order by s.memory_id, s.source_id

-- name: inbox_memories
-- The memories nearest to each item of an inbox, given as one vector per item. Memories' vectors are read once, by key.
with known as materialized (
    select m.id, m.kind, m.relation, m.content, m.happened_at, m.importance, m.polarity, m.turn_id, v.vec
    from (select id, kind, relation, state, content, happened_at, importance, polarity, turn_id, valid_to, expires_at
          from memory.memories
          where tenant_id = %(tenant)s and subject_id = %(subject)s and id < %(horizon)s
            and kind in ('fact', 'preference', 'instruction', 'episode', 'pattern')
          offset 0) m
    cross join lateral (
        select v.vec from memory.vectors v
        where v.tenant_id = %(tenant)s and v.subject_id = %(subject)s and v.model = %(model)s and v.item_id = m.id
        offset 0) v
    where (m.state in ('candidate', 'active') or m.state = 'superseded' and m.valid_to > %(as_of)s)
      and (m.expires_at is null or m.expires_at > %(as_of)s) and m.importance >= %(min_importance)s
      and m.id <> all(array(select k.item_id from memory.marks k
                            where k.tenant_id = %(tenant)s and k.subject_id = %(subject)s and k.mark <> 'pinned'))
)
select i.place::int as place, n.id, n.kind, n.relation, n.content, n.happened_at, n.importance::float8, n.polarity, n.turn_id, n.similarity
from (select i.place, i.vec::halfvec as vec from unnest(%(vectors)s::text[]) with ordinality i (vec, place) offset 0) i
cross join lateral (
    select d.* from (select k.id, k.kind, k.relation, k.content, k.happened_at, k.importance, k.polarity, k.turn_id,
                            -min(k.vec <#> i.vec) as similarity
                     from known k
                     group by k.id, k.kind, k.relation, k.content, k.happened_at, k.importance, k.polarity, k.turn_id) d
    where d.similarity >= %(least_similarity)s::float8
    order by d.similarity desc, d.id
    limit %(limit)s) n
order by i.place, n.similarity desc, n.id

-- name: inbox_entities
-- The subject's entities that each item of an inbox names, with the memories about them, except those about things that the
-- subject does not want.
select i.place::int as place, e.type || ':' || e.slug as id, e.type, e.label, l.memories, l.memory_ids
from (select i.place, tsvector_to_array(to_tsvector(%(language)s::regconfig, i.text)) as words
      from unnest(%(texts)s::text[]) with ordinality i (text, place) offset 0) i
join memory.entities e on e.tenant_id = %(tenant)s and e.subject_id = %(subject)s and e.terms <@ i.words and e.terms <> '{}'
cross join lateral (
    select count(*)::int as memories, array_agg(m.id order by m.importance desc, m.id) as memory_ids
    from memory.links l
    join memory.memories m on m.tenant_id = l.tenant_id and m.id = l.memory_id
    where l.tenant_id = e.tenant_id and l.entity_id = e.id and m.id < %(horizon)s
      and (m.state in ('candidate', 'active') or m.state = 'superseded' and m.valid_to > %(as_of)s)
      and (m.expires_at is null or m.expires_at > %(as_of)s) and m.polarity >= 0 and coalesce(m.relation <> all(%(avoiding)s), true)
      and not exists (select from memory.marks k
                      where k.tenant_id = m.tenant_id and k.subject_id = m.subject_id and k.item_id = m.id
                        and k.mark <> 'pinned')) l
where l.memories > 0
order by i.place, l.memories desc, id
