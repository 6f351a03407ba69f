-- name: read_busy
-- Subjects with episodes that may form or join a pattern, and their number; episodes of a summarised session count.
with episodes as (
    select subject_id, count(*) as number
    from memory.memories
    where tenant_id = %(tenant)s and kind = 'episode' and state in ('active', 'compressed') and happened_at <= %(as_of)s
      and shard >= %(shard_from)s and shard < %(shard_to)s
      and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s))
    group by subject_id
)
select e.subject_id, e.number
from episodes e
where e.number >= %(least)s
   or exists (select from memory.memories p
              where p.tenant_id = %(tenant)s and p.subject_id = e.subject_id and p.kind = 'pattern'
                and p.state = 'active')
order by e.subject_id

-- name: read_stale
-- Patterns whose decisions had an outcome, good or bad, that they do not include yet: up the lineage from the outcome's
-- turn. `offset 0`: if no outcome waits, nothing else is read.
with recursive up as (
    select o.id as outcome_id, l.memory_id
    from log.outcomes o
    cross join lateral (
        select t.id from log.turns t
        where t.tenant_id = o.tenant_id and t.subject_id = o.subject_id and t.session_id = o.session_id
          and t.source_id = o.source_id offset 0) t
    cross join lateral (
        select l.memory_id from memory.lineage l
        where l.tenant_id = o.tenant_id and l.source_id = t.id and l.relation = 'extracted' offset 0) l
    where o.tenant_id = %(tenant)s and o.observed_at <= %(as_of)s
      and o.shard >= %(shard_from)s and o.shard < %(shard_to)s
      and (%(subjects)s::text[] is null or o.subject_id = any(%(subjects)s))
    union
    select u.outcome_id, l.memory_id
    from up u
    cross join lateral (
        select l.memory_id from memory.lineage l
        where l.tenant_id = %(tenant)s and l.source_id = u.memory_id and l.relation in ('merged', 'compressed') offset 0) l
)
select distinct p.subject_id, p.id
from up u
cross join lateral (
    select p.subject_id, p.id, p.kind, p.state from memory.memories p
    where p.tenant_id = %(tenant)s and p.id = u.memory_id offset 0) p
where p.kind = 'pattern' and p.state = 'active'
  and not exists (select from memory.lineage k
                  where k.tenant_id = %(tenant)s and k.memory_id = p.id and k.relation = 'outcome'
                    and k.source_id = u.outcome_id offset 0)

