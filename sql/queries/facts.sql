-- name: read_evidence
-- Memories that state something and that score has not marked as done (with `undecided`, only undecided ones), and those to
-- decide on again because a person corrected or separated something.
select m.id, m.subject_id, m.relation, m.phase
from memory.memories m
where m.tenant_id = %(tenant)s and not m.scored and m.state <> 'candidate' and not (%(undecided)s and m.structured)
  and (m.relation is not null or m.stated is not null or m.origin = any(%(origins)s))
  and m.happened_at <= %(as_of)s
  and m.shard >= %(shard_from)s and m.shard < %(shard_to)s
  and (%(subjects)s::text[] is null or m.subject_id = any(%(subjects)s))
union all
select m.id, m.subject_id, m.relation, m.phase
from memory.memories m
where m.tenant_id = %(tenant)s and m.scored and not m.structured and m.valid_from is not null and m.state <> 'candidate'
  and (m.relation is not null or m.stated is not null or m.origin = any(%(origins)s))
  and m.happened_at <= %(as_of)s
  and m.shard >= %(shard_from)s and m.shard < %(shard_to)s
  and (%(subjects)s::text[] is null or m.subject_id = any(%(subjects)s))

-- name: mark_structured
-- Mark these as processed by facts: score may mark them as done.
update memory.memories set structured = true, valid_from = coalesce(valid_from, happened_at)
where tenant_id = %(tenant)s and id = any(%(evidence)s) and (not structured or valid_from is null)

-- name: read_stating
-- All memories of these subjects that state something, with their speaker and the arrival of their turn. The speaker of a
-- person's replacement is that of the memory it corrects.
select m.id, m.subject_id, case when m.state = 'merged' then m.into_id end as into_id, m.kind, m.state, m.content,
       m.polarity, m.happened_at, m.accessed_at, m.peak, m.forget_at, m.lasting, m.expires_at, m.turn_id, m.origin, m.model, m.stated,
       m.confidence, m.agreed, m.relation, m.who, m.topic, m.object, m.phase, m.valid_from, m.valid_to, m.superseded_by,
       m.ended_by, e.session_id as end_session_id, e.turn_index as end_turn_index,
       m.state = 'superseded' and m.superseded_by is distinct from m.ended_by and m.superseded_by is not null and not exists (
           select from memory.memories b where b.tenant_id = m.tenant_id and b.id = m.superseded_by) as is_end_forgotten,
       case when m.turn_id is not null then t.speaker else (
           select s.speaker
           from memory.lineage k
           join log.corrections c on c.tenant_id = k.tenant_id and c.id = k.source_id
           join memory.lineage l on l.tenant_id = c.tenant_id and l.memory_id = c.memory_id and l.relation = 'extracted'
               and l.source = 'turn'
           join log.turns s on s.tenant_id = l.tenant_id and s.id = l.source_id
           where k.tenant_id = m.tenant_id and k.memory_id = m.id and k.relation = 'corrected'
           order by s.id limit 1) end as said_by,
       t.session_id, t.turn_index
from memory.memories m
left join lateral (
    select t.speaker, t.session_id, t.turn_index from log.turns t
    where t.tenant_id = m.tenant_id and t.id = m.turn_id offset 0) t on true
left join lateral (
    select t.session_id, t.turn_index from log.turns t
    where t.tenant_id = m.tenant_id and t.id = m.ended_by and t.role <> '' offset 0) e on true
where m.tenant_id = %(tenant)s and m.subject_id = any(%(dirty)s) and m.valid_from is not null and m.structured
  and m.state <> 'candidate' and (m.relation is not null or m.stated is not null or m.origin = any(%(origins)s))
  and m.happened_at <= %(as_of)s
  and (m.relation is null or m.relation = any(%(relations)s))

-- name: read_apart
-- Pairs of memories that a person keeps apart: neither ends the other. A retracted pair counts as applied and is left out.
select c.memory_id, c.other_id from log.corrections c
where c.tenant_id = %(tenant)s and c.subject_id = any(%(dirty)s) and c.kind = 'keep_apart'
  and not exists (select from memory.corrected d where d.tenant_id = c.tenant_id and d.correction_id = c.id)

