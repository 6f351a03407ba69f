-- name: act_as_eraser
-- Act, until the transaction ends, as the only role that may delete from the log.
set local role reverie_eraser

-- name: act_as_worker
-- Act as the worker again: the eraser may not write marks.
set local role reverie_worker

-- name: copies
-- The tenant's generations that have a database.
select number, database from ops.generations where tenant_id = %(tenant)s and state <> 'dropped' order by number

-- name: note_dropped
-- Record that the database of a generation is gone.
update ops.generations set state = 'dropped' where tenant_id = %(tenant)s and number = %(number)s

-- name: lock_running
-- Wait for flushes of these subjects' sessions, and prevent new ones meanwhile.
select from ops.sessions where tenant_id = %(tenant)s and subject_id = any(%(subjects)s)
order by subject_id, session_id for update

-- name: sessions_of
-- The sessions of these subjects, in the log and in the buffer.
select subject_id, session_id from log.turns where tenant_id = %(tenant)s and subject_id = any(%(subjects)s)
union
select subject_id, session_id from ops.pending_turns where tenant_id = %(tenant)s and subject_id = any(%(subjects)s)

-- name: find_item
-- The subject of a turn or event.
select subject_id from log.turns where tenant_id = %(tenant)s and id = %(id)s
union all
select subject_id from ops.pending_turns where tenant_id = %(tenant)s and id = %(id)s
union all
select subject_id from log.events where tenant_id = %(tenant)s and id = %(id)s
limit 1

-- name: find_memory
-- The subject of a memory: kept, forgotten, or a replacement not yet made.
select subject_id from memory.memories where tenant_id = %(tenant)s and id = %(id)s
union all
select subject_id from memory.tombstones where tenant_id = %(tenant)s and memory_id = %(id)s
union all
select subject_id from memory.replacements where tenant_id = %(tenant)s and id = %(id)s
limit 1

-- name: find_session
-- The subjects with a session of this name.
select subject_id from log.turns where tenant_id = %(tenant)s and session_id = %(session)s
union
select subject_id from ops.pending_turns where tenant_id = %(tenant)s and session_id = %(session)s
union
select subject_id from log.events where tenant_id = %(tenant)s and session_id = %(session)s
union
select subject_id from ops.sessions where tenant_id = %(tenant)s and session_id = %(session)s
order by 1

-- name: knows_subject
-- Whether anything about a subject is stored that an erasure deletes: a consent that refuses capture or recall stays.
select exists (select from log.turns where tenant_id = %(tenant)s and subject_id = %(subject)s)
    or exists (select from log.events where tenant_id = %(tenant)s and subject_id = %(subject)s)
    or exists (select from log.recalls where tenant_id = %(tenant)s and subject_id = %(subject)s)
    or exists (select from log.contexts where tenant_id = %(tenant)s and subject_id = %(subject)s)
    or exists (select from log.outcomes where tenant_id = %(tenant)s and subject_id = %(subject)s)
    or exists (select from log.corrections where tenant_id = %(tenant)s and subject_id = %(subject)s)
    or exists (select from log.moods where tenant_id = %(tenant)s and subject_id = %(subject)s)
    or exists (select from ops.pending_turns where tenant_id = %(tenant)s and subject_id = %(subject)s)
    or exists (select from ops.sessions where tenant_id = %(tenant)s and subject_id = %(subject)s)
    or exists (select from ops.replies where tenant_id = %(tenant)s and subject_id = %(subject)s)
    or exists (select from ops.dead_letters where tenant_id = %(tenant)s and subject_id = %(subject)s)
    or exists (select from ops.late_subjects where tenant_id = %(tenant)s and subject_id = %(subject)s)
    or exists (select from ops.store_items where tenant_id = %(tenant)s and namespace && array[%(subject)s::text])
    or exists (select from ops.consents where tenant_id = %(tenant)s and subject_id = %(subject)s and capture and recall)
    or exists (select from memory.subjects where tenant_id = %(tenant)s and subject_id = %(subject)s)