-- name: read_members
-- Episodes by the entity or tool they share: open ones if enough share it or it has a pattern, and those that the pattern
-- holds. If a few share an entity, turns that name it and gave no episode count too, but none that a correction withholds.
-- The condition on content keeps the look-up on the primary key: see set_live in memories.sql.
with open as (
    select m.subject_id, m.id, m.turn_id, m.content
    from memory.memories m
    left join memory.memories s on s.tenant_id = m.tenant_id and s.id = m.into_id and s.content <> ''
    where m.tenant_id = %(tenant)s and m.subject_id = any(%(busy)s) and m.kind = 'episode' and m.happened_at <= %(as_of)s
      and (m.state = 'active' or (m.state = 'compressed' and s.kind = 'summary'))
      and m.id <> all(array(select item_id from memory.marks where tenant_id = %(tenant)s and mark = 'pinned' and not pending))
),
calls as (
    -- an episode of a tool call begins with the tool's name
    select o.subject_id, o.id, 'tool:' || (call ->> 'name') as key
    from open o
    join log.turns t on t.tenant_id = %(tenant)s and t.id = o.turn_id
    cross join lateral jsonb_array_elements(t.tool_calls) call
    where starts_with(o.content, replace(call ->> 'name', '_', ' '))
),
shared as (
    -- calls are compared with calls of the same tool, whatever else they mention
    select subject_id, id, key from calls
    union
    select o.subject_id, o.id, e.type || ':' || e.slug
    from open o
    join memory.links l on l.tenant_id = %(tenant)s and l.memory_id = o.id
    join memory.entities e on e.tenant_id = %(tenant)s and e.id = l.entity_id
    where not exists (select from calls c where c.id = o.id)
),
patterns as (
    select subject_id, id, substr(origin, 7) as key
    from memory.memories
    where tenant_id = %(tenant)s and subject_id = any(%(busy)s) and kind = 'pattern' and state = 'active'
      and starts_with(origin, 'theme:')
),
held as materialized (
    select p.subject_id, p.key, p.id as pattern_id, l.source_id as id, l.relation = 'mentioned' as is_turn
    from patterns p
    cross join lateral (
        select l.source_id, l.relation from memory.lineage l
        where l.tenant_id = %(tenant)s and l.memory_id = p.id
          and (l.relation = 'compressed' and l.source = 'memory'
               or l.relation = 'mentioned'
                  and l.source_id <> all(array(select item_id from memory.marks
                                               where tenant_id = %(tenant)s and mark <> 'pinned' and not pending))) offset 0) l
),
named as materialized (
    select x.subject_id, x.key, e.terms
    from (select subject_id, key from shared group by 1, 2 having count(*) >= %(few)s
          union select subject_id, key from patterns) x
    join memory.entities e on e.tenant_id = %(tenant)s and e.subject_id = x.subject_id and e.type = split_part(x.key, ':', 1)
        and e.slug = substr(x.key, strpos(x.key, ':') + 1) and e.terms <> '{}'
),
mentioned as (
    -- the turns on the lists of all its terms, each looked up once, whatever it names; without those that a pattern holds,
    -- which are most, and later ones, which exist during a backfill (`later`: the first later id)
    select k.subject_id, k.key, f.id
    from (
    select l.id, l.subject_ids, l.keys
    from (select l.id, array_agg(l.subject_id) as subject_ids, array_agg(l.key) as keys
          from (select n.subject_id, n.key, i.id
                from named n
                join memory.terms t on t.tenant_id = %(tenant)s and t.subject_id = n.subject_id and t.term = any(n.terms)
                cross join lateral unnest(t.item_ids) as i (id)
                where i.id < %(later)s and i.id not in (select h.id from held h where h.is_turn)
                group by n.subject_id, n.key, n.terms, i.id
                having count(distinct t.term) = cardinality(n.terms)) l
          group by l.id) l
    cross join lateral (
        select t.id, t.role, t.said_at from log.turns t where t.tenant_id = %(tenant)s and t.id = l.id offset 0) t
    where t.role = 'user' and t.said_at <= %(as_of)s
      -- no episode was made from it, not even one forgotten by now (the time of which depends on how the work is split), and
      -- no pattern counts it; memories made from it are looked up only if that decides
      and not exists (select from memory.lineage h
                      where h.tenant_id = %(tenant)s and h.source_id = t.id
                        and (h.relation = 'mentioned'
                             or h.relation = 'extracted'
                                and coalesce((select m.kind from memory.memories m
                                              where m.tenant_id = %(tenant)s and m.id = h.memory_id and m.content <> ''),
                                             (select g.kind from memory.tombstones g
                                              where g.tenant_id = %(tenant)s and g.memory_id = h.memory_id)) = 'episode')
                      offset 0)
      and t.id <> all(array(select item_id from memory.marks where tenant_id = %(tenant)s and mark <> 'pinned' and not pending))
    offset 0) f
    cross join lateral unnest(f.subject_ids, f.keys) as k (subject_id, key)
),
counted as (
    select s.*, p.id as pattern_id, count(*) over (partition by s.subject_id, s.key) as number
    from (select subject_id, id, key, false as is_turn from shared
          union all select subject_id, id, key, true from mentioned) s
    left join patterns p on p.subject_id = s.subject_id and p.key = s.key
)
select subject_id, key, pattern_id, id, false as held, is_turn
from counted
where number >= %(least)s or pattern_id is not null
union all
select h.subject_id, h.key, h.pattern_id, h.id, true, h.is_turn
from held h
where h.pattern_id = any(%(stale)s) or exists (select from counted c where c.subject_id = h.subject_id and c.key = h.key)
order by subject_id, key, id

-- name: read_episodes
-- Texts of these episodes and turns, their vectors as halfvec sends them, and the arrival of their turns. `offset 0` keeps
-- each read on its key, here and below, and so does the condition on role: see read_judged in facts.sql.
select m.id, m.happened_at, m.content, halfvec_send(v.vec), t.session_id, t.turn_index, m.turn_id
from unnest(%(ids)s::uuid[]) as x (id)
cross join lateral (select * from memory.memories m where m.tenant_id = %(tenant)s and m.id = x.id offset 0) m
left join lateral (
    select v.vec from memory.vectors v
    where v.tenant_id = %(tenant)s and v.subject_id = m.subject_id and v.model = %(model)s and v.item_id = m.id
      and v.part = 0 offset 0) v on true
left join lateral (
    select t.session_id, t.turn_index from log.turns t
    where t.tenant_id = %(tenant)s and t.id = m.turn_id and t.role <> '' offset 0) t on true