-- name: read_facts
-- The structured facts of these subjects, present and former, with the arrival of their turns, and whether the memory that
-- states each still exists.
select f.id, f.subject_id, f.speaker, f.category, f.key, f.value, f.confidence, f.importance, f.valid_from, f.valid_to,
       f.replaced_by, f.memory_id, f.turn_id, f.origin, f.model, f.relation, f.topic, f.object, f.polarity, f.expires_at,
       t.session_id, t.turn_index,
       exists (select from memory.memories m where m.tenant_id = f.tenant_id and m.id = f.memory_id) as is_stated
from memory.structured_facts f
left join lateral (
    select t.session_id, t.turn_index from log.turns t
    where t.tenant_id = f.tenant_id and t.id = f.turn_id and t.role <> '' offset 0) t on true
where f.tenant_id = %(tenant)s and f.subject_id = any(%(dirty)s)

-- name: delete_facts
-- Delete values that were never in force, as something said earlier but known since shows.
delete from memory.structured_facts where tenant_id = %(tenant)s and id = any(%(ids)s)

-- name: end_facts
-- End values, or put them in force again.
update memory.structured_facts f
set valid_to = x.valid_to, replaced_by = x.replaced_by, expires_at = x.expires_at
from unnest(%(ids)s::uuid[], %(valid_to)s::timestamptz[], %(replaced_by)s::uuid[], %(expires_at)s::timestamptz[])
    as x (id, valid_to, replaced_by, expires_at)
where f.tenant_id = %(tenant)s and f.id = x.id
  and (f.valid_to, f.replaced_by, f.expires_at) is distinct from (x.valid_to, x.replaced_by, x.expires_at)

-- name: write_facts
-- Write new values; a known one stays unchanged.
insert into memory.structured_facts (tenant_id, id, subject_id, speaker, category, key, value, confidence, importance,
                                     valid_from, valid_to, replaced_by, memory_id, turn_id, origin, model, relation, topic,
                                     object, polarity, expires_at, run_id, policy_hash)
select %(tenant)s, x.id, x.subject_id, x.speaker, x.category, x.key, x.value, x.confidence, x.importance, x.valid_from,
       x.valid_to, x.replaced_by, x.memory_id, x.turn_id, x.origin, x.model, x.relation, x.topic, x.object, x.polarity,
       x.expires_at, %(run_id)s, %(policy_hash)s
from unnest(%(ids)s::uuid[], %(subject_ids)s::text[], %(speakers)s::text[], %(categories)s::text[], %(keys)s::text[],
            %(values)s::text[], %(confidences)s::float8[], %(importances)s::float8[], %(valid_from)s::timestamptz[],
            %(valid_to)s::timestamptz[], %(replaced_by)s::uuid[], %(memory_ids)s::uuid[], %(turn_ids)s::uuid[],
            %(origins)s::text[], %(models)s::text[], %(relations)s::text[], %(topics)s::text[], %(objects)s::text[],
            %(polarities)s::smallint[], %(expires_at)s::timestamptz[])
    as x (id, subject_id, speaker, category, key, value, confidence, importance, valid_from, valid_to, replaced_by,
          memory_id, turn_id, origin, model, relation, topic, object, polarity, expires_at)
on conflict (tenant_id, id) do nothing

-- name: write_validity
-- Write the validity of memories, and what superseded them. A lasting one fades only while it is superseded: in force again,
-- it has its peak, as in a rebuild, which may run no decay in between.
update memory.memories m
set state = x.state, valid_from = x.valid_from, valid_to = x.valid_to, superseded_by = x.superseded_by,
    ended_by = x.ended_by, forget_at = x.forget_at,
    importance = case when m.lasting and x.state <> 'superseded' then m.peak else m.importance end,
    decayed_at = case when m.lasting and x.state <> 'superseded' then m.accessed_at else m.decayed_at end
