-- name: read_turns
-- The next turns in id order that no extract run has read, each looked up by its key (`offset 0`). `asked`: for a short
-- turn the end of what somebody else said before it; the reader reads its last tokens.
select t.id::text, t.subject_id, t.session_id, t.role, t.speaker, t.said_at, t.text, t.tool_calls::text,
       case when t.text <> '' and length(t.text) <= %(reply_characters)s then (
           select right(p.text, 400) from (select p.text, p.role, p.speaker from log.turns p
                               where p.tenant_id = t.tenant_id and p.subject_id = t.subject_id and p.session_id = t.session_id
                                 and (p.said_at, p.turn_index, p.id) < (t.said_at, t.turn_index, t.id)
                               order by p.said_at desc, p.turn_index desc, p.id desc limit 1) p
           where p.role in ('user', 'assistant') and (p.role, p.speaker) is distinct from (t.role, t.speaker)) end as asked
from log.turns t
where t.tenant_id = %(tenant)s
  and t.id > %(after)s
  and t.said_at <= %(as_of)s
  and t.shard >= %(shard_from)s and t.shard < %(shard_to)s
  and (%(subjects)s::text[] is null or t.subject_id = any(%(subjects)s))
  and (%(since)s::timestamptz is null or t.said_at >= %(since)s)
  and (%(until)s::timestamptz is null or t.said_at < %(until)s)
  and not exists (select from memory.extractions e where e.tenant_id = t.tenant_id and e.turn_id = t.id offset 0)
order by t.id
limit %(limit)s

-- name: write_extractions
-- Record the decision on each turn; an earlier one stays. A turn that a model may read waits for it.
insert into memory.extractions (tenant_id, turn_id, subject_id, candidates, left_out, reason, unread, waits, reader, run_id)
select %(tenant)s, x.turn_id, x.subject_id, x.candidates, x.left_out, x.reason, case when x.waits then 'unasked' end, x.waits,
       x.reader, %(run_id)s
from unnest(%(turn_ids)s::uuid[], %(subject_ids)s::text[], %(candidates)s::int[], %(left_out)s::int[],
            %(reasons)s::text[], %(waits)s::boolean[], %(readers)s::text[])
    as x (turn_id, subject_id, candidates, left_out, reason, waits, reader)
on conflict do nothing

-- name: note_days
-- Note the days of turns that were just read. The row is locked, so that a run that works on the day waits for these turns.
insert into memory.signal_days as d (tenant_id, subject_id, day, turns)
select %(tenant)s, x.subject_id, (x.at at time zone 'UTC')::date, count(*)
from unnest(%(subject_ids)s::text[], %(times)s::timestamptz[]) as x (subject_id, at)
group by 2, 3
order by 2, 3
on conflict (tenant_id, subject_id, day) do update set turns = d.turns + excluded.turns

-- name: write_entities
-- Write the entities of turns with or without a memory. Ordered, so that two writers wait and do not deadlock.
insert into memory.entities (tenant_id, id, subject_id, type, slug, label, terms, first_seen_at)
select %(tenant)s, ops.entity_id(%(tenant)s, x.subject_id, x.mention), x.subject_id, split_part(x.mention, ':', 1),
       split_part(x.mention, ':', 2), initcap(replace(split_part(x.mention, ':', 2), '-', ' ')),
       tsvector_to_array(to_tsvector(%(language)s::regconfig, replace(split_part(x.mention, ':', 2), '-', ' '))),
       x.first_seen_at
from unnest(%(subject_ids)s::text[], %(mentions)s::text[], %(first_seen_at)s::timestamptz[])
    as x (subject_id, mention, first_seen_at)
order by 2
on conflict (tenant_id, id) do update set first_seen_at = excluded.first_seen_at
where memory.entities.first_seen_at > excluded.first_seen_at

-- name: read_waiting
-- The next turns in id order for a model to read, each with the turns shortly before it in its session, the nearest first.
select t.id, t.subject_id, t.session_id, coalesce(t.speaker, initcap(t.role)), t.speaker, t.said_at, t.text,
       coalesce(b.ids, '{}'), coalesce(b.speakers, '{}'), coalesce(b.texts, '{}')