union all
select t.id, t.said_at, t.text, halfvec_send(v.vec), t.session_id, t.turn_index, t.id
from unnest(%(turn_ids)s::uuid[]) as x (id)
cross join lateral (select * from log.turns t where t.tenant_id = %(tenant)s and t.id = x.id offset 0) t
left join lateral (
    select v.vec from memory.vectors v
    where v.tenant_id = %(tenant)s and v.subject_id = t.subject_id and v.model = %(model)s and v.item_id = t.id
      and v.part = 0 offset 0) v on true

-- name: read_source_turns
-- The given turns, and those from which these episodes and the ones merged into them were extracted: speaker, text unless a
-- correction withholds it, tool calls, outcomes so far.
with recursive whole as (
    select x.theme, x.id from unnest(%(themes)s::int[], %(ids)s::uuid[]) as x (theme, id)
    union
    select w.theme, l.source_id
    from whole w
    cross join lateral (
        select l.source_id from memory.lineage l
        where l.tenant_id = %(tenant)s and l.memory_id = w.id and l.relation = 'merged' and l.source = 'memory'
        offset 0) l
),
decided as (
    select distinct w.theme, l.source_id as turn_id
    from whole w
    cross join lateral (
        select l.source_id from memory.lineage l
        where l.tenant_id = %(tenant)s and l.memory_id = w.id and l.relation = 'extracted' offset 0) l
    union
    select x.theme, x.id from unnest(%(turn_themes)s::int[], %(turn_ids)s::uuid[]) as x (theme, id)
)
select d.theme, t.id, t.said_at, t.speaker,
       case when t.id <> all(array(select item_id from memory.marks where tenant_id = %(tenant)s and mark <> 'pinned' and not pending))
            then t.text else '' end, t.tool_calls, o.outcomes
from decided d
cross join lateral (select * from log.turns t where t.tenant_id = %(tenant)s and t.id = d.turn_id offset 0) t
left join lateral (
    select jsonb_agg(jsonb_build_array(o.id, o.observed_at, o.metric, o.value, o.positive) order by o.observed_at, o.id)
               as outcomes
    from log.outcomes o
    where o.tenant_id = %(tenant)s and o.subject_id = t.subject_id and o.session_id = t.session_id
      and o.source_id = t.source_id and o.observed_at <= %(as_of)s
) o on true
order by d.theme, t.said_at, t.session_id collate "C", t.turn_index, t.id

-- name: read_patterns
-- Access counts and times of the patterns that are replaced.
select id, access_count, accessed_at from memory.memories where tenant_id = %(tenant)s and id = any(%(ids)s)

-- name: read_labels
-- The labels of entities.
select subject_id, type || ':' || slug, label
from memory.entities
where tenant_id = %(tenant)s and subject_id = any(%(busy)s) and type || ':' || slug = any(%(keys)s)

-- name: read_old_sessions
-- Sessions to summarise: if a subject has more than `threshold` without a summary, those that ended first, `half` at a time.
-- A session counts as summarised by the lineage of its first turn, so also if its summary was forgotten. `offset 0` keeps
-- that to one probe per session, whatever the statistics say; the last turn is looked up only of sessions without a summary.
with first_turns as (
    select distinct on (subject_id, session_id) subject_id, session_id, id
    from log.turns
    where tenant_id = %(tenant)s and said_at <= %(as_of)s and shard >= %(shard_from)s and shard < %(shard_to)s
      and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s))
    order by subject_id, session_id, said_at, turn_index, id
),
ranked as (
    select f.subject_id, f.session_id, count(*) over (partition by f.subject_id) as number,
           row_number() over (partition by f.subject_id order by e.ended_at, f.session_id) as place
    from first_turns f
    cross join lateral (
        select t.said_at as ended_at from log.turns t
        where t.tenant_id = %(tenant)s and t.subject_id = f.subject_id and t.session_id = f.session_id
          and t.said_at <= %(as_of)s
        order by t.said_at desc limit 1) e
    where not exists (select from memory.lineage l
                      where l.tenant_id = %(tenant)s and l.source_id = f.id and l.relation = 'compressed'
                        and l.source = 'turn' offset 0)
)
select subject_id, session_id
from ranked
where number > %(threshold)s
  and place <= %(half)s * ceil((number - %(threshold)s)::float8 / %(half)s)
order by subject_id, place

