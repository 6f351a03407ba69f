-- name: subject
-- Whether the subject is known, and counts of its data.
select (select count(*) from log.turns t where t.tenant_id = %(tenant)s and t.subject_id = %(subject)s) as turns,
       (select count(distinct t.session_id) from log.turns t
        where t.tenant_id = %(tenant)s and t.subject_id = %(subject)s) as sessions,
       (select min(t.said_at) from log.turns t where t.tenant_id = %(tenant)s and t.subject_id = %(subject)s) as first_said,
       (select max(t.said_at) from log.turns t where t.tenant_id = %(tenant)s and t.subject_id = %(subject)s) as last_said

-- name: states
-- The number of the subject's memories in each state.
select state, count(*) from memory.memories
where tenant_id = %(tenant)s and subject_id = %(subject)s
group by state order by state

-- name: memories
-- The subject's memories in some states with the entities they mention, most important first within their kind; importance
-- as of a time by the closed form of decay. Only those told by then, without ends and doubts that were told later; without
-- `ended`, only those in force then.
select m.id, m.kind, case when m.state = 'superseded' and m.valid_to > %(as_of)s then 'active' else m.state end as state,
       m.content, m.polarity, m.access_count, m.happened_at, m.accessed_at, m.forget_at, m.into_id, m.valid_from,
       case when o.is_told then m.valid_to end as valid_to, case when o.is_told then m.superseded_by end as superseded_by,
       case when not o.is_over
                 and (select t.said_at from log.turns t where t.tenant_id = m.tenant_id and t.id = m.doubted_by) <= %(as_of)s
            then m.doubt end as doubt_chance,
       m.turn_start, m.turn_end, m.model,
       greatest(m.peak::float8 - case when m.lasting and m.valid_to is null or m.id = any(array(
           select item_id from memory.marks
           where tenant_id = %(tenant)s and subject_id = %(subject)s and mark = 'pinned')) then 0 else r.rate end
           * greatest(extract(epoch from %(as_of)s - greatest(m.accessed_at, m.valid_to))::float8 / 86400 - %(grace_days)s::float8, 0),
           0)::real as importance,
       array(select e.type || ':' || e.slug from memory.links l
             join memory.entities e on e.tenant_id = l.tenant_id and e.id = l.entity_id
             where l.tenant_id = m.tenant_id and l.memory_id = m.id order by 1) as entities
from memory.memories m
join unnest(%(kinds)s::text[], %(rates)s::float8[]) as r (kind, rate) using (kind)
cross join lateral (  -- an end may be told before it comes: "from 1 July I work at B"
    select coalesce(m.valid_to <= %(as_of)s, false) as is_over,
           m.valid_to <= %(as_of)s
           or exists (select from log.turns t
                      where t.tenant_id = m.tenant_id and t.id = m.ended_by and t.said_at <= %(as_of)s) as is_told) o
where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s and m.state = any(%(states)s)
  and m.happened_at <= %(as_of)s and (%(ended)s or coalesce(m.valid_from <= %(as_of)s, true) and not o.is_over)
  and m.id <> all(array(select item_id from memory.marks
                        where tenant_id = %(tenant)s and subject_id = %(subject)s and mark <> 'pinned'))
union all
select r.id, r.kind, 'candidate', r.content, 0, 0, r.happened_at, r.happened_at, null, null, null, null, null, null, null,
       null, null, r.importance,
       '{}'::text[]
from memory.replacements r
where r.tenant_id = %(tenant)s and r.subject_id = %(subject)s and r.kind = any(%(kinds)s) and 'candidate' = any(%(states)s)
  and r.happened_at <= %(as_of)s
order by kind, importance desc, happened_at desc, id

-- name: entities
-- The entities that the subject's memories mention, most frequent first; those known at a time.
select e.type || ':' || e.slug as id, e.label, e.first_seen_at, count(*) filter (where m.state in ('active', 'superseded')) as memories,
       count(*) filter (where m.state = 'superseded') as superseded
from memory.entities e
left join memory.links l on l.tenant_id = e.tenant_id and l.entity_id = e.id
left join memory.memories m on m.tenant_id = l.tenant_id and m.id = l.memory_id
    and m.happened_at <= %(as_of)s
where e.tenant_id = %(tenant)s and e.subject_id = %(subject)s
  and e.first_seen_at <= %(as_of)s
group by e.id, e.type, e.slug, e.label, e.first_seen_at
order by memories desc, 1

-- name: forgotten
-- The subject's forgotten memories, latest first.
select memory_id, kind, importance, reason, forgotten_at
from memory.tombstones
where tenant_id = %(tenant)s and subject_id = %(subject)s
order by forgotten_at desc, memory_id
limit %(limit)s

