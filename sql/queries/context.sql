-- name: structured_facts
-- The structured facts of a subject at a time, most important first; or with former ones, in event order. An end after that
-- time is left out.
select f.id, f.speaker, f.category, f.key, coalesce(w.content, f.value) as value, f.confidence, f.importance, f.valid_from,
       case when e.at <= %(as_of)s then least(f.valid_to, e.at) when f.valid_to <= %(as_of)s then f.valid_to end as valid_to,
       case when f.valid_to <= %(as_of)s then f.replaced_by end as replaced_by, coalesce(m.into_id, f.memory_id) as memory_id, f.turn_id, f.origin, f.run_id, f.policy_hash, d.said_at as doubted_at, d.text as doubt,
       case when w.item_id is null then coalesce(m.topic, nullif(f.topic, '')) end as topic,
       case when w.item_id is null then m.content end as content
from memory.structured_facts f
left join (  -- for a memory that a person corrected, the value is the waiting replacement, if there was one at the time
    select distinct on (k.item_id) k.item_id, r.content
    from memory.marks k
    left join memory.replacements r on r.tenant_id = k.tenant_id and r.subject_id = k.subject_id
        and r.correction_id = k.correction_id and r.happened_at <= %(as_of)s
    where k.tenant_id = %(tenant)s and k.subject_id = %(subject)s and k.mark <> 'pinned'
    order by k.item_id, r.happened_at desc nulls last) w on w.item_id = f.memory_id
left join lateral (  -- a merged memory stands in another one
    select m.doubted_by, m.topic, m.content, m.expires_at, case when m.state = 'merged' then m.into_id end as into_id
    from memory.memories m
    where m.tenant_id = %(tenant)s and m.id = f.memory_id offset 0) m on true
cross join lateral (  -- its end of its own; a fact from before 0035 has that of its memory
    select coalesce(f.expires_at, case when f.polarity is null then m.expires_at end) as at) e
left join lateral (  -- a later message that may have ended it
    select t.said_at, t.text from log.turns t
    where f.valid_to is null and w.item_id is null and t.tenant_id = %(tenant)s and t.id = m.doubted_by and t.said_at <= %(as_of)s
      and t.id <> all(array(select item_id from memory.marks
                            where tenant_id = %(tenant)s and subject_id = %(subject)s and mark <> 'pinned'))
    offset 0) d on true
where (w.item_id is null or w.content is not null) and f.tenant_id = %(tenant)s and f.subject_id = %(subject)s and f.valid_from <= %(as_of)s
  and (%(history)s or (f.valid_to is null or f.valid_to > %(as_of)s) and coalesce(e.at > %(as_of)s, true))
  and f.importance >= %(least)s::float8
order by case when %(history)s then 0 else -f.importance end, f.category, f.key, f.speaker, f.valid_from, f.id

-- name: summaries
-- The summaries nearest to a question, nearest first, with the turns of the session that each covers. Reads the few
-- summaries first, then their vectors by key.
select m.id, m.session_id, m.content, m.happened_at, d.distance, m.turn_start as first_turn, m.turn_end as last_turn
from (select m.id, m.session_id, m.content, m.happened_at, m.turn_start, m.turn_end from memory.memories m
      where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s and m.kind = 'summary' and m.state = 'active'
        and m.happened_at <= %(as_of)s
        and (%(among)s::uuid[] is null or m.id in (select unnest(%(among)s::uuid[])))
        and m.id <> all(array(select item_id from memory.marks
                              where tenant_id = %(tenant)s and subject_id = %(subject)s and mark <> 'pinned'))
      offset 0) m