from memory.extractions e
join log.turns t on t.tenant_id = e.tenant_id and t.id = e.turn_id
left join lateral (
    select array_agg(c.id order by c.said_at desc, c.turn_index desc, c.id desc) as ids,
           array_agg(c.speaker order by c.said_at desc, c.turn_index desc, c.id desc) as speakers,
           array_agg(c.text order by c.said_at desc, c.turn_index desc, c.id desc) as texts
    from (select p.id, p.said_at, p.turn_index, coalesce(p.speaker, initcap(p.role)) as speaker,
                 left(p.text, %(context_characters)s) as text
          from log.turns p
          where p.tenant_id = t.tenant_id and p.subject_id = t.subject_id and p.session_id = t.session_id
            and (p.said_at, p.turn_index, p.id) < (t.said_at, t.turn_index, t.id)
            and p.text <> '' and p.role in ('user', 'assistant')
          order by p.said_at desc, p.turn_index desc, p.id desc
          limit %(context_turns)s) c
) b on true
where e.tenant_id = %(tenant)s and e.waits and e.turn_id > %(after)s
  and (%(subjects)s::text[] is null or e.subject_id = any(%(subjects)s))
  and t.said_at <= %(as_of)s
  and t.shard >= %(shard_from)s and t.shard < %(shard_to)s
  and (%(since)s::timestamptz is null or t.said_at >= %(since)s)
  and (%(until)s::timestamptz is null or t.said_at < %(until)s)
order by e.turn_id
limit %(limit)s

-- name: hold_waiting
-- Lock those of them that nobody has settled meanwhile, and whose shown turns (`before_ids`, each of the turn at its place in
-- `after_ids`) are still there: a claim may have words of an erased one. Ordered, so that two writers wait and do not deadlock.
select e.turn_id from memory.extractions e
where e.tenant_id = %(tenant)s and e.turn_id = any(%(turn_ids)s) and e.waits
  and e.turn_id <> all(array(
      select x.after_id from unnest(%(after_ids)s::uuid[], %(before_ids)s::uuid[]) as x (after_id, before_id)
      where not exists (select from log.turns t where t.tenant_id = %(tenant)s and t.id = x.before_id offset 0)))
order by e.turn_id
for update

-- name: read_found
-- Memories that the reader found in turns: in force, merged or superseded.
select m.id, m.turn_id, m.content, m.polarity, m.confidence, m.relation, m.object, m.who, m.topic, m.phase
from unnest(%(turn_ids)s::uuid[]) as x (turn_id)
cross join lateral (
    select l.memory_id from memory.lineage l
    where l.tenant_id = %(tenant)s and l.source_id = x.turn_id and l.relation = 'extracted' offset 0) l
cross join lateral (
    select * from memory.memories m where m.tenant_id = %(tenant)s and m.id = l.memory_id offset 0) m
where m.origin = any(%(origins)s) and m.relation is not null and m.confidence is not null
order by m.id

-- name: read_withheld
-- Those of these turns that an applied correction withholds. Marks of a correction that is still to be applied do not count:
-- it will forget what merge joins to the wrong memory until then, in a rebuild as well.
select distinct k.item_id from memory.marks k
where k.tenant_id = %(tenant)s and k.subject_id = any(%(subject_ids)s) and k.item_id = any(%(turn_ids)s)
  and k.mark <> 'pinned' and not k.pending

-- name: write_agreed
-- Set the confidence of the reader's memories with which a language model agrees, and of the structured facts they state. The
-- stage facts decides on them again: own words with which a model agrees may be a structured fact.
with surer as (
    update memory.memories m set agreed = x.agreed, structured = false
    from unnest(%(ids)s::uuid[], %(agreed)s::float8[]) as x (id, agreed)
    where m.tenant_id = %(tenant)s and m.id = x.id
    returning m.id, m.agreed
)
update memory.structured_facts f set confidence = s.agreed
from surer s
where f.tenant_id = %(tenant)s and f.memory_id = s.id

-- name: write_readings
-- Record the result of asking about each turn.
update memory.extractions e
set candidates = e.candidates + x.candidates, reason = case when e.candidates + x.candidates = 0 then e.reason end,
    discarded = x.discarded, model = x.model, unread = x.unread, waits = x.waits
