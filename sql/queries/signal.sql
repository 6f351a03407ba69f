-- name: read_days
-- Days with turns that are not processed yet, with outcomes whose numbers are not stored yet, or with life events whose
-- retention is over, each with their number. What follows from an event is made again without it.
select x.subject_id, x.day, sum(x.number)::int
from (select d.subject_id, d.day, d.turns as number
      from memory.signal_days d
      where d.tenant_id = %(tenant)s and d.shard >= %(shard_from)s and d.shard < %(shard_to)s
        and (%(subjects)s::text[] is null or d.subject_id = any(%(subjects)s))
      union all
      select o.subject_id, (o.observed_at at time zone 'UTC')::date, 1
      from log.outcomes o
      where %(measures)s and o.tenant_id = %(tenant)s and o.shard >= %(shard_from)s and o.shard < %(shard_to)s
        and (%(subjects)s::text[] is null or o.subject_id = any(%(subjects)s)) and o.observed_at <= %(as_of)s
        and not exists (select from memory.measurements m where m.tenant_id = o.tenant_id and m.source_id = o.id offset 0)
        and exists (select from log.turns t
                    where t.tenant_id = o.tenant_id and t.subject_id = o.subject_id and t.session_id = o.session_id
                      and t.source_id = o.source_id and t.said_at <= %(as_of)s)
      union all
      select e.subject_id, (e.told_at at time zone 'UTC')::date, 1
      from memory.life_events e
      where e.tenant_id = %(tenant)s and e.shard >= %(shard_from)s and e.shard < %(shard_to)s
        and (%(subjects)s::text[] is null or e.subject_id = any(%(subjects)s)) and e.forget_at <= %(as_of)s) x
group by x.subject_id, x.day
order by x.subject_id, x.day

-- name: read_messages
-- Messages of some days without a mood, in the order of each session, with the vector of their text, the mood that a
-- language model gave and, for the first of each author in a session, whether there is a mood before it; the author is null
-- if that is the subject.
with given as materialized (
    select x.subject_id, x.day from unnest(%(day_subjects)s::text[], %(days)s::date[]) as x (subject_id, day)
),
messages as materialized (
    select t.id, t.subject_id, t.session_id, t.said_at, t.turn_index, t.speaker, t.text
    from log.turns t
    where t.tenant_id = %(tenant)s and t.subject_id = any(%(names)s)
      and t.said_at >= %(since)s
      and t.said_at < %(until)s
      and t.role = 'user' and t.text <> '' and t.said_at <= %(as_of)s
      and (t.subject_id, (t.said_at at time zone 'UTC')::date) in (select subject_id, day from given)
      and not exists (select from memory.moods m where m.tenant_id = t.tenant_id and m.turn_id = t.id offset 0)
)
select t.id, t.subject_id, t.session_id, t.said_at, t.text,
       (select halfvec_send(v.vec) from memory.vectors v
        where (not %(embed_again)s::boolean or (t.speaker is null and length(t.text) <= %(whole)s)) and v.tenant_id = %(tenant)s and v.subject_id = t.subject_id and v.model = %(model)s and v.item_id = t.id and v.part = 0),
       t.speaker is null and length(t.text) <= %(whole)s,
       (select jsonb_build_object('mood', o.mood, 'energy', o.energy, 'style', o.style, 'confidence', o.confidence,
                                  'method', o.method)
        from log.moods o where o.tenant_id = %(tenant)s and o.turn_id = t.id and o.method = 'model'),
       lag(t.id) over w is null
           and exists (select from memory.moods m where m.tenant_id = %(tenant)s and m.subject_id = t.subject_id
                         and m.said_at <= t.said_at and m.said_at >= t.said_at - %(ttl)s::interval and m.session_id = t.session_id),
       t.own, t.author