-- name: count_forgotten
-- The number of the subject's forgotten memories.
select count(*) from memory.tombstones where tenant_id = %(tenant)s and subject_id = %(subject)s

-- name: find_ids
-- Memories, forgotten or not, whose id is in a range (a prefix), and those that a correction withholds wherever they are made.
select id from memory.memories where tenant_id = %(tenant)s and id between %(first)s and %(last)s
union
select memory_id from memory.tombstones where tenant_id = %(tenant)s and memory_id between %(first)s and %(last)s
union
select id from memory.replacements where tenant_id = %(tenant)s and id between %(first)s and %(last)s
union
select c.memory_id from log.corrections c
where c.tenant_id = %(tenant)s and c.memory_id between %(first)s and %(last)s and c.kind in ('wrong', 'replace', 'forget')
  and not exists (select from log.corrections u
                  where u.tenant_id = c.tenant_id and u.other_id = c.id and u.kind = 'retract')
  and not exists (select from memory.marks k  -- a replacement that was corrected before it was a memory
                  where k.tenant_id = c.tenant_id and k.correction_id = c.id and k.pending)
order by id
limit %(limit)s

-- name: memory
-- One memory as it stands, with the words that ended it, and whether it is pinned, itself or by a memory merged into it.
select id, subject_id, kind, state, content, polarity, base, peak, importance, access_count, happened_at, accessed_at,
       decayed_at, forget_at, expires_at, into_id, session_id, turn_start, turn_end, origin, who, relation, topic, object,
       phase, valid_from, valid_to, superseded_by, ended_by,
       (select t.text from log.turns t where t.tenant_id = m.tenant_id and t.id = m.ended_by) as ended_words, run_id, policy_hash,
       model, confidence, agreed, lasting, doubted_by, doubt,
       (select t.text from log.turns t where t.tenant_id = m.tenant_id and t.id = m.doubted_by) as doubt_words,
       exists (select from memory.marks k where k.tenant_id = m.tenant_id and k.subject_id = m.subject_id
                 and k.item_id = m.id and k.mark = 'pinned') as pinned
from memory.memories m where tenant_id = %(tenant)s and id = %(id)s
union all
select r.id, r.subject_id, r.kind, 'candidate', r.content, 0, r.importance, r.importance, r.importance, 0, r.happened_at,
       r.happened_at, r.happened_at, null, null, null, null, null, null, 'correction', null, null, null, null, null, null, null, null, null, null,
       null, '', null, null, null, false, null, null, null,
       exists (select from memory.marks k where k.tenant_id = r.tenant_id and k.subject_id = r.subject_id
                 and k.item_id = r.id and k.mark = 'pinned')
from memory.replacements r
where r.tenant_id = %(tenant)s and r.id = %(id)s
  and not exists (select from memory.memories m where m.tenant_id = %(tenant)s and m.id = %(id)s)

-- name: corrections
-- Corrections of a memory, and the one that made it, in order; a correction without a row in `corrected` waits for the
-- deferred tier.
select c.id, c.kind, c.actor, c.corrected_at, c.content, d.correction_id is not null as worked_in,
       exists (select from log.corrections u
               where u.tenant_id = c.tenant_id and u.other_id = c.id and u.kind = 'retract') as retracted
from log.corrections c
left join memory.corrected d on d.tenant_id = c.tenant_id and d.correction_id = c.id
where c.tenant_id = %(tenant)s and c.subject_id = %(subject)s
  and (c.memory_id = %(id)s
       or c.id in (select source_id from memory.lineage
                   where tenant_id = %(tenant)s and memory_id = %(id)s and source = 'correction'
                   union all select correction_id from memory.replacements where tenant_id = %(tenant)s and id = %(id)s))
order by c.corrected_at, c.id

-- name: tombstone
-- One forgotten memory; or of one that was corrected where another policy made it, what its last correction says.
(select memory_id as id, subject_id, kind, importance, reason, forgotten_at, run_id
 from memory.tombstones where tenant_id = %(tenant)s and memory_id = %(id)s)
union all
(select c.memory_id, c.subject_id, coalesce(c.memory_kind, 'fact'), 0, case c.kind when 'forget' then 'forgotten_on_request' else 'wrong' end,
        c.corrected_at, null
 from log.corrections c
 where c.tenant_id = %(tenant)s and c.memory_id = %(id)s and c.kind in ('wrong', 'replace', 'forget')
   and not exists (select from memory.tombstones f where f.tenant_id = c.tenant_id and f.memory_id = c.memory_id)
 order by c.corrected_at desc, c.id desc limit 1)