from unnest(%(turn_ids)s::uuid[], %(candidates)s::int[], %(discarded)s::int[], %(models)s::text[], %(unread)s::text[],
            %(waits)s::boolean[])
    as x (turn_id, candidates, discarded, model, unread, waits)
where e.tenant_id = %(tenant)s and e.turn_id = x.turn_id

-- name: stop_waiting
-- Let turns that were captured live and not asked about stay as the rules read them: there is no model.
update memory.extractions e set unread = null, waits = false
from log.turns t
where e.tenant_id = %(tenant)s and e.waits and e.unread = 'unasked'
  and (%(subjects)s::text[] is null or e.subject_id = any(%(subjects)s))
  and t.tenant_id = e.tenant_id and t.id = e.turn_id and t.said_at <= %(as_of)s
  and t.shard >= %(shard_from)s and t.shard < %(shard_to)s
  and (%(since)s::timestamptz is null or t.said_at >= %(since)s)
  and (%(until)s::timestamptz is null or t.said_at < %(until)s)

-- name: count_waiting
-- The number of turns that wait for a model.
select count(*)
from memory.extractions e
join log.turns t on t.tenant_id = e.tenant_id and t.id = e.turn_id
where e.tenant_id = %(tenant)s and e.waits
  and (%(subjects)s::text[] is null or e.subject_id = any(%(subjects)s))
  and t.said_at <= %(as_of)s
  and t.shard >= %(shard_from)s and t.shard < %(shard_to)s
  and (%(since)s::timestamptz is null or t.said_at >= %(since)s)
  and (%(until)s::timestamptz is null or t.said_at < %(until)s)

-- name: list_events
-- The next events in id order that no extract run has read, of the types that extract reads, with the size of each in bytes.
-- Many at a time, because the planner may go through all events of the tenant; each is looked up by its key (`offset 0`),
-- because with statistics it would go through all earlier ones as well.
select e.id, octet_length(e.content)
from log.events e
where e.tenant_id = %(tenant)s
  and e.id > %(after)s
  and e.observed_at <= %(as_of)s
  and e.type = any(%(types)s)
  and e.shard >= %(shard_from)s and e.shard < %(shard_to)s
  and (%(subjects)s::text[] is null or e.subject_id = any(%(subjects)s))
  and (%(since)s::timestamptz is null or e.observed_at >= %(since)s)
  and (%(until)s::timestamptz is null or e.observed_at < %(until)s)
  and not exists (select from memory.observations o where o.tenant_id = e.tenant_id and o.event_id = e.id offset 0)
order by e.id
limit %(limit)s

-- name: read_events
-- Those of these events that no other run has read meanwhile.
select e.id, e.subject_id, e.session_id, e.type, e.content, e.hint, e.observed_at, e.ends_at
from unnest(%(ids)s::uuid[]) as x (id)
cross join lateral (select * from log.events e where e.tenant_id = %(tenant)s and e.id = x.id offset 0) e
where not exists (select from memory.observations o where o.tenant_id = %(tenant)s and o.event_id = x.id offset 0)
order by e.id

-- name: write_observations
-- Record the decision on each event; an earlier one stays.
insert into memory.observations (tenant_id, event_id, subject_id, candidates, discarded, reason, run_id)
select %(tenant)s, x.event_id, x.subject_id, x.candidates, x.discarded, x.reason, %(run_id)s
from unnest(%(event_ids)s::uuid[], %(subject_ids)s::text[], %(candidates)s::int[], %(discarded)s::int[],
            %(reasons)s::text[]) as x (event_id, subject_id, candidates, discarded, reason)
on conflict do nothing

-- name: note_late
-- Note subjects of whom something was read after cycles had passed its time.
insert into ops.late_subjects (tenant_id, subject_id, happened_at)
select %(tenant)s, l.subject_id, l.happened_at
from ops.late_among(%(tenant)s, %(subject_ids)s::text[], %(times)s::timestamptz[]) l
on conflict (tenant_id, subject_id) do update set happened_at = least(ops.late_subjects.happened_at, excluded.happened_at)