from (select m.*, o.own, case when not o.own then m.speaker end as author
      from messages m
      join (select s.subject_id, s.session_id, f.speaker
            from (select distinct subject_id, session_id from messages) s
            cross join lateral (
                select u.speaker from log.turns u
                where u.tenant_id = %(tenant)s and u.subject_id = s.subject_id and u.session_id = s.session_id and u.role = 'user'
                order by u.said_at, u.turn_index, u.id limit 1) f) v
          on v.subject_id = m.subject_id and v.session_id = m.session_id
      cross join lateral (
          select m.speaker is not distinct from v.speaker or coalesce(lower(m.speaker) = lower(m.subject_id), false)) o (own)) t
window w as (partition by t.subject_id, t.session_id, t.own, t.author order by t.said_at, t.turn_index, t.id)
order by t.subject_id, t.session_id, t.said_at, t.turn_index, t.id

-- name: read_moods_before
-- The last mood of each of these authors in a session before a time.
select x.place, m.mood, m.energy, m.style, m.confidence, m.method, m.said_at
from unnest(%(subject_ids)s::text[], %(session_ids)s::text[], %(owns)s::boolean[], %(authors)s::text[], %(times)s::timestamptz[])
    with ordinality as x (subject_id, session_id, own, author, at, place)
cross join lateral (
    select m.* from memory.moods m
    where m.tenant_id = %(tenant)s and m.subject_id = x.subject_id and m.session_id = x.session_id and m.said_at <= x.at
      and m.said_at >= x.at - %(ttl)s::interval and m.own = x.own
      and (x.own or exists (select from log.turns t
                            where t.tenant_id = %(tenant)s and t.id = m.turn_id and t.speaker is not distinct from x.author offset 0))
    order by m.said_at desc, m.turn_id desc limit 1) m

-- name: write_moods
-- Write moods of messages; an existing one stays.
insert into memory.moods (tenant_id, turn_id, subject_id, session_id, said_at, mood, energy, style, confidence, method, crisis, own,
                          run_id)
select %(tenant)s, x.*, %(run_id)s
from unnest(%(turn_ids)s::uuid[], %(subject_ids)s::text[], %(session_ids)s::text[], %(times)s::timestamptz[], %(moods)s::text[],
            %(energies)s::text[], %(styles)s::text[], %(confidences)s::real[], %(methods)s::text[], %(crises)s::boolean[],
            %(owns)s::boolean[]) as x
on conflict do nothing

-- name: read_versions
-- The version of the row of each of these days, in their order; null: it has none. Noting turns changes `xmin`.
select d.xmin::text
from unnest(%(day_subjects)s::text[], %(days)s::date[]) with ordinality as x (subject_id, day, place)
left join memory.signal_days d on d.tenant_id = %(tenant)s and d.subject_id = x.subject_id and d.day = x.day
order by x.place

-- name: take_days
-- Take these days for this transaction; whoever reads turns of them waits, or came first. A day stays for the next run if
-- turns were noted since its version was read, or if some of those noted were said after the logical time.
delete from memory.signal_days d
using unnest(%(day_subjects)s::text[], %(days)s::date[], %(versions)s::text[]) as x (subject_id, day, version)
where d.tenant_id = %(tenant)s and d.subject_id = x.subject_id and d.day = x.day and d.xmin::text = x.version
  and not (d.day >= (%(as_of)s::timestamptz at time zone 'UTC')::date
           and exists (select from log.turns t
                       join memory.extractions e on e.tenant_id = t.tenant_id and e.turn_id = t.id
                       where t.tenant_id = %(tenant)s and t.subject_id = d.subject_id
                         and t.said_at > %(as_of)s and t.said_at < %(until)s
                         and (t.said_at at time zone 'UTC')::date = d.day))

-- name: clear_figures
-- Delete the figures of these days, which are made again.
delete from memory.signals s
using unnest(%(day_subjects)s::text[], %(days)s::date[]) as x (subject_id, day)
where s.tenant_id = %(tenant)s and s.subject_id = x.subject_id and s.day = x.day