-- name: read_long_sessions
-- Sessions whose last `running` turns are in no summary yet. The first of these turns decides: one probe per session, so the
-- turns of summarised sessions are not read.
with long as (
    select subject_id, session_id
    from log.turns
    where tenant_id = %(tenant)s and said_at <= %(as_of)s and shard >= %(shard_from)s and shard < %(shard_to)s
      and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s))
    group by subject_id, session_id
    having count(*) >= %(running)s
)
select l.subject_id, l.session_id
from long l
cross join lateral (
    select t.id from log.turns t
    where t.tenant_id = %(tenant)s and t.subject_id = l.subject_id and t.session_id = l.session_id
      and t.said_at <= %(as_of)s
    order by t.said_at desc, t.turn_index desc, t.id desc offset %(running)s - 1 limit 1) f
where not exists (select from memory.lineage k
                  where k.tenant_id = %(tenant)s and k.source_id = f.id and k.source = 'turn'
                    and k.relation in ('compressed', 'summarised') offset 0)
order by l.subject_id, l.session_id

-- name: read_unsummarised_turns
-- Turns of these sessions that are in no summary, in order, each with the number of turns of its session that are in one;
-- corrected turns have no text.
select place, number, id, said_at, role, speaker,
       case when id = any(array(select item_id from memory.marks
                                where tenant_id = %(tenant)s and mark <> 'pinned' and not pending)) then '' else text end
from (select x.place, t.id, t.said_at, t.role, t.speaker, t.text, t.turn_index, k.told,
             count(*) filter (where k.told) over (partition by x.place) as number
      from unnest(%(subject_ids)s::text[], %(session_ids)s::text[]) with ordinality as x (subject_id, session_id, place)
      join log.turns t on t.tenant_id = %(tenant)s and t.subject_id = x.subject_id and t.session_id = x.session_id
      cross join lateral (
          select exists (select from memory.lineage l
                         where l.tenant_id = %(tenant)s and l.source_id = t.id and l.source = 'turn'
                           and l.relation in ('compressed', 'summarised')) as told) k
      where t.said_at <= %(as_of)s) turns
where not told
order by place, said_at, turn_index, id

-- name: read_session_turns
-- The turns of these sessions; corrected turns have no text.
select x.place, t.id, t.said_at, t.role, t.speaker,
       case when t.id = any(array(select item_id from memory.marks
                                  where tenant_id = %(tenant)s and mark <> 'pinned' and not pending)) then '' else t.text end
from unnest(%(subject_ids)s::text[], %(session_ids)s::text[]) with ordinality as x (subject_id, session_id, place)
join log.turns t on t.tenant_id = %(tenant)s and t.subject_id = x.subject_id and t.session_id = x.session_id
where t.said_at <= %(as_of)s
order by x.place, t.said_at, t.turn_index, t.id

-- name: read_session_memories
-- Memories from these sessions; episodes and summaries of ranges that are `open` are to be compressed.
select x.place, m.id, m.kind, m.kind in ('episode', 'summary') and m.state = 'active'
       and m.id <> all(array(select item_id from memory.marks where tenant_id = %(tenant)s and mark = 'pinned' and not pending)) as open,
       m.turn_id
from unnest(%(subject_ids)s::text[], %(session_ids)s::text[]) with ordinality as x (subject_id, session_id, place)
join memory.memories m on m.tenant_id = %(tenant)s and m.subject_id = x.subject_id and m.session_id = x.session_id
where m.happened_at <= %(as_of)s and (m.kind <> 'summary' or m.origin = 'range')
order by x.place, m.id

-- name: write_links
-- Link each memory to the entities of its sources. With `seen_until`, leave entities first seen later to link.
insert into memory.links (tenant_id, memory_id, entity_id, subject_id, run_id)
select distinct %(tenant)s, x.id, l.entity_id, l.subject_id, %(run_id)s::uuid
from unnest(%(ids)s::uuid[], %(source_ids)s::uuid[], %(seen_until)s::timestamptz[]) as x (id, source_id, seen_until)
cross join lateral (select * from memory.links l where l.tenant_id = %(tenant)s and l.memory_id = x.source_id offset 0) l
cross join lateral (
    select e.first_seen_at from memory.entities e where e.tenant_id = %(tenant)s and e.id = l.entity_id offset 0) e
where x.seen_until is null or e.first_seen_at <= x.seen_until
on conflict do nothing