-- name: turns
-- The turns behind a memory, directly or through the memories it was made from, in the order they were said.
with recursive ancestry as (
    select source, source_id, 1 as distance from memory.lineage
    where tenant_id = %(tenant)s and memory_id = %(id)s and source in ('turn', 'memory')
    union
    select l.source, l.source_id, a.distance + 1
    from ancestry a
    join memory.lineage l on l.tenant_id = %(tenant)s and l.memory_id = a.source_id and l.source in ('turn', 'memory')
    where a.source = 'memory' and a.distance < 32
), nearest as (
    select source_id, min(distance) as distance from ancestry where source = 'turn' group by source_id
)
select t.id, t.session_id, t.source_id, t.role, t.speaker, t.said_at, t.text, n.distance = 1 as direct,
       (select min(k.mark) from memory.marks k
        where k.tenant_id = t.tenant_id and k.subject_id = t.subject_id and k.item_id = t.id) as mark,
       x.reader as read_by, x.model as model
from nearest n
join log.turns t on t.tenant_id = %(tenant)s and t.id = n.source_id
left join memory.extractions x on x.tenant_id = t.tenant_id and x.turn_id = t.id
order by t.said_at, t.session_id, t.turn_index, t.id

-- name: observed
-- The events and corrections behind a memory, directly or through the memories it was made from, in order.
with recursive ancestry as (
    select source, source_id, 1 as distance from memory.lineage
    where tenant_id = %(tenant)s and memory_id = %(id)s and source <> 'outcome'
    union
    select l.source, l.source_id, a.distance + 1
    from ancestry a
    join memory.lineage l on l.tenant_id = %(tenant)s and l.memory_id = a.source_id and l.source <> 'outcome'
    where a.source = 'memory' and a.distance < 32
), nearest as (
    select source, source_id, min(distance) as distance from ancestry group by source, source_id
)
select e.id, n.source, e.type, e.channel, e.observed_at, e.content, n.distance = 1 as direct
from nearest n
join log.events e on e.tenant_id = %(tenant)s and e.id = n.source_id
where n.source = 'event'
union all
select c.id, n.source, c.kind, 'person', c.corrected_at, coalesce(c.content, ''), n.distance = 1
from nearest n
join log.corrections c on c.tenant_id = %(tenant)s and c.id = n.source_id
where n.source = 'correction'
order by 5, 1

-- name: parents
-- The memories from which a memory was made.
select l.source_id as id, l.relation, l.as_of, m.kind, m.state, m.content,
       (select x.similarity from memory.merges x
        where x.tenant_id = l.tenant_id and x.loser_id = l.source_id and x.survivor_id = l.memory_id) as similarity
from memory.lineage l
left join memory.memories m on m.tenant_id = l.tenant_id and m.id = l.source_id
where l.tenant_id = %(tenant)s and l.memory_id = %(id)s and l.source = 'memory'
union all
select m.id, 'superseded', m.valid_to, m.kind, m.state, m.content, null
from memory.memories m
where m.tenant_id = %(tenant)s and m.superseded_by = %(id)s
order by as_of, id

-- name: children
-- The memories that a memory went into.
select l.memory_id as id, l.relation, l.as_of, m.kind, m.state, m.content,
       (select x.similarity from memory.merges x
        where x.tenant_id = l.tenant_id and x.loser_id = l.source_id and x.survivor_id = l.memory_id) as similarity
from memory.lineage l
left join memory.memories m on m.tenant_id = l.tenant_id and m.id = l.memory_id
where l.tenant_id = %(tenant)s and l.source_id = %(id)s and l.source = 'memory'
union all
select m.superseded_by, 'superseded', m.valid_to, b.kind, b.state, b.content, null
from memory.memories m
left join memory.memories b on b.tenant_id = m.tenant_id and b.id = m.superseded_by
where m.tenant_id = %(tenant)s and m.id = %(id)s and m.superseded_by is not null
  and m.superseded_by is distinct from m.ended_by -- a message that states nothing
order by as_of, id

-- name: outcomes
-- The outcomes that raised a memory.
select o.id, o.metric, o.value, o.positive, o.observed_at
from memory.lineage l
join log.outcomes o on o.tenant_id = l.tenant_id and o.id = l.source_id
where l.tenant_id = %(tenant)s and l.memory_id = %(id)s and l.relation = 'outcome'
order by o.observed_at, o.id

-- name: memory_entities
-- The entities that a memory mentions, each with the number of memories that mention it.
select e.type || ':' || e.slug as id, e.label, e.first_seen_at,
       (select count(*) from memory.links k where k.tenant_id = e.tenant_id and k.entity_id = e.id) as memories
from memory.links l
join memory.entities e on e.tenant_id = l.tenant_id and e.id = l.entity_id
where l.tenant_id = %(tenant)s and l.memory_id = %(id)s
order by 1

-- name: run
-- The ledger row of a run.
select run_id, stage, as_of, scope, driver, policy, policy_hash, model, status, attempts, finished_at
from ops.runs where tenant_id = %(tenant)s and run_id = %(run_id)s