-- name: write_figures
-- Write the figures of some days. The subject's own messages are those of the session's first user, or of a speaker with the
-- subject's name. Every message follows the turn before it in its session; a session begins after the turn before it in any.
insert into memory.signals (tenant_id, subject_id, counterpart, day, messages, received, sessions, begun, own_begun, latency_p50,
                            gaps, half_hours, words, questions, emoji, formal, happy, sad, anxious, excited, neutral, angry,
                            frustrated, flirty, bored, grateful, high_energy, low_energy, crises, zone, run_id)
with given as materialized (
    select x.subject_id, x.day from unnest(%(day_subjects)s::text[], %(days)s::date[]) as x (subject_id, day)
),
turns as materialized (
    select t.id, t.subject_id, t.session_id, t.said_at, t.turn_index, t.role, t.speaker, t.text,
           t.metadata ->> 'timezone' as zone, (t.said_at at time zone 'UTC')::date as day,
           lag(t.id) over w as previous_id, lag(t.said_at) over w as previous_at, lag(t.role) over w as previous_role,
           lag(t.speaker) over w as previous_speaker,
           min(t.said_at) over (partition by t.subject_id, t.session_id) as first_at,
           lag(t.said_at) over (partition by t.subject_id order by t.said_at, t.id) as heard_at
    from log.turns t
    where t.tenant_id = %(tenant)s and t.subject_id = any(%(names)s)
      and t.said_at >= %(since)s
      and t.said_at < %(until)s
      and t.said_at <= %(as_of)s
    window w as (partition by t.subject_id, t.session_id order by t.said_at, t.turn_index, t.id)
),
voices as materialized (
    select s.subject_id, s.session_id, s.first_at, f.speaker, b.id as before_id
    from (select distinct subject_id, session_id, first_at from turns) s
    left join lateral (
        select u.speaker from log.turns u
        where u.tenant_id = %(tenant)s and u.subject_id = s.subject_id and u.session_id = s.session_id and u.role = 'user'
        order by u.said_at, u.turn_index, u.id limit 1) f on true
    left join lateral (
        select p.id from log.turns p
        where p.tenant_id = %(tenant)s and p.subject_id = s.subject_id and p.session_id = s.session_id and p.said_at < s.first_at
        order by p.said_at desc, p.turn_index desc, p.id desc limit 1) b on true
),
felt as materialized (
    select m.turn_id, m.mood, m.energy, m.crisis
    from memory.moods m
    where m.tenant_id = %(tenant)s and m.subject_id = any(%(names)s) and m.said_at >= %(since)s and m.said_at < %(until)s
),
told as materialized (
    select t.id, t.subject_id, t.session_id, t.day, t.said_at, t.text, t.zone,
           t.role = 'user' and (t.speaker is not distinct from v.speaker
                                or coalesce(lower(t.speaker) = lower(t.subject_id), false)) as own,
           coalesce(t.previous_id, p.id) is null as begins,
           coalesce(t.previous_at, p.said_at) as previous_at,
           coalesce(t.previous_role, p.role) = 'user'
               and (coalesce(t.previous_speaker, p.speaker) is not distinct from v.speaker
                    or coalesce(lower(coalesce(t.previous_speaker, p.speaker)) = lower(t.subject_id), false)) as previous_own,
           t.heard_at, m.mood, m.energy, m.crisis
    from turns t
    join voices v on v.subject_id = t.subject_id and v.session_id = t.session_id
    left join lateral (
        select p.id, p.said_at, p.role, p.speaker from log.turns p
        where t.previous_id is null and v.before_id is not null and p.tenant_id = %(tenant)s and p.id = v.before_id offset 0) p on true
    left join felt m on m.turn_id = t.id
    where (t.subject_id, t.day) in (select subject_id, day from given)
),
heard as materialized (  -- turns of others by day; if a session began before the turns read, also those of the days before
    select x.subject_id, x.session_id, x.day, coalesce(x.speaker, x.role) as voice, count(*) as number
    from (select t.subject_id, t.session_id, t.day, t.role, t.speaker from turns t
          union all
          select v.subject_id, v.session_id, (p.said_at at time zone 'UTC')::date, p.role, p.speaker
          from voices v
          cross join lateral (
              select p.said_at, p.role, p.speaker from log.turns p
              where p.tenant_id = %(tenant)s and p.subject_id = v.subject_id and p.session_id = v.session_id
                and p.said_at < v.first_at
                and p.said_at >= date_trunc('day', v.first_at, 'UTC') - %(heard)s::interval offset 0) p
          where v.before_id is not null) x
    join voices v on v.subject_id = x.subject_id and v.session_id = x.session_id
    where x.role <> 'system'
      and not (x.role = 'user' and (x.speaker is not distinct from v.speaker
                                    or coalesce(lower(x.speaker) = lower(x.subject_id), false)))
    group by 1, 2, 3, 4
),
counterparts as materialized (  -- counted over the days up to each: a session that goes on after midnight keeps its counterpart
    select distinct on (c.subject_id, c.session_id, c.day) c.subject_id, c.session_id, c.day, c.voice
    from (select d.subject_id, d.session_id, d.day, n.voice,
                 sum(h.number) over (partition by d.subject_id, d.session_id, n.voice order by d.day
                                    range between %(heard)s::interval preceding and current row) as number
          from (select subject_id, session_id, day from told union select subject_id, session_id, day from heard) d
          join (select distinct subject_id, session_id, voice from heard) n
              on n.subject_id = d.subject_id and n.session_id = d.session_id
          left join heard h on h.subject_id = d.subject_id and h.session_id = d.session_id and h.day = d.day and h.voice = n.voice) c
    where c.number is not null
    order by c.subject_id, c.session_id, c.day, c.number desc, c.voice
),
earlier as materialized (  -- the last turn before those read, once per subject
    select f.subject_id, p.said_at
    from (select subject_id, min(said_at) as said_at from turns group by subject_id) f
    cross join lateral (
        select max(u.said_at) as said_at from log.turns u
        where u.tenant_id = %(tenant)s and u.subject_id = f.subject_id and u.said_at < f.said_at) p
)
select %(tenant)s, t.subject_id, coalesce(c.voice, ''), t.day,
       count(*) filter (where t.own), count(*) filter (where not t.own), count(distinct t.session_id),
       count(*) filter (where t.begins), count(*) filter (where t.begins and t.own),
       percentile_cont(0.5) within group (order by extract(epoch from t.said_at - t.previous_at)::float8)
           filter (where t.own and not t.previous_own and t.previous_at is not null),
       coalesce(array_agg(extract(epoch from t.said_at - coalesce(t.heard_at, e.said_at))::float8 / 3600 order by t.said_at, t.id)
                    filter (where t.begins and coalesce(t.heard_at, e.said_at) is not null), '{}'),
       coalesce(array_agg((extract(hour from t.said_at at time zone 'UTC') * 2
                           + floor(extract(minute from t.said_at at time zone 'UTC') / 30))::smallint
                          order by t.said_at, t.id) filter (where t.own), '{}'),
       coalesce(sum(length(t.text) - length(replace(t.text, ' ', '')) + 1) filter (where t.own), 0),
       count(*) filter (where t.own and right(rtrim(t.text), 1) = '?'),
       count(*) filter (where t.own and octet_length(t.text) > length(t.text) and t.text ~ '[\u2600-\u27bf\U0001F300-\U0001FAFF]'),
       count(*) filter (where t.own and left(t.text, 1) <> lower(left(t.text, 1))
                          and right(rtrim(t.text), 1) in ('.', '!', '?')),
       count(*) filter (where t.own and t.mood = 'happy'), count(*) filter (where t.own and t.mood = 'sad'),
       count(*) filter (where t.own and t.mood = 'anxious'), count(*) filter (where t.own and t.mood = 'excited'),
       count(*) filter (where t.own and t.mood = 'neutral'), count(*) filter (where t.own and t.mood = 'angry'),
       count(*) filter (where t.own and t.mood = 'frustrated'), count(*) filter (where t.own and t.mood = 'flirty'),
       count(*) filter (where t.own and t.mood = 'bored'), count(*) filter (where t.own and t.mood = 'grateful'),
       count(*) filter (where t.own and t.energy = 'high'), count(*) filter (where t.own and t.energy = 'low'),
       count(*) filter (where t.own and t.crisis),
       (array_agg(t.zone order by t.said_at desc, t.id desc) filter (where t.own and t.zone is not null))[1],
       %(run_id)s