cross join lateral (
    select 1 + (v.vec <#> %(vector)s::halfvec) as distance from memory.vectors v
    where v.tenant_id = %(tenant)s and v.subject_id = %(subject)s and v.item_id = m.id and v.model = %(model)s
      and v.part = 0 limit 1) d
order by d.distance, m.id
limit %(limit)s

-- name: told
-- Summaries of a session's turns, in order, each with those of the given texts that it covers. With `earlier`, also
-- summaries that cover only other turns, and whether each covers any other. Texts are compared without the `blanks` around
-- them; a turn that is withheld is no other, as the conversation has a placeholder for it.
select m.id, m.turn_start, m.turn_end, m.content, coalesce(t.texts, '{}'), %(earlier)s and coalesce(t.others, true)
from memory.memories m
cross join lateral (
    select array_agg(t.said) filter (where t.said = any(%(texts)s::text[])) as texts,
           bool_or(t.said <> '' and t.said <> all(%(texts)s::text[])
                   and t.id <> all(array(select item_id from memory.marks
                                         where tenant_id = %(tenant)s and subject_id = %(subject)s and mark <> 'pinned'))) as others
    from memory.lineage l
    cross join lateral (
        select t.id, btrim(t.text, %(blanks)s::text) as said from log.turns t
        where t.tenant_id = %(tenant)s and t.id = l.source_id offset 0) t
    where l.tenant_id = %(tenant)s and l.memory_id = m.id and l.source = 'turn') t
where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s and m.kind = 'summary' and m.state = 'active'
  and m.session_id = %(session)s and m.happened_at <= %(as_of)s and (%(earlier)s or t.texts is not null)
  and m.id <> all(array(select item_id from memory.marks
                        where tenant_id = %(tenant)s and subject_id = %(subject)s and mark <> 'pinned'))
order by m.turn_start, m.id

-- name: running
-- Turns of a running session that are in no summary, those in the buffer too, in their present or future order in the log.
-- Each with the number of turns of its session that are in one. No rows unless the session is due for a summary, which the
-- first of its last `running` turns decides (see `read_long_sessions`).
with turns as materialized (
    select t.id, t.said_at, t.turn_index::bigint as place, t.role, t.speaker, t.text
    from log.turns t
    where t.tenant_id = (select %(tenant)s::text) and t.subject_id = %(subject)s::text
      and t.session_id = %(session)s::text and t.said_at <= %(as_of)s
    union all
    select p.id, p.said_at, coalesce(p.turn_index, (1::bigint << 40) + p.arrival), p.role, p.speaker, p.text
    from ops.pending_turns p
    where p.tenant_id = (select %(tenant)s::text) and p.subject_id = %(subject)s::text
      and p.session_id = %(session)s::text and p.said_at <= %(as_of)s
      and not exists (select from log.turns t where t.tenant_id = (select %(tenant)s::text) and t.id = p.id offset 0)
)
select number, id, said_at, role, speaker,
       case when id = any(array(select item_id from memory.marks
                                where tenant_id = %(tenant)s and subject_id = %(subject)s and mark <> 'pinned')) then ''
            else text end
from (select t.*, k.told, count(*) filter (where k.told) over () as number
      from turns t
      cross join lateral (
          select exists (select from memory.lineage l
                         where l.tenant_id = %(tenant)s and l.source_id = t.id and l.source = 'turn'
                           and l.relation in ('compressed', 'summarised') offset 0) as told) k
      where exists (select from (select id from turns
                                 order by said_at desc, place desc, id desc offset %(running)s::int - 1 limit 1) f
                    where not exists (select from memory.lineage l
                                      where l.tenant_id = %(tenant)s and l.source_id = f.id and l.source = 'turn'
                                        and l.relation in ('compressed', 'summarised') offset 0))) x
where not told
order by said_at, place, id

-- name: withdrawn
-- The texts of turns that a person corrected or wants forgotten, each with its session.
select t.text, t.session_id
from memory.marks k
join log.turns t on t.tenant_id = k.tenant_id and t.id = k.item_id
where k.tenant_id = %(tenant)s and k.subject_id = %(subject)s and k.item = 'turn'

-- name: recent
-- The latest embedded episodes, patterns and summaries: of each kind the last by id, which is event order; episodes and
-- summaries since a time, as a pattern holds on.
select r.id, r.kind, r.content, r.happened_at
from unnest(%(kinds)s::text[]) as k (kind)
cross join lateral (
    select m.id, m.kind, m.content, m.happened_at from memory.memories m
    where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s and m.kind = k.kind and m.id < %(horizon)s
      and (m.kind = 'pattern' or m.id >= %(since)s)
      and m.state in ('candidate', 'active')
      and exists (select from memory.items i
                  where i.tenant_id = m.tenant_id and i.subject_id = m.subject_id and i.item_id = m.id
                    and i.item = 'memory')
      and m.id <> all(array(select item_id from memory.marks
                            where tenant_id = %(tenant)s and subject_id = %(subject)s and mark <> 'pinned'))
    order by m.id desc limit %(limit)s) r
order by r.id desc
limit %(limit)s

-- name: statements
-- What a subject stated and no structured fact tells, as remembered now: preferences that are sure enough, dislikes first, then
-- the most important; then facts and rules that last, those without a doubt first. Of equally important ones the latest first.
select id, kind, content, happened_at, importance, polarity, doubted_at, doubt
from (
    select m.id, m.kind, m.content, m.happened_at, m.importance, coalesce(m.polarity, 0) as polarity,
           d.said_at as doubted_at, d.text as doubt, m.is_preference,
           row_number() over (
               partition by m.is_preference
               order by case when m.is_preference then m.polarity >= 0 else d.text is not null end,
                        m.importance desc, m.happened_at desc, m.id) as place
    from (select m.id, m.kind, m.content, m.happened_at, m.importance, m.polarity, m.doubted_by,
                 m.kind = 'preference' as is_preference
          from memory.memories m
          where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s and m.id < %(horizon)s
            and m.state in ('candidate', 'active') and m.phase is distinct from 'past'
            and (m.kind = 'preference' and coalesce(m.agreed, m.confidence, 1) >= %(confidence)s::float8
                 or m.kind in ('fact', 'instruction') and m.lasting and m.phase is distinct from 'ends')
            and (m.valid_to is null or m.valid_to > %(as_of)s) and (m.expires_at is null or m.expires_at > %(as_of)s)
            and m.id <> all(array(select item_id from memory.marks
                                  where tenant_id = %(tenant)s and subject_id = %(subject)s and mark <> 'pinned'))
          offset 0) m
    left join lateral (  -- a later message that may have ended it
        select t.said_at, t.text from log.turns t
        where t.tenant_id = %(tenant)s and t.id = m.doubted_by and t.said_at <= %(as_of)s
          and t.id <> all(array(select item_id from memory.marks
                                where tenant_id = %(tenant)s and subject_id = %(subject)s and mark <> 'pinned'))
        offset 0) d on true
    where m.id <> all(array(  -- what a fact tells, or what the memory of a fact was merged into
              select x.id
              from memory.structured_facts f
              cross join lateral (
                  select case when m.state = 'merged' then m.into_id else m.id end as id
                  from memory.memories m
                  where m.tenant_id = %(tenant)s and m.id = f.memory_id offset 0) x
              where f.tenant_id = %(tenant)s and f.subject_id = %(subject)s))) m
where place <= case when is_preference then %(preferences)s::int else %(statements)s::int end
order by not is_preference, place

-- name: zones
-- The time zones that the messages of a subject name, each with the day (UTC) from which it is the latest.
select day, zone
from (select s.day, s.zone, lag(s.zone) over (order by s.day, s.counterpart) as before
      from memory.signals s
      where s.tenant_id = %(tenant)s and s.subject_id = %(subject)s and s.zone is not null
        and s.day <= (%(as_of)s::timestamptz at time zone 'UTC')::date) s
where zone is distinct from before
order by day

-- name: important
-- The most important memories, for a context without a question; importance as of then by the closed form of decay.
select i.id, i.kind, i.content, i.happened_at, i.importance, d.said_at as doubted_at, d.text as doubt, q.text as question,
       q.speaker as asked_by, q.role as asking
from (select x.id, x.kind, x.content, x.happened_at, x.importance, x.doubted_by
      from (select m.id, m.kind, m.content, m.happened_at, m.doubted_by,
                   greatest(m.peak::float8 - case when m.lasting or m.id = any(array(
                           select item_id from memory.marks
                           where tenant_id = %(tenant)s and subject_id = %(subject)s and mark = 'pinned')) then 0 else r.rate end
                       * greatest(extract(epoch from %(as_of)s - m.accessed_at)::float8 / 86400 - %(grace_days)s::float8, 0),
                       0) as importance
            from memory.memories m
            join unnest(%(kinds)s::text[], %(rates)s::float8[]) as r (kind, rate) using (kind)
            where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s and m.state in ('candidate', 'active')
              and m.happened_at <= %(as_of)s and (m.expires_at is null or m.expires_at > %(as_of)s)
              and m.id <> all(array(select item_id from memory.marks
                                    where tenant_id = %(tenant)s and subject_id = %(subject)s and mark <> 'pinned'))
            union all
            select id, kind, content, happened_at, null, importance::float8 from memory.replacements
            where tenant_id = %(tenant)s and subject_id = %(subject)s and happened_at <= %(as_of)s) x
      where x.importance >= %(min_importance)s::float8
        and (%(among)s::uuid[] is null or x.id in (select unnest(%(among)s::uuid[])))
      order by x.importance desc, x.happened_at desc, x.id
      limit %(limit)s) i
left join lateral (  -- a later message that may have ended it
    select t.said_at, t.text from log.turns t
    where t.tenant_id = %(tenant)s and t.id = i.doubted_by and t.said_at <= %(as_of)s
      and t.id <> all(array(select item_id from memory.marks
                            where tenant_id = %(tenant)s and subject_id = %(subject)s and mark <> 'pinned'))
    offset 0) d on true
left join lateral (  -- the question that a short reply answers
    select q.text, q.speaker, q.role
    from memory.items o
    join log.turns q on q.tenant_id = o.tenant_id and q.id = o.asked_by
    where o.tenant_id = %(tenant)s and o.subject_id = %(subject)s and o.item_id = i.id and o.words <= %(longest_reply)s
      and (q.speaker, q.role) is distinct from (o.speaker, o.role)
      and q.id <> all(array(select item_id from memory.marks
                            where tenant_id = %(tenant)s and subject_id = %(subject)s and mark <> 'pinned'))
    offset 0) q on true
order by i.importance desc, i.happened_at desc, i.id

-- name: relationship
-- The number of sessions up to a time, the beginning of the first, the last day (UTC) with a turn, and the number of days in
-- a row with any up to that day; turns in the buffer count too. Steps along the index from the first turn of a session's day
-- to that of its next day, or of the next session, so no turn between them is read.
with recursive steps as (
    (select t.session_id, t.said_at from log.turns t
     where t.tenant_id = %(tenant)s and t.subject_id = %(subject)s
     order by t.session_id, t.said_at, t.turn_index, t.id limit 1)
    union all
    select n.session_id, n.said_at
    from steps s
    cross join lateral (
        select t.session_id, t.said_at from log.turns t
        where t.tenant_id = %(tenant)s and t.subject_id = %(subject)s
          and (t.session_id, t.said_at)
              >= (s.session_id, case when s.said_at > %(as_of)s then 'infinity'
                                     else date_trunc('day', s.said_at, 'UTC') + interval '24 hours' end)
        order by t.session_id, t.said_at, t.turn_index, t.id limit 1) n
),
spoken as materialized (
    select session_id, said_at from steps where said_at <= %(as_of)s
    union all
    select session_id, said_at from ops.pending_turns
    where tenant_id = %(tenant)s and subject_id = %(subject)s and said_at <= %(as_of)s
),
days as (  -- the latest first
    select day, (row_number() over (order by day desc))::int as place, max(day) over () as last
    from (select distinct (said_at at time zone 'UTC')::date as day from spoken) x
)
select s.sessions, s.began, d.last, d.in_a_row
from (select count(*) as sessions, min(began) as began
      from (select min(said_at) as began from spoken group by session_id) x) s
cross join (select max(last) as last, count(*) filter (where day + place = last + 1) as in_a_row from days) d

-- name: person
-- How a subject has written since a day, with the median words of its latest messages, which a pasted text hardly moves; its
-- latest difficult period, if that lasts and the subject wrote lately, or if it ended lately; and the kinds of things known:
-- relations of memories, keys of facts, types of entities.
select s.messages, coalesce(w.words, s.words / nullif(s.messages, 0)), s.formal, s.emoji, p.opened_at, p.closed_at, p.mood, k.known
from (select sum(g.messages)::int as messages, sum(g.words)::float8 as words, sum(g.formal)::float8 as formal,
             sum(g.emoji)::float8 as emoji
      from memory.signals g
      where g.tenant_id = %(tenant)s and g.subject_id = %(subject)s and g.day >= %(since)s::date
        and g.day <= (%(as_of)s::timestamptz at time zone 'UTC')::date) s
cross join (
    select percentile_cont(0.5) within group (order by length(t.text) - length(replace(t.text, ' ', '')) + 1) as words
    from (select m.turn_id from memory.moods m
          where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s and m.own
            and m.said_at >= %(since)s::date::timestamp at time zone 'UTC' and m.said_at <= %(as_of)s
          order by m.said_at desc limit %(latest)s) m
    join log.turns t on t.tenant_id = %(tenant)s and t.id = m.turn_id) w
cross join (
    select array_agg(x.name) as known
    from (select m.relation from memory.memories m
          where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s and m.relation is not null
            and m.state in ('candidate', 'active') and m.happened_at <= %(as_of)s
          union select split_part(f.key, ':', 1) from memory.structured_facts f
          where f.tenant_id = %(tenant)s and f.subject_id = %(subject)s and f.valid_from <= %(as_of)s
            and (f.valid_to is null or f.valid_to > %(as_of)s)
          union select e.type from memory.entities e
          where e.tenant_id = %(tenant)s and e.subject_id = %(subject)s and e.first_seen_at <= %(as_of)s
          union select 'name' from memory.subjects b
          where b.tenant_id = %(tenant)s and b.subject_id = %(subject)s and b.speakers <> '{}') x (name)) k
left join lateral (
    select d.opened_at, d.closed_at, d.mood
    from (select d.* from memory.periods d
          where d.tenant_id = %(tenant)s and d.subject_id = %(subject)s and d.opened_at <= %(as_of)s
          order by d.opened_at desc limit 1) d
    where case when d.closed_at is null or d.closed_at > %(as_of)s
               then exists (select from memory.signals g
                            where g.tenant_id = %(tenant)s and g.subject_id = %(subject)s and g.messages > 0
                              and g.day >= (%(recent)s::timestamptz at time zone 'UTC')::date
                              and g.day <= (%(as_of)s::timestamptz at time zone 'UTC')::date)
               else d.closed_at >= %(recent)s end) p on true

-- name: moods
-- The mood of the latest message before a time, and the usual mood and energy: the most frequent of the latest messages.
-- Messages in the buffer count too: advice on tone by an older mood could contradict the message just sent.
select (array_agg(m.mood order by m.said_at desc, m.turn_id desc))[1],
       (array_agg(m.energy order by m.said_at desc, m.turn_id desc))[1], max(m.said_at), count(*),
       mode() within group (order by m.mood), mode() within group (order by m.energy)
from (select * from (
          (select m.mood, m.energy, m.said_at, m.turn_id from log.moods m
           where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s and m.said_at <= %(as_of)s
             and not exists (select from memory.moods o  -- somebody else's message
                             where o.tenant_id = m.tenant_id and o.turn_id = m.turn_id and not o.own)
           order by m.said_at desc limit %(limit)s)
          union all
          -- imported messages, which had no mood when they arrived
          (select m.mood, m.energy, m.said_at, m.turn_id from memory.moods m
           where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s and m.said_at <= %(as_of)s and m.own
             and not exists (select from log.moods l where l.tenant_id = m.tenant_id and l.turn_id = m.turn_id)
           order by m.said_at desc limit %(limit)s)
          union all
          -- messages in the buffer, of any session; the subject's are those of the first author, as in memory.moods
          (select p.mood ->> 'mood', p.mood ->> 'energy', p.said_at, p.id
           from (select p.*, p.speaker is not distinct from first_value(p.speaker) over (partition by p.session_id order by p.said_at, p.arrival)
                             or coalesce(lower(p.speaker) = lower(p.subject_id), false) as own
                 from ops.pending_turns p
                 where p.tenant_id = %(tenant)s and p.subject_id = %(subject)s and p.said_at <= %(as_of)s
                   and p.role = 'user') p
           where p.own and p.mood is not null
             and not exists (select from log.moods l where l.tenant_id = p.tenant_id and l.turn_id = p.id)
           order by p.said_at desc limit %(limit)s)) b
      order by b.said_at desc limit %(limit)s) m

-- name: write_contexts
-- Log the content of assembled contexts, as ids and numbers.
insert into log.contexts (tenant_id, id, subject_id, assembled_at, request_id, form, stage, policy_hash, tokenizer,
                          total_tokens, sections, item_ids, dropped_ids)
select %(tenant)s, r.id, r.subject_id, r.assembled_at, r.request_id, r.form, r.stage, r.policy_hash, r.tokenizer,
       r.total_tokens, r.sections, r.item_ids, r.dropped_ids
from jsonb_to_recordset(%(rows)s) as r (id uuid, subject_id text, assembled_at timestamptz, request_id text, form text,
                                        stage text, policy_hash text, tokenizer text, total_tokens int, sections jsonb,
                                        item_ids uuid[], dropped_ids uuid[])
on conflict do nothing

-- name: logged_context
-- A logged context, with the ids of each line.
select subject_id, assembled_at, request_id, form, policy_hash, total_tokens, sections
from log.contexts
where tenant_id = %(tenant)s and id = %(id)s

-- name: context_items
-- The items of a logged context, as they stand now.
with used as (
    select distinct unnest(item_ids) as id from log.contexts where tenant_id = %(tenant)s and id = %(id)s)
select m.id, 'memory' as item, m.kind, m.content, m.happened_at
from used u join memory.memories m on m.tenant_id = %(tenant)s and m.id = u.id
union all
select t.id, 'turn', t.role, t.text, t.said_at
from used u join log.turns t on t.tenant_id = %(tenant)s and t.id = u.id
union all
select f.id, 'structured_fact', f.key, f.value, f.valid_from
from used u join memory.structured_facts f on f.tenant_id = %(tenant)s and f.id = u.id
union all
select s.id, 'scaffold', array_to_string(s.path, '.'), s.value::text, s.valid_from
from used u join memory.scaffold s on s.tenant_id = %(tenant)s and s.id = u.id
union all
select p.id, 'narrative', null, p.narrative, p.made_at
from used u join memory.profiles p on p.tenant_id = %(tenant)s and p.id = u.id
union all
select d.memory_id, 'forgotten', d.kind, null, d.forgotten_at
from used u join memory.tombstones d on d.tenant_id = %(tenant)s and d.memory_id = u.id