-- name: subjects_after
-- The next subjects of a tenant about whom anything is stored, ordered by name, with the labels of the key-value store, each of
-- which may be one. Each table gives its next ones by its index; all together, they would be read again for each batch.
select subject_id from (
    (select distinct subject_id from log.turns where tenant_id = %(tenant)s and subject_id > %(after)s
     order by subject_id limit %(limit)s)
    union all
    (select distinct subject_id from log.events where tenant_id = %(tenant)s and subject_id > %(after)s
     order by subject_id limit %(limit)s)
    union all
    (select distinct subject_id from log.recalls where tenant_id = %(tenant)s and subject_id > %(after)s
     order by subject_id limit %(limit)s)
    union all
    (select distinct subject_id from log.contexts where tenant_id = %(tenant)s and subject_id > %(after)s
     order by subject_id limit %(limit)s)
    union all
    (select distinct subject_id from log.outcomes where tenant_id = %(tenant)s and subject_id > %(after)s
     order by subject_id limit %(limit)s)
    union all
    (select distinct subject_id from log.corrections where tenant_id = %(tenant)s and subject_id > %(after)s
     order by subject_id limit %(limit)s)
    union all
    (select distinct subject_id from log.moods where tenant_id = %(tenant)s and subject_id > %(after)s
     order by subject_id limit %(limit)s)
    union all
    (select distinct subject_id from ops.pending_turns where tenant_id = %(tenant)s and subject_id > %(after)s
     order by subject_id limit %(limit)s)
    union all
    (select distinct subject_id from ops.sessions where tenant_id = %(tenant)s and subject_id > %(after)s
     order by subject_id limit %(limit)s)
    union all
    (select distinct subject_id from ops.replies where tenant_id = %(tenant)s and subject_id > %(after)s
     order by subject_id limit %(limit)s)
    union all
    (select distinct subject_id from ops.dead_letters where tenant_id = %(tenant)s and subject_id > %(after)s
     order by subject_id limit %(limit)s)
    union all
    (select distinct subject_id from memory.subjects where tenant_id = %(tenant)s and subject_id > %(after)s
     order by subject_id limit %(limit)s)
    union all
    select label from (select unnest(namespace) as label from ops.store_items where tenant_id = %(tenant)s) l
    where label > %(after)s) s
group by subject_id
order by subject_id
limit %(limit)s

-- name: read_turns
-- Turns of these subjects, in the log and in the buffer: all, those of a session, those with some ids, or those said before
-- a time.
select t.id, t.subject_id, t.session_id, t.source_id, t.said_at, t.speaker, t.text
from log.turns t
where t.tenant_id = %(tenant)s and t.subject_id = any(%(subjects)s)
  and (%(session)s::text is null or t.session_id = %(session)s)
  and (%(ids)s::uuid[] is null or t.id = any(%(ids)s))
  and (%(before)s::timestamptz is null or t.said_at < %(before)s)
union all
select p.id, p.subject_id, p.session_id, p.source_id, p.said_at, p.speaker, p.text
from ops.pending_turns p
where p.tenant_id = %(tenant)s and p.subject_id = any(%(subjects)s)
  and (%(session)s::text is null or p.session_id = %(session)s)
  and (%(ids)s::uuid[] is null or p.id = any(%(ids)s))
  and (%(before)s::timestamptz is null or p.said_at < %(before)s)

-- name: read_events
-- Events of these subjects, selected in the same way.
select e.id, e.subject_id, e.source_id, e.observed_at
from log.events e
where e.tenant_id = %(tenant)s and e.subject_id = any(%(subjects)s)
  and (%(session)s::text is null or e.session_id = %(session)s)
  and (%(ids)s::uuid[] is null or e.id = any(%(ids)s))
  and (%(before)s::timestamptz is null or e.observed_at < %(before)s)

-- name: rests_on
-- The turns and events from which a memory and those merged into it were extracted, each with the number of other memories
-- extracted from it.
with recursive held as (
    select %(memory)s::uuid as id
    union
    select x.id from held h
    cross join lateral (
        select l.source_id as id from memory.lineage l
        where l.tenant_id = %(tenant)s and l.memory_id = h.id and l.relation = 'merged' and l.source = 'memory'
        union all
        select m.id from memory.memories m where m.tenant_id = %(tenant)s and m.into_id = h.id and m.state = 'merged') x
)
select l.source_id, count(o.memory_id)
from held h
join memory.lineage l on l.tenant_id = %(tenant)s and l.memory_id = h.id and l.relation = 'extracted' and l.source in ('turn', 'event')
left join memory.lineage o on o.tenant_id = %(tenant)s and o.source_id = l.source_id and o.relation = 'extracted'
    and o.memory_id not in (select id from held)
group by l.source_id
order by l.source_id