from told t
left join counterparts c on c.subject_id = t.subject_id and c.session_id = t.session_id and c.day = t.day
left join earlier e on e.subject_id = t.subject_id
group by t.subject_id, coalesce(c.voice, ''), t.day
on conflict do nothing

-- name: read_reports
-- The subject's own messages of some days that contain a number; they have their mood already.
with given as materialized (
    select x.subject_id, x.day from unnest(%(day_subjects)s::text[], %(days)s::date[]) as x (subject_id, day)
),
messages as materialized (
    select t.id, t.subject_id, t.said_at, t.speaker, t.text
    from log.turns t
    where t.tenant_id = %(tenant)s and t.subject_id = any(%(names)s)
      and t.said_at >= %(since)s
      and t.said_at < %(until)s
      and t.role = 'user' and t.text ~ '[0-9]' and t.said_at <= %(as_of)s
      and (t.subject_id, (t.said_at at time zone 'UTC')::date) in (select subject_id, day from given)
)
select t.id, t.subject_id, t.said_at, t.speaker, t.text
from messages t
where exists (select from memory.moods m where m.tenant_id = %(tenant)s and m.turn_id = t.id and m.own offset 0)
order by t.said_at, t.id

-- name: read_outcomes
-- The outcomes of some days, with the tool calls and the text of the turn that decided.
select o.id, o.subject_id, o.observed_at, o.metric, o.value, t.tool_calls, t.text
from unnest(%(day_subjects)s::text[], %(days)s::date[]) as x (subject_id, day)
join log.outcomes o on o.tenant_id = %(tenant)s and o.subject_id = x.subject_id
    and o.observed_at >= x.day::timestamp at time zone 'UTC' and o.observed_at < (x.day + 1)::timestamp at time zone 'UTC'