-- name: write_later_links
-- Link summaries of ranges to entities that they name and that were first seen after their last turn, as link would have
-- done.
insert into memory.links (tenant_id, memory_id, entity_id, subject_id, run_id)
select %(tenant)s, m.id, e.id, m.subject_id, %(run_id)s::uuid
from (select m.id, m.subject_id, m.happened_at,
             tsvector_to_array(to_tsvector(%(language)s::regconfig, left(m.content, 100000))) as terms
      from memory.memories m
      where m.tenant_id = %(tenant)s and m.id = any(array(select unnest(%(ids)s::uuid[]))) offset 0) m
join memory.entities e on e.tenant_id = %(tenant)s and e.subject_id = m.subject_id
    and e.first_seen_at > m.happened_at and e.first_seen_at <= %(as_of)s and e.terms <@ m.terms and e.terms <> '{}'
on conflict do nothing

-- name: write_untold
-- Write tombstones of summaries not worth making: with the lineage of their turns, these sessions count as summarised.
insert into memory.tombstones (tenant_id, memory_id, subject_id, kind, content_hash, importance, reason, forgotten_at,
                               run_id)
select %(tenant)s, x.id, x.subject_id, 'summary', sha256(''::bytea), 0, 'unimportant', x.at, %(run_id)s
from unnest(%(ids)s::uuid[], %(subject_ids)s::text[], %(at)s::timestamptz[]) as x (id, subject_id, at)
on conflict do nothing

-- name: write_replaced
-- Hand episodes over to their summary or pattern: they leave the context and fade as before. A newer pattern holds an older
-- one. The planner counts ten ids for an array from a subquery, so it looks them up by key unless a tenant is tiny.
update memory.memories m
set state = (%(states)s::text[])[array_position(%(ids)s::uuid[], m.id)],
    into_id = (%(into_ids)s::uuid[])[array_position(%(ids)s::uuid[], m.id)],
    forget_at = case (%(states)s::text[])[array_position(%(ids)s::uuid[], m.id)] when 'merged' then null
                else m.forget_at end
where m.tenant_id = %(tenant)s and m.id = any(array(select unnest(%(ids)s::uuid[])))
  and m.state in ('active', 'compressed')

-- name: read_folds
-- Active summaries of sessions, weeks or months whose week, month or year is complete because a later one has a summary. A
-- week is within one month: it begins on the 1st, 8th, 15th, 22nd or 29th. A month joins its year once `months` later months
-- have summaries. A summary that the period has already is folded with those that came late. Parameters: the periods, the
-- origin of their parts, and the number of latest months that each leaves out.
with known as materialized (
    select p.place, p.months, m.subject_id, m.id, m.happened_at, m.accessed_at, m.access_count, m.state,
           m.origin <> p.period as is_part,
           case when p.period = 'week' then month + make_interval(days => (extract(day from day)::int - 1) / 7 * 7)
                else date_trunc(p.period, day) end at time zone 'UTC' as began,
           month
    from memory.memories m
    cross join lateral (select m.happened_at at time zone 'UTC') as at (day)
    cross join lateral (select date_trunc('month', day)) as of (month)
    join unnest(%(periods)s::text[], %(origins)s::text[], %(months)s::int[]) with ordinality as p (period, origin, months, place)
        on m.origin in (p.origin, p.period)
    where m.tenant_id = %(tenant)s and m.kind = 'summary'
      and m.state in ('active', 'compressed') and m.happened_at <= %(as_of)s
      and m.shard >= %(shard_from)s and m.shard < %(shard_to)s
      and (%(subjects)s::text[] is null or m.subject_id = any(%(subjects)s))
),
latest as (
    select place, subject_id, max(began) as began, max(month) as month from known where is_part group by place, subject_id
),
due as (
    select k.*
    from known k
    join latest l on l.place = k.place and l.subject_id = k.subject_id
    where k.state = 'active'
      and (l.began > k.began or not k.is_part or k.month + make_interval(months => k.months) < l.month)
      and k.id <> all(array(select item_id from memory.marks where tenant_id = %(tenant)s and mark = 'pinned' and not pending))
)
select (%(periods)s::text[])[k.place], k.subject_id, k.began, k.id, k.happened_at, k.accessed_at, k.access_count
from due k
where exists (select from due o where o.place = k.place and o.subject_id = k.subject_id and o.began = k.began and o.is_part)
order by k.place, k.subject_id, k.began, k.happened_at, k.id