-- name: read_gone
-- Memories extracted from these turns and events alone, each with the memories merged into it that are not among them.
with gone as materialized (
    select distinct l.memory_id as id from memory.lineage l
    where l.tenant_id = %(tenant)s and l.source_id = any(%(items)s) and l.relation = 'extracted'
      and not exists (select from memory.lineage o
                      where o.tenant_id = %(tenant)s and o.memory_id = l.memory_id and o.relation = 'extracted'
                        and o.source_id <> all(%(items)s))
)
select g.id, array(
    with recursive held as (
        select g.id as id
        union
        select x.id from held h
        cross join lateral (
            select l.source_id as id from memory.lineage l
            where l.tenant_id = %(tenant)s and l.memory_id = h.id and l.relation = 'merged' and l.source = 'memory'
            union all
            select m.id from memory.memories m where m.tenant_id = %(tenant)s and m.into_id = h.id and m.state = 'merged') x
    )
    select h.id from held h where h.id not in (select id from gone) order by h.id)
from gone g

-- name: read_corrections
-- Corrections of a subject's memories, each with the memory that is its replacement, if there is one, and whether its own memory
-- was not made and rested on these items alone.
select c.id, c.kind, c.memory_id, c.other_id, c.corrected_at, coalesce(l.memory_id, r.id),
       coalesce(c.source_ids <@ %(items)s::uuid[], false)
       and not exists (select from memory.lineage m where m.tenant_id = c.tenant_id and m.memory_id = c.memory_id)
       and not exists (select from memory.replacements w
                       where w.tenant_id = c.tenant_id and w.subject_id = c.subject_id and w.id = c.memory_id)
from log.corrections c
left join memory.lineage l on l.tenant_id = c.tenant_id and l.source_id = c.id and l.relation = 'corrected'
left join memory.replacements r on r.tenant_id = c.tenant_id and r.subject_id = c.subject_id and r.correction_id = c.id
where c.tenant_id = %(tenant)s and c.subject_id = any(%(subjects)s)
order by c.corrected_at, c.id

-- name: read_hashes
-- Hashes of all texts made from these items, at any depth, or of all memories of these subjects.
with recursive made as (
    select unnest(%(items)s::uuid[]) as id
    union
    select l.memory_id from made d
    join memory.lineage l on l.tenant_id = %(tenant)s and l.source_id = d.id
)
select m.content_hash from memory.memories m
where m.tenant_id = %(tenant)s and m.subject_id = any(%(subjects)s) and (%(whole)s or m.id in (select id from made))
union
select f.content_hash from memory.tombstones f
where f.tenant_id = %(tenant)s and f.subject_id = any(%(subjects)s) and (%(whole)s or f.memory_id in (select id from made))
union
select decode(c.hash, 'hex')
from ops.pending_turns p
cross join lateral jsonb_to_recordset(p.candidates) as c (hash text)
where p.tenant_id = %(tenant)s and p.subject_id = any(%(subjects)s) and (%(whole)s or p.id = any(%(items)s)) and c.hash is not null

-- name: read_letters
-- Dead letters of records that may be of one of these subjects: the import named it, or named none and the record contains it.
-- The last column is the name of the subject's id in the records of the source, as its last import read them.
select d.id, d.subject_id, d.payload, coalesce(s.mapping ->> 'subject_id', 'subject_id')
from ops.dead_letters d
left join ops.sources s on s.tenant_id = d.tenant_id and s.name = d.source
where d.tenant_id = %(tenant)s and d.payload is not null
  and (d.subject_id = any(%(subjects)s)
       or d.subject_id is null and exists (select from unnest(%(needles)s::bytea[]) n where position(n in d.payload) > 0))

-- name: mark
-- Remember erased items by keyed hash, so that they are not captured again.
insert into ops.erased (tenant_id, mark, erasure_id)
select %(tenant)s, m.mark, %(erasure)s
from (select ops.mark_of('turn', array[x.subject_id, x.session_id, x.source_id]) as mark
      from unnest(%(turn_subjects)s::text[], %(turn_sessions)s::text[], %(turn_sources)s::text[])
          as x (subject_id, session_id, source_id)
      union
      select ops.mark_of('event', array[x.subject_id, x.source_id])
      from unnest(%(event_subjects)s::text[], %(event_sources)s::text[]) as x (subject_id, source_id)) m
where m.mark is not null
on conflict do nothing

-- name: log.turns
-- Deletions and redactions, by table. `whole`: everything of these subjects; otherwise the turns and events of `ids`, the
-- items of `items` (these, and the memories made from them alone), and rows from before a time.
delete from log.turns
where tenant_id = %(tenant)s and subject_id = any(%(subjects)s) and (%(whole)s or id = any(%(ids)s))