join log.turns t on t.tenant_id = %(tenant)s and t.subject_id = o.subject_id and t.session_id = o.session_id
    and t.source_id = o.source_id
where o.observed_at <= %(as_of)s and t.said_at <= %(as_of)s
order by o.observed_at, o.id

-- name: write_measurements
-- Write numbers from messages and outcomes; an existing one stays.
insert into memory.measurements (tenant_id, source, source_id, place, subject_id, measured_at, speaker, metric, value, topics, run_id)
select %(tenant)s, x.source, x.source_id, x.place, x.subject_id, x.at, x.speaker, x.metric, x.value, string_to_array(x.topics, ' '),
       %(run_id)s
from unnest(%(sources)s::text[], %(source_ids)s::uuid[], %(places)s::smallint[], %(subject_ids)s::text[], %(times)s::timestamptz[],
            %(speakers)s::text[], %(metrics)s::text[], %(values)s::float8[], %(topics)s::text[])
    as x (source, source_id, place, subject_id, at, speaker, metric, value, topics)
on conflict do nothing

-- name: read_numbers
-- All numbers of these subjects, in order.
select m.subject_id, m.source, m.source_id, m.place, m.measured_at, m.speaker, m.metric, m.value, m.topics
from memory.measurements m
where m.tenant_id = %(tenant)s and m.subject_id = any(%(names)s) and m.measured_at <= %(as_of)s
order by m.subject_id, m.measured_at, m.source_id, m.place

