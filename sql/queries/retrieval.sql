-- name: said
-- The turns of some subjects up to a time, if one is given, drawn by the hash of their names until there are enough turns;
-- each subject's in order of time.
with sizes as (
    select subject_id, count(*) as turns from log.turns
    where tenant_id = %(tenant)s and said_at <= coalesce(%(as_of)s::timestamptz, 'infinity') group by subject_id
), drawn as (
    select subject_id, sum(turns) over (order by hashtextextended(subject_id, 0), subject_id) - turns as before from sizes
)
select t.id, t.subject_id, t.session_id, t.role, t.speaker, t.said_at, t.text
from drawn d
join log.turns t on t.tenant_id = %(tenant)s and t.subject_id = d.subject_id
where d.before < %(turns)s and t.text <> '' and t.said_at <= coalesce(%(as_of)s::timestamptz, 'infinity')
order by t.subject_id, t.said_at, t.session_id, t.turn_index, t.id

-- name: corrected
-- Replaced memories: the turn from which each was extracted, and all that the correction withholds.
select c.id, c.subject_id, c.corrected_at, t.text, k.ids
from log.corrections c
cross join lateral (
    select array_agg(item_id) as ids, (array_agg(item_id order by item_id) filter (where item = 'turn' and not derived))[1] as turn_id
    from memory.marks k
    where k.tenant_id = c.tenant_id and k.subject_id = c.subject_id and k.correction_id = c.id
      and k.mark = 'corrected') k
join log.turns t on t.tenant_id = c.tenant_id and t.id = k.turn_id
where c.tenant_id = %(tenant)s and c.kind = 'replace'
order by c.corrected_at, c.id

-- name: turn_ids
-- The ids of turns by the caller's ids, and the time of each subject's last turn.
select subject_id, session_id, source_id, id, max(said_at) over (partition by subject_id)
from log.turns
where tenant_id = %(tenant)s and subject_id = any(%(subjects)s)

-- name: behind
-- The turns and corrections behind memories and those merged into them.
select l.memory_id, l.source_id
from memory.lineage l
where l.tenant_id = %(tenant)s and l.memory_id = any(%(ids)s) and l.source in ('turn', 'correction')
union
select h.into_id, l.source_id
from memory.memories h
join memory.lineage l on l.tenant_id = h.tenant_id and l.memory_id = h.id and l.source in ('turn', 'correction')
where h.tenant_id = %(tenant)s and h.into_id = any(%(ids)s) and h.state = 'merged'

-- name: latest
-- The ten turns before each question: what is known without a memory.
select q.place, l.ids, l.texts
from unnest(%(subjects)s::text[], %(times)s::timestamptz[]) with ordinality as q (subject_id, asked_at, place)
cross join lateral (
    select array_agg(t.id) as ids, array_agg(t.text) as texts
    from (select id, text from log.turns t
          where t.tenant_id = %(tenant)s and t.subject_id = q.subject_id and t.said_at < q.asked_at
          order by t.said_at desc, t.turn_index desc, t.id desc limit 10) t) l

-- name: texts
-- The texts of turns, and the right texts of corrections.
select id, text from log.turns where tenant_id = %(tenant)s and id = any(%(ids)s)
union all
select id, content from log.corrections where tenant_id = %(tenant)s and id = any(%(ids)s) and content is not null

-- name: sessions_before
-- The number of the subject's sessions that began before each question.
select q.place, count(s.began)
from unnest(%(subjects)s::text[], %(times)s::timestamptz[]) with ordinality as q (subject_id, asked_at, place)
left join (select subject_id, session_id, min(said_at) as began
           from log.turns where tenant_id = %(tenant)s and subject_id = any(%(subjects)s) group by subject_id, session_id) s
    on s.subject_id = q.subject_id and s.began < q.asked_at
group by q.place
order by q.place