-- name: log.events
delete from log.events
where tenant_id = %(tenant)s and subject_id = any(%(subjects)s) and (%(whole)s or id = any(%(ids)s))

-- name: log.moods
delete from log.moods
where tenant_id = %(tenant)s and subject_id = any(%(subjects)s) and (%(whole)s or turn_id = any(%(ids)s))

-- name: log.acknowledgements
-- Triggers are made again from what is left, with the same ids if their cause is left.
delete from log.acknowledgements
where tenant_id = %(tenant)s and subject_id = any(%(subjects)s) and (%(whole)s or acted_at < %(before)s::timestamptz)

-- name: announce_erased
-- Tell subscribers which announced memories were erased: by id alone, without a subject.
insert into ops.outbox (tenant_id, id, subscription_id, subject_id, event, item_id, payload, made_at, due_at)
select a.tenant_id, md5(s.id::text || a.memory_id::text || 'memory.erased')::uuid, s.id, null, 'memory.erased', a.memory_id,
       jsonb_build_object('type', 'memory.erased', 'timestamp', %(at)s::timestamptz,
                          'data', jsonb_build_object('memory_id', a.memory_id)),
       %(at)s, %(at)s
from ops.announced a
join ops.subscriptions s on s.tenant_id = a.tenant_id and s.ended_at is null and 'memory.erased' = any(s.events)
where a.tenant_id = %(tenant)s and a.subject_id = any(%(subjects)s) and (%(whole)s or a.memory_id = any(%(items)s))
on conflict do nothing

-- name: ops.outbox
-- Messages about these subjects, and about erased items.
delete from ops.outbox
where tenant_id = %(tenant)s and subject_id = any(%(subjects)s)
  and (%(whole)s or item_id = any(%(items)s) or event = 'trigger.due')

-- name: ops.announced
-- Records of memories announced to subscribers.
delete from ops.announced
where tenant_id = %(tenant)s and subject_id = any(%(subjects)s) and (%(whole)s or memory_id = any(%(items)s))

-- name: log.outcomes
-- Outcomes of erased decisions.
delete from log.outcomes
where tenant_id = %(tenant)s and subject_id = any(%(subjects)s)
  and (%(whole)s or observed_at < %(before)s::timestamptz
       or (subject_id, session_id, source_id) in (
              select * from unnest(%(turn_subjects)s::text[], %(turn_sessions)s::text[], %(turn_sources)s::text[])))

-- name: log.corrections
delete from log.corrections
where tenant_id = %(tenant)s and subject_id = any(%(subjects)s) and (%(whole)s or id = any(%(void)s))

-- name: log.contexts
-- Nothing reads contexts again, so those with an erased item are deleted whole.
delete from log.contexts
where tenant_id = %(tenant)s and subject_id = any(%(subjects)s)
  and (%(whole)s or assembled_at < %(before)s::timestamptz or item_ids && %(items)s::uuid[] or dropped_ids && %(items)s::uuid[])

-- name: log.recalls
delete from log.recalls
where tenant_id = %(tenant)s and subject_id = any(%(subjects)s) and (%(whole)s or asked_at < %(before)s::timestamptz)

-- name: strip_recalls
-- Keep who asked and when. Questions asked since may quote erased text and are deleted; so are the ids of erased items.
update log.recalls
set question = case when asked_at >= %(since)s::timestamptz then '' else question end,
    item_ids = array(select i.id from unnest(item_ids) with ordinality as i (id, place)
                     where i.id <> all(%(items)s::uuid[]) order by i.place)
where tenant_id = %(tenant)s and subject_id = any(%(subjects)s) and not %(whole)s
  and (asked_at >= %(since)s::timestamptz and question <> '' or item_ids && %(items)s::uuid[])

-- name: move_corrections
-- Move corrections of an erased memory to the one that was merged into it.
update log.corrections c set memory_id = x.memory_id
from unnest(%(moved)s::uuid[], %(moved_to)s::uuid[]) as x (id, memory_id)
where c.tenant_id = %(tenant)s and c.id = x.id

-- name: strip_corrections
-- Remove erased turns and events from corrections that hold for others.
update log.corrections
set source_ids = array(select s.id from unnest(source_ids) with ordinality as s (id, place)
                       where s.id <> all(%(items)s::uuid[]) order by s.place)