from unnest(%(ids)s::uuid[], %(states)s::text[], %(valid_from)s::timestamptz[], %(valid_to)s::timestamptz[],
            %(superseded_by)s::uuid[], %(ended_by)s::uuid[], %(forget_at)s::timestamptz[])
    as x (id, state, valid_from, valid_to, superseded_by, ended_by, forget_at)
where m.tenant_id = %(tenant)s and m.id = x.id

-- name: delete_conflicts
-- Delete conflicts of these subjects that no longer exist.
delete from memory.conflicts
where tenant_id = %(tenant)s and subject_id = any(%(dirty)s)
  and (relation like '%%/%%' or relation = any(%(relations)s))
  and (memory_id, other_id, relation, reason, since) not in (
      select * from unnest(%(ids)s::uuid[], %(other_ids)s::uuid[], %(differs)s::text[], %(reasons)s::text[],
                           %(since)s::timestamptz[]))

-- name: write_conflicts
-- Write new conflicts.
insert into memory.conflicts (tenant_id, subject_id, memory_id, other_id, relation, reason, since, run_id)
select %(tenant)s, x.subject_id, x.memory_id, x.other_id, x.relation, x.reason, x.since, %(run_id)s
from unnest(%(subject_ids)s::text[], %(ids)s::uuid[], %(other_ids)s::uuid[], %(differs)s::text[], %(reasons)s::text[],
            %(since)s::timestamptz[]) as x (subject_id, memory_id, other_id, relation, reason, since)
on conflict do nothing

-- name: turns_to_judge
-- The turns of these memories that no language model was asked about, and those that wait for one.
select e.turn_id
from memory.memories m
join memory.extractions e on e.tenant_id = m.tenant_id and e.turn_id = m.turn_id
where m.tenant_id = %(tenant)s and m.id = any(%(evidence)s) and m.relation is not null and e.ends_model is null
union
select e.turn_id
from memory.extractions e
join log.turns t on t.tenant_id = e.tenant_id and t.id = e.turn_id
where e.tenant_id = %(tenant)s and e.ends_wait
  and t.said_at <= %(as_of)s and t.shard >= %(shard_from)s and t.shard < %(shard_to)s
  and (%(subjects)s::text[] is null or t.subject_id = any(%(subjects)s))
order by 1

-- name: read_ending_messages
-- Turns with the message before each, and with their subjects' earlier statements that are nearest to the memories made from
-- them: those in force, and those that were when the turn was said.
select t.id as turn_id, t.subject_id, coalesce(t.speaker, initcap(t.role)) as author, t.said_at,
       left(t.text, %(characters)s) as text, b.id as before_id, b.author as before_author, b.text as before_text,
       k.known_ids, k.known_texts, k.known_at, k.by_ids
from log.turns t
left join lateral (
    select p.id, coalesce(p.speaker, initcap(p.role)) as author, left(p.text, %(before_characters)s) as text
    from log.turns p
    where p.tenant_id = t.tenant_id and p.subject_id = t.subject_id and p.session_id = t.session_id
      and (p.said_at, p.turn_index, p.id) < (t.said_at, t.turn_index, t.id)
      and p.text <> '' and p.role in ('user', 'assistant')
    order by p.said_at desc, p.turn_index desc, p.id desc
    limit 1) b on true