-- name: read_folded_turns
-- The turns in these summaries, at any depth; corrected turns have no text.
with recursive told as (
    select x.place, x.id as memory_id from unnest(%(places)s::int[], %(ids)s::uuid[]) as x (place, id)
    union
    select t.place, l.source_id
    from told t
    cross join lateral (
        select l.source_id from memory.lineage l
        where l.tenant_id = %(tenant)s and l.memory_id = t.memory_id and l.relation = 'compressed' and l.source = 'memory'
        offset 0) l
),
turns as (
    select distinct t.place, l.source_id
    from told t
    cross join lateral (
        select l.source_id from memory.lineage l
        where l.tenant_id = %(tenant)s and l.memory_id = t.memory_id and l.relation = 'compressed' and l.source = 'turn'
        offset 0) l
)
select x.place, t.id, t.said_at, t.role, t.speaker,
       case when t.id = any(array(select item_id from memory.marks
                                  where tenant_id = %(tenant)s and mark <> 'pinned' and not pending)) then '' else t.text end
from turns x
join log.turns t on t.tenant_id = %(tenant)s and t.id = x.source_id
order by x.place, t.said_at, t.session_id collate "C", t.turn_index, t.id

-- name: subjects_beyond_budget
-- Subjects with more active memories than the `budget`.
select subject_id from memory.memories
where tenant_id = %(tenant)s and state = 'active' and happened_at <= %(as_of)s
  and shard >= %(shard_from)s and shard < %(shard_to)s
  and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s))
group by subject_id having count(*) > %(budget)s::int
order by subject_id

-- name: read_beyond_budget
-- Active memories of these subjects beyond the `budget`: the least valuable, by the closed form of reverie/policy/fading.py
-- and the worth of the kind. Expired ones are worth nothing; pinned ones are dropped last. Statements that only repeat what
-- stands without them weigh `worth_told`: one that tells the end of a memory that it superseded, or that it names and
-- another statement of its message superseded; and an unsure reading in own words of a turn that a pattern counts.
with ended as materialized (
    select m.superseded_by, m.ended_by, lower(m.content) as content
    from memory.memories m
    where m.tenant_id = %(tenant)s and m.state = 'superseded' and m.ended_by is not null and m.subject_id = any(%(rich)s)
),
counted as materialized (
    select l.source_id
    from memory.memories p
    join memory.lineage l on l.tenant_id = p.tenant_id and l.memory_id = p.id and l.relation = 'mentioned'
    where p.tenant_id = %(tenant)s and p.state = 'active' and p.kind = 'pattern' and p.subject_id = any(%(rich)s)
),
stated as (
    select m.*, m.origin = any(%(said)s) as is_said, coalesce(coalesce(m.agreed, m.confidence) < %(sure)s::float8, false) as is_unsure
    from memory.memories m
    where m.tenant_id = %(tenant)s and m.state = 'active' and m.happened_at <= %(as_of)s and m.subject_id = any(%(rich)s)
),
valued as (
    select m.subject_id, m.id, m.kind, m.accessed_at, m.happened_at, m.content_hash,
           m.id = any(array(select item_id from memory.marks where tenant_id = %(tenant)s and mark = 'pinned' and not pending)) as pinned,
           case when m.expires_at <= %(as_of)s then 0
                else r.worth * case when m.is_said then %(worth_said)s::float8 else 1 end
                    * case when m.is_unsure then %(worth_unsure)s::float8 else 1 end
                    * case when m.is_said then case when m.is_unsure and m.turn_id in (select source_id from counted)
                                               then %(worth_told)s::float8 else 1 end
                           when m.phase in ('ends', 'past')
                                and (m.id in (select superseded_by from ended)
                                     or exists (select from unnest(e.contents) c where m.object <> '' and position(lower(m.object) in c) > 0))
                           then %(worth_told)s::float8 else 1 end
                    * greatest(m.peak::float8 - case when m.lasting then 0 else r.rate end * greatest(
                    extract(epoch from %(as_of)s - m.accessed_at)::float8 / 86400 - %(grace_days)s::float8, 0), 0) end::real as value
    from stated m
    join unnest(%(kinds)s::text[], %(rates)s::float8[], %(worths)s::float8[]) as r (kind, rate, worth) on r.kind = m.kind
    left join (select ended_by, array_agg(content) as contents from ended group by ended_by) e on e.ended_by = m.turn_id
),
ranked as (
    select subject_id, id, kind,
           row_number() over (partition by subject_id
                              order by pinned desc, value desc, accessed_at desc, happened_at desc, content_hash, id) as place
    from valued
)
select subject_id, id, kind from ranked where place > %(budget)s::int order by subject_id, place