where tenant_id = %(tenant)s and subject_id = any(%(subjects)s) and source_ids && %(items)s::uuid[]

-- name: ops.pending_turns
delete from ops.pending_turns
where tenant_id = %(tenant)s and subject_id = any(%(subjects)s) and (%(whole)s or id = any(%(ids)s))

-- name: ops.sessions
-- A session without turns is over; the caller's own notes on it are deleted with it.
delete from ops.sessions s
where s.tenant_id = %(tenant)s and s.subject_id = any(%(subjects)s)
  and (%(whole)s or s.session_id = any(%(sessions)s)
       and not exists (select from ops.pending_turns p
                       where p.tenant_id = s.tenant_id and p.subject_id = s.subject_id and p.session_id = s.session_id)
       and not exists (select from log.turns t
                       where t.tenant_id = s.tenant_id and t.subject_id = s.subject_id and t.session_id = s.session_id))

-- name: strip_sessions
-- Remove erased turns from the entries of running sessions.
update ops.sessions s
set mood = null,
    stated = coalesce((select jsonb_agg(e.value order by e.place) from jsonb_array_elements(s.stated) with ordinality as e (value, place)
                       where (e.value ->> 'turn_id')::uuid <> all(%(ids)s::uuid[])), '[]')
where s.tenant_id = %(tenant)s and s.subject_id = any(%(subjects)s) and not %(whole)s and s.session_id = any(%(sessions)s)

-- name: ops.answers
-- Answers of our own models about a subject: an erased statement or question may have been shown with what stays.
delete from ops.answers a
using log.turns t
where a.tenant_id = %(tenant)s and t.tenant_id = a.tenant_id and t.id = a.turn_id and t.subject_id = any(%(subjects)s)

-- name: ops.queue
delete from ops.queue q
where q.tenant_id = %(tenant)s and q.subject_id = any(%(subjects)s)
  and (%(whole)s or q.session_id = any(%(sessions)s)
       and not exists (select from log.turns t
                       where t.tenant_id = q.tenant_id and t.subject_id = q.subject_id and t.session_id = q.session_id))

-- name: ops.reviews
delete from ops.reviews
where tenant_id = %(tenant)s and subject_id = any(%(subjects)s) and (%(whole)s or turn_id = any(%(ids)s))

-- name: ops.dead_letters
delete from ops.dead_letters
where tenant_id = %(tenant)s
  and (%(whole)s and subject_id = any(%(subjects)s) or id = any(%(letters)s) or item = any(%(items)s::uuid[]::text[])
       or not %(whole)s and subject_id = any(%(subjects)s) and session_id = any(%(sessions)s))

-- name: ops.replies
-- For a part of a subject: every reply to a request that showed anything but kept turns, because summaries, patterns and
-- profiles pass words on.
delete from ops.replies r
where r.tenant_id = %(tenant)s and r.subject_id = any(%(subjects)s)
  and (%(whole)s or cardinality(r.source_ids) = 0
       or exists (select from unnest(r.source_ids) s
                  where not exists (select from log.turns t where t.tenant_id = r.tenant_id and t.id = s)
                    and not exists (select from ops.pending_turns p where p.tenant_id = r.tenant_id and p.id = s)))

-- name: ops.embeddings
-- Vectors of erased texts. If another text is the same, its vector is made again when it is next needed.
delete from ops.embeddings where tenant_id = %(tenant)s and content_hash = any(%(hashes)s)

-- name: ops.late_subjects
-- The memory of these subjects is emptied; if it is made again, that is in event order.
delete from ops.late_subjects where tenant_id = %(tenant)s and subject_id = any(%(subjects)s)

-- name: ops.connection_tools
delete from ops.connection_tools where tenant_id = %(tenant)s and subject_id = any(%(subjects)s) and %(whole)s

-- name: ops.subject_credits
delete from ops.subject_credits where tenant_id = %(tenant)s and subject_id = any(%(subjects)s) and %(whole)s

-- name: ops.store_items
-- Items whose namespace contains the subject and, for a part of a subject, one of the sessions. A session may go on for longer
-- than data is retained, and an item may be new: a retention leaves items.
delete from ops.store_items
where tenant_id = %(tenant)s and namespace && %(subjects)s::text[]
  and (%(whole)s or %(before)s::timestamptz is null and namespace && %(sessions)s::text[])

-- name: ops.consents
-- Refusals stay.
delete from ops.consents where tenant_id = %(tenant)s and subject_id = any(%(subjects)s) and %(whole)s and capture and recall

