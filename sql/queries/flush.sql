-- name: peek
-- Sessions that are due, the longest wait first: quiet, waiting long enough, closed, or expired.
select s.subject_id, s.session_id
from ops.sessions s
where s.tenant_id = %(tenant)s and s.due_at <= %(as_of)s
order by s.due_at, s.subject_id, s.session_id
limit %(limit)s

-- name: claim
-- Lock these sessions while their turns are moved; one that somebody else holds or that is no longer due is skipped. A
-- request that adds a turn waits for the row, so nothing comes in between.
select s.subject_id, s.session_id
from ops.sessions s
join unnest(%(subjects)s::text[], %(sessions)s::text[]) as x (subject_id, session_id) using (subject_id, session_id)
where s.tenant_id = %(tenant)s and s.due_at <= %(as_of)s
for update of s skip locked

-- name: take
-- Copy their turns to the table that an import uses, in order of arrival.
insert into incoming_turns (place, id, subject_id, session_id, source_id, turn_index, role, speaker, said_at, text,
                            tool_calls, metadata, content_hash)
select row_number() over (order by p.arrival) - 1, p.id, p.subject_id, p.session_id, p.source_id, p.turn_index, p.role,
       p.speaker, p.said_at, p.text, p.tool_calls::text, p.metadata::text, p.content_hash
from ops.pending_turns p
join unnest(%(subjects)s::text[], %(sessions)s::text[]) as x (subject_id, session_id) using (subject_id, session_id)
where p.tenant_id = %(tenant)s

-- name: read_conflicts
-- Turns whose source_id got other content in the log meanwhile, as records that can be redriven.
select i.place + 1, json_build_object(
    'subject_id', i.subject_id, 'session_id', i.session_id, 'source_id', i.source_id, 'role', i.role,
    'speaker', i.speaker, 'said_at', i.said_at, 'text', i.text, 'tool_calls', i.tool_calls::json,
    'metadata', i.metadata::json)::text
from incoming_turns i
where i.place = any(%(places)s::int[])

-- name: read_taken
-- Those turns that are in the log now and that no extract run has read.
select t.id::text, t.subject_id, t.session_id, t.role, t.speaker, t.said_at, t.text, t.tool_calls::text,
       case when t.text <> '' and length(t.text) <= %(reply_characters)s then (
           select right(p.text, 400) from (select p.text, p.role, p.speaker from log.turns p
                               where p.tenant_id = t.tenant_id and p.subject_id = t.subject_id and p.session_id = t.session_id
                                 and (p.said_at, p.turn_index, p.id) < (t.said_at, t.turn_index, t.id)
                               order by p.said_at desc, p.turn_index desc, p.id desc limit 1) p
           where p.role in ('user', 'assistant') and (p.role, p.speaker) is distinct from (t.role, t.speaker)) end as asked
from incoming_turns i
cross join lateral (select * from log.turns t where t.tenant_id = %(tenant)s and t.id = i.id offset 0) t
where t.said_at <= %(as_of)s
  and not exists (select from memory.extractions e where e.tenant_id = %(tenant)s and e.turn_id = t.id offset 0)
order by t.id

-- name: write_moods
-- Write the mood of each message that the log took.
insert into log.moods (tenant_id, turn_id, subject_id, session_id, said_at, mood, energy, style, confidence, method)
select p.tenant_id, p.id, p.subject_id, p.session_id, p.said_at, p.mood ->> 'mood', p.mood ->> 'energy',
       p.mood ->> 'style', (p.mood ->> 'confidence')::real, p.mood ->> 'method'
from ops.pending_turns p
join unnest(%(subjects)s::text[], %(sessions)s::text[]) as x (subject_id, session_id) using (subject_id, session_id)
join incoming_turns i on i.id = p.id
where p.tenant_id = %(tenant)s and p.mood is not null and not i.place = any(%(places)s::int[])
on conflict do nothing

-- name: read_waiting
-- The work of each session for the deferred tier: the number of turns, and the event time of the latest.
select i.subject_id, i.session_id, count(*), max(i.said_at)
from incoming_turns i
where not i.place = any(%(places)s::int[])
group by i.subject_id, i.session_id

-- name: clear
-- Remove these sessions' turns from the buffer; a closed or expired session is over.
with moved as (
    delete from ops.pending_turns p using unnest(%(subjects)s::text[], %(sessions)s::text[]) as x (subject_id, session_id)
    where p.tenant_id = %(tenant)s and p.subject_id = x.subject_id and p.session_id = x.session_id
),
ended as (
    delete from ops.sessions s using unnest(%(subjects)s::text[], %(sessions)s::text[]) as x (subject_id, session_id)
    where s.tenant_id = %(tenant)s and s.subject_id = x.subject_id and s.session_id = x.session_id
      and (s.closing or s.expires_at <= %(as_of)s)
    returning 1
),
kept as (
    update ops.sessions s set waiting_since = null, flush_at = null
    from unnest(%(subjects)s::text[], %(sessions)s::text[]) as x (subject_id, session_id)
    where s.tenant_id = %(tenant)s and s.subject_id = x.subject_id and s.session_id = x.session_id
      and not (s.closing or s.expires_at <= %(as_of)s)
)
select count(*) from ended

-- name: hasten
-- Make sessions with a waiting turn of this moment due at once; ids start with their event time.
update ops.sessions s set flush_at = least(s.flush_at, %(as_of)s)
from (select distinct p.subject_id, p.session_id from ops.pending_turns p
      where p.tenant_id = %(tenant)s and p.id >= %(first)s::uuid and p.id <= %(last)s::uuid) x
where s.tenant_id = %(tenant)s and s.subject_id = x.subject_id and s.session_id = x.session_id
returning s.session_id

-- name: read_moment
-- The turns of a moment, as extract reads them; ids start with their event time.
select t.id::text, t.subject_id, t.session_id, t.role, t.speaker, t.said_at, t.text, t.tool_calls::text, null
from log.turns t
where t.tenant_id = %(tenant)s and t.id >= %(first)s::uuid and t.id <= %(last)s::uuid
order by t.id
limit %(limit)s

-- name: read_in_place
-- The memory of this id, or else the first one of a turn that keeps a content among the turn's own words.
select m.id from memory.lineage l
join memory.memories m on m.tenant_id = l.tenant_id and m.id = l.memory_id
where l.tenant_id = %(tenant)s and l.source_id = %(turn)s and l.relation = 'extracted' and m.content <> ''
  and (m.id = %(memory)s or (m.origin = %(origin)s and position(lower(%(content)s) in lower(m.content)) > 0))
order by m.id <> %(memory)s, m.id
limit 1

-- name: hasten_said
-- Make sessions of a scope with a waiting turn said up to a time due at once.
update ops.sessions s set flush_at = least(s.flush_at, %(as_of)s)
from (select distinct p.subject_id, p.session_id from ops.pending_turns p
      where p.tenant_id = %(tenant)s and p.said_at <= %(until)s
        and ops.shard_of(p.tenant_id, p.subject_id) >= %(shard_from)s
        and ops.shard_of(p.tenant_id, p.subject_id) < %(shard_to)s
        and (%(subjects)s::text[] is null or p.subject_id = any(%(subjects)s))) x
where s.tenant_id = %(tenant)s and s.subject_id = x.subject_id and s.session_id = x.session_id
returning s.session_id

-- name: postpone
-- Postpone a session that could not be flushed; its turns stay in the buffer.
update ops.sessions s set flush_at = %(until)s, expires_at = greatest(s.expires_at, %(until)s)
where s.tenant_id = %(tenant)s and s.subject_id = %(subject)s and s.session_id = %(session)s