-- name: read_talk
-- The subject's own messages of some days that have a mood but no stored topics.
with given as materialized (
    select x.subject_id, x.day from unnest(%(day_subjects)s::text[], %(days)s::date[]) as x (subject_id, day)
),
own as materialized (
    select m.turn_id
    from memory.moods m
    where m.tenant_id = %(tenant)s and m.subject_id = any(%(names)s) and m.said_at >= %(since)s and m.said_at < %(until)s and m.own
      and (m.subject_id, (m.said_at at time zone 'UTC')::date) in (select subject_id, day from given)
      and not exists (select from memory.topics k where k.tenant_id = m.tenant_id and k.turn_id = m.turn_id offset 0)
)
select t.id, t.subject_id, t.said_at, t.text
from own o
cross join lateral (
    select t.* from log.turns t where t.tenant_id = %(tenant)s and t.id = o.turn_id and t.said_at <= %(as_of)s offset 0) t

-- name: write_topics
-- Write the possible topics of messages. The words of a message come as one text, with a flag for each in a second.
insert into memory.topics (tenant_id, turn_id, subject_id, said_at, words, named, run_id)
select %(tenant)s, x.turn_id, x.subject_id, x.at, string_to_array(x.words, ' '), string_to_array(x.named, ' ')::boolean[], %(run_id)s
from unnest(%(turn_ids)s::uuid[], %(subject_ids)s::text[], %(times)s::timestamptz[], %(words)s::text[], %(named)s::text[])
    as x (turn_id, subject_id, at, words, named)
on conflict do nothing

-- name: read_topics
-- The possible topics of all messages of these subjects, in event order.
select k.subject_id, k.turn_id, k.said_at, k.words, k.named
from memory.topics k
where k.tenant_id = %(tenant)s and k.subject_id = any(%(names)s) and k.said_at <= %(as_of)s
order by k.subject_id, k.said_at, k.turn_id

-- name: read_history
-- All figures of these subjects by day and counterpart, in order.
select s.subject_id, s.day, s.messages, s.received, s.sessions, s.begun, s.own_begun, s.latency_p50, s.gaps, s.half_hours, s.words,
       s.questions, s.sad + s.anxious + s.angry, s.bored, s.crises, s.zone
from memory.signals s
where s.tenant_id = %(tenant)s and s.subject_id = any(%(names)s)
order by s.subject_id, s.day, s.counterpart

-- name: read_moods
-- The moods of all of these subjects' own messages, in event order.
select m.subject_id, m.session_id, m.said_at, m.turn_id, m.mood, m.crisis
from memory.moods m
where m.tenant_id = %(tenant)s and m.subject_id = any(%(names)s) and m.own and m.said_at <= %(as_of)s
order by m.subject_id, m.said_at, m.turn_id

-- name: read_sessions
-- The first and last message of each session on each day (UTC) of these subjects, in order, and whether the session begins there:
-- one that goes on for weeks has several days.
select t.subject_id, min(t.said_at), max(t.said_at),
       row_number() over (partition by t.subject_id, t.session_id order by (t.said_at at time zone 'UTC')::date) = 1
from log.turns t
where t.tenant_id = %(tenant)s and t.subject_id = any(%(names)s) and t.said_at <= %(as_of)s
group by t.subject_id, t.session_id, (t.said_at at time zone 'UTC')::date
order by 1, 2, 3, 4

