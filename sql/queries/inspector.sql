-- name: read_tenant
-- The policy of a tenant, and the time at which its clock stands still.
select policy, clock_at from ops.tenants where tenant_id = %(tenant)s

-- name: recalls_with
-- The latest recalls of a subject in which an item served, among its last 1,000.
select r.id, r.asked_at, r.question, array_position(r.item_ids, %(item)s) as place, cardinality(r.item_ids) as hits
from (select id, asked_at, question, item_ids from log.recalls
      where tenant_id = %(tenant)s and subject_id = %(subject)s
      order by asked_at desc
      limit 1000) r
where %(item)s = any(r.item_ids)
order by r.asked_at desc, r.id
limit %(limit)s

-- name: latest_sessions
-- The latest sessions of a subject with the mood of their last message.
select t.session_id, count(*) as turns, min(t.said_at) as began_at, max(t.said_at) as ended_at,
       (select m.mood || ', ' || m.energy from log.moods m
        where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s and m.session_id = t.session_id
        order by m.said_at desc limit 1) as mood
from log.turns t
where t.tenant_id = %(tenant)s and t.subject_id = %(subject)s
  and (%(before)s::timestamptz is null or t.said_at < %(before)s)
group by t.session_id
order by max(t.said_at) desc, t.session_id
limit %(limit)s

-- name: latest_moods
-- The moods of a subject's latest messages.
select turn_id, session_id, said_at, mood, energy, style, method
from log.moods
where tenant_id = %(tenant)s and subject_id = %(subject)s
order by said_at desc, turn_id
limit %(limit)s

-- name: page_turns
-- A page of the turns of a session in their order, each with the memories that were extracted from it.
select t.id, t.source_id, t.role, t.speaker, t.said_at, t.turn_index, t.text,
       array(select m.id || ' ' || m.content
             from memory.lineage l
             join memory.memories m on m.tenant_id = l.tenant_id and m.id = l.memory_id
             where l.tenant_id = %(tenant)s and l.source_id = t.id and l.relation = 'extracted'
             order by m.id
             limit 10) as memories
from log.turns t
where t.tenant_id = %(tenant)s and t.subject_id = %(subject)s and t.session_id = %(session)s
  and (%(from_at)s::timestamptz is null
       or (t.said_at, t.turn_index, t.id) >= (%(from_at)s::timestamptz, %(from_index)s::int, %(from_id)s::uuid))
order by t.said_at, t.turn_index, t.id
limit %(limit)s

-- name: locate
-- What an id names: a memory (kept, forgotten or to come), a turn with its place, a fact by the memory that states it, or an entry.
-- A column that only the row has keeps the look-up at the primary key: an index that a subject leads has the others.
select 'memory' as item, id, subject_id, nullif(session_id, session_id) as session_id, null::timestamptz as said_at,
       null::int as turn_index
from memory.memories where tenant_id = %(tenant)s and id = %(id)s
union all
select 'memory', memory_id, subject_id, null, null, null
from memory.tombstones where tenant_id = %(tenant)s and memory_id = %(id)s
union all
select 'memory', id, subject_id, null, null, null
from memory.replacements where tenant_id = %(tenant)s and id = %(id)s
union all
select 'turn', id, subject_id, session_id, said_at, turn_index
from log.turns where tenant_id = %(tenant)s and id = %(id)s
union all
select 'memory', memory_id, subject_id, null, null, null
from memory.structured_facts where tenant_id = %(tenant)s and id = %(id)s
union all
select 'entry', id, subject_id, null, null, null
from memory.scaffold where tenant_id = %(tenant)s and id = %(id)s
limit 1

-- name: actions
-- The latest corrections of a tenant, with who made them.
select id, subject_id, kind, memory_id, corrected_at, actor
from log.corrections
where tenant_id = %(tenant)s
order by corrected_at desc, id
limit %(limit)s
