-- name: read_tenant
-- The policy of a tenant, and the fixed time of its clock.
select policy, clock_at from ops.tenants where tenant_id = %(tenant)s

-- name: recalls_with
-- The latest recalls of a subject that returned an item, among its last 1,000.
select r.id, r.asked_at, r.question, array_position(r.item_ids, %(item)s) as place, cardinality(r.item_ids) as hits
from (select id, asked_at, question, item_ids from log.recalls
      where tenant_id = %(tenant)s and subject_id = %(subject)s
      order by asked_at desc
      limit 1000) r
where %(item)s = any(r.item_ids)
order by r.asked_at desc, r.id
limit %(limit)s

-- name: latest_sessions
-- A page of a subject's sessions, latest end first, each with the mood of its last message that has one. The next page
-- begins after the end and the id of the last session. With a time, only of turns said by then.
select s.*, (select m.mood || ', ' || m.energy from memory.moods m
             where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s and m.session_id = s.session_id
               and m.said_at >= s.began_at and m.said_at <= s.ended_at
             order by m.said_at desc limit 1) as mood
from (select t.session_id, count(*) as turns, min(t.said_at) as began_at, max(t.said_at) as ended_at
      from log.turns t
      where t.tenant_id = %(tenant)s and t.subject_id = %(subject)s
        and (%(as_of)s::timestamptz is null or t.said_at <= %(as_of)s)
      group by t.session_id
      having %(ended_at)s::timestamptz is null or max(t.said_at) < %(ended_at)s
             or (max(t.said_at) = %(ended_at)s and t.session_id > %(session)s)
      order by max(t.said_at) desc, t.session_id
      limit %(limit)s) s
order by s.ended_at desc, s.session_id

-- name: latest_moods
-- The moods of a subject's latest messages; with a time, of those said by then.
select turn_id, session_id, said_at, mood, energy, style, method
from memory.moods
where tenant_id = %(tenant)s and subject_id = %(subject)s and (%(as_of)s::timestamptz is null or said_at <= %(as_of)s)
order by said_at desc, turn_id
limit %(limit)s

-- name: page_turns
-- A page of a session's turns in order, each with the memories extracted from it.
select t.id, t.source_id, t.role, t.speaker, t.said_at, t.turn_index, t.text,
       array(select m.id || ' ' || m.content
             from memory.lineage l
             join memory.memories m on m.tenant_id = l.tenant_id and m.id = l.memory_id
             where l.tenant_id = %(tenant)s and l.source_id = t.id and l.relation = 'extracted'
             order by m.id
             limit 10) as memories, false as waits
from log.turns t
where t.tenant_id = %(tenant)s and t.subject_id = %(subject)s and t.session_id = %(session)s
  and (%(from_at)s::timestamptz is null
       or (t.said_at, t.turn_index, t.id) >= (%(from_at)s::timestamptz, %(from_index)s::int, %(from_id)s::uuid))
order by t.said_at, t.turn_index, t.id
limit %(limit)s

-- name: waiting_turns
-- A session's turns that are not in the log yet, in order; a run takes them over.
select p.id, p.source_id, p.role, p.speaker, p.said_at, coalesce(p.turn_index, 0) as turn_index, p.text,
       array[]::text[] as memories, true as waits
from ops.pending_turns p
where p.tenant_id = %(tenant)s and p.subject_id = %(subject)s and p.session_id = %(session)s
  and not exists (select from log.turns t where t.tenant_id = p.tenant_id and t.id = p.id)
order by p.said_at, p.arrival
limit %(limit)s

-- name: known_subjects
-- Those of some subjects that have a page: they have turns in the log, or memories.
select s.subject_id
from unnest(%(subjects)s::text[]) as s (subject_id)
where exists (select from log.turns t where t.tenant_id = %(tenant)s and t.subject_id = s.subject_id)
   or exists (select from memory.memories m where m.tenant_id = %(tenant)s and m.subject_id = s.subject_id)

-- name: locate
-- The item with an id: a memory (kept, forgotten, or a replacement not yet made), a turn, a structured fact by its memory,
-- or an entry. A column that only the row has keeps the look-up on the primary key: an index that starts with the subject
-- has the others.
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
-- The latest corrections of a tenant, with their authors.
select id, subject_id, kind, memory_id, corrected_at, actor
from log.corrections
where tenant_id = %(tenant)s
order by corrected_at desc, id
limit %(limit)s

-- name: acts
-- The latest actions on triggers and reviews of flagged messages, with who did them.
(select 'trigger' as item, coalesce(g.kind, 'trigger') as kind, a.subject_id, a.action, a.acted_at, a.actor
 from log.acknowledgements a
 left join memory.triggers g on g.tenant_id = a.tenant_id and g.id = a.trigger_id
 where a.tenant_id = %(tenant)s
 order by a.acted_at desc, a.trigger_id
 limit %(limit)s)
union all
(select 'review', r.reason, r.subject_id, 'seen', r.seen_at, r.seen_by
 from ops.reviews r
 where r.tenant_id = %(tenant)s and r.seen_at is not null
 order by r.seen_at desc, r.turn_id
 limit %(limit)s)
order by acted_at desc, subject_id
limit %(limit)s

-- name: waiting
-- The numbers of flagged messages that nobody has reviewed, and of triggers that are due.
select (select count(*) from ops.reviews where tenant_id = %(tenant)s and seen_at is null),
       (select count(*) from memory.triggers g
        where g.tenant_id = %(tenant)s and g.due_at <= %(as_of)s and g.until_at > %(as_of)s and g.withheld is null
          and not exists (select from log.acknowledgements a where a.tenant_id = g.tenant_id and a.trigger_id = g.id))