-- name: read_said
-- Messages of some days, in order for each subject, from which life events are read: the author if not the subject, the time
-- zone in the metadata if the message is the subject's own (as in write_figures), and the statements that memory has from it.
-- All of a day's, because each event is written once.
with given as materialized (
    select x.subject_id, x.day from unnest(%(day_subjects)s::text[], %(days)s::date[]) as x (subject_id, day)
)
select t.id, t.subject_id, t.said_at, t.text,
       case when t.speaker is null or lower(t.speaker) = lower(t.subject_id)
                 or not exists (select from log.turns o
                                where o.tenant_id = t.tenant_id and o.subject_id = t.subject_id and o.session_id = t.session_id
                                  and o.role = 'user' and o.speaker is distinct from t.speaker)
            then '' else t.speaker end,
       case when t.metadata ->> 'timezone' is not null and t.role = 'user'
             and (coalesce(lower(t.speaker) = lower(t.subject_id), false)
                  or t.speaker is not distinct from (
                      select u.speaker from log.turns u
                      where u.tenant_id = t.tenant_id and u.subject_id = t.subject_id and u.session_id = t.session_id
                        and u.role = 'user'
                      order by u.said_at, u.turn_index, u.id limit 1))
            then t.metadata ->> 'timezone' end, coalesce(k.stated, '[]')
from log.turns t
left join lateral (
    select jsonb_agg(jsonb_build_object('id', m.id, 'relation', m.relation, 'object', m.object, 'phase', m.phase, 'who', m.who,
                                        'topic', m.topic) order by m.id) as stated
    from memory.lineage l
    cross join lateral (
        select m.* from memory.memories m where m.tenant_id = l.tenant_id and m.id = l.memory_id and m.turn_id = t.id offset 0) m
    where l.tenant_id = t.tenant_id and l.source_id = t.id and l.relation = 'extracted') k on true
where t.tenant_id = %(tenant)s and t.subject_id = any(%(names)s)
  and t.said_at >= %(since)s
  and t.said_at < %(until)s
  and t.role = any(%(roles)s) and t.text <> '' and t.said_at <= %(as_of)s
  and (t.subject_id, (t.said_at at time zone 'UTC')::date) in (select subject_id, day from given)
order by t.subject_id, t.said_at, t.turn_index, t.id

-- name: read_zones
-- Time zones named by messages of these subjects, by day.
select s.subject_id, s.day, s.zone from memory.signals s
where s.tenant_id = %(tenant)s and s.subject_id = any(%(names)s) and s.zone is not null
order by s.subject_id, s.day, s.counterpart

-- name: write_life_events
-- Write life events as they were told; an existing one keeps its first reading.
insert into memory.life_events (tenant_id, id, subject_id, speaker, kind, title, who, first_on, last_on, precision, certainty, clock,
                                zone, yearly, worth, told_at, turn_id, memory_id, place, state, forget_at, run_id)
select %(tenant)s, x.*, %(run_id)s
from unnest(%(ids)s::uuid[], %(subject_ids)s::text[], %(speakers)s::text[], %(kinds)s::text[], %(titles)s::text[], %(whose)s::text[],
            %(first_on)s::date[], %(last_on)s::date[], %(precisions)s::text[], %(certainties)s::text[], %(clocks)s::time[],
            %(zones)s::text[], %(yearly)s::boolean[], %(worths)s::real[], %(told_at)s::timestamptz[], %(turn_ids)s::uuid[],
            %(memory_ids)s::uuid[], %(places)s::smallint[], %(states)s::text[], %(forget_at)s::timestamptz[]) as x
on conflict do nothing

-- name: forget_life_events
-- Delete life events of these subjects whose retention is over.
delete from memory.life_events where tenant_id = %(tenant)s and subject_id = any(%(names)s) and forget_at <= %(as_of)s

-- name: read_life_events
-- All life events of these subjects, in the order in which they were told, each with the name that its message has in the log:
-- `speaker` is empty where nobody else wrote in the session.
select e.subject_id, e.id, e.kind, e.title, e.speaker, e.who, e.first_on, e.last_on, e.precision, e.certainty, e.yearly, e.told_at,
       (e.told_at at time zone e.zone)::date, e.clock, e.state, e.ended_at, e.by_id, e.confirmed_at, e.turn_id,
       coalesce(t.speaker, e.speaker)
from memory.life_events e
left join lateral (
    select t.session_id, t.turn_index, t.speaker from log.turns t
    where t.tenant_id = e.tenant_id and t.id = e.turn_id offset 0) t on true