-- name: strip_calls
-- Keep the cost of calls, without their subject.
update ops.calls set subject_id = null where tenant_id = %(tenant)s and subject_id = any(%(subjects)s) and %(whole)s

-- name: strip_states
-- Readers of the feed learn of the erasure by an id that names nobody.
update ops.state_versions set subject_id = null
where tenant_id = %(tenant)s and subject_id = any(%(subjects)s) and %(whole)s

-- name: strip_runs
-- Keep the ledger of runs, without these subjects in their scopes.
update ops.runs r set scope = jsonb_set(r.scope, '{subjects}', (r.scope -> 'subjects') - %(subjects)s::text[])
where r.tenant_id = %(tenant)s and %(whole)s and r.scope -> 'subjects' ?| %(subjects)s::text[]

-- name: delete_subjects
-- Delete subjects that have nothing left in the log.
delete from memory.subjects s
where s.tenant_id = %(tenant)s and s.subject_id = any(%(subjects)s)
  and not exists (select from log.turns t where t.tenant_id = s.tenant_id and t.subject_id = s.subject_id)
  and not exists (select from log.events e where e.tenant_id = s.tenant_id and e.subject_id = s.subject_id)
returning s.subject_id

-- name: still_logged
-- Those of these subjects that have something left in the log.
select x.subject_id from unnest(%(subjects)s::text[]) as x (subject_id)
where exists (select from log.turns t where t.tenant_id = %(tenant)s and t.subject_id = x.subject_id)
   or exists (select from log.events e where e.tenant_id = %(tenant)s and e.subject_id = x.subject_id)

-- name: tenant_tables
-- All tables with rows of a tenant, except those of receipts.
select n.nspname || '.' || c.relname
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('log', 'memory', 'ops') and c.relkind in ('r', 'p')
  and n.nspname || '.' || c.relname <> all (array['ops.migrations', 'ops.erasures', 'ops.erased', 'ops.erasure_keys', 'ops.tenants'])
order by 1

-- name: has_rows
-- Whether one table has a row of a tenant.
select exists (select from {table} where tenant_id = %(tenant)s)

-- name: delete_all
-- Delete a tenant's rows of one table.
delete from {table} where tenant_id = %(tenant)s

-- name: delete_tenant
-- Delete the tenant itself.
delete from ops.tenants where tenant_id = %(tenant)s

-- name: came_back
-- Whether a subject was there again after its erasure: it has a turn or event that was not erased, or working memory, a question
-- or a key-value item since then.
select exists (select from log.turns t
               where t.tenant_id = %(tenant)s and t.subject_id = %(subject)s
                 and not ops.is_erased('turn', array[t.subject_id, t.session_id, t.source_id]))
    or exists (select from ops.pending_turns p
               where p.tenant_id = %(tenant)s and p.subject_id = %(subject)s
                 and not ops.is_erased('turn', array[p.subject_id, p.session_id, p.source_id]))
    or exists (select from log.events e
               where e.tenant_id = %(tenant)s and e.subject_id = %(subject)s
                 and not ops.is_erased('event', array[e.subject_id, e.source_id]))
    or exists (select from ops.sessions s
               where s.tenant_id = %(tenant)s and s.subject_id = %(subject)s and s.touched_at > %(since)s)
    or exists (select from log.recalls r
               where r.tenant_id = %(tenant)s and r.subject_id = %(subject)s and r.asked_at > %(since)s)
    or exists (select from ops.store_items i
               where i.tenant_id = %(tenant)s and i.namespace && array[%(subject)s::text] and i.updated_at > %(since)s)

-- name: is_older
-- Whether a tenant was there before its erasure, as in a database restored from a backup, and has not come back since.
select exists (select from ops.tenants where tenant_id = %(tenant)s and created_at <= %(since)s)

-- name: erased_again
-- Turns and events that were erased but are in the log, as in a database restored from a backup.
select t.subject_id, t.id from log.turns t
where t.tenant_id = %(tenant)s and ops.is_erased('turn', array[t.subject_id, t.session_id, t.source_id])
union all
select p.subject_id, p.id from ops.pending_turns p
where p.tenant_id = %(tenant)s and ops.is_erased('turn', array[p.subject_id, p.session_id, p.source_id])
union all
select e.subject_id, e.id from log.events e
where e.tenant_id = %(tenant)s and ops.is_erased('event', array[e.subject_id, e.source_id])