cross join lateral (
    select array_agg(n.id order by n.happened_at, n.id) as known_ids,
           array_agg(n.content order by n.happened_at, n.id) as known_texts,
           array_agg(n.happened_at order by n.happened_at, n.id) as known_at,
           array_agg(n.by_id order by n.happened_at, n.id) as by_ids
    from (
        select * from (
            select distinct on (m.id) m.id, m.content, m.happened_at, w.item_id as by_id, w.vec <#> v.vec as distance
            from memory.memories m
            join memory.vectors v on v.tenant_id = m.tenant_id and v.subject_id = m.subject_id and v.item_id = m.id
                and v.model = %(embedding)s and v.part = 0
            join memory.memories f on f.tenant_id = m.tenant_id and f.turn_id = t.id and f.relation is not null
                and f.state <> 'candidate'
            join memory.vectors w on w.tenant_id = f.tenant_id and w.subject_id = f.subject_id and w.item_id = f.id
                and w.model = %(embedding)s and w.part = 0
            where m.tenant_id = t.tenant_id and m.subject_id = t.subject_id and m.happened_at < t.said_at
              and m.relation is not null and m.turn_id is not null and coalesce(m.phase, 'holds') not in ('ends', 'past')
              and (m.state = 'active' or (m.state = 'superseded' and m.valid_to > t.said_at))
            order by m.id, w.vec <#> v.vec, w.item_id) nearest
        where distance <= 0 - %(similarity)s::float8
        order by distance, id
        limit %(near)s) n
    having count(*) > 0) k
where t.tenant_id = %(tenant)s and t.id = any(%(turn_ids)s)
order by t.id

-- name: read_said
-- Statements of these subjects, with vectors; a statement that was merged into another ends as that one does. Messages that
-- wait for a language model are left to it. A message is compared with earlier statements only, so from before the first new
-- statement only statements that may end are read, without the vector of their message. A message of the subjects that
-- stated nothing may end something too: it is a row of its own, with its own id.
with since as materialized (
    select min(n.happened_at) as at from memory.memories n where n.tenant_id = %(tenant)s and n.id = any(%(evidence)s)
),
silent as materialized (
    -- those that nobody has judged, and those since the first new statement
    select e.turn_id, e.ends_model is null and not e.ends_wait as is_unjudged
    from (
        select e.turn_id from memory.extractions e
        where e.tenant_id = %(tenant)s and e.subject_id = any(%(some)s) and e.ends_model is null and not e.ends_wait
          and e.turn_id < %(horizon)s
        union
        select t.id from log.turns t
        where t.tenant_id = %(tenant)s and t.subject_id = any(%(some)s) and t.said_at > (select at from since)
          and t.said_at <= %(as_of)s) u
    join memory.extractions e on e.tenant_id = %(tenant)s and e.turn_id = u.turn_id
    -- a question states nothing
    where %(silent)s and coalesce(e.reason, '') not in ('role', 'language', 'question')
      and not exists (
          select from memory.lineage l
          join memory.memories m on m.tenant_id = l.tenant_id and m.id = l.memory_id
          where l.tenant_id = %(tenant)s and l.source_id = e.turn_id and l.relation = 'extracted' and m.relation is not null)
)
select m.id, m.subject_id, m.turn_id, m.happened_at, m.content, m.origin, m.into_id,
       k.may_end,
       m.id = any(%(evidence)s) as is_new,
       m.id = any(%(evidence)s) and e.ends_model is null and not e.ends_wait as is_unjudged, halfvec_send(v.vec) as vector,
       case when k.is_late then halfvec_send(coalesce(t.vec, v.vec)) else '' end as message_vector, s.speaker,
       m.relation = 'standing_rule' as is_rule, m.relation in ('address', 'email', 'phone') as is_contact
from memory.memories m
cross join lateral (
    select m.state <> 'merged' and coalesce(m.phase, 'holds') not in ('ends', 'past') as may_end,
           m.happened_at >= (select at from since) as is_late) k
join memory.extractions e on e.tenant_id = m.tenant_id and e.turn_id = m.turn_id
join memory.vectors v on v.tenant_id = m.tenant_id and v.subject_id = m.subject_id and v.item_id = m.id
    and v.model = %(embedding)s and v.part = 0
left join lateral (
    select t.vec from memory.vectors t
    where t.tenant_id = %(tenant)s and t.subject_id = m.subject_id and t.item_id = m.turn_id and t.model = %(embedding)s
      and t.part = 0 and k.is_late offset 0) t on true
left join lateral (
    select s.speaker from log.turns s where s.tenant_id = %(tenant)s and s.id = m.turn_id offset 0) s on true
where m.tenant_id = %(tenant)s and m.subject_id = any(%(some)s) and m.relation is not null and m.turn_id is not null
  and m.state <> 'candidate' and m.happened_at <= %(as_of)s and (k.may_end or k.is_late)
union all
select t.id, t.subject_id, t.id, t.said_at, '', '', null, false, false, s.is_unjudged, halfvec_send(v.vec), halfvec_send(v.vec),
       t.speaker, false, false
from silent s
join log.turns t on t.tenant_id = %(tenant)s and t.id = s.turn_id
join memory.vectors v on v.tenant_id = %(tenant)s and v.subject_id = t.subject_id and v.item_id = t.id and v.model = %(embedding)s
    and v.part = 0
where t.role = 'user' and t.text <> '' and t.said_at <= %(as_of)s
order by subject_id, happened_at, id

-- name: read_ending_texts
-- Turns by id, with the text of another speaker before each in its session.
select t.id, t.text, b.text as before_text
from log.turns t
left join lateral (
    select case when (p.role, p.speaker) is distinct from (t.role, t.speaker) then p.text end as text
    from log.turns p
    where p.tenant_id = t.tenant_id and p.subject_id = t.subject_id and p.session_id = t.session_id
      and (p.said_at, p.turn_index, p.id) < (t.said_at, t.turn_index, t.id)
      and p.text <> '' and p.role in ('user', 'assistant')
    order by p.said_at desc, p.turn_index desc, p.id desc
    limit 1) b on true
where t.tenant_id = %(tenant)s and t.id = any(%(turn_ids)s) and t.text <> ''

-- name: write_judged_ends
-- Write judged ends if the memory still exists, and so does the memory of the message, or the message stated nothing.
insert into memory.judged_ends (tenant_id, memory_id, turn_id, subject_id, by_id, model, run_id)
select m.tenant_id, m.id, x.turn_id, m.subject_id, x.by_id, %(model)s, %(run_id)s
from unnest(%(memory_ids)s::uuid[], %(turn_ids)s::uuid[], %(by_ids)s::uuid[]) as x (memory_id, turn_id, by_id)
join memory.memories m on m.tenant_id = %(tenant)s and m.id = x.memory_id
where x.by_id = x.turn_id
   or exists (select from memory.memories b
              where b.tenant_id = %(tenant)s and b.id = x.by_id and b.subject_id = m.subject_id)
on conflict (tenant_id, memory_id, turn_id) do nothing

-- name: write_doubts
-- Write the likeliest doubt about each statement, of those found now and the one before. A message from before the statement
-- was last told casts no doubt on it: by itself, in a memory merged into it, or in one of the same relation and object.
update memory.memories m set doubted_by = x.turn_id, doubt = x.chance
from (
    select m.id, d.turn_id, d.chance
    from memory.memories m
    cross join lateral (
        select greatest(m.happened_at, max(h.happened_at)) as at from memory.memories h
        where h.tenant_id = %(tenant)s and h.subject_id = m.subject_id
          and (h.into_id = m.id and h.state = 'merged'
               or h.relation = m.relation and lower(h.object) = lower(m.object) and h.who is not distinct from m.who
                  and h.phase in ('holds', 'begins', 'adds') and h.polarity = m.polarity)) told
    left join lateral (
        select d.turn_id, d.chance
        from (select m.doubted_by as turn_id, m.doubt as chance
              union all
              select u.turn_id, u.chance
              from unnest(%(memory_ids)s::uuid[], %(turn_ids)s::uuid[], %(chances)s::real[]) as u (memory_id, turn_id, chance)
              where u.memory_id = m.id) d
        join log.turns t on t.tenant_id = %(tenant)s and t.id = d.turn_id
        where t.said_at > told.at
        order by d.chance desc, t.said_at, d.turn_id
        limit 1) d on true
    where m.tenant_id = %(tenant)s and m.subject_id = any(%(dirty)s)
      and (m.doubted_by is not null or m.id = any(%(memory_ids)s::uuid[]))) x
where m.tenant_id = %(tenant)s and m.id = x.id and (m.doubted_by, m.doubt) is distinct from (x.turn_id, x.chance)

-- name: ended_in_part
-- Statements judged to have ended, each with the first message that ends it: what that message leaves of it becomes a memory
-- of its own, which later messages end in turn.
select m.id, m.subject_id, m.kind, m.base, m.polarity, m.happened_at, m.turn_id, m.session_id, m.relation, m.who, m.phase,
       m.lasting, m.expires_at, m.confidence, f.turn_id as ended_by
from memory.memories m
cross join lateral (
    select j.turn_id
    from memory.judged_ends j
    join log.turns t on t.tenant_id = j.tenant_id and t.id = j.turn_id and t.role <> ''
    where j.tenant_id = m.tenant_id and j.memory_id = m.id
    order by t.said_at, t.turn_index, t.id
    limit 1) f
where m.tenant_id = %(tenant)s and m.id = any(%(memory_ids)s)
order by m.id

-- name: count_rests
-- Count the rest of a statement as one more memory from its turn, once.
update memory.extractions e set candidates = e.candidates + x.rests
from (
    select r.turn_id, count(*) as rests
    from unnest(%(ids)s::uuid[], %(turn_ids)s::uuid[]) as r (id, turn_id)
    where not exists (select from memory.memories m where m.tenant_id = %(tenant)s and m.id = r.id)
      and not exists (select from memory.tombstones k where k.tenant_id = %(tenant)s and k.memory_id = r.id)
    group by 1) x
where e.tenant_id = %(tenant)s and e.turn_id = x.turn_id

-- name: mark_judged
-- Mark turns that a model was asked about, and those that wait for the next run with one.
update memory.extractions e
set ends_wait = e.turn_id = any(%(waiting)s), ends_model = case when e.turn_id <> all(%(waiting)s) then %(model)s end
where e.tenant_id = %(tenant)s and e.turn_id = any(%(turn_ids)s)

-- name: stop_waiting_for_ends
-- Let turns that leave nothing to ask a model no longer wait for one.
update memory.extractions e set ends_wait = false
where e.tenant_id = %(tenant)s and e.turn_id = any(%(turn_ids)s) and e.ends_wait

-- name: judged_relations
-- The relations of memories judged to have ended.
select distinct m.relation from memory.memories m
where m.tenant_id = %(tenant)s and m.id = any(%(memory_ids)s) and m.relation is not null

-- name: ended_relations
-- The relations of memories that the messages of these memories were judged to end.
select distinct m.relation
from memory.memories b
join memory.judged_ends j on j.tenant_id = b.tenant_id and j.subject_id = b.subject_id and j.turn_id = b.turn_id
join memory.memories m on m.tenant_id = j.tenant_id and m.id = j.memory_id
where b.tenant_id = %(tenant)s and b.id = any(%(evidence)s) and m.relation is not null

-- name: read_judged
-- Judged ends of these subjects, with the message that ends each and the memory that the message gave, if that still exists,
-- or the message itself if it gave none. Such an end also counts in a cycle from before the message: when that cycle runs
-- again, nothing new triggers the message's own. `offset 0` and, for the turn, the condition on role keep both reads on
-- their keys, whatever the statistics say: an index with all selected columns, but not by id, would be read from end to end.
select j.memory_id, j.turn_id, j.by_id,
       coalesce(case when b.state = 'merged' then b.into_id end, j.by_id) as bearer_id,
       j.model, t.said_at, t.session_id, t.turn_index
from memory.judged_ends j
left join lateral (
    select b.id, b.state, b.into_id from memory.memories b where b.tenant_id = %(tenant)s and b.id = j.by_id offset 0) b on true
cross join lateral (
    select t.said_at, t.session_id, t.turn_index from log.turns t
    where t.tenant_id = %(tenant)s and t.id = j.turn_id and t.role <> '' offset 0) t
where j.tenant_id = %(tenant)s and j.subject_id = any(%(dirty)s)
  and (j.by_id = j.turn_id or b.id is not null and t.said_at <= %(as_of)s)