where e.tenant_id = %(tenant)s and e.subject_id = any(%(names)s)
order by e.subject_id, e.told_at, t.session_id collate "C", t.turn_index, e.turn_id, e.place

-- name: settle_life_events
-- Write the new states of life events.
update memory.life_events e
set state = x.state, title = x.title, ended_at = x.ended_at, by_id = x.by_id, confirmed_at = x.confirmed_at
from unnest(%(ids)s::uuid[], %(states)s::text[], %(titles)s::text[], %(ended_at)s::timestamptz[], %(by_ids)s::uuid[],
            %(confirmed_at)s::timestamptz[]) as x (id, state, title, ended_at, by_id, confirmed_at)
where e.tenant_id = %(tenant)s and e.id = x.id

-- name: clear_followed
-- Delete all that follows from the figures of these subjects, which is made again.
with periods as (delete from memory.periods where tenant_id = %(tenant)s and subject_id = any(%(names)s)),
relationships as (delete from memory.relationships where tenant_id = %(tenant)s and subject_id = any(%(names)s)),
ties as (delete from memory.ties where tenant_id = %(tenant)s and subject_id = any(%(names)s))
delete from memory.triggers where tenant_id = %(tenant)s and subject_id = any(%(names)s)

-- name: write_periods
-- Write difficult periods.
insert into memory.periods (tenant_id, subject_id, opened_at, closed_at, turn_id, negatives, mood, run_id)
select %(tenant)s, x.*, %(run_id)s
from unnest(%(subject_ids)s::text[], %(opened_at)s::timestamptz[], %(closed_at)s::timestamptz[], %(turn_ids)s::uuid[],
            %(negatives)s::int[], %(moods)s::text[]) as x

-- name: write_relationships
-- Write the stages of relationships.
insert into memory.relationships (tenant_id, subject_id, since, stage, sessions, streak, run_id)
select %(tenant)s, x.*, %(run_id)s
from unnest(%(subject_ids)s::text[], %(since)s::timestamptz[], %(stages)s::text[], %(sessions)s::int[], %(streaks)s::int[]) as x

-- name: write_ties
-- Write the ties of subjects to the application.
insert into memory.ties (tenant_id, subject_id, day, zone, band_start, band_half_hours, band_share, band_since, gap_p50, gap_p95,
                         churn_risk, strength, why, run_id)
select %(tenant)s, x.subject_id, x.day, x.zone, x.band_start, x.band_half_hours, x.band_share, x.band_since, x.gap_p50, x.gap_p95,
       x.churn_risk, x.strength, x.why::jsonb, %(run_id)s
from unnest(%(subject_ids)s::text[], %(days)s::date[], %(zones)s::text[], %(band_starts)s::smallint[], %(band_lengths)s::smallint[],
            %(band_shares)s::float8[], %(band_since)s::date[], %(gaps_p50)s::float8[], %(gaps_p95)s::float8[],
            %(churn_risks)s::float8[], %(strengths)s::float8[], %(whys)s::text[])
    as x (subject_id, day, zone, band_start, band_half_hours, band_share, band_since, gap_p50, gap_p95, churn_risk, strength, why)

-- name: write_triggers
-- Write reasons to act.
insert into memory.triggers (tenant_id, id, subject_id, kind, audience, happened_at, due_at, until_at, why, turn_id, withheld, run_id)
select %(tenant)s, x.id, x.subject_id, x.kind, x.audience, x.happened_at, x.due_at, x.until_at, x.why::jsonb, x.turn_id, x.withheld,
       %(run_id)s
from unnest(%(ids)s::uuid[], %(subject_ids)s::text[], %(kinds)s::text[], %(audiences)s::text[], %(happened_at)s::timestamptz[],
            %(due_at)s::timestamptz[], %(until_at)s::timestamptz[], %(whys)s::text[], %(turn_ids)s::uuid[], %(withheld)s::text[])
    as x (id, subject_id, kind, audience, happened_at, due_at, until_at, why, turn_id, withheld)
